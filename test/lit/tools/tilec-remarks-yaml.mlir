// RUN: tilec %s -o /dev/null --remarks-output %t.yaml 2>%t.err
// RUN: FileCheck %s --input-file=%t.yaml
// RUN: FileCheck %s --input-file=%t.err --check-prefix=ADVICE
// RUN: tile-opt %s --pass-pipeline="builtin.module(tile-check-target)" --remarks-output %t.opt.yaml -o /dev/null
// RUN: FileCheck %s --input-file=%t.opt.yaml
// RUN: not tilec %s -o /dev/null --remarks-filter "(" 2>%t.err
// RUN: FileCheck %s --input-file=%t.err --check-prefix=REGEX

// A file of remarks in LLVM's format. Advice is shown without being asked for.

// CHECK: --- !Missed
// CHECK-NEXT: Pass:            tile-check-target
// CHECK-NEXT: Name:            CheckTarget
// CHECK-NEXT: DebugLoc:        { File: "{{.*}}tilec-remarks-yaml.mlir", Line: 31, Column: 10 }
// CHECK-NEXT: Function:        "k"
// CHECK-NEXT: Args:
// CHECK-NEXT: - String:          "'tile.mma' op mma.sync.aligned.m16n8k32.row.col.f32.e4m3.e4m3.f32 is emulated on sm_90, by 2 HMMA"
// CHECK-NEXT: ...
// ADVICE: tilec-remarks-yaml.mlir:31:10: remark: 'tile.mma' op
// REGEX: error: argument --remarks-filter: not a regular expression

!A = !tile.frag<tensor<16x32xf8E4M3FN>, #tile.layout<"m16n8k32 a e4m3">>
!B = !tile.frag<tensor<32x8xf8E4M3FN>, #tile.layout<"m16n8k32 b e4m3">>
!C = !tile.frag<tensor<16x8xf32>, #tile.layout<"m16n8k32 c f32">>
gpu.module @emulated [#nvvm.target<chip = "sm_90">] {
  gpu.func @k(%x: memref<32x32xi8>, %y: memref<16x8xf32>) kernel attributes {known_block_size = array<i32: 32, 1, 1>} {
    %z = arith.constant 0 : index
    %a = tile.load %x[%z, %z] : memref<32x32xi8> -> !A
    %b = tile.load %x[%z, %z] : memref<32x32xi8> -> !B
    %c = tile.load %y[%z, %z] : memref<16x8xf32> -> !C
    %d = tile.mma %a, %b, %c {form = "mma.sync.aligned.m16n8k32.row.col.f32.e4m3.e4m3.f32"}
        : !A, !B, !C
    tile.store %d, %y[%z, %z] : !C, memref<16x8xf32>
    gpu.return
  }
}
