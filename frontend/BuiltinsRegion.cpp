//===- BuiltinsRegion.cpp - functions of scalars, applied element by element --===//
//
// map_elementwise elaborates a function of the program on scalars, in a region of its own with
// control flow of its own. inline_asm_elementwise and extern_elementwise name code of the target;
// their reference is such a function, for the interpreter.
//
//===----------------------------------------------------------------------===//

#include "frontend/TileLowerer.h"

using namespace mlir;
using namespace tk;

//===----------------------------------------------------------------------===//
// Regions of scalars
//===----------------------------------------------------------------------===//

bool TileLowerer::isFunction(const CallArgs &args, size_t i) {
  const Val &value = args.values[i];
  if (value.kind == Val::Kind::Function || value.kind == Val::Kind::Builtin)
    return true;
  if (!value.isPoison())
    error<diag::TypeMismatch>(args.rangeOf(i), "what `" + args.builtin->name.str() + "` applies",
                              "a function", value.describe())
        .help("write a closure: `fn(a, b) { return a + b }`");
  return false;
}

/// What an operation does that a region of scalars must not, or "".
static StringRef forbiddenIn(Operation *op) {
  if (!isMemoryEffectFree(op))
    return "reads or writes memory";
  auto isTile = [](Type type) { return isa<RankedTensorType>(type); };
  if (llvm::any_of(op->getOperandTypes(), isTile) || llvm::any_of(op->getResultTypes(), isTile))
    return "computes with a tile";
  return "";
}

bool TileLowerer::checkScalars(Region &region, SourceRange range, StringRef what) {
  StringRef fault;
  region.walk([&](Operation *op) {
    fault = forbiddenIn(op);
    return fault.empty() ? WalkResult::advance() : WalkResult::interrupt();
  });
  if (fault.empty())
    return true;
  error<diag::NotOfScalars>(range, what, fault)
      .help("compute it before, and let the function have it as a scalar");
  return false;
}

/// The scalars that a function gives, a tuple or one.
std::optional<std::vector<Val>> TileLowerer::scalarResults(const Val &result, SourceRange range,
                                                           StringRef what) {
  if (result.isPoison())
    return std::nullopt;
  std::vector<Val> values;
  for (const Val &value : result.isTuple() ? result.elements : std::vector<Val>{result}) {
    bool scalar = value.isNumeric() && value.shape().empty();
    if (!scalar) {
      error<diag::TypeMismatch>(range, "the result of the function of `" + what.str() + "`",
                                "a scalar", value.describe());
      return std::nullopt;
    }
    std::optional<Val> run = walk.asRun(value, range);
    if (!run)
      return std::nullopt;
    values.push_back(*run);
  }
  if (!values.empty())
    return values;
  error<diag::TypeMismatch>(range, "the result of the function of `" + what.str() + "`", "a scalar",
                            result.describe());
  return std::nullopt;
}

/// map_elementwise(function, args...): scalars stay what they are.
Val TileLowerer::buildMap(CallArgs &args) {
  StringRef name = args.builtin->name;
  std::vector<Val> given = evalRest(args), tiles;
  if (args.poisoned() || llvm::any_of(given, [](const Val &v) { return v.isPoison(); }) ||
      !isFunction(args, 0))
    return Val::poison();
  SourceRange range = args.rangeOf(0);
  for (const Val &value : given) {
    if (!walk.needNumber(value, args.range, name))
      return Val::poison();
    if (!value.shape().empty())
      tiles.push_back(value);
  }
  if (tiles.empty())
    return walk.callValue(args.values[0], std::move(given), range);
  auto operands = sameShape(tiles, args.range, name);
  if (!operands)
    return Val::poison();
  Region region;
  std::optional<std::vector<Val>> results;
  Val result;
  {
    OpBuilder::InsertionGuard guard(builder);
    Block *block = builder.createBlock(&region);
    size_t next = 0;
    for (Val &value : given) {
      if (value.shape().empty())
        continue;
      const Val &tile = (*operands)[next++];
      Value element = block->addArgument(elementTypeOf(tile.value.getType()), loc(args.range));
      value = Val::run(element, {tile.type.dtype, false, 0, {}});
    }
    result = walk.callValue(args.values[0], std::move(given), range);
    results = scalarResults(result, range, name);
    if (!results)
      return Val::poison();
    Values yields;
    for (const Val &value : *results)
      yields.push_back(value.value);
    YieldOp::create(builder, loc(args.range), yields);
    if (!checkScalars(region, range, name))
      return Val::poison();
  }
  Values inputs;
  for (const Val &tile : *operands)
    inputs.push_back(tile.value);
  SmallVector<Type> types;
  for (Val &value : *results) {
    value.type.shape = operands->front().type.shape;
    types.push_back(walk.mlirType(value.type));
  }
  auto op = MapOp::create(builder, loc(args.range), types, inputs);
  op.getBody().takeBody(region);
  for (auto [value, mapped] : llvm::zip(*results, op.getResults()))
    value.value = mapped;
  return result.isTuple() ? Val::tuple(std::move(*results)) : results->front();
}

