"""Many processes with one cache, killed at any moment: no error, no wrong result, no corruption.

Compilations are compared with those made without a cache, values of the store with what they
must be by their key.
"""

from __future__ import annotations

import json
import os
import random
import signal
import sqlite3
import subprocess
import sys
import time
from collections import Counter
from collections.abc import Callable
from contextlib import closing
from pathlib import Path

import tilec
from tilec import cache

PROCESSES = 16

_COMPILES = """
import json, random, sys, tilec
programs = json.load(open(sys.argv[1]))
random.seed(sys.argv[2])
for number in random.sample(range(len(programs)), len(programs)):
    compiled = tilec.compile(programs[number], cache=True)
    how = type(compiled).__name__
    print(json.dumps([how, number, compiled.ptx, str(compiled.abi)]), flush=True)
"""

_USES_THE_STORE = """
import random, sys
from pathlib import Path
from tilec.cache.database import BusyError, Store
store = Store(Path(sys.argv[1]), 1 << 20)
chance = random.Random(sys.argv[2])
for _ in range(int(sys.argv[3])):
    key = str(chance.randrange(200))
    value = (key * 12_000)[:12_000].encode()
    try:
        if chance.random() < 0.3:
            store.put(key, value, kind="", name="", target="")
        else:
            assert store.get(key) in (None, value), key
    except BusyError:
        pass
"""


class Crowd:
    """Processes that run the same code, some of them killed and begun again."""

    def __init__(self, folder: Path, code: str, *arguments: str) -> None:
        self._folder = folder
        self._command = [sys.executable, "-c", code, *arguments]
        self._started = 0
        self._running: list[tuple[subprocess.Popen[str], Path]] = []
        self.killed = 0

    def start(self, *more: str) -> None:
        """One process more."""
        self._started += 1
        out = self._folder / f"out{self._started}"
        with out.open("w") as stdout:
            process = subprocess.Popen(
                [*self._command, str(self._started), *more],
                stdout=stdout,
                stderr=subprocess.PIPE,
                text=True,
            )
        self._running.append((process, out))

    def kill(self, chance: random.Random) -> Path:
        """End one at once; returns what it wrote until then."""
        process, out = self._running.pop(chance.randrange(len(self._running)))
        process.kill()
        self.killed += process.wait() == -signal.SIGKILL
        assert process.communicate()[1] == ""
        return out

    def finish(self) -> list[Path]:
        """Wait for all; returns what they wrote."""
        for process, _ in self._running:
            assert process.communicate()[1] == ""
            assert process.returncode == 0
        return [out for _, out in self._running]


def test_compilations(folder: Path, program: Callable[..., str], steady: str) -> None:
    programs = [program(number, target) for number in (1, 2) for target in ("sm_80", "sm_90a")]
    expected = [(c.ptx, str(c.abi)) for c in (tilec.compile(p, cache=False) for p in programs)]
    assert len(set(expected)) == len(programs)
    (folder / "programs.json").write_text(json.dumps(programs))
    crowd = Crowd(folder, steady + _COMPILES, str(folder / "programs.json"))
    for _ in range(PROCESSES):
        crowd.start()
    chance = random.Random(0)
    written = []
    for _ in range(8):
        time.sleep(chance.uniform(0.1, 1.5))
        written.append(crowd.kill(chance))
        crowd.start()
    complete = crowd.finish()
    assert crowd.killed > 0
    made = Counter()
    for out in (*written, *complete):
        lines = out.read_text().splitlines(keepends=True)
        found = [json.loads(line) for line in lines if line.endswith("\n")]
        assert out in written or len(found) == len(programs)
        for how, number, *results in found:
            made[how] += 1
            assert tuple(results) == expected[number]
    assert made["CachedCompilation"] > len(programs)
    check_integrity(cache.store().file)
    kept = {(row.name, row.target) for row in cache.store().rows()}
    assert kept == {(f"add{n}", target) for n in (1, 2) for target in ("sm_80", "sm_90a")}


def test_the_store(folder: Path) -> None:
    """Many more kills, amid writes and evictions."""
    crowd = Crowd(folder, _USES_THE_STORE, str(folder / "cache"))
    for _ in range(PROCESSES):
        crowd.start("100000")
    chance = random.Random(1)
    time.sleep(1)
    for _ in range(60):
        time.sleep(chance.uniform(0, 0.05))
        crowd.kill(chance)
        crowd.start("100000")
    for _ in range(PROCESSES):
        crowd.kill(chance)
    assert crowd.killed == 60 + PROCESSES
    crowd.start("300")
    crowd.finish()
    file = folder / "cache" / "compiled-1.sqlite3"
    check_integrity(file)
    assert file.stat().st_size < 1.1 * 2**20


def check_integrity(file: Path) -> None:
    with closing(sqlite3.connect(file)) as database:
        assert database.execute("PRAGMA integrity_check").fetchall() == [("ok",)]
    assert sorted(os.listdir(file.parent)) == [file.name, "lock"]
