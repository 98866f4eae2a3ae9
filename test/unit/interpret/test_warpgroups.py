"""Programs of warpgroups, boxes, mbarriers, roles and clusters, against numpy."""

from __future__ import annotations

import re
from pathlib import Path

import numpy as np
import pytest
from tilec.frontend.contexts import new_context
from tilec.frontend.parsing import parse
from tilec.interpret import arithmetic_of, interpret
from tilec.report.diagnostics import Source

from .arrays import contents, kernel_of, views

HOPPER = Path(__file__).parents[3] / "examples" / "hopper"
GRIDS = {"gemm": (1, 1, 1), "gemm_cluster": (2, 1, 1)}
DEPTH = 264


def product(text: str, name: str, numerics: str):
    """What a kernel of examples/hopper leaves, what numpy does, and the findings."""
    arithmetic, random = arithmetic_of(numerics), np.random.default_rng(1)
    module = parse(Source("-", text), new_context())
    function = kernel_of(module)
    a, b = (random.integers(-3, 4, (n, DEPTH)).astype(np.float16) for n in (104, 200))
    c = np.zeros((104, 200), np.float16)
    if name == "gemm_cluster":
        b, c = b[:72], c[:, :72].copy()
    given = views(function, [a, b, c], arithmetic)
    done = interpret(function, given, arithmetic, grid=GRIDS[name], target="sm_90a")
    left = contents(given[2], done.memories[2])
    return left, a.astype(np.float64) @ b.astype(np.float64).T, done.findings


@pytest.mark.parametrize(
    ("name", "numerics"),
    [
        ("gemm", "algebraic"),
        ("gemm_cluster", "f64"),
        pytest.param("gemm", "hardware", marks=pytest.mark.slow),
    ],
)
def test_examples(name: str, numerics: str) -> None:
    text = (HOPPER / f"{name}.mlir").read_text()
    left, expected, findings = product(text, name, numerics)
    assert not findings
    np.testing.assert_array_equal(left, expected)


def shown(edit: tuple[str, str], name: str = "gemm") -> set[str]:
    """The kinds of what is found in an example that was edited, and whether it is wrong."""
    text = (HOPPER / f"{name}.mlir").read_text()
    edited = re.sub(*edit, text, count=1)
    assert edited != text
    left, expected, findings = product(edited, name, "f64")
    return {one.kind for one in findings} | ({"result"} if (left != expected).any() else set())


WAIT = r"%done = tile.wgmma_wait 0 %d4 : !D\n"
FREE = r"\s*%one = nvvm.elect.sync -> i1\n\s*scf.if %one {\n.*\n\s*}\n"


FAULTS = [
    ((r"tile.barrier_wait %empty.*\n", "\n"), "race"),
    ((rf"({WAIT})({FREE})", r"\2 \1"), "race"),
    ((r"nvvm.fence.proxy.*\n", "\n"), "proxy"),
]
FURTHER = [
    ((r"%stage = %c0, %parity = %true", "%stage = %c0, %parity = %false"), "deadlock"),
    ((r"(empty\[%s\] count) 8", r"\1 9"), "deadlock"),
    ((r"nvvm.fence.mbarrier.init", ""), "proxy"),
    ((r"nvvm.cp.async.bulk.wait_group 0", ""), "in flight"),
    ((r"%stage = %c0, %parity = %false", "%stage = %c0, %parity = %true"), "deadlock"),
    ((r"tile.barrier_wait %full.*\n", "\n"), "race"),
    ((r"(bytes) 49152", r"\1 32768"), "deadlock"),
    ((r"(empty\[%s\] count) 8", r"\1 4"), "deadlock"),
    ((r"gpu.barrier", ""), "race"),
    ((r"nvvm.barrier id.*\n", "\n"), "race"),
    ((r"(tile.tma_load %mb\[%col, )%kcol", r"\1%c0"), "result"),
    ((r"(%full\[%stage\]) (parity %parity)", r"%full[%c0] \2"), "race"),
]


@pytest.mark.parametrize(("edit", "kind"), FAULTS)
def test_what_is_wrong_is_found(edit: tuple[str, str], kind: str) -> None:
    assert kind in shown(edit)


@pytest.mark.slow
@pytest.mark.parametrize(("edit", "kind"), FURTHER)
def test_further_faults_are_found(edit: tuple[str, str], kind: str) -> None:
    assert kind in shown(edit)


@pytest.mark.slow
def test_a_cluster_that_ends_early_or_frees_too_little() -> None:
    assert "race" in shown((r"(empty\[%s\] count) 16", r"\1 8"), "gemm_cluster")
    assert "deadlock" in shown(
        (r"tile.barrier_arrive %empty\[%stage\] of %c1.*\n", "\n"), "gemm_cluster"
    )
