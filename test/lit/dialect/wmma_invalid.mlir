// RUN: tile-opt %s --split-input-file --verify-diagnostics

func.func @unknown_fragment(%x: f16) {
  // expected-error @below {{'tile.wmma_fill' op unknown wmma fragment 'm16n16k16 a f16'; nearest legal: m16n16k16}}
  %0 = tile.wmma_fill %x : f16 -> !tile.wmma<"m16n16k16 a f16">
  return
}

// -----

func.func @fill_type(%x: f32) {
  // expected-error @below {{'tile.wmma_fill' op the scalar must be of type f16, not f32}}
  %0 = tile.wmma_fill %x : f32 -> !tile.wmma<"m16n16k16 a row f16">
  return
}

// -----

func.func @fill_result(%x: f32) {
  // expected-error @below {{'tile.wmma_fill' op must be a !tile.wmma, not vector<4xf32>}}
  %0 = tile.wmma_fill %x : f32 -> vector<4xf32>
  return
}

// -----

!A = !tile.wmma<"m16n16k16 a row f16">
func.func @load_family(%m: memref<16x16xf16>, %i: index) {
  // expected-error @below {{'tile.wmma_load' op takes a form of wmma.load; ldmatrix.sync.aligned.m8n8.x4.b16 is one of ldmatrix}}
  %0 = tile.wmma_load %m[%i, %i] {form = "ldmatrix.sync.aligned.m8n8.x4.b16"}
      : memref<16x16xf16> -> !A
  return
}

// -----

!B = !tile.wmma<"m16n16k16 b row f16">
func.func @load_fragment(%m: memref<16x16xf16>, %i: index) {
  // expected-error @below {{'tile.wmma_load' op operand a of wmma.load.a.sync.aligned.row.m16n16k16.f16 is a !tile.wmma<"m16n16k16 a row f16">, not !tile.wmma<"m16n16k16 b row f16">}}
  %0 = tile.wmma_load %m[%i, %i] {form = "wmma.load.a.sync.aligned.row.m16n16k16.f16"}
      : memref<16x16xf16> -> !B
  return
}

// -----

!A = !tile.wmma<"m16n16k16 a row f16">
func.func @load_rank(%m: memref<256xf16>, %i: index) {
  // expected-error @below {{'tile.wmma_load' op a matrix needs a memref of rank 2 or more, not memref<256xf16>}}
  %0 = tile.wmma_load %m[%i] {form = "wmma.load.a.sync.aligned.row.m16n16k16.f16"}
      : memref<256xf16> -> !A
  return
}

// -----

!A = !tile.wmma<"m16n16k16 a row f16">
func.func @load_indices(%m: memref<16x16xf16>, %i: index) {
  // expected-error @below {{'tile.wmma_load' op the access takes 2 indices, one per dimension, not 1}}
  %0 = tile.wmma_load %m[%i] {form = "wmma.load.a.sync.aligned.row.m16n16k16.f16"}
      : memref<16x16xf16> -> !A
  return
}

// -----

!A = !tile.wmma<"m16n16k16 a row f16">
func.func @load_element_type(%m: memref<16x16xbf16>, %i: index) {
  // expected-error @below {{'tile.wmma_load' op wmma.load.a.sync.aligned.row.m16n16k16.f16 takes a memref of f16, not memref<16x16xbf16>}}
  %0 = tile.wmma_load %m[%i, %i] {form = "wmma.load.a.sync.aligned.row.m16n16k16.f16"}
      : memref<16x16xbf16> -> !A
  return
}

// -----

!A = !tile.wmma<"m16n16k16 a row f16">
func.func @load_swizzled(%m: memref<16x64xf16, #tile.shared<"128B">>, %i: index) {
  // expected-error @below {{'tile.wmma_load' op wmma.load.a.sync.aligned.row.m16n16k16.f16 cannot read swizzled memory; take #tile.shared<"none">}}
  %0 = tile.wmma_load %m[%i, %i] {form = "wmma.load.a.sync.aligned.row.m16n16k16.f16"}
      : memref<16x64xf16, #tile.shared<"128B">> -> !A
  return
}

// -----

!A = !tile.wmma<"m16n16k16 a row f16">
func.func @load_last_stride(%m: memref<16x16xf16, strided<[32, 2]>>, %i: index) {
  // expected-error @below {{'tile.wmma_load' op the last dimension of memref<16x16xf16, strided<[32, 2]>> is not contiguous}}
  %0 = tile.wmma_load %m[%i, %i] {form = "wmma.load.a.sync.aligned.row.m16n16k16.f16"}
      : memref<16x16xf16, strided<[32, 2]>> -> !A
  return
}

// -----

!A = !tile.wmma<"m16n16k16 a row f16">
func.func @load_stride_alignment(%m: memref<16x20xf16>, %i: index) {
  // expected-error @below {{'tile.wmma_load' op rows of memref<16x20xf16> are 40 bytes apart; wmma.load.a.sync.aligned.row.m16n16k16.f16 needs a multiple of}}
  %0 = tile.wmma_load %m[%i, %i] {form = "wmma.load.a.sync.aligned.row.m16n16k16.f16"}
      : memref<16x20xf16> -> !A
  return
}

// -----

!A = !tile.wmma<"m16n16k16 a row f16">
func.func @load_stride_too_short(%m: memref<16x16xf16, strided<[0, 1]>>, %i: index) {
  // expected-error @below {{'tile.wmma_load' op rows of memref<16x16xf16, strided<[0, 1]>> are 0 elements apart; wmma.load.a.sync.aligned.row.m16n16k16.f16 needs at least 16}}
  %0 = tile.wmma_load %m[%i, %i] {form = "wmma.load.a.sync.aligned.row.m16n16k16.f16"}
      : memref<16x16xf16, strided<[0, 1]>> -> !A
  return
}

