//===- MemoryLowerer.cpp - places and pointers as arguments, access rights, options ----===//

#include "frontend/MemoryLowerer.h"

using namespace mlir;
using namespace tk;

//===----------------------------------------------------------------------===//
// Targets
//===----------------------------------------------------------------------===//

RunType MemoryTarget::type() const {
  if (place)
    return {param->dtype, false, 0, place->shape};
  return pointer.type.pointee();
}

bool MemoryLowerer::evalTarget(CallArgs &args, const ast::Expr *expr) {
  args.target = std::make_shared<MemoryTarget>();
  MemoryTarget &target = *args.target;
  target.range = expr->range;
  auto *subscript = dyn_cast<ast::Subscript>(expr);
  Val value = walk.eval(subscript ? subscript->base : expr);
  if (subscript && value.kind == Val::Kind::Tensor) {
    target.param = value.tensor;
    target.place = walk.evalPlace(subscript, value.tensor);
    return target.place.has_value();
  }
  if (subscript)
    value = walk.subscriptOf(value, subscript);
  if (value.isPoison())
    return false;
  if (!value.isPointer()) {
    Report report = error<diag::TypeMismatch>(
        expr->range, "the first argument of `" + args.builtin->name.str() + "`",
        "a pointer or a place", value.describe());
    if (value.kind == Val::Kind::Tensor)
      report.help("a place has one index an axis: `x[i +: BLOCK]`");
    return false;
  }
  target.param = walk.paramOf(value);
  target.pointer = value;
  return true;
}

bool MemoryLowerer::mayRead(const MemoryTarget &target) {
  return target.isTable() ? walk.requirePresent(*target.param, target.range)
                          : walk.checkReadable(*target.param, target.range);
}

bool MemoryLowerer::mayWrite(const MemoryTarget &target, StringRef what) {
  if (!target.isTable())
    return walk.checkWritable(*target.param, target.range);
  error<diag::WritesAddresses>(target.range, what, target.pointer.type.str())
      .note(target.param->decl->range, "the table of addresses is declared here")
      .help("`load` the address, and write through it");
  return false;
}

bool MemoryLowerer::refuseFill(const MemoryTarget &target, StringRef what) {
  if (!target.place || target.place->fill.kind == Val::Kind::None)
    return true;
  error<diag::UnknownArgument>(target.range, "a place that is " + what.str(), "fill");
  return false;
}

//===----------------------------------------------------------------------===//
// Options
//===----------------------------------------------------------------------===//

bool MemoryLowerer::addOption(Val &slot, const Val &given, SourceRange range, StringRef name) {
  if (given.kind == Val::Kind::None)
    return true;
  if (slot.kind != Val::Kind::None) {
    error<diag::DuplicateArgument>(range, "a place", name);
    return false;
  }
  slot = given;
  return true;
}

/// `"a", "b" or "c"`.
static std::string listOf(ArrayRef<StringRef> names) {
  std::string text;
  for (size_t i = 0; i < names.size(); ++i)
    text += (i == 0 ? "" : i + 1 == names.size() ? " or " : ", ") + ("\"" + names[i] + "\"").str();
  return text;
}

std::optional<StringRef> MemoryLowerer::enumerator(const CallArgs &args, size_t slot,
                                                   StringRef name, ArrayRef<StringRef> allowed,
                                                   StringRef otherwise) {
  const Val &value = args.values[slot];
  if (value.kind == Val::Kind::None)
    return otherwise;
  if (value.isPoison())
    return std::nullopt;
  bool text = value.kind == Val::Kind::String;
  const auto *found = text ? llvm::find(allowed, StringRef(value.text)) : allowed.end();
  if (found != allowed.end())
    return *found;
  Report report = error<diag::BadEnumerator>(args.rangeOf(slot), name, args.builtin->name,
                                             listOf(allowed), text ? value.str() : value.describe());
  // Triton writes `.cg` and `evict_first`.
  StringRef plain = StringRef(value.text).ltrim('.');
  plain.consume_front("evict_");
  if (text && llvm::is_contained(allowed, plain))
    report.help("write `" + name + "=\"" + plain + "\"`");
  return std::nullopt;
}

std::optional<bool> MemoryLowerer::truth(const CallArgs &args, size_t slot, StringRef name) {
  const Val &value = args.values[slot];
  if (value.kind == Val::Kind::None)
    return false;
  if (value.isBool())
    return value.boolean;
  if (!value.isPoison())
    error<diag::BadEnumerator>(args.rangeOf(slot), name, args.builtin->name, "true or false",
                               value.describe());
  return std::nullopt;
}

std::optional<EvictHintAttr> MemoryLowerer::evictHint(const CallArgs &args, size_t slot) {
  std::optional<StringRef> name = enumerator(args, slot, "evict", {"first", "last", "normal"}, "");
  if (!name || name->empty())
    return name ? std::optional<EvictHintAttr>(EvictHintAttr()) : std::nullopt;
  return EvictHintAttr::get(&walk.context, *symbolizeEvictHint(*name));
}

std::optional<AccessHints> MemoryLowerer::hints(const CallArgs &args, size_t cache, size_t evict,
                                                ArrayRef<StringRef> caches) {
  std::optional<StringRef> name = enumerator(args, cache, "cache", caches, "");
  std::optional<EvictHintAttr> hint = evictHint(args, evict);
  if (!name || !hint)
    return std::nullopt;
  AccessHints result;
  result.evict = *hint;
  if (!name->empty())
    result.cache = CacheHintAttr::get(&walk.context, *symbolizeCacheHint(*name));
  return result;
}
