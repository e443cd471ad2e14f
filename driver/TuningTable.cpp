//===- TuningTable.cpp - which configuration is best where ------------------------------===//

#include "driver/TuningTable.h"
#include "driver/Options.h"
#include "driver/Session.h"
#include "frontend/SemaScope.h"
#include "llvm/ADT/StringExtras.h"
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
  if (record->get("memory_gib") && record->getInteger("memory_gib").value_or(-1) < 0)
    return "has a `memory_gib` that is no number from 0";
  const Array *dtypes = record->getArray("dtypes");
  if (record->get("dtypes") &&
      (!dtypes || !llvm::all_of(*dtypes, [](const Value &type) { return type.getAsString(); })))
    return "has `dtypes` that are no list of texts";
  if (record->get("kernel") && !record->getString("kernel"))
    return "has a `kernel` that is no text";
  if (record->get("instance") && !record->getObject("instance"))
    return "has an `instance` that is no object";
  return "";
}

/// What says for which launches of a kernel a record is; a bundle keeps it.
static constexpr StringRef kLaunchFields[] = {"arch", "sms", "memory_gib", "dtypes", "key"};

/// Two records for one launch.
static std::string contradiction(const Array &records) {
  std::map<std::string, std::pair<size_t, std::string>> known;
  for (auto [i, value] : llvm::enumerate(records)) {
    const Object &record = *value.getAsObject();
    std::string key;
    llvm::raw_string_ostream os(key);
    auto add = [&](StringRef field) {
      if (const Value *part = record.get(field))
        os << field << *part;
    };
    add("kernel");
    add("instance");
    llvm::for_each(kLaunchFields, add);
    std::string config = record.getString("config_id")->str();
    auto [first, isNew] = known.try_emplace(key, i, config);
    if (!isNew && first->second.second != config)
      return llvm::formatv(
          "records {0} and {1} name different configurations for one device and key",
          first->second.first, i);
  }
  return "";
}

