// RUN: tile-opt %s --tile-lower-math --verify-diagnostics

gpu.module @m [#nvvm.target<chip = "sm_80">] {
  gpu.func @k(%x: f32, %d: f64, %v: vector<2x2xf32>, %z: vector<2x2xf64>) kernel {
    // expected-error @below {{'math.atan' op has no instruction; legal: arith.maxnumf,}}
    %e = math.atan %x : f32
    // expected-error @below {{'math.tan' op has no instruction; legal: arith.maxnumf,}}
    %f = math.tan %d : f64
    // expected-error @below {{'math.exp' op takes scalars and vectors of rank 1, not vector<2x2xf32>}}
    %w = math.exp %v : vector<2x2xf32>
    // expected-error @below {{'math.exp' op takes scalars and vectors of rank 1, not vector<2x2xf64>}}
    %y = math.exp %z : vector<2x2xf64>
    // expected-error @below {{'math.absf' op takes scalars and vectors of rank 1, not vector<2x2xf32>}}
    %a = math.absf %v : vector<2x2xf32>
    %i = gpu.thread_id x
    // expected-error @below {{'math.absi' op takes integers and floats, not index}}
    %n = math.absi %i : index
    // expected-error @below {{'math.ctpop' op takes integers and floats, not index}}
    %o = math.ctpop %i : index
    gpu.return
  }
}
