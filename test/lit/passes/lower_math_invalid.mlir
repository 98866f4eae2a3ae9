// RUN: tile-opt %s --tile-lower-math --verify-diagnostics

gpu.module @m [#nvvm.target<chip = "sm_80">] {
  gpu.func @k(%x: f32, %d: f64, %v: vector<2x2xf32>) kernel {
    // expected-error @below {{'math.atan' op has no instruction; legal: arith.maxnumf,}}
    %e = math.atan %x : f32
    // expected-error @below {{'math.exp2' op has no instruction for f64; cast it to f32}}
    %f = math.exp2 %d : f64
    // expected-error @below {{'math.sin' op has no instruction for f64; cast it to f32}}
    %t = math.sin %d : f64
    // expected-error @below {{'math.log' op has no instruction for f64; cast it to f32}}
    %r = math.log %d : f64
    // expected-error @below {{'math.exp' op takes scalars and vectors of rank 1, not vector<2x2xf32>}}
    %w = math.exp %v : vector<2x2xf32>
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
