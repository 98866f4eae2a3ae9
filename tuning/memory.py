"""What `@tilec.autotune` found, in a store: the next process need not try it again."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from hashlib import blake2b
from pathlib import Path
from typing import Any

from tilec.isa import DEFAULT_TARGET
from tilec.lang.trials import Config, Trial, Tried

from .sources import PythonProgram, digest
from .store import Outcome, State, Store, StudyKey
from .store.keys import versions
from .store.outcomes import name_of

_COUNTS = "simulator"
"""The device of what a function of the simulator's report gives."""
_MILLISECOND = 1e-3


class Memory:
    """A store that `autotune(…, memory=Memory("tune.sqlite"))` reads and writes.

    Args:
        file: its path; made when something is written.

    What was found is known by the kernel's source and settings, what decides of the arguments,
    the target, the device, and the versions of tilec, MLIR and LLVM. Where there is no GPU, what
    was timed on any device counts.
    """

    def __init__(self, file: str | Path) -> None:
        self.file = file

    def recall(self, tried: Tried, configs: Sequence[Config]) -> list[float] | None:
        """What each configuration costs, infinity of one that cannot be launched.

        None if any is not known.

        Raises:
            TuningError: for a file that is no store.
        """
        if not Path(self.file).is_file():
            return None
        wanted = _identity(tried)
        with Store(self.file) as store:
            for id_, key in store.studies().items():
                device = key.pop("device")
                same = key == wanted and (tried.device is None or device == tried.device)
                known = {one.name: one for one in store.outcomes(id_)} if same else {}
                found = [known.get(name_of(_candidate(one))) for one in configs]
                if all(found):
                    return [_cost(one) for one in found if one is not None]
        return None

    def remember(self, tried: Tried, trials: Sequence[Trial]) -> None:
        """Write what was found.

        Raises:
            TuningError: for a file that is no store.
        """
        key = StudyKey(**_identity(tried), device=tried.device or _COUNTS)
        with Store(self.file) as store:
            id_ = store.study(key)
            for one in trials:
                store.put(id_, _outcome(one))


def _identity(tried: Tried) -> dict[str, Any]:
    """What tells the trials of a kernel from others, but for the device."""
    program = PythonProgram(tried.kernel, tried.kernel.function.__name__)
    best = "least time"
    if tried.by is not None:
        code = tried.by.__code__ if hasattr(tried.by, "__code__") else None
        best = repr(tried.by) if code is None else digest(code.co_code.hex(), repr(code.co_consts))
    return {
        "kernel": program.name,
        "digest": program.digest,
        "sizes": {},
        "types": {},
        "target": tried.kernel.settings.target or DEFAULT_TARGET,
        "versions": {**versions(), "arguments": repr(tried.key), "best": best},
    }


def _candidate(config: Config) -> Mapping[str, int]:
    """A configuration as a store has candidates: what is no integer by a digest of it."""
    given = {**config.constants, **config.settings}
    return {
        name: value
        if isinstance(value, int)
        else int.from_bytes(blake2b(repr(value).encode(), digest_size=6).digest(), "big")
        for name, value in given.items()
    }


def _cost(one: Outcome) -> float:
    if one.measured is not None:
        return one.measured["median"]
    return float("inf") if one.cost is None else one.cost


def _outcome(trial: Trial) -> Outcome:
    candidate = _candidate(trial.config)
    if trial.cost is None:
        why = str(trial.error).splitlines()[0]
        return Outcome(candidate, State.REFUSED, "it cannot be launched", why)
    if isinstance(trial.cost, float):
        return Outcome(candidate, State.RANKED, cost=trial.cost)
    time = trial.cost
    measured = {
        "median": time.median * _MILLISECOND,
        "least": time.least * _MILLISECOND,
        "most": time.most * _MILLISECOND,
        "rounds": time.rounds,
        "clock_before": time.clocks[0],
        "clock_after": time.clocks[1],
    }
    return Outcome(candidate, State.RANKED, measured=measured)
