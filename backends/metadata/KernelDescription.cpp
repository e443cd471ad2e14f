//===- KernelDescription.cpp - the contract of a kernel as JSON --------------------------===//

#include "backends/metadata/KernelDescription.h"
#include "backends/metadata/Metadata.h"
#include "ir/tk/Launch.h"
#include "llvm/ADT/StringSet.h"
#include "llvm/Support/FormatVariadic.h"
#include "llvm/Support/MathExtras.h"

using namespace mlir;
using namespace tk;
using llvm::json::Array;
using llvm::json::Object;

/// Of the loop with the most; one where none is pipelined.
static int64_t pipelinedStages(KernelOp kernel) {
  auto stages = kernel->getAttrOfType<IntegerAttr>("tkg.stages");
  return stages ? stages.getInt() : 1;
}

Object tk::describeConfiguration(KernelOp kernel) {
  DictionaryAttr contract = kernel.getContract().getFields();
  Object config;
  if (auto values = contract.getAs<DictionaryAttr>("config"))
    config = std::move(*attributeToJson(values).getAsObject());
  auto options = contract.getAs<DictionaryAttr>("options");
  config["warps"] = warpsOf(kernel);
  config["stages"] = launchOption(kernel, "stages").value_or(pipelinedStages(kernel));
  for (StringRef name : {"ctas", "maxregs"})
    if (Attribute value = options.get(name))
      config[name] = attributeToJson(value);
  auto id = contract.getAs<StringAttr>("config_id");
  return Object{{"config", std::move(config)}, {"config_id", id ? id.str() : ""}};
}

/// Analyses rest on extents below the largest index, so the loader checks them. A name that a
/// scalar has too is the scalar's, with its own range.
static Object describeRanges(ArrayAttr args) {
  Object ranges;
  llvm::StringSet<> scalars;
  for (Attribute entry : args) {
    auto arg = cast<DictionaryAttr>(entry);
    if (arg.getAs<StringAttr>("kind").getValue() == "scalar")
      scalars.insert(arg.getAs<StringAttr>("name").getValue());
  }
  for (Attribute entry : args) {
    auto extents = cast<DictionaryAttr>(entry).getAs<ArrayAttr>("extents");
    for (Attribute extent : extents ? extents.getValue() : ArrayRef<Attribute>())
      if (auto name = dyn_cast<StringAttr>(extent))
        if (name.getValue() != "_" && !scalars.contains(name.getValue()))
          ranges[name.getValue()] = Array{0, kLargestIndex};
  }
  return ranges;
}

/// An empty grid launches nothing; the grid itself says so.
Object tk::describeKernel(KernelOp kernel, Array variants) {
  DictionaryAttr contract = kernel.getContract().getFields();
  Object entry;
  for (StringRef field : {"kernel", "instance", "args", "disjoint", "require"})
    entry[field] = attributeToJson(contract.get(field));
  for (StringRef field : {"tune", "cost"})
    if (Attribute value = contract.get(field))
      entry[field] = attributeToJson(value);
  entry["ranges"] = describeRanges(contract.getAs<ArrayAttr>("args"));
  entry["noop_when"] = nullptr;
  entry["variants"] = std::move(variants);
  return entry;
}

//===----------------------------------------------------------------------===//
// On the CPU
//===----------------------------------------------------------------------===//

namespace {
/// The parameter buffer, each value at the next multiple of its size.
class ParamList {
public:
  void add(int64_t size, StringRef type, const Twine &value) {
    end = llvm::alignTo(end, size);
    list.push_back(
        Object{{"at", end}, {"size", size}, {"type", type.str()}, {"value", value.str()}});
    end += size;
  }
  Object finish() {
    return Object{{"bytes", end}, {"align", 8}, {"hidden", 0}, {"list", std::move(list)}};
  }

private:
  Array list;
  int64_t end = 0;
};
} // namespace

static int64_t bytesOfScalar(StringRef dtype) {
  int64_t bits = 8; // i1
  dtype.drop_while([](char c) { return !llvm::isDigit(c); }).consumeInteger(10, bits);
  return std::max<int64_t>(bits / 8, 1);
}

/// <tkc/cpu.h>: addresses, extents and strides in 64 bits, scalars in their own type.
static Object describeHostParams(ArrayAttr args) {
  ParamList params;
  for (auto arg : args.getAsRange<DictionaryAttr>()) {
    auto text = [&](StringRef field) { return arg.getAs<StringAttr>(field).getValue(); };
    StringRef name = text("name"), kind = text("kind");
    if (kind == "scalar") {
      params.add(bytesOfScalar(text("dtype")), text("dtype"), name);
      continue;
    }
    params.add(8, "ptr", name + ".ptr");
    if (kind == "pointer") {
      params.add(8, "i64", name + ".span");
      continue;
    }
    size_t rank = arg.getAs<ArrayAttr>("extents").size();
    for (StringRef side : {".e", ".s"})
      for (size_t axis = 0; axis < rank; ++axis)
        params.add(8, "i64", name + side + Twine(axis));
  }
  return params.finish();
}

static bool prints(KernelOp kernel) {
  return kernel.walk([](PrintOp) { return WalkResult::interrupt(); }).wasInterrupted();
}

static Object describeInterpretedVariant(KernelOp kernel) {
  DictionaryAttr contract = kernel.getContract().getFields();
  Object variant = describeConfiguration(kernel);
  std::string id = variant.getString("config_id")->str();
  auto options = contract.getAs<DictionaryAttr>("options");
  bool cooperative = contract.contains("cooperative");
  variant["id"] = "interp" + (id.empty() ? "" : "/" + id);
  variant["target"] = Object{{"vendor", "cpu"}, {"arch", "interp"}, {"match", "exact"}};
  variant["symbol"] = kernel.getSymName().str();
  variant["block"] = Array{1, 1, 1};
  variant["grid"] = attributeToJson(contract.get("grid"));
  variant["launch"] = Object{{"cooperative", cooperative},
                             {"coresident", false},
                             {"pdl", nullptr},
                             {"traps", bool(options.getAs<BoolAttr>("asserts"))},
                             {"prints", prints(kernel)}};
  variant["workspace"] = nullptr;
  variant["tensor_maps"] = Array{};
  variant["params"] = describeHostParams(contract.getAs<ArrayAttr>("args"));
  return variant;
}

std::string tk::describeInterpreted(ModuleOp module) {
  Array kernels;
  for (auto kernel : module.getOps<KernelOp>())
    kernels.push_back(describeKernel(kernel, Array{describeInterpretedVariant(kernel)}));
  return llvm::formatv("{0}", llvm::json::Value(std::move(kernels))).str();
}
