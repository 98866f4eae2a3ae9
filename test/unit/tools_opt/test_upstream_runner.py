"""The runner of upstream's tests: which it takes, and what it says of those that fail."""

from __future__ import annotations

import sys
from pathlib import Path

import pytest

FOLDER = Path(__file__).resolve().parents[2] / "upstream"
sys.path.insert(0, str(FOLDER))
from difference import difference  # noqa: E402
from selection import is_selected, is_whole, select  # noqa: E402

TAKEN = [
    "// RUN: mlir-opt %s -cse | FileCheck %s",
    "// RUN: not mlir-opt %s -split-input-file 2>&1 | FileCheck %s",
    "// RUN: mlir-opt %s --pass-pipeline='builtin.module(cse | x; y)' \\\n// RUN:   | FileCheck %s",
    "// RUN: mlir-opt %s > %t && FileCheck %s < %t",
]
LEFT = [
    "// CHECK: nothing runs",
    "// RUN: mlir-opt %s | mlir-translate -mlir-to-llvmir | FileCheck %s",
    "// RUN: mlir-opt %s -test-print-dominance | FileCheck %s",
    "// RUN: mlir-opt %s -p 'builtin.module(test-x)' | FileCheck %s",
    '// RUN: mlir-opt %s | FileCheck %s\n"test.op"() : () -> ()',
    "// RUN: mlir-opt %s -slice-analysis-test | FileCheck %s",
    "// REQUIRES: asserts\n// RUN: mlir-opt %s | FileCheck %s",
    "// RUN: cat %s | mlir-opt | FileCheck %s",
]


@pytest.mark.parametrize("text", TAKEN)
def test_taken(text: str) -> None:
    assert is_selected(text)


@pytest.mark.parametrize("text", LEFT)
def test_left(text: str) -> None:
    assert not is_selected(text)


def test_files_that_are_one_module() -> None:
    assert [is_whole(text) for text in TAKEN] == [True, False, True, True]
    assert is_whole("// RUN: mlir-opt %s | FileCheck %s\n// -split-input-file is not asked for")


def test_the_folders(tmp_path: Path) -> None:
    for name in ("IR/a.mlir", "Dialect/X/b.mlir", "Target/c.mlir", "IR/d.txt"):
        path = tmp_path / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(TAKEN[0])
    assert [str(path) for path in select(tmp_path)] == ["Dialect/X/b.mlir", "IR/a.mlir"]


@pytest.mark.parametrize(
    ("output", "said"),
    [
        (
            "# | /a/b.mlir:3:4: error: CHECK: expected string not found in input\n"
            "# | // CHECK: one\n# |  ^\n# | <stdin>:1:1: note: possible intended match here\n"
            "# |   two\n",
            "not in the output: // CHECK: one; but: two",
        ),
        ("# | /a/b.mlir:3: error: custom op 'x.y' is unknown\n", "custom op 'x.y' is unknown"),
        ("mlir-opt: Unknown command line argument '-x'.  Try", "there is no -x"),
        ("", "it fails without a word"),
    ],
)
def test_differences(output: str, said: str) -> None:
    assert difference(output) == said
