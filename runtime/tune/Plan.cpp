//===- Plan.cpp - which arguments a kernel is timed with -------------------===//
#include "Plan.h"

#include "Error.h"

#include <algorithm>
#include <cstdlib>
#include <cstring>
#include <set>

namespace tkctune {

using tkcrt::DtypeClass;
using tkcrt::fail;

/// More than any device has; products below stay far from 2^63.
constexpr double kMaxBytes = 1e14;

tkc_status parseFill(const std::string &name, const std::string &text, Fill &out, tkc_error *err) {
  static const std::map<std::string, Fill::Rule> rules = {{"zeros", Fill::Rule::Zeros},
                                                          {"ones", Fill::Rule::Ones},
                                                          {"rand", Fill::Rule::Rand},
                                                          {"arange", Fill::Rule::Arange},
                                                          {"perm", Fill::Rule::Perm}};
  auto it = rules.find(text);
  if (it != rules.end()) {
    out.rule = it->second;
    return TKC_OK;
  }
  long long low = 0, high = 0;
  char end = 0;
  if (sscanf(text.c_str(), "randint(%lld,%lld%c", &low, &high, &end) == 3 && end == ')' &&
      low < high) {
    out = {Fill::Rule::RandInt, low, high};
    return TKC_OK;
  }
  return fail(err, TKC_E_ARG,
              "`%s=%s` is no way to fill a parameter: zeros, ones, rand, arange, perm or "
              "randint(LOW,HIGH)",
              name.c_str(), text.c_str());
}

static std::string textOf(const Json &object, const char *key) {
  auto it = object.find(key);
  return it != object.end() && it->is_string() ? it->get<std::string>() : std::string();
}

static bool flagOf(const Json &object, const char *key) {
  auto it = object.find(key);
  return it != object.end() && it->is_boolean() && it->get<bool>();
}

/// What the JSON says of a parameter, whoever supplies it.
static tkc_status describeArg(const Json &json, PlannedArg &out, tkc_error *err) {
  out.name = textOf(json, "name");
  out.type = tkcrt::findDtype(textOf(json, "dtype"));
  if (!out.type)
    return fail(err, TKC_E_CORRUPT, "parameter `%s` has an unknown dtype", out.name.c_str());
  std::string kind = textOf(json, "kind"), access = textOf(json, "access");
  out.kind = kind == "tensor" ? TKC_TENSOR : kind == "pointer" ? TKC_POINTER : TKC_SCALAR;
  out.isZeroed = flagOf(json, "zeroed");
  out.isWritten = access == "out" || access == "inout" || access == "scratch";
  out.isRead = access == "in" || access == "inout";
  if (json.contains("indirections"))
    return fail(err, TKC_E_UNSUPPORTED,
                "parameter `%s` is a pointer to pointers, which tuning can't make up",
                out.name.c_str());
  return TKC_OK;
}

/// Bytes that the strides reach, and how many of them lie before element 0.
static tkc_status measureSpan(PlannedArg &arg, tkc_error *err) {
  double above = 0, below = 0;
  for (size_t i = 0; i < arg.extents.size(); ++i) {
    if (arg.extents[i] < 0)
      return fail(err, TKC_E_EXTENT, "axis %zu of `%s` would have %lld elements", i,
                  arg.name.c_str(), static_cast<long long>(arg.extents[i]));
    double reach = static_cast<double>(arg.extents[i] - 1) * static_cast<double>(arg.strides[i]);
    (reach < 0 ? below : above) += reach;
  }
  double size = static_cast<double>(arg.type->bits) / 8;
  bool isEmpty = std::count(arg.extents.begin(), arg.extents.end(), 0) > 0;
  double bytes = isEmpty ? 0 : (above - below + 1) * size;
  if (bytes > kMaxBytes)
    return fail(err, TKC_E_EXTENT, "`%s` would have %.0f bytes", arg.name.c_str(), bytes);
  arg.bytes = static_cast<int64_t>(bytes);
  arg.bytesBefore = isEmpty ? 0 : static_cast<int64_t>(-below * size);
  return TKC_OK;
}

namespace {
/// Makes a plan out of names and values.
class Planner {
public:
  Planner(const Json &kernel, const Problem &problem, Plan &plan, tkc_error *err)
      : kernel(kernel), problem(problem), plan(plan), err(err) {}

