"""Texts of pass pipelines, on a small program."""

from __future__ import annotations

import random
from functools import cache

import mutations
import seeds
from case import Case, Reached
from contexts import compiled_once, context

_PROGRAM = """gpu.module @m [#nvvm.target<chip = "sm_80">] {
  gpu.func @k(%a: memref<16x16xf16>) kernel attributes {known_block_size = array<i32: 32, 1, 1>} {
    %c0 = arith.constant 0 : index
    %t = "tile.load"(%a, %c0, %c0) : (memref<16x16xf16>, index, index) -> tensor<16x16xf16>
    "tile.store"(%t, %a, %c0, %c0) : (tensor<16x16xf16>, memref<16x16xf16>, index, index) -> ()
    gpu.return
  }
}
"""
_UPSTREAM = (
    "canonicalize", "canonicalize{max-iterations=3}", "cse", "symbol-dce", "sccp", "inline",
    "gpu.module(gpu.func(cse))", "any(cse)", "convert-scf-to-cf", "loop-invariant-code-motion",
    "gpu.module(convert-gpu-to-nvvm)", "reconcile-unrealized-casts", "canonicalize{top-down=false}",
    "strip-debuginfo", "print-op-stats", "convert-to-llvm", "lower-affine",
    "expand-strided-metadata",
)  # fmt: skip


def prepare() -> None:
    """Read the passes' names."""
    compiled_once()
    _known()


@cache
def _known() -> tuple[str, ...]:
    """Passes, and pipelines of the tests."""
    from tilec.passes.registry import PASSES

    return (*PASSES, *_UPSTREAM, *(text for _, text in seeds.programs() if text))


def make(rng: random.Random) -> Case:
    """Passes of tilec and upstream in any order, and their text with changes."""
    known = _known()
    text = ",".join(rng.choice(known) for _ in range(rng.choice((1, 1, 2, 5))))
    if rng.random() < 0.5:
        text = f"builtin.module({text})"
    if rng.random() < 0.02:
        many = rng.choice((10, 40, 400, 3000))
        text = "builtin.module(" * many + text + ")" * many
    if rng.random() < 0.5:
        text = mutations.mutated(text, rng, known, rng.choice(known))
    return Case("pipelines", text, {"whole": rng.random() < 0.03})


def run(case: Case) -> Reached:
    """Run the pipeline, or compile with it."""
    import tilec
    from tilec.frontend.parsing import parse
    from tilec.isa import TilecError
    from tilec.passes.base import remarks
    from tilec.passes.pipeline import run_pipeline
    from tilec.report.diagnostics import Source, reports

    with remarks(), reports():
        try:
            if case.options["whole"]:
                return Reached.PTX if tilec.compile(_PROGRAM, pipeline=case.text).ptx else None
            run_pipeline(parse(Source("-", _PROGRAM), context()), case.text)
            return Reached.VERIFIED
        except TilecError:
            return Reached.REFUSED
