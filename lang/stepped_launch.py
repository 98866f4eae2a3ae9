"""Launches of kernels that are stepped through: CTA by CTA, on copies of the arrays' memory."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from itertools import product
from typing import Any, NamedTuple

import numpy as np
from tilec.interpret import Buffer, View, arithmetic_of
from tilec.interpret.arithmetic.base import Arithmetic
from tilec.interpret.cta import Cluster, Cta
from tilec.interpret.findings import Finding
from tilec.interpret.memory import dtype_of
from tilec.interpret.numbers import Array as Values
from tilec.interpret.numbers import Number, number, unsigned, wrap
from tilec.ir import mlir
from tilec.ir.state import holding
from tilec.isa import DEFAULT_TARGET, LaunchError, TilecError
from tilec.isa import target as target_of
from tilec.isa.host_memory import HostBlock, host_blocks
from tilec.isa.launch import extents

from . import operators  # noqa: F401 (tiles need theirs)
from .array import Array
from .build import arguments_of, empty_kernel
from .errors import KernelError, user_places
from .launching import passed_values
from .settings import Settings
from .shared_arrays import noted
from .source import FunctionSource
from .specialization import ConstantValue, Specialization
from .stepping import Stepper, stepped, stepping
from .structures import assembled

_STEPS = 10_000_000
"""Ops that a CTA executes at most: a lock that nobody opens is waited for no longer."""


def launch_stepped(
    source: FunctionSource,
    specialization: Specialization,
    values: Mapping[str, Any],
    grid: int | Sequence[int],
    settings: Settings,
) -> None:
    """Run a kernel's Python, CTA by CTA, along x first.

    The arrays are changed after each CTA, and where one fails.

    Args:
        source: of the kernel.
        specialization: its arguments.
        values: these, by name.
        grid: CTAs along x, y and z.
        settings: how many warps a CTA has, and in which arithmetic it computes.

    Raises:
        KernelError: for what is wrong in the kernel, at its place.
        LaunchError: for arguments that it does not take.
    """
    from tilec.frontend.contexts import new_context  # noqa: PLC0415 (imports MLIR)

    arithmetic = arithmetic_of(settings.numerics)
    ctas = extents(grid, "grid")
    shared = target_of(settings.target or DEFAULT_TARGET).shared_per_cta
    known = (name for name, one in specialization.arguments if not isinstance(one, ConstantValue))
    passed = dict(zip(known, passed_values(specialization, values), strict=True))
    memory = _Memory(list(passed.values()), arithmetic)
    context = new_context()
    with context, holding(context), mlir.ir.Location.unknown():
        for z, y, x in product(*(range(n) for n in reversed(ctas))):
            entry, _module = empty_kernel(source, specialization, settings.warps)
            given = [
                _given(name, one, value.type, memory)
                for (name, one), value in zip(passed.items(), entry.arguments, strict=True)
            ]
            findings: list[Finding] = []
            block = (32 * settings.warps, 1, 1)
            target = settings.target or ""
            alone = Cluster((1, 1, 1), None, shared)
            at = (x, y, z)
            cta = Cta(arithmetic, block, ctas, at, target, [], findings, alone, 0, limit=_STEPS)
            alone.ctas.append(cta)
            try:
                _run(cta, entry, given, source, specialization)
            finally:
                memory.copy_back()


class _Given(NamedTuple):
    """What an argument is to the interpreter.

    Attributes:
        name: the argument's.
        value: a view of memory, or a number.
        is_read_only: whether the kernel must not change it.
    """

    name: str
    value: View | Values
    is_read_only: bool = False


def _given(name: str, passed: Any, type_: Any, memory: _Memory) -> _Given:
    """An argument as the interpreter has it, of the type of the kernel's."""
    if isinstance(passed, np.ndarray) and passed.ndim:
        return _Given(name, memory.view(passed, type_), not passed.flags.writeable)
    return _Given(name, _scalar(passed, number(type_), memory.arithmetic))


def _run(
    cta: Cta,
    entry: Any,
    given: list[_Given],
    source: FunctionSource,
    specialization: Specialization,
) -> None:
    """Run a CTA."""
    with stepping(cta, entry) as steps, noted(entry):
        for value, known in zip(list(entry.arguments), given, strict=True):
            steps.give(value, known.value)
            if known.is_read_only:
                steps.protect(value, known.name)
        arguments = arguments_of(specialization, list(entry.arguments))
        for one in arguments.values():
            if isinstance(one, Array):
                _ = one.shape  # is read in front of everything
        names = {name: assembled(form, arguments) for name, form in specialization.forms}
        returned = _called(source, names, steps)
        if returned is not None:
            message = f"a kernel returns nothing, not {returned!r}: tl.store it"
            raise KernelError(source.place, message)


def _called(source: FunctionSource, names: dict[str, Any], steps: Stepper) -> Any:
    """What the kernel's function returns; errors are shown at the user's line."""
    try:
        returned = stepped(source.function)(**names)
        steps.settle()
    except KernelError:
        raise
    except TilecError as error:
        at, *calls = user_places(error.__traceback__) or [source.place]
        raise KernelError(at, str(error), calls) from None
    return returned


class _Memory:
    """The arrays' memory as the interpreter has it: what overlaps is one buffer."""

    def __init__(self, passed: Sequence[Any], arithmetic: Arithmetic) -> None:
        self.arithmetic = arithmetic
        self._blocks = host_blocks(passed)
        self._buffers: dict[HostBlock, Buffer] = {}

    def view(self, array: Values, type_: Any) -> View:
        """The memory of an array of the type of a memref.

        Raises:
            LaunchError: for arrays of several types in one memory.
        """
        found, size = number(type_), array.itemsize
        strides = tuple(step // size for step in array.strides)
        for block in self._blocks:
            at = block.place(array)
            if at is None:
                continue
            if block not in self._buffers:
                self._buffers[block] = Buffer(self._read(block, found, size), found)
            buffer = self._buffers[block]
            if buffer.number != found or at % size:
                raise LaunchError(
                    f"arrays of {buffer.number} and {found} overlap, which cannot be "
                    "stepped through"
                )
            return View(buffer, at // size, array.shape, strides)
        return View(Buffer.zeros(1, found, self.arithmetic), 0, array.shape, strides)

    def _read(self, block: HostBlock, found: Number, size: int) -> Values:
        raw = block.read()
        padded = np.zeros(-(-len(raw) // size) * size, np.uint8)
        padded[: len(raw)] = raw
        codes = padded.view(f"u{size}").astype(np.uint64).view(np.int64)
        if found.is_float:
            return self.arithmetic.decode(codes, found)
        return wrap(codes, found.bits).astype(dtype_of(found, self.arithmetic))

    def copy_back(self) -> None:
        """Change the arrays to what the buffers hold."""
        for block, buffer in self._buffers.items():
            found = buffer.number
            held = buffer.data
            codes = self.arithmetic.encode(held, found) if found.is_float else held
            size = max(found.bits, 8) // 8
            block.write(unsigned(np.asarray(codes), found.bits).astype(f"u{size}").view(np.uint8))


def _scalar(value: Any, found: Number, arithmetic: Arithmetic) -> Values:
    """A scalar argument as the interpreter has it."""
    if found.is_float:
        return arithmetic.constant(np.asarray(float(value)), found)
    return wrap(np.asarray(int(value) & ((1 << 64) - 1), np.uint64).view(np.int64), found.bits)
