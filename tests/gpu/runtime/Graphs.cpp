//===- Graphs.cpp - launches in a captured graph ----------------------------===//
#include "Jobs.h"

namespace suite {

constexpr int kReplays = 100;
constexpr int kCaptureGlobal = 0, kCaptureThreadLocal = 1; // CUstreamCaptureMode
constexpr int kIsCapturing = 1;                            // CU_STREAM_CAPTURE_STATUS_ACTIVE

namespace {
/// An executable graph.
class Graph {
public:
  ~Graph() {
    if (executable)
      cuda.cuGraphExecDestroy(executable);
    if (graph)
      cuda.cuGraphDestroy(graph);
  }
  /// Ends the capture.
  void take(const Stream &stream) {
    SUITE_CALL(cuStreamEndCapture, stream.get(), &graph);
    SUITE_CALL(cuGraphInstantiateWithFlags, &executable, graph, 0);
  }
  void launch(const Stream &stream) { SUITE_CALL(cuGraphLaunch, executable, stream.get()); }

private:
  void *graph = nullptr, *executable = nullptr;
};
} // namespace

static std::string replayed(const Suite &suite, bool isCooperative) {
  tkc::driver driver = suite.open();
  tkc::bundle bundle = suite.bundle(driver, "kernels.tkb");
  tkc::kernel add = need(tkc::kernel::prepare(bundle, "add"));
  tkc::kernel total = need(tkc::kernel::prepare(bundle, "total"));
  tkc::kernel streamK = need(tkc::kernel::prepare(bundle, "stream_k"));
  AddJob first(add, 5000);
  TotalJob second(total, 7001);
  ProductJob third(streamK, true, 100);
  std::vector<std::pair<Job *, int64_t>> jobs = {{&first, 4999}, {&second, 7001}};
  if (isCooperative)
    jobs = {{&third, 100}};
  auto fillAll = [&](int seed) {
    for (auto [job, size] : jobs)
      job->fill(size, seed);
  };
  fillAll(0);
  Stream stream(suite);
  Graph graph;
  SUITE_CALL(cuStreamBeginCapture_v2, stream.get(), kCaptureThreadLocal);
  for (auto [job, size] : jobs)
    need(job->launch(stream));
  graph.take(stream);
  for (int replay = 0; replay < kReplays; ++replay) {
    fillAll(replay);
    graph.launch(stream);
    stream.wait();
    for (auto [job, size] : jobs)
      job->verify();
  }
  return text("%zu launches, replayed %d times", jobs.size(), kReplays);
}

/// A kernel that was not prepared. The driver may allow that in some modes; the loader promises
/// TKC_E_COLD where it does not, and the capture must go on either way.
static std::string coldIn(const Suite &suite, int mode) {
  tkc::driver driver = suite.open();
  tkc::bundle bundle = suite.bundle(driver, "kernels.tkb");
  tkc::kernel add = need(tkc::kernel::prepare(bundle, "add"));
  AddJob job(add, 1000);
  job.fill(1000, 1);
  Stream stream(suite);
  Graph graph;
  SUITE_CALL(cuStreamBeginCapture_v2, stream.get(), mode);
  auto cold = tkc::kernel::prepare(bundle, "scale");
  int state = 0;
  int answer = cuda.cuStreamIsCapturing(stream.get(), &state);
  tkc::status launched = job.launch(stream);
  void *ended = nullptr;
  if (answer || state != kIsCapturing || !launched) {
    cuda.cuStreamEndCapture(stream.get(), &ended);
    fail("prepare while capturing says %s %s; then the capture is broken (state %d, driver %d): %s",
         cold ? "TKC_OK" : cold.error().name(), cold.text(), state, answer, launched.text());
  }
  graph.take(stream);
  graph.launch(stream);
  stream.wait();
  job.verify();
  if (cold)
    return "the driver allows it here; the capture went on";
  return refusal(cold.error(), TKC_E_COLD, "while a stream is being captured") +
         "; the capture went on";
}

void addGraphs(Suite &suite) {
  suite.check("captured graph", OnCuda, [&] { return replayed(suite, false); });
  suite.check("captured cooperative launch", OnCuda, [&] { return replayed(suite, true); });
  suite.check("cold kernel while capturing, mode thread-local", OnCuda,
              [&] { return coldIn(suite, kCaptureThreadLocal); });
  suite.check("cold kernel while capturing, mode global", OnCuda,
              [&] { return coldIn(suite, kCaptureGlobal); });
}

} // namespace suite
