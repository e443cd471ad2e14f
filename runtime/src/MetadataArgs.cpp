//===- MetadataArgs.cpp - reading a kernel's logical parameters ------------===//
// Names are bound in three rounds, because an expression may use a name that a later parameter
// binds: first parameters themselves, then bare names in extents and strides, then expressions.
#include "Metadata.h"

#include <cmath>

namespace tkcrt {

static bool isPowerOfTwo(int64_t value) {
  return value > 0 && (value & (value - 1)) == 0;
}

static bool readFloatDefault(Reader &reader, const Json &json, ArgInfo &arg) {
  double value = 0;
  if (json.is_number())
    value = json.get<double>();
  else if (json == "inf")
    value = HUGE_VAL;
  else if (json == "-inf")
    value = -HUGE_VAL;
  else if (json == "nan")
    value = __builtin_nan("");
  else
    return reader.corrupt("found %s, needed a number, \"inf\", \"-inf\" or \"nan\"",
                          kindName(json));
  arg.defaultBits = floatBits(*arg.dtype, value);
  return true;
}

static bool readDefault(Reader &reader, const Json &json, ArgInfo &arg) {
  const Json *value = reader.find(json, "default");
  if (!value)
    return true;
  Reader::Scope scope(reader, "default");
  arg.hasDefault = true;
  if (arg.dtype->cls == DtypeClass::Float)
    return readFloatDefault(reader, *value, arg);
  if (value->is_boolean()) {
    arg.defaultBits = value->get<bool>();
    return true;
  }
  if (arg.dtype->code == TKC_U64 && value->is_number_unsigned()) {
    arg.defaultBits = value->get<uint64_t>();
    return true;
  }
  int64_t integer;
  if (!reader.integer(*value, INT64_MIN, INT64_MAX, integer))
    return false;
  if (!fitsInteger(*arg.dtype, integer))
    return reader.corrupt("%lld does not fit %s", static_cast<long long>(integer), arg.dtype->name);
  arg.defaultBits = static_cast<uint64_t>(integer);
  return true;
}

static bool readMemory(Reader &reader, const Json &json, ArgInfo &arg) {
  std::string access;
  if (!reader.text(json, "access", 1, 16, access))
    return false;
  bool isScratch = access == "scratch" && arg.kind == TKC_TENSOR;
  if (access != "in" && access != "out" && access != "inout" && !isScratch)
    return reader.corrupt("access is \"%s\", needed in, out or inout, or scratch for a tensor",
                          access.c_str());
  arg.access = access == "in"    ? Access::In
               : access == "out" ? Access::Out
               : isScratch       ? Access::Scratch
                                 : Access::InOut;
  if (!reader.boolean(json, "optional", arg.isOptional) ||
      !reader.boolean(json, "zeroed", arg.isZeroed))
    return false;
  if (isScratch && arg.isOptional)
    return reader.corrupt("scratch may always be left out, and can't be optional besides");
  int64_t align = arg.dtype->alignBytes();
  if (reader.find(json, "align") && !reader.integer(json, "align", 1, 256, align))
    return false;
  if (!isPowerOfTwo(align))
    return reader.corrupt("align is %lld, needed a power of two", static_cast<long long>(align));
  arg.align = static_cast<uint32_t>(align);
  return true;
}

static bool readDtype(Reader &reader, const Json &json, ArgInfo &arg) {
  std::string dtype;
  if (!reader.text(json, "dtype", 1, 32, dtype))
    return false;
  arg.dtype = findDtype(dtype);
  if (!arg.dtype)
    return reader.corrupt("unknown dtype \"%s\"", dtype.c_str());
  if (arg.kind == TKC_SCALAR && !arg.dtype->isScalar)
    return reader.corrupt("a scalar can't be of dtype %s", dtype.c_str());
  return true;
}

/// Slots for what the caller gives for each axis, `x.s0` and so on; false when there are too many.
static bool addAxes(Reader &reader, const char *suffix, NameTable &names, int index, ArgInfo &arg,
                    int &first) {
  for (size_t axis = 0; axis < arg.extents.size(); ++axis) {
    int slot =
        names.add(reader, arg.name + suffix + std::to_string(axis), index, static_cast<int>(axis));
    if (slot < 0)
      return false;
    if (axis == 0)
      first = slot;
  }
  return true;
}

static bool addDims(Reader &reader, const Json &json, NameTable &names, int index, ArgInfo &arg) {
  const Json *extents = reader.need(json, "extents");
  const Json *strides = extents ? reader.need(json, "strides") : nullptr;
  if (!strides || !reader.isArray(*extents, 0, TKC_MAX_RANK))
    return false;
  if (!strides->is_array() || strides->size() != extents->size())
    return reader.corrupt("`%s` has %zu extents, needed as many strides", arg.name.c_str(),
                          extents->size());
  arg.extents.resize(extents->size());
  arg.strides.resize(extents->size());
  return addAxes(reader, ".s", names, index, arg, arg.strideSlot) &&
         addAxes(reader, ".e", names, index, arg, arg.extentSlot);
}

/// Round one: everything about a parameter but its extents and strides; its own slots.
static bool readArg(Reader &reader, const Json &json, NameTable &names, int index, ArgInfo &arg) {
  std::string kind;
  if (!reader.isObject(json) || !reader.text(json, "name", 1, 128, arg.name) ||
      !reader.text(json, "kind", 1, 32, kind))
    return false;
  if (!isIdentifier(arg.name) || arg.name == "_" || arg.name == "sms")
    return reader.corrupt("\"%s\" is no name for a parameter", arg.name.c_str());
  if (names.findArg(arg.name) != index)
    return reader.corrupt("two parameters are called `%s`", arg.name.c_str());
  if (kind != "tensor" && kind != "pointer" && kind != "scalar")
    return reader.corrupt("kind is \"%s\", needed tensor, pointer or scalar", kind.c_str());
  arg.kind = kind == "tensor" ? TKC_TENSOR : kind == "pointer" ? TKC_POINTER : TKC_SCALAR;
  if (!readDtype(reader, json, arg))
    return false;
  if (arg.kind == TKC_SCALAR) {
    if (arg.dtype->cls != DtypeClass::Float) {
      arg.scalarSlot = names.add(reader, arg.name, index, -1);
      if (arg.scalarSlot < 0)
        return false;
    }
    return readDefault(reader, json, arg);
  }
  arg.pointerSlot = names.add(reader, arg.name + ".ptr", index, -1);
  if (arg.pointerSlot < 0 || !readMemory(reader, json, arg))
    return false;
  if (arg.kind == TKC_TENSOR)
    return addDims(reader, json, names, index, arg);
  arg.spanSlot = names.add(reader, arg.name + ".span", index, -1);
  return arg.spanSlot >= 0;
}

/// Round two, for one entry: is it `_`, a name that this entry binds, or to be checked?
static bool bindEntry(Reader &reader, const Json &json, NameTable &names, int arg, int axis,
                      bool isStride, bool isScratch, std::map<int, bool> &strideNames,
                      DimSpec &spec) {
  spec.kind = DimSpec::Kind::Check;
  const std::string *name = json.get_ptr<const std::string *>();
  if (!name || isScratch) // as large as others say: it binds nothing
    return true;
  if (*name == "_" && !isStride) {
    spec.kind = DimSpec::Kind::Free;
    return true;
  }
  if (!isIdentifier(*name) || *name == "sms")
    return true; // dotted, or a mistake: round three resolves or reports it
  spec.slot = names.find(*name);
  if (spec.slot < 0) {
    if (names.findArg(*name) >= 0)
      return true; // a float scalar or a tensor: round three reports it
    spec.slot = names.add(reader, *name, arg, axis);
    if (spec.slot < 0)
      return false;
    spec.kind = DimSpec::Kind::Bind;
    strideNames[spec.slot] = isStride;
  } else if (isStride && strideNames.count(spec.slot) && strideNames[spec.slot]) {
    // Bound by strides only: any axis longer than 1 may have to give the value.
    spec.kind = DimSpec::Kind::Bind;
  }
  return true;
}

/// Arguments that are always there bind first; what only optional ones have, those bind.
static bool bindNames(Reader &reader, const Json &list, NameTable &names, KernelInfo &kernel) {
  std::map<int, bool> strideNames;
  for (int round = 0; round < 4; ++round) {
    bool isStride = round % 2 == 1;
    for (size_t i = 0; i < kernel.args.size(); ++i) {
      ArgInfo &arg = kernel.args[i];
      if (arg.bindsFirst() != (round < 2))
        continue;
      Reader::Scope at(reader, i);
      std::vector<DimSpec> &specs = isStride ? arg.strides : arg.extents;
      for (size_t axis = 0; axis < specs.size(); ++axis)
        if (!bindEntry(reader, list[i][isStride ? "strides" : "extents"][axis], names,
                       static_cast<int>(i), static_cast<int>(axis), isStride, arg.isScratch(),
                       strideNames, specs[axis]))
          return false;
    }
  }
  return true;
}

/// Round three.
static bool readDims(Reader &reader, const Json &list, const char *field, const std::string &own,
                     NameTable &names, KernelInfo &kernel, std::vector<DimSpec> &specs) {
  Resolver resolve = names.resolver(reader);
  Reader::Scope scope(reader, field);
  for (size_t axis = 0; axis < specs.size(); ++axis) {
    Reader::Scope at(reader, axis);
    DimSpec &spec = specs[axis];
    if (!own.empty() && list[axis] == own + std::to_string(axis))
      spec.kind = DimSpec::Kind::Free;
    if (spec.kind == DimSpec::Kind::Free)
      continue;
    if (!parseExpr(reader, list[axis], resolve, kernel.code, spec.program))
      return false;
    spec.text = exprText(list[axis]);
  }
  return true;
}

bool readArgs(Reader &reader, const Json &json, NameTable &names, KernelInfo &kernel) {
  const Json *list = reader.need(json, "args");
  if (!list)
    return false;
  Reader::Scope scope(reader, "args");
  if (!reader.isArray(*list, 0, kMaxArgs))
    return false;
  for (size_t i = 0; i < list->size(); ++i) {
    Reader::Scope at(reader, i);
    kernel.args.emplace_back();
    if (!readArg(reader, (*list)[i], names, static_cast<int>(i), kernel.args.back()))
      return false;
  }
  if (!bindNames(reader, *list, names, kernel))
    return false;
  for (size_t i = 0; i < list->size(); ++i) {
    ArgInfo &arg = kernel.args[i];
    if (arg.kind != TKC_TENSOR)
      continue;
    Reader::Scope at(reader, i);
    if (!readDims(reader, (*list)[i]["extents"], "extents", "", names, kernel, arg.extents) ||
        !readDims(reader, (*list)[i]["strides"], "strides", arg.name + ".s", names, kernel,
                  arg.strides))
      return false;
  }
  return true;
}

} // namespace tkcrt
