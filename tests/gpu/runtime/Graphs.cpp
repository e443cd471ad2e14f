//===- Graphs.cpp - launches in a captured graph ----------------------------===//
#include "Graph.h"
#include "Jobs.h"

namespace suite {

constexpr int kReplays = 100;
constexpr int kIsCapturing = 1; // CU_STREAM_CAPTURE_STATUS_ACTIVE

static std::string replayed(const Suite &suite, bool isCooperative) {
  Opened opened(suite);
  tkc::kernel add = opened.prepare("add");
  tkc::kernel total = opened.prepare("total");
  tkc::kernel streamK = opened.prepare("stream_k");
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
  Opened opened(suite);
  tkc::kernel add = opened.prepare("add");
  AddJob job(add, 1000);
  job.fill(1000, 1);
  Stream stream(suite);
  Graph graph;
  SUITE_CALL(cuStreamBeginCapture_v2, stream.get(), mode);
  auto cold = tkc::kernel::prepare(opened.bundle, "scale");
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

/// Each begins when the one in front lets it, also when a graph replays them.
static std::string dependent(const Suite &suite) {
  constexpr int kLaunches = 10;
  Opened opened(suite);
  tkc::kernel bump = opened.prepare("bump");
  Array<int> x(100000);
  x.put(std::vector<int>(x.size(), 7));
  tkc::options options;
  options.pdl = true;
  Stream stream(suite);
  Graph graph;
  SUITE_CALL(cuStreamBeginCapture_v2, stream.get(), kCaptureThreadLocal);
  for (int i = 0; i < kLaunches; ++i)
    need(bump.launch(stream, options, tkc::write(tkc::tensor(x.data(), {100000}))));
  graph.take(stream);
  for (int replay = 0; replay < kReplays; ++replay)
    graph.launch(stream);
  stream.wait();
  for (int value : x.get())
    if (value != 7 + kLaunches * kReplays)
      fail("an element is %d after %d launches that add 1 to 7", value, kLaunches * kReplays);
  return text("a chain of %d launches, replayed %d times", kLaunches, kReplays);
}

void addGraphs(Suite &suite) {
  suite.check("captured graph", OnCuda, [&] { return replayed(suite, false); });
  suite.check("captured cooperative launch", OnCuda, [&] { return replayed(suite, true); });
  suite.check("captured dependent launches", OnCuda, [&] { return dependent(suite); });
  suite.check("cold kernel while capturing, mode thread-local", OnCuda,
              [&] { return coldIn(suite, kCaptureThreadLocal); });
  suite.check("cold kernel while capturing, mode global", OnCuda,
              [&] { return coldIn(suite, kCaptureGlobal); });
}

} // namespace suite
