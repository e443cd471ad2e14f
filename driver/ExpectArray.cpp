//===- ExpectArray.cpp - whole arrays in f64 -----------------------------------------------===//

#include "driver/Expect.h"

using namespace tk;
using llvm::ArrayRef;

static int64_t sizeOf(ArrayRef<int64_t> shape) {
  int64_t size = 1;
  for (int64_t side : shape)
    size *= side;
  return size;
}

ExpectArray ExpectArray::filled(std::vector<int64_t> shape, double value) {
  ExpectArray array;
  array.data.assign(size_t(sizeOf(shape)), value);
  array.shape = std::move(shape);
  return array;
}

std::optional<std::vector<int64_t>> tk::broadcastShapes(ArrayRef<int64_t> a, ArrayRef<int64_t> b) {
  std::vector<int64_t> shape(std::max(a.size(), b.size()));
  for (size_t i = 0; i < shape.size(); ++i) {
    int64_t x = i < a.size() ? a[a.size() - 1 - i] : 1;
    int64_t y = i < b.size() ? b[b.size() - 1 - i] : 1;
    if (x != y && x != 1 && y != 1)
      return std::nullopt;
    shape[shape.size() - 1 - i] = x == 1 ? y : x;
  }
  return shape;
}

ExpectArray tk::broadcastTo(const ExpectArray &array, ArrayRef<int64_t> shape) {
  if (ArrayRef<int64_t>(array.shape) == shape)
    return array;
  ExpectArray result = ExpectArray::filled(shape.vec());
  std::vector<int64_t> strides(shape.size(), 0);
  int64_t stride = 1;
  for (size_t i = 0; i < array.shape.size(); ++i) {
    int64_t side = array.shape[array.shape.size() - 1 - i];
    strides[shape.size() - 1 - i] = side == 1 ? 0 : stride;
    stride *= side;
  }
  for (int64_t index = 0; index < result.size(); ++index) {
    int64_t rest = index, from = 0;
    for (size_t axis = shape.size(); axis-- > 0;) {
      from += rest % shape[axis] * strides[axis];
      rest /= shape[axis];
    }
    result.data[size_t(index)] = array.data[size_t(from)];
  }
  return result;
}

ExpectArray tk::reduceAxis(const ExpectArray &array, std::optional<int64_t> axis,
                           const std::function<double(const std::vector<double> &)> &fn) {
  if (!axis)
    return ExpectArray::number(fn(array.data));
  const size_t at = size_t(*axis);
  std::vector<int64_t> shape = array.shape;
  const int64_t side = shape[at];
  const int64_t inner = sizeOf(ArrayRef(shape).drop_front(at + 1));
  const int64_t outer = sizeOf(ArrayRef(shape).take_front(at));
  shape.erase(shape.begin() + int64_t(at));
  ExpectArray result = ExpectArray::filled(shape);
  std::vector<double> line(static_cast<size_t>(side));
  for (int64_t o = 0; o < outer; ++o)
    for (int64_t i = 0; i < inner; ++i) {
      for (int64_t s = 0; s < side; ++s)
        line[size_t(s)] = array.data[size_t((o * side + s) * inner + i)];
      result.data[size_t(o * inner + i)] = fn(line);
    }
  return result;
}

ExpectArray tk::mapAxis(const ExpectArray &array, int64_t axis, int64_t side,
                        const std::function<void(std::vector<double> &)> &fn) {
  const size_t at = size_t(axis);
  const int64_t from = array.shape[at];
  const int64_t inner = sizeOf(ArrayRef(array.shape).drop_front(at + 1));
  const int64_t outer = sizeOf(ArrayRef(array.shape).take_front(at));
  std::vector<int64_t> shape = array.shape;
  shape[at] = side;
  ExpectArray result = ExpectArray::filled(shape);
  std::vector<double> line;
  for (int64_t o = 0; o < outer; ++o)
    for (int64_t i = 0; i < inner; ++i) {
      line.resize(size_t(from));
      for (int64_t s = 0; s < from; ++s)
        line[size_t(s)] = array.data[size_t((o * from + s) * inner + i)];
      fn(line);
      for (int64_t s = 0; s < side; ++s)
        result.data[size_t((o * side + s) * inner + i)] = line[size_t(s)];
    }
  return result;
}

ExpectArray tk::permuteAxes(const ExpectArray &array, ArrayRef<int64_t> order) {
  std::vector<int64_t> strides(order.size(), 1), shape, moved;
  for (size_t i = order.size(); i-- > 1;)
    strides[i - 1] = strides[i] * array.shape[i];
  for (int64_t axis : order) {
    shape.push_back(array.shape[size_t(axis)]);
    moved.push_back(strides[size_t(axis)]);
  }
  ExpectArray result = ExpectArray::filled(shape);
  result.bits.resize(array.bits.size());
  result.dtype = array.dtype;
  for (int64_t index = 0; index < result.size(); ++index) {
    int64_t rest = index, from = 0;
    for (size_t axis = shape.size(); axis-- > 0;) {
      from += rest % shape[axis] * moved[axis];
      rest /= shape[axis];
    }
    result.data[size_t(index)] = array.data[size_t(from)];
    if (!array.bits.empty())
      result.bits[size_t(index)] = array.bits[size_t(from)];
  }
  return result;
}

std::string tk::shapeText(ArrayRef<int64_t> shape) {
  std::string text = "[";
  for (size_t i = 0; i < shape.size(); ++i)
    text += (i ? ", " : "") + std::to_string(shape[i]);
  return text + "]";
}

std::string tk::coordinateText(ArrayRef<int64_t> shape, int64_t index) {
  std::vector<int64_t> coordinates(shape.size());
  for (size_t axis = shape.size(); axis-- > 0;) {
    coordinates[axis] = index % shape[axis];
    index /= shape[axis];
  }
  return shapeText(coordinates);
}
