//===- RunAdvice.cpp - what one could write for an argument of tkc run -----------------===//

#include "driver/RunAdvice.h"
#include "frontend/SemaScope.h"
#include "llvm/ADT/StringExtras.h"

using namespace mlir;
using namespace tk;
using namespace tk::interp;
using llvm::StringRef;

/// An extent of which nothing is known: most tiles divide it or are divided by it.
static constexpr int64_t kGuessedExtent = 64;

StringRef tk::nameOfKernel(KernelOp kernel) {
  auto name = kernel.getContract().getFields().getAs<StringAttr>("kernel");
  return name ? name.getValue() : kernel.getSymName();
}

Names tk::guessExtents(KernelOp kernel, Names names) {
  for (auto entry :
       kernel.getContract().getFields().getAs<ArrayAttr>("args").getAsRange<DictionaryAttr>())
    if (auto extents = entry.getAs<ArrayAttr>("extents"))
      for (Attribute extent : extents)
        if (auto name = dyn_cast<StringAttr>(extent))
          names.try_emplace(name.getValue().str(), kGuessedExtent);
  return names;
}

static std::string joinSides(ArrayRef<int64_t> sides) {
  return llvm::join(llvm::map_range(sides, [](int64_t side) { return std::to_string(side); }), "x");
}

std::string tk::exampleExtents(DictionaryAttr entry, const Names &names) {
  auto list = entry ? entry.getAs<ArrayAttr>("extents") : ArrayAttr();
  if (!list) // what a pointer points to
    return ":" + std::to_string(kGuessedExtent);
  std::vector<int64_t> sides;
  std::string unused;
  for (Attribute extent : list)
    sides.push_back(std::max<int64_t>(evaluate(extent, names, unused).value_or(kGuessedExtent), 1));
  return sides.empty() ? "" : ":" + joinSides(sides);
}

static bool follow(DictionaryAttr entry, const Names &known) {
  auto list = entry.getAs<ArrayAttr>("extents");
  std::string unused;
  return list && llvm::all_of(list, [&](Attribute extent) {
           return evaluate(extent, known, unused).has_value();
         });
}

std::string tk::exampleWord(KernelOp kernel, unsigned index, const Names &names,
                            const Names &known) {
  DictionaryAttr entry = kernel.getArgContract(index);
  auto text = [&](StringRef key) {
    auto value = entry.getAs<StringAttr>(key);
    return value ? value.getValue() : StringRef();
  };
  std::string name = text("name").str();
  std::optional<DType> dtype = parseDType(text("dtype"));
  const bool isReal = dtype && isFloat(*dtype);
  if (text("kind") == "scalar") {
    if (auto found = names.find(name); found != names.end() && !isReal)
      return name + "=" + std::to_string(found->second);
    return name + (isReal ? "=1.0" : dtype == DType::i1 ? "=true" : "=1");
  }
  std::string rule = text("access") == "out" ? "empty" : isReal ? "randn" : "zeros";
  std::string word = rule + (follow(entry, known) ? "" : exampleExtents(entry, names));
  auto pointer = dyn_cast<PtrType>(kernel.getArgumentTypes()[index]);
  if (pointer && isa<PtrType>(pointer.getPointee()))
    word = "'[" + word + ", " + word + "]'";
  return name + "=" + word;
}

/// `word` with `to` for its part `from`.
static std::string withPart(const ArgWord &word, const std::string &from, StringRef to) {
  SmallVector<StringRef> parts;
  StringRef(word.text).split(parts, ':');
  auto found = llvm::find(parts, StringRef(from));
  if (found == parts.end())
    return "";
  *found = to;
  return llvm::join(parts, ":");
}

std::string tk::withDType(const ArgWord &word, StringRef dtype) {
  return word.dtype.empty() ? "" : withPart(word, word.dtype, dtype);
}

std::string tk::withExtents(const ArgWord &word, ArrayRef<int64_t> extents) {
  return word.extents ? withPart(word, joinSides(*word.extents), joinSides(extents)) : "";
}

StringRef tk::nearName(StringRef name, ArrayRef<StringRef> names) {
  StringRef near = nearestName(name, names);
  return near.size() > 1 || near.equals_insensitive(name) ? near : "";
}

std::string tk::listArguments(ArrayRef<std::string> names) {
  std::string list;
  for (auto [i, name] : llvm::enumerate(names))
    list += (i == 0 ? "" : i + 1 == names.size() ? " and " : ", ") + ("`" + name + "`");
  return (names.size() == 1 ? "the argument " : "the arguments ") + list;
}
