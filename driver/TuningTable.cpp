//===- TuningTable.cpp - which configuration is best where ------------------------------===//

#include "driver/TuningTable.h"
#include "driver/Session.h"
#include "llvm/Support/FormatVariadic.h"
#include <map>

using namespace tk;
using llvm::StringRef;
using llvm::json::Array;
using llvm::json::Object;
using llvm::json::Value;

/// What is wrong with a record; empty when nothing is.
static std::string faultOf(const Value &value) {
  const Object *record = value.getAsObject();
  if (!record)
    return "is no object";
  if (!record->getString("arch") || !record->getString("config_id"))
    return "lacks the texts `arch` and `config_id`";
  if (record->getInteger("sms").value_or(0) < 1)
    return "lacks `sms`, a number from 1";
  const Array *key = record->getArray("key");
  if (!key || !llvm::all_of(*key, [](const Value &part) { return part.getAsInteger(); }))
    return "lacks `key`, a list of integers";
  if (record->get("kernel") && !record->getString("kernel"))
    return "has a `kernel` that is no text";
  if (record->get("instance") && !record->getObject("instance"))
    return "has an `instance` that is no object";
  return "";
}

/// Two records for one launch: a bundle knows no more of a device than its chip and processors.
static std::string contradiction(const Array &records) {
  std::map<std::string, std::pair<size_t, std::string>> known;
  for (auto [i, value] : llvm::enumerate(records)) {
    const Object &record = *value.getAsObject();
    std::string key;
    llvm::raw_string_ostream os(key);
    for (StringRef field : {"kernel", "instance", "arch", "sms", "key"})
      if (const Value *part = record.get(field))
        os << field << *part;
    std::string config = record.getString("config_id")->str();
    auto [first, isNew] = known.try_emplace(key, i, config);
    if (!isNew && first->second.second != config)
      return llvm::formatv("records {0} and {1} name different configurations for one chip and key: keep those of one "
                           "device", first->second.first, i);
  }
  return "";
}

std::optional<TuningTable> TuningTable::read(StringRef path, mlir::MLIRContext &context) {
  auto loc = mlir::UnknownLoc::get(&context);
  auto wrong = [&](const std::string &what) {
    withHelp(
        emit<diag::BadTuningTable>(loc, path, what),
        R"(a list of records: [{"kernel": "k", "arch": "sm_90a", "sms": 132, "key": [4096], "config_id": "BM128.w8"}])");
    return std::nullopt;
  };
  Input file;
  if (std::optional<DiagRecord> fault = readInput(path, file))
    return wrong(fault->message);
  if (nestsTooDeep(file.text))
    return wrong("it nests too deeply");
  llvm::Expected<Value> parsed = llvm::json::parse(file.text);
  if (!parsed)
    return wrong(llvm::toString(parsed.takeError()));
  const Array *list = parsed->getAsArray();
  if (!list)
    return wrong("it is no list");
  for (auto [i, record] : llvm::enumerate(*list))
    if (std::string fault = faultOf(record); !fault.empty())
      return wrong(llvm::formatv("record {0} {1}", i, fault));
  if (std::string fault = contradiction(*list); !fault.empty())
    return wrong(fault);
  TuningTable table;
  table.records = *list;
  return table;
}

/// As a caller writes it.
static std::string textOf(const Value &value) {
  std::string text;
  if (std::optional<StringRef> string = value.getAsString())
    return string->str();
  llvm::raw_string_ostream(text) << value;
  return text;
}

/// Whether a record is about a kernel, whose values `valueOf` gives as text.
static bool isAbout(const Object &record, StringRef kernel,
                    llvm::function_ref<std::string(StringRef)> valueOf) {
  if (record.getString("kernel").value_or(kernel) != kernel)
    return false;
  const Object *instance = record.getObject("instance");
  return !instance || llvm::all_of(*instance, [&](const auto &entry) {
    return valueOf(entry.first) == textOf(entry.second);
  });
}

bool TuningTable::names(const KernelUnit &unit) const {
  auto valueOf = [&](StringRef name) -> std::string {
    for (const auto &[param, value] : unit.instance)
      if (param == name)
        return value;
    return "";
  };
  return llvm::any_of(records, [&](const Value &value) {
    const Object &record = *value.getAsObject();
    return *record.getString("config_id") == unit.configId && isAbout(record, unit.kernel, valueOf);
  });
}

void TuningTable::addTo(Bundle &bundle) const {
  for (Value &value : bundle.kernels()) {
    Object &kernel = *value.getAsObject();
    const Object &instance = *kernel.getObject("instance");
    auto valueOf = [&](StringRef name) {
      const Value *known = instance.get(name);
      return known ? textOf(*known) : "";
    };
    Array table;
    for (const Value &entry : records) {
      Object record = *entry.getAsObject();
      if (!isAbout(record, *kernel.getString("kernel"), valueOf))
        continue;
      Object kept;
      for (StringRef field : {"arch", "sms", "key", "config_id"})
        kept[field] = *record.get(field);
      table.push_back(std::move(kept));
    }
    if (Object *tune = kernel.getObject("tune"); tune && !table.empty())
      (*tune)["table"] = std::move(table);
  }
}
