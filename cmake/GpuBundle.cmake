# gpu-bundle: the folder build/gpu that is taken to a machine with a GPU (docs/performance.md).
#
# It has a libtkcrt of its own that brings its C++ library along, so that it runs on any machine
# with a glibc that is not older.

add_library(tkcrt_gpu SHARED EXCLUDE_FROM_ALL $<TARGET_OBJECTS:tkcrt_objects>)
set_target_properties(tkcrt_gpu PROPERTIES
  OUTPUT_NAME tkcrt SOVERSION 1 LINKER_LANGUAGE CXX
  LIBRARY_OUTPUT_DIRECTORY ${CMAKE_BINARY_DIR}/gpu-parts)
target_include_directories(tkcrt_gpu INTERFACE ${CMAKE_SOURCE_DIR}/runtime/include)
target_link_options(tkcrt_gpu PRIVATE
  -Wl,--version-script=${CMAKE_SOURCE_DIR}/runtime/src/exports.map
  -Wl,--no-undefined -Wl,--as-needed -static-libstdc++ -static-libgcc $<$<CONFIG:Release>:-s>)
find_package(Threads REQUIRED)
target_link_libraries(tkcrt_gpu PRIVATE ${CMAKE_DL_LIBS} Threads::Threads)
if(TKC_ZSTD_FOUND) # the archive where there is one: the other machine need not have the library
  find_library(TKC_ZSTD_ARCHIVE NAMES libzstd.a)
  target_link_libraries(tkcrt_gpu PRIVATE $<IF:$<BOOL:${TKC_ZSTD_ARCHIVE}>,${TKC_ZSTD_ARCHIVE},PkgConfig::TKC_ZSTD>)
endif()

add_executable(host_launch EXCLUDE_FROM_ALL bench/host_launch.c)
set_target_properties(host_launch PROPERTIES
  C_STANDARD 11 BUILD_WITH_INSTALL_RPATH ON INSTALL_RPATH "\$ORIGIN"
  RUNTIME_OUTPUT_DIRECTORY ${CMAKE_BINARY_DIR}/gpu-parts)
target_link_libraries(host_launch PRIVATE tkcrt_gpu ${CMAKE_DL_LIBS})

find_program(TKC_BUNDLE_PYTHON python3 PATHS /usr/bin NO_DEFAULT_PATH)
add_custom_target(gpu-bundle
  COMMAND ${TKC_BUNDLE_PYTHON} ${CMAKE_SOURCE_DIR}/bench/bundle.py
          --tkc=$<TARGET_FILE:tkc> --fuzz=$<TARGET_FILE:tk-fuzz> --library=$<TARGET_FILE:tkcrt_gpu>
          --host-launch=$<TARGET_FILE:host_launch> --out=${CMAKE_SOURCE_DIR}/build/gpu
          --planted=${CMAKE_SOURCE_DIR}/build/planted/build/bin/tkc
  DEPENDS tkc tk-fuzz tkcrt_gpu host_launch
  COMMENT "kernels, loader and scripts for a machine with a GPU: build/gpu" USES_TERMINAL VERBATIM)
