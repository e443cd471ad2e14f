//===- Interp.h - running a kernel of stage `tk` on the CPU ---------------------===//
//
// The interpreter is the definition of meaning: it runs `tk` as the front end emits it (phase
// Emitted), with exact element types, and checks what the language leaves to the author.
//
//   Buffer x = Buffer::make("x", DType::f32, {7, 1000});
//   Argument args[] = {Argument::tensor("x", x), Argument::scalar("n", DType::i64, 7)};
//   FailureOr<RunReport> report = run(kernel, args, options);
//
// `run` maps the arguments to the kernel's contract by name, evaluates grid and preconditions,
// and runs every program instance. Wrong arguments and findings are diagnostics; findings that are
// errors make `RunReport::errors` positive.
//
// Most kernels run one instance after the other. Where instances may wait for each other (an atomic
// operation whose result is used, a volatile load, a loop that polls), several are live at once and
// take turns; see Schedule.cpp. A deadlock is an error that says who waits where.
//
// Checks and their level. Errors: accesses outside a buffer or a single index outside an extent
// (bounds); reads of elements that nobody wrote and of `out` parameters (init); writes to `in`
// parameters (access); two instances that touch one element of which one writes it, and lanes of
// one store that disagree (races); loop steps that are not positive; assertions, assumptions and
// hints that do not hold. What acquire and release order is no race (Races.h). Warnings: integer
// division by zero, MIN / -1, shifts past the width, which have a stated value; a sum or product of
// i32 that wraps on its way into an address. NaN: a warning when an operation makes a NaN of
// operands that have none and the instance later stores a NaN (NanCheck::Stored, since lanes past
// an edge make harmless NaNs); an error at once with NanCheck::Error.
//
// Instances run on `threads` workers. Any finding makes the run start over, in order, on one
// worker, so that what is reported and what is in memory is always that of the order of ids.
//
//===----------------------------------------------------------------------===//
#pragma once

#include "backends/interp/Number.h"
#include "ir/tk/TkDialect.h"
#include "llvm/ADT/StringMap.h"
#include <map>
#include <memory>
#include <string>
#include <vector>

namespace llvm {
class raw_ostream;
}

namespace tk::interp {

/// Memory for one tensor, its own or the caller's. Elements count from the lowest address.
struct Buffer {
  std::string name;
  DType dtype = DType::f32;
  std::vector<int64_t> extents, strides; // strides in elements
  int64_t origin = 0;                    // the element at index zero
  int64_t elements = 0;                  // in memory
  std::vector<uint64_t> storage;
  uint8_t *borrowed = nullptr;  // the lowest element of memory that is the caller's
  bool isUnbounded = false;     // ... of which nobody knows where it ends
  std::vector<uint8_t> written; // one byte an element; empty: all are written
  std::vector<double> bounds;   // error bound an element; empty: all are exact

  /// Row-major and zero.
  static Buffer make(std::string name, DType dtype, std::vector<int64_t> extents);
  /// The same, but nobody has written it.
  static Buffer makeEmpty(std::string name, DType dtype, std::vector<int64_t> extents);
  /// With strides of its own, zero.
  static Buffer makeStrided(std::string name, DType dtype, std::vector<int64_t> extents,
                            std::vector<int64_t> strides);
  /// Over the caller's memory, all of which counts as written; `zero` is the element at index zero.
  /// Buffers may lie over the same memory.
  static Buffer over(std::string name, DType dtype, void *zero, std::vector<int64_t> extents,
                     std::vector<int64_t> strides);
  /// Over the caller's memory of unknown size around `zero`: nothing is checked but for null.
  static Buffer unbounded(std::string name, DType dtype, void *zero);

  uint8_t *data() { return borrowed ? borrowed : reinterpret_cast<uint8_t *>(storage.data()); }
  const uint8_t *data() const { return const_cast<Buffer *>(this)->data(); }
  int64_t numElements() const;
  /// The element of row-major rank `index` among the extents.
  int64_t elementAt(int64_t index) const;
};

/// What the caller gives for one parameter.
struct Argument {
  std::string name;
  Buffer *buffer = nullptr; // of a tensor or a pointer; null: a scalar, or absent
  bool isAbsent = false;    // `T[N]?` without a tensor
  DType dtype = DType::i64; // of a scalar
  uint64_t bits = 0;        // its little-endian bytes
  /// Of a pointer to pointers: what each of its elements points to, in row-major order. `buffer`
  /// holds the addresses, which `run` puts there.
  std::vector<Argument> pointees;
  /// Where messages about it point; none: to the kernel.
  std::optional<mlir::Location> loc;

