# tkc_add_kernels: kernels of .tk files as part of a target.
#
#   tkc_add_kernels(TARGET
#     SOURCES FILE.tk...            one bundle a file
#     TARGETS sm_80 sm_90a ...      chips
#     [EMBED]                       link the bundles into TARGET; #include "FILE.h" declares them
#     [DESTINATION DIR]             else: install the .tkb files there
#     [FALLBACK compute_80]         PTX for chips newer than those named
#     [WITH_INTERP]                 also for the CPU device
#     [CONFIG all|tuned|I] [TUNED TABLE.json]   a table may be for all files of a build
#     [DEFINES T=f16,bf16 ...] [INCLUDE_DIRECTORIES DIR...] [OPTIONS ...])
#
# Each file and chip is an edge of the build of its own; one more links them into FILE.tkb. What a
# file imports is a dependency (a depfile), and a file is rewritten only when its bytes change.
# Without EMBED the property TKC_BUNDLES of TARGET lists the .tkb files.

include_guard(GLOBAL)

# tkc writes objects for these; the assembler of the project serves any other.
function(_tkc_embedding_suffix out)
  if(CMAKE_SYSTEM_PROCESSOR MATCHES "^(x86_64|AMD64|amd64|aarch64|arm64)$" AND CMAKE_SYSTEM_NAME STREQUAL "Linux")
    set(${out} o PARENT_SCOPE)
  else()
    set(${out} S PARENT_SCOPE)
  endif()
endfunction()

# What follows a command in an edge. tkc leaves a file alone whose bytes would be the same; ninja
# notes that the edge has run, to other tools it would be due in every build.
function(_tkc_touch out)
  set(touch COMMAND "${CMAKE_COMMAND}" -E touch ${ARGN})
  if(CMAKE_GENERATOR MATCHES "Ninja")
    set(touch "")
  endif()
  set(${out} "${touch}" PARENT_SCOPE)
endfunction()

# One edge of the build: a file for one chip.
function(_tkc_compile source output options depends)
  _tkc_touch(touch "${output}")
  add_custom_command(
    OUTPUT "${output}"
    COMMAND "${TKC_EXECUTABLE}" "${source}" -o "${output}" ${options} -MD -MF "${output}.d"
    ${touch}
    DEPENDS "${source}" "${TKC_EXECUTABLE}" ${depends}
    DEPFILE "${output}.d"
    COMMENT "tkc ${output}"
    VERBATIM)
endfunction()

function(_tkc_embed target stem folder bundle embedding)
  _tkc_embedding_suffix(suffix)
  if(suffix STREQUAL "S" AND NOT CMAKE_ASM_COMPILER)
    message(FATAL_ERROR "tkc_add_kernels(${target}): for ${CMAKE_SYSTEM_NAME} on ${CMAKE_SYSTEM_PROCESSOR} the bundle is taken in "
                        "by the assembler: add ASM to the languages of project()")
  endif()
  set(host "")
  if(suffix STREQUAL "o" AND CMAKE_CROSSCOMPILING)
    string(TOLOWER "${CMAKE_SYSTEM_PROCESSOR}" processor)
    string(REPLACE amd64 x86_64 processor "${processor}")
    set(host "--host-target=${processor}")
  endif()
  _tkc_touch(touch "${folder}/${stem}.${suffix}" "${folder}/include/${stem}.h")
  add_custom_command(
    OUTPUT "${folder}/${stem}.${suffix}" "${folder}/include/${stem}.h"
    COMMAND "${TKC_EXECUTABLE}" link "${bundle}" -o "${folder}/${stem}.${suffix}" ${host} ${embedding}
    COMMAND "${TKC_EXECUTABLE}" link "${bundle}" -o "${folder}/include/${stem}.h" ${embedding}
    ${touch}
    DEPENDS "${bundle}" "${TKC_EXECUTABLE}"
    COMMENT "tkc link ${stem}.${suffix}"
    VERBATIM)
  if(suffix STREQUAL "o")
    set_source_files_properties("${folder}/${stem}.o" PROPERTIES EXTERNAL_OBJECT TRUE GENERATED TRUE)
  else()
    set_source_files_properties("${folder}/${stem}.S" PROPERTIES GENERATED TRUE
      INCLUDE_DIRECTORIES "${folder}" OBJECT_DEPENDS "${bundle}")
  endif()
  target_sources(${target} PRIVATE "${folder}/${stem}.${suffix}" "${folder}/include/${stem}.h")
endfunction()

