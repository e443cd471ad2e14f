//===- Foreign.cpp - how other languages spell it --------------------------------===//

#include "frontend/Foreign.h"
#include "llvm/ADT/STLExtras.h"
#include <string>

using namespace llvm;
using namespace tk;

constexpr StringLiteral kConstexpr =
    "compile-time parameters of a kernel stand in brackets, `kernel k[BLOCK: int = 128](...)`, "
    "those of a function are `const`";
constexpr StringLiteral kThreads =
    "there are no threads: a tile, `arange(0, BLOCK)`, has all elements of a block";
constexpr StringLiteral kTensors =
    "take a tensor, `x: f32[M, N]`, or make one of a pointer: `view(p, [M, N])`";
constexpr StringLiteral kPlaces =
    "places of tensors are read and assigned: `x[i +: BLOCK, j +: BLOCK]`";

constexpr Foreign kNames[] = {
    {"and", "", "write `&&` between scalars, `(a) & (b)` between tiles"},
    {"or", "", "write `||` between scalars, `(a) | (b)` between tiles"},
    {"not", "!", ""},
    {"tl", "", "functions have no module prefix: `load`, `arange`"},
    {"triton", "", "functions have no module prefix: `load`, `arange`"},
    {"constexpr", "", kConstexpr},
    {"True", "true", ""},
    {"False", "false", ""},
    {"nullptr", "None", ""},
    {"NULL", "None", ""},
    // Types.
    {"float32", "f32", ""},
    {"fp32", "f32", ""},
    {"float", "f32", "write `f32`; `inf` and `-inf` are numbers"},
    {"float16", "f16", ""},
    {"fp16", "f16", ""},
    {"half", "f16", ""},
    {"bfloat16", "bf16", ""},
    {"float64", "f64", ""},
    {"fp64", "f64", ""},
    {"double", "f64", ""},
    {"float8e4nv", "f8e4m3fn", ""},
    {"float8e5", "f8e5m2", ""},
    {"float8e5b16", "f8e5m2fnuz", ""},
    {"float8e4b8", "f8e4m3fnuz", ""},
    {"float8_e4m3fn", "f8e4m3fn", ""},
    {"float8_e5m2", "f8e5m2", ""},
    {"int1", "i1", ""},
    {"int8", "i8", ""},
    {"int16", "i16", ""},
    {"int32", "i32", ""},
    {"int64", "i64", ""},
    {"int", "i32", "write `i32`, or `i64`; compile-time parameters have the kind `int`"},
    {"uint8", "u8", ""},
    {"uint16", "u16", ""},
    {"uint32", "u32", ""},
    {"uint64", "u64", ""},
    {"unsigned", "u32", ""},
    {"long", "i64", ""},
    {"bool", "i1", "write `i1`; compile-time parameters have the kind `bool`"},
    {"dtype", "",
     "write the type, `f32`, or a parameter of the kernel: `kernel k[T: dtype = f32]`"},
    {"void", "", "what a function returns needs no type"},
    // Functions of Triton and Python.
    {"pid", "program_id(0)", ""},
    {"get_program_id", "program_id", ""},
    {"transpose", "trans", "write `trans(x)`, `x.T`, or `permute(x, 1, 0)`"},
    {"inline_asm", "inline_asm_elementwise", ""},
    {"concat", "cat", "write `cat(a, b, axis=0)`"},
    {"concatenate", "cat", "write `cat(a, b, axis=0)`"},
    {"debug_barrier", "barrier", "write `barrier()`; program order needs none"},
    {"device_print", "print", "write `print(\"x = \", x)`"},
    {"device_assert", "assert", "write `assert(condition, \"text\")`"},
    {"gdc_wait", "grid_wait", "write `grid_wait()`"},
    {"gdc_launch_dependents", "grid_launch_dependents", "write `grid_launch_dependents()`"},
    {"make_block_ptr", "", kTensors},
    {"make_tensor_descriptor", "", kTensors},
    {"advance", "", kTensors},
    {"load_tensor_descriptor", "", kPlaces},
    {"store_tensor_descriptor", "", kPlaces},
    {"libdevice", "", "functions have no module prefix: `tanh`, `pow`; more in `import std.math`"},
    {"to_tensor", "", "values convert by `x.to(f16)`"},
    {"add", "", "write `a + b`"},
    {"sub", "", "write `a - b`"},
    {"mul", "", "write `a * b`"},
    {"bitonic_merge", "", "write `sort(x)`"},
    {"scatter", "", "assign to a place with tiles of indices: `x[rows, :] = v`"},
    {"philox_impl", "philox", "write `philox(seed, c0, c1, c2, c3)`"},
    {"expect_zero", "", "masked elements of a load hold `fill=`, 0 when none is given"},
    {"num_threads", "", "write `num_warps()`; threads never appear"},
    {"memrealtime", "globaltimer", "write `globaltimer()`"},
    {"condition", "", "a `while` takes its condition, attributes stand before it: `@no_licm`"},
    {"relu", "", "write `maximum(x, 0)`"},
    {"cast", "", "values convert by `x.to(f16)`"},
    {"static_cast", "", "write `x.to(f32)`"},
    {"rsqrtf", "rsqrt", ""},
    {"expf", "exp", ""},
    {"sqrtf", "sqrt", ""},
    {"fmaxf", "maximum", ""},
    {"fminf", "minimum", ""},
    {"fmax", "maximum", ""},
    {"fmin", "minimum", ""},
    // CUDA and HIP.
    {"__syncthreads", "barrier", "write `barrier()`; program order needs none"},
    {"__syncwarp", "barrier", "write `barrier()`; program order needs none"},
    {"atomicAdd", "atomic_add", ""},
    {"atomicMax", "atomic_max", ""},
    {"atomicMin", "atomic_min", ""},
    {"atomicCAS", "atomic_cas", ""},
    {"atomicExch", "atomic_xchg", ""},
    {"printf", "print", "write `print(\"x = \", x)`"},
    {"__expf", "exp", ""},
    {"__ldg", "load", ""},
    {"warpSize", "", kThreads},
    {"threadIdx", "", kThreads},
    {"threadIdx.x", "", kThreads},
    {"threadIdx.y", "", kThreads},
    {"threadIdx.z", "", kThreads},
    {"blockDim", "", kThreads},
    {"blockDim.x", "", kThreads},
    {"blockDim.y", "", kThreads},
    {"blockDim.z", "", kThreads},
    {"blockIdx", "", "write `program_id(0)`"},
    {"blockIdx.x", "program_id(0)", ""},
    {"blockIdx.y", "program_id(1)", ""},
    {"blockIdx.z", "program_id(2)", ""},
    {"gridDim", "", "write `num_programs(0)`"},
    {"gridDim.x", "num_programs(0)", ""},
    {"gridDim.y", "num_programs(1)", ""},
    {"gridDim.z", "num_programs(2)", ""},
};

