# LLVM and MLIR 22, linked by archive path.
#
# The exported targets drag libLLVM.so in beside the archives ("option registered more than once"),
# so `tkc_llvm` names the archives directly; unused ones cost nothing under --gc-sections.

find_program(LLVM_CONFIG NAMES llvm-config-22 HINTS /usr/lib/llvm-22/bin REQUIRED)
execute_process(COMMAND ${LLVM_CONFIG} --prefix OUTPUT_VARIABLE LLVM_PREFIX
                OUTPUT_STRIP_TRAILING_WHITESPACE COMMAND_ERROR_IS_FATAL ANY)
execute_process(COMMAND ${LLVM_CONFIG} --version OUTPUT_VARIABLE TKC_LLVM_VERSION
                OUTPUT_STRIP_TRAILING_WHITESPACE COMMAND_ERROR_IS_FATAL ANY)
execute_process(COMMAND ${LLVM_CONFIG} --link-static --libfiles nvptx passes asmparser irreader
                        linker targetparser
                OUTPUT_VARIABLE llvm_archives OUTPUT_STRIP_TRAILING_WHITESPACE
                COMMAND_ERROR_IS_FATAL ANY)
separate_arguments(llvm_archives)
file(GLOB mlir_archives ${LLVM_PREFIX}/lib/libMLIR*.a)
list(FILTER mlir_archives EXCLUDE REGEX "libMLIR(CAPI|.*Test|.*Lsp|.*LSP)")

set(MLIR_TBLGEN ${LLVM_PREFIX}/bin/mlir-tblgen)

add_library(tkc_llvm INTERFACE)
target_include_directories(tkc_llvm SYSTEM INTERFACE ${LLVM_PREFIX}/include)
target_compile_definitions(tkc_llvm INTERFACE __STDC_CONSTANT_MACROS __STDC_FORMAT_MACROS
                                              __STDC_LIMIT_MACROS)

# The archives stand once, at the end of each link line of an executable.
function(tkc_link_llvm target)
  target_link_libraries(${target} PRIVATE tkc_llvm -Wl,--start-group ${mlir_archives}
                        ${llvm_archives} -Wl,--end-group z zstd tinfo dl m pthread)
endfunction()

# tkc_tablegen(TARGET INPUT [GENERATOR OUTPUT]...): runs mlir-tblgen for each pair.
function(tkc_tablegen target input)
  set(outputs)
  set(pairs ${ARGN})
  while(pairs)
    list(POP_FRONT pairs generator output)
    separate_arguments(flags UNIX_COMMAND "${generator}")
    add_custom_command(
      OUTPUT ${CMAKE_BINARY_DIR}/${output}
      COMMAND ${MLIR_TBLGEN} --write-if-changed ${flags} -I ${CMAKE_SOURCE_DIR}
              -I ${LLVM_PREFIX}/include ${CMAKE_SOURCE_DIR}/${input}
              -o ${CMAKE_BINARY_DIR}/${output} -d ${CMAKE_BINARY_DIR}/${output}.d
      DEPENDS ${CMAKE_SOURCE_DIR}/${input}
      DEPFILE ${CMAKE_BINARY_DIR}/${output}.d
      COMMENT "TableGen ${output}" VERBATIM)
    list(APPEND outputs ${CMAKE_BINARY_DIR}/${output})
  endwhile()
  add_custom_target(${target} DEPENDS ${outputs})
endfunction()
