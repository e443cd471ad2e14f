//===- LinearLayout.h - which thread holds which element of a tile --------===//
//
// A tile (say 64x32 values of f16) is spread over the registers of the threads of a block, or over
// the bytes of shared memory. A *layout* says where each element is. This file has the only layout
// type of the compiler; blocked, swizzled, sliced and matrix-fragment layouts are values of it.
//
// The idea. Sides, lanes, warps and registers come in powers of two, so an index is a row of bits.
// Nearly every layout in use copies input bits to coordinate bits, sometimes XORing a few. Such a
// map is *linear over F2* (the bits with XOR as addition): it is known once the image of each
// single input bit is known. That image is the *basis* of the bit, a vector of R coordinates for a
// tile of rank R. The image of any index is the XOR of the bases of its set bits.
//
// Example 1: an 8x4 tile over 2 registers, 8 lanes and 2 warps
//
//   register=[[0,1]], lane=[[0,2],[1,0],[2,0]], warp=[[4,0]]
//
//   Register bit 0 steps one column; lane bit 0 steps two columns, lane bits 1 and 2 step 1 and 2
//   rows; the warp bit steps 4 rows. Lane 5 (binary 101), register 1, warp 1 holds
//   [0,2] ^ [2,0] ^ [0,1] ^ [4,0] = [6,3]. The owner of each element, as lane.register:
//
//             col 0  1    2    3                   col 0  1    2    3
//     row 0   0.0  0.1  1.0  1.1   warp 0  row 4   0.0  0.1  1.0  1.1   warp 1
//     row 1   2.0  2.1  3.0  3.1           row 5   2.0  2.1  3.0  3.1
//     row 2   4.0  4.1  5.0  5.1           row 6   4.0  4.1  5.0  5.1
//     row 3   6.0  6.1  7.0  7.1           row 7   6.0  6.1  7.0  7.1
//
//   Questions become looks at bits. Vector width along columns: register bit 0 is [0,1] and nothing
//   else touches the lowest column bit, so 2. A reduction along the rows: the bits with a row
//   coordinate are lane bits 1, 2 and the warp bit, so two shuffles and one trip through memory.
//
// Example 2: a swizzle, 4x4 elements in shared memory
//
//   offset=[[0,1],[0,2],[1,1],[2,2]]
//
//   Offset 6 (binary 0110) holds [0,2] ^ [1,1] = [1,3]. The offset of each element:
//
//             col 0  1   2   3      Were there four banks (offset mod 4), column 0 (offsets 0, 5,
//     row 0     0    1   2   3      10, 15) and row 0 (0, 1, 2, 3) would both be free of
//     row 1     5    4   7   6      conflicts. A plain row-major layout has the bases
//     row 2    10   11   8   9      [0,1], [0,2], [1,0], [2,0], and its column 0 lies all
//     row 3    15   14  13  12      in one bank.
//
// Example 3: a broadcast, 4 elements over 8 lanes
//
//   lane=[[1],[2],[0]]
//
//     lane      0  1  2  3  4  5  6  7    A zero basis means that the bit does not matter: lanes l
//     element   0  1  2  3  0  1  2  3    and l ^ 4 hold the same. ownerMask(Lane) = 4: the lanes
//                                         with bit 2 clear are the ones to write memory.
//
// Sides that are not powers of two. Two means, free to combine:
//   pads     The map covers the padded side, of which only coordinates under the true `shape` are
//            valid: side 48 over 64. Costs idle elements, keeps everything linear.
//   repeats  The map, now called the *core*, covers 2^k, and the tile is m copies of it, m odd:
//            side 48 = 3 * 16. The copies are the outermost part of the register number (of the
//            offset for memory): register = r * coreRegisters + coreRegister, and repeat r adds
//            r * 2^k to the coordinate. Side 12 = 3 * 4 over two lanes,
//            `register=[[1]], lane=[[2]], repeats=[[0,3]]`:
//
//              register     0  1    2  3    4  5
//              lane 0       0  1    4  5    8  9
//              lane 1       2  3    6  7   10 11
//
//            With several repeated dimensions, r counts through them in the order of the list,
//            the first fastest.
//
// Text. One line, parsed back to the same object: `register=[..], lane=[..], warp=[..]` or
// `offset=[..]`, then `block=[..]` if there are block bits, `repeats=[[dim,count],..]` if any, and
// `shape=[..]` if it differs from the padded shape (or if no basis tells the rank).
//
// Every layout is surjective: each element of the padded tile is somewhere. The core's sides
// follow from the bases, which makes the form canonical: equal maps are equal objects.
//
// To read more: "Linear Layouts", arXiv 2505.23819.
//===----------------------------------------------------------------------===//

