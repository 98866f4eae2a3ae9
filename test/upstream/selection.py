"""Which of upstream's tests speak of mlir-opt alone, so that tile-opt can be held to them."""

from __future__ import annotations

import re
from collections.abc import Iterator
from pathlib import Path

FOLDERS = ("Conversion", "Dialect", "IR", "Pass", "Transforms")
"""Folders of upstream's `mlir/test` that are looked into."""

_TOOLS = {"mlir-opt", "FileCheck", "not"}
_RUN = re.compile(r"RUN:[ \t]*(.*)")
_QUOTED = re.compile(r"'[^']*'|\"(?:\\.|[^\"\\])*\"")
_SEPARATOR = re.compile(r"\|\|?|&&|;")
# Ops, types, attributes and passes of upstream's test libraries, and what lit or a build decides.
_FOREIGN = re.compile(
    r"""[\s"'(,{=-]test-[a-z]|-[a-z-]+-test\b|["'\s#!]test\.|\btest: \{|#test_|!test_"""
    r"|transform\.test_|\btest_dyn\b|REQUIRES:|UNSUPPORTED:|XFAIL:|-plugin=|-debug-only|-irdl-file"
)


def commands(text: str) -> Iterator[list[str]]:
    """The words of each command of a test's RUN lines, without what stands between quotes."""
    lines = " ".join(
        line[:-1] if line.endswith("\\") else f"{line};" for line in _RUN.findall(text)
    )
    for command in _SEPARATOR.split(_QUOTED.sub("quoted", lines)):
        if words := command.split():
            yield words


def _tools(words: list[str]) -> Iterator[str]:
    """The programs of a command: the first word, and after `not` the one that it runs."""
    for word in words:
        if word.startswith("-"):
            continue
        yield word
        if word != "not":
            return


def is_selected(text: str) -> bool:
    """Whether a test needs mlir-opt, FileCheck and not alone, and no test library of upstream's."""
    used = {tool for words in commands(text) for tool in _tools(words)}
    return "mlir-opt" in used and used <= _TOOLS and not _FOREIGN.search(text)


def is_whole(text: str) -> bool:
    """Whether no RUN line splits the test's file: it is read as one module."""
    return not any("split-input-file" in word for words in commands(text) for word in words)


def select(checkout: Path) -> list[Path]:
    """The tests of `checkout`, a copy of upstream's `mlir/test`, relative to it, in order."""
    return sorted(
        path.relative_to(checkout)
        for folder in FOLDERS
        for path in (checkout / folder).rglob("*.mlir")
        if is_selected(path.read_text(encoding="utf-8", errors="replace"))
    )
