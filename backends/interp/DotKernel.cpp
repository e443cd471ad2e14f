//===- DotKernel.cpp - decoding operands, and the innermost loops ------------------===//

#include "backends/interp/DotKernel.h"

using namespace tk::interp;

static size_t roundUp(size_t value, size_t multiple) {
  return (value + multiple - 1) / multiple * multiple;
}

size_t tk::interp::dotScratchBytes(const DotPlan &plan) {
  const size_t rows = roundUp(plan.m, kDotRows), columns = roundUp(plan.n, kDotColumns);
  const size_t line = std::max(plan.k, plan.n);
  return 8 * ((rows + columns) * plan.k + line + kDotFacts * (rows + columns));
}

DotPanels tk::interp::dotPanels(const DotPlan &plan, const Frame &frame) {
  const size_t rows = roundUp(plan.m, kDotRows), columns = roundUp(plan.n, kDotColumns);
  DotPanels panels;
  panels.a = frame.at<double>(plan.scratch);
  panels.b = panels.a + rows * plan.k;
  panels.line = panels.b + columns * plan.k;
  panels.facts = panels.line + std::max(plan.k, plan.n);
  return panels;
}

//===----------------------------------------------------------------------===//
// Decoding
//===----------------------------------------------------------------------===//

template <class T> static void decodeAs(const uint8_t *from, size_t count, double *to) {
  const T *elements = reinterpret_cast<const T *>(from);
  for (size_t i = 0; i < count; ++i)
    to[i] = double(Numeric<T>::load(elements[i]));
}

static void decode(const DotPlan::Operand &operand, const uint8_t *from, size_t count, double *to) {
  switch (operand.dtype) {
  case DType::f16:
    return decodeAs<F16>(from, count, to);
  case DType::bf16:
    return decodeAs<BF16>(from, count, to);
  case DType::f32:
    return decodeAs<float>(from, count, to);
  case DType::f64:
    return decodeAs<double>(from, count, to);
  default:
    for (size_t i = 0; i < count; ++i)
      to[i] = operand.numbers[from[i]];
  }
}

/// To nearest even in the eleven digits of tf32. Adding may carry into the exponent, up to
/// infinity, as it should.
static double roundToTf32(double value) {
  uint32_t bits = std::bit_cast<uint32_t>(float(value));
  if ((bits & 0x7fffffffu) < 0x7f800000u)
    bits = (bits + 0xfffu + (bits >> 13 & 1)) & ~0x1fffu;
  return double(std::bit_cast<float>(bits));
}

//===----------------------------------------------------------------------===//
// Panels
//===----------------------------------------------------------------------===//

namespace {
/// One row of a matrix in memory, decoded with scales and rounding.
struct RowReader {
  const DotPlan &plan;
  const DotPlan::Operand &operand;
  const Frame &frame;
  DotPart part;
  size_t columns;

  void values(size_t row, double *line) const;
  void magnitudes(size_t row, double *line) const;
  void read(size_t row, double *line) const {
    values(row, line);
    if (part != DotPart::Value)
      magnitudes(row, line);
  }
};
} // namespace

void RowReader::values(size_t row, double *line) const {
  const uint8_t *from = frame.arena + operand.slot + row * columns * byteSize(operand.dtype);
  decode(operand, from, columns, line);
  if (plan.input == DotInputRule::Tf32)
    for (size_t i = 0; i < columns; ++i)
      line[i] = roundToTf32(line[i]);
}

/// An operand that two engines may round to different neighbours in tf32 is off by a unit more.
void RowReader::magnitudes(size_t row, double *line) const {
  const bool addsBounds =
      part == DotPart::Largest && frame.boundArena && isFloat(operand.dtype);
  const double *bounds = addsBounds ? frame.boundsAt(operand.slot) + row * columns : nullptr;
  const double unit = plan.input == DotInputRule::Tf32 ? 0x1p-10 : 0;
  for (size_t i = 0; i < columns; ++i) {
    const double magnitude = std::fabs(line[i]);
    const double bound = bounds ? bounds[i] : 0;
    line[i] = bound == 0 ? magnitude : magnitude + bound + unit * (magnitude + bound);
  }
}

/// `length` numbers into the panel of `row`, one for each k.
static void packRow(const double *line, size_t length, size_t row, size_t width, double *panels) {
  double *to = panels + row / width * width * length + row % width;
  for (size_t k = 0; k < length; ++k)
    to[k * width] = line[k];
}

