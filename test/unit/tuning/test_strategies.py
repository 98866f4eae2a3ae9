"""Strategies: what an optimiser asks for is tried once; what it knows is what the store knows."""

from __future__ import annotations

import itertools
import sys
from pathlib import Path
from typing import Any

import pytest
import tilec
from tilec.isa import TilecError
from tilec.tools import tile_tune
from tilec.tuning import load
from tilec.tuning.expressions import parse
from tilec.tuning.parameters import parameter, powers
from tilec.tuning.space import Candidate, Constraint, Space
from tilec.tuning.store import Outcome, State, Store, StudyKey
from tilec.tuning.strategies import Every, strategy

KEY = StudyKey("gemm", "d1", {"m": 64}, {"a": "f16"}, "sm_80", "model", {"tilec": "0.1.0"})
SPACE = Space(
    (
        parameter("BM", powers(16, 1024), 64),
        parameter("BN", powers(16, 1024), 64),
        parameter("BK", (64, 16, 32, 128), 32),
        parameter("warps", powers(1, 32), 4),
    ),
    (Constraint(parse("BM * BN <= 65536")),),
)
CANDIDATES = list(SPACE.candidates({}))
KERNEL = """\
import tilec
import tilec.lang as tl


@tilec.tunable(
    {"BLOCK": (32, 64, 128, 256, 0), "warps": (1, 2)},
    problem={"n": 4096},
    arguments={"x": "f32[n]"},
    grid="cdiv(n, BLOCK)",
)
@tilec.kernel(warps=1)
def double(x: tl.Array[tl.float32, int], BLOCK: tl.Constant[int] = 32) -> None:
    at = tl.program_id(0) * BLOCK
    tl.store(x, at, 2 * tl.load(x, at, BLOCK))
"""


def became(candidate: Candidate) -> Outcome:
    """A cost that is least for 256×128×32 on 8 warps; what is large is refused."""
    if candidate["BK"] == 128:
        return Outcome(candidate, State.REFUSED, "it does not fit")
    aim = {"BM": 256, "BN": 128, "BK": 32, "warps": 8}
    octaves = (abs(candidate[one].bit_length() - aim[one].bit_length()) for one in aim)
    return Outcome(candidate, State.RANKED, cost=1.0 + sum(one * one for one in octaves))


def searched(store: Store, trials: int, most: int = 1, stop: int = 9999) -> tuple[Any, list[str]]:
    """A search, and the names of what it tried, up to so many."""
    pytest.importorskip("optuna")
    study = store.study(KEY)
    search = strategy("optuna", trials)(store, study, SPACE, CANDIDATES)
    tried: list[str] = []
    while len(tried) < stop and (taken := search.take(most)):
        for outcome in [became(dict(one)) for one in taken]:
            store.put(study, outcome)
            search.told(outcome)
            tried.append(outcome.name)
    return search, tried


def test_optuna_finds_the_best_of_many_by_trying_few() -> None:
    assert len(CANDIDATES) == 4 * 6 * sum(
        bm * bn <= 65536 for bm, bn in itertools.product(powers(16, 1024), repeat=2)
    )
    with Store(":memory:") as store:
        search, tried = searched(store, 100, most=4)
        assert len(tried) == len(set(tried)) == 100
        legal = {Outcome(one, State.REFUSED).name for one in CANDIDATES}
        assert set(tried) <= legal
        assert tried[0] == Outcome(SPACE.default, State.REFUSED).name
        # One in a hundred candidates costs so little; a tenth of them was tried.
        assert sum(became(one).cost in (1.0, 2.0) for one in CANDIDATES) < len(CANDIDATES) / 100
        assert store.outcomes(store.study(KEY))[0].cost in (1.0, 2.0)

        import optuna

        refused = [one for one in search.told_of if one.constraints.get("refused")]
        assert {one.state for one in refused} == {optuna.trial.TrialState.PRUNED}
        outcomes = store.outcomes(store.study(KEY))
        assert len(refused) == sum(one.state is State.REFUSED for one in outcomes) > 0
        excluded = [one for one in search.told_of if one.constraints.get("where")]
        assert excluded
        values = [sorted(one.values) for one in SPACE.parameters]
        for one in excluded:
            assert values[0][one.params["BM"]] * values[1][one.params["BN"]] > 65536


