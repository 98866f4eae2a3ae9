"""Block-scaled `mma` and `mma.sp` forms. PTX ISA 9.7.14.3, "Block Scaling for mma.sync"."""

from __future__ import annotations

from collections.abc import Iterator
from itertools import product as cross

from . import mma_sp
from .form_parts import BlockScaling
from .mma import FLOAT8_6_4, SM_120, Mma, mma
from .mma_dense import section
from .operands import Shape
from .targets import Since
from .types import element_type

_BYTE_IDS = {1: (0, 1, 2, 3), 2: (0, 2), 4: (0,)}
"""Legal byte selectors by the number of scale factors along K."""

_SM_120A = (Since.of("sm_120a", "8.7"), Since.of("sm_121a", "8.8"))
"""Sparse mxf4 and mxf4nvf4 are on the architectures, not the family."""


def _form(
    kind: str,
    a: str,
    b: str,
    *,
    chunks: int,
    scale: str,
    since: tuple[Since, ...],
    sparse: bool,
) -> Mma:
    """One form: K is 32 elements of 8 bits or 64 of 4, twice that where A is sparse."""
    byte = kind == "mxf8f6f4"
    k = (32 if byte else 64) * (2 if sparse else 1)
    shape = Shape(16, 8, k)
    return mma(
        shape,
        ("f32", a, b, "f32"),
        since,
        mma_sp.section(k, 8 if byte else 4) if sparse else section(shape, a),
        kind=kind,
        sparsity=mma_sp.sparsity(k, 4 if byte else 8, ordered=True) if sparse else None,
        scaling=BlockScaling(element_type(scale), chunks, _BYTE_IDS[chunks]),
        # 4X of ue8m0 came with PTX 9.1; LLVM 22 ends at 9.0.
        in_llvm=(chunks, scale) != (4, "ue8m0"),
    )


def forms() -> Iterator[Mma]:
    """Every block-scaled form, dense then sparse."""
    for sparse in (False, True):
        for a, b in cross(FLOAT8_6_4, FLOAT8_6_4):
            yield _form("mxf8f6f4", a, b, chunks=1, scale="ue8m0", since=SM_120, sparse=sparse)
        since = _SM_120A if sparse else SM_120
        late = tuple(Since.of(clause.target, "9.1") for clause in since)
        for kind, chunks, scale, clauses in (
            ("mxf4", 2, "ue8m0", since),
            ("mxf4nvf4", 2, "ue8m0", since),
            ("mxf4nvf4", 4, "ue8m0", late),
            ("mxf4nvf4", 4, "ue4m3", since),
        ):
            yield _form(
                kind, "e2m1", "e2m1", chunks=chunks, scale=scale, since=clauses, sparse=sparse
            )
