"""What takes one distributed layout to another: the plans there are, the cheapest first.

A distributed layout says which element of a tile each register of each lane of each warp
holds: (register, lane, …) -> place, where further inputs tell warps apart. Elements may be held
more than once.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from functools import cache

from tilec.isa import MatrixMemory, MovMatrix, Target, forms_of
from tilec.isa.wording import counted

from .access import Access, in_elements, matrix_access, vector_access
from .gf2 import Echelon, combine, intersection
from .linear import LayoutError, LinearLayout, log2
from .plans import Nothing, Permutation, Plan, SharedTrip, Transposition
from .shuffle import copies_of, shuffles
from .swizzle import shared_layout
from .synthesis import Pattern, find_swizzle
from .views import register_map


def convert(
    source: LinearLayout, result: LinearLayout, bits: int, target: Target | None = None
) -> Plan:
    """The cheapest plan that takes `source` to `result`.

    Args, Raises: as of `conversion_plans`.
    """
    return conversion_plans(source, result, bits, target)[0]


@cache
def conversion_plans(
    source: LinearLayout, result: LinearLayout, bits: int, target: Target | None = None
) -> tuple[Plan, ...]:
    """Every kind of plan that takes `source` to `result`, cheapest first.

    Args:
        source: (register, lane, …) -> place, the layout of what there is.
        result: the layout wanted; of the same tile, lanes and warps.
        bits: bits of an element.
        target: whose matrix instructions may be used; of any target if None.

    Raises:
        LayoutError: if the layouts are not of one tile and the same lanes and warps, the
            source lacks elements, or elements of less than a byte would have to go alone.
    """
    log2(bits, "bits of an element")
    source, result = _alike(source, result)
    lacking = set(result.columns) - {c for c in result.columns if c in Echelon(source.columns)}
    if lacking:
        raise LayoutError("the source does not hold all elements that the result needs")
    direct = _in_lane(source, result, bits)
    if direct is not None:
        return (direct,)
    found: list[Plan] = [
        *_transposition(source, result, bits, target),
        *shuffles(source, result, bits),
        *_shared_trips(source, result, bits, target),
    ]
    if not found:
        raise LayoutError(
            f"cannot move elements of {counted(bits, 'bit')} one by one: both layouts must keep "
            f"the same "
            f"{8 // bits} neighbours in one register"
        )
    return tuple(sorted(found, key=_rank))


def best_access(
    registers: LinearLayout,
    shared: LinearLayout,
    bits: int,
    *,
    store: bool,
    target: Target | None = None,
) -> Access:
    """The cheapest instructions that move a fragment to or from shared memory.

    Args:
        registers: (register, lane, …) -> place.
        shared: offset, in elements -> place.
        bits: bits of an element.
        store: to shared memory rather than from it.
        target: whose matrix instructions may be used; of any target if None.

    Raises:
        LayoutError: if the layouts do not compose, or elements of less than a byte would have
            to be moved alone.
    """
    offsets = registers.then(shared.inverse())
    found = [matrix_access(form, offsets, bits) for form in _matrix_forms(store, target)]
    found.append(vector_access(offsets, bits, store=store))
    legal = [one for one in found if one]
    if not legal:
        raise LayoutError(
            f"elements of {counted(bits, 'bit')} are not adjacent: no access moves less than a byte"
        )
    return min(legal, key=lambda one: one.instructions + one.count().wavefronts)


def _rank(plan: Plan) -> tuple[int, bool]:
    """Price; of equals a swizzle that is a shift and a mask comes first."""
    return plan.price.total, isinstance(plan, SharedTrip) and plan.swizzle is None


def _alike(source: LinearLayout, result: LinearLayout) -> tuple[LinearLayout, LinearLayout]:
    """Both with inputs (register, lane, …) and outputs in one order.

    Raises:
        LayoutError: if tiles, lanes or warps differ.
    """
    unit = LinearLayout.empty(("register", "lane"))
    source, result = unit * source, unit * result
    if source.out_sizes != result.out_sizes:
        raise LayoutError(
            f"layouts of different tiles: {_written(source.out_sizes)} "
            f"and {_written(result.out_sizes)}"
        )
    mine, its = ({n: s for n, s in x.in_sizes.items() if n != "register"} for x in (source, result))
    if mine != its:
        raise LayoutError(f"different lanes or warps: {_written(mine)} and {_written(its)}")
    order = [name for name, _ in source.ins]
    return source, result.reorder(order, [name for name, _ in source.outs])


def _written(sizes: Mapping[str, int]) -> str:
    return ", ".join(f"{name} {size}" for name, size in sizes.items())


def _others(layout: LinearLayout) -> list[str]:
    """The inputs that tell warps apart."""
    return [name for name, _ in layout.ins if name not in ("register", "lane")]


def _in_lane(source: LinearLayout, result: LinearLayout, bits: int) -> Nothing | Permutation | None:
    """Registers renamed, where every lane has what it wants in the same place as the others."""
    registers = register_map(source, result)
    if registers is None:
        return None
    if source.columns_of("register") == result.columns_of("register"):
        return Nothing()
    return Permutation(bits, registers)


def _transposition(
    source: LinearLayout, result: LinearLayout, bits: int, target: Target | None
) -> Iterator[Transposition]:
    """`movmatrix`, where lanes and words are as it takes and leaves them."""
    (form,) = forms_of(MovMatrix)
    after, before = (in_elements(form, name, bits) for name in "da")
    if not (after and before) or (target and form.min_ptx(target) is None):
        return
    moved = after.then(before.inverse())
    packed = dict(moved.ins)["register"]
    words = source.columns_of("register")[packed:]
    given = (*source.columns_of("register")[:packed], *source.columns_of("lane"))
    wanted = (*result.columns_of("register")[:packed], *result.columns_of("lane"))
    if len(given) != len(moved.columns) or len(wanted) != len(moved.columns):
        return
    if wanted != tuple(combine(column, given) for column in moved.columns):
        return
    if any(source.columns_of(n) != result.columns_of(n) for n in _others(source)):
        return
    echelon = Echelon(words)
    found = [echelon.solve(column) for column in result.columns_of("register")[packed:]]
    columns = tuple(column for column in found if column is not None)
    if len(columns) == len(found):
        dims = (("word", len(columns)),), (("word", len(words)),)
        yield Transposition(bits, LinearLayout(*dims, columns))


def _shared_trips(
    source: LinearLayout, result: LinearLayout, bits: int, target: Target | None
) -> Iterator[SharedTrip]:
    """Through shared memory, once for each choice of what lies side by side there."""
    shape = source.out_sizes
    plain = shared_layout(shape, bits)
    mine, its = (layout.then(plain.inverse()) for layout in (source, result))
    storing = _patterns(mine, bits, target, store=True)
    loading = _patterns(its, bits, target, store=False)
    size = plain.in_sizes["offset"]
    for run in dict.fromkeys((*storing, *loading, *_runs(mine, its, bits))):
        stored = storing.get(run) or Pattern.vector(mine, bits, run, store=True)
        loaded = loading.get(run) or Pattern.vector(its, bits, run, store=False)
        if not (stored and loaded):
            continue
        order = _order(plain, run)
        ordered = shared_layout(shape, bits, order=order)
        moved = plain.then(ordered.inverse())
        try:
            swizzling = find_swizzle(size, bits, (stored.move(moved), loaded.move(moved)))
        except LayoutError:  # what one lays side by side the other needs apart
            continue
        shared = swizzling.layout.inverse().then(ordered)
        load = best_access(result, shared, bits, store=False, target=target)
        yield SharedTrip(
            shared=shared,
            order=order,
            swizzle=swizzling.swizzle,
            store=best_access(source, shared, bits, store=True, target=target),
            load=load,
            copies=copies_of(its, load.registers.columns),
            within_warp=_within_warp(source, result),
            bytes=-(-size * bits // 8),
        )


def _order(plain: LinearLayout, run: Sequence[int]) -> tuple[str, ...]:
    """The tile's dimensions from the fastest on, that being where the run begins."""
    names = [name for name, _ in reversed(plain.outs)]
    if run:
        start = dict(zip(plain.out_sizes, plain(offset=run[0]), strict=True))
        names.sort(key=lambda name: not start[name])
    return tuple(names)