#ifndef TK_IR_LAYOUT_LINEARLAYOUT_H
#define TK_IR_LAYOUT_LINEARLAYOUT_H

#include "llvm/ADT/ArrayRef.h"
#include "llvm/ADT/Hashing.h"
#include "llvm/ADT/STLFunctionalExtras.h"
#include "llvm/ADT/SmallVector.h"
#include "llvm/ADT/StringRef.h"
#include "llvm/Support/Error.h"

#include <array>
#include <compare>
#include <cstdint>
#include <optional>
#include <string>
#include <vector>

namespace llvm {
class raw_ostream;
} // namespace llvm

namespace tk {

/// The input dimensions, in canonical order. A layout uses either the first four ("distributed") or
/// Offset, perhaps with Block ("memory"); offsets count elements, not bytes.
enum class InDim : uint8_t { Register, Lane, Warp, Block, Offset };
inline constexpr unsigned kNumInDims = 5;
inline constexpr std::array<InDim, kNumInDims> kInDims = {InDim::Register, InDim::Lane, InDim::Warp,
                                                          InDim::Block, InDim::Offset};
/// "register", "lane", "warp", "block", "offset".
llvm::StringRef inDimName(InDim dim);

/// Coordinates of an element of a tile, outermost dimension first.
using Coords = llvm::SmallVector<int32_t, 4>;

/// One place: a register of a thread, or an offset. A register or offset includes its repeat.
struct Index {
  int32_t reg = 0, lane = 0, warp = 0, block = 0, offset = 0;

  int32_t get(InDim dim) const;
  void set(InDim dim, int32_t value);
  friend auto operator<=>(const Index &, const Index &) = default;
  /// XOR of each number.
  friend Index operator^(const Index &a, const Index &b);
};

/// `count` (odd, at least 3) copies of the core along tile dimension `dim`.
struct Repeat {
  uint32_t dim = 0;
  int32_t count = 1;
  friend auto operator<=>(const Repeat &, const Repeat &) = default;
};

/// The bases of one input dimension, lowest bit first; each basis has one coordinate per dimension.
struct DimBases {
  InDim dim;
  std::vector<std::vector<int32_t>> bases;
};

struct Slice;
class LayoutConversion;

/// A layout; see the head of this file. A value: small, immutable but for assignment, comparable
/// (the order is arbitrary but stable), hashable. The default is the rank-0 layout of a scalar.
class LinearLayout {
public:
  /// Most elements of a padded tile, and most values of one input dimension: 2^30.
  static constexpr unsigned kMaxBits = 30;
  static constexpr int64_t kMaxElements = int64_t(1) << kMaxBits;
  /// Most input bits of all dimensions together: sets of them are 64-bit masks.
  static constexpr unsigned kMaxInputBits = 64;

  LinearLayout() = default;

  // --- Construction that can fail: the error text names the fault and the numbers ---

  /// From bases. Dimensions not listed have size 1; a listed Offset, even without bases, makes a
  /// memory layout. Fails unless the bases are in range and reach every element of the core, and
  /// `shape` fits into the padded tile. An empty optional shape means the padded tile is all valid;
  /// then `rank` must come from a basis.
  static llvm::Expected<LinearLayout> fromBases(llvm::ArrayRef<DimBases> bases,
                                                std::optional<llvm::ArrayRef<int32_t>> shape = {},
                                                llvm::ArrayRef<Repeat> repeats = {});