  tkc_status run() {
    if (tkc_status status = readValues())
      return status;
    for (const Json &json : kernel.at("args")) {
      plan.args.emplace_back();
      if (tkc_status status = planArg(json, plan.args.back()))
        return status;
    }
    // Strides may bind names that extents use, and the other way round: tensors come after scalars.
    for (size_t i = 0; i < plan.args.size(); ++i)
      if (tkc_status status = planTensor(kernel.at("args")[i], plan.args[i]))
        return status;
    return checkNames();
  }

private:
  tkc_status readValues() {
    for (const auto &entry : problem.values) {
      char *end = nullptr;
      long long value = strtoll(entry.second.c_str(), &end, 10);
      if (end && end != entry.second.c_str() && !*end)
        plan.names.set(entry.first, value);
    }
    return TKC_OK;
  }

  tkc_status planArg(const Json &json, PlannedArg &arg) {
    if (tkc_status status = describeArg(json, arg, err))
      return status;
    known.insert(arg.name);
    if (arg.kind == TKC_SCALAR)
      return planScalar(json, arg);
    if (flagOf(json, "optional") && !problem.fills.count(arg.name))
      arg.kind = TKC_ABSENT;
    plan.names.set(arg.name + ".ptr", arg.kind == TKC_ABSENT ? 0 : arg.align);
    return arg.kind == TKC_POINTER ? planPointer(arg) : TKC_OK;
  }

  tkc_status planScalar(const Json &json, PlannedArg &arg) {
    auto given = problem.values.find(arg.name);
    if (given == problem.values.end()) {
      if (!json.contains("default"))
        return fail(err, TKC_E_ARG, "%s needs a value for `%s`: add %s=NUMBER to the shape",
                    title().c_str(), arg.name.c_str(), arg.name.c_str());
      arg.kind = TKC_ABSENT;
      if (json["default"].is_number_integer())
        plan.names.set(arg.name, json["default"].get<int64_t>());
      return TKC_OK;
    }
    char *end = nullptr;
    if (arg.type->cls == DtypeClass::Float) {
      double value = strtod(given->second.c_str(), &end);
      arg.bits = tkcrt::floatBits(*arg.type, value);
    } else {
      long long value = strtoll(given->second.c_str(), &end, 10);
      if (!tkcrt::fitsInteger(*arg.type, value))
        end = nullptr;
      arg.bits = static_cast<uint64_t>(value);
    }
    if (!end || end == given->second.c_str() || *end)
      return fail(err, TKC_E_ARG, "`%s=%s`: needed a value of type %s", arg.name.c_str(),
                  given->second.c_str(), arg.type->name);
    return TKC_OK;
  }

  tkc_status planPointer(PlannedArg &arg) {
    const std::string name = arg.name + ".span";
    known.insert(name);
    const int64_t *bytes = plan.names.find(name);
    if (!bytes || *bytes < 0)
      return fail(err, TKC_E_ARG,
                  "%s: nothing says how many bytes the pointer `%s` leads to: add %s=BYTES to the "
                  "shape",
                  title().c_str(), arg.name.c_str(), name.c_str());
    arg.bytes = *bytes;
    return TKC_OK;
  }

