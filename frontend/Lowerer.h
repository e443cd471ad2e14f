//===- Lowerer.h - the walk that types, evaluates and emits one file ----------===//
//
// One object a file; kernels are instantiated one after the other. The methods are spread over
// Lower*.cpp and Builtins*.cpp by idea: LowerFile (selection, errors), LowerKernel (parameters,
// instances), LowerContract (host expressions), LowerStmt and LowerControl (statements),
// LowerExpr, LowerArith (numbers), LowerIndex and LowerPlace (tensors), LowerOptional (parameters
// that may be absent), LowerGrid, LowerCall and LowerFunction (calls), LowerStruct, LowerAggregate
// (tuples), LowerType (types as they are written), LowerCompileTime (functions that are
// evaluated). TileLowerer and MemoryLowerer have what stands in the table of functions.
//
// A function is elaborated anew at each call, in its own Frame. What an error made unknown is a
// poisoned Val, and poison stays silent.
//
//===----------------------------------------------------------------------===//
#pragma once

#include "frontend/Foreign.h"
#include "frontend/LowerState.h"
#include <functional>
#include <map>

namespace tk {

class Lowerer {
public:
  Lowerer(mlir::MLIRContext &context, Program &program, const LowerOptions &options);

  mlir::FailureOr<mlir::OwningOpRef<mlir::ModuleOp>> run();
  LowerError getErrorClass() const { return reporter.errorClass; }
  unsigned getNumErrors() const { return reporter.numErrors; }

  // --- for the list of units -----------------------------------------------------
  /// What a kernel is once it has values and a configuration.
  struct Candidate {
    mlir::DictionaryAttr instance;
    std::string configId;
    std::set<size_t> assumptions; // those of the command line that it has
    std::optional<size_t> keyLength; // of @tune
  };
  /// Declares everything and selects; what follows may be asked afterwards. `options` may change
  /// between the calls.
  llvm::SmallVector<const ast::Kernel *> startFile();
  /// `instances` and `except` of a kernel.
  mlir::NamedAttrList instancesOf(const ast::Kernel &kernel);
  size_t countConfigurations(const ast::Kernel &kernel);
  /// None when it is `excluded`, when a precondition speaks against it (unless `anyway`), and after
  /// an error.
  std::optional<Candidate> candidate(const ast::Kernel &kernel, bool asked, mlir::ArrayAttr except,
                                     bool anyway, bool &excluded);
  void reportUnused(llvm::StringRef assumption);
  mlir::Location locate(SourceRange range) { return loc(range); }

private:
  friend struct Builtin;
  friend const Builtin *findBuiltin(llvm::StringRef name);
  friend struct BuiltinTable;
  friend class MemoryLowerer;
  friend class TileLowerer;

  // --- LowerFile.cpp: declarations, selection, locations -----------------------
  void declareAll(Module &module);
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

  // --- LowerModule.cpp: names of the file, its modules, the prelude ----------------
  /// A declaration and the module whose names it sees.
  struct Declared {
    const ast::Decl *decl = nullptr; // null: none
    const Module *module = nullptr;
  };
  Declared findDecl(llvm::StringRef name);
  const Module *findModule(llvm::StringRef name);
  const Module *preludeModule();
  static void collectDeclared(const Module &module, std::vector<llvm::StringRef> &names);
  Val moduleMember(const Val &module, const ast::Member *member);
  Val declValue(const Declared &declared, SourceRange range);

