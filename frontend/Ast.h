//===- Ast.h - the syntax tree of a .tk file ---------------------------------===//
//
// Plain structs, one per production of the grammar. All nodes and arrays lie in the arena of their
// ast::File and are trivially destructible; names and spellings point into the SourceFile (which
// must outlive the tree) or into the arena. Pointers that may be null say so; all others are set.
// The kinds serve llvm::isa, cast and dyn_cast. Trees come from error-free text only.
//
// Choices: `true` and `false` are keywords (BoolLit). `None`, `inf`, type names and enumerators
// are Names. Parentheses leave no node (Expr::parenthesised tells). Chains are flat: `a < b < c`
// is one CompareChain, `a && b && c` one Logical, `else if` an arm of one If or IfExpr.
//
//===----------------------------------------------------------------------===//
#pragma once

#include "frontend/SourceFile.h"
#include "llvm/ADT/APInt.h"
#include "llvm/ADT/ArrayRef.h"
#include "llvm/ADT/StringRef.h"
#include "llvm/Support/Allocator.h"
#include "llvm/Support/Casting.h"
#include <optional>

namespace tk::ast {

struct Expr;
struct Type;
struct Block;
struct Function;

/// A name as written, with its place.
struct Ident {
  llvm::StringRef text;
  SourceRange range;

  explicit operator bool() const { return !text.empty(); }
};

struct Node {
  SourceRange range;
};

//===----------------------------------------------------------------------===//
// Pieces shared by several productions
//===----------------------------------------------------------------------===//

/// `name=value` among arguments.
struct NamedArg : Node {
  Ident name;
  Expr *value = nullptr;
};

/// `@name(args)`; `@name` and `@name()` are the same. The range begins at `@`.
struct Attribute : Node {
  Ident name;
  llvm::ArrayRef<Expr *> args;
  llvm::ArrayRef<NamedArg> namedArgs;
};

/// What `let`, `var` and `for` bind: one name, or two and more in parentheses.
struct Pattern : Node {
  llvm::ArrayRef<Ident> names;
  bool isTuple = false;
};

/// A parameter of a `fn` or of a closure.
struct FnParam : Node {
  bool isConst = false;
  Ident name;
  Type *type = nullptr;         // may be null
  Expr *defaultValue = nullptr; // may be null
};

//===----------------------------------------------------------------------===//
// Expressions
//===----------------------------------------------------------------------===//

enum class ExprKind : uint8_t {
  Name,
  IntLit,
  FloatLit,
  BoolLit,
  StringLit,
  Unary,
  Binary,
  CompareChain,
  Logical,
  IfExpr,
  FnExpr,
  Call,
  Subscript,
  Member,
  TupleIndex,
  Tuple,
  List,
  Record,
};

enum class UnaryOp : uint8_t { Neg, Not, BitNot };
enum class BinaryOp : uint8_t {
  Mul,
  Div,
  IntDiv,
  Rem,
  MatMul,
  Add,
  Sub,
  Shl,
  Shr,
  BitAnd,
  BitXor,
  BitOr,
};
enum class CompareOp : uint8_t { Lt, Gt, Le, Ge, Eq, Ne };
enum class LogicalOp : uint8_t { And, Or };

llvm::StringRef spelling(UnaryOp op);
llvm::StringRef spelling(BinaryOp op);
llvm::StringRef spelling(CompareOp op);
llvm::StringRef spelling(LogicalOp op);

/// The range leaves enclosing parentheses out.
struct Expr : Node {
  const ExprKind kind;
  bool parenthesised = false;
  /// Levels of nodes below and including this one; the parser bounds it (kMaxHeight of Parser.h),
  /// so a recursive walk is safe.
  uint16_t height = 1;

protected:
  explicit Expr(ExprKind kind) : kind(kind) {}
};

/// Gives a node struct its kind and classof.
template <ExprKind K> struct ExprOf : Expr {
  ExprOf() : Expr(K) {}
  static bool classof(const Expr *expr) { return expr->kind == K; }
};

struct Name : ExprOf<ExprKind::Name> {
  llvm::StringRef text;
};

/// `42`, `0xFF`, `0b1010`, `0o17`, `1_000`. Of any size: the analysis checks the range.
struct IntLit : ExprOf<ExprKind::IntLit> {
  llvm::StringRef spelling; // as written
  llvm::StringRef digits;   // without prefix and underscores
  unsigned radix = 10;      // 2, 8, 10 or 16

