"""`tcgen05.ld`, `.st` and `.ld.red`: tensor memory to and from the registers of a warp.

PTX ISA 9.7.16.8. A warp reaches the 32 lanes of its quarter of tensor memory; a shape says how many
of them, of how many columns at once, and `.xN` how often that repeats along the columns.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from functools import partial
from itertools import product as cross
from typing import NamedTuple

from .form_classes import Family, Form
from .form_parts import ExecutionScope, Selector
from .lazy_forms import LazyForms
from .operands import B32, F32, S32, Operand, Register, Storage
from .tensor_clauses import REDUCTIONS, everywhere
from .types import element_type

SECTION = "9.7.16.8"
MOST_REGISTERS = 128
"""Of a thread that one instruction moves."""


class MoveShape(NamedTuple):
    """A shape that repeats along the columns of tensor memory.

    Attributes:
        name: as the mnemonic has it.
        lanes: of tensor memory.
        columns: of 32 bits, that one repetition covers; of halves that lie apart, both.
        registers: of a thread, that one repetition takes.
        halves: parts of the warp whose columns lie a constant apart.
    """

    name: str
    lanes: int
    columns: int
    registers: int
    halves: int = 1

    @property
    def repetitions(self) -> tuple[int, ...]:
        """Every N of `.xN`."""
        most = MOST_REGISTERS // self.registers
        return tuple(1 << n for n in range(most.bit_length()))


SHAPES = (
    MoveShape("32x32b", 32, 1, 1),
    MoveShape("16x64b", 16, 2, 1),
    MoveShape("16x128b", 16, 4, 2),
    MoveShape("16x256b", 16, 8, 4),
    MoveShape("16x32bx2", 16, 2, 1, halves=2),
)
"""The shapes of loads and stores; reductions have those of one register for each column."""

OFFSETS = tuple(range(512))
"""Columns that the second half may lie apart."""
_ADDRESS = Register("b32", "i32", 32)


@dataclass(frozen=True, slots=True, kw_only=True, eq=False, repr=False)
class TensorMove(Form):
    """A load, a store, or a load that reduces.

    Attributes:
        move: its shape.
        count: N of `.xN`.
        packed: whether two columns of 16 bits share a register: `.pack::16b`, `.unpack::16b`.
        reduction: what the rest of the mnemonic says of `tcgen05.ld.red`, such as `max.abs.f32`.
    """

    move: MoveShape
    count: int
    packed: bool = False
    reduction: str = ""

    @property
    def is_store(self) -> bool:
        """Whether it goes from registers to tensor memory."""
        return self.family == Family.TCGEN05_ST

    @property
    def fragment(self) -> Operand:
        """What registers hold of it."""
        return self.operand("r" if self.is_store else "d")

    @property
    def columns(self) -> int:
        """Columns of tensor memory that it reaches, those of both halves."""
        return self.move.columns * self.count * (2 if self.packed else 1)

    @property
    def selectors(self) -> tuple[Selector, ...]:
        """Columns from the first half to the second, of a shape that has halves."""
        if self.move.halves == 1:
            return ()
        return (Selector("offset", OFFSETS, 32, constant=True, operand="t"),)

    @property
    def facts(self) -> dict[str, str | int]:
        """Its shape, and what it covers of tensor memory."""
        return {"shape": self.move.name, "lanes": self.move.lanes, "columns": self.columns}


def _tensor(lanes: int, columns: int) -> Operand:
    """What lies in tensor memory, told by an address."""
    return Operand(
        "t", element_type("b32"), lanes, columns, 1, _ADDRESS, 32,
        storage=Storage.TENSOR, listed=False,
    )  # fmt: skip


def _registers(name: str, move: MoveShape, count: int, *, packed: bool) -> Operand:
    type_ = element_type("b16" if packed else "b32")
    columns = move.columns * count * (2 if packed else 1)
    return Operand(name, type_, move.lanes, columns, move.registers * count, B32, type_.bits)


def _move(move: MoveShape, count: int, *, store: bool, packed: bool) -> TensorMove:
    ptx = move_name(move, count, store=store, packed=packed)
    inside = _registers("r" if store else "d", move, count, packed=packed)
    place = _tensor(move.lanes, move.columns * count * (2 if packed else 1))
    return TensorMove(
        ptx=ptx,
        family=Family.TCGEN05_ST if store else Family.TCGEN05_LD,
        results=(place,) if store else (inside,),
        operands=(inside,) if store else (place,),
        since=everywhere(),
        intrinsic=None,  # a vector of registers, which the calls of this table have none of
        section=SECTION,
        scope=ExecutionScope.WARP,
        asynchronous=True,
        move=move,
        count=count,
        packed=packed,
    )


def move_name(move: MoveShape, count: int, *, store: bool, packed: bool) -> str:
    """The mnemonic of a load or store.

    Args:
        move: its shape.
        count: N of `.xN`.
        store: whether it goes to tensor memory.
        packed: whether two columns of 16 bits share a register.
    """
    verb, how = ("st", ".unpack::16b") if store else ("ld", ".pack::16b")
    return f"tcgen05.{verb}.sync.aligned.{move.name}.x{count}{how * packed}.b32"


_REDUCTIONS = (
    *(
        f"{op}{abs_}{nan}.f32"
        for op, abs_, nan in cross(("min", "max"), ("", ".abs"), ("", ".NaN"))
    ),
    *(f"{op}.{type_}" for op, type_ in cross(("min", "max"), ("u32", "s32"))),
)
"""What `tcgen05.ld.red` may do with the columns of a lane."""


def _reduction(move: MoveShape, count: int, tail: str) -> TensorMove:
    type_ = tail.rpartition(".")[2]
    register = {"f32": F32, "s32": S32, "u32": Register("u32", "i32", 32)}[type_]
    one = Operand(
        "red", element_type(type_), move.lanes, 1, 1, register, 32, listed=False,
        # Whether both halves come together is not said.
        opaque=move.halves > 1,
    )  # fmt: skip
    data = _registers("d", move, count, packed=False)
    return TensorMove(
        ptx=_reduction_name(move, count, tail),
        family=Family.TCGEN05_LD_RED,
        results=(data, one),
        operands=(_tensor(move.lanes, data.cols),),
        since=REDUCTIONS,
        intrinsic=None,  # LLVM 22 has none
        section=SECTION,
        scope=ExecutionScope.WARP,
        asynchronous=True,
        move=move,
        count=count,
        reduction=tail,
    )


def _reduction_name(move: MoveShape, count: int, tail: str) -> str:
    return f"tcgen05.ld.red.sync.aligned.{move.name}.x{count}.{tail}"


def _makers() -> Iterator[tuple[str, partial[TensorMove]]]:
    for store, move, packed in cross((False, True), SHAPES, (False, True)):
        for count in move.repetitions:
            name = move_name(move, count, store=store, packed=packed)
            yield name, partial(_move, move, count, store=store, packed=packed)
    for move, tail in cross((SHAPES[0], SHAPES[-1]), _REDUCTIONS):
        for count in move.repetitions[1:]:
            name = _reduction_name(move, count, tail)
            yield name, partial(_reduction, move, count, tail)


def keys(spelling: str) -> tuple[str, ...]:
    """The keys that a spelling may mean: itself."""
    return (spelling,)


def forms() -> LazyForms:
    """Every form, made when it is asked for."""
    return LazyForms(dict(_makers()))


CLASS = TensorMove
