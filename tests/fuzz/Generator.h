//===- Generator.h - valid programs of the language, typed from the start --------===//
//
// Expressions are made for a wanted type, top down, so every program is valid by construction: the
// front end must accept it and no check of the interpreter may find anything but the stated results
// of integer division and shifts. Instances write disjoint parts of the outputs; what they share
// they change by one kind of integer atomic each, so the order of instances cannot matter.
//
// With `exact`, floats hold integers so small that every sum and product is exact in its type: each
// expression carries a bound on its magnitude. Then any order of summation, any split over warps
// and any engine must give the same bits.
//
// What programs have, a file each:
//   GeneratorParams     tensors of all types (packed and fp8 too), strides, named extents, optional
//                       tensors, pointers, workspace, compile-time parameters, attributes, grids
//   GeneratorStmt       names, branches, loops of every kind and their attributes, break, continue,
//                       return, tuples, parts of variables, claims and prints
//   GeneratorFunction   functions with statements, closures, structures, modules, tensor arguments
//   GeneratorMemory     places, masks, gathers, scatters, pointers, views, workspace
//   GeneratorAtomic     atomics that commute, all atomics on memory of one instance, look-back
//   GeneratorExpr       arithmetic, comparisons, conversions, functions of elements
//   GeneratorShape      tiles of other tiles
//   GeneratorCollective reductions, scans, sorts, histograms
//   GeneratorProduct    products of all types, scaled products, storage types, bitcasts
// Features.h lists it one by one; `tk-fuzz --coverage` counts it, and a test wants all of it met.
// Left out: modules of one's own, tensors of tensors' addresses, assembly with several results.
//
//===----------------------------------------------------------------------===//
#pragma once

#include "backends/interp/Number.h"
#include "tests/fuzz/Choices.h"
#include <string>
#include <vector>

namespace tk::fuzz {

using interp::DType;
using Shape = std::vector<int64_t>;

/// What a program does more of than others; one is drawn for each program.
enum class Policy : uint8_t { Mixed, Loops, Reductions, Shapes, Integers, Products, Masks };

struct Settings {
  bool exact = true;
  int64_t maxTileElements = 2048;
};

struct TensorArg {
  enum class Access : uint8_t { In, Out, Shared, Own, Scratch };
  std::string name;
  DType dtype = DType::f32;
  Shape extents;
  Access access = Access::In;
  std::string type; // as the kernel declares it
  Shape strides;    // empty: dense
  bool isFilled = true;
  bool isAbsent = false;
};
struct ScalarArg {
  std::string name;
  DType dtype = DType::i64;
  int64_t value = 0; // floats hold it too
};

struct Program {
  std::string text;
  std::vector<TensorArg> tensors;
  std::vector<ScalarArg> scalars;
  uint64_t dataSeed = 0;
};

Program generate(Choices &choices, const Settings &settings);

} // namespace tk::fuzz
