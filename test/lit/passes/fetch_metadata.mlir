// RUN: tile-opt %s --pass-pipeline='builtin.module(tile-infer-vectors,tile-select-wgmma,tile-select-mma,tile-stage-wgmma,tile-assign-layouts,tile-fetch-metadata)' --remarks 2>%t.err | FileCheck %s
// RUN: FileCheck %s --input-file %t.err --check-prefix=WHY

// Metadata of the next round are loaded before this one's products, with a mask or where there is a
// next round; not where the loop may write them, or where their place depends on what it carries.

!Array = memref<?x?xf16, strided<[?, 1]>>
!Codes = memref<?x?xi8, strided<[?, 1]>>
!Out = memref<?x?xf32>
!A = tensor<128x32xf16>
!B = tensor<64x128xf16>
!D = tensor<128x128xf32>
!E = tensor<128x16xi4>

gpu.module @m [#nvvm.target<chip = "sm_90a">] {
  // CHECK-LABEL: gpu.func @masked
  // CHECK: %[[FIRST:[0-9]+]] = tile.load %{{.*}}[%c0, %{{.*}}] masked {{.*}} -> tensor<128x16xi4
  // CHECK: scf.for %[[K:.*]] = %c0 to %{{.*}} step %c64 iter_args(%[[SUM:.*]] = %{{.*}}, %[[E:.*]] = %[[FIRST]])
  // CHECK: %[[AT:.*]] = arith.addi %[[K]], %c64
  // CHECK: %[[BYTE:.*]] = arith.divui %[[AT]], %c8
  // CHECK: %[[NEXT:[0-9]+]] = tile.load %{{.*}}[%c0, %[[BYTE]]] masked
  // CHECK: %[[D:.*]] = tile.warpgroup_dot_sp {{.*}}, %[[SUM]], %[[E]] {
  // CHECK: scf.yield %[[D]], %[[NEXT]]
  // WHY: 'tile.load' op is made a round ahead: the loop carries its tile
  gpu.func @masked(%a: !Array, %e: !Codes, %b: !Array, %c: !Out {llvm.noalias}, %depth: index) kernel attributes {known_block_size = array<i32: 256, 1, 1>} {
    %c0 = arith.constant 0 : index
    %c2 = arith.constant 2 : index
    %c8 = arith.constant 8 : index
    %c64 = arith.constant 64 : index
    %zero = arith.constant dense<0.0> : !D
    %sum = scf.for %k = %c0 to %depth step %c64 iter_args(%old = %zero) -> (!D) {
      %half = arith.divui %k, %c2 : index
      %byte = arith.divui %k, %c8 : index
      %ta = tile.load %a[%c0, %half] masked : !Array -> !A
      %te = tile.load %e[%c0, %byte] masked : !Codes -> !E
      %tb = tile.load %b[%k, %c0] masked : !Array -> !B
      %new = tile.dot_sp %ta, %tb, %old, %te : !A, !B, !D, !E
      scf.yield %new : !D
    }
    tile.store %sum, %c[%c0, %c0] masked : !D, !Out
    gpu.return
  }

  // CHECK-LABEL: gpu.func @whole
  // CHECK: %[[SOME:.*]] = arith.cmpi slt, %c0, %[[DEPTH:.*]] :
  // CHECK: scf.if %[[SOME]]
  // CHECK: scf.for
  // CHECK: %[[THERE:.*]] = arith.cmpi slt, %{{.*}}, %[[DEPTH]]
  // CHECK: %[[NEXT:.*]] = scf.if %[[THERE]]
  // CHECK-NEXT: arith.divui
  // CHECK-NEXT: tile.load
  // CHECK: tile.warpgroup_dot_sp
  // CHECK: scf.yield %{{.*}}, %[[NEXT]]
  gpu.func @whole(%a: !Array, %e: !Codes, %b: !Array, %c: !Out {llvm.noalias}, %depth: index) kernel attributes {known_block_size = array<i32: 256, 1, 1>} {
    %c0 = arith.constant 0 : index
    %c2 = arith.constant 2 : index
    %c8 = arith.constant 8 : index
    %c64 = arith.constant 64 : index
    %zero = arith.constant dense<0.0> : !D
    %sum = scf.for %k = %c0 to %depth step %c64 iter_args(%old = %zero) -> (!D) {
      %half = arith.divui %k, %c2 : index
      %byte = arith.divui %k, %c8 : index
      %ta = tile.load %a[%c0, %half] : !Array -> !A
      %te = tile.load %e[%c0, %byte] : !Codes -> !E
      %tb = tile.load %b[%k, %c0] : !Array -> !B
      %new = tile.dot_sp %ta, %tb, %old, %te : !A, !B, !D, !E
      scf.yield %new : !D
    }
    tile.store %sum, %c[%c0, %c0] : !D, !Out
    gpu.return
  }

  // CHECK-LABEL: gpu.func @carried_place
  // CHECK: scf.for
  // CHECK: %[[OWN:[0-9]+]] = tile.load {{.*}} -> tensor<128x16xi4
  // CHECK: tile.warpgroup_dot_sp {{.*}}, %[[OWN]] {
  // WHY: 'tile.load' op is waited for in each round: its indices depend on more than the loop's counter
  gpu.func @carried_place(%a: !Array, %e: !Codes, %b: !Array, %c: !Out {llvm.noalias}, %depth: index) kernel attributes {known_block_size = array<i32: 256, 1, 1>} {
    %c0 = arith.constant 0 : index
    %c2 = arith.constant 2 : index
    %c8 = arith.constant 8 : index
    %c64 = arith.constant 64 : index
    %zero = arith.constant dense<0.0> : !D
    %sum:2 = scf.for %k = %c0 to %depth step %c64 iter_args(%old = %zero, %byte = %c0) -> (!D, index) {
      %half = arith.divui %k, %c2 : index
      %ta = tile.load %a[%c0, %half] masked : !Array -> !A
      %te = tile.load %e[%c0, %byte] masked : !Codes -> !E
      %tb = tile.load %b[%k, %c0] masked : !Array -> !B
      %new = tile.dot_sp %ta, %tb, %old, %te : !A, !B, !D, !E
      %next = arith.addi %byte, %c8 : index
      scf.yield %new, %next : !D, index
    }
    tile.store %sum#0, %c[%c0, %c0] masked : !D, !Out
    gpu.return
  }

  // CHECK-LABEL: gpu.func @written
  // CHECK: scf.for
  // CHECK: %[[OWN:[0-9]+]] = tile.load {{.*}} -> tensor<128x16xi4
  // CHECK: tile.warpgroup_dot_sp {{.*}}, %[[OWN]] {
  // WHY: 'tile.load' op is waited for in each round: 'memref.store' in the loop may write what it reads
  gpu.func @written(%a: !Array, %e: !Codes, %b: !Array, %c: !Out {llvm.noalias}, %depth: index, %code: i8) kernel attributes {known_block_size = array<i32: 256, 1, 1>} {
    %c0 = arith.constant 0 : index
    %c2 = arith.constant 2 : index
    %c8 = arith.constant 8 : index
    %c64 = arith.constant 64 : index
    %zero = arith.constant dense<0.0> : !D
    %sum = scf.for %k = %c0 to %depth step %c64 iter_args(%old = %zero) -> (!D) {
      %half = arith.divui %k, %c2 : index
      %byte = arith.divui %k, %c8 : index
      memref.store %code, %e[%c0, %byte] : !Codes
      %ta = tile.load %a[%c0, %half] masked : !Array -> !A
      %te = tile.load %e[%c0, %byte] masked : !Codes -> !E
      %tb = tile.load %b[%k, %c0] masked : !Array -> !B
      %new = tile.dot_sp %ta, %tb, %old, %te : !A, !B, !D, !E
      scf.yield %new : !D
    }
    tile.store %sum, %c[%c0, %c0] masked : !D, !Out
    gpu.return
  }
}
