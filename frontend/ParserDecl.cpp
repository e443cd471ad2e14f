//===- ParserDecl.cpp - declarations and attributes --------------------------===//

#include "frontend/Foreign.h"
#include "frontend/ParserImpl.h"
#include "llvm/ADT/StringSwitch.h"

using namespace tk;
using namespace tk::ast;

void Parser::parseDeclarations() {
  llvm::SmallVector<Decl *> decls;
  while (true) {
    if (accept(Tok::End) || skipSlashComment())
      continue;
    if (is(Tok::Eof))
      break;
    if (is(Tok::Semi)) {
      report<diag::MisplacedSemicolon>(here()).help("remove it");
      advance();
      continue;
    }
    open = {};
    suspectBrace.reset();
    if (Decl *decl = parseDeclaration())
      decls.push_back(decl);
    else
      recoverInFile();
  }
  file.decls = file.copy<Decl *>(decls);
}

/// Always goes ahead by a token or more.
Decl *Parser::parseDeclaration() {
  switch (kind()) {
  case Tok::KwKernel:
    return parseKernel();
  case Tok::KwFn:
    return parseFunction();
  case Tok::KwStruct:
    return parseStruct();
  case Tok::KwConst:
    return parseConst();
  case Tok::KwImport:
    return parseImport();
  case Tok::At: {
    NewlineScope blank(newlineBlank, true);
    llvm::SmallVector<Attribute> attributes;
    if (!parseAttributes(attributes))
      return nullptr;
    const Foreign *foreign = foreignDeclaration(attributes.front().name.text);
    report<diag::MisplacedAttribute>(attributes.front().range, attributes.front().name.text,
                                     found())
        .help(foreign ? adviceOf(*foreign)
                      : "the attributes of a kernel stand behind its parameters");
    return is(Tok::KwKernel) || is(Tok::KwFn) ? parseDeclaration() : nullptr;
  }
  case Tok::RParen:
  case Tok::RBracket:
  case Tok::RBrace:
    report<diag::UnmatchedClosing>(here(), text());
    break;
  default: {
    SyntaxReport failure = report<diag::ExpectedDeclaration>(placeOfFault(), found());
    if (const Foreign *foreign = is(Tok::Name) ? foreignDeclaration(text()) : nullptr) {
      failure.help(adviceOf(*foreign));
      if (!foreign->spelling.empty())
        failure.fix(here(), foreign->spelling);
    } else if (is(Tok::KwLet) || is(Tok::KwVar))
      failure.help("outside of blocks, `const` names a value");
    else
      failure.help("a file holds `kernel`, `fn`, `struct`, `const` and `import`");
    break;
  }
  }
  advance();
  return nullptr;
}

//===----------------------------------------------------------------------===//
// Attributes
//===----------------------------------------------------------------------===//

/// `@name(args)`. On its own line before a loop, the arguments begin on that line.
bool Parser::parseAttribute(Attribute &attribute) {
  uint32_t start = begin();
  advance(); // `@`
  if (!parseName(attribute.name, "the name of an attribute"))
    return false;
  if (is(Tok::LParen)) {
    SourceRange opening = here();
    advance();
    Arguments arguments;
    if (!parseArguments(Tok::RParen, opening, arguments))
      return false;
    attribute.args = file.copy<Expr *>(arguments.args);
    attribute.namedArgs = file.copy<NamedArg>(arguments.namedArgs);
  }
  attribute.range = from(start);
  return true;
}

bool Parser::parseAttributes(llvm::SmallVectorImpl<Attribute> &attributes) {
  while (is(Tok::At)) {
    attributes.emplace_back();
    if (!parseAttribute(attributes.back()))
      return false;
  }
  return true;
}

//===----------------------------------------------------------------------===//
// Kernels
//===----------------------------------------------------------------------===//

bool Parser::parseCParam(CParam &param) {
  uint32_t start = begin();
  if (!parseName(param.name, "the name of a compile-time parameter") ||
      !expect(Tok::Colon, "`:` and a kind"))
    return false;
  llvm::SmallVector<Ident, 4> kinds;
  do {
    kinds.emplace_back();
    if (!parseName(kinds.back(), "a kind (`int`, `bool`, `dtype`, `string` or a data type)"))
      return false;
  } while (accept(Tok::Pipe));
  param.kinds = file.copy<Ident>(kinds);
  if (accept(Tok::Assign) && !(param.defaultValue = parseExpr()))
    return false;
  param.range = from(start);
  return true;
}

