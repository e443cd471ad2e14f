//===- LowerArith.cpp - the rules of numbers ----------------------------------===//
//
// A compile-time number takes the type of what it meets; narrower meets wider of the same kind;
// f16 meets bf16 in f32; nothing narrows and integers meet floats only by `.to(T)`.
//
//===----------------------------------------------------------------------===//

#include "frontend/TileLowerer.h"
#include "llvm/ADT/StringExtras.h"
#include "mlir/Dialect/Arith/IR/Arith.h"

using namespace mlir;
using namespace tk;

//===----------------------------------------------------------------------===//
// Common types
//===----------------------------------------------------------------------===//

/// The type of a number that meets nothing: i64, f32, i1.
Dtype Lowerer::defaultDtype(const Val &number) {
  if (number.isRun())
    return number.type.dtype;
  return number.isInt() ? Dtype::I64 : number.isBool() ? Dtype::I1 : Dtype::F32;
}

std::optional<Dtype> Lowerer::adaptConst(const Val &number, Dtype dtype, SourceRange range,
                                         StringRef what) {
  auto refuse = [&]() -> std::optional<Dtype> {
    error<diag::NumberRange>(range, number.str(), dtypeName(dtype));
    return std::nullopt;
  };
  if (number.isBool() != (dtype == Dtype::I1)) {
    error<diag::OperatorType>(range, what,
                              number.isBool() ? "a truth value and " + dtypeName(dtype).str()
                                              : "i1 and the number " + number.str())
        .help("a truth value becomes a number by `.to(i32)`, a number one by a comparison");
    return std::nullopt;
  }
  if (number.isBool())
    return dtype;
  if (isFloat(dtype)) {
    APFloat value = number.isInt() ? floatFromInt(number.integer) : *number.real;
    return fits(value, dtype) ? std::optional<Dtype>(dtype) : refuse();
  }
  if (number.kind == Val::Kind::Float) {
    error<diag::IntMeetsFloat>(range, what, dtypeName(dtype), number.str())
        .help("convert the integer: `.to(f32)`");
    return std::nullopt;
  }
  return fits(number.integer, dtype) ? std::optional<Dtype>(dtype) : refuse();
}

bool Lowerer::adviseFloatStart(Report &report, SourceRange origin) {
  StringRef text = origin.size() ? reporter.textAt(origin) : "";
  if (text.empty() || !llvm::all_of(text, llvm::isDigit))
    return false;
  report.note(origin, "it begins as an integer here")
      .help("begin with a float: `" + text + ".0`")
      .fix({origin.end, origin.end}, ".0");
  return true;
}

std::optional<Dtype> Lowerer::commonRun(Dtype a, Dtype b, SourceRange range, StringRef what,
                                        SourceRange integerOrigin) {
  if (a == b)
    return a;
  if (isStorage(a) || isStorage(b)) {
    error<diag::StorageMeets>(range, what, dtypeName(a), dtypeName(b))
        .help("convert one of them, or both: `.to(" +
              dtypeName(isStorage(a) ? (isStorage(b) ? Dtype::F32 : b) : a) + ")`");
    return std::nullopt;
  }
  if (isFloat(a) && isFloat(b)) {
    if (dtypeBits(a) == dtypeBits(b))
      return Dtype::F32; // f16 and bf16
    return dtypeBits(a) > dtypeBits(b) ? a : b;
  }
  if (a == Dtype::I1 || b == Dtype::I1) {
    error<diag::OperatorType>(range, what, dtypeName(a).str() + " and " + dtypeName(b).str())
        .help("a truth value becomes a number by `.to(i32)`");
    return std::nullopt;
  }
  if (isFloat(a) != isFloat(b)) {
    Dtype integer = isFloat(a) ? b : a, real = isFloat(a) ? a : b;
    Report report = error<diag::IntMeetsFloat>(range, what, dtypeName(integer), dtypeName(real));
    if (!adviseFloatStart(report, integerOrigin))
      report.help("convert the integer: `.to(" + dtypeName(real) + ")`")
          .fixSuffix(isFloat(a) ? sides.second : sides.first, ".to(" + dtypeName(real) + ")");
    return std::nullopt;
  }
  if (isSignedInteger(a) == isSignedInteger(b))
    return dtypeBits(a) > dtypeBits(b) ? a : b;
  Dtype isSigned = isSignedInteger(a) ? a : b, isUnsigned = isSignedInteger(a) ? b : a;
  if (dtypeBits(isSigned) > dtypeBits(isUnsigned))
    return isSigned;
  error<diag::MixedSigns>(range, what, dtypeName(isSigned), dtypeName(isUnsigned))
      .help("convert one of them: `.to(" + dtypeName(isSigned) + ")` or `.to(" +
            dtypeName(isUnsigned) + ")`");
  return std::nullopt;
}

