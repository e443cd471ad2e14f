//===- GeneratorMemory.cpp - places, pointers, views, workspace -------------------------===//

#include "tests/fuzz/Writer.h"

using namespace tk::fuzz;

using Access = TensorArg::Access;

/// A scalar index of an axis, inside it.
std::string Writer::index(int64_t extent) {
  if (extent == 1)
    return "0";
  if (choices.chance(50) || function)
    return std::to_string(choices.below(uint32_t(extent)));
  return "pid % " + std::to_string(extent);
}

/// A place with the last axes of the type; sides of the type that have no axis are dropped from it.
std::string Writer::placeText(const Source &source, Type &type) {
  while (type.shape.size() > source.extents.size())
    type.shape.pop_back();
  size_t extra = source.extents.size() - type.shape.size();
  std::string text;
  bool gathers = false;
  for (size_t axis = 0; axis < source.extents.size(); ++axis) {
    int64_t extent = source.extents[axis];
    text += axis ? ", " : "";
    if (axis < extra) {
      text += index(extent);
      continue;
    }
    int64_t side = type.shape[axis - extra];
    if (!gathers && choices.chance(policy == Policy::Masks ? 40 : 10)) {
      gathers = true; // some indices lie outside and read the fill
      text += "(" + expr({DType::i32, {side}}, 1).text + ").to(i32) % " + std::to_string(extent + 2);
      continue;
    }
    int64_t start = choices.chance(30) ? int64_t(choices.below(uint32_t(extent) + 2)) - 1 : 0;
    text += std::to_string(start) + " +: " + std::to_string(side);
  }
  return source.name + "[" + text + "]";
}

Expr Writer::readPlace(const Source &source, const Type &type) {
  Type read = type;
  std::string text = placeText(source, read);
  text.pop_back(); // the bracket
  if (choices.chance(30) && type.dtype != DType::i1)
    text += isFloatType(source.dtype) ? ", fill=1.0" : ", fill=1";
  if (!type.shape.empty() && choices.chance(policy == Policy::Masks ? 60 : 15))
    text += ", mask=" + condition(type.shape, 1).text;
  text += "]";
  if (!type.shape.empty() && choices.chance(15))
    text = "load(" + text + choices.pick<std::string>({", evict=\"first\"", ", cache=\"cg\"", ""}) + ")";
  return {text, 8};
}

/// A place of an input of that element type with at least as many axes; nothing when there is none.
Expr Writer::readTensor(const Type &type) {
  if (function)
    return {"", 0};
  if (choices.chance(15)) {
    Expr value = loadPointer(type);
    if (!value.text.empty())
      return value;
  }
  std::vector<Source> fitting;
  for (const Source &source : sources)
    if (source.dtype == type.dtype && !source.isPointer && source.extents.size() >= type.shape.size())
      fitting.push_back(source);
  return fitting.empty() ? Expr{"", 0} : readPlace(choices.pick(fitting), type);
}

/// Through addresses that all lie in the memory.
Expr Writer::loadPointer(const Type &type) {
  for (const Source &source : sources) {
    if (!source.isPointer || source.dtype != type.dtype)
      continue;
    std::string count = std::to_string(source.extents[0]);
    std::string offset = "((" + expr({DType::i32, type.shape}, 1).text + " & 255) % " + count + ")";
    std::string text = "load(" + source.name + " + " + offset;
    if (choices.chance(40))
      text += ", mask=" + condition(type.shape, 1).text + choices.pick<std::string>({"", isFloatType(type.dtype) ? ", fill=1.0" : ", fill=1"});
    text += choices.pick<std::string>({"", "", ", evict=\"first\"", ", cache=\"cg\"",
                                       ", volatile=true"});
    return {text + ")", 8};
  }
  return {"", 0};
}

/// A parameter with that access, or null.
const TensorArg *Writer::findTensor(Access access, bool isStorage) {
  std::vector<const TensorArg *> found;
  for (const TensorArg &arg : program.tensors)
    if (arg.access == access && isStorageType(arg.dtype) == isStorage && arg.name != "d" && arg.name != "sink" &&
        arg.name != "done" && arg.name != "carry")
      found.push_back(&arg);
  return found.empty() ? nullptr : choices.pick(found);
}

