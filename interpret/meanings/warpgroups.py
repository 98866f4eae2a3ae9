"""`tile.wgmma` and its kin, and products of a CTA's tiles that warpgroups execute."""

from __future__ import annotations

from collections.abc import Generator, Mapping, Sequence
from functools import partial

import numpy as np
from tilec.dialects.tile.ops.tensor_dot import TensorDot
from tilec.dialects.tile.ops.tensor_dot_scaled import FACTOR_NAMES, TensorDotScaledOp
from tilec.dialects.tile.ops.warpgroup_dot import WarpgroupProduct
from tilec.dialects.tile.ops.wgmma import WgmmaProduct
from tilec.dialects.tile.tiles import element_name
from tilec.interpret.arithmetic.base import Scales
from tilec.interpret.call import Call
from tilec.interpret.groups import Groups, PendingRead
from tilec.interpret.meanings.products import Factors, multiply, sparse_codes
from tilec.interpret.memory import View, dtype_of
from tilec.interpret.numbers import BYTE, Array, Number, named
from tilec.interpret.pairs import PairProduct
from tilec.interpret.places import find_places
from tilec.interpret.registry import meaning
from tilec.interpret.sides import Side
from tilec.ir.mlir import ir
from tilec.isa import WARPGROUP_WARPS, Product


def _groups(call: Call, group: int) -> Groups[PendingRead]:
    return call.cta.products.setdefault(group, Groups())


def _mask(group: int) -> int:
    """The warps of a warpgroup, a bit each."""
    return ((1 << WARPGROUP_WARPS) - 1) << group * WARPGROUP_WARPS


# Instructions


@meaning("tile.wgmma", "tile.wgmma_sp")
def _wgmma(call: Call, a: Array | View, b: View, c: Array, scale: Array, *rest: Array) -> Array:
    op = call.op
    assert isinstance(op, WgmmaProduct)
    form = call.fact("form", lambda: op.key)
    assert isinstance(form, Product)
    metadata, indices = (rest[:1], rest[1:]) if form.sparsity else ((), rest)
    first = len(a.sizes) if isinstance(a, View) else 0
    reads: list[tuple[int, PendingRead]] = []
    found = np.array(c)
    for group in np.flatnonzero(call.groups).tolist():
        own = [np.asarray(call.of_group(index, group, "an index")) for index in indices]
        sides = []
        for name, value, at in (("a", a, own[:first]), ("b", b, own[first:])):
            matrix, read = _operand(call, op, form, (name, value, group), at)
            sides.append(matrix)
            reads += [(group, read)] if read is not None else []
        addend = c[group] if call.of_group(np.asarray(scale), group) else np.zeros_like(c[group])
        codes = sparse_codes(call, form, metadata[0][group]) if metadata else None
        factors = Factors(sides[0], sides[1], addend, codes)
        found[group] = multiply(call, form, factors, _numbers(call, form))
    for group, read in reads:
        call.cta.shared.begin_read(read, group * WARPGROUP_WARPS, call.report)
        kept = PendingRead(read.buffer, read.places, read.warps, found)
        _groups(call, group).open.append(kept)
    return found


def _numbers(call: Call, form: Product) -> tuple[Number, Number, Number, Number]:
    """The element types of A, B, C and D."""

    def find() -> tuple[Number, ...]:
        return tuple(named(element_name(form.operand(n))) for n in "abcd")

    a, b, c, d = call.fact("numbers", find)
    return a, b, c, d


def _operand(
    call: Call,
    op: WgmmaProduct,
    form: Product,
    given: tuple[str, Array | View, int],
    at: Sequence[Array],
) -> tuple[Array, PendingRead | None]:
    """A or B of a warpgroup, with its sign, and what is read of shared memory."""
    name, value, group = given
    operand, read = form.operand(name), None
    if isinstance(value, View):
        transposed = call.fact(
            f"turned {name}", lambda: bool(op.selector_value(f"imm_trans_{name}"))
        )
        side = Side(call, name, form, (operand.rows, operand.cols), transposed)
        matrix, places = side.read(value, at)
        read = PendingRead(value.buffer, places, np.asarray(np.uint64(_mask(group))))
    else:
        matrix = value[group]
    if call.fact(f"sign {name}", lambda: op.selector_value(f"imm_scale_{name}")) < 0:
        of = _numbers(call, form)["ab".index(name)]
        matrix = np.asarray(call.arithmetic.apply("arith.negf", (matrix,), of))
    return matrix, read


