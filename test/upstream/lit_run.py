"""Runs tests of upstream's with lit, whatever stands for mlir-opt."""

from __future__ import annotations

import json
import os
import shutil
import subprocess
import sys
import tempfile
from collections.abc import Iterable, Mapping
from pathlib import Path
from typing import NamedTuple

from selection import FOLDERS

_CONFIGURATION = """\
import lit.formats, os
config.name = "upstream"
config.test_format = lit.formats.ShTest(execute_external=False)
config.suffixes = [".mlir"]
config.test_source_root = {source!r}
config.test_exec_root = {output!r}
config.environment["PATH"] = os.environ["PATH"]
for word, program in {programs!r}.items():
    config.substitutions.append((r"(?<![\\w./-])" + word + r"(?![\\w./-])", program))
"""


class Result(NamedTuple):
    """What became of a test.

    Attributes:
        passed: whether it passed.
        output: what lit says of it.
    """

    passed: bool
    output: str


def run_tests(
    checkout: Path, tests: Iterable[Path], programs: Mapping[str, str], jobs: int
) -> dict[str, Result]:
    """Run tests of `checkout` with lit.

    Args:
        checkout: upstream's `mlir/test`.
        tests: relative to it.
        programs: what stands for `mlir-opt` and `FileCheck`.
        jobs: how many at a time.

    Returns:
        Results by test.
    """
    with tempfile.TemporaryDirectory() as folder:
        source, output = Path(folder, "source"), Path(folder, "output")
        for name in FOLDERS:
            # Without upstream's own configurations, which ask what a build has.
            shutil.copytree(
                checkout.resolve() / name,
                source / name,
                copy_function=os.symlink,
                ignore=shutil.ignore_patterns("lit.*"),
            )
        text = _CONFIGURATION.format(
            source=str(source), output=str(output), programs=dict(programs)
        )
        (source / "lit.cfg.py").write_text(text, encoding="utf-8")
        found = Path(folder, "results.json")
        lit = [sys.executable, "-P", "-c", "from lit.main import main; main()"]
        names = [str(source / test) for test in tests]
        subprocess.run(
            [*lit, "-q", f"-j{jobs}", "-o", str(found), *names],
            stdout=subprocess.DEVNULL,
            check=False,
        )
        tested = json.loads(found.read_text(encoding="utf-8"))["tests"]
    return {
        test["name"].partition(" :: ")[2]: Result(test["code"] == "PASS", test["output"])
        for test in tested
    }
