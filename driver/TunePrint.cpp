//===- TunePrint.cpp - what tkc tune and tkc bench print -----------------------------------===//

#include "driver/TunePrint.h"
#include "llvm/ADT/STLExtras.h"
#include "llvm/Support/Format.h"
#include "llvm/Support/FormatVariadic.h"
#include <vector>

using namespace tk;
using llvm::StringRef;
using llvm::json::Array;
using llvm::json::Object;
using llvm::json::Value;

static double number(const Object &object, StringRef field) {
  return object.getNumber(field).value_or(0);
}

std::string tk::shapeText(const Object &shape) {
  std::vector<std::string> words;
  for (const auto &[name, value] : shape)
    words.push_back(name.str() + "=" + value.getAsString().value_or("?").str());
  llvm::sort(words);
  return llvm::join(words, " ");
}

static std::string labelOf(const Object &candidate) {
  if (std::optional<StringRef> label = candidate.getString("label"))
    return label->str();
  StringRef id = candidate.getString("config_id").value_or("");
  return id.empty() ? "(no configuration)" : id.str();
}

/// "  12.30   12.10 to 12.55  BM128.w8": what was timed.
static void printTimes(const Object &candidate, llvm::raw_ostream &os) {
  os << llvm::format("%10.2f  %9.2f to %-9.2f ", number(candidate, "us"), number(candidate, "p20"),
                     number(candidate, "p80"))
     << labelOf(candidate);
}

/// What was timed, the fastest first; then what was given up; then the others, in their order.
static llvm::SmallVector<const Object *> byTime(const Array &candidates) {
  using Rank = std::tuple<bool, bool, double, size_t>;
  std::vector<std::pair<Rank, const Object *>> order;
  for (auto [i, value] : llvm::enumerate(candidates)) {
    const Object *candidate = value.getAsObject();
    bool isTimed = candidate->getString("state") == StringRef("timed");
    double time = number(*candidate, "us");
    order.push_back({{!isTimed, time == 0, time, i}, candidate});
  }
  llvm::sort(order);
  return llvm::to_vector(llvm::make_second_range(order));
}

static void printHead(const Object &report, StringRef title, const Object &shape,
                      llvm::raw_ostream &os) {
  const Object &device = *report.getObject("device");
  os << title << ", " << shapeText(*shape.getObject("shape")) << ", on "
     << device.getString("name").value_or("?") << " (" << device.getInteger("sms").value_or(0)
     << " SMs)\n";
}

void tk::printTuning(const Value &report, StringRef title, llvm::raw_ostream &os) {
  for (const Value &entry : *report.getAsObject()->getArray("shapes")) {
    const Object &shape = *entry.getAsObject();
    printHead(*report.getAsObject(), title, shape, os);
    os << "    median        p20 to p80    configuration (us)\n";
    for (const Object *candidate : byTime(*shape.getArray("candidates"))) {
      StringRef state = candidate->getString("state").value_or("");
      if (number(*candidate, "us") > 0)
        printTimes(*candidate, os);
      else
        os << llvm::left_justify("", 35) << labelOf(*candidate);
      if (candidate->getBoolean("cached").value_or(false))
        os << ", from the cache";
      if (candidate->getBoolean("host_bound").value_or(false))
        os << ", the device waited for the host";
      if (state != "timed")
        os << ", " << state << ": " << candidate->getString("why").value_or("");
      os << '\n';
    }
    if (std::optional<double> margin = shape.getNumber("margin"))
      os << llvm::format("the first wins by %.1f %%\n", 100 * *margin);
  }
}

void tk::printWhy(const Value &why, StringRef shape, llvm::raw_ostream &os) {
  const Object &object = *why.getAsObject();
  os << shape << ": key " << *object.get("key") << ": " << object.getString("reason").value_or("")
     << '\n';
  const Object *record = object.getObject("record");
  if (!record) {
    os << "  a launch takes the default configuration\n";
    return;
  }
  const Object nothing, *known = record->getObject("provenance");
  const Object &found = known ? *known : nothing;
  double us = number(found, "us");
  os << "  " << record->getString("config_id").value_or("");
  if (us > 0)
    os << llvm::format(": %.2f us", us);
  if (const Object *next = us > 0 ? found.getObject("runner_up") : nullptr)
    os << llvm::format(", %.1f %% before ", 100 * (number(*next, "us") / number(found, "us") - 1))
       << next->getString("config_id").value_or("");
  os << '\n';
  if (const Value *shapes = found.get("shapes"))
    os << "  timed for " << *shapes << " on " << found.getString("device").value_or("?") << '\n';
  if (object.getBoolean("same_space") == false)
    os << "  the record is of another tuning space: the file's configurations or keys have changed "
          "since\n";
}

/// What the work comes to in a second, beside what the device can do.
static void printRates(const Object &device, const Object &shape, double us,
                       llvm::raw_ostream &os) {
  double bytes = number(shape, "bytes") / us * 1e6, flops = number(shape, "flops") / us * 1e6;
  auto share = [&](const char *format, double rate, StringRef field, const char *of) {
    if (double peak = number(device, field); peak > 0)
      os << llvm::format(format, 100 * rate / peak) << of;
  };
  if (bytes > 0) {
    os << llvm::format("           %.0f GB/s", bytes / 1e9);
    share(", %.1f %%", bytes, "copy_bytes_per_second", " of a copy");
    share(", %.1f %%", bytes, "pin_bytes_per_second", " of the memory's peak");
    os << '\n';
  }
  if (flops > 0) {
    os << llvm::format("           %.2f TFLOP/s", flops / 1e12);
    share(", %.1f %%", flops, "matrix_flops_per_second_16bit", " of the matrix units' 16-bit peak");
    os << '\n';
  }
  if (bytes <= 0 && flops <= 0)
    os << "           no rates: the kernel has no @cost(flops=..., bytes=...)\n";
}

void tk::printBench(const Value &report, StringRef title, llvm::raw_ostream &os) {
  const Object &device = *report.getAsObject()->getObject("device");
  for (const Value &entry : *report.getAsObject()->getArray("shapes")) {
    const Object &shape = *entry.getAsObject();
    printHead(*report.getAsObject(), title, shape, os);
    os << "    median        p20 to p80    (us)\n";
    std::vector<double> times;
    for (const Value &value : *shape.getArray("candidates")) {
      const Object &candidate = *value.getAsObject();
      times.push_back(number(candidate, "us"));
      StringRef state = candidate.getString("state").value_or("");
      StringRef why = candidate.getString("why").value_or("");
      if (times.back() == 0) {
        os << "  " << labelOf(candidate) << ' ' << state << ": " << why << '\n';
        continue;
      }
      printTimes(candidate, os);
      if (state != "timed")
        os << ", " << state << ": " << why;
      os << llvm::format(", least %.2f, ", number(candidate, "least"))
         << candidate.getInteger("samples").value_or(0) << " launches"
         << (candidate.getBoolean("host_bound").value_or(false) ? ", the device waited for the host"
                                                                : "")
         << '\n';
      printRates(device, shape, times.back(), os);
    }
    if (times.size() > 1 && times[0] > 0 && times[1] > 0)
      os << llvm::format("the baseline takes %.3f times as long\n", times[1] / times[0]);
  }
}
