"""Types and shapes of `tcgen05.mma`, by kind. PTX ISA 9.7.16.2, "Matrix Shape", "Data Types"."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from itertools import product as cross
from types import MappingProxyType
from typing import NamedTuple

from .errors import UnknownNameError
from .mma import FLOAT8_6_4
from .types import element_type


class ProductKind(NamedTuple):
    """What a `.kind` multiplies.

    Attributes:
        name: as the mnemonic has it.
        types: element types of D, A and B that go together.
        container: bits of shared memory that an element takes.
        scales: element types of scale factors; none if it has none.
        transposes: whether A and B may be contiguous along M and N.
    """

    name: str
    types: tuple[tuple[str, str, str], ...]
    container: int
    scales: tuple[str, ...] = ()
    transposes: bool = True

    @property
    def of_floats(self) -> bool:
        """Whether A and B are of floats."""
        return all(element_type(a).is_float for _, a, _ in self.types)

    @property
    def k(self) -> int:
        """K of a dense product: what 32 bytes of a row of A hold."""
        return 256 // self.container


def _kinds() -> tuple[ProductKind, ...]:
    narrow = tuple(cross(FLOAT8_6_4, FLOAT8_6_4))
    fp4 = (("f32", "e2m1", "e2m1"),)
    halves = (("f16", "f16", "f16"), ("f32", "f16", "f16"), ("f32", "bf16", "bf16"))
    return (
        ProductKind("f16", halves, 16),
        ProductKind("tf32", (("f32", "tf32", "tf32"),), 32),
        ProductKind("f8f6f4", tuple((d, a, b) for d, (a, b) in cross(("f16", "f32"), narrow)), 8),
        ProductKind("i8", tuple(("s32", a, b) for a, b in cross(("u8", "s8"), repeat=2)), 8),
        ProductKind("mxf8f6f4", tuple(("f32", a, b) for a, b in narrow), 8, ("ue8m0",)),
        ProductKind("mxf4", fp4, 4, ("ue8m0",), transposes=False),
        ProductKind("mxf4nvf4", fp4, 4, ("ue4m3", "ue8m0"), transposes=False),
    )


KINDS: Mapping[str, ProductKind] = MappingProxyType({kind.name: kind for kind in _kinds()})
"""Every `.kind`, by name."""


def product_kind(name: str) -> ProductKind:
    """The kind called `name`.

    Raises:
        UnknownNameError: if there is none.
    """
    found = KINDS.get(name)
    if found is None:
        raise UnknownNameError("kind", name, KINDS)
    return found


def rows(kind: ProductKind, group: int, *, stationary: bool, sparse: bool) -> Sequence[int]:
    """Every M; of two CTAs that of both together.

    Args:
        kind: the kind.
        group: CTAs that take part, 1 or 2.
        stationary: whether it is `.ws`.
        sparse: whether A is sparse.
    """
    if stationary:
        return (32, 64, 128)
    if group == 2:
        return (256,) if kind.scales and sparse else (128, 256)
    return (128,) if kind.scales else (64, 128)


def columns(kind: ProductKind, group: int, *, stationary: bool, sparse: bool) -> Sequence[int]:
    """Every N; arguments as of `rows`."""
    if stationary:
        return (64, 128) if sparse else (64, 128, 256)
    if kind.name == "i8":
        return range(32, 257, 32) if group == 2 else (8, 16, 24, *range(32, 257, 16))
    return range(16, 257, 16) if group == 2 else range(8, 257, 8)


def transposed_columns(group: int) -> int:
    """What N is a multiple of where B of 8 bits is contiguous along N."""
    return 16 * group


def banks(m: int, group: int, *, stationary: bool, sparse: bool) -> int:
    """Into how many banks of lanes the columns of D are split (PTX ISA 9.7.16.10.5).

    Args:
        m: rows of D, of both CTAs together.
        group: CTAs that take part, 1 or 2.
        stationary: whether it is `.ws`.
        sparse: whether A is sparse.
    """
    if group == 2:
        return 2 if m == 128 and not sparse else 1
    return {32: 4, 64: 2}.get(m, 1) if stationary else 1
