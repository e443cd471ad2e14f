//===- AstDump.cpp - the shape of a syntax tree as nested lists --------------===//
//
//   let s = -a.0 * x[i +: 4]   is   (let s (* (- (.0 a)) ([] x (+: i 4))))
//
// Everything of the tree but places is written, so equal dumps are equal trees.
//
//===----------------------------------------------------------------------===//

#include "frontend/AstPrinter.h"
#include "llvm/ADT/TypeSwitch.h"

using namespace tk;
using namespace tk::ast;

namespace {

class Dumper {
public:
  explicit Dumper(llvm::raw_ostream &os) : os(os) {}

  void dump(const Decl &decl);
  void dump(const Stmt &stmt);
  void dump(const Expr &expr);
  void dump(const Type &type);

private:
  void node(const Name &expr) { os << expr.text; }
  void node(const IntLit &expr) { os << expr.spelling; }
  void node(const FloatLit &expr) { os << expr.spelling; }
  void node(const BoolLit &expr) { os << (expr.value ? "true" : "false"); }
  void node(const StringLit &expr) { os << expr.spelling; }
  void node(const Unary &expr) { form(spelling(expr.op), expr.operand); }
  void node(const Binary &expr) { form(spelling(expr.op), expr.lhs, expr.rhs); }
  void node(const CompareChain &expr);
  void node(const Logical &expr) { form(spelling(expr.op), expr.operands); }
  void node(const IfExpr &expr) { form("if", expr.arms, expr.elseValue); }
  void node(const FnExpr &expr) { form("fn", expr.params, expr.body); }
  void node(const Call &expr) { form("call", expr.callee, expr.args, expr.namedArgs); }
  void node(const Subscript &expr) { form("[]", expr.base, expr.indices); }
  void node(const Member &expr) { form(("." + expr.name.text).str(), expr.base); }
  void node(const TupleIndex &expr) { form(("." + llvm::Twine(expr.index)).str(), expr.base); }
  void node(const Tuple &expr) { form("tuple", expr.elements); }
  void node(const List &expr) { form("list", expr.elements); }
  void node(const Record &expr) { form("record", expr.fields); }

  void node(const PointerType &type) { form("*", type.pointee); }
  void node(const NamedType &type) { os << type.name.text; }
  void node(const TupleType &type) { form("tuple", type.elements); }
  void node(const BracketType &type);

  void node(const Let &stmt) {
    form(stmt.isVar ? "var" : "let", stmt.pattern, stmt.type, stmt.init);
  }
  void node(const Assign &stmt);
  void node(const ExprStmt &stmt) { dump(*stmt.call); }
  void node(const Return &stmt) { form("return", stmt.values); }
  void node(const Break &) { os << "(break)"; }
  void node(const Continue &) { os << "(continue)"; }
  void node(const If &stmt) { form("if", stmt.arms, stmt.elseBody); }
  void node(const For &stmt) {
    form("for", stmt.attributes, stmt.pattern, stmt.iterable, stmt.body);
  }
  void node(const While &stmt) { form("while", stmt.attributes, stmt.condition, stmt.body); }

  void node(const Kernel &decl) {
    form("kernel", decl.name, decl.cparams, decl.params, decl.attributes, decl.body);
  }
  void node(const Function &decl) {
    form("fn", decl.name, decl.cparams, decl.params, decl.result, decl.body);
  }
  void node(const Struct &decl) {
    form("struct", decl.name, decl.cparams, decl.fields, decl.methods);
  }
  void node(const Const &decl) { form("const", decl.name, decl.value); }
  void node(const Import &decl) { form("import", decl.path, decl.names); }

  // Parts of a form. Absent ones write nothing: no two forms become alike by that.
  void part(const Expr *expr) {
    absentOr(expr, [&] { dump(*expr); });
  }
  void part(const Type *type) {
    absentOr(type, [&] { os << ':', dump(*type); });
  }
  void part(const Stmt *stmt) {
    absentOr(stmt, [&] { dump(*stmt); });
  }
  void part(const Function *decl) {
    absentOr(decl, [&] { dump(*decl); });
  }
  void part(const Block *block) {
    absentOr(block, [&] { form("do", block->stmts); });
  }
  void part(const Ident &name) { os << ' ' << name.text; }
  void part(const Pattern &pattern);
  void part(const Index &index);
  void part(const Stride &stride) { stride.isAny() ? void(os << " *") : part(stride.value); }
  void part(const NamedArg &arg) { os << ' ', form("=", arg.name, arg.value); }
  void part(const RecordField &field) { os << ' ', form(":", field.name, field.value); }
  void part(const StructField &field) { os << ' ', form("field", field.name, field.type); }
  void part(const IfExprArm &arm) { os << ' ', form("arm", arm.condition, arm.value); }
  void part(const IfArm &arm) { os << ' ', form("arm", arm.condition, arm.body); }
  void part(const CParam &param);
  void part(const FnParam &param);
  void part(const KernelParam &param);
  void part(const Attribute &attribute);
  template <class T> void part(llvm::ArrayRef<T> items) {
    for (const T &item : items)
      part(item);
  }

