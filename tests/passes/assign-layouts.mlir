// RUN: tk-opt %s --tk-assign-layouts --tk-verify-phase | FileCheck %s

// As the head of AssignLayouts.cpp has it:
//   %s = tk.reduce %x axis 1 ... {tkg.layouts = [#A]} : tensor<4x64xf32> -> tensor<4xf32>
// becomes, when the layout that follows from %x is #B,
//   %t = tk.reduce %x axis 1 ... : tensor<4x64xf32, #X> -> tensor<4xf32, #B>
//   %s = tkg.convert %t how "shared" : tensor<4xf32, #B> -> tensor<4xf32, #A>

#contract = #tk.contract<{kernel = "k", instance = {}, args = [{name = "n", kind = "scalar", dtype = "i64"}],
    grid = [1, 1, 1], require = [], disjoint = [], options = {warps = 2}}>
#X = #tkg.layout<"register=[[0,32],[2,0]], lane=[[0,1],[0,2],[0,4],[0,8],[0,16]], warp=[[1,0]]">
#A = #tkg.layout<"register=[], lane=[[1],[2],[0],[0],[0]], warp=[[0]]">
#B = #tkg.layout<"register=[[2]], lane=[[0],[0],[0],[0],[0]], warp=[[1]]">
#C = #tkg.layout<"register=[[2],[1]], lane=[[0],[0],[0],[0],[0]], warp=[[0]]">
#line = #tkg.layout<"register=[], lane=[[1],[2],[4],[8],[16]], warp=[[32]]">

module {
// CHECK: module attributes {tk.phase = "LaidOut"}

// The planned layout stands in the type, also in that of a constant's value, and the plan is gone.
// CHECK-LABEL: tk.kernel @plan_becomes_type(
// CHECK-NOT:     tkg.layouts
// CHECK:         arith.constant dense<1.000000e+00> : tensor<64xf32, #tkg.layout<
// CHECK:         arith.negf {{.*}} : tensor<64xf32, #tkg.layout<
// CHECK-NOT:     tkg.convert
// CHECK:         tk.return
tk.kernel @plan_becomes_type(%n: i64) attributes {contract = #contract} {
  %v = arith.constant {tkg.layouts = [#line]} dense<1.0> : tensor<64xf32>
  %w = arith.negf %v {tkg.layouts = [#line]} : tensor<64xf32>
  tk.return
}

// A reduction whose result is planned as it follows from the operand needs no conversion.
// CHECK-LABEL: tk.kernel @result_as_it_follows(
// CHECK:         tk.reduce
// CHECK-NOT:     tkg.convert
// CHECK:         tk.return
tk.kernel @result_as_it_follows(%n: i64) attributes {contract = #contract} {
  %x = arith.constant {tkg.layouts = [#X]} dense<1.0> : tensor<4x64xf32>
  %s = tk.reduce %x axis 1 order any {tkg.layouts = [#B]} : tensor<4x64xf32> -> tensor<4xf32> {
  ^bb0(%a: f32, %b: f32):
    %c = arith.addf %a, %b : f32
    tk.yield %c : f32
  }
  tk.return
}

// A result planned otherwise is converted.
// CHECK-LABEL: tk.kernel @result_planned_otherwise(
// CHECK:         %[[T:.*]] = tk.reduce
// CHECK:         %[[S:.*]] = tkg.convert %[[T]] how "shared"
// CHECK:         arith.negf %[[S]]
tk.kernel @result_planned_otherwise(%n: i64) attributes {contract = #contract} {
  %x = arith.constant {tkg.layouts = [#X]} dense<1.0> : tensor<4x64xf32>
  %s = tk.reduce %x axis 1 order any {tkg.layouts = [#A]} : tensor<4x64xf32> -> tensor<4xf32> {
  ^bb0(%a: f32, %b: f32):
    %c = arith.addf %a, %b : f32
    tk.yield %c : f32
  }
  %w = arith.negf %s {tkg.layouts = [#A]} : tensor<4xf32>
  tk.return
}

// A broadcast that needs its operand elsewhere converts the operand. Each thread has what it needs in
// some register here, but in which one depends on its warp: that is no renaming, but needs no memory.
// CHECK-LABEL: tk.kernel @operand_of_a_broadcast(
// CHECK:         %[[V:.*]] = tkg.convert %{{.*}} how "shuffle" why "an axis is added for a tile that lies so"
// CHECK:         tk.expand_dims %[[V]], 1
tk.kernel @operand_of_a_broadcast(%n: i64) attributes {contract = #contract} {
  %v = arith.constant {tkg.layouts = [#C]} dense<1.0> : tensor<4xf32>
  %e = tk.expand_dims %v, 1 {tkg.layouts = [#tkg.layout<"register=[[2,0]], lane=[[0,0],[0,0],[0,0],[0,0],[0,0]], warp=[[1,0]]">]} : tensor<4xf32> -> tensor<4x1xf32>
  tk.return
}

// A loop's arguments and results get the layout together.
// CHECK-LABEL: tk.kernel @loop(
// CHECK:         scf.for {{.*}} -> (tensor<64xf32, #tkg.layout<
// CHECK:           arith.negf {{.*}} : tensor<64xf32, #tkg.layout<
// CHECK-NOT:     tkg.layouts
tk.kernel @loop(%n: i64) attributes {contract = #contract} {
  %c0 = arith.constant 0 : i64
  %c1 = arith.constant 1 : i64
  %v = arith.constant {tkg.layouts = [#line]} dense<1.0> : tensor<64xf32>
  %s = scf.for %i = %c0 to %n step %c1 iter_args(%acc = %v) -> (tensor<64xf32>) : i64 {
    %w = arith.negf %acc {tkg.layouts = [#line]} : tensor<64xf32>
    scf.yield %w : tensor<64xf32>
  } {tkg.layouts = [#line]}
  tk.return
}

// So do those of both regions of a while loop.
// CHECK-LABEL: tk.kernel @while(
// CHECK:         scf.while {{.*}} : (tensor<64xf32, #tkg.layout<{{.*}}>>) -> tensor<64xf32, #tkg.layout<
// CHECK-NOT:     before_layouts
// CHECK:         ^bb0(%{{.*}}: tensor<64xf32, #tkg.layout<
tk.kernel @while(%n: i64) attributes {contract = #contract} {
  %c0 = arith.constant 0 : i64
  %v = arith.constant {tkg.layouts = [#line]} dense<1.0> : tensor<64xf32>
  %s = scf.while (%a = %v) : (tensor<64xf32>) -> tensor<64xf32> {
    %c = arith.cmpi slt, %c0, %n : i64
    scf.condition(%c) %a : tensor<64xf32>
  } do {
  ^bb0(%b: tensor<64xf32>):
    scf.yield %b : tensor<64xf32>
  } attributes {tkg.layouts = [#line], tkg.before_layouts = [#line]}
  tk.return
}
}
