//===- Lowerer.h - the walk that types, evaluates and emits one file ----------===//
//
// One object a file; kernels are instantiated one after the other. The methods are spread over
// Lower*.cpp and Builtins*.cpp by idea: LowerFile (selection, errors), LowerKernel (parameters,
// instances), LowerContract (host expressions), LowerStmt and LowerControl (statements),
// LowerExpr, LowerArith (numbers), LowerPlace (tensors), LowerCall (functions).
//
// A function is elaborated anew at each call, in its own Frame. What an error made unknown is a
// poisoned Val, and poison stays silent.
//
//===----------------------------------------------------------------------===//
#pragma once

#include "frontend/Builtins.h"
#include "frontend/Frontend.h"
#include "frontend/LowerReport.h"
#include "frontend/SemaScope.h"
#include "ir/tk/TkDialect.h"
#include "mlir/IR/Builders.h"
#include "llvm/ADT/DenseMap.h"
#include "llvm/ADT/StringSet.h"
#include <functional>

namespace tk {

/// Elements of the largest tile: 2^20.
constexpr int64_t kMaxTileElements = int64_t(1) << 20;
/// Calls of functions inside each other.
constexpr unsigned kMaxCallDepth = 64;
/// Nested run-time `if`, `for` and `while` after inlining.
constexpr unsigned kMaxRegionDepth = 200;
/// Expressions and statements inside each other after inlining.
constexpr unsigned kMaxWalkDepth = 4096;
/// Numbers in one tuple or list, members of members included.
constexpr size_t kMaxElements = 256;
/// Trips of one static_range.
constexpr int64_t kMaxStaticTrips = 4096;
/// Expressions and statements elaborated for one kernel.
constexpr unsigned kMaxSteps = 500'000;

/// A kernel's tensor or pointer parameter.
struct TensorParam {
  const ast::KernelParam *decl = nullptr;
  unsigned index = 0;
  bool pointer = false;
  Dtype dtype = Dtype::F32;
  int64_t aliasClass = 0;
  llvm::SmallVector<std::optional<int64_t>> staticExtents; // of a tensor
  mlir::Value value;                                       // the kernel's argument
};

/// `x[...]` with its indices evaluated.
struct Place {
  const TensorParam *tensor = nullptr;
  llvm::SmallVector<mlir::Value> indices;
  llvm::SmallVector<int64_t> widths;
  Shape shape;
  Val mask, fill; // None when not given
  SourceRange range;
};

/// How a statement ended.
enum class Flow { Next, Return, Break, Continue };

/// What follows a block up to the end of the function: an early `return` nests it in `else`.
struct Continuation {
  llvm::ArrayRef<ast::Stmt *> rest;
  size_t depth = 0;                    // of the scopes that `rest` sees
  const Continuation *outer = nullptr; // null: then the function ends
  bool barrier = false;                // an unrolled loop: nothing can be moved past its end
};

/// One function being elaborated, or the kernel.
struct Frame {
  const ast::Function *function = nullptr; // null: the kernel
  Scopes scopes;
  Val returned = Val::unit();
  SourceRange returnRange;
  unsigned runLoops = 0; // run-time loops around the current statement
  bool unrolled = false; // the innermost loop is unrolled, nothing run-time is between
};

/// What the contract knows of a name in the host's expressions.
struct HostName {
  mlir::Attribute expr;                // a name or a number
  const TensorParam *tensor = nullptr; // that binds it
  unsigned axis = 0;                   // of that tensor
  bool isStride = false;
  unsigned uses = 0;
  SourceRange declared;
  mlir::Value value; // once emitted
};

/// The kernel being instantiated.
struct KernelState {
  const ast::Kernel *decl = nullptr;
  KernelOp op;
  std::vector<std::unique_ptr<TensorParam>> tensors;
  llvm::MapVector<llvm::StringRef, HostName> hostNames; // extents and strides
  llvm::MapVector<llvm::StringRef, Val> compileTime;    // compile-time parameters
  llvm::StringMap<const ast::KernelParam *> scalars;
  llvm::StringSet<> read, written, untaken; // parameters; names in branches not taken
  mlir::Operation *lastExtent = nullptr;    // extents are emitted in order at the entry
  unsigned gridRank = 1;
};

class Lowerer {
public:
  Lowerer(mlir::MLIRContext &context, const SourceFile &source, const ast::File &file,
          const LowerOptions &options);

