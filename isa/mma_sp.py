"""`mma.sp` forms without block scaling. PTX ISA 9.7.14.6.3."""

from __future__ import annotations

from collections.abc import Iterator
from itertools import product as cross

from .form_parts import Sparsity
from .mma import FLOAT8, FLOAT8_6_4, SM_120, Mma, mma
from .operands import Shape
from .targets import Since
from .types import element_type

_SECTIONS = {
    # of PTX ISA 8.7 to 9.2, by K and the bits of an element of A
    (16, 16): "9.7.14.6.2.1",
    (32, 16): "9.7.14.6.2.2",
    (16, 32): "9.7.14.6.2.3",
    (8, 32): "9.7.14.6.2.4",
    (32, 8): "9.7.14.6.2.5",
    (64, 8): "9.7.14.6.2.6",
    (64, 4): "9.7.14.6.2.7",
    (128, 4): "9.7.14.6.2.8",
}


def section(k: int, bits: int) -> str:
    """The ISA section that gives the fragments; `bits` are those of A's container."""
    return _SECTIONS[k, bits]


def sparsity(k: int, chunk: int, *, ordered: bool) -> Sparsity:
    """The sparsity of a 16×k matrix A.

    A register of metadata holds eight 4-bit codes, and 16 · k / chunk codes are wanted: the
    selector says which of the 32 lanes supply theirs (PTX ISA, "Sparse matrix storage").
    """
    return Sparsity(ordered, chunk, selectors=tuple(range(16 * chunk // k)))


def _rows() -> Iterator[tuple[tuple[int, ...], str, str, str, int, str, str]]:
    """K extents, types of A, B and the accumulator, chunk, lowest target, first `.sp`."""
    for acc in ("f16", "f32"):
        yield (16, 32), "f16", "f16", acc, 4, "sm_80", "7.1"
    yield (16, 32), "bf16", "bf16", "f32", 4, "sm_80", "7.1"
    yield (8, 16), "tf32", "tf32", "f32", 2, "sm_80", "7.1"
    for a, b in cross(FLOAT8, FLOAT8):
        yield (64,), a, b, "f32", 4, "sm_89", "8.4"
    for a, b in cross("su", "su"):
        yield (32, 64), f"{a}8", f"{b}8", "s32", 4, "sm_80", "7.1"
    for a, b in cross("su", "su"):
        yield (64, 128), f"{a}4", f"{b}4", "s32", 8, "sm_80", "7.1"


def _blackwell() -> Iterator[Mma]:
    """8-, 6- and 4-bit floats as sm_120 has them; ordered metadata only."""
    shape, sparse, where = Shape(16, 8, 64), sparsity(64, 4, ordered=True), section(64, 8)
    for a, b in cross(FLOAT8, FLOAT8):
        types = ("f16", a, b, "f16")
        # LLVM 22 has no intrinsic for fp8 without `.kind` into f16.
        yield mma(shape, types, SM_120, where, sparsity=sparse, in_llvm=False)
    for a, b in cross(FLOAT8_6_4, FLOAT8_6_4):
        for acc in ("f16", "f32"):
            types = (acc, a, b, acc)
            yield mma(shape, types, SM_120, where, kind="f8f6f4", sparsity=sparse)


def forms() -> Iterator[Mma]:
    """Every sparse form without block scaling."""
    for ordered in (False, True):
        for ks, a, b, acc, chunk, target, first in _rows():
            since = (Since.of(target, "8.5" if ordered else first),)
            type_a = element_type(a)
            for k, sat in cross(ks, (False, True) if type_a.is_integer else (False,)):
                yield mma(
                    Shape(16, 8, k),
                    (acc, a, b, acc),
                    since,
                    section(k, type_a.bits),
                    satfinite=sat,
                    sparsity=sparsity(k, chunk, ordered=ordered),
                )
    yield from _blackwell()
