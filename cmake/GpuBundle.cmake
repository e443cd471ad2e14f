# gpu-bundle: the folder build/gpu that is taken to a machine with a GPU (docs/performance.md).
#
# Its libraries and programs bring their C++ library along, so that they run on any machine with a
# glibc that is not older.

find_package(Threads REQUIRED)
if(TKC_ZSTD_FOUND) # the archive where there is one: the other machine need not have the library
  find_library(TKC_ZSTD_ARCHIVE NAMES libzstd.a)
endif()
function(tkc_gpu_library target name exports)
  add_library(${target} SHARED EXCLUDE_FROM_ALL ${ARGN})
  # The loader looks for libtkccpu beside itself.
  set_target_properties(${target} PROPERTIES
    OUTPUT_NAME ${name} SOVERSION 1 LINKER_LANGUAGE CXX
    BUILD_WITH_INSTALL_RPATH ON INSTALL_RPATH "\$ORIGIN"
    LIBRARY_OUTPUT_DIRECTORY ${CMAKE_BINARY_DIR}/gpu-parts)
  target_include_directories(${target} INTERFACE ${CMAKE_SOURCE_DIR}/runtime/include)
  target_link_options(${target} PRIVATE
    -Wl,--version-script=${CMAKE_SOURCE_DIR}/runtime/${exports}
    -Wl,--no-undefined -Wl,--as-needed -static-libstdc++ -static-libgcc $<$<CONFIG:Release>:-s>)
  target_link_libraries(${target} PRIVATE ${CMAKE_DL_LIBS} Threads::Threads)
  if(TKC_ZSTD_FOUND)
    target_link_libraries(${target} PRIVATE
      $<IF:$<BOOL:${TKC_ZSTD_ARCHIVE}>,${TKC_ZSTD_ARCHIVE},PkgConfig::TKC_ZSTD>)
  endif()
endfunction()
tkc_gpu_library(tkcrt_gpu tkcrt src/exports.map $<TARGET_OBJECTS:tkcrt_objects>)
tkc_gpu_library(tkctune_gpu tkctune tune/exports.map
  $<TARGET_OBJECTS:tkctune_objects> $<TARGET_OBJECTS:tkcrt_objects>)

add_subdirectory(tests/gpu/runtime)

# The programs of examples/apps, with their kernels inside; they lie in a folder beside libtkcrt.
set(TKC_EXECUTABLE $<TARGET_FILE:tkc>)
include(cmake/package/TkcAddKernels.cmake)
set(gpu_apps gpu_app_c gpu_app_cpp)
add_executable(gpu_app_c EXCLUDE_FROM_ALL examples/apps/c/main.c examples/apps/memory.c)
add_executable(gpu_app_cpp EXCLUDE_FROM_ALL examples/apps/cpp/main.cpp examples/apps/memory.c)
foreach(app IN LISTS gpu_apps)
  set_target_properties(${app} PROPERTIES
    C_STANDARD 99 CXX_STANDARD 17 BUILD_WITH_INSTALL_RPATH ON INSTALL_RPATH "\$ORIGIN/.."
    RUNTIME_OUTPUT_DIRECTORY ${CMAKE_BINARY_DIR}/gpu-parts)
  target_include_directories(${app} PRIVATE examples/apps)
  target_link_options(${app} PRIVATE
    $<$<LINK_LANGUAGE:CXX>:-static-libstdc++> -static-libgcc $<$<CONFIG:Release>:-s>)
  target_link_libraries(${app} PRIVATE ${CMAKE_DL_LIBS})
  tkc_add_kernels(${app} SOURCES examples/apps/kernels.tk TARGETS sm_80 sm_90a FALLBACK compute_80
    WITH_INTERP EMBED)
endforeach()
set(gpu_files $<TARGET_FILE:gpu_app_c> $<TARGET_FILE:gpu_app_cpp>)
find_program(TKC_RUSTC rustc)
if(TKC_RUSTC)
  set(rust ${CMAKE_SOURCE_DIR}/examples/apps/rust/main.rs)
  set(kernels ${CMAKE_BINARY_DIR}/gpu_app_c.tkc/kernels.o)
  set(rust_app ${CMAKE_BINARY_DIR}/gpu-parts/gpu_app_rust)
  add_library(gpu_app_memory OBJECT EXCLUDE_FROM_ALL examples/apps/memory.c)
  add_custom_command(OUTPUT ${rust_app}
    COMMAND ${TKC_RUSTC} --edition=2021 -O ${rust} -o ${rust_app}
            -C "link-args=${kernels} $<TARGET_OBJECTS:gpu_app_memory> -ldl -Wl,-rpath,\$ORIGIN/.."
            -L ${CMAKE_BINARY_DIR}/gpu-parts -l tkcrt
    DEPENDS ${rust} ${kernels} $<TARGET_OBJECTS:gpu_app_memory> tkcrt_gpu
    COMMENT "rustc ${rust_app}" VERBATIM)
  list(APPEND gpu_files ${rust_app})
endif()
list(TRANSFORM gpu_files PREPEND --app= OUTPUT_VARIABLE gpu_options)
if(TARGET tkccpu)
  list(APPEND gpu_options --cpu-library=$<TARGET_FILE:tkccpu>)
  list(APPEND gpu_files tkccpu)
endif()

find_program(TKC_BUNDLE_PYTHON python3 PATHS /usr/bin NO_DEFAULT_PATH)
add_custom_target(gpu-bundle
  COMMAND ${TKC_BUNDLE_PYTHON} ${CMAKE_SOURCE_DIR}/bench/bundle.py
          --tkc=$<TARGET_FILE:tkc> --fuzz=$<TARGET_FILE:tk-fuzz> --library=$<TARGET_FILE:tkcrt_gpu>
          --loader-suite=$<TARGET_FILE:loader_suite> --tune-library=$<TARGET_FILE:tkctune_gpu>
          ${gpu_options} --out=${CMAKE_SOURCE_DIR}/build/gpu
          --planted=${CMAKE_SOURCE_DIR}/build/planted/build/bin/tkc
  DEPENDS tkc tk-fuzz tkcrt_gpu tkctune_gpu loader_suite ${gpu_apps} ${gpu_files}
  COMMENT "kernels, loader and scripts for a machine with a GPU: build/gpu" USES_TERMINAL VERBATIM)
