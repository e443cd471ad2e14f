//===- BuiltinsDot.cpp - `@`, dot and dot_scaled ----------------------------===//
//
// `@` never promotes: both operands have one dtype, or both are fp8. The result is f32, i32 of
// 8-bit integers, f64 of f64.
//
//===----------------------------------------------------------------------===//

#include "frontend/TileLowerer.h"

using namespace mlir;
using namespace tk;

static bool isFp8(Dtype dtype) {
  return isFloat(dtype) && dtypeBits(dtype) == 8 && dtype != Dtype::E8M0;
}

static bool isTile(const Val &value) {
  return value.isRun() && !value.type.pointer && !value.type.isScalar();
}

//===----------------------------------------------------------------------===//
// Types and shapes
//===----------------------------------------------------------------------===//

/// The dtype of a product, or nullopt after an error.
std::optional<Dtype> TileLowerer::dotType(const Val &a, const Val &b, std::optional<Dtype> out,
                                          SourceRange range, StringRef what) {
  Dtype left = a.type.dtype, right = b.type.dtype;
  bool bytes = isInteger(left) && dtypeBits(left) == 8;
  bool pair = bytes ? isInteger(right) && dtypeBits(right) == 8
                    : left == right || (isFp8(left) && isFp8(right));
  bool known = bytes || isFp8(left) || left == Dtype::F16 || left == Dtype::BF16 ||
               left == Dtype::F32 || left == Dtype::F64;
  if (!pair || !known) {
    Report report = error<diag::DotTypes>(range, what, dtypeName(left), dtypeName(right));
    report.note(a.origin, dtypeName(left) + " comes from here");
    report.note(b.origin, dtypeName(right) + " comes from here");
    if (known && isFloat(left) && isFloat(right))
      report.help("operands are never converted: write `.to(" + dtypeName(left) + ")`");
    else
      report.help("products are of f16, bf16, f32, f64, two of fp8, and 8-bit integers");
    return std::nullopt;
  }
  Dtype natural = bytes ? Dtype::I32 : left == Dtype::F64 ? Dtype::F64 : Dtype::F32;
  bool half = left == Dtype::F16 || isFp8(left);
  if (!out || *out == natural || (half && *out == Dtype::F16))
    return out.value_or(natural);
  error<diag::ValueOutside>(range, "the result of a product of " + dtypeName(left).str(),
                            dtypeName(natural).str() + (half ? " or f16" : ""), dtypeName(*out))
      .help("convert the result: `.to(" + dtypeName(*out) + ")`");
  return std::nullopt;
}

/// [.., M, K] by [.., K, N]: the shape [.., M, N].
std::optional<Shape> TileLowerer::dotShape(const Val &a, const Val &b, SourceRange range,
                                           StringRef what) {
  ArrayRef<int64_t> left = a.type.shape, right = b.type.shape;
  auto notes = [&](Report &&report) -> Report {
    report.note(a.origin, describeShape(left) + " comes from here");
    report.note(b.origin, describeShape(right) + " comes from here");
    return std::move(report);
  };
  size_t rank = left.size();
  if (rank != right.size() || rank < 2) {
    notes(error<diag::DotRanks>(range, what, describeShape(left), describeShape(right)))
        .help("a vector becomes a row or a column by `[None, :]` or `[:, None]`");
    return std::nullopt;
  }
  if (left[rank - 1] != right[rank - 2]) {
    Report report = notes(error<diag::DotInnerSides>(range, what, left[rank - 1], right[rank - 2]));
    if (left[rank - 1] == right[rank - 1])
      report.help("transpose the right side: `b.T`");
    return std::nullopt;
  }
  if (left.drop_back(2) != right.drop_back(2)) {
    notes(error<diag::ShapeMismatch>(range, what, describeShape(left), describeShape(right)))
        .help("the sides before the last two are equal");
    return std::nullopt;
  }
  Shape shape(left);
  shape[rank - 1] = right[rank - 1];
  return walk.checkTile(shape, range) ? std::optional<Shape>(shape) : std::nullopt;
}

