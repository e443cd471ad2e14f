// RUN: tk-opt %s --split-input-file --verify-diagnostics
// expected-error @+1 {{column 17: expected `,` or `]`}}
module attributes {l = #tkg.layout<"register=[[1],[2">} {}

// -----
// expected-error @+1 {{column 1: expected register, lane, warp, block, offset, repeats or shape}}
module attributes {l = #tkg.layout<"thread=[[1],[2]]">} {}

// -----
// expected-error @+1 {{basis [1,2] of `register` has 2 coordinates, the tile has rank 1}}
module attributes {l = #tkg.layout<"register=[[3],[1,2]]">} {}

// -----
// expected-error @+1 {{`register` is given twice}}
module attributes {l = #tkg.layout<"register=[[1]], register=[[2]]">} {}

// -----
// expected-error @+1 {{basis [-1] of `lane` is out of range}}
module attributes {l = #tkg.layout<"lane=[[-1]]">} {}

// -----
// expected-error @+1 {{expected string}}
module attributes {l = #tkg.layout<register>} {}