  // --- LowerKernel.cpp: one instance of one kernel -----------------------------
  void lowerKernel(const ast::Kernel &kernel, bool asked);
  void startKernel(const ast::Kernel &kernel, Frame &kernelFrame);
  bool isExcluded(mlir::ArrayAttr except);
  bool bindCompileTime(const ast::Kernel &kernel, bool asked);
  std::optional<Val> compileTimeValue(const ast::CParam &param, const ast::Kernel &kernel);
  bool checkKind(const ast::CParam &param, const Val &value, SourceRange at, bool fromCommand);
  bool declareParams();
  bool declareTensor(const ast::KernelParam &param, unsigned index);
  bool declarePointer(const ast::KernelParam &param, unsigned index);
  bool declareScalar(const ast::KernelParam &param, unsigned index);
  bool setAliasClass(TensorParam &tensor, const ast::KernelParam &param);
  bool checkWords(const ast::KernelParam &param);
  bool isParameter(llvm::StringRef name);
  void bindParams(mlir::Block &entry);
  void warnAboutParams();
  static std::string wordOf(const Val &value);
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
  mlir::Attribute hostPrograms(const ast::Call *call);
  mlir::Attribute hostPresence(const ast::Name *name);
  bool checkDivisor(llvm::StringRef op, llvm::ArrayRef<mlir::Attribute> operands,
                    SourceRange range);
  mlir::Attribute foldHost(llvm::StringRef op, llvm::ArrayRef<mlir::Attribute> operands,
                           SourceRange range);
  mlir::Value hostValue(HostName &name);
  mlir::Attribute hostInt(Int128 value, SourceRange range);

  // --- LowerGrid.cpp: grids of any rank ---------------------------------------------
  void readGrid(const ast::Attribute &attr, mlir::NamedAttrList &fields,
                llvm::SmallVectorImpl<mlir::Attribute> &require);
  Val gridExtent(unsigned axis, SourceRange range);
  std::optional<Val> hostInKernel(mlir::Attribute expr, SourceRange range);
  std::optional<Val> hostNameInKernel(llvm::StringRef name, SourceRange range);
  Val buildProgramId(CallArgs &args);

  // --- LowerAttributes.cpp: the contract -----------------------------------------
  ContractAttr buildContract();
  void readAttributes(mlir::NamedAttrList &fields);
  mlir::DictionaryAttr readCondition(const ast::Expr *expr, std::optional<bool> &known);
  mlir::ArrayAttr readRequire(const ast::Attribute &attr);
  mlir::ArrayAttr readFacts(const ast::Attribute &attr);
  void readOptions(const ast::Attribute *attr, mlir::NamedAttrList &fields);
  void readNumerics(const ast::Attribute &attr, mlir::NamedAttrList &fields);
  void keepRoundings(const ast::Attribute &deterministic, mlir::NamedAttrList &fields);
  void readTune(const ast::Attribute &attr, mlir::NamedAttrList &fields);
  void readOnMiss(const ast::NamedArg &arg, mlir::NamedAttrList &tune);
  void readCost(const ast::Attribute &attr, mlir::NamedAttrList &fields);
  void readInstances(const ast::Attribute &attr, mlir::NamedAttrList &fields);
  void readAssumptions(mlir::NamedAttrList &fields);
  bool knowsNames(const ast::Expr *expr);
  mlir::ArrayAttr argEntries();
  mlir::DictionaryAttr scalarEntry(const ast::KernelParam &param);
  mlir::ArrayAttr disjointPairs();
  mlir::Attribute valueAttr(const Val &value);
  static const ast::Attribute *findAttribute(const ast::Kernel &kernel, llvm::StringRef name);
  static const ast::Expr *findNamed(const ast::Attribute &attr, llvm::StringRef name);

  // --- LowerTune.cpp: @tune and @instances -------------------------------------------
  /// The configurations of @tune with lists multiplied out.
  using Config = std::vector<std::pair<llvm::StringRef, const ast::Expr *>>;
  std::vector<Config> configurations(const ast::Kernel &kernel);
  static std::vector<llvm::StringRef> tunedNames(const ast::Kernel &kernel);
  std::string configurationId(const mlir::NamedAttrList &fields,
                              llvm::ArrayRef<llvm::StringRef> tuned) const;
  bool loadConfiguration(const ast::Kernel &kernel);
  bool admits(const ast::Kernel &kernel, const Config &entry);
  void withConfiguration(const ast::Kernel &kernel, const Config &entry,
                         llvm::function_ref<void()> body);
  const ast::CParam *findParam(llvm::StringRef name) const;
  mlir::ArrayAttr readRecords(const ast::Attribute &attr, const ast::NamedArg &arg);
  mlir::ArrayAttr readPrune(const ast::Expr *expr, llvm::ArrayRef<Config> entries);
  Config config;

