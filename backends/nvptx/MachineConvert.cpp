//===- MachineConvert.cpp - conversions between all types of numbers -----------------===//
//
// Every conversion rounds once; what it gives out of range and for NaN stands in docs/language.md.
// Between floats: an instruction where the chip has one that does exactly that, else the sequence
// of MachineConvertFloat.cpp over the bits of an f32. Numbers that f32 does not hold get there
// rounded to odd: cut, with the lowest bit set when that lost anything; after that a second
// rounding, to a format with at least two digits less, gives what one rounding would have given.
//
//===----------------------------------------------------------------------===//

#include "backends/nvptx/MachineConvert.h"
#include "backends/nvptx/BitOps.h"
#include "backends/nvptx/Machine.h"

using namespace mlir;
using namespace tk;
using namespace tk::nvptx;

//===----------------------------------------------------------------------===//
// What a conversion asks for
//===----------------------------------------------------------------------===//

Machine::Conversion Machine::conversionOf(CastOp op) {
  Conversion how;
  how.from = elementTypeOf(op.getValue().getType());
  how.to = elementTypeOf(op.getResult().getType());
  how.fromUnsigned = op.getFromUnsigned() || how.from.isInteger(1);
  how.toUnsigned = op.getToUnsigned() || how.to.isInteger(1);
  bool truncates = isa<FloatType>(how.from) && !isa<FloatType>(how.to);
  how.round = truncates ? Round::rtz : Round::rne;
  if (NumAttr num = op.getNumAttr()) {
    how.round = num.getRound();
    how.overflow = num.getOverflow();
  }
  // Types below 16 bits are of limited range: by themselves they saturate.
  if (how.overflow == Overflow::natural && isa<FloatType>(how.to))
    how.overflow = isNarrowStorage(how.to) ? Overflow::saturate : Overflow::ieee;
  return how;
}

Value Machine::conversion(CastOp op, Value x) {
  Conversion how = conversionOf(op);
  if (isa<FloatType>(how.from))
    return isa<FloatType>(how.to) ? floatToFloat(how, x) : floatToInteger(how, x);
  return isa<FloatType>(how.to) ? integerToFloat(how, x) : integerToInteger(how, x);
}

//===----------------------------------------------------------------------===//
// Floats to floats
//===----------------------------------------------------------------------===//

/// f64 or an integer of 32 or 64 bits, cut to f32, and its value again in the type it came from.
static Value setOdd(BitOps ops, Value cut, Value isInexact) {
  Value bits = ops.bitsOf(cut);
  return ops.bitcast(ops.bor(bits, ops.zext(isInexact, 32)), cut.getType());
}

Value Machine::oddFromDouble(Value x) {
  BitOps ops(builder, loc);
  Value cut = intrinsic("llvm.nvvm.d2f.rz", builder.getF32Type(), x);
  Value back = ops.fpext(cut, x.getType());
  return setOdd(ops, cut, ops.fcmp(LLVM::FCmpPredicate::one, back, x)); // false for NaN
}

/// The number of a storage float; other floats as they are.
Value Machine::readFloat(Value x, Type type) {
  if (!isNarrowStorage(type))
    return x;
  BitOps ops(builder, loc);
  if (isa<Float8E5M2Type>(type)) // the upper half of an f16
    return ops.bitcast(ops.shl(ops.zext(x, 16), 8), builder.getF16Type());
  if (target.hasFp8Conversion && isa<Float8E4M3FNType>(type)) {
    auto pair = VectorType::get({2}, builder.getF16Type());
    Value both = intrinsic("llvm.nvvm.e4m3x2.to.f16x2.rn", pair, ops.zext(x, 16));
    return LLVM::ExtractElementOp::create(builder, loc, both, integer(0, 32));
  }
  return decodeFloat(builder, loc, x, type);
}

/// Any float as an f32 that rounds to a narrower type as the float does.
Value Machine::asOddF32(Value x) {
  return x.getType().isF64() ? oddFromDouble(x)
                             : BitOps(builder, loc).fpext(x, builder.getF32Type());
}

static double largestOf(Type type) {
  return llvm::APFloat::getLargest(cast<FloatType>(type).getFloatSemantics()).convertToDouble();
}

