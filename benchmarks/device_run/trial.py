"""One kernel on random memory: what goes in, and digests of what must come out."""

from __future__ import annotations

import zlib
from collections.abc import Mapping
from dataclasses import asdict, dataclass
from typing import Any, Protocol

import numpy as np

from .pools import piece

POISON = 0xA5
"""What the memory of results holds before a run."""

Memory = dict[str, np.ndarray]
"""By argument: (CTAs, bytes of a CTA)."""


@dataclass(frozen=True)
class Place:
    """An argument of a kernel, of which every CTA has its part.

    Attributes:
        name: of the operand.
        bytes: of a CTA's part.
        item: bytes of an element as the kernel reads or writes it.
        pools: the pool that each kind of run fills it from; empty for the result.
    """

    name: str
    bytes: int
    item: int
    pools: Mapping[str, str]


@dataclass(frozen=True)
class Run:
    """A kernel on one kind of memory.

    Attributes:
        kind: `bits`, `normal` or `edges`; names the pools.
        seed: of the pieces.
        ctas: to launch.
        digests: a checksum for every `Trial.block` CTAs of the result; empty before they are known.
    """

    kind: str
    seed: int
    ctas: int
    digests: tuple[int, ...] = ()


@dataclass(frozen=True)
class Trial:
    """A kernel that executes one form once a CTA.

    Attributes:
        form: the PTX mnemonic.
        selectors: values of the form's selectors.
        space: state space of a wmma operand's memory.
        kernel: its name in the module.
        places: its arguments in order; the one without pools is the result.
        runs: on what it is run.
        any_nan: whether NaNs of the result are not compared bit by bit: of f64 the ISA leaves open
            which it is.
        block: CTAs to a digest.
    """

    form: str
    selectors: Mapping[str, int]
    space: str
    kernel: str
    places: tuple[Place, ...]
    runs: tuple[Run, ...]
    any_nan: bool = False
    block: int = 16

    @property
    def name(self) -> str:
        """The form and what else tells this kernel from others of the form."""
        chosen = [f"{name} {value}" for name, value in self.selectors.items()]
        return " ".join([self.form, *chosen, self.space]).strip()

    @property
    def result(self) -> Place:
        """Where the kernel writes."""
        (found,) = (place for place in self.places if not place.pools)
        return found

    def elements(self, run: Run) -> int:
        """Elements that a run computes."""
        return run.ctas * self.result.bytes // self.result.item

    def memory(self, run: Run) -> Memory:
        """What the arguments hold before a run."""
        made = {}
        for number, place in enumerate(self.places):
            shape = (run.ctas, place.bytes)
            if place.pools:
                flat = piece(place.pools[run.kind], 16 * run.seed + number, run.ctas * place.bytes)
                made[place.name] = flat.reshape(shape)
            else:
                made[place.name] = np.full(shape, POISON, np.uint8)
        return made

    def digests(self, result: np.ndarray) -> tuple[int, ...]:
        """Checksums of a result, (CTAs, bytes)."""
        same = self.comparable(result)
        return tuple(
            zlib.crc32(np.ascontiguousarray(same[first : first + self.block]))
            for first in range(0, len(same), self.block)
        )

    def comparable(self, result: np.ndarray) -> np.ndarray:
        """A result whose NaNs are all the same where they are not compared."""
        if not self.any_nan:
            return result
        numbers = result.view(np.float64)
        return np.where(np.isnan(numbers), np.nan, numbers).view(np.uint8)

    def json(self) -> dict[str, Any]:
        """Everything, as JSON has it."""
        return asdict(self)

    @classmethod
    def of(cls, fields: Mapping[str, Any]) -> Trial:
        """The trial that `json` gave."""
        places = tuple(Place(**place) for place in fields["places"])
        runs = tuple(Run(**{**run, "digests": tuple(run["digests"])}) for run in fields["runs"])
        return cls(**{**fields, "places": places, "runs": runs})


class Executor(Protocol):
    """What runs a kernel of a loaded module on memory: a GPU, or the simulator."""

    def __call__(self, kernel: str, ctas: int, arguments: list[np.ndarray]) -> None:
        """Launch CTAs of one warp; arrays are changed in place."""


def execute(trial: Trial, run: Run, executor: Executor) -> np.ndarray:
    """The result of a run, (CTAs, bytes)."""
    memory = trial.memory(run)
    executor(trial.kernel, run.ctas, list(memory.values()))
    return memory[trial.result.name]
