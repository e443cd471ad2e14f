//===- Metadata.cpp - the JSON description beside a binary -----------------------===//
//
// The kernels come as the machine passes wrote them; here the fields that only the finished binary
// knows are added, and defaults where docs/metadata.md has one, so that every field is written.
//
//===----------------------------------------------------------------------===//

#include "backends/metadata/Metadata.h"
#include "mlir/IR/Builders.h"
#include "mlir/IR/BuiltinTypes.h"
#include "llvm/ADT/StringExtras.h"
#include "llvm/IR/Metadata.h"
#include "llvm/Support/BLAKE3.h"
#include "llvm/Support/SHA256.h"

using namespace tk;
using llvm::StringRef;
using llvm::json::Array;
using llvm::json::Object;
using llvm::json::Value;

//===----------------------------------------------------------------------===//
// Attributes and JSON
//===----------------------------------------------------------------------===//

Value tk::attributeToJson(mlir::Attribute attr) {
  if (auto boolean = mlir::dyn_cast<mlir::BoolAttr>(attr))
    return boolean.getValue();
  if (auto integer = mlir::dyn_cast<mlir::IntegerAttr>(attr))
    return integer.getValue().getSExtValue();
  if (auto number = mlir::dyn_cast<mlir::FloatAttr>(attr))
    return number.getValueAsDouble();
  if (auto string = mlir::dyn_cast<mlir::StringAttr>(attr))
    return llvm::json::fixUTF8(string.getValue());
  if (mlir::isa<mlir::UnitAttr>(attr))
    return nullptr;
  if (auto array = mlir::dyn_cast<mlir::ArrayAttr>(attr)) {
    Array result;
    for (mlir::Attribute element : array)
      result.push_back(attributeToJson(element));
    return result;
  }
  if (auto dictionary = mlir::dyn_cast<mlir::DictionaryAttr>(attr)) {
    Object result;
    for (mlir::NamedAttribute entry : dictionary)
      result[entry.getName().getValue()] = attributeToJson(entry.getValue());
    return result;
  }
  std::string text;
  llvm::raw_string_ostream(text) << attr;
  return text;
}

mlir::Attribute tk::jsonToAttribute(mlir::MLIRContext &context, const Value &value) {
  mlir::Builder builder(&context);
  if (auto boolean = value.getAsBoolean())
    return builder.getBoolAttr(*boolean);
  if (auto integer = value.getAsInteger())
    return builder.getI64IntegerAttr(*integer);
  if (auto number = value.getAsNumber())
    return builder.getF64FloatAttr(*number);
  if (auto string = value.getAsString())
    return builder.getStringAttr(*string);
  if (const Array *array = value.getAsArray()) {
    llvm::SmallVector<mlir::Attribute> elements;
    for (const Value &element : *array)
      elements.push_back(jsonToAttribute(context, element));
    return builder.getArrayAttr(elements);
  }
  if (const Object *object = value.getAsObject()) {
    llvm::SmallVector<mlir::NamedAttribute> entries;
    for (const auto &entry : *object)
      entries.push_back(builder.getNamedAttr(StringRef(entry.first),
                                             jsonToAttribute(context, entry.second)));
    return builder.getDictionaryAttr(entries);
  }
  return builder.getUnitAttr();
}

//===----------------------------------------------------------------------===//
// The description on its way
//===----------------------------------------------------------------------===//

static constexpr llvm::StringLiteral kDescription = "tk.description";
static constexpr llvm::StringLiteral kPtxPrefix = "// tk.description: ";

/// Longest part of the description in one PTX comment: longer lines are a nuisance in editors.
static constexpr size_t kPtxCommentBytes = 4096;

std::optional<std::string> tk::descriptionOf(mlir::ModuleOp module) {
  auto attr = module->getAttrOfType<mlir::StringAttr>(kDescription);
  return attr ? std::optional(attr.getValue().str()) : std::nullopt;
}

