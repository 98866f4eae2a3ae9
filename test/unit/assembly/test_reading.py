"""What is written wrong, and where; what looks like an op and is none; places of ops."""

from __future__ import annotations

import random
import re

import pytest
from tilec.frontend.contexts import new_context
from tilec.frontend.parsing import parse
from tilec.ir.assembly import to_generic
from tilec.ir.assembly.scan import skip_space
from tilec.ir.mlir import ir
from tilec.passes.base import ProgramError
from tilec.report.diagnostics import Source, render

HEAD = "func.func @f(%m: memref<8x8xf16>, %t: tensor<8x8xf16>, %i: index) {\n"


@pytest.fixture(scope="module")
def context() -> ir.Context:
    return new_context()


WRONG = {
    "%0 = tile.load %m%i, %i] : memref<8x8xf16> -> tensor<8x8xf16>": ("2:20", "expected '['"),
    "%0 = tile.load m[%i, %i] : memref<8x8xf16> -> tensor<8x8xf16>": (
        "2:18",
        "expected SSA operand",
    ),
    "%0 = tile.load %m[%i, %i : memref<8x8xf16> -> tensor<8x8xf16>": ("2:28", "expected ']'"),
    "%0 = tile.load %m[%i, %i] memref<8x8xf16> -> tensor<8x8xf16>": ("2:29", "expected ':'"),
    "%0 = tile.load %m[%i, %i] : memref<8x8xf16>": ("2:46", "expected '->'"),
    "%0 = tile.load %m[%i, %i] : memref<8x8xf16> -> 5": ("2:50", "expected non-function type"),
    "%0 = tile.load %m[%i, %i] {vector = } : memref<8x8xf16> -> tensor<8x8xf16>": (
        "2:39",
        "expected attribute value",
    ),
    "%0 = tile.load %m[%i, %i] {= 2} : memref<8x8xf16> -> tensor<8x8xf16>": (
        "2:30",
        "expected attribute name",
    ),
    "%0 = tile.transpose %t 1, 0 : tensor<8x8xf16> -> tensor<8x8xf16>": (
        "2:26",
        "expected a list of integers",
    ),
    "%0 = tile.reduce 5 %t axis 0 : tensor<8x8xf16> -> tensor<8xf16>": (
        "2:20",
        "expected keyword or string",
    ),
    "tile.async_wait": ("3:3", "expected attribute value"),
    # What MLIR finds, in the text that it never saw.
    "%0 = tile.load %m[%i, %j] : memref<8x8xf16> -> tensor<8x8xf16>": (
        "2:25",
        "use of undeclared SSA value name",
    ),
    "%0 = tile.load %m[%i, %i] : memref<8x8xf32> -> tensor<8x8xf16>": (
        "2:18",
        "expects different type than prior uses",
    ),
    "%0 = tile.load %m[%i, %m] : memref<8x8xf16> -> tensor<8x8xf16>": (
        "2:25",
        "expects different type than prior uses",
    ),
    "%0 = tile.load %m[%i, %i] : memref<8x8xf16> -> tensor<8x8xf17>": (
        "2:61",
        "expected non-function type",
    ),
    "%0 = tile.load %m[%i] : memref<8x8xf16> -> tensor<8x8xf16>": ("2:8", "takes 2 indices"),
    "%0 = tile.load %m[%i, %i] : memref<8x8xf16> -> tensor<8x8xf16, #tile.operand<c, m99>>": (
        "2:66",
        "unknown operand",
    ),
    "tile.async_commit %0 = tile.iota axis 3 : tensor<8x8xi32>": ("2:26", "axis must be 0 to 1"),
    "%0 = tile.load %m[%i,\n   %i] : memref<8x8xf16> // why\n  -> tensor<8x8xf16> %x": (
        "4:24",
        "expected '='",
    ),
}


@pytest.mark.parametrize("text", WRONG)
def test_what_is_wrong(text: str, context: ir.Context) -> None:
    place, message = WRONG[text]
    source = Source("given.mlir", f"{HEAD}  {text}\n  return\n}}\n")
    with pytest.raises(ProgramError) as caught:
        parse(source, context)
    shown = render(caught.value.diagnostics, source)
    first, line, caret = shown.splitlines()[:3]
    assert first.startswith(f"given.mlir:{place}: error: "), shown
    assert message in first
    number, column = map(int, place.split(":"))
    assert line == source.text.splitlines()[number - 1]
    assert len(caret) == column


