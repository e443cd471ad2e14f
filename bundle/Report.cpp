//===- Report.cpp - what is in a bundle, for people and as files ----------------------------===//

#include "bundle/Report.h"
#include "backends/metadata/Metadata.h"
#include "llvm/ADT/StringExtras.h"
#include "llvm/ADT/StringSwitch.h"
#include "llvm/Support/Format.h"
#include <map>
#include <set>

using namespace tk;
using llvm::StringRef;
using llvm::json::Array;
using llvm::json::Object;
using llvm::json::Value;

/// A value as people write it: without quotes.
static std::string wordOf(const Value &value) {
  if (std::optional<StringRef> text = value.getAsString())
    return text->str();
  return printJson(value, /*compact=*/true);
}

/// By name: the order of llvm::json::Object is that of a hash table.
static std::map<std::string, std::string> valuesOf(const Object &object) {
  std::map<std::string, std::string> values;
  for (const auto &entry : object)
    values[entry.first.str()] = wordOf(entry.second);
  return values;
}

std::string tk::kernelTitle(const Object &kernel) {
  std::string values;
  for (const auto &[name, value] : valuesOf(*kernel.getObject("instance")))
    values += (values.empty() ? "" : ", ") + name + "=" + value;
  return kernel.getString("kernel")->str() + (values.empty() ? "" : "[" + values + "]");
}

static size_t imageOf(const Value &variant) {
  return size_t(*variant.getAsObject()->getInteger("image"));
}

static StringRef archOf(const Value &variant) {
  return *variant.getAsObject()->getObject("target")->getString("arch");
}

//===----------------------------------------------------------------------===//
// Sizes and licences
//===----------------------------------------------------------------------===//

static void printRow(llvm::raw_ostream &os, uint64_t stored, uint64_t full, StringRef what) {
  os << llvm::right_justify(std::to_string(stored), 10)
     << llvm::right_justify(std::to_string(full), 10) << "  " << what << '\n';
}

void tk::printSizes(const Bundle &bundle, llvm::raw_ostream &os) {
  std::vector<std::string> users(bundle.images.size());
  for (const Value &kernel : bundle.kernels())
    for (const Value &variant : *kernel.getAsObject()->getArray("variants")) {
      std::string &user = users[imageOf(variant)];
      std::string name = (archOf(variant) + " " + kernelTitle(*kernel.getAsObject()) + " " +
                          variant.getAsObject()->getString("config_id").value_or(""))
                             .str();
      if (user.empty())
        user = StringRef(name).rtrim().str();
      else if (user != StringRef(name).rtrim() && !StringRef(user).ends_with(", ..."))
        user += ", ...";
    }
  os << "    stored      full  image\n";
  uint64_t stored = 0, full = 0;
  for (auto [i, image] : llvm::enumerate(bundle.images)) {
    printRow(os, bundle.storage[i].stored, image.size(),
             (*bundle.imageEntry(i).getString("kind") + " " + users[i]).str());
    stored += bundle.storage[i].stored;
    full += image.size();
  }
  os << "\n    stored      full  kernel\n";
  for (const Value &kernel : bundle.kernels()) {
    std::set<size_t> images;
    const Array &variants = *kernel.getAsObject()->getArray("variants");
    for (const Value &variant : variants)
      images.insert(imageOf(variant));
    uint64_t ofStored = 0, ofFull = 0;
    for (size_t image : images) {
      ofStored += bundle.storage[image].stored;
      ofFull += bundle.images[image].size();
    }
    printRow(os, ofStored, ofFull,
             kernelTitle(*kernel.getAsObject()) + ", " + std::to_string(variants.size()) +
                 (variants.size() == 1 ? " variant" : " variants"));
  }
  os << '\n';
  printRow(os, stored, full, "all images");
}

void tk::printNotices(const Bundle &bundle, llvm::raw_ostream &os) {
  const Object *producer = bundle.document.getObject("producer");
  StringRef version = producer ? producer->getString("tkc").value_or("") : "";
  os << "code of tkc " << version
     << " and of its standard library: Apache-2.0 WITH LLVM-exception\n";
  const Array *linked = producer ? producer->getArray("linked") : nullptr;
  for (const Value &value : linked ? *linked : Array())
    if (const Object *library = value.getAsObject()) {
      auto text = [&](StringRef field) { return library->getString(field).value_or(""); };
      os << text("name") << ' ' << text("version") << ": " << text("licence") << " (sha256 "
         << text("sha256") << ")\n";
    }
}

//===----------------------------------------------------------------------===//
// Images as files
//===----------------------------------------------------------------------===//

static StringRef extensionOf(StringRef kind) {
  return llvm::StringSwitch<StringRef>(kind)
      .Case("ptx", ".ptx")
      .Case("hsaco", ".hsaco")
      .Case("tk", ".tk.mlir")
      .Default(".cubin");
}

/// "matmul_Df16.BM64.w4.sm_80": what no path can misread.
static std::string fileNameOf(const Object &kernel, const Object &variant) {
  std::string name = kernel.getString("kernel")->str();
  for (const auto &[param, value] : valuesOf(*kernel.getObject("instance")))
    name += "_" + param + value;
  if (StringRef id = variant.getString("config_id").value_or(""); !id.empty())
    name += "." + id.str();
  name += "." + variant.getObject("target")->getString("arch")->str();
  for (char &c : name)
    c = llvm::isAlnum(c) || c == '_' || c == '.' ? c : '-';
  return name;
}

/// The description of image `index` alone, and the file's name without its extension.
static Object describeAlone(const Bundle &bundle, size_t index, std::string &name) {
  Object document = bundle.document;
  Array kernels;
  for (const Value &value : bundle.kernels()) {
    Object kernel = *value.getAsObject();
    Array variants;
    for (const Value &entry : *kernel.getArray("variants"))
      if (imageOf(entry) == index) {
        Object variant = *entry.getAsObject();
        if (name.empty())
          name = fileNameOf(kernel, variant);
        variant["image"] = 0;
        variants.push_back(std::move(variant));
      }
    if (variants.empty())
      continue;
    kernel["variants"] = std::move(variants);
    kernels.push_back(std::move(kernel));
  }
  document["kernels"] = std::move(kernels);
  return document;
}

std::vector<ExtractedImage> tk::extractImages(const Bundle &bundle) {
  std::vector<ExtractedImage> result;
  std::set<std::string> names;
  for (auto [i, bytes] : llvm::enumerate(bundle.images)) {
    std::string stem;
    Object document = describeAlone(bundle, i, stem), entry = bundle.imageEntry(i);
    if (stem.empty())
      continue; // nothing uses it
    std::string extension = extensionOf(*entry.getString("kind")).str(), name = stem + extension;
    for (unsigned n = 2; !names.insert(name).second; ++n)
      name = stem + "." + std::to_string(n) + extension;
    entry["path"] = name;
    document["images"] = Array{std::move(entry)};
    result.push_back({name, bytes, printJson(std::move(document), /*compact=*/false) + "\n"});
  }
  return result;
}
