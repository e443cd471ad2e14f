//===- FormatMarks.cpp - what the syntax tree says about tokens --------------------------===//
//
// A walk over the tree that marks the tokens which look alike and are not.
//
//===----------------------------------------------------------------------===//

#include "frontend/FormatMarks.h"
#include "llvm/ADT/STLExtras.h"
#include "llvm/ADT/TypeSwitch.h"

using namespace tk;
using namespace tk::ast;
using namespace tk::format;

namespace {

class Marker {
public:
  explicit Marker(FormatTokens &tokens) : tokens(tokens) {}

  void mark(const Decl &decl);

private:
  void mark(const Stmt &stmt);
  void mark(const Expr &expr);
  void mark(const Type &type);

  // Expressions
  void node(const Name &) {}
  void node(const IntLit &) {}
  void node(const FloatLit &) {}
  void node(const BoolLit &) {}
  void node(const StringLit &) {}
  void node(const Unary &expr);
  void node(const Binary &expr) { mark(*expr.lhs), mark(*expr.rhs); }
  void node(const CompareChain &expr) { all(expr.operands); }
  void node(const Logical &expr) { all(expr.operands); }
  void node(const IfExpr &expr);
  void node(const FnExpr &expr);
  void node(const Call &expr);
  void node(const Subscript &expr);
  void node(const Member &expr) { mark(*expr.base); }
  void node(const TupleIndex &expr) { mark(*expr.base); }
  void node(const Tuple &expr);
  void node(const List &expr);
  void node(const Record &expr);

  // Types
  void node(const PointerType &type);
  void node(const NamedType &) {}
  void node(const TupleType &type) { all(type.elements); }
  void node(const BracketType &type);

  // Statements
  void node(const Let &stmt);
  void node(const Assign &stmt);
  void node(const ExprStmt &stmt) { mark(*stmt.call); }
  void node(const Return &stmt) { all(stmt.values); }
  void node(const Break &) {}
  void node(const Continue &) {}
  void node(const If &stmt);
  void node(const For &stmt);
  void node(const While &stmt);

  // Declarations
  void node(const Kernel &decl);
  void node(const Function &decl);
  void node(const Struct &decl);
  void node(const Const &decl) { mark(*decl.value); }
  void node(const Import &) {}

  // Parts
  void mark(const Index &index);
  void mark(const NamedArg &arg);
  void mark(const Attribute &attribute);
  void mark(const CParam &param) { optional(param.defaultValue); }
  void mark(const FnParam &param);
  void mark(const KernelParam &param);
  void mark(const Block &block);
  void brackets(const Ident &name, bool hasCParams);
  template <class T> void optional(const T *part) {
    if (part)
      mark(*part);
  }
  template <class T> void all(llvm::ArrayRef<T *> parts) {
    for (const T *part : parts)
      mark(*part);
  }
  template <class T> void all(llvm::ArrayRef<T> parts) {
    for (const T &part : parts)
      mark(part);
  }

  /// The bracket that opens what ends with a node.
  FormatToken &openingOf(const Node &node) { return tokens[tokens[tokens.last(node)].match]; }

  FormatTokens &tokens;
};

} // namespace

void Marker::mark(const Decl &decl) {
  llvm::TypeSwitch<const Decl *>(&decl).Case<Kernel, Function, Struct, Const, Import>(
      [&](const auto *sub) { node(*sub); });
}

void Marker::mark(const Stmt &stmt) {
  llvm::TypeSwitch<const Stmt *>(&stmt)
      .Case<Let, Assign, ExprStmt, Return, Break, Continue, If, For, While>(
          [&](const auto *sub) { node(*sub); });
}

void Marker::mark(const Expr &expr) {
  llvm::TypeSwitch<const Expr *>(&expr)
      .Case<Name, IntLit, FloatLit, BoolLit, StringLit, Unary, Binary, CompareChain, Logical,
            IfExpr, FnExpr, Call, Subscript, Member, TupleIndex, Tuple, List, Record>(
          [&](const auto *sub) { node(*sub); });
}

void Marker::mark(const Type &type) {
  llvm::TypeSwitch<const Type *>(&type).Case<PointerType, NamedType, TupleType, BracketType>(
      [&](const auto *sub) { node(*sub); });
}

//===----------------------------------------------------------------------===//
// Expressions and types
//===----------------------------------------------------------------------===//

void Marker::node(const Unary &expr) {
  tokens[tokens.at(expr.opRange.begin)].prefix = true;
  mark(*expr.operand);
}

void Marker::node(const IfExpr &expr) {
  for (const IfExprArm &arm : expr.arms)
    mark(*arm.condition), mark(*arm.value);
  mark(*expr.elseValue);
}

void Marker::node(const FnExpr &expr) {
  tokens[tokens.first(expr) + 1].tight = true; // `fn(`
  all(expr.params);
  mark(*expr.body);
}

void Marker::node(const Call &expr) {
  openingOf(expr).tight = true;
  mark(*expr.callee);
  all(expr.args);
  all(expr.namedArgs);
}

void Marker::node(const Subscript &expr) {
  openingOf(expr).tight = true;
  openingOf(expr).subscript = true;
  mark(*expr.base);
  all(expr.indices);
}

