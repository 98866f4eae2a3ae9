"""Which `mma` form and which grid of warps multiply two tiles: a cost model over the table."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from functools import cache
from typing import Any, NamedTuple

from tilec.dialects.tile.tiles import bits_of, element_name
from tilec.isa import LANES, Family, Mma, Target, TilecError, forms
from tilec.isa.sass import execution

WAVEFRONT_BYTES = 128
"""What shared memory delivers at a time."""
TRIP_BARRIERS = 32
"""What two barriers of a trip through shared memory cost, in the unit of `Choice.cost`."""


class Extents(NamedTuple):
    """M, N and K of a CTA's product."""

    m: int
    n: int
    k: int


@dataclass(frozen=True, slots=True)
class Product:
    """What a `tile.dot` asks for.

    Attributes:
        extents: of the tiles.
        elements: MLIR's element types of A, B, C and D.
        unsigned: whether integers of A, and of B, have no sign.
    """

    extents: Extents
    elements: tuple[Any, Any, Any, Any]
    unsigned: tuple[bool, bool]


@dataclass(frozen=True, slots=True)
class Choice:
    """A form and a grid of warps for one product.

    Attributes:
        form: the instruction.
        warps: warps along M and along N.
        instructions: instructions of each warp.
        cost: of each warp, in machine instructions of the tensor cores: theirs, and half the
            wavefronts in which it reads its operands from shared memory. (Four warps multiply
            at a time, and one reads: a round figure, not a measurement.)
    """

    form: Mma
    warps: tuple[int, int]
    instructions: int
    cost: float


@cache
def forms_of(
    elements: tuple[str, str, str, str], unsigned: tuple[bool, bool], target: Target
) -> tuple[Mma, ...]:
    """The forms of `target` that multiply such elements, of one product a warp.

    Args:
        elements: MLIR's names of the element types of A, B, C and D.
        unsigned: whether integers of A, and of B, have no sign.
        target: the target.
    """
    signs = tuple("u" if one else "s" for one in unsigned)
    return tuple(
        form
        for form in _dense(target)
        if tuple(element_name(form.operand(name)) for name in "abcd") == elements
        and all(
            not form.operand(name).type.is_integer or form.operand(name).type.name[0] == sign
            for name, sign in zip("ab", signs, strict=True)
        )
    )


@cache
def _dense(target: Target) -> tuple[Mma, ...]:
    """Dense forms that round to nearest, do not clamp and count no bits."""
    return tuple(
        form
        for form in forms().values()
        if isinstance(form, Mma)
        and form.family is Family.MMA
        and form.products == 1
        and not form.satfinite
        and form.bit_op is None
        and form.rounding in (None, "rn")
        and form.min_ptx(target) is not None
    )


def fits(form: Mma, extents: Extents) -> bool:
    """Whether the tiles are whole numbers of the form's fragments."""
    return all(extent % one == 0 for extent, one in zip(extents, form.shape, strict=True))


def candidates(product: Product, target: Target) -> tuple[Mma, ...]:
    """The forms that may compute a product, the cheapest first.

    Raises:
        TilecError: if there is none, naming the types or the extents that there are.
    """
    a, b, c, d = (str(element) for element in product.elements)
    found = forms_of((a, b, c, d), product.unsigned, target)
    if not found:
        legal = ", ".join(sorted({_types(form) for form in _dense(target)}))
        raise TilecError(
            f"no instruction of {target} multiplies {a} by {b} and adds to {c}, giving {d}; "
            f"legal: {legal}"
        )
    fitting = [form for form in found if fits(form, product.extents)]
    if not fitting:
        m, n, k = product.extents
        legal = ", ".join(str(form.shape) for form in found)
        raise TilecError(
            f"{m}x{n}x{k} (M, N, K) is no whole number of instructions for {a} by {b} on {target}; "
            f"let each extent be a multiple of those of one of {legal}"
        )
    return tuple(sorted(fitting, key=lambda form: _rank(form, product.extents, target)))


def _types(form: Mma) -> str:
    a, b, c = (element_name(form.operand(name)) for name in "abc")
    return f"{a} by {b} to {c}"


def _rank(form: Mma, extents: Extents, target: Target) -> tuple[float, bool, bool, str]:
    """Cost; of equals first those that are native, that need no `.kind`."""
    how = execution(form, target)
    emulated = how is not None and how.emulated
    whole = extents.m * extents.n * extents.k / (form.shape.m * form.shape.n * form.shape.k)
    return whole * slots(form, target), emulated, form.kind is not None, form.ptx


def slots(form: Mma, target: Target) -> float:
    """Machine instructions that one instruction of the form becomes."""
    how = execution(form, target)
    if how is None:
        return 1
    scalar = form.shape.m * form.shape.n * form.shape.k / LANES
    return how.count or scalar


def choice(form: Mma, warps: tuple[int, int], product: Product, target: Target) -> Choice:
    """What a form and a grid of warps cost; warps that find nothing to do repeat others."""
    m, n, k = product.extents
    rows, cols = (
        max(extent // share, one)
        for extent, share, one in zip((m, n), warps, form.shape[:2], strict=True)
    )
    shape = form.shape
    instructions = (rows // shape.m) * (cols // shape.n) * (k // shape.k)
    a, b = (bits_of(element) for element in product.elements[:2])
    wavefronts = (rows * a + cols * b) * k / 8 / WAVEFRONT_BYTES
    return Choice(form, warps, instructions, instructions * slots(form, target) + wavefronts / 2)


def grids(warps: int) -> Iterator[tuple[int, int]]:
    """The grids of so many warps, those with most along M first."""
    along_m = warps
    while along_m:
        yield along_m, warps // along_m
        along_m //= 2


def best_choice(form: Mma, warps: int, product: Product, target: Target) -> Choice:
    """The cheapest grid of so many warps for a form."""
    found = (choice(form, grid, product, target) for grid in grids(warps))
    return min(found, key=lambda one: one.cost)


def trip_cost(product: Product, warps: int) -> float:
    """What it costs a warp to hand D to the other warps through shared memory."""
    m, n, _ = product.extents
    wavefronts = 2 * m * n * bits_of(product.elements[3]) / 8 / WAVEFRONT_BYTES / warps
    return wavefronts / 2 + TRIP_BARRIERS
