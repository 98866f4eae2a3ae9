// RUN: tilec %s -o %t.ptx 2>%t.err
// RUN: FileCheck %s --input-file=%t.err
// RUN: FileCheck %s --input-file=%t.ptx --check-prefix=PTX
// RUN: tilec %s --target sm_89 -o /dev/null 2>%t.none
// RUN: FileCheck %s --input-file=%t.none --check-prefix=NONE --allow-empty

// A remark stops nothing. Where the target has the instruction there is none.
// PTX: .target sm_90
// NONE-NOT: remark

!A = !tile.frag<tensor<16x32xf8E4M3FN>, #tile.layout<"m16n8k32 a e4m3">>
!B = !tile.frag<tensor<32x8xf8E4M3FN>, #tile.layout<"m16n8k32 b e4m3">>
!C = !tile.frag<tensor<16x8xf32>, #tile.layout<"m16n8k32 c f32">>
gpu.module @emulated [#nvvm.target<chip = "sm_90">] {
  gpu.func @k(%x: memref<32x32xi8>, %y: memref<16x8xf32>) kernel attributes {known_block_size = array<i32: 32, 1, 1>} {
    %z = arith.constant 0 : index
    %a = tile.load %x[%z, %z] : memref<32x32xi8> -> !A
    %b = tile.load %x[%z, %z] : memref<32x32xi8> -> !B
    %c = tile.load %y[%z, %z] : memref<16x8xf32> -> !C
    // CHECK: tilec-remarks.mlir:{{[0-9]+}}:10: remark: 'tile.mma' op mma.sync.aligned.m16n8k32.row.col.f32.e4m3.e4m3.f32 is emulated on sm_90, by 2 HMMA [tile-check-target]
    // CHECK-NEXT: %d = tile.mma
    %d = tile.mma %a, %b, %c {form = "mma.sync.aligned.m16n8k32.row.col.f32.e4m3.e4m3.f32"}
        : !A, !B, !C
    tile.store %d, %y[%z, %z] : !C, memref<16x8xf32>
    gpu.return
  }
}