std::optional<std::string> tk::descriptionOf(const llvm::Module &module) {
  const llvm::NamedMDNode *named = module.getNamedMetadata(kDescription);
  if (!named || named->getNumOperands() != 1 || named->getOperand(0)->getNumOperands() != 1)
    return std::nullopt;
  auto *string = llvm::dyn_cast_or_null<llvm::MDString>(named->getOperand(0)->getOperand(0));
  return string ? std::optional(string->getString().str()) : std::nullopt;
}

void tk::setDescription(llvm::Module &module, StringRef description) {
  llvm::LLVMContext &context = module.getContext();
  llvm::NamedMDNode *named = module.getOrInsertNamedMetadata(kDescription);
  named->clearOperands();
  named->addOperand(llvm::MDNode::get(context, llvm::MDString::get(context, description)));
}

std::optional<std::string> tk::descriptionOfPtx(StringRef ptx) {
  std::string result;
  for (size_t at = ptx.find(kPtxPrefix); at != StringRef::npos; at = ptx.find(kPtxPrefix)) {
    ptx = ptx.drop_front(at + kPtxPrefix.size());
    StringRef line = ptx.take_until([](char c) { return c == '\n'; });
    line.consume_back("\r");
    result += line;
  }
  return result.empty() ? std::nullopt : std::optional(result);
}

std::string tk::targetOfDescription(StringRef description) {
  llvm::Expected<Value> parsed = llvm::json::parse(description);
  if (!parsed) {
    llvm::consumeError(parsed.takeError());
    return "";
  }
  const Array *kernels = parsed->getAsArray();
  if (const Object *document = parsed->getAsObject())
    kernels = document->getArray("kernels");
  for (const Value &entry : kernels ? *kernels : Array()) {
    const Object *kernel = entry.getAsObject();
    const Array *variants = kernel ? kernel->getArray("variants") : nullptr;
    const Object *variant = variants && !variants->empty() ? variants->front().getAsObject() : nullptr;
    const Object *target = variant ? variant->getObject("target") : nullptr;
    if (std::optional<StringRef> arch = target ? target->getString("arch") : std::nullopt)
      return arch->str();
  }
  return "";
}

std::string tk::descriptionAsPtxComment(StringRef description) {
  std::string result;
  for (; !description.empty(); description = description.drop_front(
                                   std::min(kPtxCommentBytes, description.size())))
    result += (kPtxPrefix + description.take_front(kPtxCommentBytes) + "\n").str();
  return result;
}

//===----------------------------------------------------------------------===//
// Printing
//===----------------------------------------------------------------------===//

/// docs/metadata.md's order of fields, all objects in one list (no two of them disagree). What is
/// not listed follows by name.
static constexpr llvm::StringLiteral kFieldOrder[] = {
    "schema", "needs", "producer", "images", "kernels",                         // document
    "tkc", "llvm", "assembler", "inputs", "linked",                             // producer
    "kernel", "instance", "abi_hash", "args", "ranges", "disjoint", "require",  // kernel
    "noop_when", "tune", "cost", "variants",                                    //
    "id", "default_rank", "target", "driver_min", "image", "ptx_isa", "symbol", // variant
    "config", "config_id", "when", "numerics", "block", "cluster", "grid", "resources",      //
    "launch", "workspace", "tensor_maps", "params",                             //
    "vendor", "arch", "match",                                                  // target
    "name", "kind", "dtype", "access", "extents", "strides",                    // args
    "flops", "bytes", "align", "zeroed", "optional", "indirections", "default", "hidden", "list",                     // cost, params
    "at", "path", "offset", "stored", "version", "size", "codec", "type", "value",         // entries, images
    "sha256", "licence",                                                              //
    "expr", "text",                                                             // require
    "registers", "spill_store_bytes", "spill_load_bytes", "local_bytes",        // resources
    "shared_static", "shared_dynamic", "tmem_columns", "nonportable_cluster",   //
    "cooperative", "coresident", "pdl", "traps", "prints", "waits", "triggers", // launch
};

