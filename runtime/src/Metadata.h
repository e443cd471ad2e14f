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
constexpr int kMaxTuneKeys = 16;
constexpr int kMaxTensorMapRank = 5; ///< cuTensorMapEncodeTiled
constexpr size_t kMaxJsonBytes = size_t(64) << 20;
constexpr uint64_t kMaxImageBytes = uint64_t(256) << 20;
constexpr uint64_t kMaxCompression = 1024; ///< bytes of an image for each byte stored

/// Slots that are the same in every kernel. Those from kBlocksPerSmSlot on differ from variant to
/// variant: only its guards, grid and parameters may use them.
enum : int { kSmsSlot = 0, kBlocksPerSmSlot = 1, kClustersSlot = 2, kFirstOwnSlot = 3 };

enum class Access : uint8_t { In, Out, InOut, Scratch };

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
  int spanSlot = -1;                     ///< pointers: the bytes that the caller vouches for
  int strideSlot = -1;                   ///< of axis 0; the other axes' follow
  int extentSlot = -1;                   ///< the same, of the extents as given
  int scalarSlot = -1;                   ///< integer scalars
  bool isInExpr = false;                 ///< a scalar that an expression uses
  bool isOptional = false;               ///< a tensor or pointer that may be left out
  bool isZeroed = false;                 ///< every element is 0 when the launch begins
  bool hasDefault = false;
  uint64_t defaultBits = 0;

  bool isScratch() const { return access == Access::Scratch; }
  /// Binds the names that it is the first to use; others only check them or bind what is left.
  bool bindsFirst() const { return !isOptional && !isScratch(); }
};

struct SlotInfo {
  std::string name;
  int arg = -1, axis = -1; ///< who gives the value first; -1: none, or no axis
};

struct RangeSpec {
  int slot;
  int64_t low, high;
};

/// An expression and its text, for messages.
struct Term {
  Program program;
  std::string text;
};

/// Entries of a variant's `params`.
constexpr size_t kMaxParams = 4096;

/// One entry of the device's parameter buffer.
struct ParamSpec {
  enum class Kind : uint8_t { Pointer, ScalarBits, Integer, TensorMap };
  Kind kind = Kind::Integer;
  uint32_t at = 0, size = 0;
  int arg = -1;                    ///< Pointer, ScalarBits; TensorMap: index into tensorMaps
  const DtypeInfo *type = nullptr; ///< Integer
  Term value;                      ///< Integer
};

struct Target {
  enum class Vendor : uint8_t { Nvidia, Amd, Cpu };
  enum class Match : uint8_t { Exact, Family, AtLeast };
  Vendor vendor = Vendor::Nvidia;
  std::string arch, matchName;
  Match match = Match::Exact;
  int major = 0, minor = 0;
};

/// A CUtensorMap to encode; the numbers are those of CUDA's enumerations.
struct TensorMapSpec {
  int arg = -1;
  int dataType = 0, interleave = 0, swizzle = 0, l2 = 0, oob = 0;
  uint32_t baseAlign = 16;
  std::vector<Term> dims, strides; ///< innermost first; strides in bytes, one less
  uint32_t box[kMaxTensorMapRank] = {}, elementStrides[kMaxTensorMapRank] = {};
};

struct VariantInfo {
  std::string id, symbol, configId;
  std::string unsupported; ///< the feature that this release lacks; empty: none
  std::string json;        ///< for tkc_describe
  int64_t rank = 0;
  bool isDefault = false; ///< of its target's default configuration
  Target target;
  int64_t driverMin = 0;
  size_t image = 0;
  std::vector<Condition> when;
  uint32_t block[3] = {1, 1, 1}, cluster[3] = {1, 1, 1};
  Term grid[3];
  uint32_t sharedStatic = 0, sharedDynamic = 0;
  bool isCooperative = false, isCoresident = false, pdlWaits = false, hasBigCluster = false;
  bool usesOccupancy = false; ///< in an expression
  std::vector<TensorMapSpec> tensorMaps;
  uint32_t paramBytes = 0, paramAlign = 1;
  std::vector<ParamSpec> params;

