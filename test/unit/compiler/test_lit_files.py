"""Lit tests check what they seem to: every prefix that a RUN line names occurs in its file.

PyPI's filecheck passes where a prefix is mistyped. Both FileChecks must read the tests, so these
keep to what both know.
"""

from __future__ import annotations

import re
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[3]
FILES = sorted(
    path
    for folder in ("test/lit", "examples")
    for path in (ROOT / folder).rglob("*")
    if path.suffix in (".mlir", ".test") and not {"Inputs", "Output"} & set(path.parts)
)
DIRECTIVE = r"(?:-NEXT|-SAME|-NOT|-DAG|-LABEL|-EMPTY|-COUNT-\d+)?(?:\{LITERAL\})?:"


def runs(text: str) -> list[str]:
    """The RUN lines, continued ones joined."""
    lines = re.findall(r"RUN:\s*(.*)", text)
    return "\n".join(lines).replace("\\\n", " ").splitlines()


def prefixes(run: str) -> set[str]:
    """Prefixes that the FileChecks of a RUN line look for."""
    found: set[str] = set()
    for command in re.split(r"\||&&|;", run):
        if "FileCheck" not in command:
            continue
        named = re.findall(r"--?check-prefix(?:es)?[= ]([\w,-]+)", command)
        found |= {p for names in named for p in names.split(",")} or {"CHECK"}
    return found


def test_there_are_files() -> None:
    assert len(FILES) > 10


@pytest.mark.parametrize("path", FILES, ids=lambda path: str(path.relative_to(ROOT)))
def test_file(path: Path) -> None:
    text = path.read_text()
    commands = runs(text)
    assert commands, "no RUN line"
    named = set().union(*map(prefixes, commands))
    for prefix in named:
        assert re.search(rf"(?<![\w-]){prefix}{DIRECTIVE}", text), f"nothing checks {prefix}"
    written = set(re.findall(rf"^\s*(?://|#)?\s*([A-Z][A-Z0-9_-]*?){DIRECTIVE} ", text, re.M))
    assert written - named - {"RUN", "REQUIRES", "XFAIL", "UNSUPPORTED"} == set()
    assert named or "--verify-diagnostics" in text or "not " in text, "nothing is checked"


@pytest.mark.parametrize("path", FILES, ids=lambda path: str(path.relative_to(ROOT)))
def test_what_only_one_filecheck_knows(path: Path) -> None:
    text = path.read_text()
    assert "--implicit-check-not" not in text
    # The Python one fails on a numeric variable of one letter, and on arithmetic.
    assert not re.search(r"\[\[#[A-Za-z]:|\[\[#\w*\s*[+-]", text)