void Marker::mark(const Index &index) {
  if (index.kind == Index::Kind::Named)
    tokens[tokens.at(index.name.range.begin) + 1].tight = true;
  for (const Expr *part : {index.value, index.start, index.stop, index.step, index.width})
    optional(part);
}

void Marker::node(const Tuple &expr) {
  if (expr.elements.size() == 1)
    tokens[tokens.last(expr) - 1].needed = true;
  all(expr.elements);
}

void Marker::node(const List &expr) {
  openingOf(expr).records = llvm::count_if(expr.elements, llvm::IsaPred<Record>) > 1;
  all(expr.elements);
}

void Marker::node(const Record &expr) {
  openingOf(expr).record = true;
  for (const RecordField &field : expr.fields)
    mark(*field.value);
}

void Marker::mark(const NamedArg &arg) {
  tokens[tokens.first(arg) + 1].tight = true;
  mark(*arg.value);
}

void Marker::node(const PointerType &type) {
  tokens[tokens.first(type)].prefix = true;
  mark(*type.pointee);
}

void Marker::node(const BracketType &type) {
  openingOf(type).tight = true;
  all(type.args);
  for (const Stride &stride : type.strides)
    if (stride.isAny())
      tokens[tokens.first(stride)].prefix = true;
    else
      mark(*stride.value);
}

//===----------------------------------------------------------------------===//
// Statements
//===----------------------------------------------------------------------===//

void Marker::mark(const Block &block) {
  unsigned open = tokens.first(block);
  tokens[open].block = true;
  tokens.setBlock(open, block);
  // A line break in an empty block says nothing.
  if (!block.stmts.empty())
    tokens[open].multiLine = tokens[tokens[open].match].newline;
  for (const Stmt *stmt : block.stmts) {
    tokens[open].multiLine |= tokens[tokens.first(*stmt)].newline;
    mark(*stmt);
  }
}

void Marker::node(const Let &stmt) {
  optional(stmt.type);
  mark(*stmt.init);
}

void Marker::node(const Assign &stmt) {
  unsigned assign = tokens.at(stmt.opRange.begin);
  for (unsigned i = tokens.first(stmt); i < assign; ++i)
    tokens[i].late = true;
  mark(*stmt.target);
  mark(*stmt.value);
}

void Marker::node(const If &stmt) {
  for (const IfArm &arm : stmt.arms)
    mark(*arm.condition), mark(*arm.body);
  optional(stmt.elseBody);
}

void Marker::node(const For &stmt) {
  all(stmt.attributes);
  mark(*stmt.iterable);
  mark(*stmt.body);
}

void Marker::node(const While &stmt) {
  all(stmt.attributes);
  mark(*stmt.condition);
  mark(*stmt.body);
}

//===----------------------------------------------------------------------===//
// Declarations
//===----------------------------------------------------------------------===//

void Marker::mark(const Attribute &attribute) {
  tokens[tokens.first(attribute)].prefix = true;
  if (tokens[tokens.last(attribute)].kind == Tok::RParen)
    openingOf(attribute).tight = true;
  all(attribute.args);
  all(attribute.namedArgs);
}

void Marker::mark(const FnParam &param) {
  optional(param.type);
  optional(param.defaultValue);
}

void Marker::mark(const KernelParam &param) {
  all(param.attributes);
  mark(*param.type);
  optional(param.defaultValue);
}

/// The `[` of compile-time parameters and the `(` of parameters behind the name of a declaration.
void Marker::brackets(const Ident &name, bool hasCParams) {
  unsigned next = tokens.at(name.range.begin) + 1;
  if (hasCParams) {
    tokens[next].tight = true;
    next = tokens[next].match + 1;
  }
  if (tokens[next].kind != Tok::LParen)
    return;
  tokens[next].tight = true;
  tokens[next].params = tokens[next].match != next + 1;
}

void Marker::node(const Kernel &decl) {
  brackets(decl.name, !decl.cparams.empty());
  all(decl.cparams);
  all(decl.params);
  all(decl.attributes);
  mark(*decl.body);
}

void Marker::node(const Function &decl) {
  brackets(decl.name, !decl.cparams.empty());
  all(decl.cparams);
  all(decl.params);
  optional(decl.result);
  mark(*decl.body);
}

void Marker::node(const Struct &decl) {
  brackets(decl.name, !decl.cparams.empty());
  all(decl.cparams);
  FormatToken &open = openingOf(decl);
  open.block = true;
  bool isEmpty = decl.fields.empty() && decl.methods.empty();
  open.multiLine = !isEmpty && tokens[tokens.last(decl)].newline;
  for (const StructField &field : decl.fields) {
    open.multiLine |= tokens[tokens.first(field)].newline;
    mark(*field.type);
  }
  for (const Function *method : decl.methods) {
    open.multiLine |= tokens[tokens.first(*method)].newline;
    node(*method);
  }
}

void format::markTokens(const File &file, FormatTokens &tokens) {
  Marker marker(tokens);
  for (const Decl *decl : file.decls)
    marker.mark(*decl);
}