  /// The text form. Input dimensions may come in any order and be absent.
  static llvm::Expected<LinearLayout> parse(llvm::StringRef text);

  /// The tile dealt out in blocks. Along each dimension the bits are handed to registers
  /// (`elementsPerThread`), then lanes, then warps, all powers of two, within each of these in
  /// `order` (order[0] is the fastest dimension). A tile that is larger wraps around in additional
  /// registers; in one that is smaller the surplus lane and warp bits hold duplicates, and surplus
  /// elementsPerThread are not used. `reps` gives a multiplicity per dimension (odd; empty: 1);
  /// the core's side is ceil(shape / reps) rounded up to a power of two, the rest is padding.
  static llvm::Expected<LinearLayout>
  blocked(llvm::ArrayRef<int32_t> shape, llvm::ArrayRef<int32_t> elementsPerThread,
          llvm::ArrayRef<int32_t> threadsPerWarp, llvm::ArrayRef<int32_t> warpsPerBlock,
          llvm::ArrayRef<unsigned> order, llvm::ArrayRef<int32_t> reps = {});

  /// The default for global memory: `vec` consecutive elements of the fastest dimension a thread,
  /// then lanes and then warps fill the dimensions from the fastest on, so that one access of a
  /// warp touches consecutive memory. `vec`, `lanes` and `warps` are powers of two.
  static llvm::Expected<LinearLayout> coalesced(llvm::ArrayRef<int32_t> shape, int32_t vec,
                                                llvm::ArrayRef<unsigned> order, int32_t lanes,
                                                int32_t warps, llvm::ArrayRef<int32_t> reps = {});

  /// Shared memory, order[0] fastest. Repeats are panels one after the other (with a repeat of the
  /// slowest dimension only, that is plain row-major).
  static llvm::Expected<LinearLayout> rowMajorShared(llvm::ArrayRef<int32_t> shape,
                                                     llvm::ArrayRef<unsigned> order,
                                                     llvm::ArrayRef<int32_t> reps = {});

  /// Like rowMajorShared, but chunks of `vec` elements of the fastest dimension are permuted by
  /// XOR with the phase `(row / perPhase) % maxPhase`, row along order[1]. Powers of two;
  /// vec * maxPhase must fit in the core's side. The 128-byte swizzle of tensor copies, on rows of
  /// 128 bytes: vec = 16 bytes, perPhase = 1, maxPhase = 8. Example 2: 1, 1, 4.
  static llvm::Expected<LinearLayout> swizzledShared(llvm::ArrayRef<int32_t> shape,
                                                     llvm::ArrayRef<unsigned> order, int32_t vec,
                                                     int32_t perPhase, int32_t maxPhase,
                                                     llvm::ArrayRef<int32_t> reps = {});

  // --- Pieces for building layouts by product; sizes are powers of two ---

  /// `size` values of `dim` run along `axis` of a tile of the given rank (other sides 1).
  static LinearLayout identity1D(InDim dim, int32_t size, unsigned rank = 1, unsigned axis = 0);
  /// `size` values of `dim` all hold the one element of a tile of sides 1.
  static LinearLayout zeros(InDim dim, int32_t size, unsigned rank = 1);

  /// `inner` in the low bits, `outer` above: input bits of each dimension are concatenated, and the
  /// coordinates are inner + innerSide * outer. Ranks are equal; `inner` has no pads or repeats,
  /// those of `outer` stay. The m16n8 accumulator of mma.sync is
  ///   identity1D(Register, 2, 2, 1) * identity1D(Lane, 4, 2, 1) * identity1D(Lane, 8, 2, 0)
  ///     * identity1D(Register, 2, 2, 0)
  friend LinearLayout operator*(const LinearLayout &inner, const LinearLayout &outer);