  tkc_status planTensor(const Json &json, PlannedArg &arg) {
    if (!json.contains("extents"))
      return TKC_OK;
    const Json &extents = json["extents"], &strides = json["strides"];
    arg.extents.resize(extents.size());
    arg.strides.resize(extents.size());
    bool isAbsent = arg.kind == TKC_ABSENT;
    for (size_t i = 0; i < extents.size(); ++i)
      if (tkc_status status = planExtent(extents[i], i, arg))
        if (!isAbsent) // a parameter that is left out needs no extents
          return status;
    int64_t dense = 1;
    for (size_t i = extents.size(); i-- > 0 && !isAbsent;) {
      if (tkc_status status = planStride(strides[i], i, dense, arg))
        return status;
      if (__builtin_mul_overflow(dense, std::max<int64_t>(arg.extents[i], 1), &dense))
        return fail(err, TKC_E_EXTENT, "`%s` would have 2^63 elements or more", arg.name.c_str());
    }
    if (isAbsent)
      return TKC_OK;
    if (tkc_status status = measureSpan(arg, err))
      return status;
    plan.names.set(arg.name + ".span", arg.bytes);
    return TKC_OK;
  }

  tkc_status planExtent(const Json &json, size_t axis, PlannedArg &arg) {
    std::string own = arg.name + ".e" + std::to_string(axis);
    Json expr = json;
    if (json.is_string()) {
      const std::string &name = json.get_ref<const std::string &>();
      if (name == "_")
        expr = own;
      known.insert(expr.get<std::string>());
    }
    if (tkc_status status = plan.names.evaluate(
            expr, title() + ": axis " + std::to_string(axis) + " of `" + arg.name + "`",
            arg.extents[axis], err))
      return status;
    plan.names.set(own, arg.extents[axis]);
    return TKC_OK;
  }

  /// A stride that is the caller's to choose is dense, unless the shape says otherwise.
  tkc_status planStride(const Json &json, size_t axis, int64_t dense, PlannedArg &arg) {
    std::string own = arg.name + ".s" + std::to_string(axis);
    if (json.is_string()) {
      const std::string &name = json.get_ref<const std::string &>();
      known.insert(name);
      if (!plan.names.find(name))
        plan.names.set(name, dense);
    }
    if (tkc_status status = plan.names.evaluate(json, title() + ": a stride of `" + arg.name + "`",
                                                arg.strides[axis], err))
      return status;
    plan.names.set(own, arg.strides[axis]);
    return TKC_OK;
  }

  /// A word of the shape that nothing uses is a slip.
  tkc_status checkNames() {
    for (const auto &fill : problem.fills)
      if (std::none_of(plan.args.begin(), plan.args.end(), [&](const PlannedArg &arg) {
            return arg.name == fill.first && arg.type && arg.kind != TKC_SCALAR;
          }))
        return fail(err, TKC_E_ARG, "%s has no tensor or pointer `%s` to fill", title().c_str(),
                    fill.first.c_str());
    for (const auto &entry : problem.values) {
      if (known.count(entry.first))
        continue;
      std::string all;
      for (const std::string &name : known)
        all += (all.empty() ? "" : ", ") + name;
      return fail(err, TKC_E_ARG, "the shape has `%s`, which %s does not know; it has %s",
                  entry.first.c_str(), title().c_str(), all.c_str());
    }
    return TKC_OK;
  }

  std::string title() const { return "kernel `" + textOf(kernel, "kernel") + "`"; }

