// RUN: tile-opt %s --tile-kernel-abi | FileCheck %s
// RUN: tile-opt %s --tile-kernel-abi --tile-kernel-abi | FileCheck %s

gpu.module @m {
  // Of each memref a pointer, then what its type leaves open: sizes, strides, offset.
  // CHECK-LABEL: gpu.func @memrefs(
  // CHECK-SAME: %[[A:[A-Za-z0-9_]+]]: !llvm.ptr, %[[A0:[A-Za-z0-9_]+]]: i64,
  // CHECK-SAME: %[[B:[A-Za-z0-9_]+]]: !llvm.ptr,
  // CHECK-SAME: %[[C:[A-Za-z0-9_]+]]: !llvm.ptr, %[[C0:[A-Za-z0-9_]+]]: i64, %[[C1:[A-Za-z0-9_]+]]: i64, %[[CS:[A-Za-z0-9_]+]]: i64, %[[CO:[A-Za-z0-9_]+]]: i64,
  // CHECK-SAME: %[[D:[A-Za-z0-9_]+]]: !llvm.ptr<1>, %[[E:[A-Za-z0-9_]+]]: !llvm.ptr) kernel
  // CHECK-SAME: {\22name\22: \22arg0\22, \22kind\22: \22memref\22, \22type\22: \22f16\22, \22shape\22: [null, 64], \22strides\22: [64, 1], \22offset\22: 0, \22space\22: 0}
  // CHECK-SAME: {\22name\22: \22arg1\22, \22kind\22: \22memref\22, \22type\22: \22f32\22, \22shape\22: [16, 8], \22strides\22: [8, 1], \22offset\22: 0, \22space\22: 0}
  // CHECK-SAME: {\22name\22: \22arg2\22, \22kind\22: \22memref\22, \22type\22: \22i8\22, \22shape\22: [null, null], \22strides\22: [null, 1], \22offset\22: null, \22space\22: 0}
  // CHECK-SAME: {\22name\22: \22arg3\22, \22kind\22: \22memref\22, \22type\22: \22f64\22, \22shape\22: [4], \22strides\22: [2], \22offset\22: 3, \22space\22: 1}
  // CHECK-SAME: {\22name\22: \22arg4\22, \22kind\22: \22memref\22, \22type\22: \22f32\22, \22shape\22: [], \22strides\22: [], \22offset\22: 0, \22space\22: 0}
  gpu.func @memrefs(%a: memref<?x64xf16>, %b: memref<16x8xf32>, %c: memref<?x?xi8, strided<[?, 1], offset: ?>>,
                    %d: memref<4xf64, strided<[2], offset: 3>, 1>, %e: memref<f32>) kernel {
    // Inside, each is the descriptor: the pointer twice, offset, sizes, strides.
    // CHECK: %[[K64:.*]] = llvm.mlir.constant(64 : i64) : i64
    // CHECK: %[[S64:.*]] = llvm.mlir.constant(64 : i64) : i64
    // CHECK: %[[S1:.*]] = llvm.mlir.constant(1 : i64) : i64
    // CHECK: %[[O0:.*]] = llvm.mlir.constant(0 : i64) : i64
    // CHECK: llvm.insertvalue %[[A]], %{{.*}}[0]
    // CHECK: llvm.insertvalue %[[A]], %{{.*}}[1]
    // CHECK: llvm.insertvalue %[[O0]], %{{.*}}[2]
    // CHECK: llvm.insertvalue %[[A0]], %{{.*}}[3, 0]
    // CHECK: llvm.insertvalue %[[K64]], %{{.*}}[3, 1]
    // CHECK: llvm.insertvalue %[[S64]], %{{.*}}[4, 0]
    // CHECK: %[[AD:.*]] = llvm.insertvalue %[[S1]], %{{.*}}[4, 1]
    // CHECK: %[[AM:.*]] = builtin.unrealized_conversion_cast %[[AD]] : {{.*}} to memref<?x64xf16>
    // CHECK: llvm.insertvalue %[[CO]], %{{.*}}[2]
    // CHECK: llvm.insertvalue %[[C0]], %{{.*}}[3, 0]
    // CHECK: llvm.insertvalue %[[C1]], %{{.*}}[3, 1]
    // CHECK: llvm.insertvalue %[[CS]], %{{.*}}[4, 0]
    // CHECK: %[[CD:.*]] = llvm.insertvalue %{{.*}}, %{{.*}}[4, 1]
    // CHECK: %[[CM:.*]] = builtin.unrealized_conversion_cast %[[CD]] : {{.*}} to memref<?x?xi8, strided<[?, 1], offset: ?>>
    // CHECK: llvm.insertvalue %[[D]], %{{.*}}[0] : !llvm.struct<(ptr<1>, ptr<1>, i64, array<1 x i64>, array<1 x i64>)>
    // CHECK: builtin.unrealized_conversion_cast %{{.*}} : !llvm.struct<(ptr, ptr, i64)> to memref<f32>
    // CHECK: memref.load %[[AM]]
    // CHECK: memref.load %[[CM]]
    %z = arith.constant 0 : index
    %x = memref.load %a[%z, %z] : memref<?x64xf16>
    %y = memref.load %c[%z, %z] : memref<?x?xi8, strided<[?, 1], offset: ?>>
    gpu.return
  }

  // Scalars stay; an index is 64 bits.
  // CHECK-LABEL: gpu.func @scalars(
  // CHECK-SAME: %[[N:[A-Za-z0-9_]+]]: i64, %{{[A-Za-z0-9_]+}}: f32, %{{[A-Za-z0-9_]+}}: bf16, %{{[A-Za-z0-9_]+}}: i32, %{{[A-Za-z0-9_]+}}: !llvm.ptr<1>) kernel
  // CHECK-SAME: {\22name\22: \22arg0\22, \22kind\22: \22scalar\22, \22type\22: \22i64\22}
  // CHECK-SAME: {\22name\22: \22arg1\22, \22kind\22: \22scalar\22, \22type\22: \22f32\22}
  // CHECK-SAME: {\22name\22: \22arg2\22, \22kind\22: \22scalar\22, \22type\22: \22bf16\22}
  // CHECK-SAME: {\22name\22: \22arg3\22, \22kind\22: \22scalar\22, \22type\22: \22i32\22}
  // CHECK-SAME: {\22name\22: \22arg4\22, \22kind\22: \22pointer\22, \22type\22: \22ptr\22}
  gpu.func @scalars(%n: index, %x: f32, %y: bf16, %i: i32, %p: !llvm.ptr<1>) kernel {
    // CHECK: %[[INDEX:.*]] = arith.index_cast %[[N]] : i64 to index
    // CHECK: arith.addi %[[INDEX]], %[[INDEX]] : index
    %m = arith.addi %n, %n : index
    gpu.return
  }

  // Buffers that a kernel declares for itself are not arguments.
  // CHECK-LABEL: gpu.func @buffers(
  // CHECK-SAME: %[[N:[A-Za-z0-9_]+]]: i64) workgroup(%[[W:[A-Za-z0-9_]+]] : memref<32xf32, 3>) private(%[[P:[A-Za-z0-9_]+]] : memref<4xf32, 5>) kernel
  // CHECK-SAME: tile.abi = "[{\22name\22: \22arg0\22, \22kind\22: \22scalar\22, \22type\22: \22i64\22}]"
  gpu.func @buffers(%n: index) workgroup(%w: memref<32xf32, 3>) private(%p: memref<4xf32, 5>) kernel {
    // CHECK: %[[X:.*]] = memref.load %[[W]]
    // CHECK: memref.store %[[X]], %[[P]]
    %x = memref.load %w[%n] : memref<32xf32, 3>
    memref.store %x, %p[%n] : memref<4xf32, 5>
    gpu.return
  }

  // CHECK-LABEL: gpu.func @no_kernel(
  // CHECK-SAME: %{{[A-Za-z0-9_]+}}: memref<?xf16>) {
  gpu.func @no_kernel(%a: memref<?xf16>) {
    gpu.return
  }
}
