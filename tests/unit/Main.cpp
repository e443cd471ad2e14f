//===- Main.cpp - Catch2's main, in this file alone ---------------------------===//

#define CATCH_CONFIG_MAIN
#include <catch2/catch.hpp>