  /// The same map with another true shape; fails if it does not fit into the padded tile.
  llvm::Expected<LinearLayout> withShape(llvm::ArrayRef<int32_t> shape) const;
  /// The same core and (padded) shape times `repeats`. Fails if there are repeats or pads already.
  llvm::Expected<LinearLayout> withRepeats(llvm::ArrayRef<Repeat> repeats) const;

  // --- The tile ---

  unsigned rank() const { return coreBits.size(); }
  /// True sides.
  llvm::ArrayRef<int32_t> shape() const { return tileShape; }
  /// Side covered by the bases alone, a power of two.
  int32_t coreSize(unsigned dim) const { return int32_t(1) << coreBits[dim]; }
  /// Multiplicity along `dim`, 1 if not repeated.
  int32_t reps(unsigned dim) const;
  /// Side that the layout covers: coreSize * reps >= shape.
  int32_t padded(unsigned dim) const { return coreSize(dim) * reps(dim); }
  /// All padded sides.
  Coords outSizes() const;
  /// The repeated dimensions, fastest first.
  llvm::ArrayRef<Repeat> repeats() const { return repeatList; }
  bool hasPads() const;
  /// Is this an element of the true tile?
  bool isValid(llvm::ArrayRef<int32_t> coords) const;

  // --- The inputs ---

  bool isMemory() const { return memory; }
  /// The input dimension that carries the repeats: Register, or Offset for memory.
  InDim elementDim() const { return memory ? InDim::Offset : InDim::Register; }
  /// Number of bits (bases) of an input dimension.
  unsigned numBits(InDim dim) const { return bits[unsigned(dim)]; }
  /// Number of values of an input dimension, repeats included.
  int32_t inSize(InDim dim) const;
  int32_t numRegisters() const { return inSize(InDim::Register); }
  int32_t numLanes() const { return inSize(InDim::Lane); }
  int32_t numWarps() const { return inSize(InDim::Warp); }
  int32_t numBlocks() const { return inSize(InDim::Block); }
  int32_t numOffsets() const { return inSize(InDim::Offset); }
  /// Product of the repeats.
  int32_t numRepeats() const;
  /// Registers (or offsets) of the core alone.
  int32_t numCoreElements() const { return int32_t(1) << numBits(elementDim()); }
  Coords basis(InDim dim, unsigned bit) const;

  // --- The map ---

  /// Coordinates of what a place holds. The index must be within the input sizes.
  Coords apply(const Index &index) const;
  Coords apply(int32_t reg, int32_t lane, int32_t warp, int32_t block = 0) const {
    return apply(Index{reg, lane, warp, block, 0});
  }
  /// Pseudo inverse: the canonical place of an element, the one with no bit of any ownerMask set.
  /// None outside the padded tile.
  std::optional<Index> invert(llvm::ArrayRef<int32_t> coords) const;
  /// Calls `visit` for every place, padding included; registers (offsets) change fastest.
  void forEach(llvm::function_ref<void(const Index &, llvm::ArrayRef<int32_t>)> visit) const;

  // --- Queries ---

  /// Bits whose basis is zero: indices that differ in these only hold the same.
  uint32_t freeBits(InDim dim) const;
  /// Bits that add nothing to the image of the bits before them (registers first, then lanes,
  /// warps, blocks; low bits first). Places with all of these clear hold each element once: the
  /// thread with (lane & ownerMask(Lane)) == 0 && (warp & ownerMask(Warp)) == 0 writes.
  uint32_t ownerMask(InDim dim) const;
  /// Bits whose basis has a non-zero coordinate on `axis`.
  uint32_t bitsMovingAxis(InDim dim, unsigned axis) const;
  /// True if no bit of `dim` moves more than one axis.
  bool axisOnly(InDim dim) const;
  /// True if no bit at all moves more than one axis.
  bool axisOnly() const;
  /// The largest 2^k such that each aligned group of 2^k registers (offsets) holds consecutive
  /// elements along `axis`, the first a multiple of 2^k: the widest vector. Pads count as elements.
  int32_t contiguousPerThread(unsigned axis) const;
  /// True if every element is in exactly one place.
  bool invertible() const;