@meaning("tile.wgmma_fence")
def _fence(call: Call, *values: Array) -> tuple[Array, ...]:
    return values


@meaning("tile.wgmma_commit")
def _commit(call: Call) -> None:
    for group in np.flatnonzero(call.groups).tolist():
        _groups(call, group).commit()


@meaning("tile.wgmma_wait")
def _wait(call: Call, *values: Array) -> tuple[Array, ...]:
    _end(call, call.integer("pending"))
    return values


def _end(call: Call, pending: int) -> None:
    for group in np.flatnonzero(call.groups).tolist():
        for read in _groups(call, group).end(pending):
            call.cta.shared.end_read(read)


# Fragments


@meaning("tile.accumulator")
def _accumulator(call: Call) -> Array:
    type_ = call.result_type()
    tile = call.warpgroup_tile(type_)
    assert tile is not None
    dtype = dtype_of(call.number(type_), call.arithmetic)
    return np.zeros((len(call.groups), *tile.shape), dtype)


@meaning("tile.warp_part")
def _part(call: Call, values: Array) -> Array:
    for group in np.flatnonzero(call.groups).tolist():
        if any(read.result is values for read in _groups(call, group).all()):
            call.report("in flight", "takes the result of a product that is not waited for")
    tile = call.tile(call.result_type())
    assert tile is not None
    first, (rows, cols) = call.integer("column"), tile.shape
    parts = values.reshape(-1, rows, values.shape[-1])[:, :, first : first + cols]
    return parts[: call.cta.warps]


@meaning("tile.join_warps")
def _join(call: Call, *values: Array) -> Array:
    tile = call.warpgroup_tile(call.result_type())
    assert tile is not None
    whole = np.concatenate(values, axis=-1)
    missing = -len(whole) % WARPGROUP_WARPS
    whole = np.pad(whole, ((0, missing), (0, 0), (0, 0)))
    return whole.reshape(-1, *tile.shape)


# Products of tiles


@meaning("tile.warpgroup_dot", "tile.warpgroup_dot_sp", "tile.warpgroup_start")
def _dot(call: Call, a: Array | View, b: View, c: Array, *rest: Array | View) -> Array:
    sides, reads = _sides(call, [a, b, c, *rest])
    found = _multiplied(call, sides, c, rest, None)
    _read(call, reads)
    if call.node.name == "tile.warpgroup_start":
        _start(call, reads, found)
    return found