/// `[T: dtype, BM: int = 64]`, if there is one.
bool Parser::parseCParams(llvm::ArrayRef<CParam> &params) {
  SourceRange opening = here();
  if (!accept(Tok::LBracket))
    return true;
  Restore<unsigned> inside(open.round, open.round + 1);
  NewlineScope blank(newlineBlank, true);
  llvm::SmallVector<CParam> list;
  do {
    if (!list.empty() && is(Tok::RBracket))
      break;
    list.emplace_back();
    if (parseCParam(list.back()))
      continue;
    recoverInParams(open);
    if (!is(Tok::Comma) && !is(Tok::RBracket))
      return false;
  } while (accept(Tok::Comma));
  params = file.copy<CParam>(list);
  return expectClose(Tok::RBracket, opening);
}

/// `in` and the like are words only when a name follows: `out: f32` is a parameter named out.
Access Parser::parseAccess() {
  if (!is(Tok::Name))
    return Access::None;
  Access access = llvm::StringSwitch<Access>(text())
                      .Case("in", Access::In)
                      .Case("out", Access::Out)
                      .Case("inout", Access::InOut)
                      .Case("scratch", Access::Scratch)
                      .Default(Access::None);
  if (access == Access::None || (ahead().kind != Tok::Name && !isKeyword(ahead().kind)))
    return Access::None;
  advance();
  return access;
}

bool Parser::parseKernelParam(llvm::SmallVectorImpl<KernelParam> &params) {
  KernelParam param;
  uint32_t start = begin();
  llvm::SmallVector<Attribute, 2> attributes;
  if (!parseAttributes(attributes))
    return false;
  param.attributes = file.copy<Attribute>(attributes);
  SourceRange word = here();
  param.access = parseAccess();
  if (param.access != Access::None)
    param.accessRange = word;
  if (!parseName(param.name, "the name of a parameter") || !expect(Tok::Colon, "`:` and a type") ||
      !(param.type = parsePlainType()))
    return false;
  param.optional = accept(Tok::Question);
  if (accept(Tok::Assign) && !(param.defaultValue = parseExpr()))
    return false;
  param.range = from(start);
  params.push_back(param);
  if (is(Tok::Comma) || is(Tok::RParen))
    return true;
  // Reported here, the other parameters still are looked at.
  SyntaxReport failure = report<diag::UnclosedBracket>(placeOfFault(), ")", found());
  if (is(Tok::Star) && llvm::isa<NamedType>(param.type)) {
    std::string pointer = ("*" + source.getText(param.type->range)).str();
    failure.help("write `" + pointer + "`");
    failure.fix({param.type->range.begin, here().end}, pointer);
  } else {
    failure.help("parameters are separated by `,`");
  }
  return false;
}

bool Parser::parseKernelParams(Kernel &kernel) {
  SourceRange opening = here();
  if (!expect(Tok::LParen, "`(`"))
    return false;
  Restore<unsigned> inside(open.round, open.round + 1);
  NewlineScope blank(newlineBlank, true);
  llvm::SmallVector<KernelParam> params;
  while (!is(Tok::RParen)) {
    if (!parseKernelParam(params)) {
      recoverInParams(open);
      if (!is(Tok::Comma) && !is(Tok::RParen))
        return false;
    }
    if (!accept(Tok::Comma))
      break;
  }
  kernel.params = file.copy<KernelParam>(params);
  return expectClose(Tok::RParen, opening);
}

bool Parser::parseKernelHeader(Kernel &kernel) {
  if (!parseName(kernel.name, "the name of a kernel") || !parseCParams(kernel.cparams) ||
      !parseKernelParams(kernel))
    return false;
  llvm::SmallVector<Attribute> attributes;
  if (!parseAttributes(attributes))
    return false;
  kernel.attributes = file.copy<Attribute>(attributes);
  return true;
}

