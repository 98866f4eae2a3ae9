"""Every pass of the registry is documented, has a lit file of its own, and may run twice."""

from __future__ import annotations

from dataclasses import fields
from pathlib import Path

import pytest
from tilec.frontend.contexts import new_context
from tilec.frontend.parsing import parse
from tilec.passes.pipeline import run_pipeline
from tilec.passes.registry import PASSES, pass_class
from tilec.report.diagnostics import SOURCE, Source
from tilec.report.printing import to_text

LIT = Path(__file__).parents[2] / "lit" / "passes"
PROGRAM = """
!A = tensor<16x16xf16, #tile.layout<"m16n8k16 a f16">>
!B = tensor<16x8xf16, #tile.layout<"m16n8k16 b f16">>
!C = tensor<16x8xf32, #tile.layout<"m16n8k16 c f32">>
gpu.module @m [#nvvm.target<chip = "sm_80">] {
  gpu.func @k(%a: memref<16x16xf16>, %b: memref<16x8xf16>, %c: memref<16x8xf32>)
      kernel attributes {known_block_size = array<i32: 32, 1, 1>} {
    %z = arith.constant 0 : index
    %ta = "tile.load"(%a, %z, %z) : (memref<16x16xf16>, index, index) -> !A
    %tb = "tile.load"(%b, %z, %z) : (memref<16x8xf16>, index, index) -> !B
    %tc = "tile.load"(%c, %z, %z) : (memref<16x8xf32>, index, index) -> !C
    %td = "tile.dot"(%ta, %tb, %tc)
        {form = "mma.sync.aligned.m16n8k16.row.col.f32.f16.f16.f32"} : (!A, !B, !C) -> !C
    %te = math.absf %td : !C
    "tile.store"(%te, %c, %z, %z) : (!C, memref<16x8xf32>, index, index) -> ()
    gpu.return
  }
}
"""


@pytest.mark.parametrize("name", PASSES)
def test_documented_and_tested(name: str) -> None:
    found = pass_class(name)
    text = found.__doc__ or ""
    assert "In" in text
    assert "out:" in text.lower()
    for option in fields(found):
        assert f"{option.name}:" in text
    stem = name.removeprefix("tile-").replace("-", "_")
    files = list(LIT.glob(f"{stem}*.mlir"))
    assert any(f"{name}" in path.read_text(encoding="utf-8") for path in files)


def test_every_pass_may_run_twice() -> None:
    """What a pass leaves, it leaves alone the next time, as any clean-up between them might."""
    module = parse(Source(SOURCE, PROGRAM), new_context())
    for name in PASSES:
        run_pipeline(module, name, verify_each=True)
        once = to_text(module)
        run_pipeline(module, name, verify_each=True)
        assert to_text(module) == once, name
