# How this project compiles: warnings, sections, precompiled header, ccache, sanitizers, fuzzers.

# Everything is instrumented, so that libFuzzer sees where an input leads.
if(TKC_FUZZERS)
  if(NOT CMAKE_CXX_COMPILER_ID STREQUAL "Clang" OR CMAKE_CXX_COMPILER_VERSION VERSION_LESS 22)
    message(FATAL_ERROR "TKC_FUZZERS needs clang++-22, whose libFuzzer it links; the compiler is "
                        "${CMAKE_CXX_COMPILER_ID} ${CMAKE_CXX_COMPILER_VERSION}. Try: cmake --preset fuzz")
  endif()
  if(NOT TKC_SANITIZE)
    set(TKC_SANITIZE address,undefined)
  endif()
  add_compile_options(-fsanitize=fuzzer-no-link)
endif()

if(TKC_CCACHE AND NOT TKC_SANITIZE)
  find_program(CCACHE ccache)
  if(CCACHE)
    set(launcher ${CMAKE_COMMAND} -E env CCACHE_BASEDIR=${CMAKE_SOURCE_DIR} CCACHE_NOHASHDIR=1
        CCACHE_SLOPPINESS=pch_defines,time_macros,include_file_mtime,include_file_ctime ${CCACHE})
    set(CMAKE_C_COMPILER_LAUNCHER ${launcher})
    set(CMAKE_CXX_COMPILER_LAUNCHER ${launcher})
  endif()
endif()

add_compile_options(-Wall -Wextra -Wno-unused-parameter -ffunction-sections -fdata-sections)
if(CMAKE_CXX_COMPILER_ID STREQUAL "GNU")
  add_compile_options($<$<COMPILE_LANGUAGE:CXX>:-Wno-comment>)
  add_link_options(-fuse-ld=lld -B${LLVM_PREFIX}/bin)
else()
  add_link_options(-fuse-ld=lld --ld-path=${LLVM_PREFIX}/bin/ld.lld)
endif()
if(TKC_SANITIZE)
  add_compile_options(-fsanitize=${TKC_SANITIZE} -fno-sanitize-recover=all -fno-omit-frame-pointer)
  add_link_options(-fsanitize=${TKC_SANITIZE})
  add_library(tkc_sanitizer_options OBJECT ${CMAKE_SOURCE_DIR}/cmake/SanitizerOptions.cpp)
endif()

# The one precompiled header, made by the first library and reused by all others.
if(TKC_PCH AND CMAKE_CXX_COMPILER_ID MATCHES "Clang")
  set(TKC_USE_PCH ON)
else()
  set(TKC_USE_PCH OFF)
endif()

# tkc_library(NAME SOURCES... [LINK LIBS...] [DEPENDS TARGETS...])
function(tkc_library name)
  cmake_parse_arguments(ARG "NO_PCH" "" "LINK;DEPENDS" ${ARGN})
  add_library(${name} STATIC ${ARG_UNPARSED_ARGUMENTS})
  target_include_directories(${name} PUBLIC ${CMAKE_SOURCE_DIR} ${CMAKE_BINARY_DIR})
  target_link_libraries(${name} PUBLIC tkc_llvm ${ARG_LINK})
  if(ARG_DEPENDS)
    add_dependencies(${name} ${ARG_DEPENDS})
  endif()
  if(TKC_USE_PCH AND NOT ARG_NO_PCH)
    tkc_use_pch(${name})
  endif()
endfunction()

# tkc_embed(OUT.cpp ROOT PATTERN HEADER TYPE FUNCTION): a source file in which FUNCTION of HEADER gives
# the files of ROOT that match as a list of TYPE {name, text}.
function(tkc_embed out root pattern header type function)
  file(GLOB_RECURSE inputs CONFIGURE_DEPENDS ${root}/${pattern})
  add_custom_command(
    OUTPUT ${out}
    COMMAND ${CMAKE_COMMAND} -DOUT=${out} -DROOT=${root} "-DPATTERN=${pattern}" -DHEADER=${header}
            -DTYPE=${type} -DFUNCTION=${function} -P ${CMAKE_SOURCE_DIR}/cmake/EmbedFiles.cmake
    DEPENDS ${inputs} ${CMAKE_SOURCE_DIR}/cmake/EmbedFiles.cmake
    COMMENT "Embedding ${root}")
endfunction()

function(tkc_use_pch name)
  if(NOT TKC_USE_PCH)
    return()
  endif()
  target_compile_options(${name} PRIVATE -fpch-instantiate-templates
                         "SHELL:-Xclang -fno-pch-timestamp")
  if(TARGET tkc_core AND NOT name STREQUAL "tkc_core")
    target_precompile_headers(${name} REUSE_FROM tkc_core)
  else()
    target_precompile_headers(${name} PRIVATE ${CMAKE_SOURCE_DIR}/cmake/Pch.h)
  endif()
endfunction()

# tkc_executable(NAME SOURCES... [LINK LIBS...]): links LLVM's archives, strips in release.
function(tkc_executable name)
  cmake_parse_arguments(ARG "NO_PCH" "" "LINK" ${ARGN})
  add_executable(${name} ${ARG_UNPARSED_ARGUMENTS})
  target_include_directories(${name} PRIVATE ${CMAKE_SOURCE_DIR} ${CMAKE_BINARY_DIR})
  target_link_libraries(${name} PRIVATE ${ARG_LINK})
  tkc_link_llvm(${name})
  target_link_options(${name} PRIVATE -Wl,--gc-sections -Wl,--as-needed)
  if(TKC_SANITIZE)
    target_link_libraries(${name} PRIVATE tkc_sanitizer_options)
  else()
    target_link_options(${name} PRIVATE -Wl,--icf=all -static-libstdc++ -static-libgcc
                        $<$<CONFIG:Release>:-s>)
    if(CMAKE_CXX_COMPILER_ID MATCHES "Clang")
      target_link_options(${name} PRIVATE -no-pie)
    endif()
  endif()
  if(TKC_USE_PCH AND NOT ARG_NO_PCH)
    tkc_use_pch(${name})
  endif()
endfunction()