static size_t fieldRank(StringRef name) {
  return size_t(llvm::find(kFieldOrder, name) - std::begin(kFieldOrder));
}

namespace {
class JsonPrinter {
public:
  explicit JsonPrinter(bool compact) : compact(compact) {}

  std::string print(const Value &value) {
    if (compact)
      return inlineText(value, /*named=*/false);
    layOut(value, /*named=*/false, /*indent=*/0, /*used=*/0);
    return out;
  }

private:
  using Entry = const Object::value_type *;

  /// `named`: the fields are names of the kernel's author, not of the page.
  static llvm::SmallVector<Entry> sorted(const Object &object, bool named) {
    llvm::SmallVector<Entry> entries;
    for (const auto &entry : object)
      entries.push_back(&entry);
    llvm::sort(entries, [&](Entry a, Entry b) {
      StringRef x = a->first, y = b->first;
      size_t rankX = named ? 0 : fieldRank(x), rankY = named ? 0 : fieldRank(y);
      return std::tie(rankX, x) < std::tie(rankY, y);
    });
    return entries;
  }
  static bool isNamed(StringRef field) {
    return field == "instance" || field == "config" || field == "ranges";
  }

  std::string inlineText(const Value &value, bool named);
  void layOut(const Value &value, bool named, unsigned indent, unsigned used);

  static constexpr unsigned kColumns = 120;
  bool compact;
  std::string out;
};
} // namespace

static std::string scalarText(const Value &value) {
  std::string text;
  llvm::raw_string_ostream(text) << value;
  return text;
}

std::string JsonPrinter::inlineText(const Value &value, bool named) {
  StringRef comma = compact ? "," : ", ", colon = compact ? ":" : ": ";
  std::string text;
  if (const Array *array = value.getAsArray()) {
    for (const Value &element : *array)
      text += (text.empty() ? "" : comma.str()) + inlineText(element, false);
    return "[" + text + "]";
  }
  if (const Object *object = value.getAsObject()) {
    for (Entry entry : sorted(*object, named))
      text += (text.empty() ? "" : comma.str()) + scalarText(StringRef(entry->first)) +
              colon.str() + inlineText(entry->second, isNamed(entry->first));
    return "{" + text + "}";
  }
  return scalarText(value);
}

void JsonPrinter::layOut(const Value &value, bool named, unsigned indent, unsigned used) {
  std::string flat = inlineText(value, named);
  const Array *array = value.getAsArray();
  const Object *object = value.getAsObject();
  if ((!array && !object) || used + flat.size() <= kColumns) {
    out += flat;
    return;
  }
  std::string margin(indent + 1, ' ');
  bool first = true;
  auto separate = [&] {
    out += first ? "\n" + margin : ",\n" + margin;
    first = false;
  };
  out += array ? "[" : "{";
  if (array)
    for (const Value &element : *array) {
      separate();
      layOut(element, false, indent + 1, indent + 2);
    }
  else
    for (Entry entry : sorted(*object, named)) {
      separate();
      std::string key = scalarText(StringRef(entry->first)) + ": ";
      out += key;
      layOut(entry->second, isNamed(entry->first), indent + 1, indent + 2 + unsigned(key.size()));
    }
  out += "\n" + std::string(indent, ' ') + (array ? "]" : "}");
}

std::string tk::printJson(const Value &value, bool compact) {
  return JsonPrinter(compact).print(value);
}

//===----------------------------------------------------------------------===//
// Digests
//===----------------------------------------------------------------------===//

std::string tk::sha256Hex(StringRef bytes) {
  auto digest = llvm::SHA256::hash(llvm::arrayRefFromStringRef(bytes));
  return llvm::toHex(digest, /*LowerCase=*/true);
}

std::string tk::abiHash(const Array &args) {
  auto digest = llvm::BLAKE3::hash<8>(llvm::arrayRefFromStringRef(printJson(Array(args), true)));
  return "b3:" + llvm::toHex(digest, /*LowerCase=*/true);
}

