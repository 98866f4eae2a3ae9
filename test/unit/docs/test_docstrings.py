"""The examples in docstrings give what they say they give."""

import doctest
import pkgutil
from importlib import import_module

import pytest

WITHOUT_MLIR = ("tilec.isa", "tilec.layout", "tilec.runtime", "tilec.sim")


def modules(package):
    root = import_module(package)
    names = [package, *(m.name for m in pkgutil.walk_packages(root.__path__, f"{package}."))]
    return [import_module(name) for name in names]


@pytest.mark.parametrize("package", WITHOUT_MLIR)
def test_examples(package):
    results = [doctest.testmod(module) for module in modules(package)]
    assert sum(result.failed for result in results) == 0


def test_there_are_examples():
    finder = doctest.DocTestFinder(exclude_empty=True)
    found = {test.name for m in modules("tilec.isa") for test in finder.find(m) if test.examples}
    assert {"tilec.isa.table.form", "tilec.isa.table.instruction"} <= found
