"""The store: what is written survives, what is old is migrated, what is claimed is not taken."""

from __future__ import annotations

import json
import shutil
import signal
import sqlite3
import subprocess
import sys
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest
from tilec.isa import TilecError
from tilec.tuning.store import Outcome, State, Store, StudyKey
from tilec.tuning.store.owners import is_alive, me
from tilec.tuning.store.schema import VERSION

KEY = StudyKey("gemm", "d1", {"m": 64}, {"a": "f16"}, "sm_80", "model", {"tilec": "0.1.0"})
RANKED = Outcome({"BM": 64, "BN": 32}, State.RANKED, counts={"mma": 8}, cost=2e-6, seconds=0.5)
REFUSED = Outcome({"BM": 256, "BN": 32}, State.REFUSED, "does not fit", "200 KiB of 163")
OLD = Path(__file__).parent / "stores" / "schema1.sqlite"


def test_what_is_written_is_read_by_another_process(tmp_path: Path) -> None:
    file = tmp_path / "s.sqlite"
    with Store(file) as store:
        study = store.study(KEY)
        store.put(study, REFUSED)
        store.put(study, RANKED)
    with Store(file) as store:
        assert store.outcomes(store.study(KEY)) == [RANKED, REFUSED]
        assert store.studies() == {KEY.id: json.loads(KEY.json)}
    with sqlite3.connect(file) as database:
        assert database.execute("PRAGMA journal_mode").fetchone() == ("delete",)
        assert database.execute("SELECT reason FROM trial WHERE cost IS NULL").fetchone() == (
            "does not fit",
        )


@pytest.mark.parametrize(
    "change",
    [
        {"kernel": "other"}, {"digest": "d2"}, {"sizes": {"m": 65}}, {"types": {"a": "bf16"}},
        {"target": "sm_90"}, {"device": "NVIDIA H200"}, {"versions": {"tilec": "0.2.0"}},
    ],
)  # fmt: skip
def test_every_part_of_a_key_tells_studies_apart(change: dict[str, object]) -> None:
    with Store(":memory:") as store:
        store.put(store.study(KEY), RANKED)
        assert store.tried(store.study(replace(KEY, **change))) == set()  # type: ignore[arg-type]
        assert store.tried(store.study(KEY)) == {RANKED.name}


def test_an_old_store_is_migrated(tmp_path: Path) -> None:
    file = tmp_path / "old.sqlite"
    shutil.copy(OLD, file)
    with Store(file) as store:
        (study,) = store.studies()
        assert study == KEY.id
        first, second = store.outcomes(study)
        assert first == RANKED
        assert second == replace(REFUSED, detail="")
        store.put(study, REFUSED)
    with Store(file) as store:
        assert store.outcomes(study) == [RANKED, REFUSED]
    with sqlite3.connect(file) as database:
        assert database.execute("PRAGMA user_version").fetchone() == (VERSION,)


def test_a_newer_store_and_other_files_are_refused_and_left_alone(tmp_path: Path) -> None:
    newer, other, text = (tmp_path / name for name in ("newer", "other", "text"))
    Store(newer).close()
    with sqlite3.connect(newer) as database:
        database.execute(f"PRAGMA user_version = {VERSION + 1}")
    with sqlite3.connect(other) as database:
        database.execute("CREATE TABLE t (x)")
    text.write_text("not a database, but long enough to look for a header in it" * 20)
    for file, said in (
        (newer, "newer tilec"),
        (other, "another application"),
        (text, "not a database"),
    ):
        before = file.read_bytes()
        with pytest.raises(TilecError, match=said) as error:
            Store(file)
        assert str(error.value).startswith(str(file))
        assert file.read_bytes() == before
    with pytest.raises(TilecError, match="unable to open"):
        Store(tmp_path / "no" / "folder")


