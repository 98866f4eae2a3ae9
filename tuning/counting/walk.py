"""Walks threads through a kernel: where they go, how often, and what they touch on their way.

Groups of threads at the same place walk together, the group that is furthest behind first, so that
those that parted come together again. All of a block is followed the first times that it is
reached, and later now and then; otherwise what decides where threads go, and what its accesses
touch is taken to be as on average. Rounds of a loop that go as those before them are left out
(`loops`), and a round that is followed stands for them.
"""

from __future__ import annotations

from bisect import bisect_left
from collections import Counter, defaultdict
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, NamedTuple

import numpy as np
from tilec.isa import WARPGROUP_WARPS, ExecutionScope
from tilec.isa import form as find_form
from tilec.sim.matrix_forms import matrix_form
from tilec.sim.memory import GLOBAL_BASE
from tilec.sim.ptx.module import Instruction, Integer, Module, Name
from tilec.sim.traits import Flow, Unit, traits, unit

from ..errors import TuningError
from .launches import PlainLaunch
from .loops import Loops
from .order import ranks
from .reuse import place_of
from .samples import Sample, sample, wave
from .slices import branches, ends_block, needed, written
from .tally import UNITS, Counts, unit_of
from .touches import SECTOR, Patterns, Touch, Touched, described, to_shared, touch
from .values import Read, Registers, Step, Value, step

STEPS = 1_000_000
"""Instructions that are walked at most."""
_LOOKED_AT, _LOOKED_AGAIN = 6, 64
"""Times that all of a block is followed when it is reached, and then each so-manieth time."""
_LOOKED_AT_END = 4
"""Rounds of a loop that are followed after some were left out: its last."""
_APART = 1 << 30
"""Bytes between variables of global memory."""
_SHARED_ALIGNMENT = 1024


@dataclass
class _Access:
    """What an instruction was seen to touch, by how many of the warps that came to it."""

    look: Touch
    came: float = 0.0
    seen: float = 0.0
    touched: list[float] = field(default_factory=lambda: [0.0] * len(Touched._fields))


@dataclass
class _Step:
    """An instruction that must be followed: what it computes, and what it touches.

    Attributes:
        at: its number.
        guard: what gives its guard, if it has one.
        compute: what computes its results, if they are wanted.
        access: what it touches, if it is memory.
        decides: whether where threads go depends on it.
    """

    at: int
    guard: Read | None
    compute: Step | None
    access: _Access | None
    decides: bool


class _Tally(NamedTuple):
    """What is counted so far, by the first instruction of a block.

    Attributes:
        passed: warps that came to it.
        left: warps that left a block before it.
        times: that it was walked.
        unknown: as in `Counts`.
    """

    passed: dict[int, float]
    left: dict[int, float]
    times: dict[int, int]
    unknown: float


