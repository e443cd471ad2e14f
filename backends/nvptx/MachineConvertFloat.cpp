//===- MachineConvertFloat.cpp - rounding to narrow floats, and back ----------------===//
//
// One branch-free sequence over the bits of an f32 for every format of ir/FloatFormat.h, every
// rounding and every overflow; it is the same arithmetic that the interpreter runs. Sources that
// are wider than f32 come rounded to odd. Instructions of the chip stand in MachineConvert.cpp.
//
//===----------------------------------------------------------------------===//

#include "backends/nvptx/BitOps.h"
#include "backends/nvptx/MachineConvert.h"
#include "ir/FloatFormat.h"
#include "mlir/Dialect/LLVMIR/LLVMDialect.h"
#include "llvm/ADT/TypeSwitch.h"

using namespace mlir;
using namespace tk;
using namespace tk::nvptx;

namespace {
/// A NarrowFormat as a value.
struct Format {
  unsigned fractionBits, shift;
  int bias;
  Specials specials;
  bool hasSign, isWide;
  uint32_t signBit, lowest, max, excess, minNormal, magic;
};

class Encoder {
public:
  Encoder(BitOps ops, const Format &format, Round round, Overflow overflow, Type f32)
      : ops(ops), format(format), round(round), saturates(overflow == Overflow::saturate), f32(f32),
        i32(ops.integerType(32)) {}

  Value encode(Value value);

private:
  Value increment(Value magnitude);
  Value roundSmall(Value magnitude);
  Value roundMagnitude(Value magnitude);
  Value limit(Value code, Value magnitude);
  Value nanCode(Value magnitude, Value sign);
  bool isDirected() const { return round == Round::down || round == Round::up; }

  BitOps ops;
  const Format &format;
  Round round;
  bool saturates;
  Type f32, i32;
  Value away; // all ones where rounding goes away from zero; set when isDirected()
};
} // namespace

template <class F> static Format formatOf() {
  uint32_t magic = 0;
  if constexpr (!F::kWide)
    magic = F::kMagic;
  return {F::kFractionBits, F::kShift,  F::kBias, F::kSpecials, F::kHasSign,   F::kWide,
          F::kSignBit,      F::kLowest, F::kMax,  F::kExcess,   F::kMinNormal, magic};
}

static Format formatOf(Type type) {
  return llvm::TypeSwitch<Type, Format>(type)
      .Case<Float16Type>([](auto) { return formatOf<FormatF16>(); })
      .Case<BFloat16Type>([](auto) { return formatOf<FormatBF16>(); })
      .Case<Float8E4M3FNType>([](auto) { return formatOf<FormatF8E4M3FN>(); })
      .Case<Float8E5M2Type>([](auto) { return formatOf<FormatF8E5M2>(); })
      .Case<Float8E4M3FNUZType>([](auto) { return formatOf<FormatF8E4M3FNUZ>(); })
      .Case<Float8E5M2FNUZType>([](auto) { return formatOf<FormatF8E5M2FNUZ>(); })
      .Case<Float4E2M1FNType>([](auto) { return formatOf<FormatF4E2M1>(); })
      .Default([](Type) { return formatOf<FormatE8M0>(); });
}

//===----------------------------------------------------------------------===//
// To f32
//===----------------------------------------------------------------------===//

static Value decodeScale(BitOps ops, Value code, Type f32) {
  Value bits =
      ops.select(ops.eq(code, 0), ops.number(code.getType(), 0x00400000), ops.shl(code, 23));
  return ops.bitcast(ops.select(ops.eq(code, 0xff), ops.number(code.getType(), kQuietNanF32), bits),
                     f32);
}

/// The code's digits, moved to where f32 has them, are the number times a power of two: subnormal
/// codes become subnormal numbers, and one product makes up for the difference of the biases.
Value nvptx::decodeFloat(OpBuilder &builder, Location loc, Value code, Type from) {
  BitOps ops(builder, loc);
  Type f32 = builder.getF32Type();
  const Format format = formatOf(from);
  code = ops.zext(code, 32);
  if (format.specials == Specials::Scale)
    return decodeScale(ops, code, f32);
  Value magnitude = ops.band(code, format.lowest);
  Value digits = ops.bitcast(ops.shl(magnitude, format.shift), f32);
  Value scale =
      ops.bitcast(ops.number(builder.getI32Type(), int64_t(254 - format.bias) << 23), f32);
  Value bits = ops.bitsOf(ops.fmul(digits, scale));
  if (format.specials == Specials::Ieee) {
    Value infinite = ops.bor(bits, kInfinityF32);
    bits = ops.select(ops.ugt(magnitude, format.max), infinite, bits);
  }
  if (format.specials == Specials::NanOnly)
    bits = ops.select(ops.ugt(magnitude, format.max), kQuietNanF32, bits, bits.getType());
  Value sign = ops.shl(ops.band(code, format.signBit), 31 - llvm::Log2_32(format.signBit));
  bits = ops.bor(bits, sign);
  if (format.specials == Specials::Fnuz)
    bits = ops.select(ops.eq(code, format.signBit), kQuietNanF32, bits, bits.getType());
  return ops.bitcast(bits, f32);
}