/// The accumulator as a tile of `type`: zeros when there is none.
std::optional<Val> TileLowerer::dotAcc(const Val &acc, const RunType &type, SourceRange range,
                                       StringRef what) {
  Val zero = Val::ofInt(0);
  Value value = walk.coerce(acc.kind == Val::Kind::None ? zero : acc, type, range,
                            "the accumulator of `" + what.str() + "`");
  return value ? std::optional<Val>(Val::run(value, type)) : std::nullopt;
}

//===----------------------------------------------------------------------===//
// Products
//===----------------------------------------------------------------------===//

/// The kernel's default for f32: `@numerics(f32_dot="tf32")`.
DotInput TileLowerer::kernelDotInput() {
  if (!walk.kernel.op)
    return DotInput::exact;
  DictionaryAttr fields = walk.kernel.op.getContract().getFields();
  auto numerics = fields.getAs<DictionaryAttr>("numerics");
  auto name = numerics ? numerics.getAs<StringAttr>("f32_dot") : StringAttr();
  return name ? symbolizeDotInput(name.getValue()).value_or(DotInput::exact) : DotInput::exact;
}

Val TileLowerer::emitDot(const Val &a, const Val &b, const Val &acc, const DotOptions &options,
                         SourceRange range, StringRef what) {
  for (const Val *value : {&a, &b}) {
    if (value->isPoison())
      return Val::poison();
    if (isTile(*value))
      continue;
    Report report = error<diag::DotRanks>(range, what, a.describe(), b.describe());
    if (value->kind == Val::Kind::Tensor)
      report.help("read a tile of it: `x[i +: BLOCK, :]`");
    else
      report.help("numbers are multiplied by `*`");
    return Val::poison();
  }
  std::optional<Dtype> dtype = dotType(a, b, options.out, range, what);
  std::optional<Shape> shape = dtype ? dotShape(a, b, range, what) : std::nullopt;
  if (!shape)
    return Val::poison();
  RunType type{*dtype, false, 0, *shape};
  std::optional<Val> sum = dotAcc(acc, type, range, what);
  if (!sum)
    return Val::poison();
  DotInput input = a.type.dtype == Dtype::F32 ? options.input : DotInput::exact;
  auto unit = [&](const Val &value) {
    bool isUnsigned = value.type.dtype == Dtype::U8;
    return isUnsigned ? builder.getUnitAttr() : UnitAttr();
  };
  int64_t promote = isFp8(a.type.dtype) ? options.promote : kPromote;
  Value result = DotOp::create(builder, loc(range), sum->value.getType(), a.value, b.value,
                               sum->value, DotInputAttr::get(builder.getContext(), input),
                               builder.getI64IntegerAttr(promote), unit(a), unit(b));
  return Val::run(result, type);
}

Val TileLowerer::product(const Val &a, const Val &b, SourceRange range) {
  DotOptions options;
  options.input = kernelDotInput();
  return emitDot(a, b, Val::none(), options, range, "@");
}

std::optional<DotInput> TileLowerer::dotInput(const CallArgs &args, size_t i) {
  if (!args.given(i))
    return kernelDotInput();
  std::optional<size_t> which = word(args, i, {"exact", "tf32", "tf32x3", "bf16x3", "bf16x6"});
  return which ? std::optional<DotInput>(DotInput(*which)) : std::nullopt;
}

/// `promote=128`, or `promote="never"`, which is 0 in the operation.
std::optional<int64_t> TileLowerer::dotPromote(const CallArgs &args, size_t i) {
  const Val &value = args.values[i];
  if (!args.given(i))
    return kPromote;
  if (value.kind == Val::Kind::String && value.text == "never")
    return 0;
  bool good = value.isInt() && value.integer >= 1 && fits(value.integer, Dtype::I32);
  if (good)
    return int64_t(value.integer);
  if (!value.isPoison())
    error<diag::ValueOutside>(args.rangeOf(i), "`promote=`", "a number of products or \"never\"",
                              value.describe());
  return std::nullopt;
}

