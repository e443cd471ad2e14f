//===- Embed.cpp - a bundle inside a host program -------------------------------------===//

#include "bundle/Embed.h"
#include "llvm/ADT/StringExtras.h"
#include "llvm/BinaryFormat/ELF.h"
#include "llvm/Support/Endian.h"
#include "llvm/Support/FormatVariadic.h"
#include "llvm/Support/MathExtras.h"
#include "llvm/Support/Path.h"
#include "llvm/Support/Regex.h"
#include "llvm/TargetParser/Host.h"
#include "llvm/TargetParser/Triple.h"
#include <vector>

using namespace tk;
using llvm::StringRef;
namespace ELF = llvm::ELF;

/// Words of C and C++, old macros and ours, between blanks: no namespace, struct or parameter may
/// be called so.
static constexpr llvm::StringLiteral kReserved =
    " "
    "alignas alignof and asm auto bitand bitor bool break case catch char class compl "
    "const constexpr continue decltype default delete do double else enum explicit "
    "export extern false float for friend goto if inline int long mutable namespace new "
    "noexcept not nullptr operator or private protected public register return short "
    "signed sizeof static struct switch template this throw true try typedef typeid "
    "typename union unsigned using virtual void volatile while xor std tkc main concept "
    "requires co_await co_return co_yield consteval constinit char8_t char16_t char32_t "
    "wchar_t unix linux not_eq and_eq or_eq xor_eq const_cast dynamic_cast static_cast "
    "reinterpret_cast static_assert thread_local typeof errno ";

/// What C headers declare at global scope and a file of kernels may well be called: no namespace.
static constexpr llvm::StringLiteral kGlobals =
    " "
    "abort abs accept access acos acosh asin asinh atan atan2 atanh bind cbrt ceil clock close connect copysign cos "
    "cosh div erf erfc exit exp exp2 expm1 fabs fdim floor fma fmax fmin fmod free frexp gamma hypot index j0 j1 jn "
    "ldexp lgamma link listen log log10 log1p log2 logb lrint lround malloc modf nan nearbyint open pipe poll pow rand "
    "random read recv remainder remove rename rindex rint round scalbn select send signal sin sinh sleep sqrt sync "
    "system tan tanh tgamma time trunc wait write y0 y1 yn ";

/// What <tkc/runtime.h> declares at global scope in small letters, beside `tkc`.
static constexpr llvm::StringLiteral kOwnNames =
    " "
    "tkc_arg tkc_bundle tkc_bundle_desc tkc_bundle_open tkc_bundle_release tkc_const tkc_describe tkc_driver "
    "tkc_driver_desc tkc_driver_open tkc_driver_release tkc_encode tkc_error tkc_kernel tkc_kernel_prepare "
    "tkc_kernel_release tkc_launch tkc_occupancy tkc_options tkc_prepare_desc tkc_rt_version tkc_status "
    "tkc_status_name tkc_submit tkc_tensor tkc_why tkc_workspace_bound tkc_workspace_query tkc_workspace_size ";

/// Macros of the C and C++ headers that <tkc/runtime.hpp> takes in and of those often beside it.
static constexpr llvm::StringLiteral kMacros =
    " "
    "NULL EOF BUFSIZ FILENAME_MAX EXIT_SUCCESS EXIT_FAILURE RAND_MAX NAN INFINITY HUGE_VAL CHAR_BIT M_E M_PI "
    "CLOCKS_PER_SEC offsetof assert stdin stdout stderr strdupa strndupa alloca major minor makedev va_arg va_copy "
    "va_end va_start setjmp sigsetjmp isnan isinf isfinite isnormal signbit fpclassify ";

/// TKC_F32, INT_LEAST8_MAX: macros and constants that come in families.
static bool isOfHeaderFamily(StringRef name) {
  static const llvm::Regex family(
      "^(TKC_.*|(U?INT[A-Z0-9_]*|PTRDIFF|SIG_ATOMIC|S?SIZE|WCHAR|WINT|[SU]?CHAR|U?SHRT|U?L?LONG|FLT|L?DBL)_"
      "(MAX|MIN|WIDTH|C|DIG|EPSILON))$");
  return family.match(name);
}

std::string tk::identifierOf(StringRef path) {
  std::string name;
  for (char c : llvm::sys::path::stem(path))
    name += llvm::isAlnum(c) ? c : '_';
  if (name.empty() || llvm::isDigit(name.front()) || name.front() == '_')
    name = "n" + name;
  std::string word = " " + name + " ";
  for (StringRef words : {kReserved, kGlobals, kOwnNames, kMacros})
    if (words.contains(word))
      return name + "_";
  return isOfHeaderFamily(name) ? name + "_" : name;
}

std::string tk::quotedText(StringRef text) {
  std::string result = "\"";
  for (unsigned char c : text)
    if (llvm::isPrint(c) && c != '"' && c != '\\')
      result += char(c);
    else
      result += llvm::formatv("\\{0}{1}{2}", c >> 6, (c >> 3) & 7, c & 7);
  return result + "\"";
}

std::string tk::defaultHostTarget() {
  return llvm::sys::getProcessTriple();
}
std::string tk::hostTargetNames() {
  return "x86_64-linux, aarch64-linux";
}

/// Little-endian, 64 bits, and no flags that an object's code would have to set.
std::optional<uint16_t> tk::elfMachineOf(StringRef name) {
  llvm::Triple triple(llvm::Triple::normalize(name));
  bool elf = name.contains('-') ? triple.isOSBinFormatELF() : true;
  if (triple.isX32() || triple.getEnvironment() == llvm::Triple::GNUILP32)
    return std::nullopt; // 32-bit objects of a 64-bit machine
  if (elf && triple.getArch() == llvm::Triple::x86_64)
    return ELF::EM_X86_64;
  if (elf && triple.getArch() == llvm::Triple::aarch64)
    return ELF::EM_AARCH64;
  return std::nullopt;
}

