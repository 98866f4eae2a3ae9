"""`tile.tcgen05_mma` and its kin: what one thread multiplies in tensor memory, and its commits.

Each product and copy is done when it is issued; others know of it when they have waited for an
mbarrier that a later commit of the thread has told.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from typing import TYPE_CHECKING

import numpy as np
from tilec.dialects.tile.ops.tcgen05 import TensorProductOp
from tilec.interpret.arithmetic.base import Scales
from tilec.interpret.call import Call
from tilec.interpret.cta import Cta
from tilec.interpret.meanings.barriers import arrive, find
from tilec.interpret.meanings.products import Factors, multiply
from tilec.interpret.memory import View
from tilec.interpret.numbers import BYTE, Array, Number
from tilec.interpret.registry import meaning
from tilec.interpret.sides import Side, element_of
from tilec.interpret.tensor import Elements, Pipe, TensorView, elements, only
from tilec.ir.mlir import ir
from tilec.isa import LANES
from tilec.isa.tensor_memory import LANES as TENSOR_LANES
from tilec.layout.tensor_memory import metadata

if TYPE_CHECKING:
    from tilec.isa.described_product import DescribedProduct


def pipe_of(call: Call) -> tuple[Pipe, int, int]:
    """What the one active thread has done, its warp's number in the cluster, and in the CTA."""
    thread, cta = int(np.flatnonzero(call.active)[0]), call.cta
    assert cta.order is not None
    if thread not in cta.pipes:
        cta.pipes[thread] = Pipe(cta.order.new_source())
    warp = thread // LANES
    return cta.pipes[thread], cta.rank * cta.warps + warp, warp


def issue(call: Call) -> tuple[Pipe, int, int]:
    """The same of a thread that begins something."""
    pipe, agent, warp = pipe_of(call)
    assert call.cta.order is not None
    pipe.issue(call.cta.order.known(agent))
    return pipe, agent, warp


def ctas_of(call: Call, group: int) -> list[Cta]:
    """The CTAs that take part: of a pair both."""
    if group == 1:
        return [call.cta]
    first = call.cta.rank // group * group
    return call.cta.cluster.ctas[first : first + group]