/// dot(a, b, acc, input=, promote=, out=)
Val TileLowerer::buildDot(CallArgs &args) {
  DotOptions options;
  std::optional<DotInput> input = dotInput(args, 3);
  std::optional<int64_t> promote = dotPromote(args, 4);
  if (args.poisoned() || !input || !promote)
    return Val::poison();
  options.input = *input;
  options.promote = *promote;
  if (args.given(5)) {
    if (args.values[5].kind != Val::Kind::Dtype) {
      error<diag::TypeMismatch>(args.rangeOf(5), "`out=`", "a dtype", args.values[5].describe());
      return Val::poison();
    }
    options.out = args.values[5].dtype;
  }
  return emitDot(args.values[0], args.values[1], args.values[2], options, args.range, "dot");
}

//===----------------------------------------------------------------------===//
// Products with scales
//===----------------------------------------------------------------------===//

/// The shapes that a scale may have: its operand's with the side `axis` divided by 32 or 16.
static SmallVector<Shape, 2> scaleShapes(ArrayRef<int64_t> operand, size_t axis) {
  SmallVector<Shape, 2> shapes;
  for (int64_t block : {32, 16}) {
    if (operand[axis] % block != 0)
      continue;
    shapes.emplace_back(operand);
    shapes.back()[axis] /= block;
  }
  return shapes;
}

bool TileLowerer::checkScale(const Val &operand, const Val &scale, size_t axis, SourceRange range,
                             StringRef name) {
  if (scale.kind == Val::Kind::None)
    return true;
  SmallVector<Shape, 2> shapes = scaleShapes(operand.type.shape, axis);
  if (isTile(scale) && !llvm::is_contained(shapes, scale.type.shape)) {
    std::string allowed = shapes.empty() ? "absent, since K is no multiple of 16" : "";
    for (const Shape &shape : shapes)
      allowed += (allowed.empty() ? "" : " or ") + describeShape(shape);
    error<diag::ScaleShape>(range, name, describeShape(operand.type.shape), allowed,
                            describeShape(scale.type.shape))
        .note(scale.origin, "the scale comes from here")
        .help("one scale a block of 32 or 16 along K, the axis of the operand that is summed over");
    return false;
  }
  Dtype dtype = scale.isRun() ? scale.type.dtype : Dtype::I64;
  if (isTile(scale) && (dtype == Dtype::E8M0 || dtype == Dtype::F8E4M3FN))
    return true;
  Report report = error<diag::TypeMismatch>(range, "`" + name.str() + "` of `dot_scaled`",
                                            "a tile of e8m0 or f8e4m3fn", scale.describe());
  if (dtype == Dtype::U8)
    report.help("bytes are read as scales by `bitcast[e8m0](x)`");
  return false;
}

/// dot_scaled(a, a_scale, b, b_scale, acc): either scale may be None.
Val TileLowerer::buildDotScaled(CallArgs &args) {
  const Val &a = args.values[0], &b = args.values[2];
  if (args.poisoned() || !needTile(args, 0) || !needTile(args, 2))
    return Val::poison();
  for (size_t i : {0, 2}) {
    Dtype dtype = args.values[i].type.dtype;
    bool known = dtype == Dtype::F4E2M1 || dtype == Dtype::F8E4M3FN || dtype == Dtype::F8E5M2 ||
                 dtype == Dtype::F16 || dtype == Dtype::BF16;
    if (known && !args.values[i].type.pointer)
      continue;
    error<diag::OperatorType>(args.rangeOf(i), "dot_scaled", args.values[i].describe())
        .help("it takes f4e2m1, f8e4m3fn, f8e5m2, f16 and bf16");
    return Val::poison();
  }
  std::optional<Shape> shape = dotShape(a, b, args.range, "dot_scaled");
  if (!shape)
    return Val::poison();
  size_t rank = shape->size();
  // b's scale lies along b's own axes: [K / block, N].
  if (!checkScale(a, args.values[1], rank - 1, args.rangeOf(1), "a_scale") ||
      !checkScale(b, args.values[3], rank - 2, args.rangeOf(3), "b_scale"))
    return Val::poison();
  RunType type{Dtype::F32, false, 0, *shape};
  std::optional<Val> acc = dotAcc(args.values[4], type, args.rangeOf(4), "dot_scaled");
  if (!acc)
    return Val::poison();
  Value result =
      DotScaledOp::create(builder, loc(args.range), acc->value.getType(), a.value, b.value,
                          acc->value, args.values[1].value, args.values[3].value);
  return Val::run(result, type);
}
