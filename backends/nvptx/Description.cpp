//===- Description.cpp - what the host must know of the compiled kernels ----------===//
//
// The fields of docs/metadata.md that are known once a kernel is code of one thread: everything
// but the image and the resources that the assembler reports.
//
//===----------------------------------------------------------------------===//

#include "backends/metadata/KernelDescription.h"
#include "backends/metadata/Metadata.h"
#include "backends/nvptx/Machine.h"
#include "llvm/ADT/MapVector.h"
#include "llvm/Support/JSON.h"

using namespace mlir;
using namespace tk;
using namespace tk::nvptx;
using llvm::json::Array;
using llvm::json::Object;

/// The driver that came with the first CUDA release whose ptxas makes our binaries.
static constexpr int kDriverMin = 13000;

static StringRef matchName(Match match) {
  switch (match) {
  case Match::Exact: return "exact";
  case Match::Family: return "family";
  case Match::AtLeast: return "at_least";
  }
  return "exact";
}

static Object describeParams(ArrayRef<DeviceParam> params) {
  Array list;
  int64_t end = 0, align = 1;
  for (const DeviceParam &param : params) {
    end = llvm::alignTo(end, param.size);
    align = std::max<int64_t>(align, param.size);
    list.push_back(Object{{"at", end}, {"size", param.size}, {"type", param.dtype},
                          {"value", attributeToJson(param.value)}});
    end += param.size;
  }
  return Object{{"bytes", end}, {"align", align}, {"hidden", 0}, {"list", std::move(list)}};
}

/// Text that tells variants of one kernel apart: target, what is promised, configuration.
static std::string variantId(KernelOp kernel, const Target &target, const Object &configuration) {
  std::string kind = kernel->hasAttr("facts") ? "aligned" : "any";
  if (auto fact = kernel->getAttrOfType<IntegerAttr>("fact"))
    kind = llvm::formatv("fact{0}{1}", fact.getInt(), kernel->hasAttr("general") ? "-any" : "");
  std::string id = configuration.getString("config_id")->str();
  if (id.empty())
    id = llvm::formatv("w{0}", *configuration.getObject("config")->getInteger("warps"));
  return llvm::formatv("{0}/{1}/{2}", target.name, kind, id).str();
}

static Object describeVariant(const LoweredVariant &variant, const Target &target, int rank) {
  KernelOp kernel = variant.kernel;
  DictionaryAttr contract = kernel.getContract().getFields();
  auto options = contract.getAs<DictionaryAttr>("options");
  Object entry = describeConfiguration(kernel);
  int64_t warps = *entry.getObject("config")->getInteger("warps");
  Array when;
  for (StringRef list : {"specialized", "facts"})
    if (auto conditions = kernel->getAttrOfType<ArrayAttr>(list))
      for (Attribute condition : conditions)
        when.push_back(attributeToJson(condition));
  auto shared = kernel->getAttrOfType<IntegerAttr>("shared_bytes");
  bool cooperative = contract.contains("cooperative");
  auto has = [&](auto wanted) {
    return kernel.walk([&](Operation *op) {
      return wanted(op) ? WalkResult::interrupt() : WalkResult::advance();
    }).wasInterrupted();
  };
  auto depends = [&](GridDependencyKind kind) {
    return target.computeMajor >= 9 && has([kind](Operation *op) {
      auto dependency = dyn_cast<GridDependencyOp>(op);
      return dependency && dependency.getKind() == kind;
    });
  };
  bool asserts = bool(options.getAs<BoolAttr>("asserts"));
  bool waits = depends(GridDependencyKind::wait), triggers = depends(GridDependencyKind::launch);
  llvm::json::Value pdl = nullptr;
  if (waits || triggers)
    pdl = Object{{"waits", waits}, {"triggers", triggers}};
  llvm::json::Value grid = attributeToJson(contract.get("grid"));
  Object rest{
      {"id", variantId(kernel, target, entry)},
      {"default_rank", rank},
      {"target", Object{{"vendor", "nvidia"}, {"arch", std::string(target.name)}, {"match", matchName(target.match).str()}}},
      {"driver_min", kDriverMin},
      {"image", 0},
      {"symbol", kernel.getSymName().str()},
      {"when", std::move(when)},
      {"numerics", nullptr},
      {"block", Array{warps * target.warpSize, 1, 1}},
      {"cluster", Array{1, 1, 1}},
      {"grid", std::move(grid)},
      {"resources", Object{{"shared_static", 0}, {"shared_dynamic", shared ? shared.getInt() : 0}}},
      {"launch", Object{{"cooperative", cooperative}, {"coresident", false}, {"pdl", std::move(pdl)},
                        {"traps", asserts && has([](Operation *op) { return isa<AssertOp>(op); })},
                        {"prints", has([](Operation *op) { return isa<PrintOp>(op); })}}},
      {"workspace", nullptr},
      {"tensor_maps", Array{}},
      {"params", describeParams(variant.params)}};
  for (auto &field : rest)
    entry[field.first] = std::move(field.second);
  return entry;
}

std::string nvptx::describeKernels(ArrayRef<LoweredVariant> variants, const Target &target) {
  llvm::MapVector<StringRef, SmallVector<const LoweredVariant *>> groups;
  for (const LoweredVariant &variant : variants) {
    auto group = variant.kernel->getAttrOfType<StringAttr>("variant_of");
    KernelOp kernel = variant.kernel;
    groups[group ? group.getValue() : kernel.getSymName()].push_back(&variant);
  }
  Array kernels;
  for (auto &[name, members] : groups) {
    Array list;
    for (auto [rank, variant] : llvm::enumerate(members))
      list.push_back(describeVariant(*variant, target, rank));
    // The last one takes everything: nothing is written into its contract.
    kernels.push_back(describeKernel(members.back()->kernel, std::move(list)));
  }
  return llvm::formatv("{0}", llvm::json::Value(std::move(kernels))).str();
}