  // --- Layouts from layouts ---

  /// The layout of a tile without `axis`, such as the result of reducing along it; also what an
  /// operand must have (with expandAxis) to broadcast along `axis` into this layout for free.
  /// Registers that would hold the same are merged; the Slice tells which.
  Slice reduceAxis(unsigned axis) const;
  /// Merges registers (offsets) of a thread that hold the same element.
  Slice withoutDuplicateRegisters() const;
  /// Inserts an axis of side 1 before `axis`.
  LinearLayout expandAxis(unsigned axis) const;
  /// Widens an axis of side 1 to `size`: each thread holds all of the new elements, in additional
  /// core registers, padded up to a power of two. None if the axis has not padded side 1 or the
  /// result would be too big.
  std::optional<LinearLayout> broadcastAxis(unsigned axis, int32_t size) const;
  /// Dimension i of the result is dimension perm[i] of this.
  LinearLayout transpose(llvm::ArrayRef<unsigned> perm) const;
  /// Row-major reshape of the true tile in which no element changes its place. None if the result
  /// is not a linear layout (`[96] -> [32,3]`) or the sizes differ: a planned move is needed.
  std::optional<LinearLayout> reshape(llvm::ArrayRef<int32_t> newShape) const;
  /// This memory layout after `inner`, a layout of rank 1 whose elements are this one's offsets:
  /// what threads get that read memory at the places `inner` says. None if sizes do not fit.
  std::optional<LinearLayout> compose(const LinearLayout &inner) const;

  // --- Text, order, hash ---

  std::string str() const;
  void print(llvm::raw_ostream &os) const;

  std::weak_ordering operator<=>(const LinearLayout &other) const;
  bool operator==(const LinearLayout &other) const;
  friend llvm::hash_code hash_value(const LinearLayout &layout);

private:
  friend class LayoutConversion;

  // Bases are packed: a basis is the row-major number of an element of the core, so that XOR of
  // numbers is XOR of coordinates. They stand in one list in the order of InDim; a "bit number" is
  // a position in it.
  unsigned firstBit(InDim dim) const;
  llvm::ArrayRef<uint32_t> packedBases(InDim dim) const;
  unsigned numCoreBits() const;
  unsigned axisShift(unsigned axis) const;
  uint32_t pack(llvm::ArrayRef<int32_t> coords) const;
  Coords unpack(uint32_t element) const;
  uint32_t applyCore(const Index &index) const;
  std::optional<int32_t> repeatOf(llvm::ArrayRef<int32_t> coords) const;
  uint64_t redundantBits() const;
  Index indexOfBits(uint64_t bitSet) const;
  bool tooBig() const;
  void appendBit(InDim dim, uint32_t element);
  void setCore(llvm::ArrayRef<uint8_t> newCoreBits,
               llvm::function_ref<Coords(llvm::ArrayRef<int32_t>)> change);
  Slice slice(std::optional<unsigned> axis) const;
  llvm::Error fitShape(llvm::ArrayRef<int32_t> newShape);
  llvm::Error addRepeats(llvm::ArrayRef<Repeat> repeats);
  llvm::Error checkSurjective() const;