  // --- LowerStmt.cpp -----------------------------------------------------------
  using Stmts = llvm::ArrayRef<ast::Stmt *>;
  Exit execStmts(Stmts stmts);
  Exit execBlock(const ast::Block *block);
  /// `rest` follows in the same block: an `if` that takes it into a branch leaves nothing of it.
  Exit execStmt(const ast::Stmt *stmt, Stmts &rest);
  Exit execLeave(const ast::Stmt *stmt, Flow way);
  void execLet(const ast::Let *stmt);
  void bindName(const ast::Ident &name, Val value, bool isVar);
  void execAssign(const ast::Assign *stmt);
  void assignUndeclared(const ast::Name *target, const Val &value);
  void assignName(const ast::Name *target, const ast::Assign *stmt);
  void assignPlace(const ast::Subscript *target, const ast::Assign *stmt);
  Exit execReturn(const ast::Return *stmt);
  std::optional<Val> fitVar(const Binding &binding, const Val &value, SourceRange range,
                            llvm::StringRef name);

  // --- LowerControl.cpp: conditions, if, and what follows an early exit ------------
  /// Code for a region of an operation that is made later, and what it leaves.
  struct BranchCode {
    mlir::Region region;
    std::vector<Val> values; // of an expression
    Exit exit;
    Val returned;
    Scopes scopes; // at its end
  };
  Tail tailBefore(Stmts rest) const { return rest.empty() ? frame->tail : Tail::Code; }
  Exit execIf(const ast::If *stmt, size_t arm, Stmts &rest);
  Exit execRunIf(const ast::If *stmt, size_t arm, const Val &condition, Stmts &rest);
  Exit execAfter(const Exit &exit, Stmts rest);
  Exit execIfLive(const Exit &exit, const NameUse &use, SourceRange range,
                  llvm::function_ref<Exit()> body);
  bool enterRegion(SourceRange range);
  std::optional<Val> evalCondition(const ast::Expr *expr, llvm::StringRef what,
                                   const ast::Logical *logical = nullptr);
  void leaveOut(const NameUse &use);
  Val evalIfExpr(const ast::IfExpr *expr, size_t arm);
  Val evalLogical(const ast::Logical *expr);
  static bool isHarmless(mlir::Block &block);
  Val joinLogical(const ast::Logical &expr, const Val &lhs, const ast::Expr *rhs);

  // --- LowerJoin.cpp: joining two branches ------------------------------------------
  void elaborateBranch(BranchCode &code, llvm::function_ref<Exit()> body);
  void resumeBranch(BranchCode &code, llvm::function_ref<Exit()> body);
  Exit joinIf(mlir::Value condition, BranchCode &thenCode, BranchCode &elseCode,
              llvm::ArrayRef<llvm::StringRef> vars, SourceRange range);
  std::vector<Val> joinBranches(mlir::Value condition, BranchCode &thenCode, BranchCode &elseCode,
                                llvm::ArrayRef<std::string> names, SourceRange range);
  Val merge(const Val &a, const Val &b, SourceRange range, llvm::StringRef what,
            std::vector<RunType> &types);
  Val mergeTensors(const Val &a, const Val &b, SourceRange range, llvm::StringRef what);
  Val mergeNumbers(const Val &a, const Val &b, SourceRange range, llvm::StringRef what,
                   std::vector<RunType> &types);
  /// `value` outside of the region: parts that were made in it become placeholders.
  Val escaping(const Val &value, mlir::Region &region, std::vector<RunType> &types);
  bool yieldLeaves(const Val &merged, const Val &value, llvm::SmallVectorImpl<mlir::Value> &yields,
                   SourceRange range);
  mlir::Value unreadPointer(const RunType &type, SourceRange range);
  mlir::Value unreadValue(const RunType &type, SourceRange range);
  Val fillPlaceholders(const Val &merged, mlir::ValueRange values, size_t &next);

