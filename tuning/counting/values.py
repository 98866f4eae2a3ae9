"""Register values of the walked threads, and the steps that compute them.

A value is an array of shape (CTAs, warps, 32), or one that broadcasts to it; a register without a
value holds what is not known without data.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any, TypeAlias

import numpy as np
from numpy.typing import NDArray
from tilec.isa import LANES
from tilec.isa.types import TYPE_BITS
from tilec.sim import alu
from tilec.sim.alu.bits import width
from tilec.sim.ptx.module import Address, Instruction, Integer, Name, Negated, Operand, Sink
from tilec.sim.traits import traits
from tilec.sim.widths import DTYPES

from .launches import PlainLaunch
from .samples import Sample
from .slices import plain_name, results, spelling

Value: TypeAlias = NDArray[Any]
Read: TypeAlias = Callable[[], "Value | None"]
Step: TypeAlias = Callable[["Value | None"], None]
"""Changes registers of the threads of a mask; None for all."""

PARAMETERS = 0x6000_0000_0000
"""Where parameters lie, away from all that kernels address."""
_BITS = {**TYPE_BITS, "pred": 1}


class Registers:
    """The registers of all walked threads.

    Attributes:
        launch: what is launched.
        shape: CTAs, warps and lanes.
        variables: addresses of shared and global variables, by name.
        known: values by register.
    """

    def __init__(self, launch: PlainLaunch, chosen: Sample, variables: Mapping[str, int]) -> None:
        self.launch, self.variables = launch, variables
        self.places = chosen.places
        self.shape = (len(chosen.places), -(-launch.threads // LANES), LANES)
        self.known: dict[str, Value] = {}
        self._constants: dict[tuple[int, int], Value] = {}

    def constant(self, value: int, bits: int) -> Value:
        """A value of all threads."""
        key = value & ((1 << bits) - 1), bits
        if key not in self._constants:
            self._constants[key] = np.full((1, 1, 1), key[0], DTYPES[bits])
        return self._constants[key]

    def write(self, name: str, value: Value | None, mask: Value | None) -> None:
        """Give the threads of a mask a value; None where it is not known."""
        if value is None:
            self.known.pop(name, None)
            return
        if mask is not None:
            old = self.known.get(name)
            if old is not None and old.dtype == value.dtype:
                value = np.where(mask, value, old)
        self.known[name] = value

    def special(self, name: Name) -> Value | None:
        """A special register; None for clocks and the like."""
        axis = "xyz".find(name.component) if name.component else 0
        grid, block, cluster = self.launch.grid, self.launch.block, self.launch.cluster
        thread = np.arange(self.shape[1] * LANES).reshape(1, -1, LANES)
        place = self.places[:, axis].reshape(-1, 1, 1)
        inside = self.places % np.array(cluster)
        rank = inside[:, 0] + cluster[0] * (inside[:, 1] + cluster[1] * inside[:, 2])
        lane = np.arange(LANES).reshape(1, 1, LANES)
        found: Any
        match name.text:
            case "%tid":
                x, y, _ = block
                found = (thread % x, thread // x % y, thread // (x * y))[axis]
            case "%ntid":
                found = block[axis]
            case "%ctaid":
                found = place
            case "%nctaid":
                found = grid[axis]
            case "%clusterid":
                found = place // cluster[axis]
            case "%nclusterid":
                found = grid[axis] // cluster[axis]
            case "%cluster_ctaid":
                found = place % cluster[axis]
            case "%cluster_nctaid":
                found = cluster[axis]
            case "%cluster_ctarank":
                found = rank.reshape(-1, 1, 1)
            case "%cluster_nctarank":
                found = cluster[0] * cluster[1] * cluster[2]
            case "%laneid":
                found = lane
            case "%warpid":
                found = thread[:, :, :1] // LANES
            case "%lanemask_lt":
                found = (1 << lane) - 1
            case _:
                return None
        array = np.asarray(found)
        return (array if array.ndim == 3 else array.reshape(1, 1, 1)).astype(np.uint32)

    def reader(self, operand: Operand, bits: int) -> Read:
        """What gives an operand's value, in so many bits."""
        dtype = DTYPES[bits]
        match operand:
            case Integer(value=value):
                found = self.constant(value, bits)
                return lambda: found
            case Name(text=text, component="", offset=offset) if text in self.variables:
                found = self.constant(self.variables[text] + offset, bits)
                return lambda: found
            case Name(text=text, component="") if text in self.launch.offsets:
                found = self.constant(PARAMETERS + self.launch.offsets[text], bits)
                return lambda: found
            case Name() if operand.component or operand.text in _SPECIAL:
                special = self.special(operand)
                return lambda: special
            case Name(text=text):
                return self._register(text, dtype)
            case Negated(name=name) if bits == 1:
                read = self._register(name.text, dtype)

                def negated() -> Value | None:
                    found = read()
                    return None if found is None else ~found

                return negated
        return lambda: None

    def _register(self, text: str, dtype: np.dtype[Any]) -> Read:
        known = self.known

        def read() -> Value | None:
            found = known.get(text)
            return found if found is None or found.dtype == dtype else found.astype(dtype)

        return read

    def address(self, operand: Operand | None) -> Read:
        """What gives the addresses of an operand in brackets."""
        if not isinstance(operand, Address):
            return lambda: None
        offset = operand.offset
        if operand.base is None:
            found = self.constant(offset, 64).astype(np.int64)
            return lambda: found
        read = self.reader(operand.base, 64)

        def located() -> Value | None:
            value = read()
            return None if value is None else value.astype(np.int64) + offset

        return located


