"""Packages of others, installed in a folder on the path of a process of its own."""

from __future__ import annotations

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
