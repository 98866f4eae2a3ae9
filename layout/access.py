"""The instructions that move a fragment between registers and shared memory.

Given where each register of each lane lies in shared memory, which plain loads or stores, or
which `ldmatrix` or `stmatrix`, move all of it? Matrix instructions match by division: the map
from their matrices' rows to offsets must leave a row's elements side by side.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import NamedTuple

from tilec.isa import Form, MatrixMemory
from tilec.isa.wording import counted

from . import banks
from .fragments import fragment_of, row_addresses
from .gf2 import Echelon, combine
from .linear import LayoutError, LinearLayout

WORD_BITS = 32
"""A register of the machine."""


@dataclass(frozen=True, slots=True)
class Access:
    """How each lane moves its fragment, instruction by instruction.

    Attributes:
        form: `ldmatrix` or `stmatrix`, or None for plain loads and stores.
        store: whether it stores.
        bits: bits of an element.
        width: bytes at each address.
        registers: (element, instruction) -> register: the lane's elements that an instruction
            moves, low to high, as indices into the fragment. Of registers that hold copies
            only one is moved.
        offsets: (instruction, lane, …) -> offset, in elements: the address that a lane supplies,
            and further inputs, such as `warp`, that it depends on.
    """

    form: MatrixMemory | None
    store: bool
    bits: int
    width: int
    registers: LinearLayout
    offsets: LinearLayout

    @property
    def instructions(self) -> int:
        """Instructions of a warp."""
        return self.registers.in_sizes["instruction"]

    @property
    def name(self) -> str:
        """The instruction, as in `ld.shared.v4.b32` or a matrix form's mnemonic."""
        if self.form:
            return self.form.mnemonic("shared")
        kind = "st" if self.store else "ld"
        word = max(self.bits, 32) // 8
        if self.width > word:
            return f"{kind}.shared.v{self.width // word}.b{8 * word}"
        return f"{kind}.shared.b{8 * self.width}"

    def count(self) -> banks.Count:
        """Wavefronts and conflicts of all the instructions of a warp."""
        lanes = self.offsets.columns_of("lane")
        addresses = [_bytes(column, self.bits) for column in lanes]
        if self.form:
            supplying = (self.form.rows * self.form.matrices).bit_length() - 1
            each = banks.count_matrix(addresses[:supplying], self.width)
        else:
            each = banks.count(addresses, self.width, store=self.store)
        return banks.Count(*(number * self.instructions for number in each))


def vector_access(
    offsets: LinearLayout, bits: int, *, store: bool, widest: int = 16
) -> Access | None:
    """The widest plain loads or stores that move a fragment.

    Args:
        offsets: (register, lane, …) -> offset, in elements.
        bits: bits of an element.
        store: whether to store.
        widest: bytes that a lane may access at a time.

    Returns:
        The access; None if the elements are less than a byte and lie apart.
    """
    registers = offsets.columns_of("register")
    elsewhere = [c for n, _ in offsets.ins if n != "register" for c in offsets.columns_of(n)]
    echelon = Echelon(registers)
    run: list[int] = []
    while bits << len(run) < 8 * widest:
        source = echelon.solve(1 << len(run))
        if source is None:
            break
        run.append(source)
    while run and any(column % (1 << len(run)) for column in elsewhere):
        run.pop()
    if bits << len(run) < 8:
        return None
    spanned = Echelon(1 << bit for bit in range(len(run)))
    steps = []
    for bit, column in enumerate(registers):
        if spanned.add(column):
            # Start where the run does: other registers of it take care of the low bits.
            steps.append(1 << bit ^ combine(column % (1 << len(run)), run))
    return Access(
        form=None,
        store=store,
        bits=bits,
        width=(bits << len(run)) // 8,
        registers=_to_registers(run, steps, offsets),
        offsets=_addresses(offsets, steps, offsets.columns_of("lane")),
    )


class MatrixTile(NamedTuple):
    """A matrix instruction laid over a fragment.

    Attributes:
        sources: register, as a selector of its bits, of each bit of the instruction's elements.
        steps: registers that step from one instruction to the next.
        base: (matrix, row, element) -> offset.
    """

    sources: tuple[int, ...]
    steps: tuple[int, ...]
    base: LinearLayout


