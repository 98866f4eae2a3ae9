// RUN: tilec %s --target sm_80 | FileCheck %s
//
// D = A·B + C of one warp and one tensor-core instruction: the smallest program at level 3.
//
// A value of type !tile.frag is a tile that the 32 lanes of a warp hold together. Its layout
// says which lane holds which element, in which order: here by the name of the operand whose
// fragment it is. `tile-layout m16n8k16 a f16` draws it. Values in a lane are packed into
// 32-bit registers as the PTX ISA prescribes, so that `tile.mma` is the instruction and
// nothing else.
//
// B is stored as PTX wants it, the K values of a column together: memory holds the transpose
// of the 16x8 tile, and the load says so. A `vector` of two says that pairs of elements are
// aligned; each lane then loads whole registers.

!A = !tile.frag<tensor<16x16xf16>, #tile.layout<"m16n8k16 a f16">>
!B = !tile.frag<tensor<16x8xf16>, #tile.layout<"m16n8k16 b f16">>
!C = !tile.frag<tensor<16x8xf32>, #tile.layout<"m16n8k16 c f32">>

gpu.module @mma [#nvvm.target<chip = "sm_80">] {
  gpu.func @mma(%a: memref<16x16xf16>, %b: memref<8x16xf16>, %c: memref<16x8xf32>,
                %d: memref<16x8xf32>)
      kernel attributes {known_block_size = array<i32: 32, 1, 1>} {
    %c0 = arith.constant 0 : index

    // CHECK-LABEL: .entry mma
    // CHECK-COUNT-6: ld.global.b32
    // CHECK-COUNT-2: ld.global.v2.{{[bf]}}32
    %fa = tile.load %a[%c0, %c0] {vector = 2} : memref<16x16xf16> -> !A
    %fb = tile.load %b[%c0, %c0] transposed {vector = 2} : memref<8x16xf16> -> !B
    %fc = tile.load %c[%c0, %c0] {vector = 2} : memref<16x8xf32> -> !C

    // CHECK: mma.sync.aligned.m16n8k16.row.col.f32.f16.f16.f32
    %fd = tile.mma %fa, %fb, %fc {form = "mma.sync.aligned.m16n8k16.row.col.f32.f16.f16.f32"}
        : !A, !B, !C

    // CHECK-COUNT-2: st.global.v2.{{[bf]}}32
    tile.store %fd, %d[%c0, %c0] {vector = 2} : !C, memref<16x8xf32>
    gpu.return
  }
}
