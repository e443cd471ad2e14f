//===- Header.cpp - the typed C++ header of a bundle ---------------------------------------===//
//
// What a name may be is checked against C++ and against the members of the generated struct: a
// kernel's author need not know either. The file tells clang-format to leave it alone, so that
// projects that format all they have get the bytes that tkc writes.
//
//===----------------------------------------------------------------------===//

#include "bundle/Header.h"
#include "backends/metadata/Metadata.h"
#include "bundle/Embed.h"
#include "bundle/Report.h"
#include "llvm/ADT/StringExtras.h"
#include "llvm/ADT/StringSwitch.h"
#include "llvm/Support/FormatVariadic.h"
#include <map>
#include <set>

using namespace tk;
using llvm::StringRef;
using llvm::json::Array;
using llvm::json::Object;
using llvm::json::Value;

//===----------------------------------------------------------------------===//
// Words of C++
//===----------------------------------------------------------------------===//

/// `name`, or with underscores what neither C++ nor `taken` has.
static std::string freeName(StringRef name, std::set<std::string> &taken) {
  std::string result = identifierOf(name);
  while (!taken.insert(result).second)
    result += "_";
  return result;
}

static std::string dtypeConstant(StringRef dtype) {
  return "TKC_" + dtype.upper();
}

/// An expression of the description as the language writes it.
static std::string expressionText(const Value &value, bool inside = false) {
  if (std::optional<StringRef> name = value.getAsString())
    return name->str();
  const Array *list = value.getAsArray();
  if (!list || list->empty())
    return printJson(value, /*compact=*/true);
  StringRef op = list->front().getAsString().value_or("");
  StringRef infix = llvm::StringSwitch<StringRef>(op)
                        .Case("add", " + ")
                        .Case("sub", " - ")
                        .Case("mul", " * ")
                        .Case("div", " // ")
                        .Case("mod", " % ")
                        .Default("");
  std::string text;
  for (const Value &operand : llvm::drop_begin(*list))
    text += (text.empty()    ? ""
             : infix.empty() ? ", "
                             : infix.str()) +
            expressionText(operand, !infix.empty());
  if (infix.empty())
    return op.str() + "(" + text + ")";
  return inside ? "(" + text + ")" : text;
}

//===----------------------------------------------------------------------===//
// One kernel
//===----------------------------------------------------------------------===//

namespace {

/// A parameter as a caller sees it.
struct Parameter {
  std::string name; // in the struct's functions
  std::string type; // empty: scratch
  std::string info; // its entry of `params`
};

class KernelWriter {
public:
  KernelWriter(const Object &kernel, std::string structName) : kernel(kernel), self(structName) {
    for (const Value &arg : *kernel.getArray("args"))
      if (const Object *entry = arg.getAsObject())
        addParameter(*entry);
  }

  std::string write() const;

private:
  void addParameter(const Object &arg);
  std::string writePrepare() const;
  std::string signature(StringRef head, StringRef first, StringRef last) const;
  std::string arguments() const;
  std::string hash() const { return "0x" + kernel.getString("abi_hash")->substr(3).str(); }
  int64_t paramBytes() const;

  const Object &kernel;
  std::string self;
  std::vector<Parameter> parameters;
  /// What the struct and its functions call by these names.
  std::set<std::string> taken = {"on",      "how",         "name",   "abi_hash", "params",
                                 "prepare", "param_bytes", "kernel", "workspace"};
};

} // namespace

static std::string textField(const Object &object, StringRef field) {
  return object.getString(field).value_or("").str();
}

