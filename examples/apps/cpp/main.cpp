// axpy and softmax on the device named on the command line, cpu or cuda, by the generated header.
#include "kernels.h"
#include "memory.h"
#include <cmath>
#include <cstdio>
#include <cstring>
#include <vector>

namespace {

/// Memory of the device with `Rank` extents.
template <int Rank> class Array {
public:
  Array(const std::vector<float> &host, const std::int64_t (&extents)[std::size_t(Rank)])
      : count(host.size()), data(static_cast<float *>(memory_alloc(bytes()))), view(data, extents) {
    if (data)
      memory_upload(data, host.data(), bytes());
  }
  Array(const Array &) = delete;
  ~Array() { memory_free(data); }
  operator tkc::tensor<float, Rank>() const { return view; }
  std::vector<float> read() const {
    std::vector<float> host(count);
    memory_download(host.data(), data, bytes());
    return host;
  }

private:
  std::size_t bytes() const { return count * sizeof(float); }

  std::size_t count;
  float *data;
  tkc::tensor<float, Rank> view;
};

bool report(const char *what, const tkc::status &status) {
  if (!status)
    std::fprintf(stderr, "%s: %s: %s\n", what, status.name(), status.text());
  return bool(status);
}

bool runAxpy(const kernels::axpy &axpy, const char *device) {
  constexpr std::size_t count = 100000;
  std::vector<float> x(count), y(count, 1.0f);
  for (std::size_t i = 0; i < count; ++i)
    x[i] = float(i % 1000);
  Array<1> dx(x, {count}), dy(y, {count});
  tkc::tensor<float, 1> in = dx, out = dy;
  if (!report("axpy", axpy({}, 2.0f, in, out)))
    return false;
  char why[1000] = "";
  if (!report("axpy", axpy.kernel.why(why, sizeof why, {}, tkc::value(2.0f), tkc::read(in), tkc::write(out))))
    return false;
  std::vector<float> result = dy.read();
  int wrong = 0;
  for (std::size_t i = 0; i < count; ++i)
    wrong += result[i] != 2.0f * x[i] + 1.0f;
  std::printf("axpy on %s: %s\naxpy on %s: %d of %d wrong\n", device, why, device, wrong, int(count));
  return !wrong;
}

bool runSoftmax(const kernels::softmax &softmax, const char *device) {
  constexpr std::size_t rows = 50, columns = 333;
  std::vector<float> x(rows * columns);
  for (std::size_t i = 0; i < x.size(); ++i)
    x[i] = float(i * 7919 % 1000) / 100.0f;
  Array<2> dx(x, {rows, columns}), dy(std::vector<float>(x.size()), {rows, columns});
  tkc::tensor<float, 2> in = dx, out = dy;
  if (!report("softmax", softmax({}, in, out)))
    return false;
  std::vector<float> result = dy.read();
  double furthest = 0;
  for (std::size_t row = 0; row < rows; ++row) {
    double sum = 0;
    for (std::size_t i = 0; i < columns; ++i)
      sum += std::exp(double(x[row * columns + i]));
    for (std::size_t i = 0; i < columns; ++i) {
      double wanted = std::exp(double(x[row * columns + i])) / sum;
      furthest = std::fmax(furthest, std::fabs(result[row * columns + i] - wanted) / wanted);
    }
  }
  std::printf("softmax on %s: off by %.1e at most\n", device, furthest);
  return furthest < 1e-5;
}

} // namespace

int main(int argc, char **argv) {
  const char *device = argc > 1 ? argv[1] : "cpu";
  if (memory_open(device))
    return 1;
  tkc::result<tkc::driver> driver = tkc::driver::open(std::strcmp(device, "cpu") == 0 ? TKC_CPU : TKC_CUDA);
  if (!driver)
    return report("driver", driver.error()), 1;
  tkc::bundle_options embedded;
  embedded.borrow = true;
  tkc::result<tkc::bundle> bundle = tkc::bundle::open(*driver, kernels::bundle(), embedded);
  if (!bundle)
    return report("bundle", bundle.error()), 1;
  tkc::result<kernels::axpy> axpy = kernels::axpy::prepare(*bundle);
  if (!axpy)
    return report("axpy", axpy.error()), 1;
  tkc::result<kernels::softmax> softmax = kernels::softmax::prepare(*bundle);
  if (!softmax)
    return report("softmax", softmax.error()), 1;
  return runAxpy(*axpy, device) && runSoftmax(*softmax, device) ? 0 : 1;
}
