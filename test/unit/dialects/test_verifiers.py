"""Verifiers refuse ill-formed ops with a located error, never with a Python exception, and fast.

Ops of the lit tests are changed at random in one place or a few: each is either accepted or an
error at its own line.
"""

from __future__ import annotations

import re
import sys
from collections import Counter
from dataclasses import dataclass
from functools import cache
from pathlib import Path

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from tilec import dialects
from tilec.dialects.tile import ops
from tilec.ir.assembly import to_generic
from tilec.ir.mlir import ir
from tilec.passes.base import walk

LIT = Path(__file__).parents[2] / "lit" / "dialect"
NAMES = sorted(
    value.OPERATION_NAME
    for value in vars(ops).values()
    if str(getattr(value, "OPERATION_NAME", "")).startswith("tile.")
)
FRAGMENT = '!tile.frag<tensor<16x16xf16>, #tile.layout<"m16n8k16 a f16">>'
TYPES = (
    FRAGMENT,
    '!tile.frag<tensor<16x8xf16>, #tile.layout<"m16n8k16 b f16">>',
    '!tile.frag<tensor<16x8xf32>, #tile.layout<"m16n8k16 c f32">>',
    '!tile.frag<tensor<4x8x4xf16>, #tile.layout<"m8n8k4 a f16 row">>',
    '!tile.frag<tensor<16x16xindex>, #tile.layout<"m16n8k16 a f16">>',
    '!tile.frag<tensor<8x32xi4>, #tile.layout<"m8n8k32 a s4">>',
    '!tile.frag<tensor<32xf16>, #tile.layout<"register; lane [1] [2] [4] [8] [16] -> row 32">>',
    '!tile.frag<tensor<16x16xf16>, #tile.layout<"nonsense">>',
    'tensor<16x16xf16, #tile.layout<"m16n8k16 a f16">>',
    'tensor<16x8xf32, #tile.layout<"m16n8k16 c f32">>',
    "tensor<16x16xf16>",
    "tensor<*xf16>",
    "memref<?x?xf16>",
    "memref<*xf16>",
    "memref<16xf16>",
    "memref<16x16xf16, strided<[?, ?], offset: ?>>",
    "memref<16x16xf16, affine_map<(i, j) -> (i floordiv 2, j)>>",
    'memref<16x64xf16, #tile.shared<"128B">>',
    'memref<16x64xf16, #tile.shared<"nonsense">>',
    'memref<16x60xf16, #tile.shared<"none">>',
    'memref<?x64xf16, #tile.shared<"none">>',
    'memref<16x64xindex, #tile.shared<"none">>',
    '!tile.wmma<"m16n16k16 a row f16">',
    '!tile.wmma<"m16n16k16 c f32">',
    '!tile.wmma<"nonsense">',
    "!tile.byte<f4E2M1FN>",
    "index",
    "f16",
    "f32",
    "i4",
    "vector<2xf16>",
    "none",
)
FORMS = (
    "mma.sync.aligned.m16n8k16.row.col.f32.f16.f16.f32",
    "mma.sync.aligned.m8n8k4.row.col.f32.f16.f16.f32",
    "mma.sp.sync.aligned.m16n8k32.row.col.f32.f16.f16.f32",
    "ldmatrix.sync.aligned.m8n8.x4.b16",
    "stmatrix.sync.aligned.m8n8.x4.b16",
    "movmatrix.sync.aligned.m8n8.trans.b16",
    "wmma.load.a.sync.aligned.row.m16n16k16.f16",
    "wmma.mma.sync.aligned.row.row.m16n16k16.f32.f32",
    "nonsense",
    "",
)
VALUES = ("0", "1", "-1", "7 : i8", '"text"', "unit", "true", "1.5", "[1]", "array<i64: 16, 16>",
          "array<i64>", "array<i32: 1>", "f16")  # fmt: skip
LIKELY = {
    "form": [f'"{form}"' for form in FORMS],
    "fn": ['"arith.addf"', '"arith.truncf"', '"math.fma"', '"nonsense"'],
    "shape": ["array<i64: 16, 16>", "array<i64: 16>", "array<i64: 0, -1>", "array<i64: 12, 64>"],
}
OTHERS = ("vector", "masked", "transposed", "nonsense", "other.one")


@dataclass(frozen=True)
class Op:
    """An op as text, and what it is made of."""

    name: str
    operands: list[str]
    attributes: dict[str, str]
    results: list[str]

    def __str__(self) -> str:
        parameters = ", ".join(f"%a{i}: {type_}" for i, type_ in enumerate(self.operands))
        values = ", ".join(f"%a{i}" for i in range(len(self.operands)))
        given = ", ".join(f"{key} = {value}" for key, value in self.attributes.items())
        outcome = f"%r:{len(self.results)} = " if self.results else ""
        return (
            f"func.func @f({parameters}) {{\n"
            f'{outcome}"{self.name}"({values}) {{{given}}} : ({", ".join(self.operands)}) -> '
            f"({', '.join(self.results)})\nreturn\n}}\n"
        )