  uint32_t threads() const { return block[0] * block[1] * block[2]; }
  uint32_t clusterBlocks() const { return cluster[0] * cluster[1] * cluster[2]; }
};

struct Require {
  Condition condition;
  std::string text;
};

/// What is known to be fast: for a device and the values of `key`, a configuration.
struct TuneRecord {
  std::string arch, configId;
  int64_t sms = 0, memoryGib = 0; ///< memoryGib 0: of any memory
  std::vector<int64_t> key;
};

struct TuneInfo {
  enum class OnMiss : uint8_t { Default, Nearest, Error };
  std::vector<Term> key;
  OnMiss onMiss = OnMiss::Default;
  std::vector<TuneRecord> table;
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
  bool hasNoop = false, hasCost = false;
  Condition noop;
  Term flops, bytes; ///< hasCost
  TuneInfo tune;
  std::vector<VariantInfo> variants; ///< in the JSON's order
  std::vector<size_t> order;         ///< indices into variants, the first to try first
  Code code;

  /// `vector_add[BLOCK=1024, T=f32]`
  std::string title() const;
};

struct ImageInfo {
  enum class Kind : uint8_t { Cubin, Ptx, Hsaco, Tk };
  enum class Codec : uint8_t { None, Zstd };
  Kind kind = Kind::Cubin;
  Codec codec = Codec::None;
  uint64_t offset = 0, stored = 0; ///< in a bundle
  uint64_t bytes = 0;              ///< as the driver gets it
  Digest digest{};
};

struct Metadata {
  std::vector<ImageInfo> images;
  std::vector<KernelInfo> kernels;
};

/// Where the images are: beside the JSON, or in [begin, end) of the bundle that the JSON is in.
struct ImageSpace {
  bool isBundle = false;
  uint64_t begin = 0, end = 0;
};

tkc_status parseMetadata(const char *text, size_t bytes, const ImageSpace &space, Metadata &out,
                         tkc_error *err);

/// The records of a table that are not another kernel's. `path` of errors is the text's own.
tkc_status parseTable(const char *text, size_t bytes, const KernelInfo &kernel,
                      std::vector<TuneRecord> &out, tkc_error *err);

/// The parts of parsing that have files of their own. `NameTable` is the kernel's, while parsing.
class NameTable {
public:
  explicit NameTable(KernelInfo &kernel) : kernel(kernel) {}

  /// A new slot; negative (and reported) if the name exists or there are too many.
  int add(Reader &reader, const std::string &name, int arg, int axis);
  /// The slot, or -1.
  int find(const std::string &name) const;
  /// Resolves a name in an expression; reports what is not known.
  int resolve(Reader &reader, const std::string &name, bool isOfVariant = false);
  /// The argument of that name, or -1.
  int findArg(const std::string &name) const;
  /// `resolve` for parseExpr. Both objects must outlive it.
  Resolver resolver(Reader &reader, bool isOfVariant = false) {
    return [this, &reader, isOfVariant](const std::string &name) {
      return resolve(reader, name, isOfVariant);
    };
  }

private:
  KernelInfo &kernel;
  std::map<std::string, int> slots;
};

bool readImages(Reader &reader, const Json &json, const ImageSpace &space,
                std::vector<ImageInfo> &out);
bool readArgs(Reader &reader, const Json &json, NameTable &names, KernelInfo &kernel);
bool readTune(Reader &reader, const Json &json, NameTable &names, KernelInfo &kernel);
bool readTensorMaps(Reader &reader, const Json &json, NameTable &names, KernelInfo &kernel,
                    VariantInfo &out);
bool readParams(Reader &reader, const Json &json, NameTable &names, KernelInfo &kernel,
                VariantInfo &out);
bool readVariant(Reader &reader, const Json &json, const std::vector<ImageInfo> &images,
                 NameTable &names, KernelInfo &kernel, VariantInfo &out);
/// An expression with its text.
bool readTerm(Reader &reader, const Json &json, const Resolver &resolve, Code &code, Term &out);

} // namespace tkcrt

#endif