class _Product:
    """A product, as one thread has issued it.

    Args:
        call: the op, of one thread.
        values: its operands.
    """

    def __init__(self, call: Call, values: Sequence[Array | View | TensorView]) -> None:
        op = call.op
        assert isinstance(op, TensorProductOp)
        self._call, self._op = call, op
        self.form: DescribedProduct = call.fact("product", lambda: op.product)
        self._pipe, self._agent, self._warp = issue(call)
        self.ctas = ctas_of(call, self.form.group)
        names = op.MATRICES
        self._memory = {name: values[at + (at > 2)] for at, name in enumerate(names)}
        self._options = call.fact("options", lambda: op.options)
        self._adds = bool(call.uniform(np.asarray(values[3])))
        self._indices: dict[str, list[Array]] = {}
        at = len(names) + 1
        for name in names:
            rank = call.fact(f"rank {name}", lambda n=name: _rank(op, n))  # type: ignore[misc]
            self._indices[name] = [np.asarray(one) for one in values[at : at + rank]]
            at += rank

    def run(self) -> None:
        """Multiply, and write D."""
        call, form = self._call, self.form
        m, n, _ = form.shape
        parts = [self._shared("b", cta) for cta in self.ctas]
        b = self._used(self._signed("b", np.concatenate(parts, axis=-1)))
        rows = m // form.group
        of = call.fact("numbers", lambda: _numbers(form))
        done: list[tuple[Cta, Elements, Array]] = []
        for number, cta in enumerate(self.ctas):
            mine = slice(number * rows, (number + 1) * rows)
            a = self._signed("a", self._left(cta, mine))
            where = self._elements("d", mine, slice(0, n))
            before = self._read(cta, where) if self._adds else None
            zeros = np.zeros((rows, n), call.arithmetic.dtype(of[3])) if of[3].is_float else None
            c = self._divided(before, of[3]) if before is not None else zeros
            c = np.zeros((rows, n), np.int64) if c is None else c
            codes, scales = self._codes(cta, mine), self._scales(cta, rows, n)
            factors = Factors(a, b, c, codes, scales)
            done.append((cta, where, multiply(call, form, factors, of)))
        for number, (cta, where, found) in enumerate(done):
            place, left = self._unmasked(number, where, found)
            cta.tensor.write_by(place, left, self._agent, self._pipe, call.arithmetic, call.report)

    def _used(self, b: Array) -> Array:
        """B with zeros in the columns that count as such."""
        mask = self._options.zeros
        if mask is None:
            return b
        if mask.shift:
            self._call.unknown("a mask that moves columns")
        m, n, _ = self.form.shape
        return np.where(np.array(mask.columns(m, n)), np.zeros((), b.dtype), b)

    def _divided(self, c: Array, number: Number) -> Array:
        """D divided by the power of two that the op says."""
        if not self._options.exponent:
            return c
        if c.dtype.kind in "iu":
            self._call.unknown("a division of whole numbers")
        arithmetic = self._call.arithmetic
        factor = arithmetic.constant(np.array(2.0**-self._options.exponent), number)
        return np.asarray(
            arithmetic.apply("arith.mulf", (c, np.broadcast_to(factor, c.shape)), number)
        )

    def _unmasked(self, cta: int, where: Elements, found: Array) -> tuple[Elements, Array]:
        """Places of a CTA of the pair, and values, without the lanes that stay as they are."""
        if not self._options.kept:
            return where, found
        words = self._options.kept
        kept = np.array([words[at // 32] >> at % 32 & 1 for at in range(32 * len(words))], bool)
        some = ~kept[TENSOR_LANES * cta + where.lanes]
        return only(where, some), np.broadcast_to(found, some.shape)[some]

    def _signed(self, name: str, matrix: Array) -> Array:
        if f"negate_{name}" not in self._op.attributes:
            return matrix
        of = element_of(self.form.operand(name))
        return np.asarray(self._call.arithmetic.apply("arith.negf", (matrix,), of))

    def _read(self, cta: Cta, where: Elements) -> Array:
        call = self._call
        return cta.tensor.read_by(where, self._agent, self._pipe, call.arithmetic, call.report)

    def _elements(self, name: str, rows: slice, cols: slice) -> Elements:
        view = self._memory[name]
        assert isinstance(view, TensorView)
        *leading, _, _ = (int(self._call.uniform(one, "an index")) for one in self._indices[name])
        extents = ir.MemRefType(self._op.matrix_named(name).type).shape[:-2]
        matrix = int(np.ravel_multi_index(leading, extents, mode="clip")) if leading else 0
        if any(not 0 <= at < n for at, n in zip(leading, extents, strict=True)):
            self._call.report("bounds", f"takes matrix {leading} of a buffer that has fewer")
        return elements(view, matrix, rows, cols)

    def _left(self, cta: Cta, rows: slice) -> Array:
        """The rows of A that a CTA has."""
        if not isinstance(self._memory["a"], TensorView):
            return self._shared("a", cta)
        first = int(self._call.uniform(self._indices["a"][-1], "an index"))
        cols = slice(first, first + self.form.operand("a").cols)
        operand, held = self.form.operand("a"), self._memory["a"].number
        values = self._read(cta, self._elements("a", rows, cols))
        if held == BYTE:  # elements of less bits stand in the middle of their byte
            values = (values & 0xFF) >> operand.shift if operand.shift else values
        return _as_float(self._call, values, held, element_of(operand))

    def _shared(self, name: str, cta: Cta) -> Array:
        """What a CTA has of an operand in shared memory."""
        call, form, operand = self._call, self.form, self.form.operand(name)
        view = self._memory[name]
        assert isinstance(view, View)
        own = replace(view, buffer=cta.buffer(view.buffer.shared))
        share = (form.group, 1) if name == "a" else (1, form.group)
        extents = operand.rows // share[0], operand.cols // share[1]
        turned = f"transpose_{name}" in self._op.attributes
        found, places = Side(call, name, form, extents, turned).read(own, self._indices[name])
        issuer = self._agent, self._warp if cta is call.cta else None
        cta.shared.read_by(own.buffer, places, issuer, self._pipe.source, call.report)
        return found

    def _codes(self, cta: Cta, rows: slice) -> Array | None:
        """The metadata of the rows of A that a CTA has."""
        if "e" not in self._memory:
            return None
        layout = metadata(self.form.operand("a").container)
        size = layout.in_sizes
        # With `.ws` those of fewer rows stand in the first bank of lanes, and in each other.
        row = np.arange(rows.stop - rows.start)[:, None]
        lane, column, nibble = layout(row=row, col=np.arange(size["col"]))
        first = int(self._call.uniform(self._indices["e"][-1]))
        cols = slice(first, first + layout.out_sizes["column"])
        words = self._read(cta, self._elements("e", rows, cols))
        return np.asarray(words[lane, column] >> 4 * nibble & 0xF)

    def _scales(self, cta: Cta, rows: int, cols: int) -> Scales | None:
        chunks = self.form.scaling.chunks if self.form.scaling is not None else 0
        if not chunks:
            return None
        found, of = [], []
        for name, count in (("sfa", rows), ("sfb", cols)):
            first = int(self._call.uniform(self._indices[name][-1]))
            where = self._elements(name, slice(0, count), slice(first, first + chunks))
            values, number = self._read(cta, where), element_of(self.form.operand(name))
            found.append(_as_float(self._call, values, where.store[0], number))
            of.append(number)
        return Scales(found[0], found[1].T, of[0], of[1])


def _rank(op: TensorProductOp, name: str) -> int:
    return ir.MemRefType(op.matrix_named(name).type).rank


def _numbers(form: DescribedProduct) -> tuple[Number, Number, Number, Number]:
    a, b, c, d = (element_of(form.operand(name)) for name in "abcd")
    return a, b, c, d


def _as_float(call: Call, values: Array, held: Number, number: Number) -> Array:
    """Floats that may lie in memory as bytes."""
    if held != BYTE or number == BYTE:
        return values
    return call.arithmetic.decode(values & 0xFF, number)


@meaning(
    "tile.tcgen05_mma", "tile.tcgen05_mma_scaled", "tile.tcgen05_mma_sp",
    "tile.tcgen05_mma_sp_scaled", meets=True,
)  # fmt: skip
def _product(call: Call, *values: Array | View | TensorView) -> None:
    for one in call.of_each_thread():
        _Product(one, values).run()


@meaning("tile.tcgen05_commit", meets=True)
def _commit(call: Call, barriers: View, index: Array, *mask: Array) -> None:
    for one in call.of_each_thread():
        _tell(one, barriers, index, mask)


def _tell(call: Call, barriers: View, index: Array, mask: Sequence[Array]) -> None:
    """Arrive, and let who waits know of all that the thread has done in tensor memory."""
    order, ctas = call.cta.order, call.cta.cluster.ctas
    assert order is not None
    clock = pipe_of(call)[0].commit(order)
    ranks = int(call.uniform(mask[0])) if mask else 1 << call.cta.rank
    for cta in (cta for cta in ctas if ranks >> cta.rank & 1):
        found = find(call, cta, barriers, index)
        if found is None:
            continue
        if not found.fenced:
            call.report("proxy", "signals an mbarrier without a fence after its initialisation")
        arrive(call, found, clock)
