"""Texts to begin with: the examples and the lit tests, which use every op, pass and form."""

from __future__ import annotations

import random
import re
from functools import cache
from pathlib import Path

from contexts import context

ROOT = Path(__file__).resolve().parents[2]
_PART = re.compile(r"^// -----.*\n", re.MULTILINE)
_RUN = re.compile(r"^// RUN:.*tile-opt (.*)$", re.MULTILINE)
_FLAG = re.compile(r"--([a-z][\w.-]*)(?:=('[^']*'|\"[^\"]*\"|\S+))?")
_NO_PASSES = ("split-input-file", "verify-diagnostics", "verify-each", "remarks", "mlir-", "list-")
_LONGEST = 20_000


@cache
def programs() -> tuple[tuple[str, str], ...]:
    """Programs, each with the pipeline that its test runs; one without is compiled whole."""
    found: list[tuple[str, str]] = []
    for path in sorted(
        [*(ROOT / "test/lit").rglob("*.mlir"), *(ROOT / "examples").rglob("*.mlir")]
    ):
        if path.name == "gemm.mlir.tmp.ptx" or "Output" in path.parts:
            continue
        text = path.read_text(encoding="utf-8")
        pipeline = _pipeline(text)
        found += [(part, pipeline) for part in _PART.split(text) if 0 < len(part) < _LONGEST]
    return tuple(found)


def _pipeline(text: str) -> str:
    run = _RUN.search(text)
    if not run:
        return ""
    given = re.search(r"--pass-pipeline='?\"?([^'\"|]*)", run[1])
    if given:
        return given[1].strip()
    passes = []
    for name, options in _FLAG.findall(run[1]):
        if not name.startswith(_NO_PASSES):
            passes.append(f"{name}{{{options}}}" if options else name)
    return ",".join(passes)


def program(rng: random.Random) -> tuple[str, str]:
    """One of them."""
    return rng.choice(programs())


@cache
def valid() -> tuple[tuple[str, str], ...]:
    """Those programs that verify."""
    from tilec.frontend.parsing import parse
    from tilec.isa import TilecError
    from tilec.report.diagnostics import Source, reports

    found = []
    for text, pipeline in programs():
        with reports():
            try:
                parse(Source("-", text), context())
            except TilecError:
                continue
        found.append((text, pipeline))
    return tuple(found)


@cache
def words() -> tuple[str, ...]:
    """Tokens that mean something in a program."""
    names: set[str] = set()
    for text, _ in programs():
        names.update(re.findall(r"\b(?:tile|arith|gpu|scf|memref|nvvm|llvm|vector)\.[\w.]+", text))
        names.update(re.findall(r"(?:memref|tensor|vector|!tile\.\w+|#tile\.\w+)<[^<>\n]*>", text))
    types = [
        "i1",
        "i4",
        "i7",
        "i8",
        "i16",
        "i24",
        "i32",
        "i64",
        "i128",
        "i256",
        "index",
        "f16",
        "bf16",
        "tf32",
        "f32",
        "f64",
        "f80",
        "f128",
        "f8E4M3FN",
        "f8E5M2",
        "f4E2M1FN",
        "f6E3M2FN",
        "f8E8M0FNU",
        "none",
        "tuple<>",
        "complex<f32>",
        "!llvm.ptr",
        "!llvm.ptr<3>",
        "tensor<f32>",
        "tensor<*xf32>",
        "memref<*xf32>",
        "memref<f32>",
        "vector<4xf32>",
        "memref<?x?xf16,affine_map<(i,j)->(i,j,i)>>",
        "memref<16x16xf16,strided<[-1,1],offset:?>>",
        "tensor<1099511627776xf32>",
        "tensor<0xf32>",
        "vector<[4]xf32>",
    ]
    return (*sorted(names), *types)
