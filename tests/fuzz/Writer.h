//===- Writer.h - the generator's state while it writes one program ---------------===//
#pragma once

#include "tests/fuzz/Generator.h"
#include <functional>
#include <limits>

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

const char *dtypeText(DType dtype);
bool isFloatType(DType dtype);
bool isIntType(DType dtype);
int64_t elementsOf(const Shape &shape);
/// The largest integer up to which all integers are numbers of the type.
double exactLimit(DType dtype);

class Writer {
public:
  Writer(Choices &choices, const Settings &settings) : choices(choices), settings(settings) {}
  Program write();

private:
  // Generator.cpp: the frame.
  void declareParams();
  void writeHelpers();
  void line(const std::string &text);
  std::string fresh(const char *prefix) { return prefix + std::to_string(++names); }
  Shape anyShape(unsigned maxRank = 3);
  DType anyDtype();
  DType anyInt() { return choices.pick({DType::i32, DType::i64, DType::u32, DType::i8, DType::u16}); }

  // GeneratorStmt.cpp
  void statements(unsigned count, unsigned depth);
  void statement(unsigned depth);
  void declare();
  void assign();
  void ifStatement(unsigned depth);
  void forLoop(unsigned depth);
  void staticLoop(unsigned depth);
  void whileLoop(unsigned depth);
  void leaveLoop();
  void writeOutput();
  void atomicUpdate();
  void block(unsigned count, unsigned depth);

  // GeneratorExpr.cpp: by type of value
  Expr expr(const Type &type, unsigned depth);
  Expr leaf(const Type &type);
  Expr literal(const Type &type);
  Expr condition(const Shape &shape, unsigned depth);
  Expr integer(const Type &type, unsigned depth);
  Expr real(const Type &type, unsigned depth);
  Expr general(const Type &type, unsigned depth);
  Expr convert(const Type &type, unsigned depth);
  Expr fit(Expr value, const Type &type);

  // GeneratorShape.cpp: tiles of other tiles
  bool shapeExpr(const Type &type, unsigned depth, Expr &result);
  Expr reduction(const Type &type, unsigned depth);
  Expr scan(const Type &type, unsigned depth);
  Expr product(const Type &type, unsigned depth);
  Expr readTensor(const Type &type);
  std::string index(int64_t extent);

  const Var *findVar(const Type &type, bool assignable);
  bool isHalf(uint32_t percent) { return choices.chance(percent); }

  Choices &choices;
  Settings settings;
  Policy policy = Policy::Mixed;
  Program program;
  std::vector<Var> scope;
  int indent = 0;
  int names = 0;
  int budget = 0; // of expressions
  unsigned loops = 0, runtimeLoops = 0;
  int64_t instances = 1;
};

} // namespace tk::fuzz
