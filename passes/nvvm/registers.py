"""The registers of a fragment as LLVM values, and the elements in them.

A lane's elements are packed low to high into 32-bit registers: `vector<2xf16>`,
`vector<4xi8>` and so on; types of 32 and 64 bits have a register each. A fragment with fewer
elements than a register holds has one shorter vector; bits that do not fill a register have an i1
each, for most are conditions.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from tilec.dialects.tile.dialect import WmmaType
from tilec.dialects.tile.tiles import (
    Element,
    TileValue,
    bits_of,
    element_name,
    element_of,
    tile_value,
)
from tilec.dialects.tile.warpgroup import warpgroup_tile
from tilec.dialects.tile.wmma import wmma_operand
from tilec.ir.aliases import Number, Type, Value
from tilec.ir.attributes import attribute
from tilec.ir.mlir import ir
from tilec.ir.ops import arith, llvm
from tilec.ir.ops import vector as vectors
from tilec.ir.state import per_context
from tilec.ir.types import integer
from tilec.isa import TilecError
from tilec.isa.lazy import cached_property

REGISTER_BITS = 32


@dataclass(frozen=True)
class Packing:
    """How elements of a type lie in registers.

    Attributes:
        element: LLVM-compatible type of one element.
        per_register: elements in a register.
        registers: how many a fragment has.
    """

    element: Number
    per_register: int
    registers: int

    @classmethod
    def dense(cls, element: Number, count: int) -> Packing:
        """So many elements in as few registers as hold them."""
        per_register = max(1, min(REGISTER_BITS // element.width, count))
        return cls(element, per_register, count // per_register)

    @cached_property
    def type(self) -> Number | ir.VectorType:
        """Type of a register."""
        if self.per_register == 1:
            return self.element
        return ir.VectorType.get([self.per_register], self.element)

    @property
    def elements(self) -> int:
        """Elements that a lane holds."""
        return self.per_register * self.registers

    def by(self, per_register: int) -> Packing:
        """The same elements, so many a register."""
        if per_register == self.per_register:
            return self
        return Packing(self.element, per_register, self.elements // per_register)

    @property
    def bits(self) -> int:
        """Bits of a register."""
        return self.per_register * self.element.width

    @cached_property
    def is_sub_byte(self) -> bool:
        """Whether an element is narrower than a byte."""
        return self.element.width < 8


def element_type(element: Element) -> Number:
    """The type that stands for elements in LLVM: narrow floats and tf32 are their bits."""
    if isinstance(element, (ir.F16Type, ir.BF16Type, ir.F32Type, ir.F64Type, ir.IntegerType)):
        return element
    return integer(bits_of(element))


def packing(tile: TileValue) -> Packing:
    """How a fragment lies in registers."""
    element = element_type(tile.element)
    if element.width == 1 and tile.registers < REGISTER_BITS:
        return Packing(element, 1, tile.registers)
    return Packing.dense(element, tile.registers)


def warpgroup_packing(type_: Type) -> Packing | None:
    """How a fragment of a warpgroup lies in registers; None of another type."""
    tile = warpgroup_tile(type_)
    return None if tile is None else Packing.dense(element_type(tile.element), tile.registers)


def wmma_packing(type_: Type) -> Packing:
    """How a `!tile.wmma` lies in registers; which element is where is not known."""
    assert isinstance(type_, WmmaType)
    operand = wmma_operand(type_)
    element = element_type(element_of(ir.Type.parse(element_name(operand))))
    return Packing(element, operand.per_register, operand.registers)


def fragment(value: Value) -> TileValue:
    """The fragment that a value is.

    Raises:
        TilecError: if it is a tile of level 2.
    """
    return _fragment(value.type)


def packing_of(value: Value) -> Packing:
    """How the fragment that a value is lies in registers.

    Raises:
        TilecError: if it is a tile of level 2.
    """
    return _packing_of_type(value.type)


@per_context()
def _packing_of_type(type_: Type) -> Packing:
    return packing(_fragment(type_))


def _fragment(type_: Type) -> TileValue:
    tile = tile_value(type_)
    if tile is None or not tile.is_fragment:
        raise TilecError("works on fragments here: run tile-to-fragments first")
    return tile


def bitcast(value: Value, type_: Type) -> Value:
    """`value` as another type of the same width."""
    return value if value.type == type_ else llvm.bitcast(value, type_)


def elements(registers: list[Value], packed: Packing) -> list[Value]:
    """Every element, low to high."""
    if packed.per_register == 1:
        return registers
    if packed.is_sub_byte:
        return [value for register in registers for value in _bit_fields(register, packed)]
    types = [packed.element] * packed.per_register
    return [value for register in registers for value in vectors.to_elements(register, types)]


def registers_of(values: list[Value], packed: Packing) -> list[Value]:
    """The registers that hold these elements."""
    size = packed.per_register
    if size == 1:
        return values
    if packed.is_sub_byte:
        return [_joined(values[at : at + size], packed) for at in range(0, len(values), size)]
    return [vector(values[at : at + size]) for at in range(0, len(values), size)]


def _bit_fields(register: Value, packed: Packing) -> list[Value]:
    """The elements of less than a byte in a register: LLVM would take a vector apart in memory."""
    known = _joined_from(register, packed)
    if known is not None:
        return known
    word = integer(packed.bits)
    value = bitcast(register, word)
    width = packed.element.width
    shifted = [value]
    for at in range(1, packed.per_register):
        shifted.append(llvm.lshr(value, llvm.constant(word, at * width)))
    return [llvm.trunc(moved, packed.element) for moved in shifted]


def _joined(values: Sequence[Value], packed: Packing) -> Value:
    """A register of elements of less than a byte."""
    word = integer(packed.bits)
    whole, *others = [llvm.zext(value, word) for value in values]
    for at, value in enumerate(others, start=1):
        distance = llvm.constant(word, at * packed.element.width)
        whole = llvm.or_(whole, llvm.shl(value, distance))
    return bitcast(whole, packed.type)


def _joined_from(register: Value, packed: Packing) -> list[Value] | None:
    """What `_joined` made a register of; None of others.

    LLVM looks through a few such steps only, and comparisons would pay for all of them.
    """
    if packed.per_register == 1:
        return [register]
    parts: list[Value] = []
    value = _made_by("llvm.bitcast", register)
    for _ in range(packed.per_register - 1):
        both = _operands("llvm.or", value)
        if both is None:
            return None
        value, shifted = both
        moved = _operands("llvm.shl", shifted)
        part = moved and _operands("llvm.zext", moved[0])
        if not part or part[0].type != packed.element:
            return None
        parts.append(part[0])
    last = _operands("llvm.zext", value)
    if not last or last[0].type != packed.element:
        return None
    return [last[0], *reversed(parts)]


def _operands(name: str, value: Value) -> list[Value] | None:
    """The operands of the op that makes `value`, if it is called `name`."""
    owner = value.owner
    if isinstance(owner, ir.Block) or owner.name != name:
        return None
    return list(owner.operands)


def _made_by(name: str, value: Value) -> Value:
    """What an op called `name` made `value` from; itself if none did."""
    operands = _operands(name, value)
    return operands[0] if operands else value


def vector(values: Sequence[Value]) -> Value:
    """A vector of scalars; one alone stays a scalar."""
    return values[0] if len(values) == 1 else vectors.from_elements(values)


def scalar(value: Value, packed: Packing) -> Value:
    """A scalar of an element type as what stands for it in a register.

    Raises:
        TilecError: for a tf32 that is not a constant, which LLVM has not.
    """
    if not isinstance(value.type, ir.FloatTF32Type):
        same = value.type == packed.element
        return value if same else arith.bitcast(value, packed.element)
    owner = value.owner
    if isinstance(owner, ir.Block) or owner.name != "arith.constant":
        raise TilecError("a scalar of type tf32 is a constant; fill with f32 and cast the fragment")
    number = attribute(owner, "value", ir.FloatAttr).value
    return bitcast(arith.number(ir.F32Type.get(), number), packed.element)


def splat(value: Value, packed: Packing) -> Value:
    """A register whose elements all are `value`."""
    (register,) = registers_of([value] * packed.per_register, packed)
    return register
