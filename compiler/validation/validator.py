"""`--validate-each`: after each pass every kernel computes what it computed before."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from math import prod
from typing import cast

import numpy as np
from tilec.interpret import Outcome, Program
from tilec.ir.aliases import Op
from tilec.ir.dimensions import dimension_of
from tilec.ir.mlir import ir
from tilec.ir.modules import clone_module
from tilec.isa import TilecError
from tilec.launch.run import Launchable
from tilec.passes.base import Diagnostic, PassError, walk
from tilec.passes.functions import functions, gpu_modules, target_of
from tilec.passes.steps import Title
from tilec.passes.upstream.outline_functions import linalg_ops

from .compare import UNUSABLE, Difference, Pair, run
from .launches import can_launch, in_clusters
from .plans import Extents, Parameter, Plan, fits, parameters, plans
from .ptx import PtxPair, pairs
from .shrink import describe, smallest

_PLANS = 3
"""Inputs that every pass is tried on."""
_CANDIDATES = 24
"""Inputs that are drawn at most to find them."""


class NoInputError(TilecError):
    """A kernel for which no legal input was found."""


@dataclass(frozen=True, slots=True)
class Known:
    """A kernel before a pass.

    Attributes:
        function: it, in a copy of the module.
        known: its arguments.
        target: what it runs on.
        outcomes: what it leaves of the arguments of each plan.
    """

    function: Op
    known: tuple[Parameter, ...]
    target: str
    outcomes: tuple[tuple[Plan, Outcome], ...]


@dataclass(eq=False)
class Validator:
    """Watches a pipeline.

    Attributes:
        seed: of the inputs.
        shrinks: whether the input of a message is made as small as can be, which takes longer than
            everything else; without, it is the one that was drawn.
        unknown: by kernel, why passes are not validated any more.
        validated: passes that changed a kernel and were compared, one for each kernel.
        left: by kernel, from which pass on it was not compared, and why.
        in_ptx: kernels whose PTX was compared with their program.
    """

    seed: int = 0
    shrinks: bool = True
    unknown: dict[str, str] = field(default_factory=dict)
    validated: list[str] = field(default_factory=list)
    left: dict[str, str] = field(default_factory=dict)
    in_ptx: list[str] = field(default_factory=list)
    _kernels: dict[str, Known] = field(default_factory=dict)
    _copy: ir.Module | None = None
    _first: tuple[ir.Module, dict[str, Known]] | None = None
    _text: str = ""

    @contextmanager
    def around(self, title: Title, root: ir.Module | ir.Operation) -> Iterator[None]:
        """Compare the kernels before and after the pass that runs inside.

        Raises:
            PassError: if one computes something else, with the smallest input.
        """
        module = _module_of(root)
        text = module.operation.get_asm(print_generic_op_form=True)
        if text != self._text:
            self._note(module, text)
        if self._first is None and self._copy is not None:
            self._first = self._copy, self._kernels
        yield
        text = module.operation.get_asm(print_generic_op_form=True)
        if text != self._text:
            old, copy = self._kernels, self._copy  # which the old kernels stand in
            self._note(module, text)
            self._compare(title.name, old)
            del copy
            for kernel, why in self.unknown.items():
                self.left.setdefault(kernel, f"after pass '{title.name}': {why}")

    def check_ptx(self, compiled: Launchable) -> None:
        """Compare the PTX of kernels with their programs before the first pass.

        Raises:
            PassError: if one computes something else, with the smallest input.
        """
        if self._first is None:
            return
        _, kernels = self._first
        named = [(name, one.function, one.known) for name, one in kernels.items()]
        for name, pair in pairs(compiled, named):
            try:
                found = self._differs(pair, [plan for plan, _ in kernels[name].outcomes])
            except TilecError as error:
                self.left[name] = f"as PTX: {error}"
                continue
            if found is not None:
                raise PassError([_ptx_diagnosis(name, pair, *found)])
            self.in_ptx.append(name)

    def _differs(self, pair: PtxPair, plans: Iterable[Plan]) -> tuple[Plan, Difference] | None:
        """The first plan on which PTX differs, or a smaller one, and how."""
        for plan in plans:
            found = pair.difference(plan)
            if found is not None:
                return smallest(pair, plan, found) if self.shrinks else (plan, found)
        return None

    def report(self) -> str:
        """What was compared, and what was not, for who reads the terminal."""
        changes = len(self.validated)
        lines = [f"validated {changes} change{'s' * (changes != 1)} of kernels by passes"]
        if self.in_ptx:
            lines.append(f"validated the PTX of {', '.join(map(repr, self.in_ptx))}")
        # What PTX computes is all that passes did, those that were not compared one by one, too.
        left = {kernel: why for kernel, why in self.left.items() if kernel not in self.in_ptx}
        lines += [f"not validated: '{kernel}' {why}" for kernel, why in left.items()]
        return "".join(f"{line}\n" for line in lines)

    def _note(self, module: ir.Module, text: str) -> None:
        """Take a copy of the module, and run its kernels on the inputs of before."""
        earlier = self._kernels
        self._text, self._copy, self._kernels = text, clone_module(module), {}
        self.unknown.clear()
        for function, target in _kernels(self._copy):
            name = ir.StringAttr(function.attributes["sym_name"]).value
            try:
                known = parameters(function)
                last = earlier.get(name)
                self._kernels[name] = self._known(function, known, target, last)
            except TilecError as error:
                self.unknown[name] = str(error)

    def _known(
        self, function: Op, known: tuple[Parameter, ...], target: str, last: Known | None
    ) -> Known:
        program = Program(function)
        if last is not None and _alike(last.known, known):
            # A pass may not make an input illegal: what it leaves is compared, findings and all.
            plans_ = [plan for plan, _ in last.outcomes if can_launch(function, plan)]
            outcomes = [(plan, run(program, plan, known, target)) for plan in plans_]
            return Known(function, last.known, target, tuple(outcomes))
        found: list[tuple[Plan, Outcome]] = []
        axes = frozenset(_axes(function))
        candidates = (plan for plan in plans(known, axes, self.seed) if fits(plan))
        for _, drawn in zip(range(_CANDIDATES), candidates, strict=False):
            plan = in_clusters(function, drawn)
            outcome = run(program, plan, known, target, to_try=True)
            if not outcome.kinds & UNUSABLE:
                found.append((plan, outcome))
            if len(found) == _PLANS:
                break
        if not found:
            raise NoInputError("no input was found on which it does nothing undefined")
        return Known(function, known, target, tuple(found))

    def _compare(self, name: str, old: dict[str, Known]) -> None:
        for kernel, before in old.items():
            after = self._kernels.get(kernel)
            if after is None or not _alike(before.known, after.known):
                continue
            self.validated.append(name)
            pair = Pair(before.function, after.function, before.known, after.target)
            left = dict(after.outcomes)
            for plan, outcome in before.outcomes:
                found = pair.difference(plan, outcome, left.get(plan))
                if found is not None:
                    shown = smallest(pair, plan, found) if self.shrinks else (plan, found)
                    raise PassError([_diagnosis(name, kernel, pair, *shown)])


def _kernels(module: ir.Module) -> Iterator[tuple[Op, str]]:
    """Functions that are launched, or will be as they hold ops of linalg's, and their targets."""
    for gpu_module in gpu_modules(module):
        found = target_of(gpu_module)
        for function in functions(gpu_module):
            yield function, "" if found is None else found.name
    for op in module.body.operations:
        if op.operation.name == "func.func" and linalg_ops(op):
            yield op, ""


