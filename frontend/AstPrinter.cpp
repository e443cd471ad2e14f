//===- AstPrinter.cpp - the syntax tree as canonical source ------------------===//

#include "frontend/AstPrinter.h"
#include "llvm/ADT/STLExtras.h"
#include "llvm/ADT/TypeSwitch.h"

using namespace tk;
using namespace tk::ast;

/// Parameter lists that would make a longer line stand one parameter a line.
static constexpr size_t kMaxColumns = 100;

namespace {

/// How tightly an expression binds; a place in the grammar asks for a least one.
enum Precedence : unsigned {
  kExpr, // if expressions and closures stand only where a whole expression may
  kOr,
  kAnd,
  kComparison,
  kBitOr,
  kBitXor,
  kBitAnd,
  kShift,
  kSum,
  kProduct,
  kUnary,
  kPostfix,
};

class Printer {
public:
  explicit Printer(llvm::raw_ostream &os) : os(os) {}

  void print(const File &file);
  void print(const Expr &expr, unsigned least = kExpr);
  void print(const Type &type);

private:
  void node(const Name &expr) { os << expr.text; }
  void node(const IntLit &expr) { os << expr.spelling; }
  void node(const FloatLit &expr) { os << expr.spelling; }
  void node(const BoolLit &expr) { os << (expr.value ? "true" : "false"); }
  void node(const StringLit &expr) { os << expr.spelling; }
  void node(const Unary &expr);
  void node(const Binary &expr);
  void node(const CompareChain &expr);
  void node(const Logical &expr);
  void node(const IfExpr &expr);
  void node(const FnExpr &expr);
  void node(const Call &expr);
  void node(const Subscript &expr);
  void node(const Member &expr);
  void node(const TupleIndex &expr);
  void node(const Tuple &expr);
  void node(const List &expr);
  void node(const Record &expr);
  void base(const Expr &expr);
  void print(const Index &index);

  void node(const PointerType &type);
  void node(const NamedType &type) { os << type.name.text; }
  void node(const TupleType &type);
  void node(const BracketType &type);

  void print(const Stmt &stmt);
  void node(const Let &stmt);
  void node(const Assign &stmt);
  void node(const ExprStmt &stmt) { print(*stmt.call); }
  void node(const Return &stmt);
  void node(const Break &) { os << "break"; }
  void node(const Continue &) { os << "continue"; }
  void node(const If &stmt);
  void node(const For &stmt);
  void node(const While &stmt);
  void print(const Pattern &pattern);
  void print(const Block &block);

  void node(const Kernel &decl);
  void node(const Function &decl);
  void node(const Struct &decl);
  void node(const Const &decl);
  void node(const Import &decl);
  void print(const Attribute &attribute);
  void print(const CParam &param);
  void print(const FnParam &param);
  void print(const KernelParam &param);

  void loopAttributes(llvm::ArrayRef<Attribute> attributes);
  void arguments(llvm::ArrayRef<Expr *> args, llvm::ArrayRef<NamedArg> namedArgs);
  void cparams(llvm::ArrayRef<CParam> params);
  void newline() { os << '\n', os.indent(4 * depth); }

  template <class Items> void list(const Items &items) {
    llvm::interleave(
        items, os, [&](const auto &item) { print(item); }, ", ");
  }
  void print(Expr *expr) { print(*expr); }
  void print(Type *type) { print(*type); }

  llvm::raw_ostream &os;
  unsigned depth = 0;
};

} // namespace

//===----------------------------------------------------------------------===//
// Expressions
//===----------------------------------------------------------------------===//

static unsigned precedenceOf(BinaryOp op) {
  switch (op) {
  case BinaryOp::BitOr:
    return kBitOr;
  case BinaryOp::BitXor:
    return kBitXor;
  case BinaryOp::BitAnd:
    return kBitAnd;
  case BinaryOp::Shl:
  case BinaryOp::Shr:
    return kShift;
  case BinaryOp::Add:
  case BinaryOp::Sub:
    return kSum;
  default:
    return kProduct;
  }
}