/// The nearest number within those of `type`, one not wider than x's; NaN stays.
Value Machine::clampFinite(Value x, Type type) {
  BitOps ops(builder, loc);
  Value most = ops.floating(x.getType(), largestOf(type));
  Value least = ops.floating(x.getType(), -largestOf(type));
  x = ops.select(ops.fcmp(LLVM::FCmpPredicate::ogt, x, most), most, x);
  return ops.select(ops.fcmp(LLVM::FCmpPredicate::olt, x, least), least, x);
}

/// By an instruction of two f32 or two f16, or null.
Value Machine::encodeByHardware(const Conversion &how, Value low, Value high) {
  if (!target.hasFp8Conversion || how.round != Round::rne || how.overflow != Overflow::saturate)
    return {};
  StringRef name = isa<Float8E4M3FNType>(how.to) ? "llvm.nvvm.ff.to.e4m3x2.rn"
                   : isa<Float8E5M2Type>(how.to) ? "llvm.nvvm.ff.to.e5m2x2.rn"
                                                 : "";
  if (name.empty())
    return {};
  if (low.getType().isF16()) {
    name = isa<Float8E4M3FNType>(how.to) ? "llvm.nvvm.f16x2.to.e4m3x2.rn"
                                         : "llvm.nvvm.f16x2.to.e5m2x2.rn";
    return intrinsic(name, builder.getIntegerType(16), vectorOf({low, high}));
  }
  return intrinsic(name, builder.getIntegerType(16), {high, low}); // the first one is the upper
}

/// f32 to f16 or bf16 toward zero.
Value Machine::cutToHalf(Value x, Type to) {
  Value zero = BitOps(builder, loc).floating(x.getType(), 0.0);
  Value pair = intrinsic(to.isF16() ? "llvm.nvvm.ff2f16x2.rz" : "llvm.nvvm.ff2bf16x2.rz",
                         VectorType::get({2}, to), {zero, x}); // the first one is the upper
  return LLVM::ExtractElementOp::create(builder, loc, pair, integer(0, 32));
}

/// f32 (rounded to odd where it had to be) to a storage format, f16 or bf16.
Value Machine::encode(const Conversion &how, Value x) {
  BitOps ops(builder, loc);
  bool isDirected = how.round == Round::down || how.round == Round::up;
  if (isNarrowStorage(how.to)) {
    if (Value pair = encodeByHardware(how, x, ops.floating(x.getType(), 0.0)))
      return ops.trunc(pair, 8);
    return ops.trunc(encodeFloat(builder, loc, x, how.to, how.round, how.overflow), 8);
  }
  if (how.overflow == Overflow::saturate && !isDirected)
    x = clampFinite(x, how.to);
  if (how.round == Round::rtz)
    return cutToHalf(x, how.to);
  if (isDirected) {
    Value code = encodeFloat(builder, loc, x, how.to, how.round, how.overflow);
    return ops.bitcast(ops.trunc(code, 16), how.to);
  }
  return ops.fptrunc(x, how.to);
}

Value Machine::doubleToFloat(const Conversion &how, Value x) {
  static constexpr StringLiteral names[] = {"llvm.nvvm.d2f.rn", "llvm.nvvm.d2f.rz",
                                            "llvm.nvvm.d2f.rm", "llvm.nvvm.d2f.rp"};
  Value result = how.round == Round::rne ? BitOps(builder, loc).fptrunc(x, how.to)
                                         : intrinsic(names[unsigned(how.round)], how.to, x);
  return how.overflow == Overflow::saturate ? clampFinite(result, how.to) : result;
}

Value Machine::floatToFloat(const Conversion &how, Value x) {
  BitOps ops(builder, loc);
  x = readFloat(x, how.from);
  if (x.getType() == how.to && how.overflow != Overflow::saturate) // fp8 to f16: no more to do
    return x;
  if (how.to.isF32() && x.getType().isF64())
    return doubleToFloat(how, x);
  if (how.to.isF32() || how.to.isF64()) {
    x = ops.fpext(x, how.to);
    return how.overflow == Overflow::saturate ? clampFinite(x, how.to) : x;
  }
  bool plain = how.round == Round::rne && how.overflow == Overflow::ieee && how.to.isF16();
  if (plain && x.getType().isF64())
    return ops.fptrunc(x, how.to);
  return encode(how, asOddF32(x));
}