  mlir::FailureOr<mlir::OwningOpRef<mlir::ModuleOp>> run();
  LowerError getErrorClass() const { return reporter.errorClass; }

private:
  friend struct Builtin;
  friend const Builtin *findBuiltin(llvm::StringRef name);
  friend struct BuiltinTable;

  // --- LowerFile.cpp: declarations, selection, locations -----------------------
  void declareAll();
  void checkKernelName(const ast::Ident &name);
  llvm::SmallVector<const ast::Kernel *> selectKernels();
  void checkDefines(llvm::ArrayRef<const ast::Kernel *> kernels);
  mlir::Location loc(SourceRange range);
  template <const DiagSpec &Spec, class... Args> Report error(SourceRange range, Args &&...args) {
    return reporter.report<Spec>(range, std::forward<Args>(args)...);
  }
  /// "not built yet: ..."; poison.
  Val notBuilt(SourceRange range, const llvm::Twine &what);
  bool spend(SourceRange range);

  // --- LowerKernel.cpp: one instance of one kernel -----------------------------
  void lowerKernel(const ast::Kernel &kernel, bool asked);
  bool bindCompileTime(const ast::Kernel &kernel, bool asked);
  std::optional<Val> compileTimeValue(const ast::CParam &param, const ast::Kernel &kernel);
  bool checkKind(const ast::CParam &param, const Val &value, SourceRange at, bool fromCommand);
  bool declareParams();
  bool declareTensor(const ast::KernelParam &param, unsigned index);
  bool declarePointer(const ast::KernelParam &param, unsigned index);
  bool declareScalar(const ast::KernelParam &param, unsigned index);
  bool setAliasClass(TensorParam &tensor, const ast::KernelParam &param);
  void bindParams(mlir::Block &entry);
  void warnAboutParams();
  std::string symbolName();
  std::optional<Dtype> resolveDtype(const ast::Ident &name);

  // --- LowerContract.cpp: expressions the host evaluates -----------------------
  void bindExtents(const ast::BracketType &type, TensorParam &tensor);
  /// Its extents and strides.
  mlir::DictionaryAttr tensorEntry(TensorParam &tensor);
  mlir::Attribute hostExpr(const ast::Expr *expr);
  mlir::Attribute hostName(const ast::Name *name);
  mlir::Attribute hostBinary(const ast::Binary *expr);
  mlir::Attribute hostCompare(const ast::CompareChain *expr);
  mlir::Attribute hostCall(const ast::Call *call);
  mlir::Attribute hostOther(const ast::Expr *expr);
  mlir::Attribute foldHost(llvm::StringRef op, llvm::ArrayRef<mlir::Attribute> operands,
                           SourceRange range);
  mlir::Value hostValue(HostName &name);
  mlir::Attribute hostInt(Int128 value, SourceRange range);

  // --- LowerAttributes.cpp: the contract -----------------------------------------
  ContractAttr buildContract();
  void readAttributes(mlir::NamedAttrList &fields);
  void readGrid(const ast::Attribute &attr, mlir::NamedAttrList &fields);
  mlir::ArrayAttr readRequire(const ast::Attribute &attr, llvm::ArrayRef<ast::Expr *> exprs);
  void readOptions(const ast::Attribute *attr, mlir::NamedAttrList &fields);
  void readNumerics(const ast::Attribute &attr, mlir::NamedAttrList &fields);
  void readTune(const ast::Attribute &attr, mlir::NamedAttrList &fields);
  void readInstances(const ast::Attribute &attr, mlir::NamedAttrList &fields);
  void readAssumptions(mlir::NamedAttrList &fields);
  bool knowsNames(const ast::Expr *expr);
  mlir::ArrayAttr argEntries();
  mlir::DictionaryAttr scalarEntry(const ast::KernelParam &param);
  mlir::ArrayAttr disjointPairs();
  mlir::Attribute valueAttr(const Val &value);
  /// The configurations of @tune with lists multiplied out.
  using Config = std::vector<std::pair<llvm::StringRef, const ast::Expr *>>;
  std::vector<Config> configurations(const ast::Kernel &kernel);
  bool loadConfiguration(const ast::Kernel &kernel);
  Config config;

