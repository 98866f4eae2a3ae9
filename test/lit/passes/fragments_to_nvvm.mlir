// RUN: tile-opt %s --tile-fragments-to-nvvm | FileCheck %s

!A = !tile.frag<tensor<16x16xf16>, #tile.layout<"m16n8k16 a f16">>
!B = !tile.frag<tensor<16x8xf16>, #tile.layout<"m16n8k16 b f16">>
!C = !tile.frag<tensor<16x8xf32>, #tile.layout<"m16n8k16 c f32">>
!H = !tile.frag<tensor<16x8xf16>, #tile.layout<"m16n8k16 c f32">>
!HH = !tile.frag<tensor<16x16xf16>, #tile.layout<"register [0,1] [8,0] [0,8]; lane [0,2] [0,4] [1,0] [2,0] [4,0] -> row 16, col 16">>
!BA = !tile.frag<tensor<16x16xbf16>, #tile.layout<"m16n8k16 a bf16">>
!BB = !tile.frag<tensor<16x8xbf16>, #tile.layout<"m16n8k16 b bf16">>
!I = !tile.frag<tensor<16x8xi8>, #tile.layout<"m16n8k16 c f32">>
!I32 = !tile.frag<tensor<16x8xi32>, #tile.layout<"m16n8k16 c f32">>
!DA = !tile.frag<tensor<8x4xf64>, #tile.layout<"m8n8k4 a f64">>
!DB = !tile.frag<tensor<4x8xf64>, #tile.layout<"m8n8k4 b f64">>
!DC = !tile.frag<tensor<8x8xf64>, #tile.layout<"m8n8k4 c f64">>
!E = !tile.frag<tensor<16x32xf8E4M3FN>, #tile.layout<"m16n8k32 a e4m3">>

