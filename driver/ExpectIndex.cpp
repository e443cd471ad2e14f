//===- ExpectIndex.cpp - slices and gathers of an expectation ------------------------------===//

#include "driver/Expect.h"
#include "llvm/ADT/STLExtras.h"
#include <algorithm>

using namespace tk;
using llvm::dyn_cast;

/// What one index takes of an axis.
struct ExpectEvaluator::Pick {
  int64_t start = 0, step = 1, count = 1;
  bool isKept = true;    // an axis of the result
  bool takesAxis = true; // an axis of the base; not so for None
  std::optional<ExpectArray> indices = std::nullopt; // of an array as index
};

static int64_t clampIndex(int64_t index, int64_t side, int64_t low, int64_t high) {
  if (index < 0)
    index += side;
  return std::clamp(index, low, high);
}

/// Start and count of `start:stop:step` on an axis.
static std::pair<int64_t, int64_t> sliceOf(int64_t side, std::optional<int64_t> start,
                                           std::optional<int64_t> stop, int64_t step) {
  const bool down = step < 0;
  const int64_t low = down ? -1 : 0, high = down ? side - 1 : side;
  int64_t begin = start ? clampIndex(*start, side, low, high) : down ? side - 1 : 0;
  int64_t end = stop ? clampIndex(*stop, side, low, high) : down ? -1 : side;
  int64_t span = down ? begin - end : end - begin;
  return {begin, std::max<int64_t>((span + std::abs(step) - 1) / std::abs(step), 0)};
}

std::optional<ExpectEvaluator::Pick>
ExpectEvaluator::pickOf(const ast::Subscript *expr, const ast::Index &index, int64_t side) {
  auto outside = [&]() {
    fail(&index, "is outside the axis of " + std::to_string(side));
    return std::nullopt;
  };
  std::optional<int64_t> start, stop, step = 1;
  switch (index.kind) {
  case ast::Index::Kind::Slice: {
    if ((index.start && !(start = integer(index.start))) ||
        (index.stop && !(stop = integer(index.stop))) ||
        (index.step && !(step = integer(index.step))))
      return std::nullopt;
    if (*step == 0) {
      fail(expr, "has a step of zero");
      return std::nullopt;
    }
    auto [begin, count] = sliceOf(side, start, stop, *step);
    return Pick{begin, *step, count};
  }
  case ast::Index::Kind::Block: {
    start = integer(index.start);
    std::optional<int64_t> width = start ? integer(index.width) : std::nullopt;
    if (!width)
      return std::nullopt;
    if (*start < 0 || *width < 0 || *start > side - *width)
      return outside();
    return Pick{*start, 1, *width};
  }
  case ast::Index::Kind::Expr:
    break;
  default:
    fail(&index, "has no meaning here");
    return std::nullopt;
  }
  Result value = evaluate(index.value);
  if (!value)
    return std::nullopt;
  for (double &at : value->data) {
    if (std::trunc(at) != at) {
      fail(&index, "is not an integer");
      return std::nullopt;
    }
    at += at < 0 ? double(side) : 0;
    if (at < 0 || at >= double(side))
      return outside();
  }
  Pick pick{0, 1, 1, false};
  if (value->shape.empty())
    pick.start = int64_t(value->data[0]);
  else
    pick.indices = std::move(*value);
  return pick;
}

