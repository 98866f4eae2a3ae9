"""Programs that went wrong once, with the mend taken out: they are reduced, unattended.

Each is a program that was found by hand, and its mend a function that is replaced by what was done
before: a fault of the compiler as it was, not one made for the test.
"""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from tilec.dialects.semantics import Scope, scope_of
from tilec.dialects.tile.ops import dots
from tilec.isa import target
from tilec.passes import check_divergence
from tilec.passes.analysis import buffer_lifetimes
from tilec.pipelines import pipeline
from tilec.reduction import Failure, Interest, Validation, reduce_text

REPROS = Path(__file__).resolve().parents[4] / "shared" / "repros" / "wrong"
LINES = 15
PASSES = tuple(map(str, pipeline(target("sm_80")).tile))
MATMUL = """
gpu.module @m [#nvvm.target<chip = "sm_80">] {
  gpu.func @k(%a: memref<64x64xf16> {tile.aligned = 16 : i64},
              %m: memref<64x64xf16> {tile.aligned = 16 : i64},
              %h: memref<64x64xf16> {tile.aligned = 16 : i64}, %n: index,
              %b: memref<64x64xi8>, %o: memref<?x?xf32>, %p: memref<64x64xi32>)
      kernel attributes {known_block_size = array<i32: 128, 1, 1>} {
    %i = arith.constant 0 : index
    %z = arith.constant dense<0.0> : tensor<64x64xf32>
    %y = arith.constant dense<1> : tensor<64x64xi32>
    %x = tile.load %a[%i, %i] masked : memref<64x64xf16> -> tensor<64x64xf16>
    %w = tile.load %m[%i, %i] masked : memref<64x64xf16> -> tensor<64x64xf16>
    %v = tile.load %h[%i, %i] masked : memref<64x64xf16> -> tensor<64x64xf16>
    %u = tile.load %b[%i, %i] : memref<64x64xi8> -> tensor<64x64xi8>
    %d = tile.dot %x, %w, %z : tensor<64x64xf16>, tensor<64x64xf16>, tensor<64x64xf32>
    %e = tile.dot %v, %w, %z : tensor<64x64xf16>, tensor<64x64xf16>, tensor<64x64xf32>
    %g = tile.dot %u, %u, %y SIGNS : tensor<64x64xi8>, tensor<64x64xi8>, tensor<64x64xi32>
    %lane = gpu.lane_id
    %c = arith.cmpi eq, %lane, %n : index
DIVERGENT    tile.store RESULT, %o[%i, %i] masked : tensor<64x64xf32>, memref<?x?xf32>
    tile.store %g, %p[%i, %i] : tensor<64x64xi32>, memref<64x64xi32>
    gpu.return
  }
}
"""


DEAD = """
gpu.module @m [#nvvm.target<chip = "sm_80">] {
  gpu.func @k(%a: memref<64x32xf16> {tile.aligned = 16 : i64},
              %b: memref<32x64xf16> {tile.aligned = 16 : i64},
              %c: memref<64x32xf16> {tile.aligned = 16 : i64}, %o: memref<?x?xf32>)
      kernel attributes {known_block_size = array<i32: 128, 1, 1>} {
    %i = arith.constant 0 : index
    %z = arith.constant dense<0.0> : tensor<64x64xf32>
    %x = tile.load %a[%i, %i] masked : memref<64x32xf16> -> tensor<64x32xf16>
    %y = tile.load %b[%i, %i] masked : memref<32x64xf16> -> tensor<32x64xf16>
    %w = tile.load %c[%i, %i] masked : memref<64x32xf16> -> tensor<64x32xf16>
    %d = tile.dot %x, %y, %z : tensor<64x32xf16>, tensor<32x64xf16>, tensor<64x64xf32>
    %e = tile.dot %w, %y, %z : tensor<64x32xf16>, tensor<32x64xf16>, tensor<64x64xf32>
    %n = arith.negf %e : tensor<64x64xf32>
    tile.store %n, %o[%i, %i] masked : tensor<64x64xf32>, memref<?x?xf32>
    gpu.return
  }
}
"""
BRANCH = """\
    %r = scf.if %c -> tensor<64x64xf32> {
      %s = tile.dot %x, %x, %e : tensor<64x64xf16>, tensor<64x64xf16>, tensor<64x64xf32>
      scf.yield %s : tensor<64x64xf32>
    } else {
      scf.yield %e : tensor<64x64xf32>
    }
"""


