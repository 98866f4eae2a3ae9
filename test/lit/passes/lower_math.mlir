// RUN: tile-opt %s --tile-lower-math | FileCheck %s

gpu.module @m [#nvvm.target<chip = "sm_80">] {
  // CHECK-DAG: llvm.func @llvm.fabs.f32(f32) -> f32
  // CHECK-DAG: llvm.func @llvm.fma.v2f16(vector<2xf16>, vector<2xf16>, vector<2xf16>) -> vector<2xf16>
  // CHECK-DAG: llvm.func @llvm.abs.i32(i32, i1) -> i32
  // CHECK-LABEL: gpu.func @exact(
  // CHECK-SAME: %[[X:[A-Za-z0-9_]+]]: f32, %[[I:[A-Za-z0-9_]+]]: i32, %[[H:[A-Za-z0-9_]+]]: vector<2xf16>
  gpu.func @exact(%x: f32, %i: i32, %h: vector<2xf16>, %p: i1) kernel {
    scf.if %p {
      // CHECK: %[[A:.*]] = llvm.call @llvm.fabs.f32(%[[X]]) : (f32) -> f32
      %a = math.absf %x : f32
      // CHECK: llvm.call @llvm.sqrt.f32(%[[A]]) {fastmathFlags = #llvm.fastmath<nnan>} : (f32) -> f32
      %s = math.sqrt %a fastmath<nnan> : f32
      // CHECK: llvm.call @llvm.maxnum.f32(%{{.*}}, %[[X]])
      %m = arith.maxnumf %s, %x : f32
    }
    // CHECK: llvm.call @llvm.fma.v2f16(%[[H]], %[[H]], %[[H]]) : (vector<2xf16>, vector<2xf16>, vector<2xf16>) -> vector<2xf16>
    %f = math.fma %h, %h, %h : vector<2xf16>
    // An absolute value is defined for every integer.
    // CHECK: %[[NO:.*]] = llvm.mlir.constant(false) : i1
    // CHECK: llvm.call @llvm.abs.i32(%[[I]], %[[NO]]) : (i32, i1) -> i32
    %b = math.absi %i : i32
    // CHECK: llvm.call @llvm.ctpop.i32(%[[I]]) : (i32) -> i32
    %c = math.ctpop %i : i32
    gpu.return
  }

  // CHECK-LABEL: gpu.func @approximate(
  // CHECK-SAME: %[[X:[A-Za-z0-9_]+]]: f32, %[[H:[A-Za-z0-9_]+]]: vector<2xf16>
  gpu.func @approximate(%x: f32, %h: vector<2xf16>) kernel {
    // CHECK: llvm.call @llvm.exp2.f32(%[[X]]) : (f32) -> f32
    %e = math.exp2 %x : f32
    // CHECK: llvm.call @llvm.tanh.f32(%[[X]]) {fastmathFlags = #llvm.fastmath<afn>} : (f32) -> f32
    %t = math.tanh %x fastmath<afn> : f32
    // CHECK: llvm.call @llvm.sin.f32(%[[X]]) {fastmathFlags = #llvm.fastmath<fast>} : (f32) -> f32
    %s = math.sin %x fastmath<fast> : f32
    // CHECK: %[[ROOT:.*]] = llvm.call @llvm.sqrt.v2f16(%[[H]])
    // CHECK: %[[ONE:.*]] = arith.constant dense<1.000000e+00> : vector<2xf16>
    // CHECK: arith.divf %[[ONE]], %[[ROOT]] : vector<2xf16>
    %r = math.rsqrt %h : vector<2xf16>
    // CHECK-NOT: math.
    // CHECK: gpu.return
    gpu.return
  }

  // What no instruction is takes several; with leave to approximate, few.
  // CHECK-LABEL: gpu.func @sequences(
  // CHECK-SAME: %[[X:[A-Za-z0-9_]+]]: f32, %[[H:[A-Za-z0-9_]+]]: vector<2xbf16>
  gpu.func @sequences(%x: f32, %h: vector<2xbf16>) kernel {
    // CHECK: %[[LOG2E:.*]] = arith.constant 1.44269502 : f32
    // CHECK-NEXT: %[[TIMES:.*]] = arith.mulf %[[X]], %[[LOG2E]] : f32
    // CHECK-NEXT: llvm.call @llvm.nvvm.ex2.approx.ftz.f32(%[[TIMES]]) : (f32) -> f32
    %e = math.exp %x fastmath<afn> : f32
    // CHECK: llvm.call @llvm.nvvm.ex2.approx.ftz.f32(%[[X]]) : (f32) -> f32
    %e2 = math.exp2 %x fastmath<afn> : f32
    // CHECK: llvm.call @llvm.nvvm.lg2.approx.f(%[[X]]) : (f32) -> f32
    %f = math.log2 %x fastmath<afn> : f32
    // CHECK: arith.divf
    // CHECK-NOT: lg2
    %l = math.log2 %x : f32
    // CHECK: %[[LOW:.*]]:2 = vector.to_elements %[[H]] : vector<2xbf16>
    // CHECK: arith.extf %[[LOW]]#0 : bf16 to f32
    // CHECK: arith.truncf %{{.*}} : f32 to bf16
    // CHECK: arith.truncf %{{.*}} : f32 to bf16
    %g = math.erf %h : vector<2xbf16>
    // CHECK-NOT: math.
    // CHECK: gpu.return
    gpu.return
  }

  // CHECK-LABEL: gpu.func @divisions(
  // CHECK-SAME: %[[A:[A-Za-z0-9_]+]]: index, %[[B:[A-Za-z0-9_]+]]: index
  gpu.func @divisions(%a: index, %b: index, %v: vector<4xi8>) kernel {
    // CHECK: %[[QUOTIENT:.*]] = arith.divui %[[A]], %[[B]] : index
    // CHECK: %[[REST:.*]] = arith.remui %[[A]], %[[B]] : index
    // CHECK: arith.select %{{.*}}, %{{.*}}, %[[QUOTIENT]] : index
    %u = arith.ceildivui %a, %b : index
    // CHECK: arith.divsi %{{.*}} : vector<4xi8>
    // CHECK: arith.select %{{.*}} : vector<4xi1>, vector<4xi8>
    // CHECK-NOT: floordivsi
    %f = arith.floordivsi %v, %v : vector<4xi8>
    gpu.return
  }

  // Floats that the integer does not reach become the nearest one, NaN 0.
  // CHECK-LABEL: gpu.func @integers(
  // CHECK-SAME: %[[X:[A-Za-z0-9_]+]]: f32, %[[D:[A-Za-z0-9_]+]]: f64, %[[H:[A-Za-z0-9_]+]]: vector<2xf16>
  gpu.func @integers(%x: f32, %d: f64, %h: vector<2xf16>) kernel {
    // CHECK: llvm.call @llvm.nvvm.f2i.rz(%[[X]]) : (f32) -> i32
    %i = arith.fptosi %x : f32 to i32
    // CHECK: %[[WHOLE:.*]] = llvm.call @llvm.nvvm.f2ui.rz(%[[X]]) : (f32) -> i32
    // CHECK: %[[MOST:.*]] = arith.constant 255 : i32
    // CHECK: %[[NEAR:.*]] = arith.minui %[[WHOLE]], %[[MOST]] : i32
    // CHECK: arith.trunci %[[NEAR]] : i32 to i8
    %u = arith.fptoui %x : f32 to i8
    // CHECK: %[[LONG:.*]] = llvm.call @llvm.nvvm.d2ll.rz(%[[D]]) : (f64) -> i64
    // CHECK: %[[NAN:.*]] = arith.cmpf uno, %[[D]], %[[D]] : f64
    // CHECK: arith.select %[[NAN]], %{{.*}}, %[[LONG]] : i64
    %l = arith.fptosi %d : f64 to i64
    // CHECK: arith.extf %{{.*}} : f16 to f32
    // CHECK: arith.maxsi
    // CHECK: arith.minsi
    // CHECK: vector.from_elements %{{.*}}, %{{.*}} : vector<2xi8>
    %v = arith.fptosi %h : vector<2xf16> to vector<2xi8>
    // CHECK-NOT: arith.fpto
    // CHECK: gpu.return
    gpu.return
  }

  // Tiles are another pass's.
  // CHECK-LABEL: gpu.func @tile(
  gpu.func @tile(%x: f32) kernel attributes {known_block_size = array<i32: 32, 1, 1>} {
    // CHECK: math.exp2 %{{.*}} : tensor<16x8xf32,
    %t = tile.fill %x : f32 -> tensor<16x8xf32, #tile.layout<"m16n8k16 c f32">>
    %u = math.exp2 %t : tensor<16x8xf32, #tile.layout<"m16n8k16 c f32">>
    gpu.return
  }

  // Of f64 no function is an instruction, an approximate one neither.
  // CHECK-LABEL: gpu.func @doubles(
  // CHECK-SAME: %[[X:[A-Za-z0-9_]+]]: f64, %[[V:[A-Za-z0-9_]+]]: vector<2xf64>
  // CHECK-NOT: math.
  // CHECK: llvm.call @llvm.fma.f64(
  // CHECK: arith.divf %{{.*}} : f64
  // CHECK: arith.muli %{{.*}} : i128
  // CHECK-NOT: math.
  // CHECK: gpu.return
  gpu.func @doubles(%x: f64, %v: vector<2xf64>) kernel {
    %a = math.exp %x : f64
    %b = math.log %v : vector<2xf64>
    %c = math.sin %a fastmath<afn> : f64
    %d = math.powf %v, %b : vector<2xf64>
    %e = math.exp2 %c fastmath<afn> : f64
    gpu.return
  }
}
