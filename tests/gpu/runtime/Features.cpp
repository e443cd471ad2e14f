//===- Features.cpp - what a launch may be, with its results ----------------===//
#include "Jobs.h"

#include <algorithm>
#include <cstring>

namespace suite {

/// The integer behind `"NAME":` in a variant's description.
static long numberOf(const std::string &json, const char *name) {
  std::string key = text("\"%s\":", name);
  size_t at = json.find(key);
  if (at == std::string::npos)
    fail("no %s in %s", name, json.c_str());
  return strtol(json.c_str() + at + key.size(), nullptr, 10);
}

static std::string launched(const Suite &suite, Job &job, int64_t size) {
  Stream stream(suite);
  job.fill(size, 3);
  tkc::encoded<> launch;
  need(job.encode(launch));
  need(job.launch(stream));
  stream.wait();
  if (suite.device & OnResults)
    job.verify();
  return "variant " + std::to_string(launch.get()->variant);
}

static std::string misaligned(const Suite &suite) {
  Opened opened(suite);
  tkc::kernel add = opened.prepare("add");
  AddJob even(add, 4096), odd(add, 4096);
  odd.shift = 1;
  std::string first = launched(suite, even, 4096), second = launched(suite, odd, 4095);
  if (suite.device != OnCpu && first == second)
    fail("both take %s", first.c_str());
  return "aligned: " + first + ", off by an element: " + second;
}

static std::string defaultStream(const Suite &suite) {
  Opened opened(suite);
  tkc::kernel scale = opened.prepare("scale");
  ScaleJob job(scale, 10000);
  job.fill(9999, 1);
  need(job.launch(nullptr));
  if (suite.device == OnCuda)
    SUITE_CALL(cuCtxSynchronize);
  job.verify();
  return "";
}

/// No element: good, and nothing is launched. What is launched is told by the hook.
static std::string nothing(const Suite &suite) {
  int submitted = 0;
  tkc_driver_desc desc = suite.desc;
  if (!desc.resolve)
    desc.user = &submitted;
  static int *count;
  count = &submitted;
  desc.on_submit = [](void *, const char *, double, double, void *) { ++*count; };
  Opened opened(suite, "kernels.tkb", desc);
  tkc::kernel add = opened.prepare("add");
  AddJob job(add, 64);
  job.fill(0, 1);
  need(job.launch(nullptr));
  if (submitted)
    fail("on_submit was called for no block");
  job.fill(64, 1);
  need(job.launch(nullptr));
  if (submitted != 1)
    fail("on_submit was called %d times for one launch", submitted);
  return "";
}

static std::string compressed(const Suite &suite) {
  std::string data = readFile(suite.path("kernels.tkb"));
  if (data.find("\"codec\":\"zstd\"") == std::string::npos)
    fail("no image of kernels.tkb is compressed");
  Opened opened(suite);
  tkc::kernel sums = opened.prepare("row_sums");
  RowSumsJob job(sums, 100);
  return launched(suite, job, 77);
}

static std::string ptx(const Suite &suite) {
  static std::string said;
  said.clear();
  tkc_driver_desc desc = suite.desc;
  desc.log = [](void *, int, const char *line) { said += std::string("; ") + line; };
  Opened opened(suite, "ptx.tkb", desc);
  tkc::kernel add = opened.prepare("add");
  tkc::kernel total = opened.prepare("total");
  AddJob first(add, 5000);
  TotalJob second(total, 5000);
  launched(suite, first, 4999);
  launched(suite, second, 4999);
  if (said.find("compiles PTX") == std::string::npos)
    fail("the log has no word of PTX%s", said.c_str());
  return said.substr(2);
}

static std::string muchShared(const Suite &suite) {
  Opened opened(suite);
  tkc::kernel product = opened.prepare("matmul");
  ProductJob job(product, false, 300);
  std::string variant = launched(suite, job, 300);
  if (suite.device == OnCpu)
    return variant;
  tkc::encoded<> launch;
  need(job.encode(launch));
  if (launch.get()->dynamic_smem <= 48 * 1024)
    fail("the kernel takes %u bytes only", launch.get()->dynamic_smem);
  return text("%u bytes, ", launch.get()->dynamic_smem) + variant;
}

static std::string cooperative(const Suite &suite) {
  Opened opened(suite);
  tkc::kernel streamK = opened.prepare("stream_k");
  ProductJob job(streamK, true, 300);
  std::string variant = launched(suite, job, 300);
  tkc::encoded<> launch;
  need(job.encode(launch));
  if (!(launch.get()->flags & TKC_COOPERATIVE))
    fail("the launch is not marked as cooperative");
  return text("%u blocks, workspace of %llu bytes, ", launch.get()->grid[0],
              static_cast<unsigned long long>(job.workspaceBytes())) +
         variant;
}

static std::string workspace(const Suite &suite) {
  Opened opened(suite);
  tkc::kernel total = opened.prepare("total");
  Array<float> x(200000), y(1);
  uint64_t most = 0;
  for (int64_t size : {1, 1024, 1025, 200000}) {
    auto query =
        need(total.workspace({}, tkc::read(tkc::tensor(x.data(), {size})),
                             tkc::write(tkc::tensor(y.data(), {1})), tkc::absent(), tkc::absent()));
    uint64_t parts = static_cast<uint64_t>((size + 1023) / 1024);
    if (query.bytes < 4 * parts + 4 || query.align > 256 || !query.must_be_zero)
      fail("%llu bytes, align %u, zero %d for %lld elements",
           static_cast<unsigned long long>(query.bytes), query.align, query.must_be_zero,
           static_cast<long long>(size));
    most = std::max(most, query.bytes);
  }
  TotalJob job(total, 200000);
  std::string variant = launched(suite, job, 200000);
  launched(suite, job, 1); // in the workspace of the largest
  return text("%llu bytes, ", static_cast<unsigned long long>(most)) + variant;
}

static std::string earlyStart(const Suite &suite) {
  constexpr int kLaunches = 100;
  Opened opened(suite);
  tkc::kernel bump = opened.prepare("bump");
  Array<int> x(100000);
  x.put(std::vector<int>(x.size(), 7));
  Stream stream(suite);
  tkc::options options;
  options.pdl = true;
  for (int i = 0; i < kLaunches; ++i)
    need(bump.launch(stream, options, tkc::write(tkc::tensor(x.data(), {100000}))));
  stream.wait();
  if (suite.device & OnResults)
    for (int value : x.get())
      if (value != 7 + kLaunches)
        fail("an element is %d after %d launches that add 1 to 7", value, kLaunches);
  return text("%d launches in a chain", kLaunches);
}

/// Each block says where in which cluster it is.
static std::string clusters(const Suite &suite, const char *file, int size) {
  Opened opened(suite, file);
  tkc::kernel places = opened.prepare("places");
  Array<int> out(64);
  out.put(std::vector<int>(64, -1));
  Stream stream(suite);
  need(places.launch(stream, {}, tkc::write(tkc::tensor(out.data(), {64}))));
  stream.wait();
  if (suite.device == OnCuda) {
    std::vector<int> found = out.get();
    for (int i = 0; i < 64; ++i)
      if (found[static_cast<size_t>(i)] != 10000 * size + 100 * (i / size) + i % size)
        fail("block %d says %d", i, found[static_cast<size_t>(i)]);
  }
  tkc::status uneven = places.launch(stream, {}, tkc::write(tkc::tensor(out.data(), {63})));
  std::string refused = refusal(uneven, TKC_E_GRID, "multiple of the cluster");
  uint32_t blocks = 0, most = 0;
  tkc::status status;
  tkc_occupancy(places.get(), 0, &blocks, &most, status.get());
  need(status);
  return text("%u clusters at once; 63 blocks: ", most) + refused;
}

/// Where the driver says that the code has its parameters: `128 bytes at 48, 8 bytes at 176`.
static std::string paramsOf(void *function) {
  auto infoOf = reinterpret_cast<int (*)(void *, size_t, size_t *, size_t *)>(
      cuda.library ? cuda.find("cuFuncGetParamInfo") : nullptr);
  std::string list;
  size_t at = 0, bytes = 0;
  for (size_t i = 0; infoOf && infoOf(function, i, &at, &bytes) == 0; ++i)
    list += text("%s%zu bytes at %zu", i ? ", " : "", bytes, at);
  return list.empty() ? "the driver does not tell where parameters are" : list;
}

static std::string tensorMap(const Suite &suite) {
  constexpr int64_t kRows = 50, kColumns = 100, kPitch = 128; // ragged: 4 x 4 boxes of 16 x 32
  Opened opened(suite, "boxes");
  tkc::kernel kernel = opened.prepare("boxes");
  Array<float> x(kRows * kPitch), boxes(16 * 512);
  std::vector<float> values(x.size());
  for (size_t i = 0; i < values.size(); ++i)
    values[i] = static_cast<float>(i + 1);
  x.put(values);
  boxes.put(std::vector<float>(boxes.size(), -1));
  Stream stream(suite);
  auto in = tkc::read(tkc::tensor(x.data(), {kRows, kColumns}, {kPitch, 1}));
  auto out = tkc::write(tkc::tensor(boxes.data(), {4, 4, 16, 32}));
  need(kernel.launch(stream, {}, in, out));
  stream.wait();
  std::vector<float> found = boxes.get();
  for (int64_t at = 0; at < 16 * 512 && suite.device == OnCuda; ++at) {
    int64_t row = at / 2048 * 16 + at % 512 / 32, column = at / 512 % 4 * 32 + at % 32;
    bool isInside = row < kRows && column < kColumns;
    float wanted = isInside ? values[static_cast<size_t>(row * kPitch + column)] : 0;
    if (found[static_cast<size_t>(at)] != wanted)
      fail("row %lld, column %lld is %g, expected %g", static_cast<long long>(row),
           static_cast<long long>(column), static_cast<double>(found[static_cast<size_t>(at)]),
           static_cast<double>(wanted));
  }
  tkc::encoded<> launch;
  need(kernel.encode(launch, {}, in, out));
  auto odd = tkc::read(tkc::tensor(x.data() + 1, {kRows, kColumns}, {kPitch, 1}));
  return paramsOf(launch.get()->function) + "; address off by an element: " +
         refusal(kernel.launch(stream, {}, odd, out), TKC_E_ALIGN, "tensor map");
}

/// More than 2^31 elements: the guard of the code with 32-bit extents does not hold.
static std::string manyElements(const Suite &suite) {
  constexpr int64_t kSize = (int64_t(1) << 31) + 4096;
  Opened opened(suite, "bytes.tkb");
  tkc::kernel add = opened.prepare("add");
  Array<int8_t> x(kSize), y(kSize), z(kSize);
  Stream stream(suite);
  SUITE_CALL(cuMemsetD8Async, x.data(), 3, kSize, stream.get());
  SUITE_CALL(cuMemsetD8Async, y.data(), 4, kSize, stream.get());
  SUITE_CALL(cuMemsetD8Async, z.data(), 99, kSize, stream.get());
  need(add.launch(stream, {}, tkc::read(tkc::tensor(x.data(), {kSize})),
                  tkc::read(tkc::tensor(y.data(), {kSize})),
                  tkc::write(tkc::tensor(z.data(), {kSize}))));
  stream.wait();
  std::vector<int8_t> found = z.get();
  auto wrong = std::find_if(found.begin(), found.end(), [](int8_t value) { return value != 7; });
  if (wrong != found.end())
    fail("element %td is %d, expected 7", wrong - found.begin(), *wrong);
  return text("%lld elements", static_cast<long long>(kSize));
}

/// As the driver counts them, for every variant that a launch of the job takes.
static std::string occupancyOf(const Job &job, const char *name) {
  tkc::encoded<> launch;
  need(job.encode(launch));
  const tkc_launch &l = *launch.get();
  uint32_t blocks = 0;
  tkc::status status;
  tkc_occupancy(job.kernel.get(), l.variant, &blocks, nullptr, status.get());
  need(status);
  int counted = 0;
  SUITE_CALL(cuOccupancyMaxActiveBlocksPerMultiprocessor, &counted, l.function,
             static_cast<int>(l.block[0] * l.block[1] * l.block[2]), l.dynamic_smem);
  if (static_cast<int>(blocks) != counted)
    fail("%s: tkc_occupancy says %u blocks, the driver %d", name, blocks, counted);
  std::string json = describe(job.kernel, l.variant);
  return text("%s %u (%ld registers, %u bytes shared)", name, blocks, numberOf(json, "registers"),
              l.dynamic_smem);
}

static std::string occupancy(const Suite &suite) {
  Opened opened(suite);
  tkc::kernel add = opened.prepare("add");
  tkc::kernel total = opened.prepare("total");
  tkc::kernel product = opened.prepare("matmul");
  tkc::kernel streamK = opened.prepare("stream_k");
  AddJob even(add, 4096), odd(add, 4096);
  odd.shift = 1;
  TotalJob sum(total, 4096);
  ProductJob whole(product, false, 256), split(streamK, true, 256);
  even.fill(4096, 1);
  odd.fill(4095, 1);
  sum.fill(4096, 1);
  whole.fill(256, 1);
  split.fill(256, 1);
  return occupancyOf(even, "add") + ", " + occupancyOf(odd, "add, unaligned") + ", " +
         occupancyOf(sum, "total") + ", " + occupancyOf(whole, "matmul") + ", " +
         occupancyOf(split, "stream_k");
}

/// Memory that was asked for by the caller's functions goes back through them.
static std::string hostMemory(const Suite &suite) {
  static int taken, given;
  taken = given = 0;
  tkc_driver_desc desc = suite.desc;
  desc.alloc = [](void *, size_t bytes, size_t align) {
    ++taken;
    return aligned_alloc(align, (bytes + align - 1) / align * align);
  };
  desc.free = [](void *, void *memory) {
    ++given;
    free(memory);
  };
  {
    Opened opened(suite, "kernels.tkb", desc);
    tkc::kernel add = opened.prepare("add");
    AddJob job(add, 100);
    launched(suite, job, 100);
  }
  if (!taken || taken != given)
    fail("alloc was called %d times, free %d times", taken, given);
  return text("%d times", taken);
}

void addFeatures(Suite &suite) {
  suite.check("misaligned pointers", OnAll, [&] { return misaligned(suite); });
  suite.check("default stream", OnResults, [&] { return defaultStream(suite); });
  suite.check("launch of nothing", OnAll, [&] { return nothing(suite); });
  suite.check("memory of the caller", OnAll, [&] { return hostMemory(suite); });
  suite.check("compressed bundle", OnAll, [&] { return compressed(suite); });
  suite.check("PTX that the driver compiles", OnDriver, [&] { return ptx(suite); });
  suite.check("more than 48 KiB of shared memory", OnAll, [&] { return muchShared(suite); });
  suite.check("workspace", OnAll, [&] { return workspace(suite); });
  suite.check("cooperative launch", OnAll, [&] { return cooperative(suite); });
  suite.check("programmatic dependent launch", OnDriver, [&] { return earlyStart(suite); });
  suite.check("more than 2^31 elements", OnCuda, [&] { return manyElements(suite); });
  suite.check("occupancy", OnCuda, [&] { return occupancy(suite); });
}

void addHandWritten(Suite &suite) {
  suite.check("clusters of 4", OnDriver, [&] { return clusters(suite, "cluster4", 4); });
  suite.check("clusters of 16", OnDriver, [&] { return clusters(suite, "cluster16", 16); });
  suite.check("tensor map", OnDriver, [&] { return tensorMap(suite); });
}

} // namespace suite
