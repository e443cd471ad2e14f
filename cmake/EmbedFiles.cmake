# Writes C++ with the texts of files, which a function gives as a list of {name, text}:
#   cmake -DOUT=x.cpp -DROOT=std -DPATTERN=*.tk -DHEADER=frontend/Modules.h
#         -DTYPE=LibraryFile -DFUNCTION=libraryFiles -P EmbedFiles.cmake
# Bytes, so that no text can break out of a literal; sorted, so that the same files give the same bytes.

file(GLOB_RECURSE files RELATIVE ${ROOT} ${ROOT}/${PATTERN})
list(SORT files)
set(arrays "")
set(entries "")
set(number 0)
foreach(name ${files})
  file(READ ${ROOT}/${name} bytes HEX)
  string(LENGTH "${bytes}" digits)
  math(EXPR size "${digits} / 2")
  string(REGEX REPLACE "(..)" "'\\\\x\\1'," bytes "${bytes}")
  string(APPEND arrays "static const char text${number}[] = {${bytes}'\\0'};\n")
  string(APPEND entries "    {\"${name}\", {text${number}, ${size}}},\n")
  math(EXPR number "${number} + 1")
endforeach()
file(WRITE ${OUT} "// Made by cmake/EmbedFiles.cmake.
#include \"${HEADER}\"

${arrays}
llvm::ArrayRef<tk::${TYPE}> tk::${FUNCTION}() {
  static const ${TYPE} files[] = {
${entries}  };
  return files;
}
")