constexpr Foreign kMembers[] = {
    {"element_ty", "dtype", ""},
    {"size", "", "write `x.shape.0`"},
    {"ndim", "", "write `len(x.shape)`"},
    {"astype", "to", "write `x.to(f32)`"},
    {"type", "dtype", ""},
    {"view", "reshape", "write `x.reshape(8, -1)`; `view(x[lo:hi])` is a part of a tensor"},
    {"t", "T", ""},
};

constexpr Foreign kArguments[] = {
    {"other", "fill", "what masked elements hold is `fill=`"},
    {"dtype", "", "new tiles have it in brackets: `zeros[f32](64)`; others convert by `.to(f32)`"},
    {"dim", "axis", ""},
    {"keepdim", "keep_dims", ""},
    {"keepdims", "keep_dims", ""},
    {"propagate_nan", "", "write `nan=\"propagate\"`, which is the default, or `nan=\"number\"`"},
    {"return_indices_tie_break_left", "", "ties go to the lowest index"},
    {"tie_break_left", "", "ties go to the lowest index"},
    {"can_reorder", "", "elements keep their order"},
    {"ieee_rounding", "", "division is rounded correctly"},
    {"input_precision", "input", "write `input=`: \"exact\", \"tf32\", \"tf32x3\""},
    {"allow_tf32", "", "write `input=`: \"exact\", \"tf32\", \"tf32x3\""},
    {"max_num_imprecise_acc", "promote", ""},
    {"out_dtype", "out", ""},
    {"lhs_format", "", "the dtype of the operand says it"},
    {"rhs_format", "", "the dtype of the operand says it"},
    {"lhs_k_pack", "", "elements of 4 bits count one by one"},
    {"rhs_k_pack", "", "elements of 4 bits count one by one"},
    {"combine_fn", "combine", ""},
    {"num_bins", "bins", ""},
    {"bitcast", "", "the same bits as another type are `bitcast[T](x)`"},
    {"is_pure", "pure", ""},
    {"cache_modifier", "", "write `cache=\"cg\"`, without a dot"},
    {"eviction_policy", "", "write `evict=\"first\"`, \"last\" or \"normal\""},
    {"timeout_ns", "", "write a `while` with `atomic_load` and `globaltimer()`"},
    {"num_stages", "", "write `@pipeline(stages=3)` before the loop"},
    {"loop_unroll_factor", "", "write `@unroll(4)` before the loop"},
    {"flatten", "", "write `@flatten` before the loop"},
    {"warp_specialize", "", "write `@warp_specialize` before the loop"},
    {"disable_licm", "", "write `@no_licm` before the loop"},
    {"boundary_check", "", "places of tensors are always checked: `x[i +: BLOCK, fill=0]`"},
    {"padding_option", "", "places of tensors are always checked: `x[i +: BLOCK, fill=0]`"},
};