  // --- LowerLoop.cpp: loops at run time ---------------------------------------------
  /// The variables a loop assigns, as run-time values: what it carries.
  struct Carried {
    std::vector<llvm::StringRef> names;
    std::vector<Val> shapes; // of each variable, with placeholders
    llvm::SmallVector<mlir::Value> initial;
  };
  /// A loop whose parts are elaborated, before its operation is made.
  struct LoopCode {
    Carried carried;
    mlir::Value trips;     // of a `for`, whose body has a counter as first argument
    BranchCode test, body; // `test` of a `while`
    std::optional<Val> condition;
    mlir::NamedAttrList attributes;
    SourceRange range;
  };
  Exit execFor(const ast::For *stmt);
  Exit execRunFor(const ast::For *stmt, const ast::Call *call);
  Exit execWhile(const ast::While *stmt);
  Exit finishFor(LoopCode &code);
  Exit finishWhile(LoopCode &code);
  Exit afterLoop(LoopCode &code, mlir::ValueRange results);
  struct WhileShape;
  WhileShape whileShape(LoopCode &code);
  llvm::SmallVector<mlir::Value> whileInits(LoopCode &code, const WhileShape &shape);
  void endWhile(LoopCode &code, const WhileShape &shape, mlir::Block &body);
  mlir::Value whileCondition(LoopCode &code, mlir::Block &block);
  void emitTest(LoopCode &code, mlir::Block &block, mlir::Value live);
  std::vector<llvm::StringRef> assignedVars(const NameUse &use);
  Carried carry(const NameUse &use, SourceRange range);
  Val carriedShape(const Val &value);
  void bindCarried(const Carried &carried, mlir::ValueRange values);
  llvm::SmallVector<mlir::Value> carriedValues(LoopCode &code);

  // --- LowerRange.cpp: trip counts, unrolled loops, attributes ----------------------
  struct Range {
    Val start = Val::ofInt(0), stop = Val::ofInt(0), step = Val::ofInt(1);
  };
  Exit execStaticFor(const ast::For *stmt, const ast::Call *call);
  Exit execListFor(const ast::For *stmt);
  Exit execUnrolled(const ast::For *stmt, size_t trips, llvm::function_ref<Val(size_t)> element);
  void bindPattern(const ast::Pattern &pattern, const Val &value, bool isVar);
  std::optional<Range> evalRange(const ast::Call *call);
  Val loopVariable(const Range &range, mlir::Value counter, SourceRange at);
  mlir::Value tripCount(const Range &range, SourceRange at);
  mlir::Value runTrips(mlir::Value low, mlir::Value high, mlir::Value step, bool watch,
                       SourceRange at);
  mlir::Value saturatedTrips(mlir::Value trips, SourceRange at);
  static bool isConstant(mlir::Value value, int64_t number);
  Val toI64(const Val &value, SourceRange range);
  mlir::NamedAttrList loopAttributes(llvm::ArrayRef<ast::Attribute> attributes, bool counted);
  std::optional<bool> attributeSwitch(const ast::Attribute &attr);
  mlir::Attribute loopAttribute(const ast::Attribute &attr);

  // --- LowerExpr.cpp -----------------------------------------------------------
  Val eval(const ast::Expr *expr);
  Val evalKind(const ast::Expr *expr);
  Val evalName(const ast::Name *expr);
  Val unknownName(llvm::StringRef name, SourceRange range);
  Val globalName(llvm::StringRef name, SourceRange range);
  Val constantDecl(const ast::Const *decl, const Module *module);
  Val evalUnary(const ast::Unary *expr);
  Val evalCompare(const ast::CompareChain *expr);
  bool hasForeignPrefix(const ast::Member *expr);
  bool refuseConversion(const ast::Name &name, const ast::Call &call);
  void refuseArgument(const ast::Ident &name, llvm::StringRef what,
                      llvm::ArrayRef<llvm::StringRef> params);
  void refuseForeign(const Foreign &foreign, SourceRange range);
  void refuseForeignMember(const ast::Member *expr);
  bool checkView(const Val &value, SourceRange range, llvm::StringRef name);
  Val evalMember(const ast::Member *expr);
  Val memberOf(const Val &base, const ast::Member *expr);
  Val dtypeMember(Dtype dtype, const ast::Member *expr);
  Val evalTupleIndex(const ast::TupleIndex *expr);
  Val evalElements(llvm::ArrayRef<ast::Expr *> elements, Val::Kind kind, SourceRange range);
  Val tensorShape(const TensorParam &tensor, SourceRange range);
  Val tensorExtent(const TensorParam &tensor, unsigned axis, SourceRange range);
  Val tensorStride(const TensorParam &tensor, unsigned axis, SourceRange range);
  Val evalSubscript(const ast::Subscript *expr);
  std::optional<Int128> evalInt(const ast::Expr *expr, llvm::StringRef what);
  const ast::FnParam *parameterOf(llvm::StringRef name);
  std::optional<Int128> needInt(const Val &value, SourceRange range, llvm::StringRef what);
  std::optional<Dtype> evalDtype(const ast::Expr *expr);
  std::optional<int64_t> checkSide(Int128 side, SourceRange range);
  bool checkTile(llvm::ArrayRef<int64_t> shape, SourceRange range);