std::optional<Dtype> Lowerer::commonDtype(const Val &lhs, const Val &rhs, SourceRange range,
                                          StringRef what) {
  if (lhs.isRun() && rhs.isRun())
    return commonRun(lhs.type.dtype, rhs.type.dtype, range, what,
                     isFloat(lhs.type.dtype) ? rhs.origin : lhs.origin);
  if (lhs.isRun())
    return adaptConst(rhs, lhs.type.dtype, range, what);
  if (rhs.isRun())
    return adaptConst(lhs, rhs.type.dtype, range, what);
  if (lhs.isBool() != rhs.isBool())
    return adaptConst(lhs.isBool() ? lhs : rhs, Dtype::I64, range, what);
  bool real = lhs.kind == Val::Kind::Float || rhs.kind == Val::Kind::Float;
  return real ? Dtype::F32 : defaultDtype(lhs);
}

std::optional<Shape> Lowerer::broadcast(const Val &lhs, const Val &rhs, SourceRange range,
                                        StringRef what) {
  ArrayRef<int64_t> a = lhs.shape(), b = rhs.shape();
  if (a.empty() || b.empty())
    return Shape(a.empty() ? b : a);
  Shape result;
  bool fits = a.size() == b.size();
  for (size_t i = 0; fits && i < a.size(); ++i) {
    fits = a[i] == b[i] || a[i] == 1 || b[i] == 1;
    result.push_back(std::max(a[i], b[i]));
  }
  if (!fits) {
    Report report = error<diag::ShapeMismatch>(range, what, describeShape(a), describeShape(b));
    report.note(lhs.origin, describeShape(a) + " comes from here");
    report.note(rhs.origin, describeShape(b) + " comes from here");
    if (a.size() != b.size())
      report.help("shapes of different rank meet by a new axis: `[:, None]` or `[None, :]`");
    return std::nullopt;
  }
  if (!checkTile(result, range))
    return std::nullopt;
  return result;
}

std::optional<RunType> Lowerer::commonType(const Val &lhs, const Val &rhs, SourceRange range,
                                           StringRef what) {
  std::optional<Dtype> dtype = commonDtype(lhs, rhs, range, what);
  std::optional<Shape> shape = dtype ? broadcast(lhs, rhs, range, what) : std::nullopt;
  if (!shape)
    return std::nullopt;
  return RunType{*dtype, false, 0, *shape};
}

bool Lowerer::needArithmetic(const Val &value, SourceRange range, StringRef what) {
  if (!needNumber(value, range, what))
    return false;
  if (!value.isRun() || !isStorage(value.type.dtype))
    return true;
  Dtype dtype = value.type.dtype;
  error<diag::StorageOperand>(range, what, dtypeName(dtype))
      .help("convert it first: `.to(" +
            dtypeName(isFloat(dtype)           ? Dtype::F32
                      : isSignedInteger(dtype) ? Dtype::I8
                                               : Dtype::U8) +
            ")`");
  return false;
}

bool Lowerer::needNumber(const Val &value, SourceRange range, StringRef what) {
  if (value.isPoison())
    return false;
  if (value.isNumeric())
    return true;
  if (value.kind == Val::Kind::Tensor)
    error<diag::OperatorType>(range, what, "a tensor as a whole")
        .help("read a tile of it: `x[i +: BLOCK]`");
  else
    error<diag::OperatorType>(range, what, value.describe());
  return false;
}

//===----------------------------------------------------------------------===//
// Operators
//===----------------------------------------------------------------------===//