/// A tile into this instance's row; a part of it may lie outside, where nothing is written.
void Writer::writeOutput() {
  const TensorArg *found = findTensor(Access::Out, inFull(15));
  if (!found)
    found = findTensor(Access::Out, false);
  const TensorArg arg = *found;
  Type type{arg.dtype, {}};
  bool isView = inFull(15);
  std::string place;
  for (size_t axis = 1; axis < arg.extents.size(); ++axis) {
    int64_t extent = arg.extents[axis];
    int64_t side = choices.chance(50) ? extent : 1 + int64_t(choices.below(uint32_t(extent + 3)));
    int64_t start = choices.chance(30) ? int64_t(choices.below(uint32_t(extent))) - 1 : 0;
    place += ", " + std::to_string(start) + " +: " + std::to_string(side);
    type.shape.push_back(side);
  }
  if (elementsOf(type.shape) > 4 * settings.maxTileElements)
    return;
  if (isView) {
    std::string all;
    for (size_t axis = 1; axis < arg.extents.size(); ++axis)
      all += ", :";
    place = "view(" + arg.name + "[pid" + all + "])[" + place.substr(2) + "]";
  } else
    place = arg.name + "[pid" + place + "]";
  if (!isStorageType(arg.dtype))
    return line(place + " = " + expr(type, 3).text);
  Type wide{interp::isFloat(arg.dtype) ? DType::f32 : DType::i32, type.shape};
  line(place + " = (" + expr(wide, 2).text + ").to(" + dtypeText(arg.dtype) + ")");
}

/// To indices that differ, in another order than they lie.
void Writer::scatter() {
  for (const TensorArg &arg : program.tensors) {
    if (arg.access != Access::Out || arg.extents.size() != 2 || arg.name == "sink" || isStorageType(arg.dtype))
      continue;
    int64_t side = arg.extents[1] + (arg.extents[1] & 1);
    line(arg.name + "[pid, arange(0, " + std::to_string(side) + ") ^ 1] = " +
         expr({arg.dtype, {side}}, 2).text);
    return;
  }
  declare();
}

/// To this instance's part of the memory.
void Writer::storePointer() {
  for (const TensorArg &arg : program.tensors) {
    if (arg.name != "d")
      continue;
    int64_t part = arg.extents[0] / instances, side = 1 + int64_t(choices.below(uint32_t(part)));
    std::string sides = std::to_string(side);
    Expr value = expr({arg.dtype, {side}}, 2);
    std::string mask = choices.chance(40) ? ", mask=" + condition({side}, 1).text : "";
    line("store(d + (pid * " + std::to_string(part) + " + arange(0, " + sides + ")), " + value.text + mask +
         choices.pick<std::string>({"", "", ", evict=\"first\"", ", cache=\"cs\""}) + ")");
    return;
  }
  declare();
}

/// A part of what can be read, by bounds that are known here and mostly not to the compiler.
void Writer::declareView() {
  if (sources.empty())
    return declare();
  const Source source = choices.pick(sources);
  Source view{fresh("w"), source.dtype, {}, false, true};
  std::string text;
  if (source.isPointer) {
    int64_t rows = choices.pick({2, 1, 5});
    view.extents = {rows, 3};
    text = source.name + " + " + std::to_string(choices.below(2)) + ", [" + std::to_string(rows) + ", 3]" +
           choices.pick<std::string>({"", ", strides=[1, " + std::to_string(rows) + "]"});
  } else {
    for (size_t axis = 0; axis < source.extents.size(); ++axis) {
      int64_t extent = source.extents[axis];
      text += axis ? ", " : source.name + "[";
      unsigned kind = choices.below(4);
      bool isLast = axis + 1 == source.extents.size();
      if (kind == 1 && (!isLast || !view.extents.empty()) && !isStorageType(source.dtype)) {
        text += index(extent);
        continue;
      }
      int64_t low = isStorageType(source.dtype) ? 0 : choices.below(uint32_t(extent));
      std::string start = kind == 2 && low ? "(pid * 0 + " + std::to_string(low) + ")" : std::to_string(low);
      text += start + (kind == 3 ? " +: " + std::to_string(extent - low) : ":" + std::to_string(extent));
      view.extents.push_back(extent - low);
    }
    text += "]";
  }
  line("let " + view.name + " = view(" + text + ")");
  sources.push_back(view);
}

/// What may be absent is read where it is there.
void Writer::useOptional() {
  for (const TensorArg &arg : program.tensors) {
    if (arg.name != "opt")
      continue;
    Type type{arg.dtype, {arg.extents.back()}};
    std::string name = fresh("v");
    line("var " + name + " = " + bounded(expr(type, 1), type.dtype));
    line(choices.chance(70) ? "if opt {" : "if opt && " + condition({}, 1).text + " {");
    ++indent;
    line(name + " = " + readPlace({arg.name, arg.dtype, arg.extents}, type).text);
    --indent;
    line("}");
    scope.push_back({name, type, true, kVarBound});
    return;
  }
  declare();
}

/// What an instance puts into its row of the workspace it reads again.
void Writer::useScratch() {
  for (const TensorArg &arg : program.tensors) {
    if (arg.access != Access::Scratch)
      continue;
    Type type{arg.dtype, {arg.extents[1]}};
    std::string place = "work[pid, " + choices.pick<std::string>({":", "0 +: " + std::to_string(arg.extents[1])}) + "]";
    std::string name = fresh("v"), value = bounded(expr(type, 2), type.dtype);
    line(place + " = " + value);
    line("let " + name + " = " + place);
    scope.push_back({name, type, false, kVarBound});
    return;
  }
  declare();
}