/// The scales of one row of a: [k / block] numbers.
static void scaleRow(const DotPlan &plan, size_t row, const Frame &frame, double *line) {
  const DotPlan::Operand &a = plan.a;
  if (!a.block)
    return;
  const size_t blocks = plan.k / a.block;
  const uint8_t *scales = frame.at<uint8_t>(a.scale) + row * blocks;
  for (size_t k = 0; k < plan.k; ++k)
    line[k] *= a.scaleNumbers[scales[k / a.block]];
}

/// The scales of row k of b: one for each column.
static void scaleColumns(const DotPlan &plan, size_t batch, size_t k, const Frame &frame,
                         double *line) {
  const DotPlan::Operand &b = plan.b;
  if (!b.block)
    return;
  const size_t row = batch * (plan.k / b.block) + k / b.block;
  const uint8_t *scales = frame.at<uint8_t>(b.scale) + row * plan.n;
  for (size_t n = 0; n < plan.n; ++n)
    line[n] *= b.scaleNumbers[scales[n]];
}

/// A magnitude's scale has no sign: scales of e4m3 may be negative.
static void dropSigns(DotPart part, size_t count, double *line) {
  for (size_t i = 0; part != DotPart::Value && i < count; ++i)
    line[i] = std::fabs(line[i]);
}

void tk::interp::packDotOperands(const DotPlan &plan, uint32_t batch, DotPart part,
                                 const Frame &frame, const DotPanels &panels) {
  const size_t rows = roundUp(plan.m, kDotRows), columns = roundUp(plan.n, kDotColumns);
  const RowReader left = {plan, plan.a, frame, part, plan.k};
  const RowReader right = {plan, plan.b, frame, part, plan.n};
  double *line = panels.line;
  for (size_t m = 0; m < rows; ++m) {
    if (m < plan.m) {
      const size_t row = size_t(batch) * plan.m + m;
      left.read(row, line);
      scaleRow(plan, row, frame, line);
      dropSigns(part, plan.k, line);
    } else {
      std::fill_n(line, plan.k, 0.0);
    }
    packRow(line, plan.k, m, kDotRows, panels.a);
  }
  for (size_t k = 0; k < plan.k; ++k) {
    right.read(size_t(batch) * plan.k + k, line);
    scaleColumns(plan, batch, k, frame, line);
    dropSigns(part, plan.n, line);
    for (size_t n = 0; n < columns; ++n)
      panels.b[(n / kDotColumns * plan.k + k) * kDotColumns + n % kDotColumns] =
          n < plan.n ? line[n] : 0;
  }
}

//===----------------------------------------------------------------------===//
// Blocks
//===----------------------------------------------------------------------===//

void tk::interp::multiplyPanels(const double *__restrict a, const double *__restrict b, size_t k,
                                double (&sums)[kDotRows][kDotColumns]) {
  double local[kDotRows][kDotColumns] = {};
  for (size_t s = 0; s < k; ++s, a += kDotRows, b += kDotColumns)
    for (size_t i = 0; i < kDotRows; ++i)
      for (size_t j = 0; j < kDotColumns; ++j)
        local[i][j] += a[i] * b[j];
  for (size_t i = 0; i < kDotRows; ++i)
    for (size_t j = 0; j < kDotColumns; ++j)
      sums[i][j] = local[i][j];
}

#if defined(__x86_64__)
/// The same numbers as the library's fma gives, ten times as fast.
[[gnu::target("fma")]] static void addFusedByHardware(const double *a, const double *b, size_t k,
                                                      double (&sums)[kDotRows][kDotColumns]) {
  for (size_t s = 0; s < k; ++s, a += kDotRows, b += kDotColumns)
    for (size_t i = 0; i < kDotRows; ++i)
      for (size_t j = 0; j < kDotColumns; ++j)
        sums[i][j] = __builtin_fma(a[i], b[j], sums[i][j]);
}
#endif

void tk::interp::multiplyPanelsFused(const double *a, const double *b, size_t k,
                                     double (&sums)[kDotRows][kDotColumns]) {
#if defined(__x86_64__)
  static const bool hasFma = __builtin_cpu_supports("fma");
  if (hasFma)
    return addFusedByHardware(a, b, k, sums);
#endif
  for (size_t s = 0; s < k; ++s, a += kDotRows, b += kDotColumns)
    for (size_t i = 0; i < kDotRows; ++i)
      for (size_t j = 0; j < kDotColumns; ++j)
        sums[i][j] = std::fma(a[i], b[j], sums[i][j]);
}