/// Whether an operator works on numbers of a type.
bool Lowerer::checkOperator(ast::BinaryOp op, Dtype dtype, const Val &lhs, const Val &rhs,
                            SourceRange range, SourceRange opRange) {
  using ast::BinaryOp;
  bool bitwise = op == BinaryOp::BitAnd || op == BinaryOp::BitOr || op == BinaryOp::BitXor;
  if (op == BinaryOp::Div && isInteger(dtype)) {
    error<diag::IntDivision>(range, lhs.str(), rhs.str())
        .help("write `//` for the truncated quotient, or `.to(f32)` on both for a fraction")
        .fix(opRange, spelling(ast::BinaryOp::IntDiv));
    return false;
  }
  if (dtype == Dtype::I1 ? bitwise : isInteger(dtype))
    return true;
  if (isFloat(dtype) &&
      (op == BinaryOp::Add || op == BinaryOp::Sub || op == BinaryOp::Mul || op == BinaryOp::Div))
    return true;
  Report report = error<diag::OperatorType>(range, spelling(op), dtypeName(dtype));
  if (op == BinaryOp::IntDiv)
    report.help("floats are divided by `/`").fix(opRange, spelling(BinaryOp::Div));
  else if (dtype == Dtype::I1)
    report.help("a truth value becomes a number by `.to(i32)`");
  return false;
}

Val Lowerer::constArithmetic(ast::BinaryOp op, const Val &lhs, const Val &rhs, SourceRange range,
                             SourceRange opRange) {
  std::optional<Dtype> dtype = commonDtype(lhs, rhs, range, spelling(op));
  if (!dtype || !checkOperator(op, *dtype, lhs, rhs, range, opRange))
    return Val::poison();
  if (lhs.isBool()) {
    bool a = lhs.boolean, b = rhs.boolean;
    return Val::ofBool(op == ast::BinaryOp::BitAnd  ? a && b
                       : op == ast::BinaryOp::BitOr ? a || b
                                                    : a != b);
  }
  if (lhs.isInt() && rhs.isInt()) {
    ConstResult<Int128> result = tk::evalInt(op, lhs.integer, rhs.integer);
    if (result.error == ConstError::None)
      return Val::ofInt(result.value);
    StringRef why = result.error == ConstError::DivisionByZero ? "divides by zero"
                    : result.error == ConstError::BadShift     ? "shifts by a negative count"
                                                               : "does not fit 128 bits";
    error<diag::ConstArithmetic>(range, lhs.str(), spelling(op), rhs.str(), why);
    return Val::poison();
  }
  auto real = [](const Val &v) { return v.isInt() ? floatFromInt(v.integer) : *v.real; };
  return Val::ofFloat(evalFloat(op, real(lhs), real(rhs)).value);
}

Val Lowerer::pointerArithmetic(ast::BinaryOp op, const Val &lhs, const Val &rhs,
                               SourceRange range) {
  bool swapped = !lhs.isPointer();
  const Val &pointer = swapped ? rhs : lhs;
  const Val &offset = swapped ? lhs : rhs;
  bool add = op == ast::BinaryOp::Add, sub = op == ast::BinaryOp::Sub && !swapped;
  bool integer =
      offset.isInt() || (offset.isRun() && !offset.type.pointer && isInteger(offset.type.dtype));
  if ((!add && !sub) || !integer) {
    error<diag::OperatorType>(range, spelling(op), lhs.describe() + " and " + rhs.describe())
        .help("a pointer moves by an integer: `p + i`, `p - i`");
    return Val::poison();
  }
  std::optional<Shape> shape = broadcast(lhs, rhs, range, spelling(op));
  if (!shape)
    return Val::poison();
  // Small signed integers are i32 lanes; everything else needs 64 bits.
  bool narrow =
      offset.isRun() && isSignedInteger(offset.type.dtype) && dtypeBits(offset.type.dtype) <= 32;
  Dtype dtype = narrow ? Dtype::I32 : Dtype::I64;
  if (narrow)
    warnNarrowProduct(offset, range, "moves a pointer");
  if (offset.isInt() && !adaptConst(offset, dtype, range, spelling(op)))
    return Val::poison();
  Value moved = materialize(offset, dtype, *shape, range);
  if (sub) {
    Value zero = constant(Val::ofInt(0), dtype, *shape, range);
    moved = arith::SubIOp::create(builder, loc(range), zero, moved);
  }
  Value base = broadcastTo(pointer.value, pointer.type.shape, *shape, range);
  Value result = PtrAddOp::create(builder, loc(range), base.getType(), base, moved);
  RunType type = pointer.type;
  type.shape = *shape;
  return Val::run(result, type);
}

