"""`wgmma.mma_async`, dense and sparse: D = A·B + D by the four warps of a warpgroup.

PTX ISA 9.7.15.5, 9.7.15.6. D lies in registers of the warpgroup, B in shared memory, A in either:
the mnemonic does not say which, so a form's key does, by a last word of its own. There are 2,148
forms; each is made when it is asked for.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import cache, partial
from itertools import product as cross
from types import MappingProxyType
from typing import NamedTuple

from .form_classes import Family, Product
from .form_parts import ExecutionScope, Selector, Sparsity
from .lazy_forms import LazyForms
from .mma_sp import sparsity
from .operands import Operand, Shape, Storage, by_descriptor, matrix, metadata
from .targets import Since
from .types import element_type

M = 64
"""Rows of A and D: sixteen of each warp."""
K_BYTES = 32
"""Bytes of K that an instruction reads of a row of A as stored."""

A_KINDS: Mapping[str, Storage] = MappingProxyType(
    {"descriptor": Storage.SHARED, "registers": Storage.WARPGROUP}
)
"""Where A may lie, by the word that says so; the first is meant where none is given."""

COLUMNS = range(8, 257, 8)
"""N of the forms; those of integers have some of them."""
_FEW = (8, 16, 24, *range(32, 257, 16))


class _Row(NamedTuple):
    """Forms that differ in N and in where A lies.

    Attributes:
        d, a, b: element types.
        columns: every N.
        since: the first PTX version of the dense form and of the sparse one, if there is one.
        satfinite: whether the accumulation may clamp.
        bit_op: `and` of single bits.
    """

    d: str
    a: str
    b: str
    columns: Sequence[int]
    since: tuple[str, ...]
    satfinite: bool = False
    bit_op: str | None = None


def _rows() -> Iterator[_Row]:
    for d, a in (("f16", "f16"), ("f32", "f16"), ("f32", "bf16"), ("f32", "tf32")):
        yield _Row(d, a, a, COLUMNS, ("8.0", "8.2"))
    for a, b, d in cross(("e4m3", "e5m2"), ("e4m3", "e5m2"), ("f16", "f32")):
        yield _Row(d, a, b, COLUMNS, ("8.0", "8.2"))
    for a, b, clamps in cross(("s8", "u8"), ("s8", "u8"), (False, True)):
        since = ("8.0", "8.2") if a == b else ("8.4", "8.4")
        yield _Row("s32", a, b, _FEW, since, satfinite=clamps)
    yield _Row("s32", "b1", "b1", _FEW, ("8.0",), bit_op="and")


@dataclass(frozen=True, slots=True, kw_only=True, eq=False, repr=False)
class Wgmma(Product):
    """`wgmma.mma_async` and its `.sp`. If `scale_d` is 0, D = A·B."""

    @property
    def a_kind(self) -> str:
        """Where A lies, one of `A_KINDS`."""
        return self.ptx.rpartition("::")[2]

    @property
    def selectors(self) -> tuple[Selector, ...]:
        """The sparsity selector; `scale_d`; the signs of A and B; whether they are transposed."""
        a = self.operand("a")
        found: list[Selector] = []
        if self.sparsity:
            found.append(Selector("selector", self.sparsity.selectors, 32, True, "e"))
        found.append(Selector("scale_d", (1, 0), 1, constant=False))
        if a.type.is_float:
            found += [Selector(f"imm_scale_{side}", (1, -1), 32, constant=True) for side in "ab"]
        if a.type.bits == 16:
            sides = "b" if a.threads else "ab"
            found += [Selector(f"imm_trans_{side}", (0, 1), 32, constant=True) for side in sides]
        return tuple(found)

    def mnemonic(self, space: str = "") -> str:
        """The instruction as printed: the key without where A lies."""
        del space
        return _without_kind(self.ptx)

    def other_spellings(self) -> Iterator[str]:
        """`.satfinite` at the end, as the ISA's examples write it."""
        if self.satfinite:
            yield f"{self.mnemonic().replace('.satfinite', '', 1)}.satfinite"

    @property
    def facts(self) -> dict[str, str | int]:
        """Its shape, and where A lies."""
        return {"shape": str(self.shape), "a": self.a_kind}