  /// The value, never negative as a signed number: wide enough for one bit more.
  llvm::APInt getValue() const;
};

/// `1.5`, `1e-12`, `1_000.0`.
struct FloatLit : ExprOf<ExprKind::FloatLit> {
  llvm::StringRef spelling; // as written
  llvm::StringRef digits;   // without underscores: what llvm::APFloat reads
};

struct BoolLit : ExprOf<ExprKind::BoolLit> {
  bool value = false;
};

struct StringLit : ExprOf<ExprKind::StringLit> {
  llvm::StringRef spelling; // as written, with quotes and escapes
  llvm::StringRef value;    // without
};

struct Unary : ExprOf<ExprKind::Unary> {
  UnaryOp op = UnaryOp::Neg;
  SourceRange opRange;
  Expr *operand = nullptr;
};

struct Binary : ExprOf<ExprKind::Binary> {
  BinaryOp op = BinaryOp::Add;
  SourceRange opRange;
  Expr *lhs = nullptr;
  Expr *rhs = nullptr;
};

/// `a < b <= c`: one operator fewer than operands; a single comparison has two operands.
struct CompareChain : ExprOf<ExprKind::CompareChain> {
  llvm::ArrayRef<Expr *> operands;
  llvm::ArrayRef<CompareOp> ops;
  llvm::ArrayRef<SourceRange> opRanges;
};

/// `a && b && c` or `a || b`: two operands or more.
struct Logical : ExprOf<ExprKind::Logical> {
  LogicalOp op = LogicalOp::And;
  llvm::ArrayRef<Expr *> operands;
  llvm::ArrayRef<SourceRange> opRanges;
};

/// `condition { value }` of an if expression.
struct IfExprArm {
  Expr *condition = nullptr;
  Expr *value = nullptr;
};

/// `if a { x } else if b { y } else { z }` as a value: one arm or more, and `else`.
struct IfExpr : ExprOf<ExprKind::IfExpr> {
  llvm::ArrayRef<IfExprArm> arms;
  Expr *elseValue = nullptr;
};

/// A closure: `fn(a, b) { return a + b }`.
struct FnExpr : ExprOf<ExprKind::FnExpr> {
  llvm::ArrayRef<FnParam> params;
  Block *body = nullptr;
};

struct Call : ExprOf<ExprKind::Call> {
  Expr *callee = nullptr;
  llvm::ArrayRef<Expr *> args;
  llvm::ArrayRef<NamedArg> namedArgs;
};

/// One entry between `[` and `]`.
struct Index : Node {
  enum class Kind : uint8_t {
    Expr,  // value
    Slice, // [start] : [stop] [: [step]], each may be null
    Block, // start +: width
    Named, // name=value
  };
  Kind kind = Kind::Expr;
  Ident name;                 // Named
  ast::Expr *value = nullptr; // Expr, Named
  ast::Expr *start = nullptr; // Slice, Block
  ast::Expr *stop = nullptr;  // Slice
  ast::Expr *step = nullptr;  // Slice
  ast::Expr *width = nullptr; // Block
};

/// `base[indices]`: a place, a value of a tile, or an instance of a function or type. The named
/// ones (`fill=`, `mask=`) come last.
struct Subscript : ExprOf<ExprKind::Subscript> {
  Expr *base = nullptr;
  llvm::ArrayRef<Index> indices; // may be empty: `s[]`
};

/// `base.name`.
struct Member : ExprOf<ExprKind::Member> {
  Expr *base = nullptr;
  Ident name;
};

/// `base.0`.
struct TupleIndex : ExprOf<ExprKind::TupleIndex> {
  Expr *base = nullptr;
  unsigned index = 0;
  SourceRange indexRange;
};

/// `(a,)`, `(a, b)`.
struct Tuple : ExprOf<ExprKind::Tuple> {
  llvm::ArrayRef<Expr *> elements; // one or more
};

/// `[a, b]`; an element may be a Record.
struct List : ExprOf<ExprKind::List> {
  llvm::ArrayRef<Expr *> elements; // one or more
};

/// `name: value` of a record.
struct RecordField : Node {
  Ident name;
  Expr *value = nullptr;
};

/// `{BM: 128, warps: [4, 8]}`; only as an element of a list.
struct Record : ExprOf<ExprKind::Record> {
  llvm::ArrayRef<RecordField> fields; // one or more
};

//===----------------------------------------------------------------------===//
// Types
//===----------------------------------------------------------------------===//

enum class TypeKind : uint8_t { Pointer, Named, Tuple, Bracket };

/// `?` is not part of a type: KernelParam::optional has it.
struct Type : Node {
  const TypeKind kind;

protected:
  explicit Type(TypeKind kind) : kind(kind) {}
};

template <TypeKind K> struct TypeOf : Type {
  TypeOf() : Type(K) {}
  static bool classof(const Type *type) { return type->kind == K; }
};

/// `*pointee`.
struct PointerType : TypeOf<TypeKind::Pointer> {
  Type *pointee = nullptr;
};

/// `f32`, `T`, `nn.State`.
struct NamedType : TypeOf<TypeKind::Named> {
  Ident name;
};

/// `(f32, i32)`: two or more; `(f32)` is f32.
struct TupleType : TypeOf<TypeKind::Tuple> {
  llvm::ArrayRef<Type *> elements;
};

/// A stride of a tensor type: an expression, or `*` (null).
struct Stride : Node {
  Expr *value = nullptr; // null: `*`