//===----------------------------------------------------------------------===//
// ELF
//===----------------------------------------------------------------------===//

namespace {

/// Builds the file from the front: sections with their content, the table of sections behind.
class ElfWriter {
public:
  explicit ElfWriter(uint16_t machine) : file(sizeof(ELF::Elf64_Ehdr), '\0'), machine(machine) {
    headers.push_back({});
  }

  /// Returns the section's number.
  unsigned add(StringRef name, StringRef content, ELF::Elf64_Shdr header) {
    file.resize(llvm::alignTo(file.size(), std::max<uint64_t>(header.sh_addralign, 1)));
    header.sh_name = uint32_t(names.size());
    header.sh_offset = file.size();
    header.sh_size = content.size();
    names += name.str() + '\0';
    file += content;
    headers.push_back(header);
    return unsigned(headers.size() - 1);
  }

  std::string finish() {
    ELF::Elf64_Shdr strings = {};
    strings.sh_type = ELF::SHT_STRTAB;
    strings.sh_addralign = 1;
    std::string all = names + ".shstrtab" + '\0';
    unsigned index = add(".shstrtab", all, strings);
    file.resize(llvm::alignTo(file.size(), 8));
    ELF::Elf64_Ehdr header = {};
    std::copy_n(ELF::ElfMagic, 4, header.e_ident);
    header.e_ident[ELF::EI_CLASS] = ELF::ELFCLASS64;
    header.e_ident[ELF::EI_DATA] = ELF::ELFDATA2LSB;
    header.e_ident[ELF::EI_VERSION] = ELF::EV_CURRENT;
    header.e_type = ELF::ET_REL;
    header.e_machine = machine;
    header.e_version = ELF::EV_CURRENT;
    header.e_shoff = file.size();
    header.e_ehsize = sizeof(ELF::Elf64_Ehdr);
    header.e_shentsize = sizeof(ELF::Elf64_Shdr);
    header.e_shnum = uint16_t(headers.size());
    header.e_shstrndx = uint16_t(index);
    std::memcpy(file.data(), &header, sizeof header);
    file.append(reinterpret_cast<const char *>(headers.data()),
                headers.size() * sizeof(ELF::Elf64_Shdr));
    return std::move(file);
  }

private:
  std::string file, names = std::string(1, '\0');
  std::vector<ELF::Elf64_Shdr> headers;
  uint16_t machine;
};

} // namespace

// The structures are written as they lie.
static_assert(llvm::endianness::native == llvm::endianness::little);

static ELF::Elf64_Sym symbolAt(uint32_t name, uint64_t value, uint64_t size, unsigned section) {
  ELF::Elf64_Sym symbol = {};
  symbol.st_name = name;
  symbol.setBindingAndType(ELF::STB_GLOBAL, ELF::STT_OBJECT);
  symbol.st_other = ELF::STV_HIDDEN;
  symbol.st_shndx = uint16_t(section);
  symbol.st_value = value;
  symbol.st_size = size;
  return symbol;
}

std::string tk::writeElfObject(StringRef bytes, StringRef symbol, uint16_t machine) {
  ElfWriter elf(machine);
  ELF::Elf64_Shdr data = {}, strings = {}, table = {}, stack = {};
  data.sh_type = stack.sh_type = ELF::SHT_PROGBITS;
  data.sh_flags = ELF::SHF_ALLOC;
  data.sh_addralign = kEmbedAlign;
  unsigned section = elf.add(".rodata.tkc_bundle", bytes, data);

  std::string end = symbol.str() + "_end", names = '\0' + symbol.str() + '\0' + end + '\0';
  ELF::Elf64_Sym symbols[] = {{},
                              symbolAt(1, 0, bytes.size(), section),
                              symbolAt(uint32_t(symbol.size() + 2), bytes.size(), 0, section)};
  strings.sh_type = ELF::SHT_STRTAB;
  strings.sh_addralign = stack.sh_addralign = 1;
  table.sh_type = ELF::SHT_SYMTAB;
  table.sh_link = elf.add(".strtab", names, strings);
  table.sh_info = 1; // the first symbol that is not local
  table.sh_entsize = sizeof(ELF::Elf64_Sym);
  table.sh_addralign = 8;
  elf.add(".symtab", StringRef(reinterpret_cast<const char *>(symbols), sizeof symbols), table);
  elf.add(".note.GNU-stack", "", stack); // the program's stack need not be executable
  return elf.finish();
}

//===----------------------------------------------------------------------===//
// Assembly
//===----------------------------------------------------------------------===//

std::string tk::writeAssembly(StringRef bundleName, StringRef symbol) {
  constexpr const char *text =
      R"(/* Assemble with the C compiler; -I names the folder of the bundle. */
#if defined(__APPLE__)
  .section __TEXT,__const
  .private_extern _{0}, _{0}_end
  .globl _{0}, _{0}_end
  .p2align {2}
_{0}:
  .incbin {1}
_{0}_end:
  .byte 0
#else
  .section .rodata.tkc_bundle,"a",%progbits
  .hidden {0}
  .hidden {0}_end
  .globl {0}
  .globl {0}_end
  .type {0}, %object
  .type {0}_end, %object
  .p2align {2}
{0}:
  .incbin {1}
{0}_end:
  .size {0}, {0}_end - {0}
  .section .note.GNU-stack,"",%progbits
#endif
)";
  return llvm::formatv(text, symbol, quotedText(bundleName), llvm::Log2_64(kEmbedAlign));
}
