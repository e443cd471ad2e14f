//===- Targets.cpp - the table of chips --------------------------------------===//
//
// Shared memory is what one block may ask for (CUDA C Programming Guide, table "Technical
// Specifications per Compute Capability": 163, 99 and 227 KiB; AMD: LDS per work group). PTX is the
// lowest version that has the chip and what we use of it: it decides how old an assembler may be. Arithmetic on bf16 is
// the chip's when add and mul on it are single instructions (sm_80 has fma alone).
//
//===----------------------------------------------------------------------===//

#include "backends/target/Targets.h"
#include "llvm/ADT/STLExtras.h"
#include "llvm/ADT/StringExtras.h"
#include "llvm/Support/Format.h"

using namespace tk;

/// mma.sync since sm_80.
static constexpr MatrixKinds kMatrixKinds = matrixBit(MatrixKind::F16) | matrixBit(MatrixKind::BF16) |
                                            matrixBit(MatrixKind::Tf32) | matrixBit(MatrixKind::F64) |
                                            matrixBit(MatrixKind::I8) | matrixBit(MatrixKind::Fp8);

/// mma.sync takes fp8 since sm_89, but sm_90 and sm_100 have no such instruction: their assembler makes
/// two on f16 of it, with additions that two on f16 in a row do without. sm_89 keeps 13 bits, sm_120 all.
static constexpr int fp8MatrixBitsOf(int compute) {
  return compute == 89 ? 13 : compute >= 120 ? 25 : 0;
}

static constexpr Target nvidia(std::string_view name, std::string_view what, bool supported,
                               int compute, int ptx, int64_t sharedBytes, int vectorBytes,
                               bool bf16) {
  return {name, name, what, Vendor::Nvidia, supported,
          name.back() == 'a' ? Match::Exact : Match::AtLeast, compute / 10, compute % 10, ptx,
          /*warpSize=*/32, sharedBytes, /*registersPerThread=*/255, /*registersPerBlock=*/65536,
          /*maxThreadsPerBlock=*/1024,
          vectorBytes, /*maxAtomicBytes=*/compute >= 90 ? 16 : 0, bf16, /*hasFp8Conversion=*/compute >= 89, /*hasAsyncCopy=*/true, kMatrixKinds,
          fp8MatrixBitsOf(compute)};
}

static constexpr Target amd(std::string_view name, std::string_view what, int waveSize,
                            int64_t sharedBytes, bool bf16) {
  return {name, name, what, Vendor::Amd, /*supported=*/false, Match::Exact,
          /*computeMajor=*/0, /*computeMinor=*/0, /*ptxVersion=*/0, waveSize, sharedBytes,
          /*registersPerThread=*/256, /*registersPerBlock=*/262144,
          /*maxThreadsPerBlock=*/1024, /*maxVectorBytes=*/16, /*maxAtomicBytes=*/0, bf16,
          /*hasFp8Conversion=*/false, /*hasAsyncCopy=*/false, /*matrixKinds=*/0,
          /*fp8MatrixBits=*/0};
}

static constexpr int64_t kKiB = 1024;

static constexpr Target kTargets[] = {
    nvidia("sm_80", "Ampere: A100, A30", true, 80, 80, 163 * kKiB, 16, false),
    nvidia("sm_86", "Ampere: A10, A40, RTX 30", true, 86, 80, 99 * kKiB, 16, false),
    nvidia("sm_89", "Ada: L4, L40S, RTX 40", true, 89, 84, 99 * kKiB, 16, false),
    nvidia("sm_90a", "Hopper: H100, H200", true, 90, 81, 227 * kKiB, 16, true),
    nvidia("sm_100a", "Blackwell: B200, GB200", false, 100, 86, 227 * kKiB, 32, true),
    nvidia("sm_103a", "Blackwell Ultra: B300, GB300", false, 103, 88, 227 * kKiB, 32, true),
    nvidia("sm_120a", "Blackwell: RTX 50, RTX PRO", true, 120, 87, 99 * kKiB, 16, true),
    amd("gfx90a", "CDNA 2: MI210, MI250X", 64, 64 * kKiB, false),
    amd("gfx942", "CDNA 3: MI300X, MI325X", 64, 64 * kKiB, false),
    amd("gfx950", "CDNA 4: MI350X, MI355X", 64, 160 * kKiB, false),
    amd("gfx1100", "RDNA 3: RX 7900", 32, 64 * kKiB, false),
    amd("gfx1201", "RDNA 4: RX 9070", 32, 64 * kKiB, false),
    amd("gfx1250", "gfx1250", 32, 320 * kKiB, true),
};

llvm::ArrayRef<Target> tk::allTargets() { return kTargets; }

const Target *tk::findTarget(llvm::StringRef name) {
  const Target *found =
      llvm::find_if(kTargets, [&](const Target &t) { return llvm::StringRef(t.name) == name; });
  return found == std::end(kTargets) ? nullptr : found;
}

/// Characters that two names share at their beginnings.
static size_t commonPrefix(llvm::StringRef a, llvm::StringRef b) {
  return size_t(std::mismatch(a.begin(), a.end(), b.begin(), b.end()).first - a.begin());
}

llvm::StringRef tk::nearestTarget(llvm::StringRef name) {
  constexpr unsigned mostEdits = 2; // more make another name
  llvm::StringRef best;
  std::pair<unsigned, size_t> bestScore{mostEdits + 1, 0}; // edits, then what is not shared
  for (const Target &target : kTargets) {
    unsigned edits = name.edit_distance(target.name, /*AllowReplacements=*/true, mostEdits);
    std::pair score{edits, name.size() - commonPrefix(name, target.name)};
    if (edits <= mostEdits && score < bestScore) {
      best = target.name;
      bestScore = score;
    }
  }
  return best;
}

std::string tk::supportedTargetNames() {
  llvm::SmallVector<llvm::StringRef> names;
  for (const Target &target : kTargets)
    if (target.supported)
      names.push_back(target.name);
  return llvm::join(names, ", ");
}

void tk::printTargets(llvm::raw_ostream &os) {
  os << "target   built  shared/block  warp  PTX  chips\n";
  for (const Target &target : kTargets) {
    llvm::StringRef name = target.name, what = target.what;
    os << llvm::left_justify(name, 9) << llvm::left_justify(target.supported ? "yes" : "no", 7)
       << llvm::right_justify(std::to_string(target.sharedBytesPerBlock), 12)
       << llvm::right_justify(std::to_string(target.warpSize), 6) << "  ";
    if (target.ptxVersion)
      os << target.ptxVersion / 10 << '.' << target.ptxVersion % 10;
    else
      os << " - ";
    os << "  " << what << (name == kDefaultTarget ? " (default)" : "") << '\n';
  }
}
