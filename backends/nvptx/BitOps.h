//===- BitOps.h - short names for the operations of bit sequences -----------------===//
//
//   BitOps ops(builder, loc);
//   Value magnitude = ops.band(bits, 0x7fffffff), isNan = ops.ugt(magnitude, 0x7f800000);
//
// The second operand is a value of the first one's type or a number, which becomes a constant of
// that type. Nothing here wraps, shifts or compares in a way that LLVM leaves undefined.
//
//===----------------------------------------------------------------------===//
#pragma once

#include "mlir/Dialect/LLVMIR/LLVMDialect.h"
#include "mlir/IR/Builders.h"

namespace tk::nvptx {

class BitOps {
public:
  /// A value, or a number that takes the type of what it meets.
  struct Operand {
    Operand(mlir::Value value) : value(value) {}
    template <class T>
    requires std::is_integral_v<T> Operand(T number) : number(int64_t(number)) {}

    mlir::Value value;
    int64_t number = 0;
  };

  BitOps(mlir::OpBuilder &builder, mlir::Location loc) : builder(builder), loc(loc) {}

  mlir::Type integerType(unsigned bits) { return builder.getIntegerType(bits); }
  mlir::Value number(mlir::Type type, int64_t value) {
    unsigned bits = type.getIntOrFloatBitWidth();
    llvm::APInt pattern(bits, uint64_t(value), /*isSigned=*/false, /*implicitTrunc=*/true);
    return mlir::LLVM::ConstantOp::create(builder, loc, type,
                                          builder.getIntegerAttr(type, pattern));
  }
  mlir::Value floating(mlir::Type type, double value) {
    return mlir::LLVM::ConstantOp::create(builder, loc, type, builder.getFloatAttr(type, value));
  }

  mlir::Value add(mlir::Value a, Operand b) { return binary<mlir::LLVM::AddOp>(a, b); }
  mlir::Value sub(mlir::Value a, Operand b) { return binary<mlir::LLVM::SubOp>(a, b); }
  mlir::Value mul(mlir::Value a, Operand b) { return binary<mlir::LLVM::MulOp>(a, b); }
  mlir::Value band(mlir::Value a, Operand b) { return binary<mlir::LLVM::AndOp>(a, b); }
  mlir::Value bor(mlir::Value a, Operand b) { return binary<mlir::LLVM::OrOp>(a, b); }
  mlir::Value bxor(mlir::Value a, Operand b) { return binary<mlir::LLVM::XOrOp>(a, b); }
  mlir::Value bnot(mlir::Value a) { return bxor(a, -1); }
  /// By a number below the width.
  mlir::Value shl(mlir::Value a, unsigned count) {
    return count ? binary<mlir::LLVM::ShlOp>(a, count) : a;
  }
  mlir::Value lshr(mlir::Value a, unsigned count) {
    return count ? binary<mlir::LLVM::LShrOp>(a, count) : a;
  }
  mlir::Value ashr(mlir::Value a, unsigned count) {
    return count ? binary<mlir::LLVM::AShrOp>(a, count) : a;
  }

  mlir::Value fadd(mlir::Value a, mlir::Value b) {
    return mlir::LLVM::FAddOp::create(builder, loc, a.getType(), a, b);
  }
  mlir::Value fsub(mlir::Value a, mlir::Value b) {
    return mlir::LLVM::FSubOp::create(builder, loc, a.getType(), a, b);
  }
  mlir::Value fmul(mlir::Value a, mlir::Value b) {
    return mlir::LLVM::FMulOp::create(builder, loc, a.getType(), a, b);
  }

  mlir::Value eq(mlir::Value a, Operand b) { return icmp(mlir::LLVM::ICmpPredicate::eq, a, b); }
  mlir::Value ne(mlir::Value a, Operand b) { return icmp(mlir::LLVM::ICmpPredicate::ne, a, b); }
  mlir::Value ugt(mlir::Value a, Operand b) { return icmp(mlir::LLVM::ICmpPredicate::ugt, a, b); }
  mlir::Value ult(mlir::Value a, Operand b) { return icmp(mlir::LLVM::ICmpPredicate::ult, a, b); }
  mlir::Value fcmp(mlir::LLVM::FCmpPredicate predicate, mlir::Value a, mlir::Value b) {
    return mlir::LLVM::FCmpOp::create(builder, loc, predicate, a, b);
  }
  mlir::Value select(mlir::Value condition, Operand a, Operand b, mlir::Type type) {
    return mlir::LLVM::SelectOp::create(builder, loc, condition, valueOf(a, type),
                                        valueOf(b, type));
  }
  mlir::Value select(mlir::Value condition, mlir::Value a, Operand b) {
    return select(condition, a, b, a.getType());
  }

  mlir::Value sext(mlir::Value a, unsigned bits) {
    return cast<mlir::LLVM::SExtOp>(a, integerType(bits));
  }
  mlir::Value zext(mlir::Value a, unsigned bits) {
    return cast<mlir::LLVM::ZExtOp>(a, integerType(bits));
  }
  mlir::Value trunc(mlir::Value a, unsigned bits) {
    return cast<mlir::LLVM::TruncOp>(a, integerType(bits));
  }
  mlir::Value bitcast(mlir::Value a, mlir::Type type) {
    return cast<mlir::LLVM::BitcastOp>(a, type);
  }
  mlir::Value fpext(mlir::Value a, mlir::Type type) { return cast<mlir::LLVM::FPExtOp>(a, type); }
  mlir::Value fptrunc(mlir::Value a, mlir::Type type) {
    return cast<mlir::LLVM::FPTruncOp>(a, type);
  }
  /// The bits of a float as an integer.
  mlir::Value bitsOf(mlir::Value a) {
    return bitcast(a, integerType(a.getType().getIntOrFloatBitWidth()));
  }

private:
  mlir::Value valueOf(Operand operand, mlir::Type type) {
    return operand.value ? operand.value : number(type, operand.number);
  }
  template <class Op> mlir::Value binary(mlir::Value a, Operand b) {
    return Op::create(builder, loc, a, valueOf(b, a.getType()));
  }
  template <class Op> mlir::Value cast(mlir::Value a, mlir::Type type) {
    return a.getType() == type ? a : Op::create(builder, loc, type, a).getResult();
  }
  mlir::Value icmp(mlir::LLVM::ICmpPredicate predicate, mlir::Value a, Operand b) {
    return mlir::LLVM::ICmpOp::create(builder, loc, predicate, a, valueOf(b, a.getType()));
  }

  mlir::OpBuilder &builder;
  mlir::Location loc;
};

} // namespace tk::nvptx