  const Json &kernel;
  const Problem &problem;
  Plan &plan;
  tkc_error *err;
  std::set<std::string> known;
};
} // namespace

tkc_status Plan::fromProblem(const Json &kernel, const Problem &problem, int sms, tkc_error *err) {
  *this = Plan();
  names.set("sms", sms);
  return Planner(kernel, problem, *this, err).run();
}

/// The largest power of two up to 256 that divides an address.
static int64_t alignmentOf(const void *address) {
  uintptr_t bits = reinterpret_cast<uintptr_t>(address) | 256;
  return static_cast<int64_t>(bits & (~bits + 1));
}

/// A tensor as the caller has it; binds the names of its extents.
static tkc_status adoptTensor(const Json &json, const tkc_tensor &tensor, PlannedArg &arg,
                              Names &names, tkc_error *err) {
  const Json &extents = json.at("extents");
  if (tensor.rank != extents.size() || (tensor.rank && !tensor.extents))
    return fail(err, TKC_E_EXTENT, "`%s` has %u axes, needed %zu", arg.name.c_str(), tensor.rank,
                extents.size());
  arg.extents.assign(tensor.extents, tensor.extents + tensor.rank);
  arg.strides.resize(tensor.rank);
  int64_t dense = 1;
  for (size_t i = tensor.rank; i-- > 0;) {
    arg.strides[i] = tensor.strides ? tensor.strides[i] : dense;
    if (__builtin_mul_overflow(dense, std::max<int64_t>(arg.extents[i], 1), &dense))
      return fail(err, TKC_E_EXTENT, "`%s` has 2^63 elements or more", arg.name.c_str());
    std::string axis = std::to_string(i);
    names.set(arg.name + ".e" + axis, arg.extents[i]);
    names.set(arg.name + ".s" + axis, arg.strides[i]);
  }
  auto bind = [&](const Json &entry, int64_t value) {
    if (entry.is_string() && !names.find(entry.get<std::string>()))
      names.set(entry.get<std::string>(), value);
  };
  for (size_t i = 0; i < extents.size(); ++i) {
    bind(extents[i], arg.extents[i]);
    bind(json.at("strides")[i], arg.strides[i]);
  }
  arg.live = tensor.data;
  return measureSpan(arg, err);
}

tkc_status Plan::fromArgs(const Json &kernel, const tkc_arg *given, size_t count, int sms,
                          tkc_error *err) {
  *this = Plan();
  names.set("sms", sms);
  const Json &list = kernel.at("args");
  if (count != list.size())
    return fail(err, TKC_E_ARG, "%zu arguments are given, the kernel has %zu", count, list.size());
  for (size_t i = 0; i < count; ++i) {
    args.emplace_back();
    PlannedArg &arg = args.back();
    if (tkc_status status = describeArg(list[i], arg, err))
      return status;
    if (given[i].kind != TKC_ABSENT && given[i].kind != arg.kind)
      return fail(err, TKC_E_ARG, "argument %zu is not of `%s`'s kind", i, arg.name.c_str());
    arg.kind = given[i].kind;
    if (arg.kind == TKC_TENSOR) {
      if (tkc_status status = adoptTensor(list[i], given[i].u.tensor, arg, names, err))
        return status;
    } else if (arg.kind == TKC_POINTER) {
      arg.live = given[i].u.pointer.data;
      arg.bytes = static_cast<int64_t>(given[i].u.pointer.span_bytes);
      if (!arg.bytes && arg.isWritten)
        return fail(err, TKC_E_ARG,
                    "`%s` is written and its span is unknown: set span_bytes, so "
                    "that a copy can be tuned on",
                    arg.name.c_str());
    } else if (arg.kind == TKC_SCALAR) {
      memcpy(&arg.bits, &given[i].u, sizeof(arg.bits));
      if (arg.type->cls != DtypeClass::Float)
        names.set(arg.name, static_cast<int64_t>(arg.bits));
    }
    if (arg.kind == TKC_TENSOR || arg.kind == TKC_POINTER) {
      arg.align = alignmentOf(arg.live);
      names.set(arg.name + ".ptr", arg.align);
      names.set(arg.name + ".span", arg.bytes);
    }
  }
  return TKC_OK;
}

Json Plan::key() const {
  Json result = Json::array();
  for (const PlannedArg &arg : args) {
    Json entry = {{"dtype", arg.type->name}};
    if (arg.kind == TKC_TENSOR) {
      entry["extents"] = arg.extents;
      entry["strides"] = arg.strides;
    }
    if (arg.kind == TKC_TENSOR || arg.kind == TKC_POINTER) {
      entry["align"] = arg.align;
      entry["bytes"] = arg.bytes;
    }
    if (arg.kind == TKC_SCALAR)
      entry["bits"] = arg.bits;
    result.push_back(entry);
  }
  return result;
}

Json Plan::dtypes() const {
  Json result = Json::array();
  for (const PlannedArg &arg : args)
    result.push_back(arg.type->name);
  return result;
}

} // namespace tkctune
