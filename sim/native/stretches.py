"""Stretches: instructions of a block that machine code executes in one call."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from sys import getrefcount
from zlib import crc32

import numpy as np
from tilec.isa import LANES

from ..alu import Array
from ..alu.bits import width
from ..binding import Binding
from ..machine import Machine, Step
from ..ptx.module import Function, operand_names
from ..widths import dtype_of
from . import driver, floats, fused, integers  # noqa: F401 (they declare forms)
from .computes import Computes
from .forms import Given, literals, write
from .library import Library

SHORTEST = 2
"""Instructions of a stretch at least: a call takes about as long as numpy does for so many."""
LONGEST = 256
"""Instructions of a stretch at most, so that what a warp computes stays in the nearest cache."""

_ALIGNED = 64
_OWN = 3
"""References to an array of a list that nobody else has, while it is looked at."""
_SIZE = {1: 0, 8: 0, 16: 1, 32: 2, 64: 3}


@dataclass(frozen=True, slots=True)
class Form:
    """A form as the library has it.

    Attributes:
        name: its function's.
        text: its IR.
        declared: what it declares.
    """

    name: str
    text: str
    declared: frozenset[str]


_written: dict[tuple[object, ...], Form | None] = {}
_named: dict[str, tuple[object, ...]] = {}


def find_form(computes: Computes, constants: Sequence[int | None]) -> Form | None:
    """The form of an instruction; None if it has none."""
    wanted = literals(computes.opcode)
    known = tuple(c if n in wanted else None for n, c in enumerate(constants))
    q = tuple(sorted(computes.q.items()))
    key = (computes.opcode, q, computes.results, computes.operands, known)
    if key not in _written:
        given = Given(computes.opcode, computes.q, computes.operands, known, computes.results)
        name = f"{computes.opcode}_{crc32(repr(key).encode()):08x}"
        while _named.setdefault(name, key) != key:
            name += "_"
        made = write(name, given)
        _written[key] = None if made is None else Form(name, *made)
    return _written[key]


def _mentions(function: Function) -> Counter[str]:
    """How often each name stands in the function, guards included."""
    found: Counter[str] = Counter()
    for instruction in function.body or ():
        found.update(operand_names(instruction.operands))
        if instruction.guard is not None:
            found[instruction.guard] += 1
    return found


def _constants(binding: Binding, computes: Computes) -> list[int | None]:
    """The values of the operands that are constants."""
    registers = binding.machine.registers
    fixed = {slot for _, slot in binding.constants}
    return [int(registers[s].flat[0]) if s in fixed else None for s in computes.slots]


def form_of(binding: Binding) -> Form | None:
    """The form of an instruction that machine code may execute in place of its step."""
    computes = binding.computes
    if computes is None or not binding.plain or binding.sync is not None:
        return None
    types = (*computes.results, *computes.operands)
    if "carry" in types or any(width(type_) not in _SIZE for type_ in types):
        return None
    if len(computes.operands) > driver.MOST_OPERANDS:
        return None
    if len(computes.operands) + len(computes.results) > driver.MOST_PLACES:
        return None
    return find_form(computes, _constants(binding, computes))


def runs(
    known: Sequence[Form | None], shortest: int = SHORTEST
) -> Iterator[tuple[int, list[Form]]]:
    """Where stretches of so many instructions at least begin, and their forms, by those of all."""
    first, forms = 0, list[Form]()
    for index, found in enumerate(known):
        if found is not None and len(forms) < LONGEST:
            forms.append(found)
            continue
        if len(forms) >= shortest:
            yield first, forms
        first, forms = (index + 1, []) if found is None else (index, [found])
    if len(forms) >= shortest:
        yield first, forms


class _Plan:
    """The driver's tables, on their way."""

    def __init__(self) -> None:
        self.inputs: list[tuple[int, int, int, int]] = []
        self.operations: list[tuple[str, list[int], list[int], int]] = []
        self.values = 0
        self.bytes = 0
        self._now: dict[int, tuple[int, int, int]] = {}
        self.written: dict[int, int] = {}

    def _place(self, bits: int) -> int:
        place = self.bytes
        size = LANES << _SIZE[bits]
        self.bytes += -(-size // _ALIGNED) * _ALIGNED
        return place

    def _value(self) -> int:
        self.values += 1
        return self.values - 1

    def read(self, slot: int, bits: int) -> tuple[int, int]:
        """Value and place of what a register holds now."""
        found = self._now.get(slot)
        if found is None:
            found = self._value(), self._place(bits), bits
            self._now[slot] = found
            self.inputs.append((slot, found[1], found[0], _SIZE[bits]))
        return found[:2]

    def compute(
        self,
        name: str,
        targets: Sequence[tuple[int | None, int]],
        sources: Sequence[tuple[int, int]],
    ) -> int:
        """An operation whose results become the values of slots, of some bits; its value."""
        result = self._value()
        places = []
        for slot, bits in targets:
            place = self._place(bits)
            places.append(place)
            if slot is not None:
                self._now[slot] = result, place, bits
                self.written[slot] = bits
        places += [place for _, place in sources]
        self.operations.append((name, places, [value for value, _ in sources], result))
        return result

    def origins(self) -> dict[int, frozenset[int]]:
        """The registers that each value is made of."""
        found = {value: frozenset((slot,)) for slot, _, value, _ in self.inputs}
        for _, _, values, result in self.operations:
            found[result] = frozenset[int]().union(*(found[value] for value in values))
        return found

    def outputs(self, dead: frozenset[int]) -> list[tuple[int, int, int, int]]:
        """What is read of it later: slots, places, values and sizes."""
        return [
            (slot, self._now[slot][1], self._now[slot][0], _SIZE[bits])
            for slot, bits in self.written.items()
            if slot not in dead
        ]


def _guarding(type_: str) -> Form:
    """The form that keeps a register where a guard does not hold."""
    kinds = (type_, type_, "pred")
    found = find_form(Computes("selp", {}, (type_,), (None,), kinds, (0, 0, 0)), (None,) * 3)
    assert found is not None
    return found


def build(
    library: Library, bindings: Sequence[Binding], forms: Sequence[Form], steps: list[Step]
) -> Stretch:
    """The stretch of some instructions.

    Args:
        library: where the forms are, or are loaded to.
        bindings: the instructions.
        forms: their forms.
        steps: numpy's steps of them.
    """
    plan, needed = _Plan(), dict[str, Form]()
    inside: Counter[str] = Counter()
    for binding, form in zip(bindings, forms, strict=True):
        computes, instruction = binding.computes, binding.instruction
        assert computes is not None
        needed[form.name] = form
        inside.update(operand_names(instruction.operands))
        sources = [
            plan.read(s, width(t)) for s, t in zip(computes.slots, computes.operands, strict=True)
        ]
        bits = [width(t) for t in computes.results]
        if binding.guard is None:
            plan.compute(form.name, list(zip(computes.targets, bits, strict=True)), sources)
            continue
        inside[instruction.guard or ""] += 1
        guard = plan.read(binding.guard[0], 1)
        before = [
            None if t is None else plan.read(t, w)
            for t, w in zip(computes.targets, bits, strict=True)
        ]
        value = plan.compute(form.name, [(None, w) for w in bits], sources)
        new = list(plan.operations[-1][1][: len(bits)])
        for number, (target, old) in enumerate(zip(computes.targets, before, strict=True)):
            if target is None or old is None:
                continue
            kept = _guarding(computes.results[number])
            needed[kept.name] = kept
            one, other = (value, new[number]), old
            if instruction.negated:
                one, other = other, one
            plan.compute(kept.name, [(target, bits[number])], [one, other, guard])
    missing = {n: f for n, f in needed.items() if library.address(n) is None}
    if missing:
        declared = frozenset[str]().union(*(f.declared for f in missing.values()))
        library.load({n: f.text for n, f in missing.items()}, declared)
    function, machine = bindings[0].frame.function, bindings[0].machine
    everywhere = function.once(_mentions)
    read_before = {slot for slot, *_ in plan.inputs}
    dead = set()
    for name, count in inside.items():
        if count == everywhere[name]:
            slot = bindings[0].frame.register(name, bindings[0].instruction.scope)
            if slot is not None and slot[0] not in read_before:
                dead.add(slot[0])
    return Stretch(machine, library, plan, frozenset(dead), steps, needed)


class Stretch:
    """Instructions that are executed by one call.

    Attributes:
        steps: numpy's, for registers that the driver does not know.
    """

    def __init__(
        self,
        machine: Machine,
        library: Library,
        plan: _Plan,
        dead: frozenset[int],
        steps: list[Step],
        forms: dict[str, Form],
    ) -> None:
        self.steps = steps
        self._library = library
        self._whole = plan
        self._forms = forms
        self._times = 0
        self._fused: tuple[str, str] | None = None
        self._machine = machine
        self._run: Callable[..., int] = library.run
        self._inputs = _table(plan.inputs, driver.INPUT)
        self._reads = [slot for slot, *_ in plan.inputs]
        origins = plan.origins()
        outputs = self._kept = plan.outputs(dead)
        self._outputs = _table(outputs, driver.OUTPUT)
        self._outputs[:, driver.OUTPUT.index("mode")] = -1
        bits = {0: 8, 1: 16, 2: 32, 3: 64}
        self._slots = [slot for slot, *_ in outputs]
        self._origins = [origins[value] for _, _, value, _ in outputs]
        self._dtypes = [
            dtype_of(1 if plan.written[slot] == 1 else bits[size]) for slot, _, _, size in outputs
        ]
        self._shapes: list[tuple[int, ...]] = []
        self._shape = (0, 0, 0)
        self._operations = _operations(library, plan)
        room = np.zeros(plan.bytes + _ALIGNED, np.uint8)
        start = -room.ctypes.data % _ALIGNED
        self._file = room[start : start + plan.bytes]
        self._uniform = np.zeros(max(plan.values, 1), np.uint8)
        self._varying = np.zeros(len(plan.operations), np.int64)
        tables = {
            "inputs": len(plan.inputs),
            "input_table": self._inputs.ctypes.data,
            "operations": len(plan.operations),
            "operation_table": self._operations.ctypes.data,
            "outputs": len(outputs),
            "output_table": self._outputs.ctypes.data,
            "file": self._file.ctypes.data,
            "uniform": self._uniform.ctypes.data,
            "varying": self._varying.ctypes.data,
            "types": library.types.ctypes.data,
            "fused": 0,
        }
        self._plan = np.array([tables[name] for name in driver.PLAN], np.int64)
        self._at = (
            self._plan.ctypes.data, id(machine.registers), id(machine.initial),
        )  # fmt: skip

    def __call__(self) -> None:
        """Execute them in the active threads."""
        machine = self._machine
        shape, merge, mask = machine.shape, machine.merge, None
        if merge is not None:
            if merge.shape != shape or not merge.flags.c_contiguous:
                merge = np.ascontiguousarray(machine.full(merge))
            mask = merge.ctypes.data
        registers = machine.registers
        apart: list[int] | None = None
        if merge is None and shape[0] > 1:
            # What CTAs have in common stays so, which spares loads and stores to look at each.
            apart = [slot for slot in self._reads if registers[slot].shape[0] > 1]
            if not apart:
                shape = (1, *shape[1:])
        if self._shape != shape:
            self._reshape(shape)
        self.heat(shape[0] * shape[1])
        empty = np.empty
        while True:
            outs = [empty(s, d) for s, d in zip(self._shapes, self._dtypes, strict=True)]
            status = self._run(*self._at, id(outs), mask, shape[0], shape[1])
            if status == driver.DONE:
                break
            if status == driver.REFUSED:
                for step in self.steps:
                    step()
                return
            self._reshape(shape)
        for slot, out, reads in zip(self._slots, outs, self._origins, strict=True):
            alike = apart and out.shape[0] > 1 and reads.isdisjoint(apart)
            registers[slot] = out[:1].copy() if alike else out

    def arrays(self) -> list[Array]:
        """New arrays for the results, of the shapes that they had the last time."""
        shapes = self._shapes or [(1, 1, 1)] * len(self._dtypes)
        return [np.empty(s, d) for s, d in zip(shapes, self._dtypes, strict=True)]

    @property
    def plan(self) -> int:
        """Where its plan is."""
        return self._plan.ctypes.data

    def renew(self, outs: list[Array]) -> bool:
        """Have arrays of the right shapes, of nobody else's, in a list of them.

        Returns:
            Whether any has been exchanged: else they were right.
        """
        before = self._shapes
        self._reshape(self._machine.shape)
        new = renewed(outs, self._shapes, self._dtypes)
        return new or self._shapes != before

    def heat(self, warps: int) -> None:
        """Note for how many warps it is executed; have it as one function if that is worth it."""
        if self._times < 0:
            return
        self._times += warps
        if self._times < fused.ASKED:
            return
        plan, library = self._whole, self._library
        if self._fused is None:
            texts = {name: form.text for name, form in self._forms.items()}
            self._fused = fused.write(plan.inputs, plan.operations, self._kept, plan.bytes, texts)
            warps = self._times
        name, text = self._fused
        if library.address(name) is not None or fused.worth(name, warps):
            declared = frozenset[str]().union(*(f.declared for f in self._forms.values()))
            at = fused.address(library, name, text, declared)
            self._plan[driver.PLAN.index("fused")] = at
            self._times = -1

    def _reshape(self, shape: tuple[int, int, int]) -> None:
        """Note the shapes of the results."""
        modes = self._outputs[:, driver.OUTPUT.index("mode")].tolist()
        self._shapes = [(1, 1, 1) if mode == driver.UNIFORM else shape for mode in modes]
        self._shape = shape


def renewed(
    outs: list[Array], shapes: Sequence[tuple[int, ...]], dtypes: Sequence[np.dtype]
) -> bool:
    """Have arrays of some shapes and dtypes, of nobody else's, in a list; whether any is new."""
    new = False
    for number, (shape, dtype) in enumerate(zip(shapes, dtypes, strict=True)):
        array = outs[number]
        own = array.base is None and array.flags.owndata and getrefcount(array) <= _OWN
        if array.shape != shape or array.dtype is not dtype or not own:
            outs[number], new = np.empty(shape, dtype), True
        del array
    return new


def _table(rows: Sequence[tuple[int, int, int, int]], fields: tuple[str, ...]) -> np.ndarray:
    table = np.zeros((len(rows), len(fields)), np.int64)
    for row, (slot, place, value, size) in zip(table, rows, strict=True):
        row[:4] = slot, place, value, size
    return table


def _operations(library: Library, plan: _Plan) -> np.ndarray:
    table = np.zeros((len(plan.operations), driver.OPERATION_BYTES), np.uint8)
    for row, (name, places, values, result) in zip(table, plan.operations, strict=True):
        address = library.address(name)
        assert address is not None
        row[driver.FUNCTION : driver.FUNCTION + 8].view(np.int64)[0] = address
        row[driver.PLACES :].view(np.int32)[: len(places)] = places
        row[driver.COUNT : driver.COUNT + 4].view(np.int32)[0] = len(values)
        row[driver.OPERANDS :].view(np.int32)[: len(values)] = values
        row[driver.RESULT : driver.RESULT + 4].view(np.int32)[0] = result
    return table