//===----------------------------------------------------------------------===//
// The final document
//===----------------------------------------------------------------------===//

static Object producerJson(const Producer &producer) {
  Object result{{"tkc", producer.tkc}, {"llvm", producer.llvm}};
  if (!producer.assemblerName.empty())
    result["assembler"] = Object{{"name", producer.assemblerName},
                                 {"version", producer.assemblerVersion},
                                 {"sha256", producer.assemblerSha256}};
  Array inputs, linked;
  for (const InputFile &input : producer.inputs)
    inputs.push_back(Object{{"path", llvm::json::fixUTF8(input.path)}, {"sha256", input.sha256}});
  for (const LinkedLibrary &library : producer.linked)
    linked.push_back(Object{{"name", library.name},
                            {"version", library.version},
                            {"sha256", library.sha256},
                            {"licence", library.licence}});
  result["inputs"] = std::move(inputs);
  result["linked"] = std::move(linked);
  return result;
}

/// Sets `field` unless the machine passes did.
static void setDefault(Object &object, StringRef field, Value value) {
  if (!object.get(field))
    object[field] = std::move(value);
}

static void completeResources(Object &variant, const nvptx::Resources *counted) {
  setDefault(variant, "resources", Object());
  Object &resources = *variant.getObject("resources");
  auto measured = [&](int64_t value) { return counted ? Value(value) : Value(nullptr); };
  const nvptx::Resources zero;
  const nvptx::Resources &of = counted ? *counted : zero;
  resources["registers"] = measured(of.registers);
  resources["spill_store_bytes"] = measured(of.spillStoreBytes);
  resources["spill_load_bytes"] = measured(of.spillLoadBytes);
  resources["local_bytes"] = measured(of.stackBytes);
  if (counted)
    resources["shared_static"] = of.sharedStaticBytes;
  setDefault(resources, "shared_static", 0);
  setDefault(resources, "shared_dynamic", 0);
}

/// The first driver that compiles a version of PTX (PTX ISA, "Release Notes"), as cuDriverGetVersion
/// has it.
static int64_t driverOfPtx(int version) {
  if (version >= 90)
    return 13000 + (version - 90) * 10;
  int minor = version - 80; // 8.0 came with 12.0; there is no 12.6 of its own
  return 12000 + std::max(0, minor + (minor >= 6)) * 10;
}

/// PTX is compiled by the driver, for `compute_90a` instead of `sm_90a`.
static void describePtx(Object &variant, StringRef ptx) {
  auto toCompute = [](std::optional<StringRef> text) {
    StringRef name = text.value_or("");
    return name.consume_front("sm_") ? "compute_" + name.str() : name.str();
  };
  if (Object *target = variant.getObject("target"))
    (*target)["arch"] = toCompute(target->getString("arch"));
  variant["id"] = toCompute(variant.getString("id"));
  int version = nvptx::ptxVersionOf(ptx);
  variant["driver_min"] = driverOfPtx(version);
  variant["ptx_isa"] = std::to_string(version / 10) + "." + std::to_string(version % 10);
}

static bool completeVariant(Object &variant, size_t rank, const Image &image,
                            const llvm::StringMap<nvptx::Resources> &resources) {
  std::optional<StringRef> symbol = variant.getString("symbol");
  if (!symbol || (variant.get("resources") && !variant.getObject("resources")))
    return false;
  auto found = resources.find(*symbol);
  completeResources(variant, found == resources.end() ? nullptr : &found->second);
  if (image.kind == "ptx")
    describePtx(variant, image.bytes);
  if (const Value *numerics = variant.get("numerics"); numerics && numerics->getAsNull())
    variant.erase("numerics"); // reserved: written when it says something
  setDefault(variant, "default_rank", int64_t(rank));
  setDefault(variant, "driver_min", 0);
  setDefault(variant, "image", 0);
  setDefault(variant, "config", Object());
  setDefault(variant, "config_id", "");
  setDefault(variant, "when", Array());
  setDefault(variant, "cluster", Array{1, 1, 1});
  setDefault(variant, "launch", Object{{"cooperative", false},
                                       {"coresident", false},
                                       {"pdl", nullptr},
                                       {"traps", false},
                                       {"prints", false}});
  return true;
}

