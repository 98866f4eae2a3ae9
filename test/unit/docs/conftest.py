"""Runs a page of the documentation: writes its files and gives its commands.

Fences `{code-block}` with a caption are files; in the language `diff` the lines are put into a file
that exists. Fences `console` are commands, after `$`, and what they print; `...` stands for any
text of a line, and alone for any lines; without lines the output does not matter. Fences `python`
run. Fences `sh` set up what the tests have.
"""

from __future__ import annotations

import os
import re
import shutil
import subprocess
import sys
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parents[3]
_LINKED = [path.name for path in (ROOT / "compiler").iterdir() if path.is_symlink()]
_FOLDERS = ("src", "compiler", *_LINKED, "docs", "examples", "test/lit")
_FENCE = re.compile(r"^```(.+?)\n(.*?)^```$", re.MULTILINE | re.DOTALL)
_CAPTION = re.compile(r":caption: (\S+)\n")


@dataclass(frozen=True)
class Block:
    """A fence: its language, the file that it is if it has a caption, and its text."""

    language: str
    file: str
    text: str


def blocks(page: Path) -> Iterator[Block]:
    for head, body in _FENCE.findall(page.read_text(encoding="utf-8")):
        caption = _CAPTION.match(body)
        text = body[caption.end() :] if caption else body
        yield Block(head.removeprefix("{code-block} "), caption[1] if caption else "", text)


def commands(console: str) -> Iterator[tuple[str, str]]:
    """Each command of a `console` block, with what it prints."""
    for part in re.split(r"^\$ ", console, flags=re.MULTILINE)[1:]:
        command, _, printed = part.partition("\n")
        while command.endswith("\\"):
            more, _, printed = printed.partition("\n")
            command = f"{command[:-1]} {more.removeprefix('>').lstrip()}"
        yield command, printed


def patched(text: str, diff: str) -> str:
    """`text` with the lines of a diff without line numbers put in."""
    lines = diff.splitlines(keepends=True)
    before = "".join(line[1:] for line in lines if line[0] in " -")
    after = "".join(line[1:] for line in lines if line[0] in " +")
    assert text.count(before) == 1, f"the lines do not stand there once:\n{before}"
    return text.replace(before, after)


def matches(printed: str, expected: str) -> bool:
    pattern = "".join(
        r"(?:.*\n)*?" if line == "...\n" else re.escape(line).replace(r"\.\.\.", ".*")
        for line in expected.splitlines(keepends=True)
    )
    return re.fullmatch(pattern, printed) is not None


def _run(page: Path, folder: Path, environment: dict[str, str]) -> int:
    """Do what a page says in `folder`; returns the number of commands."""
    count = 0
    for block in blocks(page):
        target = folder / block.file
        if block.file and block.language == "diff":
            target.write_text(patched(target.read_text(), block.text))
        elif block.file:
            target.write_text(block.text)
        for command, expected in _commands(block):
            done = subprocess.run(
                command,
                cwd=folder,
                env=environment,
                stdout=subprocess.PIPE,
                stderr=subprocess.STDOUT,
                text=True,
                check=False,
            )
            assert done.returncode == 0, f"{command[-1]}\n{done.stdout}"
            if expected:
                assert matches(done.stdout, expected), f"{command[-1]}\n{done.stdout}"
            count += 1
    return count


def _commands(block: Block) -> Iterator[tuple[list[str], str]]:
    """What a block runs, with what it prints."""
    if block.language == "python" and not block.file:
        yield ["python", "-c", block.text], ""
    elif block.language == "console":
        for command, expected in commands(block.text):
            yield ["bash", "-o", "pipefail", "-c", command], expected


@dataclass(frozen=True)
class Copy:
    """A copy of the repository: where it is, and an environment in which its modules come first."""

    folder: Path
    environment: dict[str, str]


def _environment(source: Path, folder: Path) -> dict[str, str]:
    """One in which a repository's modules come before those installed, and its commands first."""
    scripts = Path(sys.executable).parent
    return os.environ | {
        "PYTHONPATH": str(source / "src"),
        "PATH": f"{scripts}{os.pathsep}{os.environ['PATH']}",
        "NO_COLOR": "1",
        "TILEC_CACHE": "",
        "TILEC_CACHE_DIR": str(folder / "cache"),
    }


@pytest.fixture
def copy(tmp_path: Path) -> Copy:
    """A copy of the repository, whose modules come before those installed."""
    folder = tmp_path / "tilec"
    ignored = shutil.ignore_patterns("__pycache__", "Output", "_build", ".*")
    for name in _FOLDERS:
        shutil.copytree(ROOT / name, folder / name, symlinks=True, ignore=ignored)
    return Copy(folder, _environment(folder, tmp_path))


@pytest.fixture
def links(tmp_path: Path) -> Copy:
    """A folder with the repository's as links: no module of it is compiled anew."""
    folder = tmp_path / "links"
    folder.mkdir()
    for name in _FOLDERS:
        (folder / name).parent.mkdir(exist_ok=True)
        (folder / name).symlink_to(ROOT / name)
    return Copy(folder, _environment(ROOT, tmp_path))


@pytest.fixture
def run_page(request: pytest.FixtureRequest) -> Callable[[Path], int]:
    """Runs a page; in a copy of the repository if it puts files into the repository's folders."""

    def run(page: Path) -> int:
        changes = any("/" in block.file for block in blocks(page))
        place: Copy = request.getfixturevalue("copy" if changes else "links")
        return _run(page, place.folder, place.environment)

    return run


@pytest.fixture
def run_page_in_clone(tmp_path: Path) -> Callable[[Path], int]:
    """Runs a page, its setting up too, in a fresh clone with an environment of its own."""
    folder = tmp_path / "tilec"

    def run(page: Path) -> int:
        set_up = "".join(block.text for block in blocks(page) if block.language == "sh")
        set_up = set_up.replace("REPOSITORY", str(ROOT))
        subprocess.run(["bash", "-e", "-c", set_up], cwd=tmp_path, check=True)
        scripts = folder / ".venv" / "bin"
        path = f"{scripts}{os.pathsep}{os.environ['PATH']}"
        kept = {k: v for k, v in os.environ.items() if not k.startswith("PYTHON")}
        return _run(page, folder, kept | {"PATH": path, "NO_COLOR": "1"})

    return run