static unsigned precedenceOf(const Expr &expr) {
  switch (expr.kind) {
  case ExprKind::IfExpr:
  case ExprKind::FnExpr:
    return kExpr;
  case ExprKind::Logical:
    return llvm::cast<Logical>(expr).op == LogicalOp::Or ? kOr : kAnd;
  case ExprKind::CompareChain:
    return kComparison;
  case ExprKind::Binary:
    return precedenceOf(llvm::cast<Binary>(expr).op);
  case ExprKind::Unary:
    return kUnary;
  default:
    return kPostfix;
  }
}

void Printer::print(const Expr &expr, unsigned least) {
  bool parentheses = precedenceOf(expr) < least;
  if (parentheses)
    os << '(';
  llvm::TypeSwitch<const Expr *>(&expr)
      .Case<Name, IntLit, FloatLit, BoolLit, StringLit, Unary, Binary, CompareChain, Logical,
            IfExpr, FnExpr, Call, Subscript, Member, TupleIndex, Tuple, List, Record>(
          [&](const auto *sub) { node(*sub); });
  if (parentheses)
    os << ')';
}

void Printer::node(const Unary &expr) {
  os << spelling(expr.op);
  print(*expr.operand, kUnary);
}

void Printer::node(const Binary &expr) {
  unsigned precedence = precedenceOf(expr.op);
  // The parser refuses `x * a @ b`: a product to the left of `@` keeps its parentheses.
  const auto *left = llvm::dyn_cast<Binary>(expr.lhs);
  bool isRefused = expr.op == BinaryOp::MatMul && left && left->op != BinaryOp::MatMul &&
                   precedenceOf(left->op) == precedence;
  print(*expr.lhs, isRefused ? precedence + 1 : precedence);
  os << ' ' << spelling(expr.op) << ' ';
  print(*expr.rhs, precedence + 1);
}

void Printer::node(const CompareChain &expr) {
  print(*expr.operands.front(), kComparison + 1);
  for (auto [op, operand] : llvm::zip_equal(expr.ops, expr.operands.drop_front())) {
    os << ' ' << spelling(op) << ' ';
    print(*operand, kComparison + 1);
  }
}

void Printer::node(const Logical &expr) {
  unsigned least = precedenceOf(expr) + 1;
  llvm::interleave(
      expr.operands, os, [&](const Expr *operand) { print(*operand, least); },
      (" " + spelling(expr.op) + " ").str());
}

void Printer::node(const IfExpr &expr) {
  for (const IfExprArm &arm : expr.arms) {
    os << "if ";
    print(*arm.condition, kOr);
    os << " { ";
    print(*arm.value);
    os << " } else ";
  }
  os << "{ ";
  print(*expr.elseValue);
  os << " }";
}

void Printer::node(const FnExpr &expr) {
  os << "fn(";
  list(expr.params);
  os << ") ";
  const Block &body = *expr.body;
  if (body.stmts.size() != 1 || llvm::isa<If, For, While>(body.stmts.front()))
    return print(body);
  os << "{ ";
  print(*body.stmts.front());
  os << " }";
}

/// What a call, subscript or member stands behind. `1.0` would be one number.
void Printer::base(const Expr &expr) {
  bool isNumber = llvm::isa<IntLit, FloatLit>(expr);
  os << (isNumber ? "(" : "");
  print(expr, kPostfix);
  os << (isNumber ? ")" : "");
}

void Printer::node(const Call &expr) {
  base(*expr.callee);
  os << '(';
  arguments(expr.args, expr.namedArgs);
  os << ')';
}

void Printer::arguments(llvm::ArrayRef<Expr *> args, llvm::ArrayRef<NamedArg> namedArgs) {
  list(args);
  if (!args.empty() && !namedArgs.empty())
    os << ", ";
  llvm::interleave(
      namedArgs, os,
      [&](const NamedArg &arg) {
        os << arg.name.text << '=';
        print(*arg.value);
      },
      ", ");
}

void Printer::print(const Index &index) {
  switch (index.kind) {
  case Index::Kind::Expr:
    return print(*index.value);
  case Index::Kind::Named:
    os << index.name.text << '=';
    return print(*index.value);
  case Index::Kind::Block:
    print(*index.start);
    os << " +: ";
    return print(*index.width);
  case Index::Kind::Slice:
    if (index.start)
      print(*index.start);
    os << ':';
    if (index.stop)
      print(*index.stop);
    if (!index.step)
      return;
    os << ':';
    return print(*index.step);
  }
}