def matrix_tile(
    form: MatrixMemory, offsets: LinearLayout, bits: int, *, placed: bool = True
) -> MatrixTile | None:
    """Lay a matrix instruction over a fragment, packed into registers as the fragment is.

    Args:
        form: an `ldmatrix` or `stmatrix`.
        offsets: (register, lane, …) -> offset, in elements.
        bits: bits of an element.
        placed: whether the offsets are final, and a row must be where it lies side by side;
            otherwise any register may follow along a row.

    Returns:
        The tile, or None if the instruction is too large or elements too wide for it.
    """
    tile = in_elements(form, "r", bits)
    if tile is None or dict(offsets.ins).get("lane") != dict(tile.ins)["lane"]:
        return None
    registers = offsets.columns_of("register")
    echelon, spanned = Echelon(registers), Echelon()
    packed = (WORD_BITS // bits).bit_length() - 1
    sources: list[int | None] = []
    for bit, image in enumerate(tile.bases["register"]):
        along = dict(zip(tile.out_sizes, image, strict=True))["element"]
        if bit < packed:
            source = 1 << bit if bit < len(registers) else None
        else:
            source = echelon.solve(along) if along and placed else 0
        if source is None or (source and not spanned.add(combine(source, registers))):
            return None
        sources.append(source or None)
    steps = [1 << bit for bit, column in enumerate(registers) if spanned.add(column)]
    free = iter(steps)
    chosen = tuple(source or next(free, 0) for source in sources)
    if not all(chosen):
        return None
    laid = LinearLayout(
        tile.ins,
        offsets.outs,
        (*(combine(s, registers) for s in chosen), *offsets.columns_of("lane")),
    )
    return MatrixTile(chosen, tuple(free), tile.inverse().then(laid))


def matrix_access(form: MatrixMemory, offsets: LinearLayout, bits: int) -> Access | None:
    """The matrix instructions of one form that move a fragment.

    Args:
        form: an `ldmatrix` or `stmatrix`.
        offsets: (register, lane, …) -> offset, in elements.
        bits: bits of an element.

    Returns:
        The access, or None if the form does not match.
    """
    tile = matrix_tile(form, offsets, bits)
    if tile is None or form.source is not None:
        return None
    row = tile.base.in_sizes["element"]
    addresses = tile.base.restrict(("matrix", "row"))
    elsewhere = [combine(step, offsets.columns_of("register")) for step in tile.steps]
    elsewhere += [
        c for n, _ in offsets.ins if n not in ("register", "lane") for c in offsets.columns_of(n)
    ]
    if any(column % row for column in (*addresses.columns, *elsewhere)):
        return None
    if tile.base.columns_of("element") != tuple(1 << i for i in range(row.bit_length() - 1)):
        return None
    lanes = row_addresses(form).then(addresses).columns
    return Access(
        form=form,
        store=form.is_store,
        bits=bits,
        width=form.row_bytes,
        registers=_to_registers(tile.sources, tile.steps, offsets),
        offsets=_addresses(offsets, tile.steps, lanes),
    )


def in_elements(form: Form, name: str, bits: int) -> LinearLayout | None:
    """The fragment of a matrix move, counted in elements of `bits` bits along a row.

    None if such an element would be taken apart.
    """
    container = form.operand(name).container
    layout = fragment_of(form, name)
    if bits <= container:
        return LinearLayout.identity(container // bits, "register", "element") * layout
    pair = LinearLayout.identity(bits // container, "register", "element")
    return layout.divide_left(pair)


def fragment_wavefronts(
    registers: LinearLayout, shared: LinearLayout, bits: int, width: int, *, store: bool = False
) -> banks.Count:
    """Wavefronts of a warp that moves a fragment with accesses of one width.

    Args:
        registers: (register, lane, …) -> place.
        shared: offset, in elements -> place.
        bits: bits of an element.
        width: bytes each lane accesses at a time.
        store: whether it stores.

    Raises:
        LayoutError: if no access of that width moves the fragment.
    """
    banks.lanes_per_phase(width)
    access = vector_access(registers.then(shared.inverse()), bits, store=store, widest=width)
    if access is None:
        raise LayoutError(
            f"elements of {counted(bits, 'bit')} are not adjacent: no access moves less than a byte"
        )
    if access.width != width:
        raise LayoutError(
            f"no access of {counted(width, 'byte')} moves this fragment; accesses of "
            f"{access.width} do"
        )
    return access.count()


def _bytes(offset: int, bits: int) -> int:
    return offset * bits // 8


def _to_registers(
    elements: Sequence[int], steps: Sequence[int], offsets: LinearLayout
) -> LinearLayout:
    return LinearLayout(
        (("element", len(elements)), ("instruction", len(steps))),
        (("register", dict(offsets.ins).get("register", 0)),),
        (*elements, *steps),
    )


def _addresses(offsets: LinearLayout, steps: Sequence[int], lanes: Sequence[int]) -> LinearLayout:
    """(instruction, lane, …) -> offset."""
    registers = offsets.columns_of("register")
    others = [(n, b) for n, b in offsets.ins if n not in ("register", "lane")]
    return LinearLayout(
        (("instruction", len(steps)), ("lane", len(lanes)), *others),
        offsets.outs,
        (
            *(combine(step, registers) for step in steps),
            *lanes,
            *(column for name, _ in others for column in offsets.columns_of(name)),
        ),
    )
