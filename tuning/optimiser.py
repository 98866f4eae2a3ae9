"""Optuna as a strategy, by its ask-and-tell interface alone.

The store is the one truth. Optuna's study lives in memory; what the store knows is told to it
before it is asked, whoever found it, so that a run that was killed, or another process, goes on
with the same knowledge and tries nothing twice. What the constraints of the space exclude, and what
was refused, Optuna is told as infeasible.
"""

from __future__ import annotations

import random
from collections.abc import Collection, Mapping, Sequence
from typing import Any

import optuna

from .space import Candidate, Space
from .store import Outcome, State, Store
from .store.outcomes import name_of

_SEED = 20
_ASKED = 16
"""Suggestions that may be known or excluded before an untried candidate is drawn instead."""
_EXCLUDED, _REFUSED = "where", "refused"
"""Names of the constraints that Optuna is told; above zero they are violated."""


class Optimiser:
    """Candidates that Optuna's sampler of tree-structured Parzen estimators suggests.

    Args:
        store: where outcomes are.
        study: its id.
        space: what is searched.
        candidates: those of the space that its constraints allow.
        trials: outcomes after which nothing more is tried, those that are known included.
    """

    def __init__(
        self,
        store: Store,
        study: str,
        space: Space,
        candidates: Sequence[Candidate],
        trials: int,
    ) -> None:
        self._store, self._study = store, study
        self._legal = {name_of(one): one for one in candidates}
        self.total = min(trials, len(self._legal))
        # By their place among the values, since sizes are ordered and rarely evenly spaced.
        self._values = {one.name: sorted(one.values) for one in space.parameters}
        self._distributions: dict[str, Any] = {
            name: optuna.distributions.IntDistribution(0, len(values) - 1)
            for name, values in self._values.items()
        }
        optuna.logging.set_verbosity(optuna.logging.WARNING)
        sampler = optuna.samplers.TPESampler(seed=_SEED, constant_liar=True)
        self._optuna = optuna.create_study(sampler=sampler, direction="minimize")
        self._random = random.Random(_SEED)
        self._running: dict[str, Any] = {}
        self._known: set[str] = set()
        self._default = space.default

    @property
    def told_of(self) -> Sequence[Any]:
        """Optuna's own trials, those that it was told of included."""
        found: Sequence[Any] = self._optuna.trials
        return found

    def take(self, most: int) -> Sequence[Mapping[str, int]]:
        """Candidates that Optuna suggests, or the kernel's default to begin with."""
        self._learn()
        others = self._store.claims(self._study) - self._running.keys()
        most = min(most, self.total - len(self._known) - len(others) - len(self._running))
        taken: list[Mapping[str, int]] = []
        while len(taken) < most:
            trial, candidate = self._suggested(others)
            if trial is None:
                break
            name = name_of(candidate)
            if not self._store.claim(self._study, [candidate], 1):  # another process was faster
                self._optuna.tell(trial, state=optuna.trial.TrialState.FAIL)
                others.add(name)
                continue
            self._running[name] = trial
            taken.append(candidate)
        return taken

    def told(self, outcome: Outcome) -> None:
        """Tell Optuna what became of what it suggested."""
        trial = self._running.pop(outcome.name)
        self._known.add(outcome.name)
        if outcome.state is State.RANKED:
            self._optuna.tell(trial, outcome.cost)
            return
        trial.set_constraint(_REFUSED, 1.0)
        self._optuna.tell(trial, state=optuna.trial.TrialState.PRUNED)

    def _learn(self) -> None:
        """Tell Optuna what the store knows and it does not."""
        tried = self._store.tried(self._study) & self._legal.keys()
        if tried == self._known:
            return
        for outcome in self._store.outcomes(self._study):
            if outcome.name in self._legal and outcome.name not in self._known:
                self._optuna.add_trial(self._finished(outcome))
                self._known.add(outcome.name)

    def _finished(self, outcome: Outcome) -> Any:
        """An outcome as a trial of Optuna."""
        ranked = outcome.state is State.RANKED
        states = optuna.trial.TrialState
        return optuna.trial.create_trial(
            state=states.COMPLETE if ranked else states.PRUNED,
            value=outcome.cost if ranked else None,
            params=self._places(outcome.candidate),
            distributions=self._distributions,
            constraints={} if ranked else {_REFUSED: 1.0},
        )

    def _suggested(self, others: Collection[str]) -> tuple[Any, Candidate]:
        """A candidate that nobody has tried or tries, with Optuna's trial of it, or None."""
        taken = {*self._known, *self._running, *others}
        if not taken and name_of(self._default) in self._legal:
            return self._asked(self._default)
        for _ in range(_ASKED):
            trial, candidate = self._asked(None)
            name = name_of(candidate)
            if name not in self._legal:
                trial.set_constraint(_EXCLUDED, 1.0)
                self._optuna.tell(trial, state=optuna.trial.TrialState.PRUNED)
            elif name in taken:
                self._optuna.tell(trial, state=optuna.trial.TrialState.FAIL)
            else:
                return trial, candidate
        free = [name for name in self._legal if name not in taken]
        if not free:
            return None, {}
        return self._asked(self._legal[self._random.choice(free)])

    def _asked(self, fixed: Mapping[str, int] | None) -> tuple[Any, Candidate]:
        """A trial of Optuna and its candidate, or that of a given candidate."""
        if fixed is not None:
            self._optuna.enqueue_trial(self._places(fixed))
        trial = self._optuna.ask(self._distributions)
        return trial, {n: values[trial.params[n]] for n, values in self._values.items()}

    def _places(self, candidate: Mapping[str, int]) -> dict[str, int]:
        return {name: values.index(candidate[name]) for name, values in self._values.items()}
