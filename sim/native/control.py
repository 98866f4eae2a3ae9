"""Has machine code schedule groups of threads, while their blocks consist of stretches."""

from __future__ import annotations

import ctypes
from collections.abc import Callable
from enum import Enum
from typing import TYPE_CHECKING, Protocol

import numpy as np
from tilec.isa import LANES, TilecError

from ..alu import Array
from ..blocks import Code, End
from ..failures import fail
from ..frames import Frame
from ..groups import TOGETHER, Group
from ..machine import Machine
from . import control_forms, control_tables, driver
from .accesses import Accesses, may_follow
from .control_checks import Checks
from .control_parts import Ready
from .control_tables import BLOCK, GROUP, GROUPS, PART_OF, STATE
from .library import Library
from .parts import Parts, StepPart, StretchPart

if TYPE_CHECKING:
    from ..queues import Queues

_CALL = ctypes.PYFUNCTYPE(ctypes.c_int64, ctypes.c_void_p)
_AT = {name: n for n, name in enumerate(STATE)}
_OF_GROUP = {name: n for n, name in enumerate(GROUP)}
_OF_BLOCK = {name: n for n, name in enumerate(BLOCK)}

BLOCKS, WARPS = 2000, 20_000
"""Blocks that machine code runs before Python looks up, and warps that do one, at most."""
MOST_STEPS = 1 << 62
"""The largest limit of steps that machine code knows; nobody waits for so many."""
_OF_PARTS = (
    control_tables.ARRAYS, control_tables.REFUSED, control_tables.STEP, control_tables.COUNT,
    control_tables.ROOM, control_tables.PART,
)  # fmt: skip
"""How it comes back from the middle of a block."""
_TRIES, _FEW = 4, 4
"""After so many beginnings at a block, so many blocks each must have been run on average: to begin
takes about as long as numpy takes for so many."""


class Scheduling(Protocol):
    """What is taken over from the scheduler: see `Scheduler`."""

    queues: Queues
    turn: int
    max_steps: int


class Came(Enum):
    """How machine code came back."""

    QUEUED = "queued"
    """All groups are queued."""
    ALONE = "alone"
    """The group goes on in its turn."""
    BRANCH = "branch"
    """The group has come to the end of its block."""


class _Blocks:
    """The blocks of a frame.

    Attributes:
        frame: the frame.
        table: what machine code reads of them.
        parts: those of each block that is for machine code.
        tries: how often machine code began at a block, and how many it has run in all of these.
    """

    def __init__(self, frame: Frame) -> None:
        self.frame = frame
        self.table = np.zeros((len(frame.blocks), len(BLOCK)), np.int64)
        self.parts: dict[int, list[Ready]] = {}
        self.tries: dict[int, tuple[int, int]] = {}
        self._kept: list[Array] = []
        self._shape = (0, 0, 0)

    def forget(self) -> None:
        """Forget a launch."""
        self._shape = (0, 0, 0)
        self.tries.clear()
        for parts in self.parts.values():
            for ready in parts:
                ready.forget()

    def add(self, number: int, code: Code, checks: Checks) -> None:
        """A block is for machine code from now on."""
        assert isinstance(code.native, Parts)
        rows = np.zeros((len(code.native.parts), len(PART_OF)), np.int64)
        ready = [Ready(part, row) for part, row in zip(code.native.parts, rows, strict=True)]
        for one in ready:
            one.renew(checks)
        self._kept.append(rows)
        self.parts[number] = ready
        end, row = code.end, self.table[number]
        assert isinstance(end.where, int)
        assert isinstance(end.otherwise, int)
        values = {
            "parts": len(ready), "table": rows.ctypes.data, "steps": len(code.steps),
            "slot": -1 if end.slot is None else end.slot, "negated": end.negated,
            "where": end.where, "otherwise": end.otherwise, "native": 1,
        }  # fmt: skip
        for name, value in values.items():
            row[_OF_BLOCK[name]] = value

    def renew(self, checks: Checks, machine: Machine) -> None:
        """Take note of what has become of loads and stores since the last time."""
        if self._shape == machine.shape and machine.heap is None:
            return
        self._shape = machine.shape
        for parts in self.parts.values():
            for ready in parts:
                ready.renew(checks)