  // --- LowerArith.cpp: the rules of numbers ------------------------------------
  Val arithmetic(ast::BinaryOp op, const Val &lhs, const Val &rhs, SourceRange range,
                 SourceRange opRange);
  Val constArithmetic(ast::BinaryOp op, const Val &lhs, const Val &rhs, SourceRange range,
                      SourceRange opRange);
  Val pointerArithmetic(ast::BinaryOp op, const Val &lhs, const Val &rhs, SourceRange range);
  Val emitArithmetic(ast::BinaryOp op, const Val &lhs, const Val &rhs, Dtype dtype,
                     llvm::ArrayRef<int64_t> shape, SourceRange range);
  Val compare(ast::CompareOp op, const Val &lhs, const Val &rhs, SourceRange range);
  bool checkOperator(ast::BinaryOp op, Dtype dtype, const Val &lhs, const Val &rhs,
                     SourceRange range, SourceRange opRange);
  std::optional<Dtype> commonDtype(const Val &lhs, const Val &rhs, SourceRange range,
                                   llvm::StringRef what);
  std::optional<Dtype> commonRun(Dtype a, Dtype b, SourceRange range, llvm::StringRef what,
                                 SourceRange integerOrigin = {});
  /// Advice for an integer that began as the literal at `origin`, as in `var acc = 0`; false, and
  /// nothing, where it did not.
  bool adviseFloatStart(Report &report, SourceRange origin);
  std::optional<Dtype> adaptConst(const Val &number, Dtype dtype, SourceRange range,
                                  llvm::StringRef what);
  std::optional<Shape> broadcast(const Val &lhs, const Val &rhs, SourceRange range,
                                 llvm::StringRef what);
  /// A common run-time type of numbers, for where, minimum, the arms of an if.
  std::optional<RunType> commonType(const Val &lhs, const Val &rhs, SourceRange range,
                                    llvm::StringRef what);
  static Dtype defaultDtype(const Val &number);
  /// A compile-time number, known to fit, as IntegerAttr or FloatAttr of `dtype`.
  mlir::TypedAttr numberAttr(const Val &number, Dtype dtype, const CastRule &rule = {});
  mlir::Value constant(const Val &number, Dtype dtype, llvm::ArrayRef<int64_t> shape,
                       SourceRange range, const CastRule &rule = {});
  /// `value`, known to convert, with dtype and shape.
  mlir::Value materialize(const Val &value, Dtype dtype, llvm::ArrayRef<int64_t> shape,
                          SourceRange range);
  mlir::Value broadcastTo(mlir::Value value, llvm::ArrayRef<int64_t> from,
                          llvm::ArrayRef<int64_t> to, SourceRange range);
  /// Implicit conversion to `type`: numbers adapt, narrower widens, scalars broadcast.
  mlir::Value coerce(const Val &value, const RunType &type, SourceRange range,
                     llvm::StringRef what);
  mlir::Type mlirType(Dtype dtype, llvm::ArrayRef<int64_t> shape);
  mlir::Type mlirType(const RunType &type);
  mlir::Type pointerType(const RunType &type, int64_t aliasClass);
  /// As run-time value of the default dtype when it is a compile-time number.
  std::optional<Val> asRun(const Val &value, SourceRange range);
  bool needNumber(const Val &value, SourceRange range, llvm::StringRef what);
  /// A number that operations compute with: of no storage type.
  bool needArithmetic(const Val &value, SourceRange range, llvm::StringRef what);