//===----------------------------------------------------------------------===//
// From f32
//===----------------------------------------------------------------------===//

/// What rounding adds to a pattern whose lowest bits go; null for nothing.
Value Encoder::increment(Value magnitude) {
  const uint32_t lost = (uint32_t(1) << format.shift) - 1;
  if (round == Round::rne)
    return ops.add(ops.band(ops.lshr(magnitude, format.shift), 1), lost >> 1);
  return isDirected() ? ops.band(away, lost) : Value();
}

/// The code of a magnitude below the smallest normal number: adding 2^23 of the smallest numbers
/// leaves their count, rounded to nearest even, in the low bits.
Value Encoder::roundSmall(Value magnitude) {
  Value magic = ops.bitcast(ops.number(i32, format.magic), f32);
  Value value = ops.bitcast(magnitude, f32);
  Value sum = ops.fadd(value, magic);
  Value count = ops.sub(ops.bitsOf(sum), format.magic);
  if (round == Round::rne)
    return count;
  Value rounded = ops.fsub(sum, magic); // exact
  Value tooFar = ops.sext(ops.fcmp(LLVM::FCmpPredicate::ogt, rounded, value), 32);
  if (!isDirected())
    return ops.add(count, tooFar);
  Value tooNear = ops.sext(ops.fcmp(LLVM::FCmpPredicate::olt, rounded, value), 32);
  count = ops.add(count, ops.band(tooFar, ops.bnot(away)));
  return ops.sub(count, ops.band(tooNear, away));
}

/// The code of a magnitude, as if there were no largest number.
Value Encoder::roundMagnitude(Value magnitude) {
  if (format.specials == Specials::Scale) {
    // Between 2^-127 and 2^-126 f32 is subnormal: there the fraction is moved to where it belongs.
    Value least = ops.select(ops.ult(magnitude, 0x00400000), 0x00400000, magnitude, i32);
    Value moved = ops.shl(ops.sub(least, 0x00400000), 1);
    magnitude = ops.select(ops.ult(magnitude, 0x00800000), moved, magnitude);
  }
  Value bits = magnitude;
  if (Value more = increment(magnitude))
    bits = ops.add(magnitude, more);
  Value code = ops.lshr(bits, format.shift);
  if (uint32_t offset = uint32_t(127 - format.bias) << format.fractionBits)
    code = ops.sub(code, offset);
  if (format.isWide)
    return code;
  return ops.select(ops.ult(magnitude, format.minNormal), roundSmall(magnitude), code);
}

Value Encoder::limit(Value code, Value magnitude) {
  Value excess = ops.number(i32, saturates ? format.max : format.excess);
  if (!saturates && round != Round::rne && format.max != format.excess) {
    // Toward zero, only infinity itself is not finite.
    Value isBeyond = ops.eq(magnitude, kInfinityF32);
    if (isDirected())
      isBeyond = ops.bor(isBeyond, ops.ne(away, 0));
    excess = ops.select(isBeyond, excess, format.max);
  }
  return ops.select(ops.ugt(code, format.max), excess, code);
}

/// The code of a NaN, with the sign where the format has one.
Value Encoder::nanCode(Value magnitude, Value sign) {
  if (format.specials == Specials::Ieee) {
    const uint32_t fraction = (uint32_t(1) << format.fractionBits) - 1;
    const uint32_t quiet = (format.max + 1) | (uint32_t(1) << (format.fractionBits - 1));
    Value digits = ops.band(ops.lshr(magnitude, format.shift), fraction);
    return ops.bor(ops.bor(digits, quiet), sign);
  }
  Value code = ops.number(i32, format.excess);
  return format.specials == Specials::NanOnly ? ops.bor(code, sign) : code;
}

Value Encoder::encode(Value value) {
  Value bits = ops.bitsOf(value), magnitude = ops.band(bits, 0x7fffffff);
  Value negative = format.hasSign ? ops.ashr(bits, 31) : ops.number(i32, 0);
  if (isDirected())
    away = round == Round::down ? negative : ops.bnot(negative);
  Value code = limit(roundMagnitude(magnitude), magnitude);
  Value sign = ops.band(negative, format.signBit);
  if (format.specials == Specials::Fnuz) {
    Value isUnsigned = ops.bor(ops.eq(code, 0), ops.eq(code, format.excess));
    sign = ops.select(isUnsigned, 0, sign, i32);
  }
  Value isNan = ops.ugt(magnitude, kInfinityF32);
  return ops.select(isNan, nanCode(magnitude, sign), ops.bor(code, sign));
}

/// `value`, an f32, as the code of a narrow format in an i32, rounded once.
Value nvptx::encodeFloat(OpBuilder &builder, Location loc, Value value, Type to, Round round,
                         Overflow overflow) {
  const Format format = formatOf(to);
  return Encoder(BitOps(builder, loc), format, round, overflow, builder.getF32Type()).encode(value);
}