def test_what_is_claimed_is_tried_once(tmp_path: Path) -> None:
    file = tmp_path / "s.sqlite"
    candidates = [{"BM": n} for n in range(6)]
    script = (
        "import sys\nfrom tilec.tuning.store import Store\n"
        "s = Store(sys.argv[1]); print(s.claim(sys.argv[2], [{'BM': n} for n in range(6)], 2),"
        " flush=True)\nsys.stdin.read()\n"
    )
    with Store(file) as store:
        study = store.study(KEY)
        command = [sys.executable, "-c", script, str(file), study]
        other = subprocess.Popen(command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True)
        assert other.stdout is not None
        assert other.stdout.readline() == "[{'BM': 0}, {'BM': 1}]\n"
        assert store.claim(study, candidates, 3) == candidates[2:5]
        assert store.claim(study, candidates, 3) == candidates[5:]
        assert store.claimed(study) == 6
        other.send_signal(signal.SIGKILL)
        other.communicate()
        assert store.claimed(study) == 4
        assert store.claim(study, candidates, 3) == candidates[:2]
        store.put(study, Outcome({"BM": 0}, State.RANKED, cost=1.0))
        assert store.tried(study) == {'{"BM": 0}'}
    with Store(file) as store:
        assert store.claim(study, candidates, 9) == candidates[1:]


def test_a_number_that_another_process_has_got_is_not_its_first_owner() -> None:
    host, pid, _ = me().rsplit("/", 2)
    assert is_alive(me())
    assert not is_alive(f"{host}/{pid}/1")
    assert not is_alive("nonsense")
    assert is_alive("another-machine/1/1")


def test_the_export_does_not_depend_on_who_came_first() -> None:
    exports = []
    for order in ((RANKED, REFUSED), (replace(REFUSED, seconds=9.0), RANKED)):
        with Store(":memory:") as store:
            for outcome in order:
                store.put(store.study(KEY), outcome)
            exports.append(store.export())
    times = [study.pop("seconds") for export in exports for study in export["studies"]]
    assert exports[0] == exports[1]
    assert times == [[0.0, 0.5], [9.0, 0.5]]
    assert json.loads(json.dumps(exports[0])) == exports[0]


def test_a_file_that_nobody_may_write_is_read(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """By whoever exports, reports, compiles or launches; whoever tunes gets one error."""
    file = tmp_path / "s"
    with Store(file) as store:
        store.put(store.study(KEY), RANKED)
        expected = store.export()
    before = file.read_bytes()

    def connect(name: Path, **options: Any) -> sqlite3.Connection:
        return sqlite3.Connection(f"file:{name}?mode=ro", uri=True, **options)

    monkeypatch.setattr("tilec.tuning.store.store.sqlite3.connect", connect)
    with Store(file) as store:
        assert store.export() == expected
        with pytest.raises(TilecError, match=r"s: attempt to write a readonly database"):
            store.claim(KEY.id, [{"BM": 1}], 1)
    assert file.read_bytes() == before


def test_what_costs_the_same_is_ordered_by_the_work_of_all_units() -> None:
    """Two orders of tiles of a product that multiplying bounds: DRAM has less to do for one."""

    def outcome(order: int, cost: float, dram: float, seconds: float | None = None) -> Outcome:
        counts = {"estimate": {"cycles": {"tensor": 100.0, "dram": dram}}}
        time = None if seconds is None else {"median": seconds}
        return Outcome({"ORDER": order}, State.RANKED, "", "", counts, cost, time)

    given = [outcome(1, 1e-3, 60), outcome(2, 1e-3 + 1e-12, 20), outcome(3, 0.9e-3, 90)]
    with Store(":memory:") as store:
        study = store.study(KEY)
        for one in [*given, REFUSED]:
            store.put(study, one)
        assert [one.candidate for one in store.outcomes(study)] == [
            {"ORDER": 3}, {"ORDER": 2}, {"ORDER": 1}, REFUSED.candidate,
        ]  # fmt: skip
        store.put(study, outcome(4, 9.0, 90, seconds=5.0))
        assert store.outcomes(study)[0].candidate == {"ORDER": 4}