void Printer::node(const Subscript &expr) {
  base(*expr.base);
  os << '[';
  list(expr.indices);
  os << ']';
}

void Printer::node(const Member &expr) {
  base(*expr.base);
  os << '.' << expr.name.text;
}

void Printer::node(const TupleIndex &expr) {
  base(*expr.base);
  os << '.' << expr.index;
}

void Printer::node(const Tuple &expr) {
  os << '(';
  list(expr.elements);
  os << (expr.elements.size() == 1 ? ",)" : ")");
}

void Printer::node(const List &expr) {
  os << '[';
  list(expr.elements);
  os << ']';
}

void Printer::node(const Record &expr) {
  os << '{';
  llvm::interleave(
      expr.fields, os,
      [&](const RecordField &field) {
        os << field.name.text << ": ";
        print(*field.value);
      },
      ", ");
  os << '}';
}

//===----------------------------------------------------------------------===//
// Types
//===----------------------------------------------------------------------===//

void Printer::print(const Type &type) {
  llvm::TypeSwitch<const Type *>(&type).Case<PointerType, NamedType, TupleType, BracketType>(
      [&](const auto *sub) { node(*sub); });
}

void Printer::node(const PointerType &type) {
  os << '*';
  print(*type.pointee);
}

void Printer::node(const TupleType &type) {
  os << '(';
  list(type.elements);
  os << ')';
}

void Printer::node(const BracketType &type) {
  os << type.name.text << '[';
  list(type.args);
  if (!type.strides.empty())
    os << "; ";
  llvm::interleave(
      type.strides, os,
      [&](const Stride &stride) {
        if (stride.isAny())
          os << '*';
        else
          print(*stride.value);
      },
      ", ");
  os << ']';
}

//===----------------------------------------------------------------------===//
// Statements
//===----------------------------------------------------------------------===//

void Printer::print(const Stmt &stmt) {
  llvm::TypeSwitch<const Stmt *>(&stmt)
      .Case<Let, Assign, ExprStmt, Return, Break, Continue, If, For, While>(
          [&](const auto *sub) { node(*sub); });
}

void Printer::print(const Block &block) {
  if (block.stmts.empty()) {
    os << "{ }";
    return;
  }
  os << '{';
  ++depth;
  for (const Stmt *stmt : block.stmts) {
    newline();
    print(*stmt);
  }
  --depth;
  newline();
  os << '}';
}

void Printer::print(const Pattern &pattern) {
  os << (pattern.isTuple ? "(" : "");
  llvm::interleave(
      pattern.names, os, [&](const Ident &name) { os << name.text; }, ", ");
  os << (pattern.isTuple ? ")" : "");
}

void Printer::node(const Let &stmt) {
  os << (stmt.isVar ? "var " : "let ");
  print(stmt.pattern);
  if (stmt.type) {
    os << ": ";
    print(*stmt.type);
  }
  os << " = ";
  print(*stmt.init);
}

void Printer::node(const Assign &stmt) {
  print(*stmt.target, kPostfix);
  os << ' ' << (stmt.op ? spelling(*stmt.op) : "") << "= ";
  print(*stmt.value);
}

void Printer::node(const Return &stmt) {
  os << (stmt.values.empty() ? "return" : "return ");
  list(stmt.values);
}

void Printer::node(const If &stmt) {
  for (const IfArm &arm : stmt.arms) {
    os << (&arm == stmt.arms.begin() ? "if " : " else if ");
    print(*arm.condition);
    os << ' ';
    print(*arm.body);
  }
  if (!stmt.elseBody)
    return;
  os << " else ";
  print(*stmt.elseBody);
}

void Printer::loopAttributes(llvm::ArrayRef<Attribute> attributes) {
  for (const Attribute &attribute : attributes) {
    print(attribute);
    newline();
  }
}

void Printer::node(const For &stmt) {
  loopAttributes(stmt.attributes);
  os << "for ";
  print(stmt.pattern);
  os << " in ";
  print(*stmt.iterable);
  os << ' ';
  print(*stmt.body);
}

void Printer::node(const While &stmt) {
  loopAttributes(stmt.attributes);
  os << "while ";
  print(*stmt.condition);
  os << ' ';
  print(*stmt.body);
}

