# Writes C++ with the texts of the standard library: cmake -DOUT=x.cpp -DROOT=std -P EmbedStd.cmake
# Bytes, so that no text can break out of a literal; sorted, so that the same files give the same bytes.

file(GLOB_RECURSE files RELATIVE ${ROOT} ${ROOT}/*.tk)
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
file(WRITE ${OUT} "// Made by cmake/EmbedStd.cmake from std/.
#include \"frontend/Modules.h\"

${arrays}
llvm::ArrayRef<tk::LibraryFile> tk::libraryFiles() {
  static const LibraryFile files[] = {
${entries}  };
  return files;
}
")
