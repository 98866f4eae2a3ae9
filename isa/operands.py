"""Matrix operands: what is said of one, and the rule that sizes those in registers."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from enum import StrEnum
from functools import cache
from typing import NamedTuple

from .types import ElementType, element_type

LANES = 32
"""Lanes of a warp."""
WARPGROUP_WARPS = 4
WARPGROUP_THREADS = WARPGROUP_WARPS * LANES
"""Threads of a warpgroup: four consecutive warps."""


class Storage(StrEnum):
    """Where an operand lies while its instruction runs."""

    WARP = "registers of a warp"
    WARPGROUP = "registers of a warpgroup"
    SHARED = "shared memory"
    """Its place and layout there are told by a 64-bit descriptor."""
    TENSOR = "tensor memory"
    """Its place there is told by an address of 32 bits."""

    @property
    def threads(self) -> int:
        """Threads that hold it together; 0 in memory, where none does."""
        if self is Storage.WARP:
            return LANES
        return WARPGROUP_THREADS if self is Storage.WARPGROUP else 0


class Major(StrEnum):
    """Which index of a matrix is contiguous in the sense of `.row` and `.col`."""

    ROW = "row"
    COL = "col"


class Register(NamedTuple):
    """How a register of an operand is declared.

    Attributes:
        ptx: the `.reg` type that ptxas takes for it.
        llvm: the type of the intrinsic's argument or result.
        bits: its width.
    """

    ptx: str
    llvm: str
    bits: int


B32 = Register("b32", "i32", 32)
S32 = Register("s32", "i32", 32)
F16X2 = Register("b32", "<2 x half>", 32)
F32 = Register("f32", "float", 32)
F64 = Register("f64", "double", 64)
DESCRIPTOR = Register("b64", "i64", 64)


class Shape(NamedTuple):
    """The extents of D = A·B + C: D is m×n, A m×k, B k×n."""

    m: int
    n: int
    k: int

    def __str__(self) -> str:
        return f"m{self.m}n{self.n}k{self.k}"


@dataclass(frozen=True, slots=True)
class Operand:
    """A matrix operand.

    Attributes:
        name: `d`, `a`, `b`, `c`; `e` metadata; `sfa`, `sfb` scales; `r` of ldmatrix and stmatrix.
        type: element type.
        rows, cols: extents of the matrix; of a sparse A, as stored.
        registers: registers by which a thread names it: those that hold its elements, or
            the one with the descriptor or address of an operand in memory.
        register: how each is declared.
        container: bits that an element takes inside a register (at least `type.bits`).
        shift: bits below the element inside its container.
        major: `.row` or `.col` of a form that gives the choice, else None.
        storage: where it lies.
        tied: the result whose registers it is in too, an accumulator that PTX writes once.
        listed: whether PTX lists its registers in braces.
        opaque: whether the ISA leaves open which element a register holds.
    """

    name: str
    type: ElementType
    rows: int
    cols: int
    registers: int
    register: Register
    container: int
    shift: int = 0
    major: Major | None = None
    storage: Storage = Storage.WARP
    tied: str | None = None
    listed: bool = True
    opaque: bool = False

    @property
    def threads(self) -> int:
        """Threads that hold its elements in registers; 0 if it lies in memory."""
        return self.storage.threads

    @property
    def per_register(self) -> int:
        """Elements in one register; 0 if it lies in memory."""
        return self.register.bits // self.container if self.threads else 0

    @property
    def elements(self) -> int:
        """Elements a thread holds."""
        return self.registers * self.per_register

    def text(self, registers: Sequence[str]) -> str:
        """How PTX writes it: registers in braces, one register, or an address in brackets."""
        if self.listed:
            return brace(registers)
        (one,) = registers
        return f"[{one}]" if self.storage is Storage.TENSOR else one


def brace(registers: Sequence[str]) -> str:
    """Registers as PTX lists them."""
    return "{" + ", ".join(registers) + "}"


_REGISTERS = {"f16": F16X2, "f32": F32, "s32": S32, "f64": F64}


def register_of(type_: ElementType) -> Register:
    """How the registers of an operand of this type are declared (PTX ISA, fragment tables)."""
    return _REGISTERS.get(type_.name, B32)


@cache
def matrix(
    name: str,
    type_name: str,
    rows: int,
    cols: int,
    *,
    products: int = 1,
    kind: str | None = None,
    major: Major | None = None,
    replication: int = 1,
    storage: Storage = Storage.WARP,
    tied: str | None = None,
    listed: bool = True,
    opaque: bool = False,
) -> Operand:
    """An operand spread over the registers of a warp or a warpgroup.

    Args:
        name: operand name.
        type_name: PTX element type.
        rows: rows of one product's matrix.
        cols: its columns.
        products: products that are computed at once.
        kind: the `.kind` of the form, which decides the container of narrow floats.
        major: `.row` or `.col` where the form gives the choice.
        replication: how often an element is held (wmma f16 multiplicands: twice).
        storage: whose registers.
        tied: see `Operand`.
        listed: see `Operand`; likewise the rest.
        opaque: whether the ISA leaves open which element a register holds.
    """
    type_ = element_type(type_name)
    register = register_of(type_)
    # PTX ISA, "Packed formats": a byte for each 6- and 4-bit float under kind::f8f6f4 and
    # kind::mxf8f6f4, e2m1 in its middle bits; packed without padding under mxf4, mxf4nvf4.
    byte = type_.is_float and type_.bits < 8 and kind in ("f8f6f4", "mxf8f6f4")
    container = 8 if byte else type_.bits
    total = rows * cols * products * replication * container
    return Operand(
        name=name,
        type=type_,
        rows=rows,
        cols=cols,
        registers=total // (storage.threads * register.bits),
        register=register,
        container=container,
        shift=2 if byte and type_.bits == 4 else 0,
        major=major,
        storage=storage,
        tied=tied,
        listed=listed,
        opaque=opaque,
    )


@cache
def by_descriptor(name: str, type_name: str, rows: int, cols: int) -> Operand:
    """An operand in shared memory, told by a descriptor.

    Args:
        name: operand name.
        type_name: PTX element type.
        rows: rows of the matrix.
        cols: its columns.
    """
    type_ = element_type(type_name)
    return Operand(
        name, type_, rows, cols, 1, DESCRIPTOR, type_.bits, storage=Storage.SHARED, listed=False
    )


@cache
def metadata(rows: int, chunks: int, storage: Storage = Storage.WARP) -> Operand:
    """The sparsity metadata of A: a 4-bit code for every chunk of every row, in one register.

    Args:
        rows: rows of A.
        chunks: codes of a row.
        storage: whose registers.
    """
    type_ = element_type("b4")
    return Operand("e", type_, rows, chunks, 1, B32, type_.bits, storage=storage, listed=False)
