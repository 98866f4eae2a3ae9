// Every stage of one program, on one target and another, at every optimisation level.
// RUN: tilec %S/Inputs/scale.mlir --emit tile | FileCheck %s --check-prefix=TILE
// RUN: tilec %S/Inputs/scale.mlir --emit nvvm | FileCheck %s --check-prefix=NVVM
// RUN: tilec %S/Inputs/scale.mlir --emit llvm | FileCheck %s --check-prefix=LLVM
// RUN: tilec %S/Inputs/scale.mlir | FileCheck %s --check-prefix=PTX
// RUN: tilec - < %S/Inputs/scale.mlir | FileCheck %s --check-prefix=PTX
// RUN: tilec %S/Inputs/scale.mlir --target sm_90a -O1 | FileCheck %s --check-prefix=HOPPER
// RUN: tilec %S/Inputs/scale.mlir --target sm_120f -O0 | FileCheck %s --check-prefix=BLACKWELL

// TILE: gpu.func @scale(%{{[A-Za-z0-9_]+}}: memref<?x64xf32, strided<[?, 1]>>, %{{[A-Za-z0-9_]+}}: f32) kernel
// NVVM: llvm.func @scale(%{{[A-Za-z0-9_]+}}: !llvm.ptr, %{{[A-Za-z0-9_]+}}: i64, %{{[A-Za-z0-9_]+}}: i64, %{{[A-Za-z0-9_]+}}: f32)
// NVVM: nvvm.read.ptx.sreg.ctaid.x
// LLVM: target triple = "nvptx64-nvidia-cuda"
// LLVM: define ptx_kernel void @scale(ptr %{{.*}}, i64 %{{.*}}, i64 %{{.*}}, float %{{.*}})
// PTX: .version 7.0
// PTX: .target sm_80
// PTX: .visible .entry scale(
// PTX: .maxntid 64, 1, 1
// PTX: mul.rn.f32
// HOPPER: .version 8.0
// HOPPER: .target sm_90a
// BLACKWELL: .version 8.8
// BLACKWELL: .target sm_120f

// A stage is worth nothing that the next tool does not take.
// RUN: tilec %S/Inputs/scale.mlir --emit tile | tilec --emit nvvm | FileCheck %s --check-prefix=NVVM
