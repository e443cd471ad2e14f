//===- Writer.h - the generator's state while it writes one program ---------------===//
#pragma once

#include "tests/fuzz/Generator.h"
#include <limits>
#include <map>

namespace tk::fuzz {

struct Type {
  DType dtype = DType::i32;
  Shape shape;
  bool operator==(const Type &) const = default;
};

/// Source text and what is known of its value. `bound`: no greater in magnitude (exact floats).
struct Expr {
  std::string text;
  double bound = 0;
};

/// A name in scope.
struct Var {
  std::string name;
  Type type;
  bool isVar = false;
  double bound = 0; // of a `var`: what an assignment must keep
};

/// What is read by place: a parameter, or a view of one.
struct Source {
  std::string name;
  DType dtype;
  Shape extents;
  bool isPointer = false;
  bool isNamed = false; // its first extent is a name
};

/// What is called with one value of a type and gives one: a function, a closure.
struct Callable {
  std::string name;
  Type type;
  double bound = 0;
};

/// What a float variable may hold, so that a loop cannot push it out of the exact range.
inline constexpr double kVarBound = 64;

std::string dtypeText(DType dtype);
bool isFloatType(DType dtype);
bool isIntType(DType dtype);
/// Packed types, fp8 and the like: they are moved and converted, and have no arithmetic.
bool isStorageType(DType dtype);
int64_t elementsOf(const Shape &shape);
std::string listText(const Shape &shape);
/// The largest integer up to which all integers are numbers of the type.
double exactLimit(DType dtype);

class Writer {
public:
  Writer(Choices &choices, const Settings &settings) : choices(choices), settings(settings) {}
  Program write();

private:
  // Generator.cpp: the frame.
  void line(const std::string &text);
  std::string fresh(const char *prefix) { return prefix + std::to_string(++names); }
  void writeSink();
  Shape anyShape(unsigned maxRank = 3);
  DType anyDtype();
  DType anyInt() { return choices.pick({DType::i32, DType::i64, DType::u32, DType::i8, DType::u16}); }
  bool inFull(uint32_t percent) { return choices.chance(percent); }
  bool keepsExact(DType dtype) const { return settings.exact && isFloatType(dtype); }
  /// The text of a value that a variable takes: what it holds stays small.
  std::string bounded(const Expr &value, DType dtype) const;

  // GeneratorParams.cpp
  void declareGrid();
  void declareParams();
  void declareInput(unsigned number);
  void declareOutput(unsigned number);
  void declareSpecial();
  void declareMemory();
  TensorArg &addTensor(TensorArg arg);
  std::vector<std::string> conditions() const;
  std::string facts();
  std::string headOf();

  // GeneratorStmt.cpp
  void statements(unsigned count, unsigned depth);
  void statement(unsigned depth);
  void declare();
  void declareTuple();
  void assign();
  void assignPart();
  void ifStatement(unsigned depth);
  void leave();
  void claim();
  void block(unsigned count, unsigned depth);

  // GeneratorLoop.cpp
  void forLoop(unsigned depth);
  void staticLoop(unsigned depth);
  void listLoop(unsigned depth);
  void whileLoop(unsigned depth);
  void loopAttributes(bool isFor);
  void loopBody(unsigned count, unsigned depth, bool isRunTime);

  // GeneratorFunction.cpp
  std::string helper(const char *name);
  std::string helperTexts() const;
  void declareFunction();
  void declareClosure();
  void declareStruct();
  void changeStruct();
  Expr call(const Type &type, unsigned depth);

  // GeneratorMemory.cpp
  Expr readPlace(const Source &source, const Type &type);
  Expr readTensor(const Type &type);
  Expr loadPointer(const Type &type);
  std::string placeText(const Source &source, Type &type);
  void writeOutput();
  void scatter();
  void storePointer();
  void declareView();
  void useOptional();
  void useScratch();
  const TensorArg *findTensor(TensorArg::Access access, bool isStorage);
  std::string index(int64_t extent);

  // GeneratorAtomic.cpp
  void atomicUpdate();
  void ownAtomic();
  void ownFlag(const TensorArg &arg);
  void lookBack();

  // GeneratorExpr.cpp: by type of value
  Expr expr(const Type &type, unsigned depth);
  Expr leaf(const Type &type);
  Expr literal(const Type &type);
  Expr condition(const Shape &shape, unsigned depth);
  Expr comparison(const Shape &shape, unsigned depth);
  Expr integer(const Type &type, unsigned depth);
  Expr integerFunction(const Type &type, unsigned depth);
  Expr real(const Type &type, unsigned depth);
  Expr rounded(const Type &type, unsigned depth);
  Expr general(const Type &type, unsigned depth);
  Expr elementwise(const Type &type, unsigned depth);
  Expr foreign(const Type &type, unsigned depth);
  Expr convert(const Type &type, unsigned depth);
  Expr fit(Expr value, const Type &type);

  // GeneratorShape.cpp: tiles of other tiles
  bool shapeExpr(const Type &type, unsigned depth, Expr &result);
  bool restride(const Type &type, unsigned depth, unsigned kind, Expr &result);
  bool rearrange(const Type &type, unsigned depth, unsigned kind, Expr &result);

  // GeneratorCollective.cpp
  Expr reduction(const Type &type, unsigned depth);
  Expr otherReduction(const Type &type, const Expr &value, const std::string &tail);
  Expr scan(const Type &type, unsigned depth);
  Expr sorted(const Type &type, unsigned depth);
  Expr histogram(const Type &type, unsigned depth);
  Expr position(const Type &type, unsigned depth);

  // GeneratorProduct.cpp
  Expr product(const Type &type, unsigned depth);
  Expr scaledProduct(const Type &type, unsigned depth);
  Expr storage(const Type &type, unsigned depth);
  Expr bits(const Type &type, unsigned depth);

  const Var *findVar(const Type &type, bool assignable);

  Choices &choices;
  Settings settings;
  Policy policy = Policy::Mixed;
  Program program;
  std::vector<Type> favourites; // that the program has more of
  std::vector<Var> scope;
  std::vector<Source> sources;
  std::vector<Callable> callables;
  std::vector<Var> structs; // by the type of their fields
  std::map<std::string, bool> helpers; // that are called
  std::string functions;               // with statements: their texts
  std::string attributes, parameters, imports;
  int indent = 0;
  int names = 0;
  int budget = 0; // of expressions
  unsigned loops = 0;
  int64_t instances = 1, gridWidth = 1;
  bool hasSecondAxis = false, mayHaveLeft = false;
  const Type *function = nullptr; // whose statements are written: its result
};

} // namespace tk::fuzz
