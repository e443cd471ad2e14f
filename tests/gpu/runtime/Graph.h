//===- Graph.h - an executable graph ----------------------------------------===//
#ifndef TKC_TESTS_GPU_RUNTIME_GRAPH_H
#define TKC_TESTS_GPU_RUNTIME_GRAPH_H

#include "Suite.h"

namespace suite {

enum CaptureMode { kCaptureGlobal = 0, kCaptureThreadLocal = 1, kCaptureRelaxed = 2 };

class Graph {
public:
  Graph() = default;
  ~Graph() {
    if (executable)
      cuda.cuGraphExecDestroy(executable);
    if (graph)
      cuda.cuGraphDestroy(graph);
  }
  Graph(const Graph &) = delete;
  Graph &operator=(const Graph &) = delete;

  /// Ends the capture.
  void take(const Stream &stream) {
    SUITE_CALL(cuStreamEndCapture, stream.get(), &graph);
    finish();
  }
  /// An empty one, for nodes that are added; `finish` makes it executable.
  void *create() {
    SUITE_CALL(cuGraphCreate, &graph, 0);
    return graph;
  }
  void finish() { SUITE_CALL(cuGraphInstantiateWithFlags, &executable, graph, 0); }
  void launch(const Stream &stream) { SUITE_CALL(cuGraphLaunch, executable, stream.get()); }

private:
  void *graph = nullptr, *executable = nullptr;
};

} // namespace suite

#endif
