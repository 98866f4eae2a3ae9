"""Remarks in LLVM's format: a YAML reader finds what was said, whatever characters it has."""

from __future__ import annotations

import pytest
from tilec.passes.base import Diagnostic
from tilec.report.diagnostics import Source
from tilec.report.remarks import chosen, to_yaml

SOURCE = Source("a.mlir", "")
DECISION = Diagnostic(None, "'x': \"quoted\" – 3×16", "remark", decided_by="tile-select-mma")
ADVICE = Diagnostic(None, "slow", "remark")


def test_decisions_are_shown_when_asked_for() -> None:
    found = [DECISION, ADVICE, ADVICE]
    assert chosen(found, None) == [ADVICE]
    assert chosen(found, "") == [DECISION, ADVICE]
    assert chosen(found, "select") == [DECISION, ADVICE]
    assert chosen(found, "assign") == [ADVICE]


def test_a_yaml_reader_reads_it() -> None:
    yaml = pytest.importorskip("yaml", reason="needs PyYAML")

    class Loader(yaml.SafeLoader):  # type: ignore[misc, name-defined]
        pass

    for tag in ("!Passed", "!Missed"):
        Loader.add_constructor(tag, lambda loader, node: loader.construct_mapping(node, deep=True))
    first, second = yaml.load_all(to_yaml([DECISION, ADVICE], SOURCE), Loader)
    assert first["Pass"] == "tile-select-mma"
    assert first["Name"] == "SelectMma"
    assert first["Args"] == [{"String": DECISION.message}]
    assert second["Args"] == [{"String": "slow"}]