// -----

!A = !tile.wmma<"m16n16k16 a row f16">
!B = !tile.wmma<"m16n16k16 b row f16">
!C = !tile.wmma<"m16n16k16 c f32">
func.func @product_majors(%a: !A, %b: !B, %c: !C) {
  // expected-error @below {{'tile.wmma_mma' op operand b of wmma.mma.sync.aligned.row.col.m16n16k16.f32.f32 is a !tile.wmma<"m16n16k16 b col f16">, not !tile.wmma<"m16n16k16 b row f16">}}
  %d = tile.wmma_mma %a, %b, %c {form = "wmma.mma.sync.aligned.row.col.m16n16k16.f32.f32"}
      : !A, !B, !C
  return
}

// -----

!A = !tile.wmma<"m16n16k16 a row f16">
!B = !tile.wmma<"m16n16k16 b row f16">
!C = !tile.wmma<"m16n16k16 c f32">
func.func @product_result(%a: !A, %b: !B, %c: !C) {
  // expected-error @below {{'tile.wmma_mma' op operand d of wmma.mma.sync.aligned.row.row.m16n16k16.f16.f32 is a !tile.wmma<"m16n16k16 c f16">, not !tile.wmma<"m16n16k16 c f32">}}
  %d = tile.wmma_mma %a, %b, %c {form = "wmma.mma.sync.aligned.row.row.m16n16k16.f16.f32"}
      : !A, !B, !C
  return
}

// -----

!A = !tile.wmma<"m16n16k16 a row f16">
!C = !tile.wmma<"m16n16k16 c f32">
func.func @product_family(%a: !A, %c: !C) {
  // expected-error @below {{'tile.wmma_mma' op takes a form of wmma.mma; mma.sync.aligned.m16n8k16.row.col.f32.f16.f16.f32 is one of mma}}
  %d = tile.wmma_mma %a, %a, %c {form = "mma.sync.aligned.m16n8k16.row.col.f32.f16.f16.f32"}
      : !A, !A, !C
  return
}

// -----

!C = !tile.wmma<"m16n16k16 c f32">
func.func @store_fragment(%c: !C, %m: memref<16x16xf16>, %i: index) {
  // expected-error @below {{'tile.wmma_store' op operand d of wmma.store.d.sync.aligned.row.m16n16k16.f16 is a !tile.wmma<"m16n16k16 c f16">, not !tile.wmma<"m16n16k16 c f32">}}
  tile.wmma_store %c, %m[%i, %i] {form = "wmma.store.d.sync.aligned.row.m16n16k16.f16"}
      : !C, memref<16x16xf16>
  return
}

// -----

!C = !tile.wmma<"m16n16k16 c f32">
func.func @store_target(%c: !C, %m: !llvm.ptr, %i: index) {
  // expected-error @below {{'tile.wmma_store' op target must be a ranked memref, not !llvm.ptr}}
  tile.wmma_store %c, %m[%i, %i] {form = "wmma.store.d.sync.aligned.row.m16n16k16.f32"}
      : !C, !llvm.ptr
  return
}

// -----

!C = !tile.wmma<"m16n16k16 c f32">
func.func @elementwise_name(%c: !C) {
  // expected-error @below {{'tile.wmma_elementwise' op unknown elementwise op 'arith.add'; nearest legal: arith.addf, arith.addi,}}
  %d = tile.wmma_elementwise arith.add %c, %c : !C
  return
}

// -----

!C = !tile.wmma<"m16n16k16 c f32">
func.func @elementwise_operands(%c: !C) {
  // expected-error @below {{'tile.wmma_elementwise' op math.fma takes 3 operands, not 2}}
  %d = tile.wmma_elementwise math.fma %c, %c : !C
  return
}

// -----

!C = !tile.wmma<"m16n16k16 c f32">
!H = !tile.wmma<"m16n16k16 c f16">
func.func @elementwise_types(%c: !C, %h: !H) {
  // expected-error @below {{'tile.wmma_elementwise' op operands and result must be of one type: !tile.wmma<"m16n16k16 c f16"> and !tile.wmma<"m16n16k16 c f32">}}
  %d = "tile.wmma_elementwise"(%c, %h) {fn = "arith.addf"} : (!C, !H) -> !C
  return
}

// -----

!C = !tile.wmma<"m16n16k16 c s32">
func.func @elementwise_kind(%c: !C) {
  // expected-error @below {{'tile.wmma_elementwise' op arith.addf takes floating-point elements, not i32}}
  %d = tile.wmma_elementwise arith.addf %c, %c : !C
  return
}

// -----

// The other ops say why they cannot take one.
!C = !tile.wmma<"m16n16k16 c f32">
func.func @no_layout(%c: !C) {
  // expected-error @below {{is a wmma fragment: the positions of its elements are not defined, so only the tile.wmma ops take it}}
  %d = tile.slice %c[0] : !C -> !C
  return
}

// -----

!A = !tile.wmma<"m16n16k8 a row tf32">
func.func @elementwise_tf32(%a: !A) {
  // expected-error @below {{'tile.wmma_elementwise' op no arithmetic on tf32: cast it first; legal: integers, f64, f32, f16, bf16}}
  %0 = tile.wmma_elementwise arith.mulf %a, %a : !A
  return
}