  // --- LowerNumber.cpp: conversions --------------------------------------------
  mlir::Value convert(mlir::Value value, Dtype from, Dtype to, llvm::ArrayRef<int64_t> shape,
                      SourceRange range, const CastRule &rule = {});
  mlir::Value convertInteger(mlir::Value value, Dtype from, Dtype to,
                             llvm::ArrayRef<int64_t> shape, SourceRange range,
                             const CastRule &rule);
  mlir::Value clampToRange(mlir::Value value, Dtype from, Dtype to, llvm::ArrayRef<int64_t> shape,
                           SourceRange range);
  std::optional<Val> castNumber(const Val &value, Dtype dtype, SourceRange range,
                                const CastRule &rule);
  Val castTo(const Val &value, Dtype dtype, SourceRange range, const CastRule &rule = {});
  Val callTo(const Val &base, const ast::Call *call);
  bool readRounding(const Val &word, SourceRange range, CastRule &rule);
  bool readOverflow(const Val &word, SourceRange range, Dtype to, CastRule &rule);
  Val buildBitcast(CallArgs &args);
  std::optional<unsigned> bitcastAxis(const CallArgs &args, Dtype to);

  // --- LowerOptional.cpp, LowerGrid.cpp ---------------------------------------------
  bool requirePresent(const TensorParam &tensor, SourceRange range);
  std::optional<Val> presence(const Val &value, SourceRange range);
  void collectPresent(const ast::Expr *condition, bool truth,
                      llvm::SmallVectorImpl<unsigned> &found);
  /// While one lives, the conditions are known to be `truth`, with what that says of optional
  /// parameters.
  struct Narrowed {
    Narrowed(Lowerer &lowerer, llvm::ArrayRef<ast::Expr *> conditions, bool truth);
    Narrowed(const Narrowed &) = delete;
    ~Narrowed() { lowerer.kernel.present = before; }
    Lowerer &lowerer;
    llvm::SmallSet<unsigned, 4> before;
  };

  // --- LowerPlace.cpp ----------------------------------------------------------
  std::optional<Place> evalPlace(const ast::Subscript *expr, const TensorParam *tensor);
  std::optional<PlaceIndex> placeIndex(const ast::Index &index, unsigned axis,
                                       const TensorParam &tensor);
  std::optional<PlaceIndex> indexByValue(const ast::Index &index, unsigned axis,
                                         const TensorParam &tensor);
  std::optional<PlaceIndex> indexBySlice(const ast::Index &index, unsigned axis,
                                         const TensorParam &tensor);
  std::optional<int64_t> sliceBound(const ast::Expr *expr, const Val &value);
  void warnOutside(const ast::Expr *expr, Int128 number, std::optional<int64_t> extent,
                   const TensorParam &tensor);
  bool finishPlace(Place &place, llvm::ArrayRef<PlaceIndex> indices);
  bool placeOption(const ast::Index &index, Place &place);
  mlir::Value scalarIndex(const Val &value, SourceRange range, llvm::StringRef what);
  Located locatePlace(const Place &place, llvm::StringRef what);
  Val readPlace(const Place &place, const AccessHints &hints = {});
  void writePlace(const Place &place, const Val &value, SourceRange range,
                  const AccessHints &hints = {});
  Val subscriptOf(const Val &base, const ast::Subscript *expr);
  const TensorParam *paramOf(const Val &pointer);
  bool checkReadable(const TensorParam &tensor, SourceRange range);
  bool checkWritable(const TensorParam &tensor, SourceRange range);
  /// The mask as i1 of `shape`, the fill as a scalar; null when there is none. Errors clear `good`.
  mlir::Value maskValue(const Val &mask, llvm::ArrayRef<int64_t> shape, SourceRange range,
                        bool &good);
  mlir::Value fillValue(const Val &fill, RunType type, SourceRange range, bool &good);

