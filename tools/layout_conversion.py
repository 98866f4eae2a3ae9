"""`tile-layout --convert`: what takes one layout to another, and what it costs."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, NamedTuple

from tilec.isa import Target, TilecError
from tilec.isa.wording import counted
from tilec.layout import (
    LinearLayout,
    Nothing,
    Permutation,
    Plan,
    SharedTrip,
    Shuffles,
    Transposition,
    conversion_plans,
    find_form,
    fragment_of,
)
from tilec.layout.drawing import MOST, layout_grid, picture


class Side(NamedTuple):
    """A layout named on the command line, and the bits of its elements if its name says them."""

    layout: LinearLayout
    bits: int | None


def side(text: str) -> Side:
    """Read `SHAPE:OPERAND[:TYPE]`, `FORM:OPERAND`, or a layout as `LinearLayout` prints it.

    Raises:
        TilecError: if it is neither.
    """
    if "->" in text:
        return Side(LinearLayout.parse(text), None)
    name, *rest = _parts(text)
    if not 1 <= len(rest) <= 2:
        raise TilecError(
            f"'{text}' is not a layout: give SHAPE:OPERAND:TYPE, as in m16n8k16:a:f16, "
            "FORM:OPERAND, "
            "or bases, as in 'register [0,1]; lane [1,0] … -> row 8, col 2'"
        )
    operand, dtype = rest[0], rest[1] if len(rest) == 2 else None
    found = find_form(name, operand, dtype)
    return Side(fragment_of(found, operand), found.operand(operand).container)


def _parts(text: str) -> list[str]:
    """The text split at single colons; `::` belongs to a mnemonic."""
    return [part.replace("\0", "::") for part in text.replace("::", "\0").split(":")]


def plans_between(
    names: Sequence[str], bits: int | None, target: Target | None
) -> tuple[int, tuple[Plan, ...]]:
    """Bits of an element, and the plans, cheapest first.

    Fragments of different extents are repeated, in further registers, to a tile that both fill.

    Args:
        names: the two layouts, as `side` reads them.
        bits: bits of an element, where the names do not say.
        target: whose matrix instructions may be used; of any target if None.

    Raises:
        TilecError: if the layouts cannot be read or converted.
    """
    source, result = (side(name) for name in names)
    known = {one.bits for one in (source, result) if one.bits} | ({bits} if bits else set())
    if len(known) != 1:
        raise TilecError(
            f"elements of {' and '.join(map(str, sorted(known)))} bits: convert the type first"
            if known
            else "how wide are the elements? give --bits"
        )
    (width,) = known
    first, second = (_grown(a.layout, b.layout) for a, b in ((source, result), (result, source)))
    return width, conversion_plans(first, second, width, target)


def _grown(layout: LinearLayout, other: LinearLayout) -> LinearLayout:
    """The layout repeated until it covers the other's tile."""
    sizes, wanted = layout.out_sizes, other.out_sizes
    if set(sizes) == set(wanted):
        for name in sizes:
            if wanted[name] > sizes[name]:
                repeated = LinearLayout.identity(wanted[name] // sizes[name], "register", name)
                layout *= repeated
    return layout


def describe(plan: Plan) -> str:
    """A plan on one line, without its price."""
    match plan:
        case Nothing():
            return "nothing: every register already holds its elements"
        case Permutation():
            return "elements renamed: " + _renamed(plan.registers, "register")
        case Transposition():
            return "movmatrix, register by register: " + _renamed(plan.words, "word")
        case Shuffles():
            rounds = range(plan.read.in_sizes["round"])
            masks = [plan.mask(number) for number in rounds]
            moving = [m for m in masks if m != 0]
            how = "shfl.sync.idx"
            if moving and None not in moving:
                how = f"shfl.sync.bfly with masks {', '.join(map(str, moving))}"
            return f"{counted(len(moving), 'round')} of {how}" if moving else "selects by lane"
        case SharedTrip():
            swizzle = plan.swizzle or "of bases"
            barrier = "within the warp" if plan.within_warp else "across warps"
            return (
                f"shared memory {barrier}, {counted(plan.bytes, 'byte')}, swizzle {swizzle}: "
                f"{plan.store.instructions} × {plan.store.name}, "
                f"{plan.load.instructions} × {plan.load.name}"
            )


def svg(names: Sequence[str], bits: int, found: Sequence[Plan]) -> str:
    """Who holds each element before and after, in the colour of who holds it before.

    Args:
        names: the two layouts, as `side` reads them.
        bits: of an element.
        found: the plans between them, of which the first is said.

    Raises:
        TilecError: if the tile has more than two dimensions.
    """
    source, result = (side(name).layout for name in names)
    if len(source.outs) > 2:
        raise TilecError("a picture shows tiles of one or two dimensions")
    grown = _grown(source, result), _grown(result, source)
    before, after = (layout_grid(layout, MOST, bits=bits) for layout in grown)
    head = [f"{names[0]} to {names[1]}", f"price {found[0].price.total}: {describe(found[0])}"]
    head.append(f"{before.title}; colours: who holds the element before")
    cells = [
        [new._replace(lane=old.lane) for new, old in zip(row, were, strict=True)]
        for row, were in zip(after.cells, before.cells, strict=True)
    ]
    grids = [before._replace(title="before"), after._replace(title="after", cells=cells)]
    return picture(head[0], head, grids)


def text(found: Sequence[Plan]) -> str:
    """The plans with their prices, cheapest first."""
    lines = []
    for plan in found:
        price = plan.price
        parts = [
            f"{number} {what}{'s' if number != 1 else ''}"
            for what, number in zip(
                ("instruction", "wavefront", "warp barrier", "CTA barrier"), price, strict=True
            )
            if number
        ]
        lines.append(
            f"{price.total:>5}  {describe(plan)}" + (f" ({', '.join(parts)})" if parts else "")
        )
    return "price  plan\n" + "\n".join(lines)


def json(bits: int, found: Sequence[Plan]) -> dict[str, Any]:
    """The plans as data; every map as the text of a layout."""
    return {"bits": bits, "plans": [_plan(plan) for plan in found]}


def _plan(plan: Plan) -> dict[str, Any]:
    data: dict[str, Any] = {
        "kind": type(plan).__name__.lower(),
        "price": plan.price.total,
        **plan.price._asdict(),
    }
    match plan:
        case Permutation():
            data["registers"] = str(plan.registers)
        case Transposition():
            data["words"] = str(plan.words)
        case Shuffles():
            data |= {
                name: str(getattr(plan, name)) for name in ("send", "read", "receive", "copies")
            }
        case SharedTrip():
            data["shared"] = str(plan.shared)
            data["swizzle"] = plan.swizzle and str(plan.swizzle)
            data["bytes"] = plan.bytes
            for name, access in (("store", plan.store), ("load", plan.load)):
                data[name] = {
                    "instruction": access.name,
                    "instructions": access.instructions,
                    "wavefronts": access.count().wavefronts,
                    "conflicts": access.count().conflicts,
                    "registers": str(access.registers),
                    "offsets": str(access.offsets),
                }
            data["copies"] = str(plan.copies)
        case _:
            pass
    return data


def _renamed(layout: LinearLayout, name: str) -> str:
    sources = (layout(**{name: n})[0] for n in range(layout.in_sizes[name]))
    return " ".join(map(str, sources))
