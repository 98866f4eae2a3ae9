"""`tilec.tools.to_custom`: programs, and what FileCheck looks for, in their custom form."""

from __future__ import annotations

from pathlib import Path

from tilec.tools.to_custom import main

OLD = """\
!G = memref<?x?xf16>
func.func @f(%m: !G, %i: index) {
  // CHECK: %[[T:.*]] = "tile.load"(%{{.*}}, %[[I:.*]], %[[I]]) {masked, vector = 2 : i64} : (
  // CHECK-NEXT: "tile.store"(%[[T]], %{{.*}}, %[[I]], %[[I]]) {masked}
  // CHECK-NOT: "tile.fill"
  // It was "tile.load"(%m).
  %t = "tile.load"(%m, %i, %i) {masked, vector = 2 : i64}
      : (!G, index, index) -> tensor<16x8xf16>
  "tile.store"(%t, %m, %i, %i) {masked} : (tensor<16x8xf16>, !G, index, index) -> () // after
  return
}
"""
NEW = """\
!G = memref<?x?xf16>
func.func @f(%m: !G, %i: index) {
  // CHECK: %[[T:.*]] = tile.load %{{.*}}[%[[I:.*]], %[[I]]] masked {vector = 2 : i64}
  // CHECK-NEXT: tile.store %[[T]], %{{.*}}[%[[I]], %[[I]]] masked
  // CHECK-NOT: tile.fill
  // It was "tile.load"(%m).
  %t = tile.load %m[%i, %i] masked {vector = 2 : i64} : !G -> tensor<16x8xf16>
  tile.store %t, %m[%i, %i] masked : tensor<16x8xf16>, !G // after
  return
}
"""


def test_a_file_is_rewritten(tmp_path: Path) -> None:
    path = tmp_path / "old.mlir"
    path.write_text(OLD)
    assert main([str(path)]) == 0
    assert path.read_text() == NEW
    assert main([str(path)]) == 0
    assert path.read_text() == NEW
