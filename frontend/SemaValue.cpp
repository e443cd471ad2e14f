//===- SemaValue.cpp - descriptions and equality of values ------------------===//

#include "frontend/SemaValue.h"
#include "llvm/ADT/STLExtras.h"

using namespace llvm;
using namespace tk;

bool Val::isCompileTime() const {
  switch (kind) {
  case Kind::Run:
  case Kind::Tensor:
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
  default:
    return describe();
  }
}

std::string Val::describe() const {
  switch (kind) {
  case Kind::Poison:
    return "an erroneous value";
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
  case Kind::Run:
    if (type.pointer)
      return (type.isScalar() ? "a pointer " : "a tile of pointers ") + type.str();
    return (type.isScalar() ? "a run-time scalar " : "a tile ") + type.str();
  case Kind::Tensor:
    return "a tensor";
  case Kind::Function:
    return "a function";
  case Kind::Builtin:
    return "a built-in function";
  }
  return "";
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
  case Val::Kind::Tuple:
  case Val::Kind::List:
    return a.elements.size() == b.elements.size() &&
           all_of(zip(a.elements, b.elements),
                  [](auto pair) { return sameValue(std::get<0>(pair), std::get<1>(pair)); });
  default:
    return a.tensor == b.tensor && a.function == b.function && a.builtin == b.builtin;
  }
}
