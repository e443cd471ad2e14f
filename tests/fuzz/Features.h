//===- Features.h - what of the language a generator writes, as a statistic ------------===//
//
// A feature is met in a program when its text has the feature's sign. The operations of a program
// are counted in its module; some the language has and the generator leaves out, for the reason here.
//
//===----------------------------------------------------------------------===//
#pragma once

#include "llvm/ADT/StringRef.h"
#include <iterator>

namespace tk::fuzz {

struct Feature {
  llvm::StringLiteral name, sign;
};

inline constexpr Feature kFeatures[] = {
    // Names and functions.
    {"function with statements", "fn g"},
    {"early return of a function", "early { return a }"},
    {"closure", "= fn(a)"},
    {"function as a value", "twice("},
    {"recursion at compile time", "chain("},
    {"tensor as an argument", "row_part("},
    {"structure", "struct Span"},
    {"method of a structure", ".wide()"},
    {"field that changes", ".low = "},
    {"tuple taken apart", "let ("},
    {"member of a tuple that changes", ".0 = "},
    {"module", "import std"},
    {"constant", "const "},
    {"compile-time parameter", "kernel k["},
    {"static_assert", "static_assert("},
    // Control.
    {"if", "if ("},
    {"else", "} else {"},
    {"for", " in range("},
    {"for that counts down", ", -"},
    {"static_range", "in static_range("},
    {"for over a list", " in ["},
    {"while", "while "},
    {"break", "{ break }"},
    {"continue", "{ continue }"},
    {"return", "{ return }"},
    {"if expression", "(if "},
    {"&& and ||", " && "},
    {"@unroll", "@unroll"},
    {"@pipeline", "@pipeline"},
    {"@no_licm", "@no_licm"},
    {"@warp_specialize", "@warp_specialize"},
    // The kernel's head.
    {"grid of two axes", "program_id(1)"},
    {"named extent", "[N0"},
    {"stride", ".stride("},
    {"optional tensor", "]?"},
    {"scratch", "scratch "},
    {"pointer", "*"},
    {"@options", "@options("},
    {"@numerics", "@numerics("},
    {"@require", "@require("},
    {"@tune", "@tune("},
    {"@variants", "@variants(["},
    // Memory.
    {"fill", "fill="},
    {"mask", "mask="},
    {"gather from memory", "(i32) % "},
    {"scatter", " ^ 1] = "},
    {"load through pointers", "load("},
    {"store through pointers", "store("},
    {"volatile", "volatile=true"},
    {"cache hint", "cache="},
    {"eviction hint", "evict="},
    {"prefetch", "prefetch("},
    {"view", "view("},
    {"view of a pointer", "view(p"},
    {"place read and written", "] += "},
    {"atomic_add", "atomic_add("},
    {"atomic_max", "atomic_max("},
    {"atomic_min", "atomic_min("},
    {"atomic_and", "atomic_and("},
    {"atomic_or", "atomic_or("},
    {"atomic_xor", "atomic_xor("},
    {"atomic_xchg", "atomic_xchg("},
    {"atomic_cas", "atomic_cas("},
    {"atomic_load", "atomic_load("},
    {"atomic_store", "atomic_store("},
    {"atomic_poll", "atomic_poll("},
    // Tiles.
    {"part of a tile", ":2]"},
    {"part that is assigned", ":] = "},
    {"reshape", "reshape("},
    {"permute", "permute("},
    {"cat", "cat("},
    {"flip", "flip("},
    {"interleave", "interleave("},
    {"split", "split("},
    {"broadcast_to", "broadcast_to("},
    {"gather", "gather("},
    {"sort", "sort("},
    {"topk", "topk("},
    {"histogram", "histogram("},
    {"reduce", "reduce("},
    {"reduce of a tuple", "best, axis"},
    {"sum", "sum("},
    {"prod", "prod("},
    {"max", "max("},
    {"argmax", "argmax("},
    {"argmin", "argmin("},
    {"any", "any("},
    {"all", "all("},
    {"xor_sum", "xor_sum("},
    {"or_sum", "or_sum("},
    {"keep_dims", "keep_dims=true"},
    {"scan", "(scan("},
    {"cumsum", "cumsum("},
    {"cumprod", "cumprod("},
    {"cummax", "cummax("},
    {"cummin", "cummin("},
    {"map_elementwise", "map_elementwise("},
    {"inline_asm_elementwise", "inline_asm_elementwise("},
    {"extern_elementwise", "extern_elementwise("},
    // Products.
    {"@", ") @ ("},
    {"dot", "dot("},
    {"dot with input=", "input="},
    {"product of a batch", "batched("},
    {"dot_scaled", "dot_scaled("},
    // Numbers.
    {"round=", "round="},
    {"overflow=", "overflow="},
    {"bitcast", "bitcast["},
    {"bitcast along an axis", "axis=-1)"},
    {"hint", "multiple_of("},
    {"assert", "assert("},
    {"assume", "assume("},
    {"print", "print("},
    {"dtype i1", ": i1["},
    {"dtype i4", ": i4["},
    {"dtype i8", ": i8["},
    {"dtype i16", ": i16["},
    {"dtype i32", ": i32["},
    {"dtype i64", ": i64["},
    {"dtype u4", ": u4["},
    {"dtype u8", ": u8["},
    {"dtype u16", ": u16["},
    {"dtype u32", ": u32["},
    {"dtype u64", ": u64["},
    {"dtype f16", ": f16["},
    {"dtype bf16", ": bf16["},
    {"dtype f32", ": f32["},
    {"dtype f64", ": f64["},
    {"dtype f8e4m3fn", ": f8e4m3fn["},
    {"dtype f8e5m2", ": f8e5m2["},
    {"dtype f8e4m3fnuz", ": f8e4m3fnuz["},
    {"dtype f8e5m2fnuz", ": f8e5m2fnuz["},
    {"dtype f4e2m1", ": f4e2m1["},
    {"dtype e8m0", ": e8m0["},
};
inline constexpr size_t kNumFeatures = std::size(kFeatures);

/// Operations of dialect `tk` that no generated program has, and why.
struct LeftOut {
  llvm::StringLiteral operation, reason;
};
inline constexpr LeftOut kLeftOut[] = {
    {"tk.base", "made by passes, of the views of a kernel"},
};

} // namespace tk::fuzz
