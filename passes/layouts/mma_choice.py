"""Which `mma` form and which grid of warps multiply two tiles: a cost model over the table."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from functools import cache
from typing import NamedTuple

from tilec.dialects.tile.dots import DOTS, check_element, extents
from tilec.dialects.tile.tiles import PlainTile, bits_of, element_name
from tilec.isa import LANES, Family, Mma, Target, TilecError
from tilec.isa.sass import execution
from tilec.isa.table import current
from tilec.layout.extents import unit_counts, unit_extents

from ..analysis.costs import COMPUTED, TRIP_BARRIERS, wavefronts


class Extents(NamedTuple):
    """M, N and K of a CTA's product."""

    m: int
    n: int
    k: int


class TileProduct(NamedTuple):
    """What a `tile.dot`, or one of its kin, asks for.

    Attributes:
        op: its name.
        tiles: by the operand's name, and `d`.
        unsigned: whether integers of A, and of B, have no sign.
        computed: whether A, and B, come from an elementwise op, such as a cast.
    """

    op: str
    tiles: Mapping[str, PlainTile]
    unsigned: tuple[bool, bool]
    computed: tuple[bool, bool] = (False, False)

    @property
    def extents(self) -> Extents:
        """M, N and K; of a sparse A what is stored is half of K."""
        (k, n), (m, _) = self.tiles["b"].shape, self.tiles["c"].shape
        return Extents(m, n, k)

    @property
    def elements(self) -> tuple[tuple[str, str], ...]:
        """MLIR's name of each operand's element type."""
        return tuple((name, str(tile.element)) for name, tile in self.tiles.items())


class Choice(NamedTuple):
    """A form and a grid of warps for one product.

    Attributes:
        form: the instruction.
        warps: warps along M and along N.
        instructions: instructions of each warp.
        cost: of each warp, in machine instructions of the tensor cores: theirs, what it takes to
            read the operands from shared memory, and to compute those elements that lanes
            compute, by the figures of the cost model.
    """

    form: Mma
    warps: tuple[int, int]
    instructions: int
    cost: float


@cache
def forms_of(
    family: Family,
    elements: tuple[tuple[str, str], ...],
    unsigned: tuple[bool, bool],
    target: Target,
) -> tuple[Mma, ...]:
    """The forms of `target` that multiply such elements, of one product a warp.

    Args:
        family: of the forms.
        elements: MLIR's name of the element type of each operand and of `d`.
        unsigned: whether integers of A, and of B, have no sign.
        target: the target.
    """
    signs = tuple("u" if one else "s" for one in unsigned)
    return tuple(
        form
        for form in _plain(family, target)
        if all(element_name(form.operand(name)) == element for name, element in elements)
        and all(
            not form.operand(name).type.is_integer or form.operand(name).type.name[0] == sign
            for name, sign in zip("ab", signs, strict=True)
        )
    )


@cache
def _plain(family: Family, target: Target) -> tuple[Mma, ...]:
    """Forms that round to nearest, do not clamp, count no bits and take metadata in order."""
    return tuple(
        form
        for form in current().of(Mma)
        if form.family is family
        and form.products == 1
        and not form.satfinite
        and form.bit_op is None
        and form.rounding in (None, "rn")
        and (form.sparsity is None or form.sparsity.ordered)
        and form.min_ptx(target) is not None
    )


def candidates(product: TileProduct, target: Target) -> tuple[Mma, ...]:
    """The forms that may compute a product, the cheapest first.

    Raises:
        TilecError: if there is none, naming the types or the extents that there are.
    """
    family = DOTS[product.op].family
    found = forms_of(family, product.elements, product.unsigned, target)
    if not found:
        named = dict(product.elements)
        legal = ", ".join(sorted({_types(form) for form in _plain(family, target)}))
        raise TilecError(
            f"no instruction of {target} multiplies {named['a']} by {named['b']} and adds to "
            f"{named['c']}, giving {named['d']}; legal: {legal or 'none'}"
        )
    fitting = [form for form in found if fits(form, product)]
    if not fitting:
        m, n, k = product.extents
        legal = ", ".join(dict.fromkeys(str(form.shape) for form in found))
        raise TilecError(
            f"{m}x{n}x{k} (M, N, K) is not a whole number of instructions for "
            f"{_types(found[0])} on {target}; let each extent be a multiple of those of one of "
            f"{legal}"
        )
    return tuple(sorted(fitting, key=lambda form: _rank(form, product.extents, target)))


def fits(form: Mma, product: TileProduct) -> bool:
    """Whether the tiles are whole numbers of the form's operands."""
    try:
        for name, tile in product.tiles.items():
            check_element(form, name, tile)
        extents(form, product.tiles)
    except TilecError:
        return False
    return True


def _types(form: Mma) -> str:
    a, b, c = (element_name(form.operand(name)) for name in "abc")
    scales = f" scaled by {element_name(form.operand('sfa'))}" if form.scaling else ""
    return f"{a} by {b}{scales} to {c}"


def _rank(form: Mma, extents: Extents, target: Target) -> tuple[float, bool, bool, str]:
    """Cost; of equals first those that are native, that need no `.kind`."""
    how = execution(form, target)
    emulated = how is not None and how.emulated
    whole = extents.m * extents.n * extents.k / (form.shape.m * form.shape.n * form.shape.k)
    return whole * slots(form, target), emulated, form.kind is not None, form.ptx


@cache
def slots(form: Mma, target: Target) -> float:
    """Machine instructions that one instruction of the form becomes."""
    how = execution(form, target)
    if how is None:
        return 1
    scalar = form.shape.m * form.shape.n * form.shape.k / LANES
    return how.count or scalar


def choice(form: Mma, warps: tuple[int, int], product: TileProduct, target: Target) -> Choice:
    """What a form and a grid of warps cost; warps that find nothing to do repeat others."""
    m, n, k = product.extents
    rows, cols = share(form, warps, (m, n))
    shape = form.shape
    instructions = (rows // shape.m) * (cols // shape.n) * (k // shape.k)
    a, b = (product.tiles[name] for name in "ab")
    held = rows * a.shape[1], cols * k
    read = held[0] * bits_of(a.element) + held[1] * bits_of(b.element)
    computed = sum(n for n, own in zip(held, product.computed, strict=True) if own) / LANES
    cost = instructions * slots(form, target) + wavefronts(read) + computed * COMPUTED
    return Choice(form, warps, instructions, cost)


def share(form: Mma, warps: tuple[int, int], shape: tuple[int, ...]) -> tuple[int, int]:
    """Rows and columns of the result that a warp computes: its part of each unit."""
    rows, cols = (
        max(unit // along, one) * count
        for unit, count, along, one in zip(
            unit_extents(shape), unit_counts(shape), warps, form.shape[:2], strict=True
        )
    )
    return rows, cols


def grids(warps: int) -> Iterator[tuple[int, int]]:
    """The grids of so many warps, those with most along M first."""
    along_m = warps
    while along_m:
        yield along_m, warps // along_m
        along_m //= 2


def best_choice(form: Mma, warps: int, product: TileProduct, target: Target) -> Choice:
    """The cheapest grid of so many warps for a form."""
    found = (choice(form, grid, product, target) for grid in grids(warps))
    return min(found, key=lambda one: one.cost)


def trip_cost(product: TileProduct, warps: int) -> float:
    """What it costs a warp to hand D to the other warps through shared memory."""
    m, n, _ = product.extents
    bits = bits_of(product.tiles["d"].element)
    return wavefronts(2 * m * n * bits / warps) + TRIP_BARRIERS
