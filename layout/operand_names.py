"""Layouts by the operands that they are: `a, m16k16, b16`, `c, m16n8, 128x64, warps 4x2`.

A name says the operand, the extents of the instruction's matrix that is it, and, of a multiplicand,
whose layout depends on them, the bits of its elements. Of a tile of several such matrices it goes
on with the tile's extents and the warps along M and N, as `tilec.layout.tiling.operand_tile` has
them. One layout has one name, and a name one layout, whatever instructions have such an operand.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping, Sequence
from functools import cache, lru_cache
from types import MappingProxyType

from tilec.isa import LANES, Form, Mma, UnknownNameError, forms_of

from .linear import LayoutError, LinearLayout
from .operands import INDICES, operand_layout
from .tiling import operand_tile

_NAME = re.compile(
    r"\s*([abc])\s*,\s*(\w+)\s*(?:,\s*(b\d+)\s*)?(?:,\s*(\d+)x(\d+)\s*,\s*warps\s+(\d+)x(\d+)\s*)?"
)


@cache
def _forms() -> Mapping[str, tuple[Form, str]]:
    """A form that has such an operand, and the operand, by name."""
    found: dict[str, tuple[Form, str]] = {}
    for form in forms_of(Mma):
        for name in "abc":
            operand = form.operand(name)
            if form.products != 1 or form.sparsity or operand.threads != LANES:
                continue
            layout = operand_layout(form, name)
            extents = zip(INDICES[name], layout.out_sizes.values(), strict=True)
            words = [name, "".join(f"{index}{extent}" for index, extent in extents)]
            if name != "c":
                words.append(f"b{operand.container}")
            found.setdefault(", ".join(words), (form, name))
    return MappingProxyType(found)


@cache
def _names() -> Mapping[str, str]:
    """Names of whole matrices by the text of their layouts; of an a and a c alike that of c."""
    found: dict[str, str] = {}
    for name, form, operand in _in_order():
        found.setdefault(str(operand_layout(form, operand)), name)
    return MappingProxyType(found)


@cache
def _in_order() -> Sequence[tuple[str, Form, str]]:
    """All operands: accumulators first, then the largest matrices."""
    return [(name, *known) for name, known in sorted(_forms().items(), key=_order)]


@lru_cache(maxsize=4096)
def operand_of(name: str) -> LinearLayout:
    """The layout that a name says.

    Raises:
        LayoutError: if it says none.
        UnknownNameError: for an operand that no instruction has, naming the nearest.
    """
    words = _NAME.fullmatch(name)
    if not words:
        raise LayoutError(
            f"'{name}' names no operand; legal: 'a, m16k16, b16' or 'c, m16n8, 128x64, warps 4x2'"
        )
    plain = ", ".join(word for word in words.groups()[:3] if word)
    if plain not in _forms():
        raise UnknownNameError("operand", plain, _forms())
    form, operand = _forms()[plain]
    if words[4] is None:
        return operand_layout(form, operand)
    rows, cols, m, n = (int(word) for word in words.groups()[3:])
    return operand_tile(form, operand, rows, cols, (m, n))


@lru_cache(maxsize=4096)
def operand_name(text: str) -> str | None:
    """The name of the layout whose text this is, exactly; None if it is not an operand's.

    It is so whatever tile has the layout: equal layouts have equal names.
    """
    if "->" not in text:
        return None
    if name := _names().get(text):
        return name
    try:
        layout = LinearLayout.parse(text)
    except LayoutError:
        return None
    if list(layout.in_sizes) != ["register", "lane", "warp"] or len(layout.out_sizes) != 2:
        return None
    return next((name for name in _candidates(layout) if str(operand_of(name)) == text), None)


def _candidates(layout: LinearLayout) -> Iterator[str]:
    """Names that `layout` may have, in the order in which they are preferred."""
    bases, (rows, cols) = layout.bases, layout.out_sizes.values()
    warps = layout.in_sizes["warp"]
    for name, form, operand in _in_order():
        unit = operand_layout(form, operand)
        registers = unit.bases["register"]
        if unit.bases["lane"] != bases["lane"] or bases["register"][: len(registers)] != registers:
            continue
        if any(
            one > whole for one, whole in zip(unit.out_sizes.values(), (rows, cols), strict=True)
        ):
            continue
        m = warps
        while m:
            yield f"{name}, {rows}x{cols}, warps {m}x{warps // m}"
            m //= 2


def _order(named: tuple[str, tuple[Form, str]]) -> tuple[bool, int, str]:
    name, (form, operand) = named
    sizes = operand_layout(form, operand).out_sizes.values()
    rows, cols = sizes
    return operand != "c", -rows * cols, name