gpu.module @m [#nvvm.target<chip = "sm_80">] {
  // Each intrinsic is declared once, and called convergent.
  // CHECK-DAG: llvm.func @llvm.nvvm.mma.m16n8k16.row.col.f32.f32(vector<2xf16>, vector<2xf16>, vector<2xf16>, vector<2xf16>, vector<2xf16>, vector<2xf16>, f32, f32, f32, f32) -> !llvm.struct<(f32, f32, f32, f32)>
  // CHECK-DAG: llvm.func @llvm.nvvm.mma.m16n8k16.row.col.bf16(i32, i32, i32, i32, i32, i32, f32, f32, f32, f32) -> !llvm.struct<(f32, f32, f32, f32)>
  // CHECK-LABEL: gpu.func @products(
  // CHECK-SAME: %[[X:[A-Za-z0-9_]+]]: f16, %[[Y:[A-Za-z0-9_]+]]: f32, %[[BF:[A-Za-z0-9_]+]]: bf16, %[[D:[A-Za-z0-9_]+]]: f64)
  gpu.func @products(%x: f16, %y: f32, %bf: bf16, %d: f64) kernel attributes {known_block_size = array<i32: 32, 1, 1>} {
    // A fill is one register.
    // CHECK: %[[A:.*]] = vector.from_elements %[[X]], %[[X]] : vector<2xf16>
    // CHECK: %[[B:.*]] = vector.from_elements %[[X]], %[[X]] : vector<2xf16>
    // CHECK: %[[R:.*]] = llvm.call @llvm.nvvm.mma.m16n8k16.row.col.f32.f32(%[[A]], %[[A]], %[[A]], %[[A]], %[[B]], %[[B]], %[[Y]], %[[Y]], %[[Y]], %[[Y]]) {convergent} :
    // CHECK: %[[D0:.*]] = llvm.extractvalue %[[R]][0]
    // CHECK: %[[D1:.*]] = llvm.extractvalue %[[R]][1]
    // CHECK: %[[D2:.*]] = llvm.extractvalue %[[R]][2]
    // CHECK: %[[D3:.*]] = llvm.extractvalue %[[R]][3]
    // CHECK: llvm.call @llvm.nvvm.mma.m16n8k16.row.col.f32.f32(%[[A]], %[[A]], %[[A]], %[[A]], %[[B]], %[[B]], %[[D0]], %[[D1]], %[[D2]], %[[D3]]) {convergent}
    %a = tile.fill %x : f16 -> !A
    %b = tile.fill %x : f16 -> !B
    %c = tile.fill %y : f32 -> !C
    %r = tile.mma %a, %b, %c {form = "mma.sync.aligned.m16n8k16.row.col.f32.f16.f16.f32"}
        : !A, !B, !C
    %s = tile.mma %a, %b, %r {form = "mma.sync.aligned.m16n8k16.row.col.f32.f16.f16.f32"}
        : !A, !B, !C
    // The intrinsic of bf16 takes the registers as integers.
    // CHECK: %[[BA:.*]] = llvm.bitcast %{{.*}} : vector<2xbf16> to i32
    // CHECK: llvm.call @llvm.nvvm.mma.m16n8k16.row.col.bf16(%[[BA]], %{{.*}}) {convergent}
    %ba = tile.fill %bf : bf16 -> !BA
    %bb = tile.fill %bf : bf16 -> !BB
    %t = tile.mma %ba, %bb, %c {form = "mma.sync.aligned.m16n8k16.row.col.f32.bf16.bf16.f32"}
        : !BA, !BB, !C
    // No intrinsic rounds: assembly does, which nothing may duplicate or drop.
    // CHECK: llvm.inline_asm has_side_effects "mma.sync.aligned.m8n8k4.row.col.f64.f64.f64.f64.rz {$0, $1}, {$2}, {$3}, {$4, $5};", "=d,=d,d,d,d,d" %[[D]], %[[D]], %[[D]], %[[D]] : (f64, f64, f64, f64) -> !llvm.struct<(f64, f64)>
    %da = tile.fill %d : f64 -> !DA
    %db = tile.fill %d : f64 -> !DB
    %dc = tile.fill %d : f64 -> !DC
    %dd = tile.mma %da, %db, %dc {form = "mma.sync.aligned.m8n8k4.row.col.f64.f64.f64.f64.rz"}
        : !DA, !DB, !DC
    // CHECK: gpu.return
    gpu.return
  }

  // An upstream op on each register: two halves or four bytes at once.
  // CHECK-LABEL: gpu.func @elementwise(
  // CHECK-SAME: %[[X:[A-Za-z0-9_]+]]: f32, %[[I:[A-Za-z0-9_]+]]: i8, %[[E:[A-Za-z0-9_]+]]: f8E4M3FN)
  gpu.func @elementwise(%x: f32, %i: i8, %e: f8E4M3FN) kernel attributes {known_block_size = array<i32: 32, 1, 1>} {
    // CHECK: %[[N0:.*]] = math.exp2 %[[X]] fastmath<afn> : f32
    // CHECK: %[[N1:.*]] = math.exp2 %[[X]] fastmath<afn> : f32
    // CHECK: %[[N2:.*]] = math.exp2
    // CHECK: %[[N3:.*]] = math.exp2
    %c = tile.fill %x : f32 -> !C
    %n = tile.elementwise math.exp2 %c {fastmath = #arith.fastmath<afn>} : !C
    // A cast takes as many elements as the packed side has in a register, in their order.
    // CHECK: %[[P0:.*]] = vector.from_elements %[[N0]], %[[N1]] : vector<2xf32>
    // CHECK: %[[P1:.*]] = vector.from_elements %[[N2]], %[[N3]] : vector<2xf32>
    // CHECK: %[[H0:.*]] = arith.truncf %[[P0]] : vector<2xf32> to vector<2xf16>
    // CHECK: %[[H1:.*]] = arith.truncf %[[P1]] : vector<2xf32> to vector<2xf16>
    %h = tile.cast arith.truncf %n : !C to !H
    // Joining and cutting only name registers: part 1 of (h, h·h) is h·h.
    // CHECK: %[[Q0:.*]] = arith.mulf %[[H0]], %[[H0]] : vector<2xf16>
    // CHECK: %[[Q1:.*]] = arith.mulf %[[H1]], %[[H1]] : vector<2xf16>
    // CHECK-NEXT: %[[S0:.*]] = arith.addf %[[Q0]], %[[H0]] : vector<2xf16>
    // CHECK-NEXT: %[[S1:.*]] = arith.addf %[[Q1]], %[[H1]] : vector<2xf16>
    %q = tile.elementwise arith.mulf %h, %h : !H
    %hh = tile.concat %h, %q : !H -> !HH
    %p0 = tile.slice %hh[0] : !HH -> !H
    %p1 = tile.slice %hh[1] : !HH -> !H
    %s = tile.elementwise arith.addf %p1, %p0 : !H
    // CHECK: %[[BYTES:.*]] = vector.from_elements %[[I]], %[[I]], %[[I]], %[[I]] : vector<4xi8>
    // CHECK: arith.addi %{{.*}}, %{{.*}} overflow<nsw> : vector<4xi8>
    // CHECK: %[[WIDE:.*]] = arith.extsi %{{.*}} : vector<4xi8> to vector<4xi32>
    // CHECK: vector.to_elements %[[WIDE]] : vector<4xi32>
    %b = tile.fill %i : i8 -> !I
    %bb = tile.elementwise arith.addi %b, %b {overflowFlags = #arith.overflow<nsw>} : !I
    %w = tile.cast arith.extsi %bb : !I to !I32
    // Narrow floats are their bits.
    // CHECK: %[[BITS:.*]] = arith.bitcast %[[E]] : f8E4M3FN to i8
    // CHECK: vector.from_elements %[[BITS]], %[[BITS]], %[[BITS]], %[[BITS]] : vector<4xi8>
    %f = tile.fill %e : f8E4M3FN -> !E
    gpu.return
  }

  // Control flow carries registers.
  // CHECK-LABEL: gpu.func @control(
  gpu.func @control(%x: f16, %n: index, %p: i1) kernel attributes {known_block_size = array<i32: 32, 1, 1>} {
    // CHECK: %[[R:.*]]:2 = scf.for {{.*}} iter_args(%[[R0:.*]] = %[[V:.*]], %[[R1:.*]] = %[[V]]) -> (vector<2xf16>, vector<2xf16>) {
    // CHECK: %[[IF:.*]]:2 = scf.if %{{.*}} -> (vector<2xf16>, vector<2xf16>) {
    // CHECK: %[[N0:.*]] = arith.negf %[[R0]] : vector<2xf16>
    // CHECK: %[[N1:.*]] = arith.negf %[[R1]] : vector<2xf16>
    // CHECK: scf.yield %[[N0]], %[[N1]] : vector<2xf16>, vector<2xf16>
    // CHECK: } else {
    // CHECK: scf.yield %[[R0]], %[[R1]] : vector<2xf16>, vector<2xf16>
    // CHECK: scf.yield %[[IF]]#0, %[[IF]]#1 : vector<2xf16>, vector<2xf16>
    %b = tile.fill %x : f16 -> !B
    %r = scf.for %k = %n to %n step %n iter_args(%acc = %b) -> (!B) {
      %i = scf.if %p -> !B {
        %m = tile.elementwise arith.negf %acc : !B
        scf.yield %m : !B
      } else {
        scf.yield %acc : !B
      }
      scf.yield %i : !B
    }
    gpu.return
  }
}
