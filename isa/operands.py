"""Matrix operands in registers: what is said of one, and the rule that makes them all."""

from __future__ import annotations

from dataclasses import dataclass
from enum import StrEnum
from typing import NamedTuple

from .types import ElementType, element_type

LANES = 32
"""Lanes of a warp."""


class Major(StrEnum):
    """Which index of a matrix is contiguous in the sense of `.row` and `.col`."""

    ROW = "row"
    COL = "col"


@dataclass(frozen=True, slots=True)
class Register:
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


class Shape(NamedTuple):
    """The extents of D = A·B + C: D is m×n, A m×k, B k×n."""

    m: int
    n: int
    k: int

    def __str__(self) -> str:
        return f"m{self.m}n{self.n}k{self.k}"


@dataclass(frozen=True, slots=True)
class Operand:
    """A matrix operand in registers.

    Attributes:
        name: `d`, `a`, `b`, `c`; `e` metadata; `sfa`, `sfb` scales; `r` of ldmatrix and stmatrix.
        type: element type.
        rows, cols: extents of the matrix that the warp holds; of a sparse A, as stored.
        registers: registers a lane holds.
        register: how each is declared.
        container: bits that an element takes inside a register (at least `type.bits`).
        shift: bits below the element inside its container.
        major: `.row` or `.col` of a form that gives the choice, else None.
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

    @property
    def per_register(self) -> int:
        """Elements in one register."""
        return self.register.bits // self.container

    @property
    def elements(self) -> int:
        """Elements a lane holds."""
        return self.registers * self.per_register


_REGISTERS = {"f16": F16X2, "f32": F32, "s32": S32, "f64": F64}


def register_of(type_: ElementType) -> Register:
    """How the registers of an operand of this type are declared (PTX ISA, fragment tables)."""
    return _REGISTERS.get(type_.name, B32)


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
) -> Operand:
    """An operand spread over a warp.

    Args:
        name: operand name.
        type_name: PTX element type.
        rows: rows of one product's matrix.
        cols: its columns.
        products: products the warp computes at once.
        kind: the `.kind` of the form, which decides the container of narrow floats.
        major: `.row` or `.col` where the form gives the choice.
        replication: how often an element is held (wmma f16 multiplicands: twice).
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
        registers=total // (LANES * register.bits),
        register=register,
        container=container,
        shift=2 if byte and type_.bits == 4 else 0,
        major=major,
    )


def product(
    shape: Shape,
    types: tuple[str, str, str, str],
    *,
    products: int = 1,
    kind: str | None = None,
    majors: tuple[Major, Major] | None = None,
    stored_k: int | None = None,
) -> tuple[tuple[Operand, ...], tuple[Operand, ...]]:
    """Results and operands of D = A·B + C.

    Args:
        shape: logical extents.
        types: element types in the order PTX writes them: D, A, B, C.
        products: independent products a warp computes.
        kind: the form's `.kind`.
        majors: `.row`/`.col` of A and B where the form gives the choice.
        stored_k: columns of A as stored, where A is sparse.
    """
    d, a, b, c = types
    a_major, b_major = majors or (None, None)
    k = shape.k if stored_k is None else stored_k
    return (
        (matrix("d", d, shape.m, shape.n, products=products),),
        (
            matrix("a", a, shape.m, k, products=products, kind=kind, major=a_major),
            matrix("b", b, shape.k, shape.n, products=products, kind=kind, major=b_major),
            matrix("c", c, shape.m, shape.n, products=products),
        ),
    )


def metadata(shape: Shape, chunk: int) -> Operand:
    """The sparsity metadata of A: a 4-bit code for every chunk of every row.

    Args:
        shape: logical extents.
        chunk: logical elements along K that share a code.
    """
    return Operand(
        name="e",
        type=element_type("b4"),
        rows=shape.m,
        cols=shape.k // chunk,
        registers=1,
        register=B32,
        container=4,
    )


def scales(shape: Shape, type_name: str, chunks: int) -> tuple[Operand, Operand]:
    """The scale factors of A, m×chunks, and of B, chunks×n: four bytes in each lane's register.

    Args:
        shape: logical extents.
        type_name: `ue8m0` or `ue4m3`.
        chunks: scale factors along K.
    """
    type_ = element_type(type_name)
    return (
        Operand("sfa", type_, shape.m, chunks, registers=1, register=B32, container=8),
        Operand("sfb", type_, chunks, shape.n, registers=1, register=B32, container=8),
    )