def _mnemonic(row: _Row, n: int, sparse: bool) -> str:
    k = _extent(row, sparse)
    clamp = ".satfinite" if row.satfinite else ""
    tail = f".{row.bit_op}.popc" if row.bit_op else ""
    head = "wgmma.mma_async.sp" if sparse else "wgmma.mma_async"
    return f"{head}.sync.aligned.m{M}n{n}k{k}{clamp}.{row.d}.{row.a}.{row.b}{tail}"


def plain_key(d: str, a: str, b: str, n: int, kind: str, *, sparse: bool = False) -> str:
    """The key of a form that neither clamps nor counts bits, be there such a form or not.

    Args:
        d: element type of the accumulator.
        a: element type of A.
        b: element type of B.
        n: columns.
        kind: where A lies, one of `A_KINDS`.
        sparse: whether A is.
    """
    return f"{_mnemonic(_Row(d, a, b, (n,), ()), n, sparse)}.a::{kind}"


def _extent(row: _Row, sparse: bool) -> int:
    """K: what 32 bytes of A hold, or stand for."""
    return K_BYTES * 8 // element_type(row.a).bits * (2 if sparse else 1)


@cache
def _operands(row: _Row, n: int, k: int, kind: str, sparse: Sparsity | None) -> tuple[Operand, ...]:
    """A, B, the metadata of A, and C, which is D."""
    stored = k // 2 if sparse else k
    if kind == "registers":
        a = matrix("a", row.a, M, stored, storage=Storage.WARPGROUP)
    else:
        a = by_descriptor("a", row.a, M, stored)
    b = by_descriptor("b", row.b, k, n)
    c = matrix("c", row.d, M, n, storage=Storage.WARPGROUP, tied="d")
    if sparse is None:
        return a, b, c
    return a, b, metadata(M, k // sparse.chunk, Storage.WARPGROUP), c


def _form(row: _Row, n: int, sparse: bool, kind: str) -> Wgmma:
    shape = Shape(M, n, _extent(row, sparse))
    chunk = 2 if row.a == "tf32" else 4
    zeros = sparsity(shape.k, chunk, ordered=False) if sparse else None
    return Wgmma(
        ptx=f"{_mnemonic(row, n, sparse)}.a::{kind}",
        family=Family.WGMMA_SP if sparse else Family.WGMMA,
        results=(matrix("d", row.d, M, n, storage=Storage.WARPGROUP),),
        operands=_operands(row, n, shape.k, kind, zeros),
        since=(Since.of("sm_90a", row.since[sparse]),),
        intrinsic=None,  # LLVM 22 has none
        section="9.7.15.6" if sparse else "9.7.15.5",
        scope=ExecutionScope.WARPGROUP,
        asynchronous=True,
        shape=shape,
        satfinite=row.satfinite,
        bit_op=row.bit_op,
        sparsity=zeros,
    )


def _without_kind(name: str) -> str:
    return name.partition(".a::")[0]


def keys(spelling: str) -> tuple[str, ...]:
    """The keys that a spelling may stand for, be there such forms: one where it says where A lies.

    `.satfinite` may stand after the types too.
    """
    name, given, kind = spelling.partition(".a::")
    stem = name.removesuffix(".satfinite")
    if stem != name:
        at = stem.rfind(".s32.")
        name = f"{stem[:at]}.satfinite{stem[at:]}"
    return tuple(f"{name}.a::{one}" for one in ((kind,) if given else A_KINDS))


def forms() -> LazyForms:
    """Every form, made when it is asked for."""
    return LazyForms(
        {
            f"{_mnemonic(row, n, sparse)}.a::{kind}": partial(_form, row, n, sparse, kind)
            for sparse in (False, True)
            for row in _rows()
            if len(row.since) > sparse
            for n in row.columns
            for kind in A_KINDS
        }
    )


CLASS = Wgmma