@cache
def legal_ops() -> tuple[Op, ...]:
    """The ops of the lit tests."""
    context = ir.Context()
    dialects.load(context)
    found: dict[str, Op] = {}
    for path in sorted(LIT.glob("*.mlir")):
        if path.stem.endswith("_invalid"):
            continue
        programs = path.read_text(encoding="utf-8").split("// -----")
        modules = [ir.Module.parse(to_generic(one).text, context) for one in programs]
        for op in (op for module in modules for op in walk(module.operation)):
            if op.operation.name.startswith("tile."):
                made = Op(
                    op.operation.name,
                    [str(v.type) for v in op.operation.operands],
                    {name: str(op.attributes[name]) for name in op.attributes},
                    [str(v.type) for v in op.operation.results],
                )
                found[str(made)] = made
    return tuple(found.values())


@st.composite
def changed_op(draw: st.DrawFn) -> Op:
    """A legal op with one to three changes."""
    op = draw(st.sampled_from(legal_ops()))
    operands, attributes, results = list(op.operands), dict(op.attributes), list(op.results)
    known = sorted({t for other in legal_ops() for t in (*other.operands, *other.results)})
    types = st.sampled_from(TYPES) | st.sampled_from(known)
    for _ in range(draw(st.integers(1, 3))):
        match draw(st.sampled_from(["operand", "operand", "result", "attribute", "fewer", "more"])):
            case "operand" if operands:
                operands[draw(st.integers(0, len(operands) - 1))] = draw(types)
            case "result" if results:
                results[draw(st.integers(0, len(results) - 1))] = draw(types)
            case "attribute":
                name = draw(st.sampled_from([*attributes, *OTHERS]))
                attributes[name] = draw(st.sampled_from([*LIKELY.get(name, ()), *VALUES]))
            case "fewer":
                for things in draw(st.sampled_from([[operands], [results], [operands, results]])):
                    del things[-1:]
                if draw(st.booleans()) and attributes:
                    del attributes[draw(st.sampled_from(sorted(attributes)))]
            case "more":
                draw(st.sampled_from([operands, results])).append(draw(types))
    return Op(op.name, operands, attributes, results)


@pytest.fixture(scope="module")
def context() -> ir.Context:
    made = ir.Context()
    dialects.load(made)
    return made


@settings(max_examples=1500, derandomize=True)
@given(op=changed_op())
def test_any_op(context: ir.Context, op: Op) -> None:
    text = str(op)
    try:
        ir.Module.parse(text, context)
    except ir.MLIRError as error:
        (first, *_) = error.error_diagnostics
        assert str(first.location).startswith(('loc("-":1:', 'loc("-":2:')), text


@pytest.mark.parametrize("name", NAMES)
def test_a_lit_file_and_its_invalid_twin(name: str) -> None:
    """Each op is written and read again, and provoked, in `test/lit/dialect`."""
    for wanted in (False, True):
        texts = [
            path.read_text(encoding="utf-8")
            for path in LIT.glob("*.mlir")
            if path.stem.endswith("_invalid") == wanted
        ]
        written = re.compile(
            rf'"{re.escape(name)}"\(|= {re.escape(name)}\b|^ *{re.escape(name)}\b', re.M
        )
        assert any(written.search(text) for text in texts)


MMA = f"""
!A = {FRAGMENT}
!B = {TYPES[1]}
!C = {TYPES[2]}
func.func @f(%a: !A, %b: !B, %c: !C) {{
OPS
return
}}
"""


def test_verification_takes_few_calls(context: ir.Context) -> None:
    """Of the op that there are most of, which is verified after every pass."""
    # 96 calls of Python's functions an op, about 90 µs on an idle core.
    assert 0 < _calls_to_verify(context, 50) < 50 * 120


def _calls_to_verify(context: ir.Context, count: int) -> int:
    """How many functions of Python's are called to verify a module of so many ops."""
    text = "\n".join(
        f'%d{n} = "tile.mma"(%a, %b, %c) {{form = "{FORMS[0]}"}} : (!A, !B, !C) -> !C'
        for n in range(count)
    )
    module = ir.Module.parse(MMA.replace("OPS", text), context)
    calls = Counter()
    before = sys.getprofile()
    sys.setprofile(lambda frame, event, argument: calls.update([event]))
    try:
        assert module.operation.verify()
    finally:
        sys.setprofile(before)
    return calls["call"]
