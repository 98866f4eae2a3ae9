"""Where a fragment lies in memory, and the accesses that move it, as wide as they may be."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import Any

from tilec.dialects.tile.dialect import SharedAttr
from tilec.dialects.tile.matrices import in_memory
from tilec.dialects.tile.ops.memory import vector_of
from tilec.dialects.tile.shared import shared_buffer
from tilec.dialects.tile.stored import check_addressable
from tilec.dialects.tile.tiles import TileValue, bits_of
from tilec.layout import LinearLayout
from tilec.layout.access import Access, vector_access
from tilec.mlir import dialect, ir

from ..emit import create
from .global_memory import GlobalAccess
from .kernel import Kernel
from .shared_memory import SharedAccess, shared_access

VECTOR_BYTES = 16
"""The widest access of one thread."""


class FragmentAccess:
    """The accesses of one op to memory, each as wide as layout and alignment allow.

    Args:
        kernel: the kernel.
        op: the op, with the attributes of `tile.load`.
        tile: the fragment, in units of what memory holds.
        memref: the memory.
        lowered: what stands for it.
        indices: of the fragment's origin.
        loads: whether memory is only read.
        widest: bytes that an access may move.

    Raises:
        TilecError: if registers and lanes set bits of a place in common.

    Attributes:
        steps: of each access, the registers that it moves and the place of the first.
        width: elements of an access.
        alignment: bytes of it.
    """

    def __init__(
        self,
        kernel: Kernel,
        op: Any,
        tile: TileValue,
        memref: Any,
        lowered: Any,
        indices: list[Any],
        *,
        loads: bool,
        widest: int = VECTOR_BYTES,
    ) -> None:
        self._kernel = kernel
        bits = bits_of(tile.element)
        self._layout = in_memory(tile, transposed="transposed" in op.attributes)
        self._masked = "masked" in op.attributes
        check_addressable(tile.layout)
        lane = self._layout.restrict(ins=("lane",))
        self._memory: SharedAccess | GlobalAccess
        if isinstance(memref.type.memory_space, SharedAttr):
            shape = tuple(memref.type.shape)
            buffer = shared_buffer(memref.type)
            shared = shared_access(kernel, lowered, buffer, indices, shape, lane, "lane")
            offsets = self._layout.then(buffer.layout)
            aligned, self._memory = shared.alignment(), shared
        else:
            self._memory = GlobalAccess(kernel, memref, indices, lane, "lane")
            offsets = _row_by_row(self._layout)
            aligned = self._memory.alignment(vector_of(op))
        limit = min(aligned * bits // 8, widest)
        access = vector_access(offsets, bits, store=not loads, widest=limit)
        assert access is not None
        self.width = access.width * 8 // bits
        self.alignment = access.width
        places = [self._layout(register=r) for r in range(tile.registers)]
        self.steps = [(registers, places[registers[0]]) for registers in _registers(access)]
        moved = {places[r]: r for registers, _ in self.steps for r in registers}
        self._copies = [moved[place] for place in places]

    def copy_of(self, register: int) -> int:
        """The register that holds the same element and is moved; itself, unless it is a copy."""
        return self._copies[register]

    def pointer(self, place: tuple[int, ...]) -> Any:
        """The address of this lane's elements from `place` on."""
        return self._memory.pointer(place)

    def read(self, place: tuple[int, ...], read: Callable[[], Any], type_: Any) -> Any:
        """What `read` emits, of `type_`; zero where the op is masked and the place is outside."""
        if not self._masked:
            return read()
        scf = dialect("scf")
        branch = scf.IfOp(self._inside(place), [type_], has_else=True)
        with ir.InsertionPoint(branch.then_block):
            scf.YieldOp([read()])
        with ir.InsertionPoint(branch.else_block):
            scf.YieldOp([create("llvm.mlir.zero", [], type_)])
        return branch.results[0]

    def write(self, place: tuple[int, ...], write: Callable[[], None]) -> None:
        """Emit `write`, where the op is masked for places inside only."""
        if not self._masked:
            write()
            return
        with _where(self._inside(place)):
            write()

    @contextmanager
    def held_once(self) -> Iterator[None]:
        """Of lanes that hold the same elements of global memory, only the first goes in here."""
        copies = self._layout.free("lane")
        if not copies or isinstance(self._memory, SharedAccess):
            yield
            return
        with _where(self._kernel.first_of_copies("lane", copies)):
            yield

    def _inside(self, place: tuple[int, ...]) -> Any:
        assert isinstance(self._memory, GlobalAccess)
        return self._memory.inside(place)


@contextmanager
def _where(condition: Any) -> Iterator[None]:
    """Under an `scf.if`."""
    scf = dialect("scf")
    branch = scf.IfOp(condition)
    with ir.InsertionPoint(branch.then_block):
        yield
        scf.YieldOp([])


def _row_by_row(layout: LinearLayout) -> LinearLayout:
    """-> offset, in elements, as if the tile lay alone in memory, row by row."""
    fastest_first = tuple(reversed(layout.out_sizes))
    return layout.reorder(tuple(layout.in_sizes), fastest_first).flatten_outs("offset")


def _registers(access: Access) -> list[list[int]]:
    """The registers that each instruction moves, low to high."""
    sizes = access.registers.in_sizes
    return [
        [access.registers(element=e, instruction=n)[0] for e in range(sizes["element"])]
        for n in range(sizes["instruction"])
    ]
