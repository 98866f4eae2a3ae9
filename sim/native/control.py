"""Has machine code schedule groups of threads, while their blocks consist of stretches."""

from __future__ import annotations

import ctypes
from collections.abc import Callable
from enum import Enum
from typing import TYPE_CHECKING, Protocol

import numpy as np
from tilec.isa import LANES

from ..alu import Array
from ..blocks import Code, End
from ..frames import Frame
from ..groups import TOGETHER, Group
from ..machine import Machine
from . import control_forms, driver
from .control_forms import BLOCK, GROUP, GROUPS, STATE, STRETCH
from .library import Library
from .stretches import Stretch

if TYPE_CHECKING:
    from ..queues import Queues

_CALL = ctypes.PYFUNCTYPE(ctypes.c_int64, ctypes.c_void_p)
_AT = {name: n for n, name in enumerate(STATE)}
_OF_GROUP = {name: n for n, name in enumerate(GROUP)}
_OF_BLOCK = {name: n for n, name in enumerate(BLOCK)}

BLOCKS = 2000
"""Blocks that machine code runs before Python looks up."""
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
        stretches: those of each block that is for machine code.
        tries: how often machine code began at a block, and how many it has run in all of these.
    """

    def __init__(self, frame: Frame) -> None:
        self.frame = frame
        self.table = np.zeros((len(frame.blocks), len(BLOCK)), np.int64)
        self.stretches: dict[int, list[_Ready]] = {}
        self.tries: dict[int, tuple[int, int]] = {}
        self._kept: list[Array] = []

    def add(self, number: int, code: Code) -> None:
        """A block is for machine code from now on."""
        ready = [_Ready(step) for step in code.native or () if isinstance(step, Stretch)]
        rows = np.array([one.row for one in ready], np.int64).reshape(-1, len(STRETCH))
        self._kept.append(rows)
        self.stretches[number] = ready
        end, row = code.end, self.table[number]
        assert isinstance(end.where, int)
        assert isinstance(end.otherwise, int)
        values = {
            "stretches": len(ready), "table": rows.ctypes.data, "steps": len(code.steps),
            "slot": -1 if end.slot is None else end.slot, "negated": end.negated,
            "where": end.where, "otherwise": end.otherwise, "native": 1,
        }  # fmt: skip
        for name, value in values.items():
            row[_OF_BLOCK[name]] = value


class _Ready:
    """A stretch with arrays for its results."""

    def __init__(self, stretch: Stretch) -> None:
        self.stretch = stretch
        self.outs: list[Array] = stretch.arrays()
        self._dtypes = np.array([id(array.dtype) for array in self.outs], np.int64)
        self._kept = np.zeros(len(self.outs), np.int64)
        self.row = (
            stretch.plan, id(self.outs), self._dtypes.ctypes.data, self._kept.ctypes.data,
        )  # fmt: skip


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
        self._masks = np.zeros((0, 0), np.bool_)
        self._blocks: dict[int, _Blocks] = {}
        self._shape = (0, 0, 0)
        functions = {
            "run": library.address("run"), "describe": library.address("describe"),
            "copy": library.address("copy1"),
        }  # fmt: skip
        given = {
            "groups": self._groups.ctypes.data, "registers": id(machine.registers),
            "initial": id(machine.initial), "types": library.types.ctypes.data,
            "entry": self._entry.ctypes.data, **functions,
        }  # fmt: skip
        for field, value in given.items():
            assert value is not None
            self._state[_AT[field]] = value

    def blocks(self, frame: Frame) -> _Blocks:
        """The blocks of a frame."""
        found = self._blocks.get(id(frame))
        if found is None:
            found = self._blocks[id(frame)] = _Blocks(frame)
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
        queues, machine = scheduler.queues, self._machine
        if not _eligible(queues, group, code):
            return None
        blocks = self.blocks(group.frame)
        first = group.block
        tries, runs = blocks.tries.get(first, (0, 0))
        if tries >= _TRIES and runs < _FEW * tries:
            return None
        if not blocks.table[group.block, 0]:
            blocks.add(group.block, code)
        self._begin(scheduler, group, blocks)
        state, at = self._state, self._state.ctypes.data
        while True:
            status = self._run(at)
            current = self._groups[state[_AT["current"]]]
            if status in (control_forms.ARRAYS, control_forms.REFUSED):
                number, index = int(current[_OF_GROUP["block"]]), int(state[_AT["resume"]]) - 1
                ready = blocks.stretches[number][index]
                if status == control_forms.REFUSED or not ready.stretch.renew(ready.outs):
                    mask = self._mask_of(current)
                    machine.mask = None if mask.all() else mask
                    whole = current[_OF_GROUP["threads"]] == state[_AT["whole"]]
                    machine.merge = None if whole else mask
                    ready.stretch()
                    ready.outs[:] = ready.stretch.arrays()
                    state[_AT["resume"]] = index + 2
                continue
            runs += self._note(blocks)
            if status != control_forms.PAUSE:
                break
            state[_AT["budget"]] = BLOCKS
        blocks.tries[first] = tries + 1, runs
        return self._end(scheduler, group, blocks, status)

    def _begin(self, scheduler: Scheduling, group: Group, blocks: _Blocks) -> None:
        """Take over the groups of the scheduler."""
        machine, state, groups = self._machine, self._state, self._groups
        shape = machine.shape
        if self._shape != shape:
            self._shape = shape
            self._masks = np.zeros((GROUPS, *shape), np.bool_)
            size = self._masks[0].nbytes
            groups[:, _OF_GROUP["mask"]] = self._masks.ctypes.data + size * np.arange(GROUPS)
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
        state[_AT["ctas"] : _AT["turn"]] = shape[0], shape[1], whole
        state[_AT["turn"] : _AT["sequence"]] = scheduler.turn, machine.steps, scheduler.max_steps
        state[_AT["sequence"]] = GROUPS
        state[_AT["current"]], state[_AT["resume"]], state[_AT["budget"]] = 0, 0, BLOCKS

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
            for ready in blocks.stretches[number]:
                ready.stretch.heat(runs * warps)
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
        if status in (control_forms.ALONE, control_forms.BRANCH):
            queued.remove(current)
            self._restore(group, groups[current])
        for number in sorted(queued, key=lambda n: int(groups[n, _OF_GROUP["sequence"]])):
            one = Group(blocks.frame, 0, 0, None, None, 0, 0)
            self._restore(one, groups[number])
            scheduler.queues.groups[one.key] = one
        if status == control_forms.LEAVE:
            # Whoever is told of an error is told of the threads that came last.
            mask = self._mask_of(groups[int(state[_AT["last"]])])
            machine.mask = None if mask.all() else mask
            return Came.QUEUED
        machine.mask, machine.merge = group.mask, group.merge
        return Came.ALONE if status == control_forms.ALONE else Came.BRANCH

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
    if native is None or group.index or type(code.end) is not End:
        return False
    if native and code.steps[0] is not native[0]:  # values are followed
        return False
    if queues.parked or queues.resting or len(queues.groups) > GROUPS - 2:
        return False
    return group.warp == TOGETHER and all(
        one.frame is group.frame and one.index == 0 for one in queues.groups.values()
    )