  // --- LowerStmt.cpp -----------------------------------------------------------
  Flow execStmts(llvm::ArrayRef<ast::Stmt *> stmts, const Continuation *outer);
  Flow execBlock(const ast::Block *block, const Continuation *outer);
  Flow execStmt(const ast::Stmt *stmt, const Continuation &rest);
  void execLet(const ast::Let *stmt);
  void bindName(const ast::Ident &name, Val value, bool isVar);
  void execAssign(const ast::Assign *stmt);
  void assignName(const ast::Name *target, const ast::Assign *stmt);
  void assignPlace(const ast::Subscript *target, const ast::Assign *stmt);
  void assignElement(const ast::TupleIndex *target, const ast::Assign *stmt);
  Flow execReturn(const ast::Return *stmt);
  std::optional<Val> fitVar(const Binding &binding, const Val &value, SourceRange range,
                            llvm::StringRef name);

  // --- LowerControl.cpp: if, and joining two branches ----------------------------
  /// One branch of a run-time `if`, not yet in an operation, and what it gives.
  struct BranchCode {
    mlir::Region region;
    std::vector<Val> values;
  };
  Flow execIf(const ast::If *stmt, size_t arm, const Continuation &rest);
  Flow execRunIf(const ast::If *stmt, size_t arm, const Val &condition, const Continuation &rest);
  Flow execReturningIf(const ast::If *stmt, size_t arm, const Val &condition,
                       const Continuation &rest);
  void runContinuation(const Continuation *rest);
  bool enterRegion(SourceRange range);
  std::optional<Val> evalCondition(const ast::Expr *expr, llvm::StringRef what);
  void elaborateBranch(BranchCode &code, llvm::function_ref<void()> body);
  std::vector<Val> joinBranches(mlir::Value condition, BranchCode &thenCode, BranchCode &elseCode,
                                llvm::ArrayRef<std::string> names, SourceRange range);
  Val merge(const Val &a, const Val &b, SourceRange range, llvm::StringRef what,
            std::vector<RunType> &types);
  bool yieldLeaves(const Val &merged, const Val &value, llvm::SmallVectorImpl<mlir::Value> &yields,
                   SourceRange range);
  Val fillPlaceholders(const Val &merged, mlir::ValueRange values, size_t &next);
  void leaveOut(const NameUse &use);
  Val evalIfExpr(const ast::IfExpr *expr, size_t arm);
  Val evalLogical(const ast::Logical *expr);
  Val joinLogical(bool isAnd, const Val &lhs, const ast::Expr *rhs, SourceRange range);

  // --- LowerLoop.cpp -------------------------------------------------------------
  struct Range {
    Val start = Val::ofInt(0), stop = Val::ofInt(0), step = Val::ofInt(1);
  };
  Flow execFor(const ast::For *stmt);
  Flow execStaticFor(const ast::For *stmt, const ast::Call *call);
  void execRunFor(const ast::For *stmt, const ast::Call *call);
  void execWhile(const ast::While *stmt);
  std::optional<Range> evalRange(const ast::Call *call);
  mlir::Value tripCount(const Range &range, SourceRange at);
  static bool isConstant(mlir::Value value, int64_t number);
  Val toI64(const Val &value, SourceRange range);
  mlir::Value runTrips(mlir::Value low, mlir::Value high, mlir::Value step, SourceRange at);
  void setLoopAttributes(mlir::Operation *loop, llvm::ArrayRef<ast::Attribute> attributes);
  /// The variables a loop assigns, as run-time values: what it carries.
  struct Carried {
    std::vector<llvm::StringRef> names;
    std::vector<Val> shapes; // of each variable, with placeholders
    llvm::SmallVector<mlir::Value> initial;
  };
  std::vector<llvm::StringRef> assignedVars(const NameUse &use);
  Carried carry(const NameUse &use, SourceRange range);
  Val carriedShape(const Val &value, SourceRange range, llvm::StringRef name);
  void bindCarried(const Carried &carried, mlir::ValueRange values);
  llvm::SmallVector<mlir::Value> carriedValues(const Carried &carried, mlir::ValueRange otherwise,
                                               SourceRange range);

