"""Whether PTX computes what the tile program does: `tilec --validate`, behind the passes.

The simulator runs the PTX with floats that are integers modulo 2^w, as the interpreter has them,
so that results are compared bit for bit, whatever was reordered on the way.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from math import prod
from typing import Any

import numpy as np
from tilec import sim
from tilec.interpret import Outcome, View, interpret
from tilec.interpret.numbers import Array, Number, unsigned
from tilec.ir.aliases import Op
from tilec.isa import TilecError, element_type
from tilec.isa.dtypes import numpy_type
from tilec.launch.abi import KernelEntry
from tilec.launch.arguments import passed
from tilec.launch.run import Launchable
from tilec.launch.simulated import SMS, for_simulator

from .compare import EXACT, SHADOW, UNUSABLE, Difference
from .lowered_math import arithmetic_of_kernel
from .plans import Parameter, Plan, arguments

_LIMIT = 5_000
_STEPS = 400_000
_NEAR = 2e-2
"""What rounding may make of a result, to its largest number, at most; much less than a fault."""
_FLOATS = ("f16", "bf16", "f32", "f64")


class InexactError(TilecError):
    """PTX that computes what the program does, but not by the algebra's laws."""


class _RanBadly(Exception):  # noqa: N818 (a finding, not a fault of ours)
    """What the simulator finds wrong with a run."""


@dataclass(frozen=True, slots=True)
class PtxPair:
    """A kernel as a tile program, and as PTX.

    Attributes:
        before: the function.
        known: its arguments.
        target: what it runs on.
        module: the PTX, read.
        entry: how it is launched.
    """

    before: Op
    known: tuple[Parameter, ...]
    target: str
    module: sim.Module
    entry: KernelEntry

    def difference(self, plan: Plan) -> Difference | None:
        """What differs on a plan's arguments.

        Raises:
            NoMeaning: at an op that has no interpretation.
            InexactError: if only the algebra tells them apart.
            TilecError: for what the simulator does not run.
        """
        lowered = arithmetic_of_kernel(self.before)
        given = arguments(plan, self.known, EXACT)
        wanted = interpret(
            self.before, given, lowered, grid=plan.grid, target=self.target, limit=_LIMIT
        )
        if wanted.kinds & UNUSABLE:
            return None
        try:
            found = self._run(plan, given, "algebraic")
        except _RanBadly as error:
            return Difference(says=str(error))
        differs = _first(wanted, found, given)
        if differs is not None and self._agrees_in_floats(plan):
            raise InexactError("it computes the same, but for rounding, by the bits of floats")
        return differs

    def _agrees_in_floats(self, plan: Plan) -> bool:
        """Whether the hardware's arithmetic gives what float64 does, but for rounding."""
        given = arguments(plan, self.known, SHADOW)
        wanted = interpret(
            self.before, given, SHADOW, grid=plan.grid, target=self.target, limit=_LIMIT
        )
        try:
            found = self._run(plan, given, "exact", SHADOW)
        except _RanBadly:
            return False
        for one, view, bits in zip(wanted.memories, given, found, strict=True):
            if one is None or bits is None or not isinstance(view, View):
                continue
            number = view.buffer.number
            if not number.is_float:
                if (_codes(one, number, SHADOW) != bits).any():
                    return False
                continue
            seen = SHADOW.decode(bits.astype(np.int64), number)
            finite = np.abs(one[np.isfinite(one)])
            largest = float(finite.max()) if finite.size else 1.0
            if not np.allclose(seen, one, rtol=_NEAR, atol=_NEAR * largest, equal_nan=True):
                return False
        return True

    def _run(
        self, plan: Plan, given: Sequence[View | Array], numerics: str, arithmetic: Any = EXACT
    ) -> list[Array | None]:
        """The bits of each memref argument's memory behind the kernel.

        Raises:
            _RanBadly: for what the simulator finds.
        """
        memories: dict[int, Array] = {}
        values: list[Any] = []
        for one, known in zip(given, self.known, strict=True):
            if not isinstance(one, View):
                values.append(_scalar(np.asarray(one), known.number, arithmetic))
                continue
            number, key = one.buffer.number, id(one.buffer)
            if key not in memories:
                memories[key] = _codes(one.buffer.data, number, arithmetic).copy()
            part = memories[key][: prod(one.sizes)].reshape(one.sizes)
            values.append(part.view(_dtype(number)))
        ctas = self.entry.launched(plan.grid, SMS, None)
        report = sim.launch(
            self.module,
            self.entry.name,
            ctas,
            self.entry.block or (1, 1, 1),
            for_simulator(passed(self.entry, values, grid=plan.grid)),
            arch=self.target or None,
            dynamic_smem=self.entry.dynamic_shared,
            cluster=self.entry.cluster,
            numerics=numerics,
            max_steps=_STEPS,
        )
        if report.findings:
            raise _RanBadly(report.findings[0].message)
        return [memories[id(v.buffer)] if isinstance(v, View) else None for v in given]


def pairs(
    compiled: Launchable, kernels: Sequence[tuple[str, Op, tuple[Parameter, ...]]]
) -> list[tuple[str, PtxPair]]:
    """The kernels of tile programs, by name, beside their PTX."""
    module = sim.read(compiled.ptx)
    entries = {entry.name: entry for entry in compiled.kernels}
    return [
        (name, PtxPair(function, known, compiled.target.name, module, entries[name]))
        for name, function, known in kernels
        if name in entries
    ]


def _first(
    wanted: Outcome, found: Sequence[Array | None], given: Sequence[View | Array]
) -> Difference | None:
    """The first place that does not hold what it must."""
    for at, (old, new, view) in enumerate(zip(wanted.memories, found, given, strict=True)):
        if old is None or new is None or not isinstance(view, View):
            continue
        number = view.buffer.number
        apart = _codes(old, number, EXACT) != new
        if apart.any():
            place = int(np.flatnonzero(apart)[0])
            return Difference(at, place, float(old[place]), float(_number(new[place], number)))
    return None


def _number(bits: Any, number: Number) -> Any:
    """What bits are, as the algebra has it, or the integer."""
    return EXACT.decode(np.asarray(bits, np.int64), number._replace(shift=0))


def _dtype(number: Number) -> np.dtype[Any]:
    """What an array of such elements has."""
    if number.name in _FLOATS:
        return np.dtype(numpy_type(element_type(number.name)))
    return np.dtype(np.int8 if number.bits < 8 else f"i{number.bits // 8}")


def _codes(values: Array, number: Number, arithmetic: Any) -> Array:
    """The bits of elements, without a sign."""
    held = arithmetic.encode(values, number) if number.is_float else values
    dtype = f"u{max(number.bits, 8) // 8}"
    return unsigned(np.asarray(held), number.bits).astype(dtype)


def _scalar(value: Array, number: Number, arithmetic: Any) -> Any:
    return _codes(value.reshape(1), number, arithmetic).view(_dtype(number))[0]
