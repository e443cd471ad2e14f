//===- ParserPrimary.cpp - primaries, calls, subscripts, arguments -----------===//

#include "frontend/ParserImpl.h"
#include "llvm/ADT/StringExtras.h"

using namespace tk;
using namespace tk::ast;

/// A name; a keyword in its place is reported and taken for one.
bool Parser::parseName(Ident &name, llvm::StringRef what) {
  bool isWord = isKeyword(kind()) && !current.newlineBefore;
  if (!is(Tok::Name) && !isWord) {
    report<diag::ExpectedName>(placeOfFault(), what, found());
    return false;
  }
  if (isWord)
    report<diag::KeywordAsName>(here(), what, text()).help("`" + text() + "_` would be a name");
  name = {text(), here()};
  advance();
  return true;
}

//===----------------------------------------------------------------------===//
// Arguments and parameters
//===----------------------------------------------------------------------===//

bool Parser::parseArgument(Arguments &out) {
  uint32_t start = begin();
  bool isNamed = is(Tok::Name) && ahead().kind == Tok::Assign;
  NamedArg named;
  if (isNamed) {
    if (!parseName(named.name, "the name of an argument"))
      return false;
    advance(); // `=`
  }
  Expr *value = parseExpr();
  if (!value)
    return false;
  if (isNamed) {
    named.range = from(start);
    named.value = value;
    out.namedArgs.push_back(named);
    return true;
  }
  if (!out.namedArgs.empty())
    report<diag::PositionalAfterNamed>(value->range, out.namedArgs.back().name.text)
        .help("positional arguments come first");
  out.args.push_back(value);
  return true;
}

/// What stands between `(` and `)`, and the `)`.
bool Parser::parseArguments(Tok close, SourceRange opening, Arguments &out) {
  Restore<unsigned> inside(open.round, open.round + 1);
  NewlineScope blank(newlineBlank, true);
  while (!is(close)) {
    if (!parseArgument(out))
      return false;
    if (!accept(Tok::Comma))
      break;
  }
  return expectClose(close, opening);
}

bool Parser::parseFnParam(llvm::SmallVectorImpl<FnParam> &params) {
  FnParam param;
  uint32_t start = begin();
  param.isConst = accept(Tok::KwConst);
  if (!parseName(param.name, "the name of a parameter"))
    return false;
  if (accept(Tok::Colon) && !(param.type = parseType()))
    return false;
  if (accept(Tok::Assign) && !(param.defaultValue = parseExpr()))
    return false;
  param.range = from(start);
  params.push_back(param);
  return true;
}

/// The parameters of a function or closure up to the `)`.
bool Parser::parseFnParams(llvm::SmallVectorImpl<FnParam> &params) {
  Restore<unsigned> inside(open.round, open.round + 1);
  NewlineScope blank(newlineBlank, true);
  while (!is(Tok::RParen)) {
    if (!parseFnParam(params)) {
      recoverInParams(open);
      if (!is(Tok::Comma) && !is(Tok::RParen))
        return false;
    }
    if (!accept(Tok::Comma))
      break;
  }
  return true;
}

//===----------------------------------------------------------------------===//
// Postfix
//===----------------------------------------------------------------------===//

Expr *Parser::parsePostfix() {
  uint32_t start = begin();
  Expr *expr = parsePrimary();
  while (expr) {
    if (is(Tok::LParen))
      expr = parseCall(expr, start);
    else if (is(Tok::LBracket))
      expr = parseSubscript(expr, start);
    else if (is(Tok::Dot))
      expr = parseMember(expr, start);
    else
      break;
  }
  return expr;
}

Expr *Parser::parseCall(Expr *callee, uint32_t start) {
  SourceRange opening = here();
  advance();
  Arguments arguments;
  if (!parseArguments(Tok::RParen, opening, arguments))
    return nullptr;
  auto *call = file.make<Call>(from(start));
  call->callee = callee;
  call->args = file.copy<Expr *>(arguments.args);
  call->namedArgs = file.copy<NamedArg>(arguments.namedArgs);
  llvm::SmallVector<Expr *> children = arguments.args;
  children.push_back(callee);
  for (const NamedArg &named : arguments.namedArgs)
    children.push_back(named.value);
  return finish(call, children);
}

/// Behind the start of a slice, at its first `:`.
bool Parser::parseSlice(Index &index) {
  index.kind = Index::Kind::Slice;
  auto atPartEnd = [&] { return is(Tok::Colon) || is(Tok::Comma) || is(Tok::RBracket); };
  advance(); // `:`
  if (!atPartEnd() && !(index.stop = parseExpr()))
    return false;
  if (accept(Tok::Colon) && !atPartEnd() && !(index.step = parseExpr()))
    return false;
  return true;
}

