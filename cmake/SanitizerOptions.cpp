//===- SanitizerOptions.cpp - how AddressSanitizer runs here -------------------===//
//
// Linked into every executable of a build with sanitizers. LLVM's archives are not instrumented:
// what they poison or annotate by hand, and containers that cross the border between them and our
// code, would be reported where nothing is wrong.
//
//===----------------------------------------------------------------------===//

extern "C" const char *__asan_default_options();

const char *__asan_default_options() { return "allow_user_poisoning=0:detect_container_overflow=0"; }
