"""Packages of others, installed in a folder on the path of a process of its own."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path

import pytest

Outcome = subprocess.CompletedProcess[str]
Entries = dict[str, dict[str, str]]
Install = Callable[..., None]
Run = Callable[..., Outcome]
RunAll = Callable[[list[tuple[str, list[str], str]]], list[tuple[int, str, str]]]


@pytest.fixture
def site(tmp_path: Path) -> Path:
    """Where the packages are."""
    folder = tmp_path / "site"
    folder.mkdir()
    return folder


@pytest.fixture
def install(site: Path) -> Install:
    """Installs a package: a module, and entry points as `group: {name: value}`."""

    def make(
        name: str, code: str, entries: dict[str, dict[str, str]], version: str = "1.0"
    ) -> None:
        (site / f"{name}.py").write_text(code)
        about = site / f"{name}-{version}.dist-info"
        about.mkdir()
        (about / "METADATA").write_text(f"Name: {name}\nVersion: {version}\n")
        text = "".join(
            f"[{group}]\n" + "".join(f"{key} = {value}\n" for key, value in of.items())
            for group, of in entries.items()
        )
        (about / "entry_points.txt").write_text(text)

    return make


@pytest.fixture
def run(site: Path, tmp_path: Path) -> Run:
    """Runs a tool, or `python -c` for the tool `python`, where the packages are installed."""
    environment = os.environ | {
        "PYTHONPATH": os.pathsep.join(filter(None, (str(site), os.environ.get("PYTHONPATH")))),
        "TILEC_CACHE": "",
        "TILEC_CACHE_DIR": str(tmp_path / "cache"),
    }

    def command(tool: str, *arguments: str, stdin: str = "", **more: str) -> Outcome:
        start = ["-c"] if tool == "python" else ["-m", f"tilec.tools.{tool}"]
        return subprocess.run(
            [sys.executable, *start, *arguments],
            input=stdin,
            env=environment | more,
            capture_output=True,
            text=True,
            check=False,
        )

    return command


_RUN_ALL = """
import io, json, sys
from contextlib import redirect_stderr, redirect_stdout
from importlib import import_module

results = []
for tool, arguments, text in json.load(sys.stdin):
    sys.stdin = io.TextIOWrapper(io.BytesIO(text.encode()))
    with redirect_stdout(io.StringIO()) as out, redirect_stderr(io.StringIO()) as error:
        code = import_module(f"tilec.tools.{tool}").main(arguments)
    results.append((code, out.getvalue(), error.getvalue()))
print(json.dumps(results))
"""


@pytest.fixture
def run_all(run: Run) -> RunAll:
    """Runs tools, each with its arguments and input, in one process: codes, outputs, errors."""

    def commands(given: list[tuple[str, list[str], str]]) -> list[tuple[int, str, str]]:
        done = run("python", _RUN_ALL, stdin=json.dumps(given))
        assert done.stderr == ""
        return [(code, out, error) for code, out, error in json.loads(done.stdout)]

    return commands
