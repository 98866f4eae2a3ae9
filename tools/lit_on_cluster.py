"""Run a suite of lit on the workers of a Dask cluster: `python -m tilec.tools.lit_on_cluster`.

lit splits the suite into shards, each of which a worker runs. Workers have the suite in the same
folder, and the same tilec: a shard whose tests or tilec differ is an error. What tests print is
printed where they fail, as lit does.
"""

from __future__ import annotations

import argparse
import json
import re
import subprocess
import sys
import tempfile
from collections import Counter
from collections.abc import Mapping, Sequence
from hashlib import blake2b
from pathlib import Path
from typing import Any, NoReturn

from tilec.ending import end_on_signals
from tilec.isa import TilecError
from tilec.tuning.connection import Connection
from tilec.tuning.elsewhere import check_versions
from tilec.tuning.errors import TuningError
from tilec.tuning.jobs import SILENCE, Jobs, LostError
from tilec.tuning.store.keys import versions

from .cluster_flags import add_tls_flags, tls_of
from .common import Parser, leave, run

_GOOD = {"PASS", "XFAIL", "UNSUPPORTED", "EXCLUDED", "SKIPPED", "FLAKYPASS"}
"""lit's codes of tests that do not fail a run."""
_SHARDS = 4
"""Shards for each thread of the workers, so that all end at about the same time."""
_PATIENCE = 1800.0
"""Seconds that a shard may take."""
_LEFT_OUT = {"Output", "__pycache__", "lit.site.cfg.py", ".lit_test_times.txt"}
"""Names of what a run writes among tests."""


def digest(tests: Sequence[str], folder: Path) -> str:
    """What tells the files of tests from others.

    Raises:
        TuningError: for a test that is not there.
    """
    made = blake2b(digest_size=8)
    for test in tests:
        path = folder / test
        if not path.exists():
            raise TuningError(f"{path}: there is no such file")
        files = sorted(path.rglob("*")) if path.is_dir() else [path]
        for file in files:
            if file.is_file() and not _LEFT_OUT.intersection(file.relative_to(folder).parts):
                made.update(f"{file.relative_to(folder)}\0".encode())
                made.update(file.read_bytes())
    return made.hexdigest()


def run_shard(
    folder: str, tests: Sequence[str], shard: int, shards: int, code: Mapping[str, str], tree: str
) -> list[dict[str, Any]]:
    """What became of the tests of a shard, as lit's JSON has it.

    Args:
        folder: where lit runs.
        tests: its arguments.
        shard: which, from 1 on.
        shards: of how many.
        code: versions of the client's tilec.
        tree: digest of the client's tests.

    Raises:
        TuningError: for another tilec, other tests, and a lit that does not run.
    """
    check_versions(code)
    if digest(tests, Path(folder)) != tree:
        raise TuningError(f"the tests in its {folder} are not the client's")
    with tempfile.TemporaryDirectory(prefix="tilec-lit-") as made:
        output = Path(made) / "lit.json"
        command = [sys.executable, "-c", "from lit.main import main; main()", "-q"]
        # By name: lit's own order follows what ran before, and a test would be in two shards.
        options = [
            "--order=lexical",
            "--workers=1",
            f"--num-shards={shards}",
            f"--run-shard={shard}",
        ]
        done = subprocess.run(
            [*command, *options, "--output", str(output), *tests],
            cwd=folder, capture_output=True, text=True, check=False,
        )  # fmt: skip
        if output.is_file():
            found: list[dict[str, Any]] = json.loads(output.read_text("utf-8"))["tests"]
            return found
    if done.returncode == 0:
        return []  # of few tests some shards have none
    raise TuningError(f"lit ended with {done.returncode}: {done.stderr.strip()[-500:]}")


def _number(text: str) -> int:
    if not re.fullmatch("[0-9]{1,5}", text) or not int(text):
        raise argparse.ArgumentTypeError(f"'{text}' is not a number from 1 to 99999")
    return int(text)


def parser() -> argparse.ArgumentParser:
    """The arguments."""
    made = Parser("python -m tilec.tools.lit_on_cluster", __doc__ or "")
    add = made.add_argument
    add("tests", nargs="+", metavar="TEST", help="files and folders of tests, below this folder")
    what = "a Dask scheduler, as tcp://127.0.0.1:8786; default: processes of this machine"
    add("--scheduler", metavar="ADDRESS", default="", help=what)
    what = "processes of this machine, without --scheduler; default: 1"
    add("--jobs", metavar="N", type=_number, default=1, help=what)
    add("--shards", metavar="N", type=_number, help="default: 4 for each thread of the workers")
    add_tls_flags(add)
    return made


def body(arguments: argparse.Namespace) -> int:
    """The command; returns its exit code."""
    folder = Path.cwd()
    tree = digest(arguments.tests, folder)
    connection = Connection(arguments.scheduler, arguments.jobs, tls_of(arguments), SILENCE)
    counts: Counter[str] = Counter()
    try:
        jobs = Jobs(connection)
        jobs.wait_for_workers()
        shards = arguments.shards or _SHARDS * max(jobs.threads, 1)
        for shard in range(1, shards + 1):
            given = (str(folder), arguments.tests, shard, shards, dict(versions()), tree)
            jobs.submit(f"shard {shard} of {shards}", run_shard, *given, limit=_PATIENCE)
        while len(jobs):
            for done in jobs.wait():
                if done.error is not None:
                    jobs.cancel()
                    lost = (
                        "its workers are lost with it, "
                        if isinstance(done.error, LostError)
                        else ""
                    )
                    raise TilecError(f"{done.name}: {lost}{done.error}")
                _print(done.value)
                counts.update(test["code"] for test in done.value)
    finally:
        connection.close()
    print(", ".join(f"{count} {code}" for code, count in sorted(counts.items())) or "no tests")
    if not counts:
        raise TilecError("there are no tests")
    return 0 if counts.keys() <= _GOOD else 1


def _print(tests: Sequence[Mapping[str, Any]]) -> None:
    """The tests that failed, with what they printed."""
    for test in tests:
        if test["code"] not in _GOOD:
            print(f"{test['code']}: {test['name']}\n{test['output']}")


def main(argv: Sequence[str] | None = None) -> int:
    """Run the suite; returns the exit code."""
    return run(parser(), body, argv)


def command() -> NoReturn:
    """The command line: `main` in a process of its own."""
    end_on_signals()
    leave(main())


if __name__ == "__main__":
    # Workers find the functions of this module by its name, which is not `__main__`.
    from tilec.tools.lit_on_cluster import command as command_by_name

    command_by_name()