function(tkc_add_kernels target)
  cmake_parse_arguments(PARSE_ARGV 1 arg "EMBED;WITH_INTERP" "DESTINATION;FALLBACK;CONFIG;TUNED"
    "SOURCES;TARGETS;DEFINES;INCLUDE_DIRECTORIES;OPTIONS")
  if(arg_UNPARSED_ARGUMENTS)
    message(FATAL_ERROR "tkc_add_kernels: unknown arguments: ${arg_UNPARSED_ARGUMENTS}")
  endif()
  if(arg_KEYWORDS_MISSING_VALUES)
    message(FATAL_ERROR "tkc_add_kernels: nothing behind ${arg_KEYWORDS_MISSING_VALUES}")
  endif()
  if(NOT TARGET ${target})
    message(FATAL_ERROR "tkc_add_kernels: there is no target `${target}` yet; call it after add_executable or add_library")
  endif()
  if(NOT arg_SOURCES)
    message(FATAL_ERROR "tkc_add_kernels(${target}): SOURCES are missing")
  endif()
  if(NOT arg_TARGETS AND NOT arg_FALLBACK AND NOT arg_WITH_INTERP)
    message(FATAL_ERROR "tkc_add_kernels(${target}): say which chips: TARGETS sm_90a, or WITH_INTERP")
  endif()

  get_target_property(home ${target} SOURCE_DIR)
  if(NOT home STREQUAL CMAKE_CURRENT_SOURCE_DIR)
    message(FATAL_ERROR "tkc_add_kernels: the target `${target}` is of another folder, ${home}; call it there")
  endif()
  set(embedding ${arg_OPTIONS}) # for the link
  list(FILTER embedding INCLUDE REGEX "^--symbol-prefix=")
  set(common ${arg_OPTIONS})
  list(FILTER common EXCLUDE REGEX "^--symbol-prefix=")
  foreach(define IN LISTS arg_DEFINES)
    list(APPEND common -D "${define}")
  endforeach()
  list(LENGTH arg_SOURCES count)
  if(count GREATER 1) # one source may have what another has not
    list(APPEND common -Wno-error=unused-define)
  endif()
  foreach(directory IN LISTS arg_INCLUDE_DIRECTORIES)
    get_filename_component(directory "${directory}" ABSOLUTE)
    list(APPEND common -I "${directory}")
  endforeach()
  if(arg_CONFIG)
    list(APPEND common "--config=${arg_CONFIG}")
  endif()
  set(table "")
  if(arg_TUNED)
    get_filename_component(table "${arg_TUNED}" ABSOLUTE)
    list(APPEND common "--tuned=${table}")
  endif()

  # Each is a target of tkc: a chip, a PTX version, the interpreter.
  set(chips ${arg_TARGETS} ${arg_FALLBACK})
  if(arg_WITH_INTERP)
    list(APPEND chips cpu)
  endif()
  list(REMOVE_DUPLICATES chips)
  set(folder "${CMAKE_CURRENT_BINARY_DIR}/${target}.tkc")
  file(MAKE_DIRECTORY "${folder}/include")
  foreach(source IN LISTS arg_SOURCES)
    get_filename_component(source "${source}" ABSOLUTE)
    get_filename_component(stem "${source}" NAME_WLE)
    get_property(bundles TARGET ${target} PROPERTY TKC_BUNDLES)
    if("${folder}/${stem}.tkb" IN_LIST bundles)
      message(FATAL_ERROR "tkc_add_kernels(${target}): two files are called ${stem}.tk; their symbols and headers would collide")
    endif()
    set(parts "")
    foreach(chip IN LISTS chips)
      set(part "${folder}/${stem}.${chip}.tkb")
      set(options "--target=${chip}" ${common})
      _tkc_compile("${source}" "${part}" "${options}" "${table}")
      list(APPEND parts "${part}")
    endforeach()
    set(bundle "${folder}/${stem}.tkb")
    _tkc_touch(touch "${bundle}")
    add_custom_command(
      OUTPUT "${bundle}"
      COMMAND "${TKC_EXECUTABLE}" link ${parts} -o "${bundle}"
      ${touch}
      DEPENDS ${parts} "${TKC_EXECUTABLE}"
      COMMENT "tkc link ${stem}.tkb"
      VERBATIM)
    set_property(TARGET ${target} APPEND PROPERTY TKC_BUNDLES "${bundle}")
    if(arg_EMBED)
      _tkc_embed(${target} "${stem}" "${folder}" "${bundle}" "${embedding}")
    else()
      target_sources(${target} PRIVATE "${bundle}")
    endif()
    if(arg_DESTINATION)
      install(FILES "${bundle}" DESTINATION "${arg_DESTINATION}")
    endif()
  endforeach()
  if(arg_EMBED)
    # A library's users include the header too.
    get_target_property(type ${target} TYPE)
    set(scope PUBLIC)
    if(type STREQUAL "EXECUTABLE")
      set(scope PRIVATE)
    endif()
    target_include_directories(${target} ${scope} "$<BUILD_INTERFACE:${folder}/include>")
    target_link_libraries(${target} ${scope} tkc::runtime)
  endif()
endfunction()