  // --- LowerWarn.cpp: what compiles and is likely wrong ------------------------------
  /// `use`: what becomes of the value.
  void warnNarrowProduct(const Val &value, SourceRange range, llvm::StringRef use);
  void warnUnmasked(mlir::Value pointer, SourceRange range, llvm::StringRef what);
  /// A place whose indices may name an element twice, which is read, changed and written.
  void warnRepeats(const Place &place, const ast::Assign *stmt);
  /// `operands` are the values of the chain's operands.
  void warnBitsCompared(const ast::CompareChain &chain, llvm::ArrayRef<Val> operands);

  // --- LowerFunction.cpp ---------------------------------------------------------
  /// Inlines a function value (a function, a closure, a built-in function) with these arguments:
  /// what `reduce`, `scan` and `map` do with theirs. Poison after an error.
  Val callValue(const Val &function, std::vector<Val> arguments, SourceRange range);
  Val callBuiltinValue(const Builtin *builtin, llvm::ArrayRef<Val> arguments, SourceRange range);
  Val callFunction(const FunctionCall &call);
  Val runBody(const FunctionCall &call);
  Val evalClosure(const ast::FnExpr *expr);
  std::vector<Argument> evalArguments(const ast::Call *call, const ast::Function *function,
                                      size_t first = 0);
  bool matchParameters(const FunctionCall &call, std::vector<const Argument *> &slots);
  Val instantiate(const Val &callee, const ast::Subscript *instance);
  bool bindInstance(const FunctionCall &call, llvm::ArrayRef<const Argument *> slots);
  bool bindFrame(const FunctionCall &call, llvm::ArrayRef<const Argument *> slots);
  Val fitParameter(const FunctionCall &call, const ast::FnParam &param, Val value,
                   SourceRange range);
  void infer(const ast::Ident &name, Val found, const ast::Function *function);
  Val resultOf(const Exit &exit);
  void inferFrom(const ast::Type *type, const Val &value, const ast::Function *function);
  void inferTensor(const ast::BracketType *type, const Val &value, const ast::Function *function);
  bool isFreeName(llvm::StringRef name);
  static std::string countText(size_t low, size_t high);
  unsigned callDepth = 0;
  /// Closures as functions, made once.
  llvm::DenseMap<const ast::FnExpr *, std::unique_ptr<ast::Function>> closures;

  // --- LowerCompileTime.cpp --------------------------------------------------------
  /// While one lives, a compile-time value is wanted: functions are evaluated, not emitted.
  struct CompileTime {
    explicit CompileTime(Lowerer &lowerer, bool wanted = true) : lowerer(lowerer), wanted(wanted) {
      lowerer.wantsCompileTime += wanted;
    }
    CompileTime(const CompileTime &) = delete;
    ~CompileTime() { lowerer.wantsCompileTime -= wanted; }
    Lowerer &lowerer;
    bool wanted;
  };
  unsigned wantsCompileTime = 0;
  Val evalCompileTime(const ast::Expr *expr);
  Val numberOf(const Val &number, Dtype dtype, const CastRule &rule = {});
  void inScratch(llvm::function_ref<void()> body);
  bool runsNow(const ast::Call *range);
  bool runsNow(const ast::While *stmt);
  Exit execStaticWhile(const ast::While *stmt);
  bool isHostFree(const ast::Expr *expr);
  mlir::Attribute hostConstant(const ast::Expr *expr);

  // --- LowerAggregate.cpp ----------------------------------------------------------
  Val compareAggregates(ast::CompareOp op, const Val &lhs, const Val &rhs, SourceRange range);
  bool checkElements(const Val &aggregate, SourceRange range);
  std::optional<size_t> memberIndex(const Val &base, const ast::Expr *step);
  void assignMember(const ast::Expr *target, const ast::Assign *stmt);
  void refuseAssignment(const ast::Name *name, const Binding &binding);

