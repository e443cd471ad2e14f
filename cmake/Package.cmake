# Package: what `cmake --install` puts where, so that others say find_package(tkc) or pkg-config.
#
#   bin/tkc                               the compiler
#   lib/libtkcrt.so.1, libtkcrt.a         the loader; include/tkc/
#   lib/cmake/tkc/                        find_package(tkc): tkc::compiler, tkc::runtime, tkc_add_kernels
#   lib/pkgconfig/tkc-runtime.pc
#   share/tkc/bazel/                      the repository @tkc of Bazel

include(CMakePackageConfigHelpers)
include(GNUInstallDirs)

set(package_folder ${CMAKE_INSTALL_LIBDIR}/cmake/tkc)
install(PROGRAMS $<TARGET_FILE:tkc> DESTINATION ${CMAKE_INSTALL_BINDIR} COMPONENT compiler)
install(EXPORT tkcTargets NAMESPACE tkc:: DESTINATION ${package_folder} COMPONENT runtime)

configure_package_config_file(cmake/package/tkcConfig.cmake.in
  ${CMAKE_CURRENT_BINARY_DIR}/package/tkcConfig.cmake
  INSTALL_DESTINATION ${package_folder}
  PATH_VARS CMAKE_INSTALL_BINDIR)
# Before 1.0 a minor version may change what is understood.
write_basic_package_version_file(${CMAKE_CURRENT_BINARY_DIR}/package/tkcConfigVersion.cmake
  VERSION ${PROJECT_VERSION} COMPATIBILITY SameMinorVersion)
install(FILES ${CMAKE_CURRENT_BINARY_DIR}/package/tkcConfig.cmake
              ${CMAKE_CURRENT_BINARY_DIR}/package/tkcConfigVersion.cmake
              cmake/package/TkcAddKernels.cmake
        DESTINATION ${package_folder} COMPONENT runtime)

if(TKC_ZSTD_FOUND)
  set(TKC_RUNTIME_PRIVATE_LIBS -lzstd)
endif()
# Relative to where the file lies, so that an installed tree may be moved.
file(RELATIVE_PATH TKC_PREFIX_FROM_PKGCONFIG
  ${CMAKE_INSTALL_FULL_LIBDIR}/pkgconfig ${CMAKE_INSTALL_PREFIX})
configure_file(cmake/package/tkc-runtime.pc.in ${CMAKE_CURRENT_BINARY_DIR}/package/tkc-runtime.pc @ONLY)
install(FILES ${CMAKE_CURRENT_BINARY_DIR}/package/tkc-runtime.pc
        DESTINATION ${CMAKE_INSTALL_LIBDIR}/pkgconfig COMPONENT runtime)

# What the repository names lies elsewhere in the prefix: links, relative so that the tree may be moved.
set(bazel ${CMAKE_CURRENT_BINARY_DIR}/package/bazel)
set(installed ${CMAKE_INSTALL_FULL_DATADIR}/tkc/bazel)
configure_file(cmake/package/BUILD.bazel.in ${bazel}/BUILD.bazel @ONLY)
foreach(pair bin/tkc=BINDIR include/tkc=INCLUDEDIR lib/libtkcrt.a=LIBDIR lib/libtkccpu.so.1=LIBDIR)
  string(REGEX MATCH "^(.*)/(.*)=(.*)$" pair ${pair})
  set(folder ${CMAKE_MATCH_1})
  set(name ${CMAKE_MATCH_2})
  set(place ${CMAKE_INSTALL_FULL_${CMAKE_MATCH_3}})
  if(name MATCHES tkccpu AND NOT TKC_CPU_DEVICE)
    continue()
  endif()
  file(RELATIVE_PATH target ${installed}/${folder} ${place}/${name})
  file(MAKE_DIRECTORY ${bazel}/${folder})
  file(CREATE_LINK ${target} ${bazel}/${folder}/${name} SYMBOLIC)
endforeach()
install(DIRECTORY bazel/ ${bazel}/ DESTINATION ${CMAKE_INSTALL_DATADIR}/tkc/bazel COMPONENT runtime)