//===----------------------------------------------------------------------===//
// Integers to floats
//===----------------------------------------------------------------------===//

/// An integer of any type with its sign, in 32 or 64 bits.
Value Machine::readInteger(Value x, Type type, bool isUnsigned) {
  BitOps ops(builder, loc);
  unsigned bits = type.getIntOrFloatBitWidth(), wide = bits > 32 ? 64 : 32;
  if (bits != 4)
    return isUnsigned ? ops.zext(x, wide) : ops.sext(x, wide);
  x = ops.zext(x, wide); // the upper bits of its byte are zero
  return isUnsigned ? x : ops.sub(ops.bxor(x, 8), 8);
}

/// "llvm.nvvm." with `from`, "2", `to` and the rounding.
static std::string conversionName(StringRef from, StringRef to, Round round) {
  static constexpr StringLiteral roundings[] = {"rn", "rz", "rm", "rp"};
  return ("llvm.nvvm." + from + "2" + to + "." + roundings[unsigned(round)]).str();
}

static StringRef integerName(Type type, bool isUnsigned) {
  if (type.isInteger(64))
    return isUnsigned ? "ull" : "ll";
  return isUnsigned ? "ui" : "i";
}

Value Machine::roundInteger(Value x, bool isUnsigned, Type to, Round round) {
  if (round == Round::rne)
    return isUnsigned ? LLVM::UIToFPOp::create(builder, loc, to, x).getResult()
                      : LLVM::SIToFPOp::create(builder, loc, to, x).getResult();
  StringRef from = integerName(x.getType(), isUnsigned);
  return intrinsic(conversionName(from, to.isF64() ? "d" : "f", round), to, x);
}

Value Machine::oddFromInteger(Value x, bool isUnsigned) {
  BitOps ops(builder, loc);
  Value cut = roundInteger(x, isUnsigned, builder.getF32Type(), Round::rtz);
  // What was cut is not larger than it was: it fits the integer.
  Value back = isUnsigned ? LLVM::FPToUIOp::create(builder, loc, x.getType(), cut).getResult()
                          : LLVM::FPToSIOp::create(builder, loc, x.getType(), cut).getResult();
  return setOdd(ops, cut, ops.ne(back, x));
}

Value Machine::integerToFloat(const Conversion &how, Value x) {
  bool isSmall = how.from.getIntOrFloatBitWidth() <= 16;
  x = readInteger(x, how.from, how.fromUnsigned);
  if (how.to.isF32() || how.to.isF64())
    return roundInteger(x, how.fromUnsigned, how.to, how.round);
  // What f32 rounds is beyond the largest f16, so that f16 needs no odd numbers.
  bool isPlain = isSmall || (how.to.isF16() && how.round == Round::rne);
  Value single = isPlain ? roundInteger(x, how.fromUnsigned, builder.getF32Type(), Round::rne)
                         : oddFromInteger(x, how.fromUnsigned);
  return encode(how, single);
}

//===----------------------------------------------------------------------===//
// To integers
//===----------------------------------------------------------------------===//

/// An integer of 32 or 64 bits as the register of a narrower type.
Value Machine::cutInteger(Value x, Type to) {
  BitOps ops(builder, loc);
  if (to.isInteger(4))
    return ops.trunc(ops.band(x, 15), 8);
  return ops.trunc(x, to.getIntOrFloatBitWidth());
}

/// The nearest number within those of `to`.
Value Machine::clampInteger(Value x, bool isUnsigned, Type to, bool toUnsigned) {
  BitOps ops(builder, loc);
  unsigned bits = to.getIntOrFloatBitWidth(), wide = x.getType().getIntOrFloatBitWidth();
  Type type = x.getType();
  if (!isUnsigned && (toUnsigned || bits < wide)) {
    int64_t low = toUnsigned ? 0 : -(int64_t(1) << (bits - 1));
    x = intrinsic("llvm.smax", type, {x, ops.number(type, low)});
  }
  unsigned digits = toUnsigned ? bits : bits - 1;
  if (digits >= (isUnsigned ? wide : wide - 1))
    return x;
  Value high = ops.number(type, int64_t((uint64_t(1) << digits) - 1));
  return intrinsic(isUnsigned ? "llvm.umin" : "llvm.smin", type, {x, high});
}

