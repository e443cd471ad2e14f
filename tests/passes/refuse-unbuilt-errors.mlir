// RUN: tk-opt %s --tk-refuse-unbuilt --verify-diagnostics
#contract = #tk.contract<{kernel = "k", instance = {}, args = [], grid = [1, 1, 1], require = [], disjoint = [],
    options = {warps = 4}}>
module attributes {tk.phase = "Emitted"} {
  // An operation; the first one of each kernel is named.
  tk.kernel @operation() attributes {contract = #contract} {
    %t = arith.constant dense<1.0> : tensor<4x8xf32>
    // expected-error @+1 {{TK4005: no machine code yet for `scan`}}
    %0 = tk.scan %t axis 1 order any : tensor<4x8xf32> -> tensor<4x8xf32> {
    ^bb0(%a: f32, %b: f32):
      tk.yield %a : f32
    }
    %1 = tk.flip %t axis 0 : tensor<4x8xf32>
    tk.return
  }
  // A function of one number.
  tk.kernel @function() attributes {contract = #contract} {
    %f = arith.constant 1.0 : f32
    // expected-error @+1 {{TK4005: no machine code yet for `unary`}}
    %0 = tk.unary erfc %f : f32
    tk.return
  }
  // A type.
  tk.kernel @type() attributes {contract = #contract} {
    // expected-error @+1 {{TK4005: no machine code yet for values of type f8E5M2}}
    %f = arith.constant 1.0 : f8E5M2
    tk.return
  }
}