  static Argument tensor(std::string name, Buffer &buffer);
  static Argument scalar(std::string name, DType dtype, int64_t value);
  static Argument scalar(std::string name, DType dtype, double value);
  static Argument absent(std::string name);
  /// Pointers to `pointees`; `table` is of type ptr, with as many elements.
  static Argument pointers(std::string name, Buffer &table, std::vector<Argument> pointees);
};

enum class NanCheck : uint8_t { Off, Stored, Error };

struct Checks {
  bool bounds = true;
  bool init = true;
  bool access = true;
  bool races = true;
  bool arithmetic = true;
  NanCheck nan = NanCheck::Stored;
};

/// In which order instances run; those that take turns begin in the order of ids in any case.
enum class Order : uint8_t { Forward, Reverse, Shuffle };

struct Options {
  Checks checks;
  bool errorBounds = false; // fill Buffer::bounds
  unsigned threads = 1;
  unsigned maxFindings = 20; // errors, after which the run ends, and warnings, which end nothing
  int64_t sms = 4;           // what `sms` is in a grid expression
  Order order = Order::Forward;
  uint64_t seed = 0;                // of Order::Shuffle
  int64_t window = 64;              // instances that are live at once where they take turns
  llvm::raw_ostream *out = nullptr; // of tk.print; null: nobody listens
  size_t maxArenaBytes = size_t(2) << 30;
};

struct RunReport {
  int64_t grid[3] = {0, 0, 0};
  int64_t programs = 0;
  unsigned errors = 0;
  unsigned warnings = 0;
};

/// The names a contract's expressions may use, and their values: extents, strides, scalars, and for
/// workspace `programs.0` to `programs.2`, the sides of the grid.
using Names = std::map<std::string, int64_t, std::less<>>;

/// A contract expression (an integer, a name, or an array of an operator and operands), in checked
/// 64-bit arithmetic. On failure `problem` says why.
std::optional<int64_t> evaluate(mlir::Attribute expr, const Names &names, std::string &problem);
/// As a person writes it: "cdiv(N, 1024)".
std::string expressionText(mlir::Attribute expr);
/// The same with its value, "N / 2 = 8"; of a number that alone.
std::string equationText(mlir::Attribute expr, int64_t value);

/// Element type by its name; u8 and the like included.
std::optional<DType> parseDType(llvm::StringRef name);
/// The element type of a contract's argument, of pointers to pointers that of what they lead to;
/// diagnoses one the interpreter does not have.
mlir::FailureOr<DType> dtypeOf(KernelOp kernel, mlir::DictionaryAttr entry);

struct Binding {
  Names names;
  int64_t grid[3] = {0, 0, 0};
  /// For each parameter of the kernel the argument that is bound to it.
  std::vector<const Argument *> arguments;
};

/// Scalars, extents by first use, and strides of those arguments that are given; no checks. Serves
/// to find the extents of outputs that nobody gave.
Names bindNames(KernelOp kernel, llvm::ArrayRef<Argument> args, const Options &options);

/// Fails when a grid has a negative side or more programs than the interpreter counts.
mlir::LogicalResult checkGrid(KernelOp kernel, const int64_t (&grid)[3]);

/// Matches arguments to parameters, checks them against the contract, evaluates the grid.
mlir::FailureOr<Binding> bind(KernelOp kernel, llvm::ArrayRef<Argument> args,
                              const Options &options);

struct Program;

/// A kernel translated once, to run many times, also by several threads at once where the context
/// is one that threads may share.
class Prepared {
public:
  /// Fails when the kernel cannot be run.
  static mlir::FailureOr<Prepared> make(KernelOp kernel, const Options &options);

  /// Fails when the arguments do not fit; findings are in the report. `checks` and `errorBounds`
  /// are those of `make`.
  mlir::FailureOr<RunReport> run(llvm::ArrayRef<Argument> args, const Options &options) const;
  /// The same without a look at the contract, which the caller has checked: `args` stand in the
  /// order of the parameters. A pointer to pointers needs no pointees: behind it nothing is
  /// checked.
  mlir::FailureOr<RunReport> launch(llvm::ArrayRef<Argument> args, const int64_t (&grid)[3],
                                    const Options &options) const;
  KernelOp getKernel() const { return kernel; }

private:
  mlir::FailureOr<RunReport> runBound(const Binding &binding, const Options &options) const;

  KernelOp kernel;
  std::shared_ptr<const Program> program;
  std::vector<mlir::Location> locations; // of the program's operations
};

/// Both at once.
mlir::FailureOr<RunReport> run(KernelOp kernel, llvm::ArrayRef<Argument> args,
                               const Options &options);

} // namespace tk::interp
