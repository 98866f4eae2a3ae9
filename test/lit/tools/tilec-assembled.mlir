// REQUIRES: ptxas, nvdisasm
// RUN: rm -rf %t && mkdir %t
// RUN: tilec %S/Inputs/scale.mlir --emit cubin -o %t/scale.cubin -v 2>&1 | FileCheck %s --check-prefix=REPORT
// RUN: FileCheck %s --check-prefix=ABI --input-file %t/scale.json
// RUN: tilec %S/Inputs/scale.mlir --emit sass | FileCheck %s --check-prefix=SASS
// RUN: tilec %S/Inputs/scale.mlir --emit sass --save-temps %t/temps -o %t/out.sass
// RUN: ls %t/temps | FileCheck %s --check-prefix=TEMPS

// REPORT: scale: sm_80, ptxas {{[0-9.]+}}: {{[0-9]+}} registers, 0 bytes spilled, 0 bytes of shared memory

// ABI: "target": "sm_80"
// ABI: "ptx": "7.0"
// ABI: "name": "scale"
// ABI: "kind": "memref"
// ABI: "type": "f32"
// ABI: "kind": "scalar"

// SASS: FMUL
// SASS: EXIT

// TEMPS: scale.cubin
// TEMPS: scale.ll
// TEMPS: scale.nvvm.mlir
// TEMPS: scale.ptx
// TEMPS: scale.sass
// TEMPS: scale.tile.mlir
