//===- Plan.h - which arguments a kernel is timed with ---------------------===//
// A plan comes from a shape ("M=4096,N=4096") or from arguments that a caller has. It holds no
// memory: it is also what cached times are looked up by.
#ifndef TKC_TUNE_PLAN_H
#define TKC_TUNE_PLAN_H

#include "Dtype.h"
#include "Names.h"

namespace tkctune {

/// What a tensor is filled with.
struct Fill {
  enum class Rule { Zeros, Ones, Rand, Arange, RandInt, Perm };
  Rule rule = Rule::Zeros;
  int64_t low = 0, high = 0; ///< RandInt: low <= value < high
};

/// "zeros", "ones", "rand", "arange", "randint(0,8)".
tkc_status parseFill(const std::string &name, const std::string &text, Fill &out, tkc_error *err);

/// What somebody asks to be timed.
struct Problem {
  std::map<std::string, std::string> values; ///< extents, scalars, `x.e0`, `x.s0`, `p.span`
  std::map<std::string, Fill> fills;         ///< by parameter
};

struct PlannedArg {
  std::string name;
  uint32_t kind = TKC_ABSENT;
  const tkcrt::DtypeInfo *type = nullptr;
  bool isWritten = false, isRead = false, isZeroed = false;
  std::vector<int64_t> extents, strides; ///< in elements
  int64_t bytes = 0;                     ///< from the lowest element to the highest
  int64_t bytesBefore = 0;               ///< of those, before element 0: strides may be negative
  uint64_t bits = 0;                     ///< of a scalar, as in tkc_arg
  int64_t align = 256;                   ///< what the address is a multiple of, up to 256
  void *live = nullptr;                  ///< the caller's memory
};

struct Plan {
  std::vector<PlannedArg> args;
  Names names; ///< for keys, costs and conditions

  /// `kernel` is an object of the JSON's `kernels`.
  tkc_status fromProblem(const Json &kernel, const Problem &problem, int sms, tkc_error *err);
  tkc_status fromArgs(const Json &kernel, const tkc_arg *given, size_t count, int sms,
                      tkc_error *err);

  /// Everything that a launch's time may depend on.
  Json key() const;
  /// Element types of the parameters, in order.
  Json dtypes() const;
};

} // namespace tkctune

#endif