/// Instructions saturate and make 0 of a NaN, but where 64 bits are involved.
Value Machine::floatToInteger(const Conversion &how, Value x) {
  BitOps ops(builder, loc);
  unsigned bits = how.to.getIntOrFloatBitWidth();
  x = readFloat(x, how.from);
  if (!x.getType().isF64())
    x = ops.fpext(x, builder.getF32Type());
  Type wide = builder.getIntegerType(bits > 32 ? 64 : 32);
  bool isUnsigned = bits >= 32 && how.toUnsigned; // narrower ones are cut from signed numbers
  // What LLVM knows of truncation is undefined out of range; to nearest a whole number stays.
  Round round = how.round;
  if (round == Round::rtz) {
    x = intrinsic("llvm.trunc", x.getType(), x);
    round = Round::rne;
  }
  StringRef from = x.getType().isF64() ? "d" : "f";
  Value whole = intrinsic(conversionName(from, integerName(wide, isUnsigned), round), wide, x);
  if (x.getType().isF64() || bits > 32)
    whole = ops.select(ops.fcmp(LLVM::FCmpPredicate::uno, x, x), 0, whole, wide);
  return cutInteger(clampInteger(whole, isUnsigned, how.to, how.toUnsigned), how.to);
}

Value Machine::integerToInteger(const Conversion &how, Value x) {
  BitOps ops(builder, loc);
  x = readInteger(x, how.from, how.fromUnsigned);
  if (how.to.getIntOrFloatBitWidth() > x.getType().getIntOrFloatBitWidth())
    x = how.fromUnsigned ? ops.zext(x, 64) : ops.sext(x, 64);
  if (how.overflow == Overflow::saturate)
    x = clampInteger(x, how.fromUnsigned, how.to, how.toUnsigned);
  return cutInteger(x, how.to);
}

//===----------------------------------------------------------------------===//
// Two registers of a tile at once
//===----------------------------------------------------------------------===//

/// fp8 by instructions that take and give two numbers. True when done.
bool Machine::convertPairs(CastOp op) {
  auto type = dyn_cast<RankedTensorType>(op.getType());
  Conversion how = conversionOf(op);
  unsigned count = type ? registersOf(type) : 1;
  if (count % 2 != 0 || !target.hasFp8Conversion || !isa<FloatType>(how.from))
    return false;
  BitOps ops(builder, loc);
  bool reads = isa<Float8E4M3FNType>(how.from) && how.to.getIntOrFloatBitWidth() >= 16 &&
               isa<FloatType>(how.to);
  bool writes = isa<Float8E4M3FNType, Float8E5M2Type>(how.to) && how.round == Round::rne &&
                how.overflow == Overflow::saturate && !isNarrowStorage(how.from);
  if (!reads && !writes)
    return false;
  auto pair = VectorType::get({2}, builder.getF16Type());
  for (unsigned i = 0; i < count; i += 2) {
    Value low = reg(op.getValue(), i), high = reg(op.getValue(), i + 1);
    if (writes) {
      if (!low.getType().isF16()) {
        low = asOddF32(low);
        high = asOddF32(high);
      }
      Value both = encodeByHardware(how, low, high);
      setElement(op.getResult(), i, ops.trunc(both, 8));
      setElement(op.getResult(), i + 1, ops.trunc(ops.lshr(both, 8), 8));
      continue;
    }
    Value codes = ops.bor(ops.zext(low, 16), ops.shl(ops.zext(high, 16), 8));
    Value both = intrinsic("llvm.nvvm.e4m3x2.to.f16x2.rn", pair, codes);
    Conversion rest = how;
    rest.from = builder.getF16Type();
    for (unsigned k = 0; k < 2; ++k) {
      Value half = LLVM::ExtractElementOp::create(builder, loc, both, integer(k, 32));
      setElement(op.getResult(), i + k, floatToFloat(rest, half));
    }
  }
  return true;
}
