//===- Jobs.cpp - inputs and expectations of the suite's kernels ------------===//
#include "Jobs.h"

#include <cstring>

namespace suite {

std::string describe(const tkc::kernel &kernel, int variant) {
  size_t bytes = 0;
  tkc_describe(kernel.get(), variant, nullptr, &bytes, nullptr);
  std::string json(bytes, 0);
  tkc::status status;
  tkc_describe(kernel.get(), variant, json.data(), &bytes, status.get());
  need(status);
  return json;
}

constexpr float kPoison = -77777;
constexpr Half kHalfPoison{0xdead};

Half half(int value) {
  uint16_t sign = value < 0 ? 0x8000 : 0;
  unsigned magnitude = static_cast<unsigned>(value < 0 ? -value : value);
  if (!magnitude)
    return {sign};
  int exponent = 31 - __builtin_clz(magnitude);
  unsigned fraction = exponent <= 10 ? magnitude << (10 - exponent) : magnitude >> (exponent - 10);
  return {static_cast<uint16_t>(sign | (static_cast<unsigned>(exponent + 15) << 10) |
                                (fraction & 0x3ff))};
}

/// The input at i: whole, and another one for each seed.
static int numberAt(int64_t i, int seed) {
  return static_cast<int>((i * 7 + seed * 13) % 199) - 99;
}

static std::string shown(float value) {
  return text("%g", static_cast<double>(value));
}
static std::string shown(Half value) {
  return text("%#x", value.bits);
}

template <class T, class Expected>
static void compare(const char *what, const std::vector<T> &found, size_t size, T poison,
                    const Expected &expected) {
  for (size_t i = 0; i < found.size(); ++i) {
    T wanted = i < size ? expected(static_cast<int64_t>(i)) : poison;
    if (memcmp(&found[i], &wanted, sizeof(T)) != 0)
      fail("%s: element %zu of %zu is %s, expected %s%s", what, i, size, shown(found[i]).c_str(),
           shown(wanted).c_str(), i < size ? "" : " (beyond the output)");
  }
}

void Workspace::clear(tkc::stream stream) const {
  if (cuda.cuMemsetD8Async)
    SUITE_CALL(cuMemsetD8Async, data(), 0, bytes, stream.handle);
  else
    memset(data(), 0, bytes); // host memory, and launches that are over
}

void AddJob::fill(int64_t wanted, int of) {
  size = wanted;
  seed = of;
  std::vector<float> values(x.size());
  for (size_t i = 0; i < values.size(); ++i)
    values[i] = static_cast<float>(numberAt(static_cast<int64_t>(i) - shift, seed));
  x.put(values);
  for (float &value : values)
    value += 1000;
  y.put(values);
  z.put(std::vector<float>(z.size(), kPoison));
}

tkc::status AddJob::encode(tkc::encoded<> &launch) const {
  return kernel.encode(launch, {}, tkc::read(tkc::tensor(x.data() + shift, {size})),
                       tkc::read(tkc::tensor(y.data() + shift, {size})),
                       tkc::write(tkc::tensor(z.data(), {size})));
}

void AddJob::verify() const {
  compare("add", z.get(), static_cast<size_t>(size), kPoison,
          [&](int64_t i) { return static_cast<float>(2 * numberAt(i, seed) + 1000); });
}

void ScaleJob::fill(int64_t wanted, int of) {
  size = wanted;
  seed = of;
  std::vector<Half> values(x.size());
  for (size_t i = 0; i < values.size(); ++i)
    values[i] = half(numberAt(static_cast<int64_t>(i), seed));
  x.put(values);
  y.put(std::vector<Half>(y.size(), kHalfPoison));
}

tkc::status ScaleJob::encode(tkc::encoded<> &launch) const {
  return kernel.encode(launch, {}, tkc::read(tkc::tensor(x.data(), {size})),
                       tkc::write(tkc::tensor(y.data(), {size})), tkc::value(2.0f));
}

void ScaleJob::verify() const {
  compare("scale", y.get(), static_cast<size_t>(size), kHalfPoison,
          [&](int64_t i) { return half(2 * numberAt(i, seed)); });
}

constexpr int64_t kRow = 200, kPitch = 256;

void RowSumsJob::fill(int64_t wanted, int of) {
  size = wanted;
  seed = of;
  std::vector<float> values(x.size(), kPoison); // what lies between the rows is not summed
  for (int64_t row = 0; row < size; ++row)
    for (int64_t i = 0; i < kRow; ++i)
      values[static_cast<size_t>(row * kPitch + i)] = static_cast<float>(numberAt(row + i, seed));
  x.put(values);
  y.put(std::vector<float>(y.size(), kPoison));
}

tkc::status RowSumsJob::encode(tkc::encoded<> &launch) const {
  return kernel.encode(launch, {}, tkc::read(tkc::tensor(x.data(), {size, kRow}, {kPitch, 1})),
                       tkc::write(tkc::tensor(y.data(), {size})));
}

void RowSumsJob::verify() const {
  compare("row_sums", y.get(), static_cast<size_t>(size), kPoison, [&](int64_t row) {
    int sum = 0;
    for (int64_t i = 0; i < kRow; ++i)
      sum += numberAt(row + i, seed);
    return static_cast<float>(sum);
  });
}

/// Memory for the workspace of a launch of these arguments; none when it takes none.
template <class... Args>
static std::unique_ptr<Workspace> makeWorkspace(const tkc::kernel &kernel, const Args &...args) {
  uint64_t bytes = need(kernel.workspace({}, args...)).bytes;
  return bytes ? std::make_unique<Workspace>(bytes) : nullptr;
}

TotalJob::TotalJob(const tkc::kernel &kernel, size_t largest) : Job(kernel), x(largest), y(1) {
  // Never needs more for a smaller size.
  workspace = makeWorkspace(kernel, tkc::read(tkc::tensor(x.data(), {int64_t(largest)})),
                            tkc::write(tkc::tensor(y.data(), {1})), tkc::absent(), tkc::absent());
}

void TotalJob::fill(int64_t wanted, int of) {
  size = wanted;
  seed = of;
  std::vector<float> values(x.size());
  for (size_t i = 0; i < values.size(); ++i)
    values[i] = static_cast<float>(numberAt(static_cast<int64_t>(i), seed));
  x.put(values);
  y.put({kPoison});
}

tkc::status TotalJob::encode(tkc::encoded<> &launch) const {
  return kernel.encode(launch, workspace->options(), tkc::read(tkc::tensor(x.data(), {size})),
                       tkc::write(tkc::tensor(y.data(), {1})), tkc::absent(), tkc::absent());
}

void TotalJob::ahead(tkc::stream stream) const {
  workspace->clear(stream);
}

void TotalJob::verify() const {
  compare("total", y.get(), 1, kPoison, [&](int64_t) {
    int sum = 0;
    for (int64_t i = 0; i < size; ++i)
      sum += numberAt(i, seed);
    return static_cast<float>(sum);
  });
}

ProductJob::ProductJob(const tkc::kernel &kernel, bool takesWorkspace, size_t largest)
    : Job(kernel), a(largest * kDepth), b(kDepth * kColumns), c(largest * kColumns) {
  if (takesWorkspace)
    workspace = makeWorkspace(kernel, tkc::read(tkc::tensor(a.data(), {int64_t(largest), kDepth})),
                              tkc::read(tkc::tensor(b.data(), {kDepth, kColumns})),
                              tkc::write(tkc::tensor(c.data(), {int64_t(largest), kColumns})),
                              tkc::absent(), tkc::absent());
}

/// -1, 0 or 1: a sum of 192 products is exact in f16.
static std::vector<int> smallNumbers(size_t count, int seed) {
  std::vector<int> numbers(count);
  for (size_t i = 0; i < count; ++i)
    numbers[i] = (numberAt(static_cast<int64_t>(i), seed) + 99) % 3 - 1;
  return numbers;
}

static void putHalves(const Array<Half> &array, const std::vector<int> &numbers) {
  std::vector<Half> values(array.size(), half(0));
  for (size_t i = 0; i < numbers.size(); ++i)
    values[i] = half(numbers[i]);
  array.put(values);
}

void ProductJob::fill(int64_t wanted, int seed) {
  size = wanted;
  left = smallNumbers(static_cast<size_t>(size * kDepth), seed);
  right = smallNumbers(b.size(), seed + 1);
  putHalves(a, left);
  putHalves(b, right);
  c.put(std::vector<Half>(c.size(), kHalfPoison));
}

tkc::status ProductJob::encode(tkc::encoded<> &launch) const {
  auto left = tkc::read(tkc::tensor(a.data(), {size, kDepth}));
  auto right = tkc::read(tkc::tensor(b.data(), {kDepth, kColumns}));
  auto product = tkc::write(tkc::tensor(c.data(), {size, kColumns}));
  if (!workspace)
    return kernel.encode(launch, {}, left, right, product);
  return kernel.encode(launch, workspace->options(), left, right, product, tkc::absent(),
                       tkc::absent());
}

void ProductJob::ahead(tkc::stream stream) const {
  if (workspace)
    workspace->clear(stream);
}

void ProductJob::verify() const {
  compare("product", c.get(), static_cast<size_t>(size * kColumns), kHalfPoison, [&](int64_t at) {
    int64_t row = at / kColumns, column = at % kColumns;
    int sum = 0;
    for (int64_t k = 0; k < kDepth; ++k)
      sum += left[static_cast<size_t>(row * kDepth + k)] *
             right[static_cast<size_t>(k * kColumns + column)];
    return half(sum);
  });
}

} // namespace suite