Decl *Parser::parseKernel() {
  uint32_t start = begin();
  advance();
  NewlineScope header(newlineBlank, true);
  auto *kernel = file.make<Kernel>(here());
  if (!parseKernelHeader(*kernel) && !skipToBlock(open))
    return nullptr;
  if (!(kernel->body = parseBlock(start)))
    return nullptr;
  kernel->range = from(start);
  return kernel;
}

//===----------------------------------------------------------------------===//
// Functions and structs
//===----------------------------------------------------------------------===//

bool Parser::parseFunctionHeader(Function &function) {
  if (!parseName(function.name, "the name of a function") || !parseCParams(function.cparams))
    return false;
  SourceRange opening = here();
  if (!expect(Tok::LParen, "`(`"))
    return false;
  llvm::SmallVector<FnParam> params;
  if (!parseFnParams(params) || !expectClose(Tok::RParen, opening))
    return false;
  function.params = file.copy<FnParam>(params);
  return !accept(Tok::Arrow) || (function.result = parseType());
}

Function *Parser::parseFunction() {
  uint32_t start = begin();
  advance();
  NewlineScope header(newlineBlank, true);
  auto *function = file.make<Function>(here());
  if (!parseFunctionHeader(*function) && !skipToBlock(open))
    return nullptr;
  if (!(function->body = parseBlock(start)))
    return nullptr;
  function->range = from(start);
  return function;
}

/// A field with what separates it from the next member, or a function.
bool Parser::parseStructMember(llvm::SmallVectorImpl<StructField> &fields,
                               llvm::SmallVectorImpl<Function *> &methods) {
  if (is(Tok::KwFn)) {
    Function *method = parseFunction();
    if (method)
      methods.push_back(method);
    return method != nullptr;
  }
  StructField field;
  uint32_t start = begin();
  if (!parseName(field.name, "the name of a field") || !expect(Tok::Colon, "`:` and a type") ||
      !(field.type = parseType()))
    return false;
  field.range = from(start);
  fields.push_back(field);
  return accept(Tok::Comma) || endStatement();
}

Decl *Parser::parseStruct() {
  uint32_t start = begin();
  advance();
  auto *decl = file.make<Struct>(here());
  NewlineScope header(newlineBlank, true);
  bool ok = parseName(decl->name, "the name of a struct") && parseCParams(decl->cparams);
  SourceRange opening;
  if ((!ok && !skipToBlock(open)) || openBlock(start, opening) == BlockStart::None)
    return nullptr;
  NewlineScope lines(newlineBlank, false);
  llvm::SmallVector<StructField> fields;
  llvm::SmallVector<Function *> methods;
  while (!is(Tok::RBrace) && !is(Tok::Eof) && !atDeclaration()) {
    if (accept(Tok::End) || skipSlashComment())
      continue;
    uint32_t place = begin();
    if (parseStructMember(fields, methods))
      continue;
    recoverInBlock(open);
    if (begin() == place && !is(Tok::RBrace) && !atDeclaration())
      advance();
  }
  if (!closeBlock(start, opening))
    return nullptr;
  decl->range = from(start);
  decl->fields = file.copy<StructField>(fields);
  decl->methods = file.copy<Function *>(methods);
  return decl;
}

//===----------------------------------------------------------------------===//
// Constants and imports
//===----------------------------------------------------------------------===//

/// Behind a constant or import. After an error the next line is a declaration again.
Decl *Parser::endShortDecl(Decl *decl, bool ok) {
  if (!ok || !endStatement())
    recoverInBlock({});
  return decl;
}

Decl *Parser::parseConst() {
  uint32_t start = begin();
  advance();
  auto *decl = file.make<Const>(here());
  bool ok = parseName(decl->name, "the name of a constant") && expect(Tok::Assign, "`=`") &&
            (decl->value = parseExpr());
  decl->range = from(start);
  return endShortDecl(decl, ok);
}

Decl *Parser::parseImport() {
  uint32_t start = begin();
  advance();
  auto *decl = file.make<Import>(here());
  bool ok = true;
  if (is(Tok::String)) {
    decl->path = parseString();
  } else {
    llvm::SmallVector<Ident, 4> names;
    do {
      names.emplace_back();
      ok = parseName(names.back(), "a file in quotes or the name of a module");
    } while (ok && accept(Tok::Dot));
    decl->names = file.copy<Ident>(names);
  }
  decl->range = from(start);
  return endShortDecl(decl, ok);
}
