//===- MachineMath.cpp - functions of one number -----------------------------------===//
//
// exp, exp2, rsqrt and sigmoid of f32 are short sequences around the special function unit, within
// the 2 ulp (exp2 3, sigmoid 4) that docs/language.md allows; results below the normal range become
// zero. Under @numerics(strict=true) they come from libdevice, which keeps such results. sqrt and the
// roundings to whole numbers are exact instructions. Everything else, and all of f64, comes from
// libdevice, whose errors CUDA's math documentation states. f16 and bf16 are computed in f32 and
// rounded once.
//
//===----------------------------------------------------------------------===//

#include "backends/nvptx/BitOps.h"
#include "backends/nvptx/Machine.h"

using namespace mlir;
using namespace tk;
using namespace tk::nvptx;

Value Machine::floating(double value, Type type) {
  return LLVM::ConstantOp::create(builder, loc, type, builder.getFloatAttr(type, value));
}

/// Declares and calls a function of libdevice, whose result has the type of its first operand.
Value Machine::libdevice(StringRef name, ValueRange operands) {
  return callDevice(name, operands[0].getType(), operands);
}

/// Declares and calls a function of the device library.
Value Machine::callDevice(StringRef name, Type result, ValueRange operands) {
  auto module = function->getParentOfType<ModuleOp>();
  auto callee = module.lookupSymbol<LLVM::LLVMFuncOp>(name);
  if (!callee) {
    OpBuilder top = OpBuilder::atBlockBegin(module.getBody());
    auto type = LLVM::LLVMFunctionType::get(result, SmallVector<Type>(operands.getTypes()));
    callee = LLVM::LLVMFuncOp::create(top, module.getLoc(), name, type);
  }
  return LLVM::CallOp::create(builder, loc, callee, operands).getResult();
}

static bool isStrict(KernelOp kernel) {
  auto numerics = kernel.getContract().getFields().getAs<DictionaryAttr>("numerics");
  auto flag = numerics ? numerics.getAs<BoolAttr>("strict") : BoolAttr();
  return flag && flag.getValue();
}

/// e^x = 2^j * 2^f with j near x * log2 e, within -126 to 126, and f the rest: found with a
/// compensated product (log2 e as a sum of two floats), 2^f by the special function unit, 2^j by
/// putting j into the exponent's bits. A saturating multiply-add keeps j in range without
/// comparisons; beyond it f grows instead, so that the result over- or underflows by itself, and NaN and
/// infinities pass through f.
Value Machine::exponential(Value x) {
  Type f32 = builder.getF32Type(), i32 = builder.getI32Type();
  constexpr double log2e = 1.4426950408889634, span = 252.0;
  const float high = float(log2e), low = float(log2e - double(float(log2e)));
  // 1.5 * 2^23: adding it leaves floor(y) in the low bits under rounding down.
  constexpr double magic = 12582912.0;
  Value inRange = intrinsic("llvm.nvvm.fma.rn.sat.f", f32,
                            {x, floating(log2e / span, f32), floating(0.5, f32)});
  Value biased = intrinsic("llvm.nvvm.fma.rm.f", f32,
                           {inRange, floating(span, f32), floating(magic + 1, f32)}); // j + 127
  Value whole = LLVM::FSubOp::create(builder, loc, f32, floating(magic + 127, f32), biased); // -j
  Value rest = LLVM::FMAOp::create(builder, loc, x, floating(high, f32), whole);
  rest = LLVM::FMAOp::create(builder, loc, x, floating(low, f32), rest);
  Value fraction = intrinsic("llvm.nvvm.ex2.approx.ftz.f", f32, rest);
  Value bits = LLVM::BitcastOp::create(builder, loc, i32, biased);
  Value scale = LLVM::ShlOp::create(builder, loc, bits, integer(23, 32));
  scale = LLVM::BitcastOp::create(builder, loc, f32, scale);
  return LLVM::FMulOp::create(builder, loc, f32, fraction, scale);
}

/// __nv_exp, and __nv_expf for f32.
static std::string libdeviceName(UnaryFn fn, bool isF64) {
  return ("__nv_" + stringifyUnaryFn(fn) + (isF64 ? "" : "f")).str();
}

/// f32 by the special function unit, or null.
Value Machine::approximation(UnaryFn fn, Value x) {
  BitOps ops(builder, loc);
  Type f32 = builder.getF32Type();
  switch (fn) {
  case UnaryFn::exp:
    return exponential(x);
  case UnaryFn::exp2:
    return intrinsic("llvm.nvvm.ex2.approx.ftz.f", f32, x);
  case UnaryFn::rsqrt:
    return intrinsic("llvm.nvvm.rsqrt.approx.f", f32, x);
  case UnaryFn::sigmoid: {
    Value e = exponential(LLVM::FNegOp::create(builder, loc, x));
    return intrinsic("llvm.nvvm.rcp.approx.ftz.f", f32, ops.fadd(e, floating(1.0, f32)));
  }
  default:
    return {};
  }
}

/// f32 or f64.
Value Machine::unaryWide(UnaryFn fn, Value x) {
  BitOps ops(builder, loc);
  Type type = x.getType();
  if (fn == UnaryFn::sqrt)
    return intrinsic("llvm.sqrt", type, x);
  if (type.isF32() && !isStrict(kernel))
    if (Value result = approximation(fn, x))
      return result;
  if (fn != UnaryFn::sigmoid)
    return libdevice(libdeviceName(fn, type.isF64()), x);
  Value negated = LLVM::FNegOp::create(builder, loc, x);
  Value e = libdevice(libdeviceName(UnaryFn::exp, type.isF64()), negated);
  Value one = floating(1.0, type);
  return LLVM::FDivOp::create(builder, loc, type, one, ops.fadd(e, one));
}

/// The intrinsic of a function whose result is exact in every type, or "".
static StringRef exactName(UnaryFn fn) {
  switch (fn) {
  case UnaryFn::floor: return "llvm.floor";
  case UnaryFn::ceil: return "llvm.ceil";
  case UnaryFn::round: return "llvm.roundeven";
  case UnaryFn::trunc: return "llvm.trunc";
  default: return "";
  }
}

Value Machine::unary(UnaryOp op, Value x) {
  BitOps ops(builder, loc);
  Type type = x.getType();
  UnaryFn fn = op.getFn();
  if (fn == UnaryFn::abs)
    return type.isInteger() ? intrinsic("llvm.abs", type, {x, integer(0, 1)})
                            : intrinsic("llvm.fabs", type, x);
  Value wide = type.isF64() ? x : ops.fpext(x, builder.getF32Type());
  StringRef exact = exactName(fn);
  Value result = exact.empty() ? unaryWide(fn, wide) : intrinsic(exact, wide.getType(), wide);
  return ops.fptrunc(result, type);
}
