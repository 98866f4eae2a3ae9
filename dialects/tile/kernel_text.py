"""The MLIR text of a kernel that moves tiles between memory and registers."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from math import prod
from typing import Any

from tilec.ir.mlir import ir
from tilec.isa import LANES
from tilec.layout import LinearLayout

from .tiles import TileValue, bits_of, element_of, frag_type

_VECTOR_BYTES = 16


@dataclass(frozen=True, slots=True)
class Argument:
    """Memory that a kernel reads or writes.

    Attributes:
        name: the operand it holds; `memory` for what a matrix load reads or a store writes.
        contents: extents and PTX type of the operand.
        shape: extents of its memref, row-major.
        element: MLIR type of the memref's elements.
        written: whether the kernel writes it.
        transposed: whether it holds the operand's transpose.
        shared: whether it is shared memory, else global.
        ctas: CTAs that each have such a memory of their own, one after the other; 0 if all use one.
    """

    name: str
    contents: str
    shape: tuple[int, ...]
    element: str
    written: bool = False
    transposed: bool = False
    shared: bool = False
    ctas: int = 0

    def __str__(self) -> str:
        how = "transposed in" if self.transposed else "in"
        to_do = "written" if self.written else "read"
        return f"{self.name}: {self.contents}, {how} {self.type}, {to_do}"

    @property
    def type(self) -> str:
        """The memref."""
        outer = (self.ctas,) if self.ctas else ()
        extents = "x".join(map(str, (*outer, *self.shape)))
        space = ', #tile.shared<"none">' if self.shared else ""
        return f"memref<{extents}x{self.element}{space}>"

    @property
    def value(self) -> str:
        """The SSA value that it is."""
        return f"%{self.name}_{'shared' if self.shared else 'global'}"

    @property
    def indices(self) -> list[str]:
        """SSA values of where a CTA's memory begins."""
        return [*(["%cta"] if self.ctas else []), *["%c0"] * len(self.shape)]

    @property
    def vector(self) -> int:
        """Elements of the last dimension that one access can take."""
        return min(self.shape[-1], _VECTOR_BYTES * 8 // bits_of(ir.Type.parse(self.element)))


class KernelText:
    """Collects the ops of a kernel; values are called as the operands are.

    Args:
        name: of the kernel.
        ctas: CTAs of which each has its own part of every argument; 0 for a kernel of one CTA.
    """

    def __init__(self, name: str, ctas: int = 0) -> None:
        self._name = name
        self._ctas = ctas
        self._arguments: list[Argument] = []
        self._lines: list[str] = []
        self._types: dict[str, str] = {}
        """Type of each value."""
        self._named: dict[str, str] = {}
        """Alias that each long type would like."""

    def argument(
        self,
        name: str,
        contents: str,
        shape: Sequence[int],
        element: str,
        *,
        written: bool = False,
        transposed: bool = False,
    ) -> Argument:
        """A parameter of the kernel; the arguments are those of `Argument`."""
        made = Argument(name, contents, tuple(shape), element, written, transposed, ctas=self._ctas)
        self._arguments.append(made)
        return made

    def fragment(self, name: str, tile: TileValue) -> str:
        """The type of a fragment."""
        type_ = str(frag_type(tile.shape, tile.element, tile.layout))
        self._named.setdefault(type_, name)
        return type_

    def wmma(self, name: str, text: str) -> str:
        """The type of a wmma fragment."""
        type_ = f'!tile.wmma<"{text}">'
        self._named.setdefault(type_, name)
        return type_

    def op(
        self,
        op: str,
        operands: Sequence[str],
        result: tuple[str, str] | None = None,
        **attributes: str | int | bool,
    ) -> None:
        """An op on named values; its result's name and type."""
        types = [self._types[name] for name in operands]
        self._emit(op, [f"%{name}" for name in operands], types, result, attributes)

    def access(
        self,
        op: str,
        memory: Argument,
        result: tuple[str, str] | None = None,
        *,
        value: str = "",
        **attributes: str | int | bool,
    ) -> None:
        """An op that loads a result from the beginning of memory, or stores a value there."""
        operands = [memory.value, *memory.indices]
        types = [memory.type, *["index"] * len(memory.indices)]
        if value:
            operands, types = [f"%{value}", *operands], [self._types[value], *types]
        self._emit(op, operands, types, result, attributes)

    def load(self, name: str, tile: TileValue, memory: Argument) -> None:
        """`tile.load` of a fragment."""
        result = name, self.fragment(name, tile)
        self.access("tile.load", memory, result, **_how(memory))

    def store(self, name: str, memory: Argument) -> None:
        """`tile.store` of a value."""
        self.access("tile.store", memory, value=name, **_how(memory))

    def alloc_shared(self, like: Argument) -> Argument:
        """Shared memory for what global memory holds."""
        made = replace(like, shared=True, ctas=0)
        self._lines.append(f'{made.value} = "tile.alloc_shared"() : () -> {made.type}')
        return made

    def copy(self, source: Argument, target: Argument) -> None:
        """All of one memory to the other."""
        name = f"{source.name}_copy"
        element = element_of(ir.Type.parse(source.element))
        layout = _spread(source.shape)
        tile = TileValue(source.shape, element, layout, is_fragment=True)
        self.access("tile.load", source, (name, self.fragment(name, tile)), **_how(source, True))
        self.access("tile.store", target, value=name, **_how(target, True))

    def barrier(self) -> None:
        """`gpu.barrier`."""
        self._lines.append("gpu.barrier")

    def function(self, aliases: dict[str, str]) -> str:
        """The `gpu.func`.

        Args:
            aliases: alias by type, to which the kernel's long types are added.
        """
        for type_, name in self._named.items():
            if type_ not in aliases:
                aliases[type_] = _unused(f"!{name}", aliases)
        parameters = ",\n    ".join(f"{a.value}: {a.type}" for a in self._arguments)
        body = "\n".join(f"  {line}" for line in self._lines)
        for type_ in self._named:
            body = body.replace(type_, aliases[type_])
        return (
            f"gpu.func @{self._name}(\n    {parameters})\n"
            "    kernel attributes {known_block_size = array<i32: 32, 1, 1>} {\n"
            f"  %c0 = arith.constant 0 : index\n{self._cta}{body}\n  gpu.return\n}}\n"
        )

    @property
    def _cta(self) -> str:
        return "  %cta = gpu.block_id x\n" if self._ctas else ""

    def _emit(
        self,
        op: str,
        operands: Sequence[str],
        types: Sequence[str],
        result: tuple[str, str] | None,
        attributes: dict[str, str | int | bool],
    ) -> None:
        written = ", ".join(
            text for name, value in attributes.items() if (text := _attribute(name, value))
        )
        head = f"%{result[0]} = " if result else ""
        given = f" {{{written}}}" if written else ""
        to = result[1] if result else "()"
        if result:
            self._types[result[0]] = result[1]
        self._lines.append(
            f'{head}"{op}"({", ".join(operands)}){given} : ({", ".join(types)}) -> {to}'
        )


def _attribute(name: str, value: str | int | bool) -> str:
    if isinstance(value, bool):
        return name if value else ""
    return f'{name} = "{value}"' if isinstance(value, str) else f"{name} = {value}"


def _how(memory: Argument, as_it_is: bool = False) -> dict[str, Any]:
    return {"transposed": memory.transposed and not as_it_is, "vector": memory.vector}


def _unused(alias: str, aliases: dict[str, str]) -> str:
    taken = set(aliases.values())
    number = 1
    found = alias
    while found in taken:
        number += 1
        found = f"{alias}{number}"
    return found


def _spread(shape: Sequence[int]) -> LinearLayout:
    """(register, lane) -> (row, col): as many consecutive elements of a matrix in each lane."""
    rows, cols = shape
    count = prod(shape)
    images = [(at // cols, at % cols) for at in (1 << bit for bit in range(count.bit_length() - 1))]
    registers = count.bit_length() - LANES.bit_length()
    return LinearLayout.of(
        {"register": images[:registers], "lane": images[registers:]}, {"row": rows, "col": cols}
    )