def test_optuna_goes_on_with_what_the_store_knows(tmp_path: Path) -> None:
    """A run that ends anywhere is continued: nothing is tried twice, and Optuna knows it all."""
    import_of = pytest.importorskip("optuna")
    file, tried = tmp_path / "s.sqlite", list[str]()
    for stop in (1, 12, 5, 9999):
        with Store(file) as store:
            search, found = searched(store, 30, stop=stop)
            tried += found
            told = {
                tuple(values[one.params[name]] for name, values in search._values.items()): one
                for one in search.told_of
                if not one.constraints.get("where")
                and one.state is not import_of.trial.TrialState.FAIL
            }
            known = store.outcomes(store.study(KEY))
            assert len(told) == len(known) == len(tried)
            for outcome in known:
                trial = told[tuple(outcome.candidate[name] for name in search._values)]
                assert trial.value == outcome.cost
    assert len(tried) == len(set(tried)) == 30


def test_optuna_leaves_what_another_process_is_at(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    pytest.importorskip("optuna")
    with Store(tmp_path / "s") as store:
        study = store.study(KEY)
        with monkeypatch.context() as other:
            other.setattr("tilec.tuning.store.store.me", lambda: "another-machine/1/1")
            assert len(store.claim(study, CANDIDATES[:300], 300)) == 300
        few = CANDIDATES[:303]
        search = strategy("optuna", 400)(store, study, SPACE, few)
        assert search.total == 303
        assert [one in few[300:] for one in search.take(9)] == [True] * 3
        assert search.take(9) == []


def test_all_are_tried_where_nothing_chooses() -> None:
    with Store(":memory:") as store:
        search = strategy("exhaustive", None)(store, store.study(KEY), SPACE, CANDIDATES)
        assert isinstance(search, Every)
        assert search.total == len(CANDIDATES)
        assert [*search.take(5), *search.take(9999)] == CANDIDATES


@pytest.mark.slow
def test_optuna_tunes_a_kernel(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    pytest.importorskip("optuna")
    file, store = tmp_path / "double.py", tmp_path / "s.sqlite"
    file.write_text(KERNEL)
    words = ["run", str(file), "--target", "sm_80", "--store", str(store), "--strategy", "optuna"]
    for trials in (4, 6, 99):
        assert tile_tune.main([*words, "--trials", str(trials)]) == 0
        with Store(store) as opened:
            (study,) = opened.studies()
            chosen = opened.outcomes(study)
            assert len(chosen) == min(trials, 10)
    capsys.readouterr()
    (every,) = tilec.tune(load(file), targets=["sm_80"], strategy="exhaustive")
    assert [one.result() for one in chosen] == [one.result() for one in every.outcomes]


@pytest.mark.parametrize(
    ("words", "said"),
    [
        (["--strategy", "exhaustive", "--trials", "5"], "--trials is for --strategy optuna"),
        (["--strategy", "optuna"], "--strategy optuna needs Optuna 5"),
        (["--strategy", "optuna", "--trials", "0"], "--trials 0 tries nothing"),
    ],
)
def test_strategies_that_cannot_be_are_one_error(
    tmp_path: Path,
    capsys: pytest.CaptureFixture[str],
    monkeypatch: pytest.MonkeyPatch,
    words: list[str],
    said: str,
) -> None:
    monkeypatch.setitem(sys.modules, "optuna", None)
    monkeypatch.delitem(sys.modules, "tilec.tuning.optimiser", raising=False)
    file = tmp_path / "double.py"
    file.write_text(KERNEL)
    assert tile_tune.main(["run", str(file), "--store", str(tmp_path / "s"), *words]) == 1
    captured = capsys.readouterr()
    assert said in captured.err
    assert captured.err.count("error: ") == 1
    assert not (tmp_path / "s").exists()
    with pytest.raises(TilecError, match="unknown strategy 'best'; legal: exhaustive, model-first"):
        strategy("best", None)