//===----------------------------------------------------------------------===//
// Declarations
//===----------------------------------------------------------------------===//

void Printer::print(const File &file) {
  const Decl *previous = nullptr;
  for (const Decl *decl : file.decls) {
    bool isShort = llvm::isa<Const, Import>(decl);
    if (previous && (!isShort || previous->kind != decl->kind))
      os << '\n';
    llvm::TypeSwitch<const Decl *>(decl).Case<Kernel, Function, Struct, Const, Import>(
        [&](const auto *sub) { node(*sub); });
    os << '\n';
    previous = decl;
  }
}

void Printer::print(const Attribute &attribute) {
  os << '@' << attribute.name.text;
  if (attribute.args.empty() && attribute.namedArgs.empty())
    return;
  os << '(';
  arguments(attribute.args, attribute.namedArgs);
  os << ')';
}

void Printer::print(const CParam &param) {
  os << param.name.text << ": ";
  llvm::interleave(
      param.kinds, os, [&](const Ident &name) { os << name.text; }, " | ");
  if (!param.defaultValue)
    return;
  os << " = ";
  print(*param.defaultValue);
}

void Printer::cparams(llvm::ArrayRef<CParam> params) {
  if (params.empty())
    return;
  os << '[';
  list(params);
  os << ']';
}

void Printer::print(const FnParam &param) {
  os << (param.isConst ? "const " : "") << param.name.text;
  if (param.type) {
    os << ": ";
    print(*param.type);
  }
  if (!param.defaultValue)
    return;
  os << " = ";
  print(*param.defaultValue);
}

void Printer::print(const KernelParam &param) {
  for (const Attribute &attribute : param.attributes) {
    print(attribute);
    os << ' ';
  }
  if (param.access != Access::None)
    os << spelling(param.access) << ' ';
  os << param.name.text << ": ";
  print(*param.type);
  os << (param.optional ? "?" : "");
  if (!param.defaultValue)
    return;
  os << " = ";
  print(*param.defaultValue);
}

void Printer::node(const Kernel &decl) {
  std::string head, params;
  {
    llvm::raw_string_ostream headStream(head), paramStream(params);
    Printer(headStream).cparams(decl.cparams);
    Printer(paramStream).list(decl.params);
  }
  os << "kernel " << decl.name.text << head << '(';
  size_t columns = sizeof("kernel ()") - 1 + decl.name.text.size() + head.size() + params.size();
  if (columns <= kMaxColumns)
    os << params;
  else
    llvm::interleave(
        decl.params, os,
        [&](const KernelParam &param) {
          os << "\n        ";
          print(param);
        },
        ",");
  os << ')';
  for (const Attribute &attribute : decl.attributes) {
    os << "\n    ";
    print(attribute);
  }
  os << (decl.attributes.empty() ? " " : "\n");
  print(*decl.body);
}

void Printer::node(const Function &decl) {
  os << "fn " << decl.name.text;
  cparams(decl.cparams);
  os << '(';
  list(decl.params);
  os << ") ";
  if (decl.result) {
    os << "-> ";
    print(*decl.result);
    os << ' ';
  }
  print(*decl.body);
}

void Printer::node(const Struct &decl) {
  os << "struct " << decl.name.text;
  cparams(decl.cparams);
  os << " {";
  ++depth;
  for (const StructField &field : decl.fields) {
    newline();
    os << field.name.text << ": ";
    print(*field.type);
  }
  for (const Function *method : decl.methods) {
    newline();
    node(*method);
  }
  --depth;
  os << "\n}";
}

void Printer::node(const Const &decl) {
  os << "const " << decl.name.text << " = ";
  print(*decl.value);
}

void Printer::node(const Import &decl) {
  os << "import ";
  if (decl.path)
    os << decl.path->spelling;
  llvm::interleave(
      decl.names, os, [&](const Ident &name) { os << name.text; }, ".");
}

void tk::printAst(const File &file, llvm::raw_ostream &os) {
  Printer(os).print(file);
}
void tk::printAst(const Expr &expr, llvm::raw_ostream &os) {
  Printer(os).print(expr);
}
void tk::printAst(const Type &type, llvm::raw_ostream &os) {
  Printer(os).print(type);
}