/// Whether `inner` lies in the source text of `outer`.
static bool isWithin(Location inner, Location outer) {
  auto place = [](Location loc) {
    auto call = dyn_cast<CallSiteLoc>(loc);
    return dyn_cast<FileLineColRange>(call ? call.getCallee() : loc);
  };
  FileLineColRange in = place(inner), out = place(outer);
  if (!in || !out || in.getFilename() != out.getFilename())
    return false;
  return std::pair(in.getStartLine(), in.getStartColumn()) >= std::pair(out.getStartLine(), out.getStartColumn()) &&
         std::pair(in.getEndLine(), in.getEndColumn()) <= std::pair(out.getEndLine(), out.getEndColumn());
}

/// `sum + a @ b` is one product whose accumulator is `sum`; null where neither side is a product that
/// the sum's own text makes.
static Value accumulate(OpBuilder &builder, Location at, Value a, Value b) {
  for (auto [product, sum] : {std::pair(b, a), std::pair(a, b)}) {
    auto dot = product.getDefiningOp<DotOp>();
    if (!dot || !dot->use_empty() || dot.getType() != sum.getType() || !isWithin(dot.getLoc(), at) ||
        elementTypeOf(dot.getType()).isF16() || !(matchPattern(dot.getAcc(), m_AnyZeroFloat()) || matchPattern(dot.getAcc(), m_Zero())))
      continue;
    auto made = cast<DotOp>(builder.clone(*dot));
    made.getAccMutable().assign(sum);
    dot.erase();
    return made;
  }
  return {};
}

Val Lowerer::emitArithmetic(ast::BinaryOp op, const Val &lhs, const Val &rhs, Dtype dtype,
                            ArrayRef<int64_t> shape, SourceRange range) {
  using ast::BinaryOp;
  Value a = materialize(lhs, dtype, shape, range), b = materialize(rhs, dtype, shape, range);
  Location at = loc(range);
  bool real = isFloat(dtype);
  UnitAttr isUnsigned = isUnsignedLike(dtype) ? builder.getUnitAttr() : UnitAttr();
  auto simple = [&](auto realOp, auto intOp) -> Value {
    return real ? Value(decltype(realOp)::create(builder, at, a, b))
                : Value(decltype(intOp)::create(builder, at, a, b));
  };
  auto partial = [&](auto op) -> Value {
    return decltype(op)::create(builder, at, a.getType(), a, b, isUnsigned, NumAttr());
  };
  Value result;
  switch (op) {
  case BinaryOp::Add:
    result = accumulate(builder, at, a, b);
    if (!result)
      result = simple(arith::AddFOp(), arith::AddIOp());
    break;
  case BinaryOp::Sub:
    result = simple(arith::SubFOp(), arith::SubIOp());
    break;
  case BinaryOp::Mul:
    result = simple(arith::MulFOp(), arith::MulIOp());
    break;
  case BinaryOp::Div:
  case BinaryOp::IntDiv:
    result = partial(DivOp());
    break;
  case BinaryOp::Rem:
    result = partial(RemOp());
    break;
  case BinaryOp::Shl:
    result = ShlOp::create(builder, at, a.getType(), a, b, UnitAttr(), NumAttr());
    break;
  case BinaryOp::Shr:
    result = partial(ShrOp());
    break;
  case BinaryOp::BitAnd:
    result = arith::AndIOp::create(builder, at, a, b);
    break;
  case BinaryOp::BitOr:
    result = arith::OrIOp::create(builder, at, a, b);
    break;
  case BinaryOp::BitXor:
    result = arith::XOrIOp::create(builder, at, a, b);
    break;
  case BinaryOp::MatMul:
    llvm_unreachable("a product is TileLowerer's");
  }
  return Val::run(result, {dtype, false, 0, Shape(shape)});
}