class Control:
    """The scheduler's place in machine code.

    Args:
        machine: the machine.
        library: where the functions are, or are loaded to.
    """

    def __init__(self, machine: Machine, library: Library) -> None:
        self._machine = machine
        name = control_forms.NAME
        if library.address(name) is None:
            library.load({name: control_forms.text()}, control_forms.DECLARED)
        address = library.address(name)
        assert address is not None
        self._run: Callable[[int], int] = _CALL(address)
        self._library = library
        self._state = np.zeros(len(STATE), np.int64)
        self._groups = np.zeros((GROUPS, len(GROUP)), np.int64)
        self._entry = np.zeros(len(driver.OUTPUT), np.int64)
        self._blocks: dict[int, _Blocks] = {}
        machine.forgetting.append(self.forget)
        self.forget()
        assert isinstance(machine.accesses, Accesses)
        self._accesses = machine.accesses.state
        self._checks = Checks(machine, self._accesses)
        functions = {
            "run": library.address("run"), "describe": library.address("describe"),
            "copy": library.address("copy1"), "own": library.address("own"),
        }  # fmt: skip
        given = {
            "groups": self._groups.ctypes.data, "registers": id(machine.registers),
            "initial": id(machine.initial), "types": library.types.ctypes.data,
            "entry": self._entry.ctypes.data, "access": self._accesses.table.ctypes.data,
            **functions,
        }  # fmt: skip
        for field, value in given.items():
            assert value is not None
            self._state[_AT[field]] = value

    def forget(self) -> None:
        """Forget a launch."""
        self._shape = (0, 0, 0)
        self._masks = np.zeros((0, 0), np.bool_)
        self._views: list[Array] = []
        self._some = self._one = np.zeros((0, 0, 0), np.bool_)

    def blocks(self, frame: Frame) -> _Blocks:
        """The blocks of a frame."""
        found = self._blocks.get(id(frame))
        if found is None:
            found = self._blocks[id(frame)] = _Blocks(frame)
            self._machine.forgetting.append(found.forget)
        return found

    def run(self, scheduler: Scheduling, group: Group, code: Code) -> Came | None:
        """Execute a group's block, and what follows, as far as machine code can.

        Args:
            scheduler: the scheduler, which has picked the group.
            group: the group, at the beginning of the block.
            code: the block.

        Returns:
            How it came back; None if it has not begun.
        """
        queues, machine, checks = scheduler.queues, self._machine, self._checks
        if not _eligible(queues, group, code) or not self._accesses.ready():
            return None
        blocks = self.blocks(group.frame)
        first = group.block
        tries, runs = blocks.tries.get(first, (0, 0))
        if tries >= _TRIES and runs < _FEW * tries:
            return None
        if not checks.enter():
            return None
        if not blocks.table[group.block, 0]:
            blocks.add(group.block, code, checks)
        blocks.renew(checks, machine)
        self._begin(scheduler, group, blocks)
        state, at = self._state, self._state.ctypes.data
        while True:
            status = self._run(at)
            if status == control_tables.PAUSE:
                runs += self._note(blocks)
                state[_AT["budget"]] = self._budget
                continue
            if status in _OF_PARTS and self._help(blocks, status):
                continue
            break
        checks.leave()
        runs += self._note(blocks)
        blocks.tries[first] = tries + 1, runs
        return self._end(scheduler, group, blocks, status)

    def _help(self, blocks: _Blocks, status: int) -> bool:
        """Do what a part of a block needs; False where the group goes on without machine code."""
        machine, state = self._machine, self._state
        current = self._groups[state[_AT["current"]]]
        number, index = int(current[_OF_GROUP["block"]]), int(state[_AT["resume"]]) - 1
        ready = blocks.parts[number][index]
        if status == control_tables.ARRAYS and ready.arrays():
            return True
        if status == control_tables.ROOM:
            return self._checks.make_room(ready.make_room)
        mask = self._mask_of(current)
        machine.mask = None if mask.all() else mask
        whole = current[_OF_GROUP["threads"]] == state[_AT["whole"]]
        machine.merge = None if whole else mask
        checks = self._checks
        if status == control_tables.COUNT:
            ready.learn(checks)
            return True
        if isinstance(ready.part, StretchPart):
            ready.part.stretch()
            ready.outs[:] = ready.part.stretch.arrays()
            state[_AT["resume"]] = index + 2
            return True
        if status == control_tables.PART:
            return False
        if isinstance(ready.part, StepPart):
            if ready.part.sync is not None and not whole:
                return False
            self._execute(blocks, number, ready)
            done = True
            if ready.part.aside:
                observer = checks.observer
                done = observer is None or may_follow(observer)
                state[_AT["resume"]] = index + 2
                return done
        else:
            checks.leave()
            done = ready.step()
            if not done:  # numpy has to, at this place: the block would begin with it again
                self._execute(blocks, number, ready)
                done = True
        if checks.enter():
            ready.renew(checks)
        else:
            done, state[_AT["resume"]] = False, index + 1 + done
        if done:
            state[_AT["resume"]] = index + 2
        return done

    def _execute(self, blocks: _Blocks, number: int, ready: Ready) -> None:
        """Have Python execute an instruction of a block, as the scheduler does."""
        part, machine, frame = ready.part, self._machine, blocks.frame
        code = machine.code = frame.translated[number]
        assert code is not None
        aside = isinstance(part, StepPart) and part.aside
        machine.steps = int(self._state[_AT["steps"]])
        if isinstance(part, StepPart) and not aside:
            self._checks.leave()
        try:
            code.steps[part.place]()
        except BaseException as error:
            if aside:
                self._checks.leave()
            self._note(blocks)
            if isinstance(error, IndexError | TilecError):
                fail(error, frame.place(number, part.place))
            raise
        self._state[_AT["steps"]] = machine.steps  # to look at a clock is one

    @property
    def _budget(self) -> int:
        """Blocks to run before Python looks up."""
        shape = self._machine.shape
        return max(1, min(BLOCKS, WARPS // (shape[0] * shape[1])))

    def _begin(self, scheduler: Scheduling, group: Group, blocks: _Blocks) -> None:
        """Take over the groups of the scheduler."""
        machine, state, groups = self._machine, self._state, self._groups
        shape = machine.shape
        if self._shape != shape:
            self._shape = shape
            self._masks = np.zeros((GROUPS, *shape), np.bool_)
            size = self._masks[0].nbytes
            groups[:, _OF_GROUP["mask"]] = self._masks.ctypes.data + size * np.arange(GROUPS)
            self._views = list(self._masks)
            groups[:, _OF_GROUP["array"]] = [id(view) for view in self._views]
            self._some, self._one = np.zeros(shape, np.bool_), np.zeros((1, *shape[1:]), np.bool_)
            for name, array in (("some", self._some), ("one", self._one)):
                state[_AT[name]], state[_AT[f"{name}_array"]] = array.ctypes.data, id(array)
        size = shape[0] * shape[1] * LANES
        whole = size if machine.live is None else int(np.count_nonzero(machine.live))
        groups[:, 0] = -1
        for number, one in enumerate([group, *scheduler.queues.groups.values()]):
            groups[number, :6] = (
                one.block, one.threads, one.warps, one.turn, one.boost, number
            )  # fmt: skip
            self._masks[number] = True if one.mask is None else one.mask
        scheduler.queues.groups.clear()
        state[_AT["blocks"]] = blocks.table.ctypes.data
        state[_AT["checks"]] = self._checks.address
        state[_AT["watch"]] = self._checks.watch_function
        state[_AT["ctas"] : _AT["turn"]] = shape[0], shape[1], whole
        most = int(min(scheduler.max_steps, MOST_STEPS))
        state[_AT["turn"] : _AT["sequence"]] = scheduler.turn, machine.steps, most
        state[_AT["sequence"]] = GROUPS
        state[_AT["current"]] = state[_AT["resume"]] = 0
        state[_AT["budget"]] = self._budget

    def _note(self, blocks: _Blocks) -> int:
        """Count what has been executed; the blocks in all."""
        first = _OF_BLOCK["runs"]
        table = blocks.table
        warps = self._shape[0] * self._shape[1]
        for number in np.flatnonzero(table[:, first]).tolist():
            runs, entered, threads = table[number, first : first + 3].tolist()
            code = blocks.frame.translated[number]
            assert code is not None
            code.count(0, entered, threads)
            for ready in blocks.parts[number]:
                ready.note(runs * warps, self._machine.observer)
        count = int(table[:, first].sum())
        table[:, first : first + 3] = 0
        return count

    def _mask_of(self, row: Array) -> Array:
        number = int((row[_OF_GROUP["mask"]] - self._masks.ctypes.data) // self._masks[0].nbytes)
        mask: Array = self._masks[number].copy()
        return mask

    def _end(self, scheduler: Scheduling, group: Group, blocks: _Blocks, status: int) -> Came:
        """Give the groups back."""
        machine, state, groups = self._machine, self._state, self._groups
        scheduler.turn, machine.steps = (int(n) for n in state[_AT["turn"] : _AT["max_steps"]])
        current = int(state[_AT["current"]])
        queued = [n for n in range(GROUPS) if groups[n, 0] >= 0]
        alone = status not in (control_tables.LEAVE, control_tables.PAUSE)
        if alone:
            queued.remove(current)
            self._restore(group, groups[current])
        for number in sorted(queued, key=lambda n: int(groups[n, _OF_GROUP["sequence"]])):
            one = Group(blocks.frame, 0, 0, None, None, 0, 0)
            self._restore(one, groups[number])
            scheduler.queues.groups[one.key] = one
        if status == control_tables.LEAVE:
            # Whoever is told of an error is told of the threads that came last.
            mask = self._mask_of(groups[int(state[_AT["last"]])])
            machine.mask = None if mask.all() else mask
            return Came.QUEUED
        machine.mask, machine.merge = group.mask, group.merge
        if status in _OF_PARTS:
            self._go_on(group, blocks, int(state[_AT["resume"]]) - 1)
            return Came.ALONE
        return Came.ALONE if status == control_tables.ALONE else Came.BRANCH

    def _go_on(self, group: Group, blocks: _Blocks, part: int) -> None:
        """Let a group go on with a part of its block, which is counted then."""
        code = blocks.frame.translated[group.block]
        assert code is not None
        parts = blocks.parts[group.block]
        index = parts[part].part.place if part < len(parts) else len(code.steps)
        code.count(index, -group.warps, -group.threads)
        self._machine.steps -= len(code.steps) - index + 1
        group.index = index

    def _restore(self, group: Group, row: Array) -> None:
        """Let a group be what machine code has made of it."""
        group.block, _, _, group.turn, group.boost = (int(n) for n in row[:5])
        group.index = 0
        if row[_OF_GROUP["threads"]] == group.threads and group.threads == self._masks[0].size:
            return
        group.narrow(self._mask_of(row), self._machine.live)


def _eligible(queues: Queues, group: Group, code: Code) -> bool:
    """Whether machine code may schedule the groups."""
    native = code.native
    if native is None or group.index or type(code.end) is not End or not native.of(code):
        return False
    if queues.parked or queues.resting or len(queues.groups) > GROUPS - 2:
        return False
    return group.warp == TOGETHER and all(
        one.frame is group.frame and one.index == 0 for one in queues.groups.values()
    )
