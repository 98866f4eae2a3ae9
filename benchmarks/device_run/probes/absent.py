"""What an element that a sparse A does not store does to an infinity or NaN in B."""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np
from tilec.isa import Mma
from tilec.isa import form as find_form

from ..driver import Cuda
from .answer import Row, answer
from .warp import Warp

FORMS = tuple(
    f"mma.sp::ordered_metadata.sync.aligned.{name}"
    for name in (
        "m16n8k32.row.col.f32.f16.f16.f32",
        "m16n8k32.row.col.f32.bf16.bf16.f32",
        "m16n8k16.row.col.f32.tf32.tf32.f32",
        "m16n8k64.row.col.f32.e5m2.e5m2.f32",
    )
)
_NAN = 0x7FFFFFFF


def probes(cuda: Cuda, target: str) -> Iterator[Row]:
    """A row for each form: every stored product is one, every absent one meets infinity or NaN."""
    for name in FORMS:
        form = find_form(name)
        assert isinstance(form, Mma)
        assert form.sparsity
        m, n, k = form.shape
        stored, chunk = form.operand("a").cols, form.sparsity.chunk
        kept = [0] if chunk == 2 else [0, 1]  # of each chunk, by the first code
        # Half of the columns have infinities; 8-bit floats are saturated, and have NaNs alone.
        special = np.full(n, np.nan)
        if form.operand("b").type.bits > 8:
            special[: n // 2] = np.inf
        b = np.where(np.isin(np.arange(k) % chunk, kept)[:, None], 1.0, special)
        matrices = {
            "a": np.ones((m, stored)),
            "b": b,
            "c": np.zeros((m, n)),
            "e": np.full((m, form.operand("e").cols), form.sparsity.codes[0]),
        }
        warp = Warp(cuda, form, target)
        got = warp.multiply(matrices)
        warp.close()
        ones = np.full((m, n), np.float32(stored)).view(np.uint32)
        wanted = {
            "not multiplied": ones,
            "multiplied by zero, which gives NaN": np.full_like(ones, _NAN),
        }
        yield answer("absent elements against infinity and NaN", name, got, wanted)