def program(*, divergent: bool = False, signs: str = "") -> str:
    """The project's own program for a fault."""
    branch, result = (BRANCH, "%r") if divergent else ("", "%e")
    made = MATMUL.replace("DIVERGENT", branch).replace("RESULT", result)
    return made.replace("SIGNS", signs)


def shared(name: str) -> str:
    """A program as it was found."""
    path = REPROS / name
    if not path.is_file():
        pytest.skip(f"{name} lies in a folder beside the project, which is not there")
    return path.read_text(encoding="utf-8")


def no_copies(monkeypatch: pytest.MonkeyPatch) -> Interest:
    """A buffer is given away while an asynchronous copy to it is under way."""
    monkeypatch.setattr(buffer_lifetimes, "copies_async", lambda use, target: False)
    return Validation(PASSES, "^pass 'tile-reuse-shared'")


TakeOut = Callable[[pytest.MonkeyPatch], None]


def refusal(matches: str, take_out: TakeOut, monkeypatch: pytest.MonkeyPatch) -> Interest:
    """With the mend a program is refused, and without it is taken."""
    before = PASSES[: PASSES.index("tile-check-divergence") + 1]
    refused = Failure(before, matches)

    def interest(text: str) -> bool:
        if not refused(text):
            return False
        with monkeypatch.context() as patch:
            take_out(patch)
            return not Failure(before, "")(text)

    return interest


def no_products(monkeypatch: pytest.MonkeyPatch) -> Interest:
    """Products stand where lanes of a warp go different ways."""

    def forgetful(op: Any) -> Scope:
        return Scope.LANE if op.operation.name.startswith("tile.dot") else scope_of(op)

    return refusal(
        "'tile.dot(_sp)?' op is executed by whole",
        lambda patch: patch.setattr(check_divergence, "scope_of", forgetful),
        monkeypatch,
    )


def no_signs(monkeypatch: pytest.MonkeyPatch) -> Interest:
    """A form multiplies as signed what is said to be unsigned."""
    return refusal(
        "takes s8 as a, whose integers are unsigned",
        lambda patch: patch.setattr(dots, "check_signs", lambda form, unsigned: None),
        monkeypatch,
    )


FORM = '{form = "mma.sync.aligned.m16n8k32.row.col.s32.s8.s8.s32", unsigned_a}'
CASES: dict[str, tuple[Callable[[], str], Callable[[pytest.MonkeyPatch], Interest]]] = {
    "dead product": (lambda: DEAD, no_copies),
    "divergence": (lambda: program(divergent=True), no_products),
    "signs": (lambda: program(signs=FORM), no_signs),
    "01_dead_dot_async.mlir": (lambda: shared("01_dead_dot_async.mlir"), no_copies),
    "03_unsigned_with_signed_form.mlir": (
        lambda: shared("03_unsigned_with_signed_form.mlir"),
        no_signs,
    ),
    "sparse_product_under_divergence.mlir": (
        lambda: shared("sparse_product_under_divergence.mlir"),
        no_products,
    ),
}


@pytest.mark.parametrize("name", CASES)
def test_what_is_left_is_small(name: str, monkeypatch: pytest.MonkeyPatch) -> None:
    text, mend = CASES[name]
    given = text()
    interest = mend(monkeypatch)
    found = reduce_text(given, interest)
    assert interest(found)
    assert len([line for line in found.split("\n") if line.strip()]) < LINES
    if isinstance(interest, Validation):  # the others look at both themselves
        monkeypatch.undo()
        assert not interest(found)