void KernelWriter::addParameter(const Object &arg) {
  std::string kind = textField(arg, "kind"), access = textField(arg, "access");
  std::string dtype = dtypeConstant(textField(arg, "dtype"));
  bool reads = access == "in", optional = arg.getBoolean("optional").value_or(false);
  std::string extents, type, constant = "TKC_" + StringRef(kind).upper();
  size_t rank = 0;
  if (const Array *list = arg.getArray("extents")) {
    rank = list->size();
    for (const Value &extent : *list)
      extents += (extents.empty() ? "" : ", ") + expressionText(extent);
  }
  if (kind == "scalar") {
    type = "tkc::scalar<" + dtype + ">";
    optional = arg.get("default");
    access = "none";
  } else if (kind == "pointer")
    type = (reads ? "tkc::in_pointer<" : "tkc::out_pointer<") + dtype + ">";
  else
    type = (reads ? "tkc::in<" : "tkc::out<") + dtype + ", " + std::to_string(rank) + ">";
  if (optional)
    type = "std::optional<" + type + ">";
  if (access == "scratch")
    type = "";
  std::string info = llvm::formatv("{{{0}, {1}, {2}, {3}, tkc::access::{4}, {5}}",
                                   quotedText(textField(arg, "name")), constant, dtype, rank,
                                   access, quotedText(extents));
  parameters.push_back({freeName(textField(arg, "name"), taken), type, info});
}

int64_t KernelWriter::paramBytes() const {
  int64_t most = 0;
  for (const Value &variant : *kernel.getArray("variants"))
    most =
        std::max(most, variant.getAsObject()->getObject("params")->getInteger("bytes").value_or(0));
  return most;
}

/// "head(first, the parameters, last)" in lines of 100 columns.
std::string KernelWriter::signature(StringRef head, StringRef first, StringRef last) const {
  std::vector<std::string> parts;
  if (!first.empty())
    parts.push_back(first.str());
  for (const Parameter &parameter : parameters)
    if (!parameter.type.empty())
      parts.push_back(parameter.type + " " + parameter.name);
  if (!last.empty())
    parts.push_back(last.str());
  constexpr size_t columns = 100;
  std::string line = "  " + head.str() + "(", margin(line.size(), ' '), text;
  for (auto [i, part] : llvm::enumerate(parts)) {
    std::string piece = part + (i + 1 < parts.size() ? "," : ") const noexcept {");
    bool begins = line.size() <= margin.size();
    if (!begins && line.size() + 1 + piece.size() > columns) {
      text += line + "\n";
      line = margin;
      begins = true;
    }
    line += (begins ? "" : " ") + piece;
  }
  if (parts.empty())
    line += ") const noexcept {";
  return text + line + "\n";
}

std::string KernelWriter::arguments() const {
  std::string text;
  for (const Parameter &parameter : parameters)
    text += ", " + (parameter.type.empty() ? "tkc::absent{}" : parameter.name);
  return text;
}

std::string KernelWriter::writePrepare() const {
  std::map<std::string, std::string> constants;
  for (const auto &entry : *kernel.getObject("instance")) {
    std::optional<StringRef> text = entry.second.getAsString();
    constants[entry.first.str()] = text ? text->str() : printJson(entry.second, /*compact=*/true);
  }
  std::string text = "  static tkc::result<" + self + "> prepare(const tkc::bundle &from,\n" +
                     std::string(31 + self.size(), ' ') +
                     "const tkc::prepare_options &how = {}) noexcept {\n";
  std::string list;
  for (const auto &[name, value] : constants)
    list += (list.empty() ? "{" : ", {") + quotedText(name) + ", " + quotedText(value) + "}";
  if (!list.empty())
    text += "    static constexpr tkc_const constants[] = {" + list + "};\n";
  text +=
      llvm::formatv("    auto made = tkc::kernel::prepare(from, name, {0}, {1}, abi_hash, how);\n"
                    "    if (!made)\n"
                    "      return made.error();\n"
                    "    return {2}{{std::move(*made)};\n"
                    "  }\n",
                    list.empty() ? "nullptr" : "constants", constants.size(), self);
  return text;
}