  // --- LowerExpr.cpp -----------------------------------------------------------
  Val eval(const ast::Expr *expr);
  Val evalKind(const ast::Expr *expr);
  Val evalName(const ast::Name *expr);
  Val unknownName(llvm::StringRef name, SourceRange range);
  Val globalName(llvm::StringRef name, SourceRange range);
  Val constantDecl(const ast::Const *decl);
  Val evalUnary(const ast::Unary *expr);
  Val evalCompare(const ast::CompareChain *expr);
  Val evalMember(const ast::Member *expr);
  Val dtypeMember(Dtype dtype, const ast::Member *expr);
  Val evalTupleIndex(const ast::TupleIndex *expr);
  Val evalElements(llvm::ArrayRef<ast::Expr *> elements, Val::Kind kind, SourceRange range);
  Val tensorShape(const TensorParam &tensor, SourceRange range);
  Val evalSubscript(const ast::Subscript *expr);
  std::optional<Int128> evalInt(const ast::Expr *expr, llvm::StringRef what);
  std::optional<Int128> needInt(const Val &value, SourceRange range, llvm::StringRef what);
  std::optional<Dtype> evalDtype(const ast::Expr *expr);
  std::optional<int64_t> checkSide(Int128 side, SourceRange range);
  bool checkTile(llvm::ArrayRef<int64_t> shape, SourceRange range);

  // --- LowerArith.cpp: the rules of numbers ------------------------------------
  Val arithmetic(ast::BinaryOp op, const Val &lhs, const Val &rhs, SourceRange range,
                 SourceRange opRange);
  Val constArithmetic(ast::BinaryOp op, const Val &lhs, const Val &rhs, SourceRange range);
  Val pointerArithmetic(ast::BinaryOp op, const Val &lhs, const Val &rhs, SourceRange range);
  Val emitArithmetic(ast::BinaryOp op, const Val &lhs, const Val &rhs, Dtype dtype,
                     llvm::ArrayRef<int64_t> shape, SourceRange range);
  Val compare(ast::CompareOp op, const Val &lhs, const Val &rhs, SourceRange range);
  bool checkOperator(ast::BinaryOp op, Dtype dtype, const Val &lhs, const Val &rhs,
                     SourceRange range);
  std::optional<Dtype> commonDtype(const Val &lhs, const Val &rhs, SourceRange range,
                                   llvm::StringRef what);
  std::optional<Dtype> commonRun(Dtype a, Dtype b, SourceRange range, llvm::StringRef what);
  std::optional<Dtype> adaptConst(const Val &number, Dtype dtype, SourceRange range,
                                  llvm::StringRef what);
  std::optional<Shape> broadcast(const Val &lhs, const Val &rhs, SourceRange range,
                                 llvm::StringRef what);
  /// A common run-time type of numbers, for where, minimum, the arms of an if.
  std::optional<RunType> commonType(const Val &lhs, const Val &rhs, SourceRange range,
                                    llvm::StringRef what);
  static Dtype defaultDtype(const Val &number);
  /// A compile-time number, known to fit, as IntegerAttr or FloatAttr of `dtype`.
  mlir::TypedAttr numberAttr(const Val &number, Dtype dtype);
  mlir::Value constant(const Val &number, Dtype dtype, llvm::ArrayRef<int64_t> shape,
                       SourceRange range);
  /// `value`, known to convert, with dtype and shape.
  mlir::Value materialize(const Val &value, Dtype dtype, llvm::ArrayRef<int64_t> shape,
                          SourceRange range);
  mlir::Value broadcastTo(mlir::Value value, llvm::ArrayRef<int64_t> from,
                          llvm::ArrayRef<int64_t> to, SourceRange range);
  mlir::Value convert(mlir::Value value, Dtype from, Dtype to, llvm::ArrayRef<int64_t> shape,
                      SourceRange range);
  Val castTo(const Val &value, Dtype dtype, SourceRange range);
  /// Implicit conversion to `type`: numbers adapt, narrower widens, scalars broadcast.
  mlir::Value coerce(const Val &value, const RunType &type, SourceRange range,
                     llvm::StringRef what);
  mlir::Type mlirType(Dtype dtype, llvm::ArrayRef<int64_t> shape);
  mlir::Type mlirType(const RunType &type);
  /// As run-time value of the default dtype when it is a compile-time number.
  std::optional<Val> asRun(const Val &value, SourceRange range);
  bool needNumber(const Val &value, SourceRange range, llvm::StringRef what);

