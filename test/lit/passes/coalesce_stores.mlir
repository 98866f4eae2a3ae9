// RUN: tile-opt %s --tile-coalesce-stores | FileCheck %s
// RUN: tile-opt %s --tile-coalesce-stores --remarks -o %t 2>&1 | FileCheck %s --check-prefix=REMARK

#C = #tile.layout<"register [0,1] [8,0] [0,8] [0,16] [0,32] [16,0]; lane [0,2] [0,4] [1,0] [2,0] [4,0]; warp [32,0] [64,0] [0,64] -> row 128, col 128">
!Half = tensor<128x128xf16, #C>
!Single = tensor<128x128xf32, #C>
!Row = tensor<128x128xf16, #tile.layout<"register [0,1] [0,2] [0,4] [16,0] [32,0] [64,0]; lane [0,8] [0,16] [0,32] [0,64] [1,0]; warp [2,0] [4,0] [8,0] -> row 128, col 128">>
!B = memref<5x128x128xf16, #tile.shared<"none">>
!G = memref<?x?xf16, strided<[?, 1]>>
!G32 = memref<?x?xf32, strided<[?, 1]>>

// CHECK: #[[R:[A-Za-z0-9_]+]] = #tile.layout<"register [0,1] [0,2] [0,4]

gpu.module @m [#nvvm.target<chip = "sm_80">] {
  // Four lanes have half a sector of a row: 16 bytes a lane fill four sectors of two rows instead.
  // CHECK-LABEL: gpu.func @half(
  // CHECK: %[[C:.*]] = tile.convert_layout %{{.*}} : tensor<128x128xf16, #{{.*}}> -> tensor<128x128xf16, #[[R]]>
  // CHECK-NEXT: tile.store %[[C]], %{{.*}}[%{{.*}}] masked {vector = 8 : i64}
  // REMARK: 'tile.store' op in its tile's own layout takes 32 instructions and 256 sectors per warp, coalesced 8 and 128: worth a conversion, which costs {{[0-9]+}}
  gpu.func @half(%g: !G, %v: f16) kernel attributes {tile.automatic, known_block_size = array<i32: 256, 1, 1>} {
    %z = arith.constant 0 : index
    %t = tile.fill %v : f16 -> !Half
    tile.store %t, %g[%z, %z] masked {vector = 8 : i64} : !Half, !G
    gpu.return
  }

  // Whole sectors already; in order already; nothing to gain; memory that is shared.
  // CHECK-LABEL: gpu.func @stays(
  // CHECK-NOT: tile.convert_layout
  // CHECK: gpu.return
  gpu.func @stays(%g: !G, %s: !G32, %v: f16, %w: f32) kernel attributes {tile.automatic, known_block_size = array<i32: 256, 1, 1>} {
    %z = arith.constant 0 : index
    %t = tile.fill %w : f32 -> !Single
    tile.store %t, %s[%z, %z] {vector = 2 : i64} : !Single, !G32
    %r = tile.fill %v : f16 -> !Row
    tile.store %r, %g[%z, %z] {vector = 8 : i64} : !Row, !G
    %b = tile.alloc_shared : memref<128x128xf32, #tile.shared<"none">>
    tile.store %t, %b[%z, %z] : !Single, memref<128x128xf32, #tile.shared<"none">>
    gpu.return
  }

  // No room beside a buffer that is needed before and after.
  // CHECK-LABEL: gpu.func @full(
  // CHECK-NOT: tile.convert_layout
  // CHECK: gpu.return
  // REMARK: coalesced 8 and 128: no room in shared memory for a conversion
  gpu.func @full(%g: !G, %v: f16) kernel attributes {tile.automatic, known_block_size = array<i32: 256, 1, 1>} {
    %z = arith.constant 0 : index
    %b = tile.alloc_shared : !B
    %t = tile.fill %v : f16 -> !Half
    tile.store %t, %b[%z, %z, %z] : !Half, !B
    tile.store %t, %g[%z, %z] {vector = 8 : i64} : !Half, !G
    %u = tile.load %b[%z, %z, %z] : !B -> !Half
    gpu.return
  }

  // CHECK-LABEL: gpu.func @by_hand(
  // CHECK-NOT: tile.convert_layout
  // CHECK: gpu.return
  gpu.func @by_hand(%g: !G, %v: f16) kernel attributes {known_block_size = array<i32: 256, 1, 1>} {
    %z = arith.constant 0 : index
    %t = tile.fill %v : f16 -> !Half
    tile.store %t, %g[%z, %z] {vector = 8 : i64} : !Half, !G
    gpu.return
  }
}
