"""Remarks in LLVM's format: a YAML reader finds what was said, whatever characters it has."""

from __future__ import annotations

from dataclasses import replace

import pytest
from tilec.passes.base import Diagnostic, RemarkKind
from tilec.report.diagnostics import Source
from tilec.report.remarks import chosen, to_yaml

SOURCE = Source("a.mlir", "")
DECISION = Diagnostic(None, "'x': \"quoted\" – 3×16", "remark", decided_by="tile-select-mma")
ADVICE = Diagnostic(None, "slow", "remark", decided_by="tile-check-target", advice=True)
LEFT = Diagnostic(
    None, "left", "remark", decided_by="tile-pipeline", kind=RemarkKind.MISSED, function="k"
)
COUNTED = Diagnostic(
    None, "counted", "remark", decided_by="ptxas", kind=RemarkKind.ANALYSIS, function="l"
)


def test_decisions_are_shown_when_asked_for() -> None:
    found = [DECISION, ADVICE, ADVICE]
    assert chosen(found, None) == [ADVICE]
    assert chosen(found, "") == [DECISION, ADVICE]
    assert chosen(found, "select") == [DECISION, ADVICE]
    assert chosen(found, "assign") == [ADVICE]


def test_two_kernels_may_be_told_the_same() -> None:
    other = replace(LEFT, function="m")
    assert chosen([LEFT, other, LEFT], "") == [LEFT, other]


def test_a_yaml_reader_reads_it() -> None:
    yaml = pytest.importorskip("yaml", reason="needs PyYAML")

    class Loader(yaml.SafeLoader):  # type: ignore[misc, name-defined]
        pass

    for tag in ("!Passed", "!Missed", "!Analysis"):
        Loader.add_constructor(tag, lambda loader, node: loader.construct_mapping(node, deep=True))
    text = to_yaml([DECISION, ADVICE, LEFT, COUNTED], SOURCE)
    first, second, *others = yaml.load_all(text, Loader)
    tags = [line for line in text.splitlines() if line.startswith("---")]
    assert tags == ["--- !Passed", "--- !Passed", "--- !Missed", "--- !Analysis"]
    assert [one["Function"] for one in others] == ["k", "l"]
    assert [one["Pass"] for one in others] == ["tile-pipeline", "ptxas"]
    assert first["Pass"] == "tile-select-mma"
    assert first["Name"] == "SelectMma"
    assert first["Args"] == [{"String": DECISION.message}]
    assert second["Args"] == [{"String": "slow"}]
