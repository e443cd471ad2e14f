//===- MachineMath.cpp - functions of one number -----------------------------------===//
//
// exp, exp2, rsqrt and sigmoid of f32 are short sequences around the special function unit, within
// the 2 ulp (sigmoid 4) that docs/language.md allows; results below the normal range become zero.
// sqrt is the correctly rounded instruction. Everything else, and all of f64, comes from libdevice,
// whose errors CUDA's math documentation states (log, log2: 1 ulp; sin, cos, tanh, erf: 2 ulp).
// f16 and bf16 are computed in f32 and rounded once.
//
//===----------------------------------------------------------------------===//

#include "backends/nvptx/Machine.h"
#include "llvm/ADT/StringSwitch.h"

using namespace mlir;
using namespace tk;
using namespace tk::nvptx;

Value Machine::floating(double value, Type type) {
  return LLVM::ConstantOp::create(builder, loc, type, builder.getFloatAttr(type, value));
}

/// Declares and calls a function of libdevice.
Value Machine::libdevice(StringRef name, Value x) {
  auto module = function->getParentOfType<ModuleOp>();
  auto callee = module.lookupSymbol<LLVM::LLVMFuncOp>(name);
  if (!callee) {
    OpBuilder top = OpBuilder::atBlockBegin(module.getBody());
    auto type = LLVM::LLVMFunctionType::get(x.getType(), {x.getType()});
    callee = LLVM::LLVMFuncOp::create(top, module.getLoc(), name, type);
  }
  return LLVM::CallOp::create(builder, loc, callee, x).getResult();
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

static StringRef libdeviceName(UnaryFn fn) {
  switch (fn) {
  case UnaryFn::exp: return "exp";
  case UnaryFn::exp2: return "exp2";
  case UnaryFn::log: return "log";
  case UnaryFn::log2: return "log2";
  case UnaryFn::rsqrt: return "rsqrt";
  case UnaryFn::sin: return "sin";
  case UnaryFn::cos: return "cos";
  case UnaryFn::tanh: return "tanh";
  case UnaryFn::erf: return "erf";
  default: return "";
  }
}

Value Machine::unaryF32(UnaryFn fn, Value x) {
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
    Value sum = LLVM::FAddOp::create(builder, loc, f32, e, floating(1.0, f32));
    return intrinsic("llvm.nvvm.rcp.approx.ftz.f", f32, sum);
  }
  default:
    return libdevice(("__nv_" + libdeviceName(fn) + "f").str(), x);
  }
}

Value Machine::unary(UnaryOp op, Value x) {
  Type type = x.getType();
  UnaryFn fn = op.getFn();
  if (type.isInteger())
    return intrinsic("llvm.abs", type, {x, integer(0, 1)});
  switch (fn) {
  case UnaryFn::abs: return intrinsic("llvm.fabs", type, x);
  case UnaryFn::floor: return intrinsic("llvm.floor", type, x);
  case UnaryFn::ceil: return intrinsic("llvm.ceil", type, x);
  default: break;
  }
  if (type.isF64()) {
    if (fn == UnaryFn::sqrt)
      return intrinsic("llvm.sqrt", type, x);
    if (fn != UnaryFn::sigmoid)
      return libdevice(("__nv_" + libdeviceName(fn)).str(), x);
    Value e = libdevice("__nv_exp", LLVM::FNegOp::create(builder, loc, x));
    Value one = floating(1.0, type);
    return LLVM::FDivOp::create(builder, loc, type, one, LLVM::FAddOp::create(builder, loc, type, e, one));
  }
  Type f32 = builder.getF32Type();
  Value wide = type.isF32() ? x : LLVM::FPExtOp::create(builder, loc, f32, x).getResult();
  Value result = fn == UnaryFn::sqrt ? intrinsic("llvm.sqrt", f32, wide) : unaryF32(fn, wide);
  return type.isF32() ? result : LLVM::FPTruncOp::create(builder, loc, type, result).getResult();
}
