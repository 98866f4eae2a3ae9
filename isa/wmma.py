"""`wmma.load`, `wmma.store` and `wmma.mma`. PTX ISA 9.7.14.4.

Which element a register of a fragment holds is not defined; only the count of registers is.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from itertools import product as cross
from typing import NamedTuple

from .form_classes import Family, Form, Product
from .form_parts import Memory
from .operands import Major, Operand, Shape, matrix
from .targets import Since


@dataclass(frozen=True, slots=True, kw_only=True, eq=False, repr=False)
class WmmaMma(Product):
    """`wmma.mma`."""

    def other_spellings(self) -> Iterator[str]:
        """Default rounding; the shape before the layout."""
        return _shape_first(self.ptx, self.shape, self.rounding)

    def rare_spellings(self) -> Iterator[str]:
        """Without `.aligned`."""
        return _not_aligned(self)


@dataclass(frozen=True, slots=True, kw_only=True, eq=False, repr=False)
class WmmaMemory(Form):
    """`wmma.load` and `wmma.store`; the memory operand has a stride in elements.

    Attributes:
        shape: extents of the product whose fragment it is.
        alignment: bytes to which every row (column, if `.col`) must be aligned.
    """

    shape: Shape
    alignment: int

    @property
    def fragment(self) -> Operand:
        """What it loads or stores."""
        (inside,) = self.all_operands
        return inside

    @property
    def default_stride(self) -> int:
        """Elements from one row (column, if `.col`) to the next when no stride is given."""
        return self.fragment.cols if self.fragment.major is Major.ROW else self.fragment.rows

    @property
    def memory(self) -> Memory:
        """The matrix, its rows (columns, if `.col`) as far apart as they are long."""
        fragment, stride = self.fragment, self.default_stride
        lines = fragment.rows * fragment.cols // stride
        line = "rows" if fragment.major is Major.ROW else "columns"
        return Memory(lines, line, stride, "elements", fragment.type.bits)

    @property
    def takes_stride(self) -> bool:
        """It does."""
        return True

    @property
    def spaces(self) -> tuple[str, ...]:
        """Global and shared memory."""
        return ("global", "shared", "shared::cta")

    def mnemonic(self, space: str = "") -> str:
        """The instruction as printed for an address in `space`; generic if empty."""
        head, _, kind = self.ptx.rpartition(".")
        return f"{head}.{space}.{kind}" if space else self.ptx

    def other_spellings(self) -> Iterator[str]:
        """The shape before the layout."""
        return _shape_first(self.ptx, self.shape, None)

    def rare_spellings(self) -> Iterator[str]:
        """Without `.aligned`."""
        return _not_aligned(self)

    @property
    def facts(self) -> dict[str, str | int]:
        """Shape, alignment and stride."""
        return {
            "shape": str(self.shape),
            "alignment": self.alignment,
            "default_stride": self.default_stride,
        }


def _shape_first(ptx: str, shape: Shape, rounding: str | None) -> Iterator[str]:
    """Spellings with the shape where the table has it and before the layout."""
    head, _, rest = ptx.partition(".aligned.")
    words = rest.split(".")
    at = words.index(str(shape))
    tails = [words[at + 1 :]]
    if rounding == "rn":
        tails.append(words[at + 2 :])
    for tail in tails:
        yield ".".join((f"{head}.aligned", *words[: at + 1], *tail))
        yield ".".join((f"{head}.aligned", words[at], *words[:at], *tail))


_ROW_COL = ((Major.ROW, Major.COL),)
_ANY = tuple(cross(Major, Major))


def _not_aligned(form: Form) -> Iterator[str]:
    """As PTX up to 6.2 spells it (PTX ISA, "wmma.load: PTX ISA Notes")."""
    for spelling in (form.ptx, *form.other_spellings()):
        yield spelling.replace(".sync.aligned.", ".sync.", 1)


class _Product(NamedTuple):
    """One row of the ISA's table of shapes and types.

    Attributes:
        shape: extents.
        type: element type of A and B.
        accumulators: pairs of types of D and C.
        majors: layouts of A and B.
        since: target and version; `.aligned`, which the key writes, came with PTX 6.3.
    """

    shape: Shape
    type: str
    accumulators: tuple[tuple[str, str], ...]
    majors: tuple[tuple[Major, Major], ...]
    since: Since

    def operand(self, name: str, type_name: str, major: Major | None = None) -> Operand:
        """The fragment `a`, `b`, `c` or `d`."""
        m, n, k = self.shape
        rows, cols = {"a": (m, k), "b": (k, n)}.get(name, (m, n))
        # A multiplicand of f16 takes eight registers of two elements whatever its extents.
        half = name in "ab" and type_name == "f16"
        replication = 512 // (rows * cols) if half else 1
        return matrix(
            name, type_name, rows, cols, major=major, replication=replication, opaque=True
        )


def _products() -> Iterator[_Product]:
    """The table."""
    halves = tuple(cross(("f16", "f32"), ("f16", "f32")))
    large = (Shape(16, 16, 16), Shape(8, 32, 16), Shape(32, 8, 16))
    word, single, double = (("s32", "s32"),), (("f32", "f32"),), (("f64", "f64"),)
    volta, ampere = Since.of("sm_70", "6.3"), Since.of("sm_80", "7.0")
    for shape in large:
        yield _Product(shape, "f16", halves, _ANY, volta)
        yield _Product(shape, "bf16", single, _ANY, ampere)
        for type_ in ("s8", "u8"):
            yield _Product(shape, type_, word, _ANY, Since.of("sm_72", "6.3"))
    yield _Product(Shape(16, 16, 8), "tf32", single, _ANY, ampere)
    yield _Product(Shape(8, 8, 4), "f64", double, _ANY, ampere)
    for type_ in ("s4", "u4"):
        yield _Product(Shape(8, 8, 32), type_, word, _ROW_COL, Since.of("sm_75", "6.3"))
    yield _Product(Shape(8, 8, 128), "b1", word, _ROW_COL, Since.of("sm_75", "6.3"))


def _memory(product: _Product, name: str, type_name: str, major: Major) -> WmmaMemory:
    """The load of fragment `a`, `b` or `c`, or the store of `d`."""
    load = name != "d"
    inside = product.operand(name, type_name, major)
    direction = "load" if load else "store"
    return WmmaMemory(
        ptx=f"wmma.{direction}.{name}.sync.aligned.{major}.{product.shape}.{type_name}",
        family=Family.WMMA_LOAD if load else Family.WMMA_STORE,
        results=(inside,) if load else (),
        operands=() if load else (inside,),
        since=(product.since,),
        intrinsic=f"llvm.nvvm.wmma.{product.shape}.{direction}.{name}.{major}.{type_name}",
        section="9.7.14.4.3" if load else "9.7.14.4.4",
        shape=product.shape,
        alignment=inside.registers * inside.register.bits // 8,
    )


def _multiplications(product: _Product) -> Iterator[WmmaMma]:
    """The `wmma.mma` forms of one row of the table."""
    type_, shape = product.type, product.shape
    integer = type_[0] in "su"
    bit_ops: tuple[str | None, ...] = ("xor", "and") if type_ == "b1" else (None,)
    roundings: tuple[str | None, ...] = ("rn", "rz", "rm", "rp") if type_ == "f64" else (None,)
    saturations = (False, True) if integer else (False,)
    for (a, b), (d, c), bit_op, rounding, sat in cross(
        product.majors, product.accumulators, bit_ops, roundings, saturations
    ):
        head = f".{bit_op}.popc" if bit_op else ""
        rnd = f".{rounding}" if rounding else ""
        clamp = ".satfinite" if sat else ""
        # The types of f16 multiplicands are implied: PTX writes those of D and C alone.
        types = f"{d}.{c}" if type_ == "f16" else f"{d}.{type_}.{type_}.{c}"
        llvm_types = types if type_ == "f16" else type_
        yield WmmaMma(
            ptx=f"wmma.mma{head}.sync.aligned.{a}.{b}.{shape}{rnd}.{types}{clamp}",
            family=Family.WMMA_MMA,
            results=(product.operand("d", d),),
            operands=(
                product.operand("a", type_, a),
                product.operand("b", type_, b),
                product.operand("c", c),
            ),
            # `.and` is younger than the rest of the row.
            since=(Since.of("sm_80", "7.1") if bit_op == "and" else product.since,),
            intrinsic=f"llvm.nvvm.wmma.{shape}.mma{head}.{a}.{b}{rnd}.{llvm_types}{clamp}",
            section="9.7.14.4.5",
            shape=shape,
            satfinite=sat,
            bit_op=bit_op,
            rounding=rounding,
        )


def _moves(product: _Product) -> Iterator[WmmaMemory]:
    """The loads and stores of one row of the table."""
    for name, index in (("a", 0), ("b", 1)):
        for major in dict.fromkeys(pair[index] for pair in product.majors):
            yield _memory(product, name, product.type, major)
    for name in ("c", "d"):
        for type_, major in cross(dict.fromkeys(d for d, _ in product.accumulators), Major):
            yield _memory(product, name, type_, major)


def forms() -> Iterator[Form]:
    """Every wmma form: loads, stores, then products."""
    moves: dict[str, WmmaMemory] = {}
    for product in _products():
        for form in _moves(product):
            # Rows share accumulator fragments; of each the row with the lowest target is first.
            moves.setdefault(form.ptx, form)
    yield from (form for form in moves.values() if form.results)
    yield from (form for form in moves.values() if form.operands)
    for product in _products():
        yield from _multiplications(product)
