// RUN: tile-opt %s --mlir-print-debuginfo | FileCheck %s

// Ops keep line and column, on lines of their own or after others.
func.func @places(%i: index, %p: i1) {
  tile.async_commit  tile.async_wait 2 loc("named":7:8)  tile.async_wait 3
  scf.if %p { tile.async_wait 4 tile.async_commit }
  %a = arith.constant {note = "tile.load {"} 0 : index // tile.load {
  tile.async_commit loc(fused["x":1:2, "y":3:4])
  return
}
// CHECK: tile.async_commit loc(#[[A:.*]])
// CHECK-NEXT: tile.async_wait 2 loc(#[[B:.*]])
// CHECK-NEXT: tile.async_wait 3 loc(#[[C:.*]])
// CHECK: tile.async_wait 4 loc(#[[D:.*]])
// CHECK-NEXT: tile.async_commit loc(#[[E:.*]])
// CHECK: tile.async_commit loc(#[[F:.*]])
// CHECK-DAG: #[[A]] = loc("{{.*}}locations.mlir":5:3)
// CHECK-DAG: #[[B]] = loc("named":7:8)
// CHECK-DAG: #[[C]] = loc("{{.*}}locations.mlir":5:58)
// CHECK-DAG: #[[D]] = loc("{{.*}}locations.mlir":6:15)
// CHECK-DAG: #[[E]] = loc("{{.*}}locations.mlir":6:33)
// CHECK-DAG: #[[F]] = loc(fused[