//===----------------------------------------------------------------------===//
// Code of the target
//===----------------------------------------------------------------------===//

/// The reference of target code, when one is given: scalars to scalars of the result's dtypes.
bool TileLowerer::referenceRegion(Region &region, const CallArgs &args, size_t i,
                                  ArrayRef<Val> operands, ArrayRef<Dtype> results) {
  if (!args.given(i))
    return true;
  if (!isFunction(args, i))
    return false;
  SourceRange range = args.rangeOf(i);
  OpBuilder::InsertionGuard guard(builder);
  Block *block = builder.createBlock(&region);
  std::vector<Val> scalars;
  for (const Val &operand : operands) {
    Value element = block->addArgument(elementTypeOf(operand.value.getType()), loc(range));
    scalars.push_back(Val::run(element, {operand.type.dtype, false, 0, {}}));
  }
  Val result = walk.callValue(args.values[i], std::move(scalars), range);
  auto values = scalarResults(result, range, args.builtin->name);
  if (!values)
    return false;
  if (values->size() != results.size()) {
    error<diag::TypeMismatch>(range, "the result of `reference=`",
                              "a tuple of " + std::to_string(results.size()), result.describe());
    return false;
  }
  Values yields;
  std::vector<Val> wanted = result.isTuple() ? result.elements : std::vector<Val>{result};
  for (auto [value, dtype] : llvm::zip(wanted, results)) {
    Value fitted = walk.coerce(value, {dtype, false, 0, {}}, range, "the result of `reference=`");
    if (!fitted)
      return false;
    yields.push_back(fitted);
  }
  YieldOp::create(builder, loc(range), yields);
  return checkScalars(region, range, args.builtin->name);
}

/// One dtype, or several in a tuple or list.
std::optional<SmallVector<Dtype>> TileLowerer::dtypesOf(const CallArgs &args, size_t i) {
  const Val &value = args.values[i];
  bool several = value.isTuple() || value.kind == Val::Kind::List;
  SmallVector<Dtype> dtypes;
  for (const Val &one : several ? ArrayRef<Val>(value.elements) : ArrayRef<Val>(value)) {
    if (one.kind != Val::Kind::Dtype) {
      error<diag::TypeMismatch>(args.rangeOf(i), "`dtype=` of `" + args.builtin->name.str() + "`",
                                "a dtype", one.describe());
      return std::nullopt;
    }
    dtypes.push_back(one.dtype);
  }
  return dtypes;
}

/// Registers that `pack` elements of a type take: narrow ones are packed into 32 bits.
static int64_t registersOf(Dtype dtype, int64_t pack) {
  unsigned bits = dtype == Dtype::I1 ? 8 : dtypeBits(dtype);
  return bits >= 32 ? pack : (pack * bits + 31) / 32;
}

/// The constraints name one register for each that operands and results take.
bool TileLowerer::checkConstraints(const CallArgs &args, ArrayRef<Val> operands,
                                   ArrayRef<Dtype> results, int64_t pack) {
  int64_t outputs = 0, inputs = 0, needsOutputs = 0, needsInputs = 0;
  SmallVector<StringRef> parts;
  StringRef(args.values[1].text).split(parts, ',', -1, /*KeepEmpty=*/false);
  for (StringRef part : parts) {
    part = part.trim();
    if (part.starts_with("="))
      ++outputs;
    else if (!part.starts_with("~"))
      ++inputs;
  }
  for (Dtype dtype : results)
    needsOutputs += registersOf(dtype, pack);
  for (const Val &operand : operands)
    needsInputs += registersOf(operand.type.dtype, pack);
  bool good = outputs == needsOutputs && inputs == needsInputs;
  if (!good) {
    bool wrongOutputs = outputs != needsOutputs;
    error<diag::AsmRegisters>(args.rangeOf(1), wrongOutputs ? outputs : inputs,
                              wrongOutputs ? "outputs" : "inputs",
                              wrongOutputs ? needsOutputs : needsInputs, pack)
        .help("elements narrower than 32 bits are packed into registers of 32 bits");
  }
  return good;
}

