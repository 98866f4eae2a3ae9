"""The reference has every public name, beside an example that uses it; the examples run."""

from __future__ import annotations

import doctest
import linecache
import re
from importlib import import_module
from pathlib import Path
from typing import Any

import pytest

API = Path(__file__).resolve().parents[3] / "docs" / "api"
PACKAGES = (
    "tilec", "tilec.lang", "tilec.layout", "tilec.isa", "tilec.sim", "tilec.runtime",
    "tilec.tuning",
)  # fmt: skip
_ENTRY = re.compile(r"^\.\. (?:auto|py:)(?:function|class|exception|data):: (\S+)$", re.MULTILINE)
_FENCE = re.compile(r"^```(python|pycon)\n(.*?)^```$", re.MULTILINE | re.DOTALL)


def page(package: str) -> Path:
    return API / f"{package.rpartition('.')[2]}.md"


def sections(package: str) -> list[str]:
    return re.split(r"^## ", page(package).read_text(encoding="utf-8"), flags=re.MULTILINE)


@pytest.mark.parametrize("package", PACKAGES)
def test_every_public_name_is_described_once(package):
    found = sorted(_ENTRY.findall(page(package).read_text(encoding="utf-8")))
    assert found == sorted(f"{package}.{name}" for name in import_module(package).__all__)


@pytest.mark.parametrize("package", PACKAGES)
def test_every_public_name_has_an_example_in_its_section(package):
    without = []
    for section in sections(package):
        examples = "".join(code for _, code in _FENCE.findall(section))
        names = (name.rpartition(".")[2] for name in _ENTRY.findall(section))
        without += [name for name in names if not re.search(rf"\b{name}\b", examples)]
    assert without == []


@pytest.mark.parametrize("package", PACKAGES)
def test_examples(package):
    """Those of a page run in their order, with the names of those before."""
    file = page(package)
    text = file.read_text(encoding="utf-8")
    name = f"<{file.name}>"  # kernels are read from their source
    linecache.cache[name] = (len(text), None, text.splitlines(keepends=True), name)
    names: dict[str, Any] = {"__name__": f"reference_of_{file.stem}"}
    try:
        for fence in _FENCE.finditer(text):
            line = text.count("\n", 0, fence.start(2))
            if fence[1] == "python":
                exec(compile("\n" * line + fence[2], name, "exec"), names)
            else:
                _check(fence[2], names, file, line)
    finally:
        del linecache.cache[name]


def _check(session: str, names: dict[str, Any], file: Path, line: int) -> None:
    test = doctest.DocTestParser().get_doctest(session, names, file.name, str(file), line)
    options = doctest.ELLIPSIS | doctest.IGNORE_EXCEPTION_DETAIL
    said: list[str] = []
    runner = doctest.DocTestRunner(optionflags=options)
    result = runner.run(test, out=said.append, clear_globs=False)
    names.update(test.globs)
    assert result.failed == 0, "".join(said)