Val Lowerer::arithmetic(ast::BinaryOp op, const Val &lhs, const Val &rhs, SourceRange range,
                        SourceRange opRange) {
  if (lhs.isPoison() || rhs.isPoison())
    return Val::poison();
  if (op == ast::BinaryOp::MatMul)
    return TileLowerer(*this).product(lhs, rhs, range);
  if (op == ast::BinaryOp::Add && lhs.kind == Val::Kind::Tensor &&
      lhs.tensor->staticExtents.size() == 1 && rhs.isNumeric() &&
      join(sides.first, sides.second) == range) {
    std::string place =
        (source.getText(sides.first) + "[" + source.getText(sides.second) + "]").str();
    error<diag::OperatorType>(range, "+", "a tensor as a whole")
        .help("addresses are not computed: write `" + place + "`")
        .fix(range, place);
    return Val::poison();
  }
  Val result;
  if (lhs.isPointer() || rhs.isPointer())
    result = pointerArithmetic(op, lhs, rhs, range);
  else if (!needArithmetic(lhs, range, spelling(op)) ||
           !needArithmetic(rhs, range, spelling(op)))
    return Val::poison();
  else if (!lhs.isRun() && !rhs.isRun())
    result = constArithmetic(op, lhs, rhs, range, opRange);
  else {
    std::optional<Dtype> dtype = commonDtype(lhs, rhs, range, spelling(op));
    if (!dtype || !checkOperator(op, *dtype, lhs, rhs, range, opRange))
      return Val::poison();
    std::optional<Shape> shape = broadcast(lhs, rhs, range, spelling(op));
    if (!shape)
      return Val::poison();
    result = emitArithmetic(op, lhs, rhs, *dtype, *shape, range);
  }
  result.origin = range;
  return result;
}

static arith::CmpIPredicate intPredicate(ast::CompareOp op, bool isUnsigned) {
  using P = arith::CmpIPredicate;
  switch (op) {
  case ast::CompareOp::Lt:
    return isUnsigned ? P::ult : P::slt;
  case ast::CompareOp::Gt:
    return isUnsigned ? P::ugt : P::sgt;
  case ast::CompareOp::Le:
    return isUnsigned ? P::ule : P::sle;
  case ast::CompareOp::Ge:
    return isUnsigned ? P::uge : P::sge;
  case ast::CompareOp::Eq:
    return P::eq;
  case ast::CompareOp::Ne:
    return P::ne;
  }
  return P::eq;
}

/// Ordered but `!=`, which is true of NaN.
static arith::CmpFPredicate floatPredicate(ast::CompareOp op) {
  using P = arith::CmpFPredicate;
  switch (op) {
  case ast::CompareOp::Lt:
    return P::OLT;
  case ast::CompareOp::Gt:
    return P::OGT;
  case ast::CompareOp::Le:
    return P::OLE;
  case ast::CompareOp::Ge:
    return P::OGE;
  case ast::CompareOp::Eq:
    return P::OEQ;
  case ast::CompareOp::Ne:
    return P::UNE;
  }
  return P::OEQ;
}

Val Lowerer::compare(ast::CompareOp op, const Val &lhs, const Val &rhs, SourceRange range) {
  if (lhs.isAggregate() || rhs.isAggregate())
    return compareAggregates(op, lhs, rhs, range);
  if (lhs.isPoison() || rhs.isPoison())
    return Val::poison();
  bool equality = op == ast::CompareOp::Eq || op == ast::CompareOp::Ne;
  bool symbols = equality && lhs.kind == rhs.kind &&
                 (lhs.kind == Val::Kind::Dtype || lhs.kind == Val::Kind::String || lhs.isBool());
  if (symbols)
    return Val::ofBool(sameValue(lhs, rhs) == (op == ast::CompareOp::Eq));
  if (!needArithmetic(lhs, range, spelling(op)) || !needArithmetic(rhs, range, spelling(op)))
    return Val::poison();
  std::optional<Dtype> dtype = commonDtype(lhs, rhs, range, spelling(op));
  if (!dtype)
    return Val::poison();
  if (*dtype == Dtype::I1 && !equality) {
    error<diag::OperatorType>(range, spelling(op), "i1");
    return Val::poison();
  }
  if (lhs.isInt() && rhs.isInt())
    return Val::ofBool(compareInt(op, lhs.integer, rhs.integer));
  auto real = [](const Val &v) { return v.isInt() ? floatFromInt(v.integer) : *v.real; };
  if (!lhs.isRun() && !rhs.isRun())
    return Val::ofBool(compareFloat(op, real(lhs), real(rhs)));
  std::optional<Shape> shape = broadcast(lhs, rhs, range, spelling(op));
  if (!shape)
    return Val::poison();
  Value a = materialize(lhs, *dtype, *shape, range), b = materialize(rhs, *dtype, *shape, range);
  Value result = isFloat(*dtype)
                     ? Value(arith::CmpFOp::create(builder, loc(range), floatPredicate(op), a, b))
                     : Value(arith::CmpIOp::create(builder, loc(range),
                                                   intPredicate(op, isUnsignedLike(*dtype)), a, b));
  return Val::run(result, {Dtype::I1, false, 0, *shape});
}