static bool completeKernel(Object &kernel, const Image &image,
                           const llvm::StringMap<nvptx::Resources> &resources) {
  const Array *args = kernel.getArray("args");
  Array *variants = kernel.getArray("variants");
  if (!args || !variants || variants->empty() || !kernel.getString("kernel"))
    return false;
  kernel["abi_hash"] = abiHash(*args);
  setDefault(kernel, "instance", Object());
  setDefault(kernel, "ranges", Object());
  setDefault(kernel, "disjoint", Array());
  setDefault(kernel, "require", Array());
  setDefault(kernel, "noop_when", nullptr);
  for (size_t i = 0; i < variants->size(); ++i) {
    Object *variant = (*variants)[i].getAsObject();
    if (!variant || !completeVariant(*variant, i, image, resources))
      return false;
  }
  return true;
}

/// Whether a variant takes the bytes that a caller vouches for.
static bool takesSpan(const Object &kernel) {
  for (const Value &variant : *kernel.getArray("variants")) {
    const Object *params = variant.getAsObject()->getObject("params");
    const Array *list = params ? params->getArray("list") : nullptr;
    for (const Value &entry : list ? *list : Array())
      if (const Object *param = entry.getAsObject())
        if (param->getString("value").value_or("").ends_with(".span"))
          return true;
  }
  return false;
}

/// What a loader must know to read the arguments right.
static Array featuresOf(const Array &kernels) {
  bool optional = false, scratch = false, span = false;
  for (const Value &kernel : kernels) {
    span |= takesSpan(*kernel.getAsObject());
    for (const Value &entry : *kernel.getAsObject()->getArray("args")) {
      const Object *arg = entry.getAsObject();
      if (!arg)
        continue;
      optional |= arg->getBoolean("optional").value_or(false);
      scratch |= arg->getString("access").value_or("") == "scratch";
    }
  }
  Array features{"expr.1"};
  if (optional)
    features.push_back("optional.1");
  if (scratch)
    features.push_back("scratch.1");
  if (span)
    features.push_back("span.1");
  return features;
}

llvm::Expected<std::string>
tk::writeDescription(StringRef kernelsText, const Image &image,
                     const llvm::StringMap<nvptx::Resources> &resources,
                     const Producer &producer) {
  llvm::Expected<Value> parsed = llvm::json::parse(kernelsText);
  if (!parsed)
    return parsed.takeError();
  Object document;
  if (Object *object = parsed->getAsObject())
    document = std::move(*object);
  else
    document["kernels"] = std::move(*parsed);
  Array *kernels = document.getArray("kernels");
  auto wrong = [](const llvm::Twine &what) {
    return llvm::createStringError(llvm::inconvertibleErrorCode(), what);
  };
  if (!kernels || kernels->empty())
    return wrong("it is no list of kernels");
  for (Value &entry : *kernels) {
    Object *kernel = entry.getAsObject();
    if (!kernel || !completeKernel(*kernel, image, resources))
      return wrong("a kernel lacks its name, args, variants or a variant's symbol");
  }
  document["schema"] = "tkc.kernel/1.0";
  setDefault(document, "needs", featuresOf(*document.getArray("kernels")));
  document["producer"] = producerJson(producer);
  document["images"] = Array{Object{{"kind", image.kind},
                                    {"path", llvm::json::fixUTF8(image.path)},
                                    {"size", int64_t(image.bytes.size())},
                                    {"sha256", sha256Hex(image.bytes)}}};
  return printJson(std::move(document), /*compact=*/false) + "\n";
}
