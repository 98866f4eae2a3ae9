"""What a warp holds of tensor memory that it loads or stores. PTX ISA 9.7.16.2.3.

Lanes and columns count from the address that the instruction is given.
"""

from __future__ import annotations

from collections.abc import Mapping
from types import MappingProxyType
from typing import TYPE_CHECKING, NamedTuple

from tilec.isa import Form, Operand
from tilec.isa.operands import LANES
from tilec.isa.tensor_moves import TensorMove

from .linear import LayoutError, LinearLayout

if TYPE_CHECKING:
    from .tensor_memory import TensorLayout

_Place = tuple[int, int]
_LANES = ((1, 0), (2, 0), (4, 0), (8, 0), (16, 0))
_ACROSS = _LANES[:3]


class _Spread(NamedTuple):
    """Where the low bits of an index go, as (lane, column).

    Attributes:
        lanes: those of the thread's number in the warp.
        registers: those of the register within one repetition.
        columns: of one repetition.
    """

    lanes: tuple[_Place, ...]
    registers: tuple[_Place, ...]
    columns: int


_SPREADS: Mapping[str, _Spread] = MappingProxyType(
    {
        "32x32b": _Spread(_LANES, (), 1),
        "16x64b": _Spread(((8, 0), (0, 1), *_ACROSS), (), 2),
        "16x128b": _Spread(((0, 1), (0, 2), *_ACROSS), ((8, 0),), 4),
        "16x256b": _Spread(((0, 2), (0, 4), *_ACROSS), ((0, 1), (8, 0)), 8),
    }
)


def fragment(form: Form, operand: Operand) -> LinearLayout:
    """The layout of an operand in registers of a load, a store or a load that reduces."""
    assert isinstance(form, TensorMove)
    return reduced() if operand.name == "red" else moved(form)


def moved(form: TensorMove) -> LinearLayout:
    """The registers of a load or store.

    Returns:
        (register, lane) -> (lane, column), a bijection. Of 16x32bx2 there is a third output,
        `half`: the second half of the warp reaches columns that lie a constant further, which the
        instruction says. Where two columns of 16 bits share a register, `register` counts those.
    """
    if form.move.halves > 1:
        return _in_halves(form)
    spread = _SPREADS[form.move.name]
    bits = form.count.bit_length() - 1
    registers: list[tuple[int, ...]] = list(spread.registers)
    registers += [(0, spread.columns << n) for n in range(bits)]
    lanes: list[tuple[int, ...]] = list(spread.lanes)
    outs = {"lane": form.move.lanes, "column": form.move.columns * form.count}
    return _packed(form, {"register": registers, "lane": lanes}, outs)


def _in_halves(form: TensorMove) -> LinearLayout:
    bits = form.count.bit_length() - 1
    registers: list[tuple[int, ...]] = [(0, 1 << n, 0) for n in range(bits)]
    lanes: list[tuple[int, ...]] = [*((lane, 0, 0) for lane, _ in _LANES[:4]), (0, 0, 1)]
    outs = {"lane": form.move.lanes, "column": form.count, "half": 2}
    return _packed(form, {"register": registers, "lane": lanes}, outs)


def _packed(
    form: TensorMove, bases: Mapping[str, list[tuple[int, ...]]], outs: Mapping[str, int]
) -> LinearLayout:
    """The layout; with two columns in a register, of which each column of the shape becomes two."""
    if not form.packed:
        return LinearLayout.of(bases, outs)
    wide = {
        name: [(place[0], 2 * place[1], *place[2:]) for place in places]
        for name, places in bases.items()
    }
    wide["register"].insert(0, (0, 1, *(0,) * (len(outs) - 2)))
    return LinearLayout.of(wide, {**outs, "column": 2 * outs["column"]})


def moved_into(form: TensorMove, matrix: TensorLayout, packed: int) -> LinearLayout:
    """What the registers of a load or store hold of a matrix in tensor memory.

    Args:
        form: the load or store.
        matrix: where its elements lie.
        packed: elements of a row in a column.

    Returns:
        (register, lane) -> (row, col), from the row and column on where the instruction's address
        is; `register` counts elements. Of 16x32bx2 the second half of the columns follows the
        first: the instruction is told `half_width`.

    Raises:
        LayoutError: if it reaches lanes or columns that hold none of a matrix's.
    """
    places = _elements_at(matrix, packed)
    bases: dict[str, list[_Place]] = {"register": [], "lane": []}
    bases["register"] = [(0, 1 << bit) for bit in range(packed.bit_length() - 1)]
    for name, images in moved(form).bases.items():
        for image in images:
            apart = half_width(form) if image[2:] == (1,) else 0
            found = places.get((image[0], image[1] + apart))
            if found is None:
                raise LayoutError(
                    f"{form.ptx} reaches {form.move.lanes} lanes of {form.columns} columns, not "
                    f"all of which are of {matrix.rows}x{matrix.cols * packed} there"
                )
            bases[name].append(found)
    every = [*bases["register"], *bases["lane"]]
    rows, cols = (1 << sum(bool(place[at]) for place in every) for at in (0, 1))
    return LinearLayout.of(bases, {"row": rows, "col": cols})


def half_width(form: TensorMove) -> int:
    """Columns of tensor memory that each half of the warp reaches, of a shape that has halves."""
    return form.columns // form.move.halves


def _elements_at(matrix: TensorLayout, packed: int) -> dict[_Place, _Place]:
    """The row or column of elements that each bit of a lane or a column is."""
    found: dict[_Place, _Place] = {}
    for name, images in matrix.layout.bases.items():
        for bit, (_, lane, column) in enumerate(images):
            unit = {"row": (1 << bit, 0), "bank": (0, matrix.width * packed << bit)}
            found[lane, column] = unit.get(name, (0, packed << bit))
    return found


def reduced() -> LinearLayout:
    """The one value that a thread gets of the columns of its lane: (register, lane) -> (lane, col).

    The ISA leaves open whether both halves of 16x32bx2 come together: that operand is `opaque`.
    """
    lanes = LinearLayout.identity(LANES, "lane", "lane")
    return (lanes * LinearLayout.empty(("register",), ("column",))).reorder(
        ("register", "lane"), ("lane", "column")
    )