/// All arrays of indices broadcast together and stand where the first of them does.
ExpectEvaluator::Result ExpectEvaluator::gather(const ast::Subscript *expr, const ExpectArray &base,
                                                const std::vector<Pick> &picks) {
  std::vector<int64_t> strides(base.shape.size(), 1), picked;
  for (size_t i = base.shape.size(); i-- > 1;)
    strides[i - 1] = strides[i] * base.shape[i];
  for (const Pick &pick : picks) {
    auto both = broadcastShapes(picked, pick.indices ? pick.indices->shape : std::vector<int64_t>());
    if (!both)
      return fail(expr, "has indices of shapes that do not broadcast");
    picked = *both;
  }
  int64_t offset = 0;
  size_t axis = 0, first = 0;
  bool hasPicked = false;
  ExpectArray offsets = ExpectArray::filled(picked);
  std::vector<int64_t> shape, steps;
  for (const Pick &pick : picks) {
    const int64_t stride = pick.takesAxis ? strides[axis++] : 0;
    offset += pick.start * stride;
    if (pick.isKept) {
      shape.push_back(pick.count);
      steps.push_back(pick.step * stride);
    }
    if (!pick.indices)
      continue;
    first = hasPicked ? first : shape.size();
    hasPicked = true;
    const ExpectArray spread = broadcastTo(*pick.indices, picked);
    for (size_t i = 0; i < offsets.data.size(); ++i)
      offsets.data[i] += spread.data[i] * double(stride);
  }
  // The picked elements as one axis of no step, whose number tells the offset.
  const int64_t count = offsets.size();
  shape.insert(shape.begin() + int64_t(first), count);
  steps.insert(steps.begin() + int64_t(first), 0);
  ExpectArray result = ExpectArray::filled(shape);
  result.dtype = base.dtype;
  result.bits.resize(base.bits.empty() ? 0 : result.data.size());
  for (int64_t index = 0; index < result.size(); ++index) {
    int64_t rest = index, from = offset;
    for (size_t k = shape.size(); k-- > 0;) {
      const int64_t at = rest % shape[k];
      from += k == first ? int64_t(offsets.data[size_t(at)]) : at * steps[k];
      rest /= shape[k];
    }
    result.data[size_t(index)] = base.data[size_t(from)];
    if (!base.bits.empty())
      result.bits[size_t(index)] = base.bits[size_t(from)];
  }
  result.shape.erase(result.shape.begin() + int64_t(first));
  result.shape.insert(result.shape.begin() + int64_t(first), picked.begin(), picked.end());
  return result;
}

ExpectEvaluator::Result ExpectEvaluator::subscript(const ast::Subscript *expr) {
  auto found = names.find(keyOf(expr));
  if (found != names.end())
    return found->second;
  Result base = evaluate(expr->base);
  if (!base)
    return std::nullopt;
  std::vector<Pick> picks;
  size_t axis = 0;
  for (const ast::Index &index : expr->indices) {
    auto *name = index.value ? dyn_cast<ast::Name>(index.value) : nullptr;
    if (index.kind == ast::Index::Kind::Expr && name && name->text == "None") {
      picks.push_back({0, 0, 1, true, false});
      continue;
    }
    if (axis == base->shape.size())
      return fail(expr, "has more indices than axes: " + shapeText(base->shape));
    std::optional<Pick> pick = pickOf(expr, index, base->shape[axis++]);
    if (!pick)
      return std::nullopt;
    picks.push_back(std::move(*pick));
  }
  for (; axis < base->shape.size(); ++axis)
    picks.push_back({0, 1, base->shape[axis]});
  return gather(expr, *base, picks);
}

/// take(x, i, axis=0): x[i] along an axis.
ExpectEvaluator::Result ExpectEvaluator::take(const ast::Call *expr) {
  auto values = arguments(expr, 2, 2);
  if (!values || !onlyNamed(expr, {"axis"}))
    return std::nullopt;
  const ExpectArray &x = (*values)[0], &index = (*values)[1];
  std::optional<int64_t> axis;
  if (!axisOf(expr, x, 2, axis))
    return std::nullopt;
  std::vector<Pick> unused;
  const size_t at = size_t(axis.value_or(0));
  if (x.shape.empty())
    return fail(expr, "takes elements of a number");
  std::vector<int64_t> shape(x.shape.begin(), x.shape.begin() + int64_t(at));
  shape.insert(shape.end(), index.shape.begin(), index.shape.end());
  shape.insert(shape.end(), x.shape.begin() + int64_t(at) + 1, x.shape.end());
  int64_t inner = 1;
  for (size_t i = at + 1; i < x.shape.size(); ++i)
    inner *= x.shape[i];
  ExpectArray result = ExpectArray::filled(shape);
  const int64_t side = x.shape[at], count = index.size();
  for (int64_t i = 0; i < result.size(); ++i) {
    const double wanted = index.data[size_t(i / inner % count)];
    if (!(wanted >= 0 && wanted < double(side)))
      return fail(expr, "takes element " + std::to_string(int64_t(wanted)) + " of an axis of " +
                            std::to_string(side));
    result.data[size_t(i)] =
        x.data[size_t((i / inner / count * side + int64_t(wanted)) * inner + i % inner)];
  }
  return result;
}
