//===- TkDialect.cpp - registration, types and attributes of `tk` -----------===//

#include "ir/tk/TkDialect.h"
#include "llvm/ADT/StringSwitch.h"
#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/IR/Builders.h"
#include "mlir/IR/DialectImplementation.h"
#include "llvm/ADT/TypeSwitch.h"

using namespace mlir;
using namespace tk;

#include "ir/tk/TkDialect.cpp.inc"
#include "ir/tk/TkEnums.cpp.inc"

#define GET_ATTRDEF_CLASSES
#include "ir/tk/TkAttrs.cpp.inc"

#define GET_TYPEDEF_CLASSES
#include "ir/tk/TkTypes.cpp.inc"

void TkDialect::initialize() {
  addAttributes<
#define GET_ATTRDEF_LIST
#include "ir/tk/TkAttrs.cpp.inc"
      >();
  addTypes<
#define GET_TYPEDEF_LIST
#include "ir/tk/TkTypes.cpp.inc"
      >();
  addOperations<
#define GET_OP_LIST
#include "ir/tk/TkOps.cpp.inc"
      >();
}

unsigned tk::elementBits(Type type) {
  Type element = elementTypeOf(type);
  if (isa<PtrType>(element))
    return 64;
  if (element.isInteger(1))
    return 8;
  return element.getIntOrFloatBitWidth();
}

Type tk::withElementType(Type type, Type element) {
  auto tile = dyn_cast<RankedTensorType>(type);
  return tile ? RankedTensorType::get(tile.getShape(), element, tile.getEncoding()) : element;
}

/// What an address points at: whole bytes.
static bool isPointee(Type type) {
  return isa<Float16Type, BFloat16Type, Float32Type, Float64Type, Float8E4M3FNType, Float8E5M2Type,
             Float8E4M3FNUZType, Float8E5M2FNUZType, Float8E8M0FNUType, PtrType>(type) ||
         type.isInteger(1) || type.isInteger(8) || type.isInteger(16) || type.isInteger(32) ||
         type.isInteger(64);
}

/// Elements of a view may also lie two in a byte.
static bool isMemoryElement(Type type) {
  return isPointee(type) || isa<Float4E2M1FNType>(type) || type.isInteger(4);
}

LogicalResult PtrType::verify(function_ref<InFlightDiagnostic()> emitError, Type pointee,
                              int64_t aliasClass) {
  if (!isPointee(pointee))
    return emitError() << "pointee " << pointee << " is not an element of whole bytes";
  if (aliasClass < 0)
    return emitError() << "alias class " << aliasClass << " is negative";
  return success();
}

LogicalResult ViewType::verify(function_ref<InFlightDiagnostic()> emitError, Type element,
                               int64_t rank, int64_t aliasClass) {
  if (!isMemoryElement(element))
    return emitError() << "element " << element << " is not an element that memory holds";
  if (rank < 0 || rank > 16)
    return emitError() << "rank " << rank << " is not within 0 to 16";
  if (aliasClass < 0)
    return emitError() << "alias class " << aliasClass << " is negative";
  return success();
}

/// Operators of contract expressions and their numbers of operands (-1: two or more).
static int expressionArity(StringRef name) {
  return llvm::StringSwitch<int>(name)
      .Cases({"add", "mul", "min", "max", "and", "or"}, -1)
      .Cases({"sub", "div", "mod", "cdiv", "round_up"}, 2)
      .Cases({"eq", "ne", "lt", "le", "gt", "ge", "divides"}, 2)
      .Cases({"not", "next_pow2"}, 1)
      .Case("select", 3)
      .Default(0);
}

static LogicalResult verifyExpression(function_ref<InFlightDiagnostic()> emitError, Attribute expr,
                                      int depth = 0) {
  if (depth > 32)
    return emitError() << "a contract expression nests deeper than 32";
  if (isa<IntegerAttr, StringAttr, BoolAttr>(expr))
    return success();
  auto list = dyn_cast<ArrayAttr>(expr);
  auto op = list && !list.empty() ? dyn_cast<StringAttr>(list[0]) : StringAttr();
  int arity = op ? expressionArity(op.getValue()) : 0;
  if (arity == 0 || (arity > 0 ? int(list.size()) != arity + 1 : list.size() < 3))
    return emitError() << "contract expression " << expr << " is not well formed";
  for (Attribute operand : list.getValue().drop_front())
    if (failed(verifyExpression(emitError, operand, depth + 1)))
      return failure();
  return success();
}

/// Of `require` and `variants`: dictionaries of an expression and its text, facts with a number.
static LogicalResult verifyConditions(function_ref<InFlightDiagnostic()> emitError, ArrayAttr list, bool areFacts) {
  for (Attribute entry : list) {
    auto condition = dyn_cast<DictionaryAttr>(entry);
    if (!condition || !condition.get("expr") || !condition.getAs<StringAttr>("text") ||
        (areFacts && !condition.getAs<IntegerAttr>("index")))
      return emitError() << "contract's condition " << entry << " lacks "
                         << (areFacts ? "expr, text or index" : "expr or text");
    if (failed(verifyExpression(emitError, condition.get("expr"))))
      return failure();
  }
  return success();
}

LogicalResult ContractAttr::verify(function_ref<InFlightDiagnostic()> emitError,
                                   DictionaryAttr fields) {
  if (!fields.getAs<StringAttr>("kernel"))
    return emitError() << "contract lacks the string `kernel`";
  for (StringRef name : {"args", "grid", "require", "disjoint"})
    if (!fields.getAs<ArrayAttr>(name))
      return emitError() << "contract lacks the list `" << name << "`";
  for (StringRef name : {"instance", "options"})
    if (!fields.getAs<DictionaryAttr>(name))
      return emitError() << "contract lacks the dictionary `" << name << "`";
  auto grid = fields.getAs<ArrayAttr>("grid");
  if (grid.size() != 3)
    return emitError() << "contract's grid has " << grid.size() << " expressions, needs 3";
  for (Attribute expr : grid)
    if (failed(verifyExpression(emitError, expr)))
      return failure();
  auto facts = fields.get("variants");
  if (facts && !isa<ArrayAttr>(facts))
    return emitError() << "contract's `variants` is no list";
  if (failed(verifyConditions(emitError, fields.getAs<ArrayAttr>("require"), /*areFacts=*/false)) ||
      (facts && failed(verifyConditions(emitError, cast<ArrayAttr>(facts), /*areFacts=*/true))))
    return failure();
  for (Attribute entry : fields.getAs<ArrayAttr>("args")) {
    auto arg = dyn_cast<DictionaryAttr>(entry);
    if (!arg || !arg.getAs<StringAttr>("name") || !arg.getAs<StringAttr>("kind") ||
        !arg.getAs<StringAttr>("dtype"))
      return emitError() << "contract's argument " << entry << " lacks name, kind or dtype";
  }
  return success();
}