/// inline_asm_elementwise(asm, constraints, args, dtype, pure=, pack=, reference=)
Val TileLowerer::buildAsm(CallArgs &args) {
  StringRef name = args.builtin->name;
  std::optional<bool> pure = flag(args, 4);
  Val packValue = args.given(5) ? args.values[5] : Val::ofInt(1);
  auto pack = walk.needInt(packValue, args.rangeOf(5), "`pack=`");
  if (args.poisoned() || !pure || !pack)
    return Val::poison();
  if (*pack != 1 && *pack != 2 && *pack != 4 && *pack != 8) {
    error<diag::ValueOutside>(args.rangeOf(5), "`pack=`", "1, 2, 4 or 8", toString(*pack));
    return Val::poison();
  }
  for (size_t i : {0, 1})
    if (args.values[i].kind != Val::Kind::String) {
      error<diag::TypeMismatch>(args.rangeOf(i), i == 0 ? "the assembly" : "the constraints",
                                "a string", args.values[i].describe());
      return Val::poison();
    }
  const Val &given = args.values[2];
  bool several = given.isTuple() || given.kind == Val::Kind::List;
  auto operands = sameShape(several ? ArrayRef<Val>(given.elements) : ArrayRef<Val>(given),
                            args.rangeOf(2), name);
  auto dtypes = operands ? dtypesOf(args, 3) : std::nullopt;
  if (!dtypes || !checkConstraints(args, *operands, *dtypes, int64_t(*pack)))
    return Val::poison();
  Region reference;
  if (!referenceRegion(reference, args, 6, *operands, *dtypes))
    return Val::poison();
  Values inputs;
  for (const Val &operand : *operands)
    inputs.push_back(operand.value);
  SmallVector<Type> types;
  std::vector<Val> results;
  for (Dtype dtype : *dtypes) {
    results.push_back(Val::run(Value(), {dtype, false, 0, operands->front().type.shape}));
    types.push_back(walk.mlirType(results.back().type));
  }
  auto op = AsmOp::create(builder, loc(args.range), types, args.values[0].text, args.values[1].text,
                          uint64_t(*pack), *pure, inputs);
  op.getReference().takeBody(reference);
  for (auto [result, value] : llvm::zip(results, op.getResults()))
    result.value = value;
  bool tuple = args.values[3].kind != Val::Kind::Dtype;
  return tuple ? Val::tuple(std::move(results)) : results.front();
}

/// extern_elementwise(symbol, args..., dtype=, reference=)
Val TileLowerer::buildExtern(CallArgs &args) {
  StringRef name = args.builtin->name;
  std::vector<Val> given = evalRest(args);
  const Val &symbol = args.values[0];
  if (args.poisoned() || llvm::any_of(given, [](const Val &v) { return v.isPoison(); }))
    return Val::poison();
  if (symbol.kind != Val::Kind::String || symbol.text.empty() || given.empty()) {
    if (given.empty())
      error<diag::MissingArgument>(args.range, name, "args");
    else
      error<diag::TypeMismatch>(args.rangeOf(0), "the symbol of `" + name.str() + "`",
                                "a string that names a function", symbol.describe());
    return Val::poison();
  }
  auto operands = sameShape(given, args.range, name);
  if (!operands)
    return Val::poison();
  SmallVector<Dtype> dtypes = {operands->front().type.dtype};
  if (args.given(1)) {
    if (args.values[1].kind != Val::Kind::Dtype) {
      error<diag::TypeMismatch>(args.rangeOf(1), "`dtype=` of `" + name.str() + "`", "a dtype",
                                args.values[1].describe());
      return Val::poison();
    }
    dtypes[0] = args.values[1].dtype;
  }
  Region reference;
  if (!referenceRegion(reference, args, 2, *operands, dtypes))
    return Val::poison();
  RunType type{dtypes[0], false, 0, operands->front().type.shape};
  Values inputs;
  for (const Val &operand : *operands)
    inputs.push_back(operand.value);
  auto op = ExternOp::create(builder, loc(args.range), walk.mlirType(type), symbol.text, inputs);
  op.getReference().takeBody(reference);
  return Val::run(op.getResult(), type);
}
