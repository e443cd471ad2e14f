//===- LowerUnits.cpp - which units a file has ----------------------------------------===//
//
// Each candidate is elaborated up to its contract: what tells an instance, a configuration and an
// excluded one then has the same answer as in a compile.
//
//===----------------------------------------------------------------------===//

#include "frontend/Lowerer.h"
#include "frontend/Units.h"
#include "llvm/ADT/StringExtras.h"

using namespace mlir;
using namespace tk;

std::string KernelUnit::text() const {
  std::string values;
  for (const auto &[name, value] : instance)
    values += (values.empty() ? "" : ", ") + name + "=" + value;
  return kernel + (values.empty() ? "" : "[" + values + "]") +
         (configId.empty() ? "" : " " + configId);
}

LowerOptions KernelUnit::lowerOptions(const LowerOptions &all) const {
  LowerOptions one = all;
  one.kernels = {kernel};
  one.defines = defines;
  one.config = config;
  one.assumptions = assumptions;
  return one;
}

//===----------------------------------------------------------------------===//
// What is asked of a kernel
//===----------------------------------------------------------------------===//

NamedAttrList Lowerer::instancesOf(const ast::Kernel &item) {
  Frame kernelFrame;
  startKernel(item, kernelFrame);
  NamedAttrList fields;
  if (const ast::Attribute *attr = findAttribute(item, "instances"))
    inScratch([&] { readInstances(*attr, fields); });
  frame = nullptr;
  return fields;
}

size_t Lowerer::countConfigurations(const ast::Kernel &item) {
  return configurations(item).size();
}

/// Whether a record of `except` agrees with all of the compile-time parameters that it names.
bool Lowerer::isExcluded(ArrayAttr except) {
  return except && llvm::any_of(except.getAsRange<DictionaryAttr>(), [&](DictionaryAttr record) {
           return llvm::all_of(record, [&](NamedAttribute entry) {
             auto it = kernel.compileTime.find(entry.getName().getValue());
             return it != kernel.compileTime.end() && valueAttr(it->second) == entry.getValue();
           });
         });
}

std::optional<Lowerer::Candidate> Lowerer::candidate(const ast::Kernel &item, bool asked,
                                                     ArrayAttr except, bool anyway,
                                                     bool &excluded) {
  Frame kernelFrame;
  startKernel(item, kernelFrame);
  usedAssumptions.clear();
  ContractAttr contract;
  inScratch([&] {
    if (!loadConfiguration(item))
      return;
    Config chosen = config;
    bool good = anyway || !findAttribute(item, "tune") || admits(item, chosen);
    if (!good || !bindCompileTime(item, asked))
      return;
    if (isExcluded(except))
      excluded = true;
    else if (declareParams())
      contract = buildContract();
  });
  frame = nullptr;
  if (!contract)
    return std::nullopt;
  DictionaryAttr fields = contract.getFields();
  auto id = fields.getAs<StringAttr>("config_id");
  std::optional<size_t> keyLength;
  if (auto tune = fields.getAs<DictionaryAttr>("tune"))
    keyLength = tune.getAs<ArrayAttr>("key").size();
  return Candidate{fields.getAs<DictionaryAttr>("instance"), id ? id.str() : "", usedAssumptions,
                   keyLength};
}

void Lowerer::reportUnused(StringRef assumption) {
  reporter.reportCommand<diag::UnusedAssumption>(assumption);
}

//===----------------------------------------------------------------------===//
// The list
//===----------------------------------------------------------------------===//

namespace {

using Assignment = std::vector<std::pair<std::string, std::string>>;

/// The values of one compile-time parameter, as -D has them.
struct Axis {
  std::string name;
  std::vector<std::string> values;
};

class UnitLister {
public:
  UnitLister(MLIRContext &context, Program &program, const LowerOptions &options,
             const UnitQuery &query)
      : options(options), query(query), current(options), lowerer(context, program, current) {}

  FailureOr<std::vector<KernelUnit>> run();
  LowerError getErrorClass() const { return lowerer.getErrorClass(); }

private:
  void listKernel(const ast::Kernel &item, bool asked);
  void listInstance(const ast::Kernel &item, bool asked, const Assignment &defines);
  std::vector<Axis> axesOf(const ast::Kernel &item);
  std::vector<Assignment> multiply(const ast::Kernel &item, ArrayRef<Axis> axes);
  bool addUnit(const ast::Kernel &item, const Lowerer::Candidate &found, bool isDefault);
  bool failed() const { return tooMany || lowerer.getNumErrors() != 0; }

  const LowerOptions &options;
  const UnitQuery &query;
  LowerOptions current; // those of the candidate that is looked at
  Lowerer lowerer;
  ArrayAttr except;
  std::vector<KernelUnit> units;
  std::set<std::string> usedAssumptions;
  bool tooMany = false;
};

} // namespace

/// An attribute of a contract as -D takes it.
static std::string textOf(Attribute value) {
  if (auto text = dyn_cast<StringAttr>(value))
    return text.str();
  if (auto boolean = dyn_cast<BoolAttr>(value))
    return boolean.getValue() ? "true" : "false";
  auto integer = dyn_cast<IntegerAttr>(value);
  return integer ? std::to_string(integer.getInt()) : "";
}

static std::vector<std::string> splitList(StringRef text) {
  std::vector<std::string> values;
  for (StringRef value : llvm::split(text, ','))
    values.push_back(value.str());
  return values;
}

