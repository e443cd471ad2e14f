//===- Captures.cpp - which forms of a launch the driver captures -----------===//
// Driver 580 answers CUDA_ERROR_INVALID_VALUE to a cooperative launch in a capture where the same
// launch outside of one is good. Each line here is one form of that launch, made by calls of the
// driver alone, with the parameters that the loader encoded: two lines that differ in one thing say
// what the refusal is about. Forms that the loader uses must be good; of others the answer is told.
#include "Graph.h"
#include "Jobs.h"

#include <cstring>
#include <optional>

namespace suite {

namespace {
/// CUlaunchAttribute and CUlaunchConfig of the CUDA driver API.
struct Attribute {
  int id;
  char pad[4];
  unsigned value[16];
};
constexpr int kCooperative = 2, kCluster = 4; // CUlaunchAttributeID

struct Config {
  unsigned grid[3], block[3], sharedBytes;
  void *stream;
  const Attribute *attributes;
  unsigned attributeCount;
};

/// CUDA_KERNEL_NODE_PARAMS_v2
struct NodeParams {
  void *function;
  unsigned grid[3], block[3], sharedBytes;
  void **params, **extra;
  void *kernel, *context;
};

enum class Call { LaunchEx, LaunchCooperative, AddNode };
enum class Params { Pointers, Buffer }; ///< `kernelParams`, `extra`

struct Form {
  const char *name;
  Call call;
  Params params;
  std::vector<Attribute> attributes;
  std::optional<CaptureMode> capture; ///< none: launched on the stream
  bool isLoaders = false;
};

/// An encoded launch as the driver's calls take it.
class Encoded {
public:
  Encoded(const Job &job, Params form) {
    need(job.encode(encoded));
    const tkc_launch &launch = *encoded.get();
    bytes = launch.param_bytes;
    for (size_t at : offsetsOf(job.kernel, launch.variant))
      pointers.push_back(static_cast<char *>(launch.params) + at);
    void *end = nullptr; // CU_LAUNCH_PARAM_END; 1: ..._BUFFER_POINTER, 2: ..._BUFFER_SIZE
    buffer = {reinterpret_cast<void *>(1), launch.params, reinterpret_cast<void *>(2), &bytes, end};
    params = form == Params::Pointers ? pointers.data() : nullptr;
    extra = form == Params::Buffer ? buffer.data() : nullptr;
  }
  Encoded(const Encoded &) = delete;
  Encoded &operator=(const Encoded &) = delete;

  const tkc_launch &launch() const { return *encoded.get(); }
  void **params, **extra;

private:
  /// The `at` of each entry of the variant's `params`.
  static std::vector<size_t> offsetsOf(const tkc::kernel &kernel, int variant) {
    std::string json = describe(kernel, variant);
    std::vector<size_t> offsets;
    const std::string key = "\"at\":";
    for (size_t at = json.find("\"params\":"); (at = json.find(key, at)) != std::string::npos;)
      offsets.push_back(strtoul(json.c_str() + (at += key.size()), nullptr, 10));
    return offsets;
  }