def _alike(one: tuple[Parameter, ...], other: tuple[Parameter, ...]) -> bool:
    """Whether kernels take the same arguments, whatever they are promised of them."""
    return [(p.number, p.shape) for p in one] == [(p.number, p.shape) for p in other]


def _module_of(root: ir.Module | ir.Operation) -> ir.Module:
    """The module that a pass works in, or on."""
    op = root.operation
    while op.attached and op.parent is not None:
        op = op.parent.operation
    # An operation of a class of its own, as of `clone_module`.
    return cast("ir.Module", op.opview)


def _axes(function: Op) -> Iterator[int]:
    """Of the grid, those that a kernel asks its place of."""
    for op in walk(function):
        if op.operation.name == "gpu.block_id":
            yield dimension_of(op)


def _holder(plan: Plan, found: Difference) -> tuple[int, Extents]:
    """The argument that sees the place of a difference, of those in one memory, and its extents."""
    number, extents = found.argument, plan.extents[found.argument] or ()
    if plan.shared is not None and found.place >= prod(extents):
        number = plan.shared[0]
    return number, plan.extents[number] or ()


def _where(plan: Plan, found: Difference) -> str:
    """What an argument holds, and held before."""
    number, extents = _holder(plan, found)
    at = ", ".join(str(int(n)) for n in np.unravel_index(found.place, extents))
    return f"argument {number} holds {found.after:.17g} at [{at}], and {found.before:.17g}"


def _ptx_diagnosis(kernel: str, pair: PtxPair, plan: Plan, found: Difference) -> Diagnostic:
    """The error: what differs in PTX, and the smallest input."""
    note = Diagnostic(None, f"on the smallest input: {describe(plan, pair.known)}", "note")
    what = found.says or f"{_where(plan, found)} in the tile program"
    message = f"the PTX of '{kernel}' does not compute what the program does: {what}"
    return Diagnostic(pair.before.operation.location, message, notes=(note,))


def _diagnosis(name: str, kernel: str, pair: Pair, plan: Plan, found: Difference) -> Diagnostic:
    """The error: the pass, what differs, and the smallest input."""
    note = Diagnostic(None, f"on the smallest input: {describe(plan, pair.known)}", "note")
    if found.finding is not None:
        return Diagnostic(
            found.finding.location,
            f"pass '{name}' changed the meaning of '{kernel}': {found.finding.message}",
            notes=(note,),
        )
    return Diagnostic(
        pair.after.operation.location,
        f"pass '{name}' changed the meaning of '{kernel}': {_where(plan, found)} before the pass",
        notes=(note,),
    )
