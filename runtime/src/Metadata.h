//===- Metadata.h - the JSON, checked and ready for launching --------------===//
// docs/metadata.md describes each field. What stands here has been bounds-checked once, so that
// prepare and encode can rely on it: indices are in range, names are resolved to slots, every
// expression is a program. A kernel's slots are the values that its expressions may use; encode
// fills them from the arguments.
#ifndef TKC_RUNTIME_METADATA_H
#define TKC_RUNTIME_METADATA_H

#include "Dtype.h"
#include "Expr.h"
#include "Sha256.h"

#include <map>
#include <string>
#include <vector>

namespace tkcrt {

constexpr int kMaxArgs = 64;
constexpr int kMaxSlots = 1024; ///< 8 KiB of stack in encode
constexpr size_t kMaxJsonBytes = size_t(64) << 20;

/// The slot of `sms`, the same in every kernel.
constexpr int kSmsSlot = 0;

enum class Access : uint8_t { In, Out, InOut };

/// What an extent or a stride must be.
struct DimSpec {
  enum class Kind : uint8_t {
    Free,  ///< anything
    Bind,  ///< gives its value to `slot` (a stride: or equals it, if an axis gave it one before)
    Check, ///< equals `program`
  };
  Kind kind = Kind::Free;
  int slot = -1; ///< Bind: the name's; Check: the name's, if the expression is one name
  Program program;
  std::string text;
};

struct ArgInfo {
  std::string name;
  uint32_t kind = 0; ///< TKC_TENSOR, TKC_POINTER, TKC_SCALAR
  const DtypeInfo *dtype = nullptr;
  Access access = Access::In;
  uint32_t align = 1;
  std::vector<DimSpec> extents, strides; ///< as many of the one as of the other
  int pointerSlot = -1;                  ///< tensors and pointers
  int strideSlot = -1;                   ///< of axis 0; the other axes' follow
  int extentSlot = -1;                   ///< the same, of the extents as given
  int scalarSlot = -1;                   ///< integer scalars
  bool isInExpr = false;                 ///< a scalar that an expression uses
  bool hasDefault = false;
  uint64_t defaultBits = 0;
};

struct SlotInfo {
  std::string name;
  int arg = -1, axis = -1; ///< who gives the value first; -1: none, or no axis
};

struct RangeSpec {
  int slot;
  int64_t low, high;
};

/// One entry of the device's parameter buffer.
struct ParamSpec {
  enum class Kind : uint8_t { Pointer, ScalarBits, Integer };
  Kind kind = Kind::Integer;
  uint32_t at = 0, size = 0;
  int arg = -1;                    ///< Pointer, ScalarBits
  const DtypeInfo *type = nullptr; ///< Integer
  Program program;                 ///< Integer
  std::string text;
};

struct Target {
  enum class Match : uint8_t { Exact, Family, AtLeast };
  bool isNvidia = true;
  std::string arch, matchName;
  Match match = Match::Exact;
  int major = 0, minor = 0;
};

struct VariantInfo {
  std::string id, symbol;
  std::string unsupported; ///< the feature that this release lacks; empty: none
  std::string json;        ///< for tkc_describe
  int64_t rank = 0;
  Target target;
  int64_t driverMin = 0;
  size_t image = 0;
  std::vector<Condition> when;
  uint32_t block[3] = {1, 1, 1};
  Program grid[3];
  std::string gridText[3];
  uint32_t sharedStatic = 0, sharedDynamic = 0;
  uint32_t paramBytes = 0, paramAlign = 1;
  std::vector<ParamSpec> params;
};

struct Require {
  Condition condition;
  std::string text;
};

struct KernelInfo {
  std::string name;
  std::string json; ///< for tkc_describe: without the variants
  std::map<std::string, std::string> instance;
  uint64_t abiHash = 0;
  std::vector<ArgInfo> args;
  std::vector<SlotInfo> slots;
  std::vector<RangeSpec> ranges;
  std::vector<std::pair<int, int>> disjoint; ///< indices into args
  std::vector<Require> require;
  bool hasNoop = false;
  Condition noop;
  std::vector<VariantInfo> variants; ///< in the JSON's order
  std::vector<size_t> order;         ///< indices into variants, the first to try first
  Code code;

  /// `vector_add[BLOCK=1024, T=f32]`
  std::string title() const;
};

struct ImageInfo {
  enum class Kind : uint8_t { Cubin, Ptx, Hsaco };
  Kind kind = Kind::Cubin;
  uint64_t bytes = 0;
  Digest digest{};
};

struct Metadata {
  std::vector<ImageInfo> images;
  std::vector<KernelInfo> kernels;
};

tkc_status parseMetadata(const char *text, size_t bytes, Metadata &out, tkc_error *err);

/// The parts of parsing that have files of their own. `NameTable` is the kernel's, while parsing.
class NameTable {
public:
  explicit NameTable(KernelInfo &kernel) : kernel(kernel) {}

  /// A new slot; negative (and reported) if the name exists or there are too many.
  int add(Reader &reader, const std::string &name, int arg, int axis);
  /// The slot, or -1.
  int find(const std::string &name) const;
  /// Resolves a name in an expression; reports what is not known.
  int resolve(Reader &reader, const std::string &name);
  /// The argument of that name, or -1.
  int findArg(const std::string &name) const;

private:
  KernelInfo &kernel;
  std::map<std::string, int> slots;
};

bool readArgs(Reader &reader, const Json &json, NameTable &names, KernelInfo &kernel);
bool readVariant(Reader &reader, const Json &json, const std::vector<ImageInfo> &images,
                 NameTable &names, KernelInfo &kernel, VariantInfo &out);

} // namespace tkcrt

#endif