@meaning("tile.tensor_dot", "tile.tensor_dot_scaled", control=True)
def _tensor_dot(
    call: Call, a: Array | View, b: View, c: Array, *rest: Array | View
) -> Generator[None, None, Array]:
    """A product in tensor memory, of one CTA, or with the other of a pair, which it waits for."""
    op, cta = call.op, call.cta
    assert isinstance(op, TensorDot)
    sides, reads = _sides(call, [a, b, c, *rest])
    scales = None
    if isinstance(op, TensorDotScaledOp):
        scales = _scales(call, op, _indices(call, op, [a, b, c, *rest]), rest, reads)
    _read(call, reads)
    if call.fact("group", lambda: op.group) > 1:
        for read in reads:
            cta.shared.keep_reading(read)
        cta.waits = call.node
        pair = cta.cluster.pairs.setdefault(cta.rank // 2, PairProduct())
        ends = partial(_end_reads, call, reads), partial(_meet, call)
        sides[1] = yield from pair.columns(cta.rank, sides[1], *ends)
    return _multiplied(call, sides, c, rest, scales)


def _end_reads(call: Call, reads: Sequence[PendingRead]) -> None:
    for read in reads:
        call.cta.shared.end_read(read)


def _meet(call: Call) -> None:
    """Let the warps of both CTAs of a pair know of each other, that multiply together."""
    order, cluster = call.cta.order, call.cta.cluster
    assert order is not None  # of every cluster of several CTAs
    first = call.cta.rank // 2 * 2
    present = [cta.agents(call.warps) for cta in cluster.ctas[first : first + 2]]
    order.meet(np.concatenate(present))


def _sides(call: Call, values: Sequence[Array | View]) -> tuple[list[Array], list[PendingRead]]:
    """A and B, of a pair the half that the CTA has, and what is read of shared memory."""
    op = call.op
    assert isinstance(op, WarpgroupProduct)
    form = call.fact("form", lambda: op.key)
    assert isinstance(form, Product)
    depth = call.fact("depth", op.depth)
    group = call.fact("group", lambda: op.group) if isinstance(op, TensorDot) else 1
    c = values[2]
    assert not isinstance(c, View)
    rows, cols = c.shape
    indices = _indices(call, op, values)
    sides, reads = list[Array](), list[PendingRead]()
    for name, value in zip("ab", values, strict=False):
        at = indices.get(name, [])
        if not isinstance(value, View):
            sides.append(value)
            continue
        extents = (rows, depth // op.COLUMNS_OF_STORED) if name == "a" else (depth, cols // group)
        transposed = call.fact(f"turned {name}", partial(op.is_transposed, name))
        side = Side(call, name, form, extents, transposed)
        matrix, places = side.read(value, at)
        sides.append(matrix)
        reads.append(PendingRead(value.buffer, places, np.asarray(np.uint64(call.warp_mask))))
    return sides, reads


def _read(call: Call, reads: Sequence[PendingRead]) -> None:
    """Note reads: the operands are visible to the asynchronous proxy when the op begins."""
    for read in reads:
        call.cta.shared.read(read.buffer, read.places, read.warps, call.report)


def _multiplied(
    call: Call,
    sides: Sequence[Array],
    c: Array,
    rest: Sequence[Array | View],
    scales: Scales | None,
) -> Array:
    """The product of A and B, and C."""
    op = call.op
    assert isinstance(op, WarpgroupProduct)
    form = call.fact("form", lambda: op.key)
    assert isinstance(form, Product)
    codes = rest[0] if form.sparsity else None
    assert not isinstance(codes, View)
    factors = Factors(sides[0], sides[1], c, codes, scales)
    return multiply(call, form, factors, _numbers(call, form))


def _indices(
    call: Call, op: WarpgroupProduct, values: Sequence[Array | View]
) -> dict[str, list[Array]]:
    """Where each operand in memory begins."""
    found: dict[str, list[Array]] = {}
    at = op.FIXED
    for name, number in call.fact("memories", op.memories).items():
        view = values[number]
        assert isinstance(view, View)
        rank = len(view.sizes)
        found[name] = [one for one in values[at : at + rank] if not isinstance(one, View)]
        at += rank
    return found


def _scales(
    call: Call,
    op: TensorDotScaledOp,
    indices: Mapping[str, Sequence[Array]],
    rest: Sequence[Array | View],
    reads: list[PendingRead],
) -> Scales:
    """The scale factors of A and B in shared memory, whose reading is noted."""
    count = call.fact("factors", op.factors)
    rows, cols = ir.RankedTensorType(op.results[0].type).shape
    form = call.fact("form", lambda: op.key)
    found, numbers = [], []
    for name, extent, view in zip(FACTOR_NAMES, (rows, cols), rest, strict=False):
        assert isinstance(view, View)
        shape = extent, count
        places, inside = find_places(call, view, indices[name], shape, each=False)
        if not inside.all():
            call.report("bounds", f"reads operand {name} outside its buffer")
        number = named(element_name(form.operand(name)))
        values = view.buffer.data[places]
        if view.buffer.number == BYTE:
            values = call.arithmetic.decode(values & 0xFF, number)
        found.append(values)
        numbers.append(number)
        warps = np.asarray(np.uint64(call.warp_mask))
        reads.append(PendingRead(view.buffer, np.unique(places), warps))
    return Scales(found[0], found[1].T, numbers[0], numbers[1])


def _start(call: Call, reads: Sequence[PendingRead], result: Array) -> None:
    """Note what goes on after the op."""
    for group in np.flatnonzero(call.groups).tolist():
        mask = np.asarray(np.uint64(_mask(group)))
        mine = [PendingRead(read.buffer, read.places, mask, result) for read in reads]
        for read in mine:
            call.cta.shared.keep_reading(read)
        groups = _groups(call, group)
        groups.open += mine
        groups.commit()


@meaning("tile.warpgroup_wait")
def _wait_tile(call: Call, started: Array) -> Array:
    _end(call, call.integer("pending"))
    return started