  // --- LowerPlace.cpp ----------------------------------------------------------
  std::optional<Place> evalPlace(const ast::Subscript *expr, const TensorParam *tensor);
  bool placeIndex(const ast::Index &index, unsigned axis, Place &place);
  bool placeOption(const ast::Index &index, Place &place);
  mlir::Value scalarIndex(const Val &value, SourceRange range, llvm::StringRef what);
  Val readPlace(const Place &place);
  void writePlace(const Place &place, const Val &value, SourceRange range);
  Val indexTile(const ast::Subscript *expr, const Val &tile);
  bool checkReadable(const TensorParam &tensor, SourceRange range);
  bool checkWritable(const TensorParam &tensor, SourceRange range);
  /// The mask as i1 of `shape`, the fill as a scalar; null when there is none. Errors clear `good`.
  mlir::Value maskValue(const Val &mask, llvm::ArrayRef<int64_t> shape, SourceRange range,
                        bool &good);
  mlir::Value fillValue(const Val &fill, Dtype dtype, SourceRange range, bool &good);

  // --- LowerCall.cpp -----------------------------------------------------------
  Val evalCall(const ast::Call *call);
  Val callFunction(const ast::Function *function, const ast::Call *call,
                   const ast::Subscript *instance);
  bool bindArguments(const ast::Function *function, const ast::Call *call,
                     std::vector<Val> &values);
  bool bindInstance(const ast::Function *function, const ast::Subscript *instance,
                    std::vector<Val> &values);
  bool bindFrame(const ast::Function *function, const ast::Call *call, llvm::ArrayRef<Val> instance,
                 llvm::ArrayRef<Val> values);
  bool bindParameter(const ast::Function *function, const ast::FnParam &param, Val value,
                     SourceRange range);
  void inferFrom(const ast::Type *type, const Val &value, const ast::Function *function);
  std::optional<RunType> resolveType(const ast::Type *type);
  Val convertToType(const Val &value, const ast::Type *type, SourceRange range,
                    llvm::StringRef what);
  Val callBuiltin(const Builtin *builtin, const ast::Call *call, const ast::Subscript *instance);
  Val callMethod(const ast::Member *member, const ast::Call *call);
  bool matchArguments(CallArgs &args);
  unsigned callDepth = 0;

  // --- Builtins*.cpp -----------------------------------------------------------
  Val buildProgramId(CallArgs &args);
  Val buildArange(CallArgs &args);
  Val buildZeros(CallArgs &args);
  Val buildFull(CallArgs &args);
  Val buildLoad(CallArgs &args);
  Val buildStore(CallArgs &args);
  void warnPositionalAxis(const CallArgs &args, Int128 axis);
  Val buildReduce(CallArgs &args);
  Val buildUnary(CallArgs &args);
  Val buildMinMax(CallArgs &args);
  Val buildFma(CallArgs &args);
  Val buildClamp(CallArgs &args);
  Val buildWhere(CallArgs &args);
  Val buildCdiv(CallArgs &args);
  Val buildDivmod(CallArgs &args);
  Val buildStaticAssert(CallArgs &args);
  Val buildRange(CallArgs &args);
  Val filledTile(CallArgs &args, const Val &value);
  std::optional<Shape> sidesOf(CallArgs &args);
  Val minMax(bool wantMax, const Val &lhs, const Val &rhs, SourceRange range, llvm::StringRef what);
  Val choose(const Val &condition, const Val &a, const Val &b, SourceRange range);
  bool needIntegers(CallArgs &args);
  mlir::Value combine(llvm::StringRef name, mlir::Value a, mlir::Value b, Dtype dtype,
                      SourceRange range);
  std::string valuesOf(const ast::Expr *condition);
  const TensorParam *placeTensor(const ast::Expr *expr);
  const TensorParam &pointerParam(const Val &pointer);
  bool addOption(Val &slot, const Val &given, SourceRange range, llvm::StringRef name);

  mlir::MLIRContext &context;
  const SourceFile &source;
  const ast::File &file;
  const LowerOptions &options;
  Reporter reporter;
  mlir::OpBuilder builder;
  mlir::OwningOpRef<mlir::ModuleOp> module;

  llvm::StringMap<const ast::Decl *> decls;
  struct ConstState {
    bool busy = false;
    std::optional<Val> value;
  };
  llvm::DenseMap<const ast::Const *, ConstState> constants;
  llvm::StringSet<> symbols;
  bool oneKernel = false; // is selected
  std::set<size_t> usedAssumptions;

  KernelState kernel;
  Frame *frame = nullptr;
  std::optional<mlir::Location> callLoc; // of the call that is being inlined
  unsigned walkDepth = 0;
  unsigned regionDepth = 0;
  unsigned steps = 0;
  bool outOfFuel = false;
  bool inExtents = false; // an expression of a tensor parameter's type is being read
};

} // namespace tk