/// In the order of the parameters: what -D lists, else what @instances lists.
std::vector<Axis> UnitLister::axesOf(const ast::Kernel &item) {
  NamedAttrList fields = lowerer.instancesOf(item);
  auto listed = dyn_cast_or_null<DictionaryAttr>(fields.get("instances"));
  except = dyn_cast_or_null<ArrayAttr>(fields.get("except"));
  std::vector<Axis> axes;
  for (const ast::CParam &param : item.cparams) {
    StringRef name = param.name.text;
    Axis axis{name.str(), {}};
    if (auto values = listed ? listed.getAs<ArrayAttr>(name) : ArrayAttr())
      for (Attribute value : values)
        axis.values.push_back(textOf(value));
    for (const auto &define : options.defines)
      if (define.first == name)
        axis.values = splitList(define.second);
    if (!axis.values.empty())
      axes.push_back(std::move(axis));
  }
  return axes;
}

/// All combinations, the last parameter fastest; none, after an error, when they are too many.
std::vector<Assignment> UnitLister::multiply(const ast::Kernel &item, ArrayRef<Axis> axes) {
  std::vector<Assignment> result = {{}};
  std::string factors;
  size_t count = 1;
  for (const Axis &axis : axes) {
    factors += (factors.empty() ? "" : " x ") + std::to_string(axis.values.size()) + " of `" +
               axis.name + "`";
    count = std::min<size_t>(count * axis.values.size(), INT32_MAX);
  }
  if (count > query.maxUnits) {
    emit<diag::TooManyUnits>(lowerer.locate(item.name.range), count, query.maxUnits).attachNote()
        << "help: `" << item.name.text << "` has " << factors << "; --max-variants=N admits more";
    tooMany = true;
    return {};
  }
  for (const Axis &axis : axes) {
    std::vector<Assignment> next;
    for (const Assignment &sofar : result)
      for (const std::string &value : axis.values) {
        next.push_back(sofar);
        next.back().emplace_back(axis.name, value);
      }
    result = std::move(next);
  }
  return result;
}

/// False when it is known already: -D may set what configurations differ in.
bool UnitLister::addUnit(const ast::Kernel &item, const Lowerer::Candidate &found, bool isDefault) {
  KernelUnit unit{item.name.text.str(), current.defines, current.config, {}, {},
                  found.configId,       isDefault,       found.keyLength};
  for (NamedAttribute value : found.instance)
    unit.instance.emplace_back(value.getName().str(), textOf(value.getValue()));
  for (size_t index : found.assumptions)
    unit.assumptions.push_back(options.assumptions[index]);
  usedAssumptions.insert(unit.assumptions.begin(), unit.assumptions.end());
  for (const KernelUnit &other : units)
    if (other.text() == unit.text())
      return false;
  units.push_back(std::move(unit));
  return true;
}

/// The configurations of one instance that are wanted; the first good one is its default.
void UnitLister::listInstance(const ast::Kernel &item, bool asked, const Assignment &defines) {
  size_t count = lowerer.countConfigurations(item);
  std::vector<std::optional<int>> wanted = {options.config};
  if (count && !options.config)
    for (wanted.clear(); wanted.size() < count;)
      wanted.push_back(int(wanted.size()));
  current.defines = defines;
  bool anyway = options.config.has_value(), isDefault = true, excluded = false;
  auto consider = [&](std::optional<int> config) {
    current.config = config;
    std::optional<Lowerer::Candidate> found =
        lowerer.candidate(item, asked, except, anyway, excluded);
    if (found)
      isDefault &= !addUnit(item, *found, isDefault);
    return found.has_value();
  };
  for (std::optional<int> config : wanted) {
    bool made = consider(config);
    if (failed() || (made && !query.allConfigs))
      return;
  }
  anyway = true; // when none will do, what speaks against the first one is reported
  if (isDefault && !excluded)
    consider(wanted.front());
}

void UnitLister::listKernel(const ast::Kernel &item, bool asked) {
  std::vector<Axis> axes = axesOf(item);
  for (const Assignment &defines : failed() ? std::vector<Assignment>() : multiply(item, axes))
    if (!failed())
      listInstance(item, asked, defines);
}

FailureOr<std::vector<KernelUnit>> UnitLister::run() {
  SmallVector<const ast::Kernel *> kernels = lowerer.startFile();
  bool asked = !options.kernels.empty() || kernels.size() == 1;
  for (const ast::Kernel *item : kernels)
    if (!failed())
      listKernel(*item, asked);
  if (!failed() && units.empty() && !asked)
    listKernel(*kernels.front(), /*asked=*/true);
  if (!failed() && units.empty())
    emit<diag::NoUnits>(lowerer.locate({0, 0}));
  if (failed() || units.empty())
    return failure();
  for (const std::string &text : options.assumptions)
    if (!usedAssumptions.count(text))
      lowerer.reportUnused(text);
  if (failed())
    return failure();
  return std::move(units);
}

FailureOr<std::vector<KernelUnit>> tk::listUnits(MLIRContext &context, const SourceFile &source,
                                                 const ast::File &file, const LowerOptions &options,
                                                 const UnitQuery &query, LowerError *errorClass) {
  FailureOr<std::vector<KernelUnit>> result = failure();
  withElaborationStack([&] {
    Program program(context, source, file, options.includes);
    if (errorClass)
      *errorClass = LowerError::Input;
    if (mlir::failed(program.load()))
      return;
    UnitLister lister(context, program, options, query);
    result = lister.run();
    if (errorClass)
      *errorClass = lister.getErrorClass();
  });
  return result;
}