bool Parser::parseIndex(Index &index) {
  uint32_t start = begin();
  if (is(Tok::Name) && ahead().kind == Tok::Assign) {
    index.kind = Index::Kind::Named;
    if (!parseName(index.name, "the name of an option"))
      return false;
    advance(); // `=`
    if (!(index.value = parseExpr()))
      return false;
  } else {
    Expr *first = nullptr;
    if (!is(Tok::Colon) && !(first = parseExpr()))
      return false;
    if (is(Tok::Colon)) {
      index.start = first;
      if (!parseSlice(index))
        return false;
    } else if (accept(Tok::PlusColon)) {
      index.kind = Index::Kind::Block;
      index.start = first;
      if (!(index.width = parseExpr()))
        return false;
    } else {
      index.value = first;
    }
  }
  index.range = from(start);
  return true;
}

Expr *Parser::parseSubscript(Expr *base, uint32_t start) {
  SourceRange opening = here();
  advance();
  llvm::SmallVector<Index> indices;
  {
    Restore<unsigned> inside(open.round, open.round + 1);
    NewlineScope blank(newlineBlank, true);
    while (!is(Tok::RBracket) || !indices.empty()) {
      Index index;
      if (!parseIndex(index))
        return nullptr;
      if (index.kind != Index::Kind::Named && !indices.empty() &&
          indices.back().kind == Index::Kind::Named)
        report<diag::PositionalAfterNamed>(index.range, indices.back().name.text)
            .help("indices come first");
      indices.push_back(index);
      if (!accept(Tok::Comma))
        break;
    }
    if (!expectClose(Tok::RBracket, opening))
      return nullptr;
  }
  auto *expr = file.make<Subscript>(from(start));
  expr->base = base;
  expr->indices = file.copy<Index>(indices);
  llvm::SmallVector<Expr *> children = {base};
  for (const Index &index : indices)
    for (Expr *part : {index.value, index.start, index.stop, index.step, index.width})
      if (part)
        children.push_back(part);
  return finish(expr, children);
}

Expr *Parser::parseMember(Expr *base, uint32_t start) {
  advance(); // `.`
  if (is(Tok::Int)) {
    SourceRange digits = here();
    unsigned value = 0;
    text().getAsInteger(10, value); // the lexer checked it
    advance();
    auto *expr = file.make<TupleIndex>(from(start));
    expr->base = base;
    expr->index = value;
    expr->indexRange = digits;
    return finish(expr, {base});
  }
  Ident name;
  if (!parseName(name, "a member's name"))
    return nullptr;
  auto *expr = file.make<Member>(from(start));
  expr->base = base;
  expr->name = name;
  return finish(expr, {base});
}

//===----------------------------------------------------------------------===//
// Primary
//===----------------------------------------------------------------------===//

Expr *Parser::parsePrimary() {
  while (skipSlashComment())
    continue;
  switch (kind()) {
  case Tok::Name: {
    auto *expr = file.make<Name>(here());
    expr->text = text();
    advance();
    return finish(expr, {});
  }
  case Tok::KwTrue:
  case Tok::KwFalse: {
    auto *expr = file.make<BoolLit>(here());
    expr->value = is(Tok::KwTrue);
    advance();
    return finish(expr, {});
  }
  case Tok::Int:
    return parseInt();
  case Tok::Float:
    return parseFloat();
  case Tok::String:
    return parseString();
  case Tok::LParen:
    return parseParenthesised();
  case Tok::LBracket:
    return parseList();
  default:
    return failPrimary();
  }
}

static std::string withoutUnderscores(llvm::StringRef text) {
  std::string digits = text.str();
  llvm::erase(digits, '_');
  return digits;
}

Expr *Parser::parseInt() {
  auto *expr = file.make<IntLit>(here());
  expr->spelling = text();
  llvm::StringRef digits = text();
  if (digits.size() > 2 && digits[0] == '0' && !llvm::isDigit(digits[1])) {
    char letter = llvm::toLower(digits[1]);
    expr->radix = letter == 'x' ? 16 : letter == 'o' ? 8 : 2;
    digits = digits.drop_front(2);
  }
  expr->digits = digits.contains('_') ? file.copy(withoutUnderscores(digits)) : digits;
  advance();
  return finish(expr, {});
}

Expr *Parser::parseFloat() {
  auto *expr = file.make<FloatLit>(here());
  expr->spelling = text();
  expr->digits = text().contains('_') ? file.copy(withoutUnderscores(text())) : text();
  advance();
  return finish(expr, {});
}