  llvm::SmallVector<uint32_t, 16> packed;
  std::array<uint8_t, kNumInDims> bits = {};
  bool memory = false;
  llvm::SmallVector<uint8_t, 4> coreBits;
  llvm::SmallVector<int32_t, 4> tileShape;
  llvm::SmallVector<Repeat, 1> repeatList;
};

llvm::raw_ostream &operator<<(llvm::raw_ostream &os, const LinearLayout &layout);

/// A layout with fewer axes or registers, and how its registers (offsets) relate to the old ones.
/// Both maps hold in every lane, warp and block alike.
struct Slice {
  LinearLayout layout;
  /// New register -> the lowest old register of the same element. To drop to the slice, take these.
  llvm::SmallVector<int32_t> oldOfNew;
  /// Old register -> new register of the same element. A reduction in a thread adds old register i
  /// to newOfOld[i]; a broadcast from the slice reads newOfOld[i] for register i.
  llvm::SmallVector<int32_t> newOfOld;
};

/// The span of some vectors over F2 that can say which of them add up to a given vector. Vectors
/// are rows of bits; a set of vectors is a mask with one bit for each.
class F2Span {
public:
  /// Adds the vector number `number`. False, and nothing happens, if it is in the span already.
  bool insert(uint32_t vector, unsigned number);
  /// The set of vectors, out of those that insert() took, whose sum is `vector`; none if not in the
  /// span. The set is unique, and linear in `vector`.
  std::optional<uint64_t> solve(uint32_t vector) const;

private:
  uint32_t reduce(uint32_t vector, uint64_t &sum) const;
  // The row of index i has leading bit i, and is the sum of the vectors in sums[i]. 0: no row.
  std::array<uint32_t, 32> rows = {};
  std::array<uint64_t, 32> sums = {};
};

/// The cheapest means that brings a tile from one layout into another.
enum class ConversionKind : uint8_t {
  None,      ///< The layouts are equal.
  Registers, ///< Each thread has all it needs, in other registers.
  Lanes,     ///< Each warp has all it needs: shuffles.
  Shared,    ///< Each block has all it needs: through shared memory (or one side is memory).
  Blocks     ///< Data crosses blocks: distributed shared memory, or not at all.
};

/// For each place of `dst`, a place of `src` that holds the same element. Of several such places it
/// prefers a near one (a register of the same thread, else of the same warp, else of the block); if
/// linear, it does so for each bit. The kind is the least possible, with padding counted as
/// elements if linear. With a memory layout as `src` this is the address computation of a
/// shared-memory access.
class LayoutConversion {
public:
  /// Fails if the layouts are of tiles of different shapes.
  static llvm::Expected<LayoutConversion> create(const LinearLayout &src, const LinearLayout &dst);

  ConversionKind kind() const { return means; }
  const LinearLayout &source() const { return src; }
  const LinearLayout &target() const { return dst; }

  /// Where `src` holds what `dst` holds at `index`. None only for padding that `src` lacks.
  std::optional<Index> sourceOf(const Index &index) const;

  /// True if cores and repeats agree; then the map is linear on the core, and a repeat of `dst`
  /// comes from the same repeat of `src`.
  bool isLinear() const { return linear; }
  /// True if each register of `dst` comes from one register of the same thread, the same one in
  /// all lanes and warps: then the conversion is renaming. `Registers` alone does not say so; which
  /// register a thread needs may depend on its lane.
  bool isRenaming() const;
  /// If linear: the source place of one bit of the core; those of the set bits XOR together.
  Index sourceOfBit(InDim dim, unsigned bit) const;

private:
  /// How far away a source may be: which input dimensions are free to differ from the target's.
  enum Reach : uint8_t { Thread, Warp, Block, Cluster };
  static constexpr unsigned kNumReaches = 4;

  LayoutConversion(const LinearLayout &src, const LinearLayout &dst);
  bool keeps(InDim dim, Reach reach) const;
  std::optional<Index> solve(uint32_t element, const Index &at, Reach reach) const;
  Reach leastReach() const;
  Reach solveBits();
  Reach reachOfAll() const;

  LinearLayout src, dst;
  std::array<F2Span, kNumReaches> spans;
  llvm::SmallVector<Index, 16> bitSources;
  ConversionKind means = ConversionKind::None;
  bool linear = false;
};

/// The kind of the conversion; none if the tiles' shapes differ.
std::optional<ConversionKind> conversionKind(const LinearLayout &src, const LinearLayout &dst);
/// "none", "registers", "lanes", "shared", "blocks".
llvm::StringRef conversionKindName(ConversionKind kind);

} // namespace tk

#endif // TK_IR_LAYOUT_LINEARLAYOUT_H