constexpr Foreign kWords[] = {
    {"and", "&&", "write `&&`, or `(a) & (b)` between tiles"},
    {"or", "||", "write `||`, or `(a) | (b)` between tiles"},
    {"not", "", "write `!`"},
    {"elif", "else if", ""},
    {"is", "", "`==` compares; `if x { ... }` asks whether an optional parameter is there"},
    {"as", "", "a module has the name of its file; functions of the language need no import"},
};

/// The spelling of a type is that of the variable; "var" where the value says it.
constexpr Foreign kLeads[] = {
    {"not", "!", ""},
    {"do", "", "write `while true { ... }` and leave it by `break`"},
    {"lambda", "", "write `fn(a, b) { return a + b }`"},
    {"def", "", "a function stands outside of others: `fn name(a, b) { ... }`"},
    {"del", "", "values need no end"},
    {"global", "", "a function sees constants of the file; what changes is passed and returned"},
    {"raise", "", "write `assert(condition, \"text\")`"},
    {"assert", "", "write `assert(condition, \"text\")`"},
    {"print", "", "write `print(\"x = \", x)`"},
    {"switch", "", "write `if ... { } else if ... { }`"},
    {"__shared__", "", "tiles need no memory that is named: the compiler places them"},
    {"auto", "var", ""},
    {"int", "var", ""},
    {"unsigned", "var", ""},
    {"long", "var", ""},
    {"size_t", "var", ""},
    {"bool", "var", ""},
    {"float", "f32", ""},
    {"double", "f64", ""},
    {"half", "f16", ""},
    {"i32", "i32", ""},
    {"i64", "i64", ""},
    {"f32", "f32", ""},
    {"f16", "f16", ""},
};

constexpr StringLiteral kKernel =
    "a kernel is `kernel name[BLOCK: int = 128](in x: f32[N], out y: f32[N]) @grid(...) { ... }`";

constexpr Foreign kDeclarations[] = {
    {"def", "", "a function is `fn name(a, b) { ... }`, and what is launched is `kernel`"},
    {"triton", "", kKernel},
    {"jit", "", kKernel},
    {"__global__", "", kKernel},
    {"__device__", "", "a function is `fn name(a, b) { ... }`"},
    {"void", "", "a function is `fn name(a, b) { ... }`"},
    {"template", "", "compile-time parameters stand in brackets: `fn name[T: dtype, N: int](x)`"},
    {"class", "struct", ""},
    {"from", "", "functions of the language need no import; `import \"nn.tk\"` takes in a file"},
    {"func", "fn", ""},
    {"function", "fn", ""},
};

static const Foreign *findIn(ArrayRef<Foreign> table, StringRef name) {
  const Foreign *found = find_if(table, [&](const Foreign &entry) { return entry.name == name; });
  return found == table.end() ? nullptr : found;
}

const Foreign *tk::foreignName(StringRef name) {
  return findIn(kNames, name);
}

const Foreign *tk::foreignMember(StringRef name) {
  return findIn(kMembers, name);
}

bool tk::isForeignPrefix(StringRef name) {
  return is_contained({"tl", "triton", "torch", "np", "numpy", "math", "threadIdx", "blockIdx",
                       "blockDim", "gridDim"},
                      name);
}

const Foreign *tk::foreignArgument(StringRef name) {
  return findIn(kArguments, name);
}

const Foreign *tk::foreignWord(StringRef word) {
  return findIn(kWords, word);
}

const Foreign *tk::foreignLead(StringRef word) {
  return findIn(kLeads, word);
}

const Foreign *tk::foreignDeclaration(StringRef word) {
  return findIn(kDeclarations, word);
}

std::string tk::adviceOf(const Foreign &foreign) {
  return foreign.advice.empty() ? ("write `" + foreign.spelling + "`").str() : foreign.advice.str();
}
