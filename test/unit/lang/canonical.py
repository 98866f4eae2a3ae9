"""A kernel as text that does not tell in which order what may change places was written."""

from __future__ import annotations

from hashlib import blake2b
from typing import Any

import tilec
from tilec.passes.functions import functions, gpu_modules

ORDERED = ("tile.store", "tile.atomic", "scf.for", "scf.yield")
"""Ops that stay in their order; all others are written where their results are used."""
COMMUTE = ("arith.addf", "arith.mulf", "arith.addi", "arith.muli", "arith.andi", "arith.minui")
"""Ops whose operands may change places."""


def canonical(program: Any, name: str) -> list[str]:
    """The lines of the kernel `name` of a module, or its text, after `canonicalize` and `cse`.

    What the arguments promise is left out, as are ops that nothing uses; the values that a loop
    hands on are in the order of what they begin as. The transpose of a load is the load transposed.
    """
    module = tilec.transform(program, "canonicalize,cse").module
    with module.context:
        (gpu_module,) = gpu_modules(module)
        found = {f.operation.attributes["sym_name"].value: f for f in functions(gpu_module)}
        return _Writer().function(found[name])


class _Writer:
    def __init__(self) -> None:
        self._names: dict[Any, str] = {}
        self._values: dict[str, str] = {}
        self._lines: list[str] = []

    def function(self, function: Any) -> list[str]:
        (block,) = function.regions[0].blocks
        size = function.operation.attributes["known_block_size"]
        self._lines.append(f"{[str(a.type) for a in block.arguments]} {size}")
        self._names |= {value: f"argument{i}" for i, value in enumerate(block.arguments)}
        self._block(block)
        return [*(f"{name} = {text}" for name, text in sorted(self._values.items())), *self._lines]

    def _block(self, block: Any) -> None:
        for op in block.operations:
            if op.operation.name == "scf.for":
                self._loop(op.operation)
            elif op.operation.name in ORDERED and len(op.operands):
                self._line(op.operation)

    def _line(self, op: Any) -> None:
        operands = ", ".join(self._value(v) for v in op.operands)
        self._lines.append(f"{op.name} {operands} {_attributes(op)}")

    def _loop(self, op: Any) -> None:
        bounds, begun = list(op.operands)[:3], list(op.operands)[3:]
        starts = [self._value(v) for v in begun]
        order = sorted(range(len(begun)), key=lambda i: (starts[i], i))
        number = len(self._lines)
        from_to = ", ".join(self._value(v) for v in bounds)
        self._lines.append(f"scf.for {from_to} {[starts[i] for i in order]} {_attributes(op)}")
        (block,) = op.regions[0].blocks
        self._names[block.arguments[0]] = f"index{number}"
        for place, i in enumerate(order):
            self._names[block.arguments[i + 1]] = f"carried{number}.{place}"
            self._names[op.results[i]] = f"result{number}.{place}"
        *body, last = block.operations
        for inner in body:
            if inner.operation.name == "scf.for":
                self._loop(inner.operation)
            elif inner.operation.name in ORDERED:
                self._line(inner.operation)
        self._lines.append(f"scf.yield {[self._value(last.operands[i]) for i in order]}")

    def _value(self, value: Any) -> str:
        """The name of a value, the same for the same op on the same values."""
        if value not in self._names:
            self._names[value] = self._named(value.owner)
        return self._names[value]

    def _named(self, op: Any) -> str:
        operands, attributes = list(op.operands), _attributes(op)
        if op.name == "tile.transpose" and operands[0].owner.name == "tile.load":
            load = operands[0].owner
            operands, attributes = list(load.operands), f"{_attributes(load)} ['transposed']"
            name = "tile.load"
        else:
            name = op.name
        parts = [self._value(v) for v in operands]
        if name in COMMUTE:
            parts.sort()
        text = f"{name} {', '.join(parts)} {attributes} {op.result.type}"
        known = f"%{blake2b(text.encode(), digest_size=4).hexdigest()}"
        self._values[known] = text
        return known


def _attributes(op: Any) -> str:
    written = {name: str(op.attributes[name]) for name in op.attributes}
    units = sorted(name for name, value in written.items() if value == "unit")
    others = sorted(f"{name} = {value}" for name, value in written.items() if value != "unit")
    return " ".join([*others, *(f"['{name}']" for name in units)])
