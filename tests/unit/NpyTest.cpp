//===- NpyTest.cpp - .npy files, good and bad
//----------------------------------------------------===//

#include "driver/Npy.h"
#include <catch2/catch.hpp>
#include <cstring>

using namespace tk;
using interp::DType;

static std::string fileWith(const std::string &header, const std::string &data, int version = 1) {
  std::string file("\x93NUMPY");
  file += char(version);
  file += '\0';
  for (int i = 0; i < (version == 1 ? 2 : 4); ++i)
    file += char(header.size() >> (8 * i) & 0xff);
  return file + header + data;
}

TEST_CASE("an array survives being written and read", "[npy]") {
  const float values[6] = {1, -2, 3.5f, 0, 1e30f, -0.f};
  std::string bytes(reinterpret_cast<const char *>(values), sizeof values), problem;
  using Shape = std::vector<int64_t>;
  for (const Shape &shape : {Shape{6}, Shape{2, 3}, Shape{1, 3, 2}}) {
    std::string file = formatNpy("<f4", shape, bytes);
    CHECK((file.size() - bytes.size()) % 64 == 0);
    NpyArray array;
    REQUIRE(parseNpy(file, array, problem));
    CHECK(array.descr == "<f4");
    CHECK(array.shape == shape);
    CHECK(array.bytes == bytes);
  }
  NpyArray scalar;
  REQUIRE(parseNpy(formatNpy("<f4", {}, bytes.substr(0, 4)), scalar, problem));
  CHECK(scalar.shape.empty());
}

TEST_CASE("the bytes are those that NumPy writes", "[npy]") {
  // np.save of np.zeros(3, np.int16)
  std::string header = "{'descr': '<i2', 'fortran_order': False, 'shape': (3,), }";
  header += std::string(117 - header.size(), ' ') + '\n';
  std::string file = formatNpy("<i2", {3}, std::string(6, '\0'));
  CHECK(file == fileWith(header, std::string(6, '\0')));
}

TEST_CASE("version 2, other spacing and quotes are read", "[npy]") {
  NpyArray array;
  std::string problem;
  std::string header = "{\"shape\":(2, 2),\"fortran_order\":False,\"descr\":\"|u1\"}\n";
  REQUIRE(parseNpy(fileWith(header, "abcd", 2), array, problem));
  CHECK(array.shape == std::vector<int64_t>{2, 2});
  CHECK(npyHolds(array.descr, DType::u8));
  CHECK_FALSE(npyHolds(array.descr, DType::i8));
}

TEST_CASE("types map to NumPy's", "[npy]") {
  CHECK(npyHolds("<u2", DType::bf16));
  CHECK(npyHolds("|V2", DType::bf16));
  CHECK(npyHolds("|b1", DType::i1));
  CHECK_FALSE(npyHolds("<u2", DType::f16));
  for (DType type :
       {DType::i1, DType::i8, DType::i16, DType::i32, DType::i64, DType::u8, DType::u16, DType::u32,
        DType::u64, DType::f16, DType::bf16, DType::f32, DType::f64})
    CHECK(npyHolds(npyDescr(type), type));
}

TEST_CASE("files that are no arrays say why", "[npy]") {
  auto why = [](const std::string &file) {
    NpyArray array;
    std::string problem;
    CHECK_FALSE(parseNpy(file, array, problem));
    return problem;
  };
  auto with = [](const char *descr, const char *order, const char *shape) {
    return fileWith(std::string("{'descr': ") + descr + ", 'fortran_order': " + order +
                        ", 'shape': " + shape + "}",
                    "abcd");
  };
  CHECK(why("") == "it is not a .npy file");
  CHECK(why("\x93NUMPY\1") == "it is not a .npy file");
  CHECK(why(fileWith(with("'<f4'", "False", "(1,)"), "", 9)) == "its .npy version 9 is not known");
  CHECK(why(with("'<f4'", "True", "(1,)")).find("Fortran order") != std::string::npos);
  CHECK(why(with("'>f4'", "False", "(1,)")) == "its element type `>f4` is not read");
  CHECK(why(with("[('a', '<f4')]", "False", "(1,)")) == "its element type is not a plain one");
  CHECK(why(with("'<f4'", "False", "(2,)")) == "it has 4 bytes of data, its shape needs 8");
  CHECK(why(with("'<f4'", "False", "(-1,)")) == "its shape cannot be read");
  CHECK(why(with("'<f4'", "False", "(4611686018427387904,)")) == "its shape is larger than memory");
  std::string cut = with("'<f4'", "False", "(1,)");
  CHECK(why(cut.substr(0, 30)) == "its header is cut short");
}
