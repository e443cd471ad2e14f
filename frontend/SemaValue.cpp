//===- SemaValue.cpp - descriptions and equality of values ------------------===//

#include "frontend/SemaValue.h"
#include "llvm/ADT/STLExtras.h"

using namespace llvm;
using namespace tk;

bool tk::isKindName(StringRef name) {
  return is_contained({"int", "bool", "dtype", "string"}, name);
}

std::string StructType::str() const {
  std::string text;
  for (const Val &arg : args)
    text += (text.empty() ? "" : ", ") + arg.str();
  return decl->name.text.str() + (text.empty() ? "" : "[" + text + "]");
}

std::string Val::memberName(StringRef name, size_t index) const {
  if (kind == Kind::Struct)
    return (name + "." + record->decl->fields[index].name.text).str();
  return (name + "." + Twine(index)).str();
}

bool Val::isFixedMember(size_t index) const {
  if (kind != Kind::Struct)
    return false;
  auto *named = dyn_cast<ast::NamedType>(record->decl->fields[index].type);
  return named && isKindName(named->name.text);
}

bool Val::isCompileTime() const {
  switch (kind) {
  case Kind::Run:
  case Kind::Tensor:
  case Kind::Never:
  case Kind::Module:
  case Kind::Unit:
  case Kind::Poison:
    return false;
  default:
    return all_of(elements, [](const Val &element) { return element.isCompileTime(); });
  }
}

std::string Val::str() const {
  switch (kind) {
  case Kind::Int:
    return toString(integer);
  case Kind::Float:
    return toString(*real);
  case Kind::Bool:
    return boolean ? "true" : "false";
  case Kind::Dtype:
    return dtypeName(dtype).str();
  case Kind::String:
    return "\"" + text + "\"";
  case Kind::None:
    return "None";
  case Kind::Run:
    return type.str();
  case Kind::Tuple:
  case Kind::List: {
    bool tuple = kind == Kind::Tuple;
    std::string result = tuple ? "(" : "[";
    for (size_t i = 0; i < elements.size(); ++i)
      result += (i ? ", " : "") + elements[i].str();
    return result + (tuple ? ")" : "]");
  }
  case Kind::Struct: {
    std::string result = record->str() + "(";
    for (size_t i = 0; i < elements.size(); ++i)
      result += (i ? ", " : "") + record->decl->fields[i].name.text.str() + "=" + elements[i].str();
    return result + ")";
  }
  default:
    return describe();
  }
}

std::string Val::describe() const {
  switch (kind) {
  case Kind::Poison:
    return "an erroneous value";
  case Kind::Never:
  case Kind::Unit:
    return "nothing";
  case Kind::None:
    return "`None`";
  case Kind::Int:
  case Kind::Float:
    return "the compile-time number " + str();
  case Kind::Bool:
    return "the compile-time value " + str();
  case Kind::Dtype:
    return "the dtype " + str();
  case Kind::String:
    return "the string " + str();
  case Kind::Tuple:
    return "the tuple " + str();
  case Kind::List:
    return "a list";
  case Kind::Struct:
    return "the structure " + record->str();
  case Kind::Run:
    if (type.pointer)
      return (type.isScalar() ? "a pointer " : "a tile of pointers ") + type.str();
    return (type.isScalar() ? "a run-time scalar " : "a tile ") + type.str();
  case Kind::Tensor:
    return "a tensor";
  case Kind::Function:
    if (capture)
      return "a closure";
    return (structure ? "the struct `" : "the function `") + function->name.text.str() + "`";
  case Kind::Builtin:
    return "a built-in function";
  case Kind::Module:
    return "a module";
  }
  return "";
}

static bool sameValues(ArrayRef<Val> a, ArrayRef<Val> b) {
  return a.size() == b.size() && all_of(zip(a, b), [](auto pair) {
           return sameValue(std::get<0>(pair), std::get<1>(pair));
         });
}

static bool sameType(const StructType *a, const StructType *b) {
  return a == b || (a && b && a->decl == b->decl && sameValues(a->args, b->args));
}

bool tk::sameStructure(const Val &a, const Val &b) {
  return a.isAggregate() && a.kind == b.kind && a.elements.size() == b.elements.size() &&
         sameType(a.record.get(), b.record.get());
}

bool tk::sameValue(const Val &a, const Val &b) {
  if (a.kind != b.kind)
    return false;
  switch (a.kind) {
  case Val::Kind::Int:
    return a.integer == b.integer;
  case Val::Kind::Float:
    return a.real->bitwiseIsEqual(*b.real);
  case Val::Kind::Bool:
    return a.boolean == b.boolean;
  case Val::Kind::Dtype:
    return a.dtype == b.dtype;
  case Val::Kind::String:
    return a.text == b.text;
  case Val::Kind::Run:
    return a.value == b.value;
  default:
    return a.tensor == b.tensor && a.function == b.function && a.capture == b.capture &&
           a.builtin == b.builtin && a.module == b.module && sameType(a.record.get(), b.record.get()) &&
           sameValues(a.elements, b.elements);
  }
}