StringLit *Parser::parseString() {
  auto *expr = file.make<StringLit>(here());
  expr->spelling = text();
  expr->value = file.copy(stringValue(text()));
  advance();
  return finish(expr, {});
}

/// `(a)`, `(a,)`, `(a, b)`. The parentheses of `(a)` leave no node.
Expr *Parser::parseParenthesised() {
  SourceRange opening = here();
  advance();
  llvm::SmallVector<Expr *, 4> elements;
  bool isTuple = false;
  {
    Restore<unsigned> inside(open.round, open.round + 1);
    NewlineScope blank(newlineBlank, true);
    do {
      if (isTuple && is(Tok::RParen))
        break;
      Expr *element = parseExpr();
      if (!element)
        return nullptr;
      elements.push_back(element);
      isTuple |= is(Tok::Comma);
    } while (accept(Tok::Comma));
    if (!expectClose(Tok::RParen, opening))
      return nullptr;
  }
  if (!isTuple) {
    elements.front()->parenthesised = true;
    return elements.front();
  }
  auto *tuple = file.make<Tuple>(from(opening.begin));
  tuple->elements = file.copy<Expr *>(elements);
  return finish(tuple, elements);
}

Expr *Parser::parseList() {
  SourceRange opening = here();
  advance();
  llvm::SmallVector<Expr *> elements;
  {
    Restore<unsigned> inside(open.round, open.round + 1);
    NewlineScope blank(newlineBlank, true);
    do {
      if (!elements.empty() && is(Tok::RBracket))
        break;
      Expr *element = is(Tok::LBrace) ? parseRecord() : parseExpr();
      if (!element)
        return nullptr;
      elements.push_back(element);
    } while (accept(Tok::Comma));
    if (!expectClose(Tok::RBracket, opening))
      return nullptr;
  }
  auto *list = file.make<List>(from(opening.begin));
  list->elements = file.copy<Expr *>(elements);
  return finish(list, elements);
}

Expr *Parser::parseRecord() {
  SourceRange opening = here();
  advance();
  Restore<unsigned> inside(open.curly, open.curly + 1);
  llvm::SmallVector<RecordField> fields;
  llvm::SmallVector<Expr *> children;
  do {
    if (!fields.empty() && is(Tok::RBrace))
      break;
    RecordField field;
    uint32_t start = begin();
    if (!parseName(field.name, "the name of a field") || !expect(Tok::Colon, "`:`") ||
        !(field.value = parseExpr()))
      return nullptr;
    field.range = from(start);
    fields.push_back(field);
    children.push_back(field.value);
  } while (accept(Tok::Comma));
  if (!expectClose(Tok::RBrace, opening))
    return nullptr;
  auto *record = file.make<Record>(from(opening.begin));
  record->fields = file.copy<RecordField>(fields);
  return finish(record, children);
}

/// Reports what stands where an expression should, with advice for the usual slips.
Expr *Parser::failPrimary() {
  if (is(Tok::At) && ahead().kind == Tok::Name) {
    report<diag::AttributeInExpression>({begin(), ahead().range.end}, source.getText(ahead().range))
        .help("attributes stand before a loop or a parameter, or behind the parameters of a "
              "kernel");
    return nullptr;
  }
  if (is(Tok::Semi)) {
    report<diag::MisplacedSemicolon>(here());
    return nullptr;
  }
  SyntaxReport failure = report<diag::ExpectedExpression>(placeOfFault(), found());
  if (is(Tok::KwIf) || is(Tok::KwFn))
    failure.help("as an operand it needs parentheses: `(" + text() + " ...)`");
  else if (is(Tok::LBrace))
    failure.help("a record stands only in a list: `[{BM: 64}]`");
  else if (open.curly && (is(Tok::KwLet) || is(Tok::KwVar) || is(Tok::KwReturn)))
    failure.help("a branch of an `if` expression is one expression");
  else if (previousKind == Tok::Plus && is(Tok::Plus))
    failure.help("`+= 1` counts up");
  else if (is(Tok::Plus) && !isFirstOnLine())
    failure.help("there is no prefix `+`");
  else if (previousKind == Tok::Star && is(Tok::Star))
    failure.help("there is no operator for powers: write `pow(x, 2)`");
  else if (isFirstOnLine() && (is(Tok::Plus) || is(Tok::Star) || is(Tok::Dot)))
    failure.help("a line goes on behind an operator and inside `(` and `[`");
  else if (is(Tok::Dot) && ahead().kind == Tok::Int)
    failure.help("write `0." + source.getText(ahead().range) + "`");
  return nullptr;
}