  void absentOr(const void *node, llvm::function_ref<void()> write) {
    if (!node)
      return;
    os << ' ';
    write();
  }

  template <class... Parts> void form(llvm::StringRef head, const Parts &...parts) {
    os << '(' << head;
    (part(parts), ...);
    os << ')';
  }

  llvm::raw_ostream &os;
};

} // namespace

void Dumper::dump(const Expr &expr) {
  llvm::TypeSwitch<const Expr *>(&expr)
      .Case<Name, IntLit, FloatLit, BoolLit, StringLit, Unary, Binary, CompareChain, Logical,
            IfExpr, FnExpr, Call, Subscript, Member, TupleIndex, Tuple, List, Record>(
          [&](const auto *sub) { node(*sub); });
}

void Dumper::dump(const Type &type) {
  llvm::TypeSwitch<const Type *>(&type).Case<PointerType, NamedType, TupleType, BracketType>(
      [&](const auto *sub) { node(*sub); });
}

void Dumper::dump(const Stmt &stmt) {
  llvm::TypeSwitch<const Stmt *>(&stmt)
      .Case<Let, Assign, ExprStmt, Return, Break, Continue, If, For, While>(
          [&](const auto *sub) { node(*sub); });
}

void Dumper::dump(const Decl &decl) {
  llvm::TypeSwitch<const Decl *>(&decl).Case<Kernel, Function, Struct, Const, Import>(
      [&](const auto *sub) { node(*sub); });
}

void Dumper::node(const CompareChain &expr) {
  os << "(cmp";
  part(expr.operands.front());
  for (auto [op, operand] : llvm::zip_equal(expr.ops, expr.operands.drop_front())) {
    os << ' ' << spelling(op);
    part(operand);
  }
  os << ')';
}

void Dumper::node(const BracketType &type) {
  os << '(' << type.name.text << "[]";
  part(type.args);
  os << (type.strides.empty() ? "" : " ;");
  part(type.strides);
  os << ')';
}

void Dumper::node(const Assign &stmt) {
  form(((stmt.op ? spelling(*stmt.op) : "") + "=").str(), stmt.target, stmt.value);
}

void Dumper::part(const Pattern &pattern) {
  if (!pattern.isTuple)
    return part(pattern.names);
  os << ' ';
  form("tuple", pattern.names);
}

void Dumper::part(const Index &index) {
  switch (index.kind) {
  case Index::Kind::Expr:
    return part(index.value);
  case Index::Kind::Named:
    os << ' ';
    return form("=", index.name, index.value);
  case Index::Kind::Block:
    os << ' ';
    return form("+:", index.start, index.width);
  case Index::Kind::Slice:
    os << " (:";
    for (const Expr *bound : {index.start, index.stop, index.step})
      bound ? part(bound) : void(os << " _");
    os << ')';
    return;
  }
}

void Dumper::part(const CParam &param) {
  os << ' ';
  form("cparam", param.name, param.kinds);
  if (param.defaultValue)
    os << '=', dump(*param.defaultValue);
}

void Dumper::part(const FnParam &param) {
  os << ' ';
  form(param.isConst ? "const-param" : "param", param.name, param.type, param.defaultValue);
}

void Dumper::part(const KernelParam &param) {
  os << ' ';
  std::string head = ("param-" + spelling(param.access) + (param.optional ? "?" : "")).str();
  form(head, param.attributes, param.name, param.type, param.defaultValue);
}

void Dumper::part(const Attribute &attribute) {
  os << ' ';
  form(("@" + attribute.name.text).str(), attribute.args, attribute.namedArgs);
}

void tk::dumpAst(const File &file, llvm::raw_ostream &os) {
  for (const Decl *decl : file.decls) {
    Dumper(os).dump(*decl);
    os << '\n';
  }
}

void tk::dumpAst(const Expr &expr, llvm::raw_ostream &os) {
  Dumper(os).dump(expr);
}
