"""`tile.load`, `tile.store` and `tile.alloc_shared`: each lane's elements, as wide as they lie."""

from __future__ import annotations

from functools import reduce
from typing import Any

from tilec.dialects.tile.dialect import SharedAttr
from tilec.dialects.tile.matrices import in_memory
from tilec.dialects.tile.ops.memory import vector_of
from tilec.dialects.tile.shared import shared_buffer
from tilec.dialects.tile.tiles import TileValue, bits_of, tile_value
from tilec.isa import TilecError
from tilec.layout import LinearLayout
from tilec.mlir import dialect, ir

from ..emit import create
from ..expansion import Expansion, Values
from .global_memory import GlobalAccess
from .kernel import Kernel
from .registers import Packing, elements, packing, registers_of
from .shared_memory import SharedAccess, shared_access

VECTOR_BYTES = 16
"""The widest access of one thread."""


class Memory:
    """Lowering of loads and stores of one kernel's fragments."""

    def __init__(self, kernel: Kernel) -> None:
        self._kernel = kernel

    def load(self, op: Any, expansion: Expansion) -> list[Values]:
        """`tile.load` of a fragment."""
        tile = _fragment(op.results[0])
        source, *indices = op.operands
        access = _Access(self._kernel, op, tile, source, expansion.one(source), indices)
        packed = packing(tile)
        loaded: list[Any] = []
        for first in range(0, tile.registers, access.width):
            loaded += access.load(first, packed)
        return [registers_of(loaded, packed)]

    def store(self, op: Any, expansion: Expansion) -> list[Values]:
        """`tile.store` of a fragment."""
        value, target, *indices = op.operands
        tile = _fragment(value)
        access = _Access(self._kernel, op, tile, target, expansion.one(target), indices)
        packed = packing(tile)
        held = elements(expansion.values(value), packed)
        for first in range(0, tile.registers, access.width):
            access.store(first, held[first : first + access.width])
        return []


def _fragment(value: Any) -> TileValue:
    tile = tile_value(value.type)
    if tile is None or not tile.is_fragment:
        raise TilecError("works on fragments here: run tile-to-fragments first")
    return tile


class _Access:
    """One load or store.

    Attributes:
        width: elements that go at once.
    """

    def __init__(
        self,
        kernel: Kernel,
        op: Any,
        tile: TileValue,
        memref: Any,
        lowered: Any,
        indices: list[Any],
    ) -> None:
        if bits_of(tile.element) % 8:
            raise TilecError(f"elements of type {tile.element} have no address of their own")
        self._layout = in_memory(tile, transposed="transposed" in op.attributes)
        self._masked = "masked" in op.attributes
        self._element = tile.element
        lane = self._layout.restrict(ins=("lane",))
        self._register = self._layout.restrict(ins=("register",))
        registers = _bits(self._register, "register")
        lanes = _bits(lane, "lane")
        if any(a & b for a, b in zip(registers, lanes, strict=True)):
            raise TilecError(
                f"the layout '{tile.layout}' mixes lane and register bits; convert it first"
            )
        self._shared: SharedAccess | None = None
        self._global: GlobalAccess | None = None
        if isinstance(memref.type.memory_space, SharedAttr):
            buffer = shared_buffer(memref.type)
            shape = tuple(memref.type.shape)
            if self._masked:
                raise TilecError("of shared memory cannot be masked: its extents are the buffer's")
            self._shared = shared_access(kernel, lowered, buffer, indices, shape, lane, "lane")
            self.width = self._shared_width(memref)
        else:
            self._global = GlobalAccess(kernel, memref, indices, lane, "lane")
            self.width = self._global_width(vector_of(op), memref)

    def _run(self) -> int:
        """Elements of consecutive registers that follow each other in memory."""
        run = 1
        for image in self._register.bases["register"]:
            if image != (*(0,) * (len(image) - 1), run):
                break
            run *= 2
        return min(run, VECTOR_BYTES * 8 // bits_of(self._element))

    def _global_width(self, promised: int, memref: Any) -> int:
        strides, _ = memref.type.get_strides_and_offset()
        return min(self._run(), promised) if strides[-1] == 1 else 1

    def _shared_width(self, memref: Any) -> int:
        assert self._shared is not None
        layout = shared_buffer(memref.type).layout
        width, limit = 1, self._run()
        index = self._shared.col
        while width < limit and layout(col=width) == (width,):
            width *= 2
        while width > 1 and (index.multiple % width or index.constant % width):
            width //= 2
        return width

    def _pointer(self, first: int) -> Any:
        place = self._register(register=first)
        if self._shared is not None:
            return self._shared.pointer(*place)
        assert self._global is not None
        return self._global.pointer(place)

    def load(self, first: int, packed: Packing) -> list[Any]:
        """The elements of registers `first` and on."""

        def read() -> Any:
            return create(
                "llvm.load", [self._pointer(first)], type_, alignment=self._alignment(packed)
            )

        type_ = _vector(packed.element, self.width)
        value = self._guarded(first, read, type_) if self._masked else read()
        if self.width == 1:
            return [value]
        whole = Packing(packed.element, self.width, 1)
        return elements([value], whole)

    def store(self, first: int, values: list[Any]) -> None:
        """Write the elements of registers `first` and on."""
        packed = Packing(values[0].type, self.width, 1)
        (value,) = registers_of(values, packed)

        def write() -> None:
            ir.Operation.create(
                "llvm.store",
                operands=[value, self._pointer(first)],
                attributes={"alignment": self._alignment(packed)},
            )

        if not self._masked:
            write()
            return
        scf = dialect("scf")
        branch = scf.IfOp(self._inside(first))
        with ir.InsertionPoint(branch.then_block):
            write()
            scf.YieldOp([])

    def _alignment(self, packed: Packing) -> Any:
        size = self.width * int(packed.element.width) // 8
        return ir.IntegerAttr.get(ir.IntegerType.get_signless(64), size)

    def _inside(self, first: int) -> Any:
        assert self._global is not None
        return self._global.inside(self._register(register=first))

    def _guarded(self, first: int, read: Any, type_: Any) -> Any:
        """What `read` emits where the place is inside, else zero."""
        scf = dialect("scf")
        branch = scf.IfOp(self._inside(first), [type_], has_else=True)
        with ir.InsertionPoint(branch.then_block):
            scf.YieldOp([read()])
        with ir.InsertionPoint(branch.else_block):
            scf.YieldOp([create("llvm.mlir.zero", [], type_)])
        return branch.results[0]


def _bits(layout: LinearLayout, dim: str) -> list[int]:
    """For each output the bits that an input can set."""
    images = layout.bases[dim]
    return [reduce(int.__or__, (i[at] for i in images), 0) for at in range(len(layout.outs))]


def _vector(element: Any, count: int) -> Any:
    return element if count == 1 else ir.VectorType.get([count], element)