class Walk:
    """A kernel on its way.

    Args:
        module: the PTX.
        name: of the kernel.
        launch: how it is launched.
        chosen: the CTAs that are walked; by default some that stand for all.
    """

    looked_at = _LOOKED_AT
    """Times that all of a block is followed."""
    looked_again = _LOOKED_AGAIN
    """Of later times that which is followed as well, one of so many; 0 for none."""

    coordinates = False
    """Whether those of boxes in tensors are wanted."""

    def __init__(
        self, module: Module, name: str, launch: PlainLaunch, chosen: Sample | None = None
    ) -> None:
        self.launch = launch
        self.function = module.functions[name]
        self.body: Sequence[Instruction] = self.function.body or ()
        for one in self.body:
            flow = traits(one).flow
            if flow is Flow.CALL:
                raise TuningError(f"kernel '{name}' calls functions, which are not counted")
            if flow is Flow.BRANCH and len(traits(one).labels) != 1:
                raise TuningError(f"kernel '{name}' branches by tables, which are not counted")
        self.sample = chosen or sample(launch.grid, launch.cluster, launch.threads)
        self.registers = Registers(launch, self.sample, _variables(module, self.body))
        self.weights = self.sample.weights
        self._passed: defaultdict[int, float] = defaultdict(float)
        self._left: defaultdict[int, float] = defaultdict(float)
        self._times: Counter[int] = Counter()
        self._targets = {at: self._target(one) for at, one in enumerate(self.body) if branches(one)}
        self._leaders = sorted(
            {0, *self._targets.values(), *(i + 1 for i, o in enumerate(self.body) if ends_block(o))}
        )
        self._ranks = ranks({at: self._next(at) for at in self._leaders if at < len(self.body)})
        self._deciding = needed(self.body, to_branch=True)
        self._steps = self._bound()
        self._ats = [one.at for one in self._steps]
        self._stands: dict[int, int] = {}
        self._left_over: dict[int, int] = {}
        self._loops = Loops(self.registers, self.body, self._deciding, self._tally)
        self.unknown = 0.0

    def _target(self, branch: Instruction) -> int:
        (label,) = traits(branch).labels
        found = branch.scope.label(label)
        if found is None:
            raise TuningError(f"'{branch.mnemonic}' at a label that is not known, '{label}'")
        return found

    def _next(self, start: int) -> list[int]:
        """Blocks that may come after one: the next last, unless it is left for sure."""
        end = self._block_end(start)
        last = self.body[end - 1]
        found = [self._targets[end - 1]] if end - 1 in self._targets else []
        goes_on = not ends_block(last) or last.guard is not None
        return [*found, end] if goes_on and end < len(self.body) else found

    def _bound(self) -> list[_Step]:
        """The instructions that must be followed."""
        registers, patterns = self.registers, Patterns()
        wanted = needed(self.body, coordinates=self.coordinates)
        steps = []
        for at, one in enumerate(self.body):
            if ends_block(one):
                continue
            computes = not wanted.isdisjoint(written(one))
            look = self._touch(one, patterns)
            if computes or look is not None:
                made = step(registers, one) if computes else None
                access = None if look is None else _Access(look)
                decides = not self._deciding.isdisjoint(written(one))
                steps.append(_Step(at, self._guard(one), made, access, decides))
        return steps

    def _touch(self, one: Instruction, patterns: Patterns) -> Touch | None:
        """What counts what an instruction touches; None if it touches nothing."""
        return touch(self.registers, one, patterns)

    def _guard(self, one: Instruction) -> Read | None:
        if one.guard is None:
            return None
        read = self.registers.reader(Name(one.guard), 1)
        if not one.negated:
            return read

        def negated() -> Value | None:
            found = read()
            return None if found is None else ~found

        return negated

    def run(self) -> None:
        """Walk all threads to their end.

        Raises:
            TuningError: for a kernel that goes on for too long.
        """
        everyone = self._everyone()
        groups: dict[int, Value | None] = {0: everyone}
        steps, last = 0, -1
        guards = {at: self._guard(one) for at, one in enumerate(self.body) if ends_block(one)}
        while groups and not self._is_done():
            start = min(groups, key=self._ranks.__getitem__)
            mask = groups.pop(start)
            if self._ranks[start] <= last:
                self._skip(start, {**groups, start: mask})
            last, end = self._ranks[start], self._block_end(start)
            steps += end - start
            if steps > STEPS:
                why = "; where it goes depends on data" if self.unknown else ""
                raise TuningError(f"a thread executes more than {STEPS:,} instructions{why}")
            warps = self._weight(mask)
            self._passed[start] += warps
            self._left[end] += warps
            self._loops.follow(start, warps)
            self._block(start, end, mask, warps)
            if end - 1 not in guards:
                self._join(groups, end, mask)
                continue
            taken, rest = self._parted(guards[end - 1], mask)
            if end - 1 in self._targets and taken is not _NOBODY:
                self._join(groups, self._targets[end - 1], taken)
            if rest is not _NOBODY and end < len(self.body):
                self._join(groups, end, rest)

    def _tally(self) -> _Tally:
        """What is counted so far."""
        return _Tally(dict(self._passed), dict(self._left), dict(self._times), self.unknown)

    def _skip(self, header: int, groups: Mapping[int, Value | None]) -> None:
        """Leave out rounds of a loop, and count them as those before; one stands for them."""
        skipped = self._loops.returned(
            self._ranks[header], groups, self._times[header] >= self.looked_at
        )
        if skipped is None:
            return
        times, before, now = skipped.times, skipped.before, self._tally()
        if not skipped.now:
            for at, reached in now.times.items():
                rounds = times * (reached - before.times.get(at, 0))
                if rounds:
                    self._stands[at] = rounds
            return
        self._loops.follow(header, times, -1)
        for at, warps in now.passed.items():
            self._passed[at] += times * (warps - before.passed.get(at, 0.0))
        for at, warps in now.left.items():
            self._left[at] += times * (warps - before.left.get(at, 0.0))
        for at, reached in now.times.items():
            rounds = times * (reached - before.times.get(at, 0))
            if rounds:
                self._times[at] += rounds
                self._left_over[at] = _LOOKED_AT_END
        self.unknown += times * (now.unknown - before.unknown)

    def _is_done(self) -> bool:
        """Whether nothing is left to find before all threads came to their end."""
        return False

    def _everyone(self) -> Value | None:
        """The threads of a CTA; None if all warps are whole."""
        threads = self.launch.threads
        _, warps, lanes = self.registers.shape
        if threads == warps * lanes:
            return None
        return (np.arange(warps * lanes) < threads).reshape(1, warps, lanes)

    def _block_end(self, start: int) -> int:
        at = bisect_left(self._leaders, start + 1)
        return self._leaders[at] if at < len(self._leaders) else len(self.body)

    def _block(self, start: int, end: int, mask: Value | None, warps: float) -> None:
        """Follow the instructions of a block."""
        self._times[start] += 1
        times = self._times[start]
        stands = 1 + self._stands.pop(start, 0)
        near = self._left_over.pop(start, 0)
        if near > 1:
            self._left_over[start] = near - 1
        again = self.looked_again and (stands > 1 or near or not times % self.looked_again)
        looks = times <= self.looked_at or again
        for at in range(bisect_left(self._ats, start), bisect_left(self._ats, end)):
            one = self._steps[at]
            if not (looks or one.decides):
                continue
            active, reached = mask, warps
            if one.guard is not None:
                holds = one.guard()
                if holds is None:
                    self.unknown += warps if one.access else 0
                elif not holds.all():
                    active = holds if mask is None else mask & holds
                    reached = self._weight(active)
            if one.access is not None and looks:
                one.access.came += warps * stands
                if reached:
                    self._look(one.access, active, reached * stands, stands)
            if one.compute is not None:
                one.compute(active)

    def _look(self, access: _Access, mask: Value | None, warps: float, times: int) -> None:
        access.seen += warps
        for number, found in enumerate(access.look(mask)):
            if not (isinstance(found, int) and found == 0):
                access.touched[number] += self._sum(found) * times

    def _sum(self, found: Any) -> float:
        """What all CTAs touch, from what each warp of the sample does."""
        array = np.asarray(found, np.float64)
        array = np.broadcast_to(array, (1, 1)) if array.ndim < 2 else array
        ctas, warps, _ = self.registers.shape
        each = array.sum(axis=1) * (warps // array.shape[1])
        return float((np.broadcast_to(each, (ctas,)) * self.weights).sum())

    def _weight(self, mask: Value | None) -> float:
        """Warps of the launch that a mask stands for."""
        if mask is None:
            return float(self.weights.sum()) * self.registers.shape[1]
        return self._sum(mask.any(axis=2))

    def _parted(self, guard: Read | None, mask: Value | None) -> tuple[Value | None, Value | None]:
        """The threads that take a branch, and those that go on."""
        if guard is None:
            return mask, _NOBODY
        holds = guard()
        if holds is None:  # it depends on data: on, out of loops, and into what is skipped seldom
            self.unknown += self._weight(mask)
            return _NOBODY, mask
        if mask is None:
            if holds.all():
                return None, _NOBODY
            holds = shrunk(holds)
            return (holds, ~holds) if holds.any() else (_NOBODY, None)
        if holds.size == 1:
            return (mask, _NOBODY) if holds.all() else (_NOBODY, mask)
        taken, rest = mask & holds, mask & ~holds
        return (
            shrunk(taken) if taken.any() else _NOBODY,
            shrunk(rest) if rest.any() else _NOBODY,
        )

    def _join(self, groups: dict[int, Value | None], at: int, mask: Value | None) -> None:
        """Let threads wait for their turn at a place, with those that are there."""
        if at >= len(self.body):
            return
        if at in groups:
            there = groups[at]
            mask = None if mask is None or there is None else shrunk(mask | there)
            if mask is not None and mask.all():
                mask = None
        groups[at] = mask

    def executed(self) -> list[float]:
        """Warps that executed each instruction."""
        found, warps = [], 0.0
        for at in range(len(self.body)):
            warps += self._passed[at] - self._left[at]
            found.append(warps)
        return found

    def counts(self, shared: Mapping[int, float] | None = None) -> Counts:
        """What was counted.

        Args:
            shared: of each access to global memory, by its number, the share of its bytes that
                differ among CTAs that run at once; 1 for what is not there.
        """
        shared = shared or {}
        distinct = 0.0
        kinds: Counter[str] = Counter()
        units: dict[str, float] = dict.fromkeys(UNITS, 0.0)
        matrix: Counter[str] = Counter()
        executed = self.executed()
        for one, warps in zip(self.body, executed, strict=True):
            if warps:
                kinds[one.opcode] += warps  # type: ignore[assignment]
                units[unit_of(one)] += warps
                if traits(one).matrix:
                    matrix[matrix_form(one).ptx] += warps  # type: ignore[assignment]
        total = [0.0] * len(Touched._fields)
        flops = sum(_flops(name) * warps for name, warps in matrix.items())
        for step_ in self._steps:
            access = step_.access
            if access is not None and access.seen:
                times = executed[step_.at] / access.came
                found = Touched(*access.touched)
                # As in the simulator's report, of which these are requests to global memory.
                found = found if found.sectors else found._replace(requests=0)
                bytes_ = (found.sectors * SECTOR + found.asked) * times
                distinct += bytes_ * shared.get(step_.at, 1.0)
                total = [a + b * times for a, b in zip(total, found, strict=True)]
                if found.products:
                    product = described(self.registers, self.body[step_.at])
                    assert product is not None
                    matrix[product.ptx] += found.products * times
                    flops += product.flops * found.products * times
        touched = Touched(*(round(value, 3) for value in total))
        return Counts(
            instructions=dict(sorted(kinds.items())),
            units=units,
            matrix=dict(sorted(matrix.items())),
            flops=flops,
            requests=touched.requests,
            sectors=touched.sectors,
            wavefronts=touched.wavefronts,
            conflicts=touched.conflicts,
            copied=touched.copied,
            asked=touched.asked,
            distinct=round(distinct, 3),
            operand_bytes=touched.operands,
            in_flight=self._in_flight(),
            unknown=self.unknown + touched.unknown,
        )

    def _in_flight(self) -> float:
        """Bytes of a CTA that are on their way to a ring of buffers while it computes.

        Of `cp.async` those of the groups that a wait leaves open. Bulk copies to shared memory
        fill all of it that the kernel asks for; what others store from there is not told apart.
        """
        steps = [(self.body[one.at], one.access) for one in self._steps if one.access is not None]
        if any(Touched(*access.touched).asked and to_shared(one) for one, access in steps):
            return float(self.launch.dynamic_shared)
        executed = self.executed()
        copied = commits = 0.0
        most = 0
        for one, warps in zip(self.body, executed, strict=True):
            if "async" not in one.modifiers:
                continue
            if "commit_group" in one.modifiers:
                commits += warps
            elif "wait_group" in one.modifiers and isinstance(one.operands[0], Integer):
                most = max(most, one.operands[0].value)
            elif (
                unit(one) is Unit.COPY
                and len(one.operands) > 2
                and isinstance(one.operands[2], Integer)
            ):
                copied += warps * 32 * one.operands[2].value
        if not commits:
            return 0.0
        return copied / commits * self.registers.shape[1] * max(most, 1)


_NOBODY: Any = object()
"""No thread, where None stands for all."""


def shrunk(mask: Value) -> Value:
    """A mask without the axes along which it is the same: fewer elements to compute with."""
    for axis in (2, 1, 0):
        first = mask.take([0], axis=axis)
        if mask.shape[axis] > 1 and (mask == first).all():
            mask = first
    return mask


def _flops(name: str) -> float:
    form = find_form(name)
    return form.flops / (WARPGROUP_WARPS if form.scope is ExecutionScope.WARPGROUP else 1)


def _variables(module: Module, body: Sequence[Instruction]) -> dict[str, int]:
    """Addresses of the variables of the module, and of those inside the kernel."""
    scopes = {id(scope): scope for one in body for scope in one.scope.chain()}
    inside = [variable for scope in scopes.values() for variable in scope.variables.values()]
    found: dict[str, int] = {}
    shared, outside = 0, GLOBAL_BASE
    for variable in (*module.variables.values(), *inside):
        if variable.space == "shared":
            shared = -(-shared // _SHARED_ALIGNMENT) * _SHARED_ALIGNMENT
            found[variable.name] = shared
            shared += variable.size
        else:
            found[variable.name], outside = outside, outside + _APART
    return found


class _Wave(Walk):
    """The CTAs of a wave on their way: which of them read the same."""

    looked_at, looked_again, coordinates = 1, 0, True

    def _touch(self, one: Instruction, patterns: Patterns) -> Touch | None:
        del patterns
        place = place_of(self.registers, one)
        if place is None:
            return None
        number = id(one)
        self.sites += 1

        def look(mask: Value | None) -> Touched:
            if number not in self.places:
                self.places[number] = place(mask)
            return Touched()

        return look

    def __init__(self, module: Module, name: str, launch: PlainLaunch, at_once: int) -> None:
        self.places: dict[int, float | None] = {}
        self.sites = 0
        super().__init__(module, name, launch, wave(launch.grid, at_once))

    def _is_done(self) -> bool:
        return len(self.places) == self.sites

    def shared(self) -> dict[int, float]:
        """Of each access, by its number, the share of its bytes that differ among the CTAs."""
        found = {at: self.places.get(id(one)) for at, one in enumerate(self.body)}
        return {at: share for at, share in found.items() if share is not None}


def count(module: Module, name: str, launch: PlainLaunch, at_once: int = 0) -> Counts:
    """What a launch of a kernel does.

    Args:
        module: its PTX, read.
        name: of the kernel.
        launch: how it is launched.
        at_once: CTAs that run at the same time, of which those that read the same share what
            comes from DRAM; 0 to let each read for itself.

    Raises:
        TuningError: for a kernel that calls functions, or goes on for too long.
    """
    walk = Walk(module, name, launch)
    walk.run()
    if at_once < 1:
        return walk.counts()
    together = _Wave(module, name, launch, at_once)
    together.run()
    return walk.counts(together.shared())