  tkc::encoded<> encoded;
  size_t bytes = 0;
  std::vector<void *> pointers, buffer;
};
} // namespace

static int launchEx(const Form &form, const Encoded &encoded, const Stream &stream) {
  const tkc_launch &launch = encoded.launch();
  Config config{};
  memcpy(config.grid, launch.grid, sizeof(config.grid));
  memcpy(config.block, launch.block, sizeof(config.block));
  config.sharedBytes = launch.dynamic_smem;
  config.stream = stream.get();
  config.attributes = form.attributes.data();
  config.attributeCount = static_cast<unsigned>(form.attributes.size());
  return cuda.cuLaunchKernelEx(&config, launch.function, encoded.params, encoded.extra);
}

static int launchCooperative(const Encoded &encoded, const Stream &stream) {
  const tkc_launch &launch = encoded.launch();
  return cuda.cuLaunchCooperativeKernel(
      launch.function, launch.grid[0], launch.grid[1], launch.grid[2], launch.block[0],
      launch.block[1], launch.block[2], launch.dynamic_smem, stream.get(), encoded.params);
}

/// The driver's answer, and the call that gave it where it is none of the form's own.
static int addNode(const Form &form, const Encoded &encoded, void *graph, const char *&call) {
  const tkc_launch &launch = encoded.launch();
  NodeParams params{};
  params.function = launch.function;
  memcpy(params.grid, launch.grid, sizeof(params.grid));
  memcpy(params.block, launch.block, sizeof(params.block));
  params.sharedBytes = launch.dynamic_smem;
  params.params = encoded.params;
  params.extra = encoded.extra;
  void *node = nullptr;
  int answer = cuda.cuGraphAddKernelNode_v2(&node, graph, nullptr, 0, &params);
  for (const Attribute &attribute : form.attributes) {
    if (answer)
      return answer;
    call = "cuGraphKernelNodeSetAttribute";
    answer = cuda.cuGraphKernelNodeSetAttribute(node, attribute.id, attribute.value);
  }
  return answer;
}

/// What the driver answers to the form's call; when it is good, the work is in the graph or done.
static int answerTo(const Form &form, const Job &job, const Stream &stream, Graph &graph,
                    const char *&call) {
  Encoded encoded(job, form.params);
  if (form.call == Call::AddNode) {
    call = "cuGraphAddKernelNode_v2";
    int answer = addNode(form, encoded, graph.create(), call);
    if (!answer)
      graph.finish();
    return answer;
  }
  bool isEx = form.call == Call::LaunchEx;
  call = isEx ? "cuLaunchKernelEx" : "cuLaunchCooperativeKernel";
  if (form.capture)
    SUITE_CALL(cuStreamBeginCapture_v2, stream.get(), *form.capture);
  int answer = isEx ? launchEx(form, encoded, stream) : launchCooperative(encoded, stream);
  if (form.capture && !answer)
    graph.take(stream);
  else if (void *broken = nullptr; form.capture && !cuda.cuStreamEndCapture(stream.get(), &broken))
    cuda.cuGraphDestroy(broken);
  return answer;
}

static std::string tried(const Suite &suite, const Form &form) {
  Opened opened(suite);
  tkc::kernel streamK = opened.prepare("stream_k");
  ProductJob job(streamK, true, 100);
  job.fill(100, 1);
  Stream stream(suite);
  Graph graph;
  job.ahead(stream); // zeros the workspace; not part of the graph
  stream.wait();
  const char *call = "";
  if (int answer = answerTo(form, job, stream, graph, call)) {
    const char *name = nullptr;
    cuda.cuGetErrorName(answer, &name);
    std::string said = text("%s: %s (%d)", call, name ? name : "unknown error", answer);
    if (form.isLoaders)
      throw Failure{said};
    return "REFUSED by " + said;
  }
  if (form.capture || form.call == Call::AddNode)
    graph.launch(stream);
  stream.wait();
  job.verify();
  return "good";
}

void addCaptures(Suite &suite) {
  const Attribute cooperative{kCooperative, {}, {1}}, cluster{kCluster, {}, {1, 1, 1}};
  const std::vector<Attribute> none, one{cooperative}, both{cooperative, cluster};
  constexpr auto local = kCaptureThreadLocal;
  static const Form forms[] = {
      {"outside, cooperative, pointers", Call::LaunchEx, Params::Pointers, one, {}, true},
      {"outside, cooperative, buffer", Call::LaunchEx, Params::Buffer, one, {}},
      {"no attribute, pointers", Call::LaunchEx, Params::Pointers, none, local, true},
      {"no attribute, buffer", Call::LaunchEx, Params::Buffer, none, local},
      {"cooperative, pointers", Call::LaunchEx, Params::Pointers, one, local, true},
      {"cooperative, buffer", Call::LaunchEx, Params::Buffer, one, local},
      {"cooperative, pointers, mode global", Call::LaunchEx, Params::Pointers, one, kCaptureGlobal},
      {"cooperative, buffer, mode global", Call::LaunchEx, Params::Buffer, one, kCaptureGlobal},
      {"cooperative, pointers, mode relaxed", Call::LaunchEx, Params::Pointers, one,
       kCaptureRelaxed},
      {"cooperative, buffer, mode relaxed", Call::LaunchEx, Params::Buffer, one, kCaptureRelaxed},
      {"cooperative and cluster 1 1 1, pointers", Call::LaunchEx, Params::Pointers, both, local},
      {"cooperative and cluster 1 1 1, buffer", Call::LaunchEx, Params::Buffer, both, local},
      {"cuLaunchCooperativeKernel", Call::LaunchCooperative, Params::Pointers, none, local},
      {"node of a graph, pointers", Call::AddNode, Params::Pointers, none, {}},
      {"node of a graph, buffer", Call::AddNode, Params::Buffer, none, {}},
      {"node of a graph, cooperative, pointers", Call::AddNode, Params::Pointers, one, {}},
      {"node of a graph, cooperative, buffer", Call::AddNode, Params::Buffer, one, {}},
  };
  for (const Form &form : forms) {
    std::string name = std::string("capture: ") + form.name;
    suite.check(name.c_str(), OnCuda, [&] { return tried(suite, form); });
  }
}

} // namespace suite