std::string KernelWriter::write() const {
  std::string text = "/// ";
  llvm::raw_string_ostream os(text);
  llvm::printEscapedString(kernelTitle(kernel), os); // a text may have line breaks
  text += "\nstruct " + self + " {\n";
  text +=
      "  static constexpr const char *name = " + quotedText(*kernel.getString("kernel")) + ";\n";
  text += "  static constexpr std::uint64_t abi_hash = " + hash() + ";\n";
  if (parameters.empty())
    text += "  static constexpr const tkc::param_info *params = nullptr;\n";
  else {
    text += "  static constexpr tkc::param_info params[] = {\n";
    for (const Parameter &parameter : parameters)
      text += "      " + parameter.info + ",\n";
    text += "  };\n";
  }
  text += "  static constexpr std::uint32_t param_bytes = " + std::to_string(paramBytes()) +
          "; // of the largest variant\n\n";
  text += writePrepare() + "\n";
  text += signature("tkc::status operator()", "tkc::stream on", "const tkc::options &how = {}");
  text += "    return kernel.launch<param_bytes>(on, how" + arguments() + ");\n  }\n";
  bool scratch = llvm::any_of(parameters, [](const Parameter &p) { return p.type.empty(); });
  if (scratch) {
    text += "\n  /// What `options.workspace` must have room for.\n";
    text +=
        signature("tkc::result<tkc::workspace_size> workspace", "", "const tkc::options &how = {}");
    text += "    return kernel.workspace(how" + arguments() + ");\n  }\n";
  }
  return text + "\n  tkc::kernel kernel;\n};\n";
}

//===----------------------------------------------------------------------===//
// The file
//===----------------------------------------------------------------------===//

/// What tells an instance from the others of its name: "_f16_D128", dtypes first.
static std::string instanceSuffix(const Object &kernel, const Array &kernels) {
  const Object &instance = *kernel.getObject("instance");
  std::map<std::pair<bool, std::string>, std::string> parts;
  for (const auto &entry : instance) {
    bool differs = llvm::any_of(kernels, [&](const Value &value) {
      const Object &other = *value.getAsObject();
      const Value *theirs = other.getObject("instance")->get(entry.first);
      return textField(other, "kernel") == textField(kernel, "kernel") &&
             (!theirs || *theirs != entry.second);
    });
    if (!differs)
      continue;
    std::string value = printJson(entry.second, /*compact=*/true), name = entry.first.str();
    if (std::optional<bool> boolean = entry.second.getAsBoolean())
      value = *boolean ? "1" : "0";
    bool number = !entry.second.getAsString();
    if (number && value.front() == '-')
      value.front() = 'm';
    parts[{number, name}] = number ? name + value : entry.second.getAsString()->str();
  }
  std::string suffix;
  for (const auto &[key, part] : parts)
    suffix += "_" + part;
  for (char &c : suffix)
    c = llvm::isAlnum(c) ? c : '_';
  return suffix;
}

std::string tk::writeHeader(const Bundle &bundle, StringRef space, StringRef symbol) {
  std::string guard = (symbol + "_H").str(); // as it is written: two files may differ in case
  std::string text = llvm::formatv(R"(// clang-format off
// Written by tkc: launches with <tkc/runtime.hpp>; the bytes come from the object or assembly file
// that tkc writes beside this one.
#ifndef {0}
#define {0}

#include <tkc/runtime.hpp>

extern "C" {{
extern const unsigned char {1}[] __attribute__((visibility("hidden")));
extern const unsigned char {1}_end[] __attribute__((visibility("hidden")));
}

namespace {2} {{

/// The embedded bundle.
inline tkc::bytes bundle() noexcept {{
  return {{{1}, static_cast<std::size_t>({1}_end - {1})};
}
)",
                                   guard, symbol, space);
  std::set<std::string> taken = {"bundle"};
  for (const char *member : {"on", "how", "name", "abi_hash", "params", "prepare", "param_bytes",
                             "kernel", "workspace", "made", "from", "constants"})
    taken.insert(member);
  for (const Value &value : bundle.kernels()) {
    const Object &kernel = *value.getAsObject();
    std::string name = textField(kernel, "kernel") + instanceSuffix(kernel, bundle.kernels());
    text += "\n" + KernelWriter(kernel, freeName(name, taken)).write();
  }
  return text + "\n} // namespace " + space.str() + "\n\n#endif // " + guard + "\n";
}