def _patterns(
    offsets: LinearLayout, bits: int, target: Target | None, *, store: bool
) -> dict[tuple[int, ...], Pattern]:
    """Matrix instructions that fit a fragment, by what they want side by side; the largest."""
    found: dict[tuple[int, ...], Pattern] = {}
    for form in _matrix_forms(store, target):
        pattern = Pattern.matrix(form, offsets, bits)
        if pattern:
            found[pattern.run] = pattern
    return found


def _runs(mine: LinearLayout, its: LinearLayout, bits: int) -> Iterator[tuple[int, ...]]:
    """Elements that plain accesses may want side by side: what both sides, or one, can use."""
    most = log2(max(1, 128 // bits), "elements of an access")
    stored, loaded = (_reduced(layout.columns_of("register")) for layout in (mine, its))
    common = _reduced(intersection(stored, loaded))
    for more in ((), loaded, stored):
        echelon = Echelon(common)
        run = [*common, *(vector for vector in more if echelon.add(vector))]
        yield tuple(run[:most])
    # Where lanes begin inside each other's runs: as little as an access can move.
    yield tuple(common[: max(0, 3 - log2(bits, "bits of an element"))])


def _reduced(vectors: Sequence[int]) -> list[int]:
    """The basis of a span in which no vector has another's lowest bit, sorted."""
    basis: list[int] = []
    for vector in vectors:
        for known in basis:
            if vector & known & -known:
                vector ^= known  # noqa: PLW2901
        if vector:
            lowest = vector & -vector
            basis = [known ^ vector if known & lowest else known for known in basis]
            basis.append(vector)
    return sorted(basis, key=lambda vector: vector & -vector)


def _within_warp(source: LinearLayout, result: LinearLayout) -> bool:
    """Whether every warp holds in the source what it wants in the result."""
    held = Echelon((*source.columns_of("register"), *source.columns_of("lane")))
    wanted = [*result.columns_of("register"), *result.columns_of("lane")]
    for name in _others(source):
        pairs = zip(source.columns_of(name), result.columns_of(name), strict=True)
        wanted += [mine ^ its for mine, its in pairs]
    return all(column in held for column in wanted)


@cache
def _matrix_forms(store: bool, target: Target | None) -> tuple[MatrixMemory, ...]:
    """`stmatrix` or `ldmatrix` of elements that lie in memory as in registers."""
    return tuple(
        form
        for form in forms_of(MatrixMemory)
        if form.is_store == store
        and form.source is None
        and (target is None or form.min_ptx(target) is not None)
    )