_SPECIAL = ("%laneid", "%warpid", "%lanemask_lt", "%cluster_ctarank", "%cluster_nctarank")


def step(registers: Registers, found: Instruction) -> Step:
    """What computes an instruction's results, those without a known value included."""
    what = traits(found)
    if what.reads and "param" in found.modifiers:
        return _parameter(registers, found)
    if what.waits:
        return _settled(registers, found)
    if what.response:
        return _declined(registers, found)
    return _COMPUTED.get(found.opcode, _arithmetic)(registers, found)


def _forget(registers: Registers, found: Instruction) -> Step:
    names = [one.text for one in results(found.operands[0]) if isinstance(one, Name)]

    def forget(mask: Value | None) -> None:
        if mask is not None and not mask.any():
            return  # nobody executes it
        for name in names:
            registers.write(name, None, None)

    return forget


def _arithmetic(registers: Registers, found: Instruction) -> Step:
    first, *rest = found.operands
    targets = results(first)
    try:
        types = alu.signature(*spelling(found))
        operation = alu.resolve(*spelling(found))
    except alu.Unsupported:
        return _forget(registers, found)
    if "carry" in (*types.results, *types.operands):
        return _forget(registers, found)
    reads = [registers.reader(o, width(t)) for o, t in zip(rest, types.operands, strict=True)]
    names = [None if isinstance(one, Sink) else plain_name(one) for one in targets]
    several = len(names) > 1

    def compute(mask: Value | None) -> None:
        values = [read() for read in reads]
        given: Any = None
        if all(value is not None for value in values):
            given = operation(*values)
        for number, name in enumerate(names):
            if name is not None:
                result = given if given is None or not several else given[number]
                registers.write(name, result, mask)

    return compute


def _parameter(registers: Registers, found: Instruction) -> Step:
    """`ld.param`: a constant of the launch."""
    source = found.operands[1]
    bits = _BITS[found.modifiers[-1]]
    items = results(found.operands[0])
    if not isinstance(source, Address) or source.base is None:
        return _forget(registers, found)
    offset = registers.launch.offsets.get(source.base.text)
    if offset is None:
        return _forget(registers, found)
    values = []
    for number in range(len(items)):
        start = offset + source.offset + number * bits // 8
        data = registers.launch.parameters[start : start + bits // 8]
        values.append(registers.constant(int.from_bytes(data, "little"), bits))
    names = [plain_name(one) for one in items]

    def load(mask: Value | None) -> None:
        for name, value in zip(names, values, strict=True):
            if name is not None:
                registers.write(name, value, mask)

    return load


def _same(registers: Registers, found: Instruction) -> Step:
    """`cvta`: all spaces lie in one here."""
    name = plain_name(found.operands[0])
    assert name is not None
    read = registers.reader(found.operands[1], _BITS[found.modifiers[-1]])
    return lambda mask: registers.write(name, read(), mask)


def _elect(registers: Registers, found: Instruction) -> Step:
    """`elect.sync`: the first lane of its mask, all of whose lanes execute it together."""
    target = results(found.operands[0])
    names = [plain_name(one) for one in target]
    lanes = np.arange(LANES).reshape(1, 1, LANES)
    read = registers.reader(found.operands[1], 32)

    def elect(mask: Value | None) -> None:
        members = read()
        if members is None:
            members = registers.constant(-1, 32)
        leader = np.frexp((members & -members.astype(np.int64)).astype(np.float64))[1] - 1
        if names[0] is not None:
            registers.write(names[0], leader.astype(np.uint32), mask)
        if len(names) > 1 and names[1] is not None:
            registers.write(names[1], lanes == leader, mask)

    return elect


def _shuffle(registers: Registers, found: Instruction) -> Step:
    """`shfl.idx` from one lane, by which kernels say that a value is the same in a warp."""
    first, value, lane, clamp, *_ = found.operands
    name = plain_name(results(first)[0])
    whole = isinstance(clamp, Integer) and clamp.value == LANES - 1
    if "idx" not in found.modifiers or not isinstance(lane, Integer) or not whole or name is None:
        return _forget(registers, found)
    read, at = registers.reader(value, 32), lane.value % LANES

    def take(mask: Value | None) -> None:
        known = read()
        if known is not None and known.shape[2] > 1:
            known = known[:, :, at : at + 1]
        registers.write(name, known, mask)

    return take


def _declined(registers: Registers, found: Instruction) -> Step:
    """A request for the work of another cluster: in vain, so that each does its own, all of it."""
    if "is_canceled" not in found.modifiers:
        return _forget(registers, found)
    name = plain_name(found.operands[0])
    assert name is not None
    canceled = np.zeros((1, 1, 1), np.bool_)
    return lambda mask: registers.write(name, canceled, mask)


def _settled(registers: Registers, found: Instruction) -> Step:
    """A wait: the phase is taken to be over."""
    name = plain_name(found.operands[0])
    assert name is not None
    over = np.ones((1, 1, 1), np.bool_)
    return lambda mask: registers.write(name, over, mask)


_COMPUTED = {"cvta": _same, "elect": _elect, "shfl": _shuffle}
"""What is computed here of instructions that are not arithmetic on each lane's own registers."""
