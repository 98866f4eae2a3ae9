"""`ldmatrix`, `stmatrix` and `movmatrix`. PTX ISA 9.7.14.5.15 to 9.7.14.5.17."""

from __future__ import annotations

from collections.abc import Iterator

from .forms import Family, Form, MatrixMemory
from .operands import matrix
from .targets import Since


def _move(
    family: Family,
    geometry: str,
    count: int,
    type_name: str,
    since: tuple[Since, ...],
    *,
    trans: bool,
) -> MatrixMemory:
    """One form whose elements lie in memory as in registers; `geometry` is `m8n8` and so on."""
    rows, cols = (int(n) for n in geometry.removeprefix("m").split("n"))
    inside = (matrix("r", type_name, rows * count, cols),)
    load = family is Family.LDMATRIX
    head = f"{family}.sync.aligned.{geometry}.x{count}{'.trans' if trans else ''}.{type_name}"
    return MatrixMemory(
        ptx=head,
        family=family,
        results=inside if load else (),
        operands=() if load else inside,
        since=since,
        intrinsic=f"llvm.nvvm.{head}",
        section="9.7.14.5.15" if load else "9.7.14.5.16",
        matrices=count,
        # Each row in memory is 16 bytes: m16n8.b8 is stored by columns, of which it has 8.
        rows=rows * cols * inside[0].container // 128,
        transposed=trans,
    )


def forms() -> Iterator[Form]:
    """Every form."""
    for count in (1, 2, 4):
        for trans in (False, True):
            since = (Since.of("sm_75", "6.5"),)
            yield _move(Family.LDMATRIX, "m8n8", count, "b16", since, trans=trans)
    for count in (1, 2, 4):
        for trans in (False, True):
            since = (Since.of("sm_90", "7.8"),)
            yield _move(Family.STMATRIX, "m8n8", count, "b16", since, trans=trans)