/// Line and column, from 1, at which each element of the list begins.
static std::vector<std::pair<unsigned, unsigned>> placesOf(StringRef text) {
  std::vector<std::pair<unsigned, unsigned>> places;
  unsigned line = 1, column = 0, depth = 0;
  bool inText = false, escaped = false, begins = false;
  for (char c : text) {
    ++column;
    if (begins && !llvm::isSpace(c) && c != ']') {
      places.emplace_back(line, column);
      begins = false;
    }
    if (c == '"' && !escaped)
      inText = !inText;
    escaped = inText && c == '\\' && !escaped;
    if (!inText) {
      depth += c == '[' || c == '{';
      depth -= c == ']' || c == '}';
      begins |= depth == 1 && (c == '[' || c == ',');
    }
    if (c == '\n') {
      ++line;
      column = 0;
    }
  }
  return places;
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
  table.path = path.str();
  table.records = *list;
  table.places = placesOf(file.text);
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

static bool isAbout(const Object &record, const KernelUnit &unit) {
  return isAbout(record, unit.kernel, [&](StringRef name) -> std::string {
    for (const auto &[param, value] : unit.instance)
      if (param == name)
        return value;
    return "";
  });
}

bool TuningTable::names(const KernelUnit &unit) const {
  return llvm::any_of(records, [&](const Value &value) {
    const Object &record = *value.getAsObject();
    return *record.getString("config_id") == unit.configId && isAbout(record, unit);
  });
}

namespace {
/// What a record names that the file has not, and what it may have meant; empty: nothing.
struct Unknown {
  std::string what, help;
};
} // namespace

static std::string helpFor(StringRef name, std::vector<StringRef> known) {
  llvm::erase(known, ""); // of a kernel without configurations
  StringRef nearest = nearestName(name, known);
  if (!nearest.empty())
    return "did you mean `" + nearest.str() + "`?";
  constexpr size_t most = 8;
  std::string rest = known.size() > most ? ", and more" : "";
  known.resize(std::min(known.size(), most));
  return "it has `" + llvm::join(known, "`, `") + "`" + rest;
}

static bool namesOtherKernel(const Object &record, const TableSubject &subject) {
  std::optional<StringRef> kernel = record.getString("kernel");
  return kernel && !llvm::is_contained(subject.kernels, *kernel);
}

/// Of a record that names no kernel of another file.
static Unknown unknownOf(const Object &record, const TableSubject &subject) {
  std::optional<StringRef> kernel = record.getString("kernel");
  bool isWanted = !kernel; // else -k has left it out
  std::vector<StringRef> configs;
  StringRef config = *record.getString("config_id");
  for (const KernelUnit &unit : subject.units) {
    isWanted |= unit.kernel == kernel;
    if (!isAbout(record, unit))
      continue;
    if (unit.configId == config)
      return {};
    if (!llvm::is_contained(configs, unit.configId))
      configs.push_back(unit.configId);
  }
  std::string whose = kernel ? " of kernel `" + kernel->str() + "`" : "";
  if (!configs.empty())
    return {"configuration `" + config.str() + "`" + whose, helpFor(config, configs)};
  if (!isWanted || !subject.hasAllInstances)
    return {};
  return {"instance " + textOf(*record.get("instance")) + whose,
          "`tkc FILE --list-variants` lists the instances"};
}

static constexpr StringRef kLengthHelp =
    "a value for each expression of `@tune(key=[...])`; `tkc tune` writes such records";

static std::string lengthFault(size_t index, const Object &record, StringRef kernel,
                               size_t length) {
  return llvm::formatv(
      "record {0} has a `key` of {1} values, that of `@tune` of kernel `{2}` has {3}", index,
      record.getArray("key")->size(), kernel, length);
}

/// The kernel that a record would go to although their keys differ in length; null: none.
static const KernelUnit *misfitOf(const Object &record, const TableSubject &subject) {
  size_t length = record.getArray("key")->size();
  auto misfit = llvm::find_if(subject.units, [&](const KernelUnit &unit) {
    return unit.keyLength.value_or(length) != length && isAbout(record, unit);
  });
  return misfit == subject.units.end() ? nullptr : &*misfit;
}

/// One table may be for several files, some of which have nothing to tune.
void TuningTable::reportUnused(const TableSubject &subject, bool namesItsKernels,
                               mlir::MLIRContext &context) const {
  bool canTune = llvm::any_of(subject.units,
                              [](const KernelUnit &unit) { return unit.keyLength.has_value(); });
  if (!canTune && !namesItsKernels)
    return;
  std::string help = "`tkc tune` writes records of its kernels";
  for (const Value &value : records)
    if (std::optional<StringRef> kernel = value.getAsObject()->getString("kernel");
        kernel && !namesItsKernels)
      if (StringRef near = nearestName(*kernel, subject.kernels); !near.empty())
        help = ("they name `" + *kernel + "`: did you mean `" + near + "`?").str();
  auto loc = mlir::FileLineColLoc::get(&context, path, places[0].first, places[0].second);
  withHelp(emit<diag::TuneTableUnused>(loc, records.size(), subject.file), help);
}

mlir::LogicalResult TuningTable::check(const TableSubject &subject,
                                       mlir::MLIRContext &context) const {
  size_t unknown = 0, others = 0;
  for (auto [i, value] : llvm::enumerate(records)) {
    const Object &record = *value.getAsObject();
    auto [line, column] = places[i];
    auto loc = mlir::FileLineColLoc::get(&context, path, line, column);
    if (const KernelUnit *unit = misfitOf(record, subject)) {
      std::string what = lengthFault(i, record, unit->kernel, *unit->keyLength);
      withHelp(emit<diag::BadTuningTable>(loc, path, what), kLengthHelp);
      return mlir::failure();
    }
    if (namesOtherKernel(record, subject)) {
      ++others;
      continue;
    }
    Unknown found = unknownOf(record, subject);
    if (found.what.empty())
      continue;
    ++unknown;
    withHelp(emit<diag::TuneRecordUnknown>(loc, i, found.what, subject.file), found.help);
  }
  if (!records.empty() && unknown + others == records.size())
    reportUnused(subject, /*namesItsKernels=*/unknown > 0, context);
  return mlir::success();
}

std::optional<DiagRecord> TuningTable::addTo(Bundle &bundle) const {
  for (Value &value : bundle.kernels()) {
    Object &kernel = *value.getAsObject();
    const Object &instance = *kernel.getObject("instance");
    auto valueOf = [&](StringRef name) {
      const Value *known = instance.get(name);
      return known ? textOf(*known) : "";
    };
    Object *tune = kernel.getObject("tune");
    if (!tune)
      continue;
    StringRef name = *kernel.getString("kernel");
    const Array *keys = tune->getArray("key");
    size_t length = keys ? keys->size() : 0;
    Array table;
    for (auto [i, entry] : llvm::enumerate(records)) {
      const Object &record = *entry.getAsObject();
      if (!isAbout(record, name, valueOf))
        continue;
      if (record.getArray("key")->size() != length) // of a stage file: `check` has seen no source
        return commandLineDiag<diag::BadTuningTable>(kLengthHelp, path,
                                                     lengthFault(i, record, name, length));
      Object kept;
      for (StringRef field : kLaunchFields)
        if (const Value *value = record.get(field))
          kept[field] = *value;
      kept["config_id"] = *record.get("config_id");
      table.push_back(std::move(kept));
    }
    if (!table.empty())
      (*tune)["table"] = std::move(table);
  }
  return std::nullopt;
}
