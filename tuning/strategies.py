"""In which order candidates are tried, and which: all of them, or those that an optimiser asks for.

A strategy claims candidates in the store before they are tried, and is told what became of them. It
keeps nothing that the store does not have, so that a run that was killed goes on where it was.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from enum import StrEnum
from typing import Protocol

from .errors import TuningError
from .space import Candidate, Space
from .store import Outcome, Store

TRIALS = 100
"""Candidates that an optimiser tries where nobody says how many."""


class Strategy(StrEnum):
    """What is compiled, and what is timed where there is a GPU."""

    EXHAUSTIVE = "exhaustive"
    """All candidates are compiled, and all that can be launched are timed."""
    MODEL_FIRST = "model-first"
    """All candidates are compiled and ranked by the model; the best of them are timed."""
    OPTUNA = "optuna"
    """Optuna's sampler chooses what is compiled, by the model; the best of that are timed."""


class Search(Protocol):
    """A strategy at work on one study."""

    @property
    def total(self) -> int:
        """Candidates whose outcome is known in the end."""
        ...

    def take(self, most: int) -> Sequence[Mapping[str, int]]:
        """Candidates to try now, which the store has this process as the owner of."""
        ...

    def told(self, outcome: Outcome) -> None:
        """Take note of what became of one of them, which the store has by now."""
        ...


class Every:
    """All candidates, in their order."""

    def __init__(self, store: Store, study: str, candidates: Sequence[Candidate]) -> None:
        self._store, self._study, self._candidates = store, study, candidates

    @property
    def total(self) -> int:
        """All of them."""
        return len(self._candidates)

    def take(self, most: int) -> Sequence[Mapping[str, int]]:
        """Those that nobody has tried or tries."""
        return self._store.claim(self._study, self._candidates, most)

    def told(self, outcome: Outcome) -> None:
        """Nothing: the order does not depend on it."""


Begin = Callable[[Store, str, Space, Sequence[Candidate]], Search]
"""Begins a search of a study, by its id in a store, of a space with these candidates."""


def strategy(name: str, trials: int | None) -> Begin:
    """What begins the search of a study.

    Args:
        name: of a `Strategy`.
        trials: candidates that an optimiser tries; None for `TRIALS`.

    Raises:
        TuningError: for an unknown name, a number of trials where all candidates are tried, and an
            optimiser that is not installed.
    """
    legal = [str(one) for one in Strategy]
    if name not in legal:
        raise TuningError(f"unknown strategy '{name}'; legal: {', '.join(legal)}")
    if name != Strategy.OPTUNA:
        if trials is not None:
            raise TuningError(f"--trials is for --strategy optuna; {name} compiles all candidates")
        return lambda store, study, _space, candidates: Every(store, study, candidates)
    if trials == 0:
        raise TuningError("--trials 0 tries nothing; legal: 1 or more")
    try:
        from .optimiser import Optimiser  # noqa: PLC0415 (imports Optuna, of the extra `optuna`)
    except ImportError:
        raise TuningError(
            "--strategy optuna needs Optuna 5, which is not installed: pip install 'tilec[optuna]'"
        ) from None
    wanted = TRIALS if trials is None else trials
    return lambda store, study, space, candidates: Optimiser(
        store, study, space, candidates, wanted
    )