ALIKE = """\
module attributes {tile.load = 1 : i64, a.b = "tile.load %m[%i]", tile.store} {
  // tile.load %m[%i
  func.func private @g() attributes {note = "// \\" tile.store", tile.fill}
  func.func @tile.load(%x: i32 {tile.load = 2 : i64}) { return }
}
"""


def test_what_looks_like_an_op(context: ir.Context) -> None:
    assert to_generic(ALIKE).text == ALIKE
    parse(Source("-", ALIKE), context)


def test_text_without_the_dialect_is_the_same_object() -> None:
    text = "module { func.func @f() { return } }"
    assert to_generic(text).text is text


PLACES = """\
#c = #tile.operand<c, m16n8>
!C = !tile.frag<tensor<16x8xf32>, #c>
func.func @f(%m: memref<16x8xf32>, %s: tensor<8x8xf32, #tile.operand<c, m8n8>>, %i: index, %p: i1) {
  %0 = tile.load %m[%i, %i] : memref<16x8xf32> -> !C  %1 = arith.addi %i, %i : index
  scf.if %p { tile.store %0, %m[%i, %i] : !C, memref<16x8xf32> tile.async_commit } // }
  %2 = tile.load %m[%i, // tile.load "
      %1]

    : memref<16x8xf32>
    -> !C loc("there":7:8) %3 = arith.constant 0 : i32
  tile.async_commit loc(fused["a":1:2, "-":4:60])
  return
}
"""


def test_every_op_keeps_its_place(context: ir.Context) -> None:
    module = parse(Source("-", PLACES), context)
    lines = PLACES.splitlines()
    seen = 0
    for op in _walk(module.operation):
        location = op.location
        if isinstance(location, ir.FileLineColLoc) and location.filename == "-":
            if op.name in ("builtin.module", "scf.yield"):
                continue
            behind = lines[location.start_line - 1][location.start_col - 1 :]
            assert behind.startswith(op.name.removeprefix("func.") if "ret" in op.name else op.name)
            seen += 1
    assert seen == 8
    text = module.operation.get_asm(enable_debug_info=True, use_local_scope=True)
    assert 'loc("there":7:8)' in text
    assert 'loc(fused["a":1:2, "-":4:60])' in text
    (function,) = module.body.operations
    arguments = function.regions[0].blocks[0].arguments
    for argument, name in zip(arguments, ("%m", "%s", "%i", "%p"), strict=True):
        assert argument.location.start_col == lines[2].index(f"{name}:") + 1


def _walk(op: ir.Operation) -> list[ir.Operation]:
    inside = [
        found
        for region in op.regions
        for block in region.blocks
        for one in block.operations
        for found in _walk(one.operation)
    ]
    return [op, *inside]


def test_generic_and_custom_mix(context: ir.Context) -> None:
    text = PLACES.replace(
        "tile.load %m[%i, %i] : memref<16x8xf32> -> !C",
        '"tile.load"(%m, %i, %i) : (memref<16x8xf32>, index, index) -> !C',
    )
    one, two = (parse(Source("-", each), context) for each in (PLACES, text))
    assert str(one) == str(two)
    assert len(re.findall(r'"tile\.', text)) == 1


@pytest.mark.parametrize("seed", range(50))
def test_space_and_comments_between_tokens(seed: int) -> None:
    source = random.Random(seed)
    parts = (
        " ",
        "  ",
        "\n",
        "\t",
        "// c %x\n",
        "/",
        "//",
        "%a",
        "x",
        ":",
        '"',
        "!",
        "é",
        "~",
        "\x7f",
    )
    text = "".join(source.choices(parts, k=12))
    for at in range(len(text) + 1):
        for end in (*range(len(text) + 1), len(text) + 5):
            assert skip_space(text, at, end) == _next_token(text, at, min(end, len(text)))


def _next_token(text: str, at: int, end: int) -> int:
    while at < end:
        if text[at].isspace():
            at += 1
        elif text.startswith("//", at) and at + 1 < end:
            newline = text.find("\n", at, end)
            at = end if newline < 0 else newline
        else:
            break
    return at
