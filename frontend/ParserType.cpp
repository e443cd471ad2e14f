//===- ParserType.cpp - types ------------------------------------------------===//

#include "frontend/ParserImpl.h"

using namespace tk;
using namespace tk::ast;

/// A type anywhere but on a kernel parameter: a `?` behind it is reported and skipped.
Type *Parser::parseType() {
  Type *type = parsePlainType();
  if (type && is(Tok::Question)) {
    report<diag::OptionalOutsideKernel>(here());
    advance();
  }
  return type;
}

Type *Parser::parsePlainType() {
  Nested level(*this);
  if (!level)
    return nullptr;
  uint32_t start = begin();
  if (accept(Tok::Star)) {
    Type *pointee = parsePlainType();
    if (!pointee)
      return nullptr;
    auto *type = file.make<PointerType>(from(start));
    type->pointee = pointee;
    return type;
  }
  if (is(Tok::LParen))
    return parseTupleType();
  if (!is(Tok::Name)) {
    report<diag::ExpectedType>(placeOfFault(), found());
    return nullptr;
  }
  Ident name{text(), here()};
  advance();
  // `nn.State`: a struct of a module.
  while (is(Tok::Dot) && ahead().kind == Tok::Name) {
    advance();
    name = {file.copy(llvm::StringRef((name.text + "." + text()).str())), join(name.range, here())};
    advance();
  }
  if (is(Tok::LBracket))
    return parseBracketType(name);
  auto *type = file.make<NamedType>(name.range);
  type->name = name;
  return type;
}

/// `(f32, i32)`; `(f32)` is f32.
Type *Parser::parseTupleType() {
  SourceRange opening = here();
  advance();
  Restore<unsigned> inside(open.round, open.round + 1);
  NewlineScope blank(newlineBlank, true);
  llvm::SmallVector<Type *> elements;
  do {
    Type *element = parseType();
    if (!element)
      return nullptr;
    elements.push_back(element);
  } while (accept(Tok::Comma));
  if (!expectClose(Tok::RParen, opening))
    return nullptr;
  if (elements.size() == 1)
    return elements.front();
  auto *type = file.make<TupleType>(from(opening.begin));
  type->elements = file.copy<Type *>(elements);
  return type;
}

/// Behind the `;` of a tensor type.
bool Parser::parseStrides(llvm::SmallVectorImpl<Stride> &strides) {
  do {
    Stride stride;
    uint32_t start = begin();
    if (!accept(Tok::Star) && !(stride.value = parseExpr()))
      return false;
    stride.range = from(start);
    strides.push_back(stride);
  } while (accept(Tok::Comma));
  return true;
}

Type *Parser::parseBracketType(Ident name) {
  SourceRange opening = here();
  advance();
  Restore<unsigned> inside(open.round, open.round + 1);
  NewlineScope blank(newlineBlank, true);
  llvm::SmallVector<Expr *> args;
  llvm::SmallVector<Stride> strides;
  if (!is(Tok::RBracket)) {
    do {
      Expr *arg = parseExpr();
      if (!arg)
        return nullptr;
      args.push_back(arg);
    } while (accept(Tok::Comma));
    if (accept(Tok::Semi) && !parseStrides(strides))
      return nullptr;
  }
  if (!expectClose(Tok::RBracket, opening))
    return nullptr;
  auto *type = file.make<BracketType>(from(name.range.begin));
  type->name = name;
  type->args = file.copy<Expr *>(args);
  type->strides = file.copy<Stride>(strides);
  return type;
}