  bool isAny() const { return !value; }
};

/// `T[M, K]` a tensor, `T[]` one of rank 0, `tile[T, BM, BN]` a tile, `T[M, K; 1, *]` with strides;
/// also an instance of a struct. Which one it is, is for the analysis.
struct BracketType : TypeOf<TypeKind::Bracket> {
  Ident name;
  llvm::ArrayRef<Expr *> args;
  llvm::ArrayRef<Stride> strides; // empty when not written
};

//===----------------------------------------------------------------------===//
// Statements
//===----------------------------------------------------------------------===//

enum class StmtKind : uint8_t {
  Let,
  Assign,
  ExprStmt,
  Return,
  Break,
  Continue,
  If,
  For,
  While,
};

struct Stmt : Node {
  const StmtKind kind;

protected:
  explicit Stmt(StmtKind kind) : kind(kind) {}
};

template <StmtKind K> struct StmtOf : Stmt {
  StmtOf() : Stmt(K) {}
  static bool classof(const Stmt *stmt) { return stmt->kind == K; }
};

/// `{ statements }`; the range includes the braces.
struct Block : Node {
  llvm::ArrayRef<Stmt *> stmts;
};

/// `let pattern: type = init`, or `var` when isVar.
struct Let : StmtOf<StmtKind::Let> {
  bool isVar = false;
  Pattern pattern;
  Type *type = nullptr; // may be null
  Expr *init = nullptr;
};

/// `target = value` or `target op= value`. The target is a Name, Subscript, Member or TupleIndex.
struct Assign : StmtOf<StmtKind::Assign> {
  Expr *target = nullptr;
  std::optional<BinaryOp> op;
  SourceRange opRange;
  Expr *value = nullptr;
};

/// A call whose value is dropped.
struct ExprStmt : StmtOf<StmtKind::ExprStmt> {
  Call *call = nullptr;
};

/// `return a, b`: no value, one, or several (which make a tuple).
struct Return : StmtOf<StmtKind::Return> {
  llvm::ArrayRef<Expr *> values;
};

struct Break : StmtOf<StmtKind::Break> {};
struct Continue : StmtOf<StmtKind::Continue> {};

/// `condition { ... }` of an if statement.
struct IfArm {
  Expr *condition = nullptr;
  Block *body = nullptr;
};

/// `if a { } else if b { } else { }`: one arm or more.
struct If : StmtOf<StmtKind::If> {
  llvm::ArrayRef<IfArm> arms;
  Block *elseBody = nullptr; // may be null
};

struct For : StmtOf<StmtKind::For> {
  llvm::ArrayRef<Attribute> attributes;
  Pattern pattern;
  Expr *iterable = nullptr;
  Block *body = nullptr;
};

struct While : StmtOf<StmtKind::While> {
  llvm::ArrayRef<Attribute> attributes;
  Expr *condition = nullptr;
  Block *body = nullptr;
};

//===----------------------------------------------------------------------===//
// Declarations
//===----------------------------------------------------------------------===//

enum class DeclKind : uint8_t { Kernel, Function, Struct, Const, Import };

struct Decl : Node {
  const DeclKind kind;

protected:
  explicit Decl(DeclKind kind) : kind(kind) {}
};

template <DeclKind K> struct DeclOf : Decl {
  DeclOf() : Decl(K) {}
  static bool classof(const Decl *decl) { return decl->kind == K; }
};

/// A compile-time parameter `T: f16 | bf16 = f16`. The kinds are names: `int bool dtype string`, or
/// data types.
struct CParam : Node {
  Ident name;
  llvm::ArrayRef<Ident> kinds;  // one or more
  Expr *defaultValue = nullptr; // may be null
};

enum class Access : uint8_t { None, In, Out, InOut, Scratch };

/// "in", "out", "inout", "scratch", or "" for None.
llvm::StringRef spelling(Access access);

/// `@zeroed inout x: T[N]? = default`. Whether the type needs a word is for the analysis.
struct KernelParam : Node {
  llvm::ArrayRef<Attribute> attributes;
  Access access = Access::None;
  SourceRange accessRange; // empty for None
  Ident name;
  Type *type = nullptr;
  bool optional = false;
  Expr *defaultValue = nullptr; // may be null
};

struct Kernel : DeclOf<DeclKind::Kernel> {
  Ident name;
  llvm::ArrayRef<CParam> cparams;
  llvm::ArrayRef<KernelParam> params;
  llvm::ArrayRef<Attribute> attributes;
  Block *body = nullptr;
};

struct Function : DeclOf<DeclKind::Function> {
  Ident name;
  llvm::ArrayRef<CParam> cparams;
  llvm::ArrayRef<FnParam> params;
  Type *result = nullptr; // may be null
  Block *body = nullptr;
};

struct StructField : Node {
  Ident name;
  Type *type = nullptr;
};

struct Struct : DeclOf<DeclKind::Struct> {
  Ident name;
  llvm::ArrayRef<CParam> cparams;
  llvm::ArrayRef<StructField> fields;
  llvm::ArrayRef<Function *> methods;
};

/// `const NAME = value`.
struct Const : DeclOf<DeclKind::Const> {
  Ident name;
  Expr *value = nullptr;
};

/// `import "path"` (path set, names empty) or `import a.b.c` (the other way round).
struct Import : DeclOf<DeclKind::Import> {
  StringLit *path = nullptr; // null when names are given
  llvm::ArrayRef<Ident> names;
};

//===----------------------------------------------------------------------===//
// The file
//===----------------------------------------------------------------------===//

/// One parsed file; owns every node in it.
class File {
public:
  explicit File(const SourceFile &source) : source(&source) {}
  File(const File &) = delete;
  File &operator=(const File &) = delete;

  const SourceFile &getSource() const { return *source; }
  mlir::Location getLocation(mlir::MLIRContext &context, SourceRange range) const {
    return source->getLocation(context, range);
  }

  llvm::ArrayRef<Decl *> decls;

  /// A new node; it lives as long as the file.
  template <class T> T *make(SourceRange range) {
    static_assert(std::is_trivially_destructible_v<T>, "the arena runs no destructors");
    T *node = new (arena.Allocate<T>()) T();
    node->range = range;
    return node;
  }
  /// Copies into the arena.
  template <class T> llvm::ArrayRef<T> copy(llvm::ArrayRef<T> items) { return items.copy(arena); }
  llvm::StringRef copy(llvm::StringRef text) { return text.copy(arena); }

private:
  const SourceFile *source;
  llvm::BumpPtrAllocator arena;
};

} // namespace tk::ast