  // --- LowerStruct.cpp -------------------------------------------------------------
  void checkStruct(const ast::Struct *decl);
  Val structName(const ast::Struct *decl, const Module *module);
  Val makeStruct(const FunctionCall &call);
  std::optional<size_t> fieldIndex(const Val &value, const ast::Ident &name);
  static const ast::Function *findMethod(const ast::Struct &decl, llvm::StringRef name);
  Val callStructMethod(const Val &self, const ast::Member *member, const ast::Call *call,
                       const ast::Subscript *instance);
  const ast::Struct *findStruct(const ast::Ident &name);
  Val convertToStruct(const Val &value, const ast::Struct *decl, const ast::Type *type,
                      SourceRange range, llvm::StringRef what);
  /// A struct's name as a function, made once.
  struct Constructor {
    std::vector<ast::FnParam> params;
    std::unique_ptr<ast::Function> function;
  };
  std::map<const ast::Struct *, Constructor> constructors;

  // --- LowerType.cpp -------------------------------------------------------------
  std::optional<RunType> resolveType(const ast::Type *type);
  std::optional<RunType> resolvePointer(const ast::PointerType *type);
  Val convertToTuple(const Val &value, const ast::TupleType *type, SourceRange range,
                     llvm::StringRef what);
  Val convertToPointer(const Val &value, const ast::PointerType *type, SourceRange range,
                       llvm::StringRef what);
  Val convertToTensor(const Val &value, const ast::BracketType *type, SourceRange range,
                      llvm::StringRef what);
  bool checkExtent(const TensorParam &tensor, unsigned axis, const ast::Expr *written,
                   SourceRange range, llvm::StringRef what);
  Val convertToNumber(const Val &value, const ast::Type *type, SourceRange range,
                      llvm::StringRef what);
  Val convertToKind(const Val &value, const ast::Ident &kind, SourceRange range,
                    llvm::StringRef what);
  Val convertToType(const Val &value, const ast::Type *type, SourceRange range,
                    llvm::StringRef what);

  // --- LowerCall.cpp -----------------------------------------------------------
  Val evalCall(const ast::Call *call);
  Val callEvaluated(Val callee, const ast::Call *call, const ast::Subscript *instance);
  Val callBuiltin(const Builtin *builtin, const ast::Call *call, const ast::Subscript *instance,
                  const Val *self = nullptr);
  Val callMethod(const ast::Member *member, const ast::Call *call, const ast::Subscript *instance);
  bool matchArguments(CallArgs &args);

  // --- Builtins*.cpp -----------------------------------------------------------
  Val buildArange(CallArgs &args);
  Val buildZeros(CallArgs &args);
  Val buildFull(CallArgs &args);
  Val buildWhere(CallArgs &args);
  Val buildCdiv(CallArgs &args);
  Val buildLen(CallArgs &args);
  Val buildDivmod(CallArgs &args);
  Val buildStaticAssert(CallArgs &args);
  Val buildRange(CallArgs &args);
  Val filledTile(CallArgs &args, const Val &value);
  std::optional<RunType> tileType(CallArgs &args, Dtype otherwise);
  std::optional<Shape> sidesOf(CallArgs &args);
  Val choose(const Val &condition, const Val &a, const Val &b, SourceRange range);
  bool needIntegers(CallArgs &args);
  std::string valuesOf(const ast::Expr *condition);

  mlir::MLIRContext &context;
  Program &program;
  SourceMap &source; // of the program
  const LowerOptions &options;
  Reporter reporter;
  mlir::OpBuilder builder;
  mlir::OwningOpRef<mlir::ModuleOp> module;

  std::optional<const Module *> prelude; // once it is needed
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
  /// The two sides of the operator that is being elaborated, for fixes; empty elsewhere.
  std::pair<SourceRange, SourceRange> sides;
  SourceRange calledName; // the name that the call being evaluated begins with
  unsigned steps = 0;
  bool outOfFuel = false;
  bool inExtents = false; // an expression of a tensor parameter's type is being read
  bool inWorkspace = false; // and that parameter is workspace
};

/// Calls `body` on a stack that fits the bounds of the walk.
void withElaborationStack(llvm::function_ref<void()> body);

} // namespace tk
