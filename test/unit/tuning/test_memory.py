"""`@tilec.autotune` with a store: what a process found, the next one knows."""

from __future__ import annotations

import warnings
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import pytest
import tilec
import tilec.lang as tl
from tilec.isa import TilecError
from tilec.tuning import Memory
from tilec.tuning.store import State, Store, StudyKey

CONFIGS = [tilec.Config({"block": block}, warps=1) for block in (512, 128, 32, 64)]
Vector = tl.Array[tl.float32, int]
X = np.arange(256, dtype=np.float32)


@tilec.kernel
def added(
    x: tl.Array[tl.float32, int], out: tl.Array[tl.float32, int], block: tl.Constant[int]
) -> None:
    for at in range(0, x.shape[0], block):
        tl.store(out, at, tl.load(out, at, block) + tl.load(x, at, block))


class Counted:
    """What is best, and how often it was asked."""

    asked = 0

    def __call__(self, report: Any) -> float:
        self.asked += 1
        return float(report.warp_instructions)

    def __repr__(self) -> str:
        return "instructions"


def run(file: Path, by: Any, x: Any = X) -> Any:
    tuned = tilec.autotune(CONFIGS, by=by, memory=Memory(file))(added)
    out = np.zeros_like(x)
    tuned[1](x, out)
    np.testing.assert_array_equal(out, x)
    return tuned.best(x, out)


def test_what_is_known_is_not_tried_again(tmp_path: Path) -> None:
    file, first, second = tmp_path / "tune.sqlite", Counted(), Counted()
    best = run(file, first)
    assert first.asked == len(CONFIGS)
    assert run(file, second) == best
    assert second.asked == 0
    run(file, second, np.arange(512, dtype=np.float32))  # another size
    assert second.asked == len(CONFIGS)
    with Store(file) as store:
        assert {key["device"] for key in store.studies().values()} == {"simulator"}
        assert {key["kernel"] for key in store.studies().values()} == {"added"}


def test_more_configurations_are_tried_all(tmp_path: Path) -> None:
    file, by = tmp_path / "tune.sqlite", Counted()
    run(file, by)
    tuned = tilec.autotune(
        [*CONFIGS, tilec.Config({"block": 16}, warps=1)], by=by, memory=Memory(file)
    )(added)
    tuned[1](X, np.zeros_like(X))
    assert by.asked == 2 * len(CONFIGS) + 1


def test_what_was_timed_on_a_gpu_is_taken_where_there_is_none(tmp_path: Path) -> None:
    file = tmp_path / "tune.sqlite"
    with pytest.warns(UserWarning, match="the first"):
        run(file, None)
    run(file, Counted())
    with Store(file) as store:
        (id_,) = store.studies()
        key = StudyKey(**store.studies()[id_])
        timed = replace(key, device="NVIDIA A100", versions={**key.versions, "best": "least time"})
        made = store.study(timed)
        for one in store.outcomes(id_):
            if one.state is State.RANKED:
                time = 1.0 if one.candidate["block"] == 64 else 2.0
                store.put(made, replace(one, cost=None, measured={"median": time}))
            else:
                store.put(made, one)
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        assert run(file, None) == CONFIGS[3]


def test_a_file_that_is_no_store_is_an_error(tmp_path: Path) -> None:
    file = tmp_path / "tune.sqlite"
    file.write_text("nothing of the kind")
    with pytest.raises(TilecError, match=r"tune\.sqlite"):
        run(file, Counted())
    assert file.read_text() == "nothing of the kind"
