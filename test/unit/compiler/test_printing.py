"""Aliases in printed IR: the same module comes back, and every repeated type is named once."""

from __future__ import annotations

import re
from collections import Counter
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st
from tilec.frontend.contexts import new_context
from tilec.frontend.parsing import parse
from tilec.report.diagnostics import Source
from tilec.report.printing import to_text, with_aliases

EXAMPLES = sorted((Path(__file__).parents[3] / "examples").glob("*.mlir"))


@pytest.mark.parametrize("path", EXAMPLES, ids=lambda path: path.name)
def test_examples_come_back(path: Path) -> None:
    module = parse(Source(path.name, path.read_text()), new_context())
    text = to_text(module)
    again = parse(Source("printed", text), new_context())
    assert str(again) == str(module)
    # What is long stands once, where its short name is defined.
    spelt = Counter(re.findall(r"[#!]tile\.\w+<[^\n<>]{40,}>", text.partition("module")[2]))
    assert not spelt
    assert len(text) < len(str(module))


LONG = '#tile.layout<"register [0,1] [8,0]; lane [0,2] [0,4] -> row 16, col 8">'
OTHER = '#tile.layout<"register [0,1] [4,0]; lane [0,2] [0,4] -> row 16, col 8">'


def test_what_is_short_stays() -> None:
    text = 'memref<8x8xf16, #tile.shared<"128B">>, !tile.wmma<"m16n16k16 a row f16">'
    assert with_aliases(text) == text


def test_a_name_follows_from_what_it_stands_for() -> None:
    one, two = f"!tile.frag<tensor<16x8xf16>, {LONG}>", f"!tile.frag<tensor<16x8xf32>, {LONG}>"
    tensor = f"tensor<16x8xf16, {LONG}>"
    alone = {text: with_aliases(text).rpartition("\n")[2] for text in (one, two, tensor)}
    assert len(set(alone.values())) == 3
    assert with_aliases(f"({two}, {tensor}, {one})").endswith(
        f"({alone[two]}, {alone[tensor]}, {alone[one]})"
    )
    assert re.fullmatch(r"!frag_16x8xf16_[0-9a-f]{4}", alone[one])
    assert re.fullmatch(r"tensor<16x8xf16, #layout_16x8_[0-9a-f]{4}>", alone[tensor])
    assert with_aliases(f"tensor<16x8xf16, {OTHER}>").rpartition("\n")[2] != alone[tensor]


def test_operands_are_named() -> None:
    fragment = "!tile.frag<tensor<16x8xf32>, #tile.operand<c, m16n8>>"
    assert with_aliases(fragment) == f"!c_16x8xf32 = {fragment}\n!c_16x8xf32"
    tile = "#tile.operand<a, m16k16, b16, 128x64, warps 4x2>"
    assert with_aliases(f"tensor<128x64xf16, {tile}>") == (
        f"#a_m16k16_b16_128x64_4x2 = {tile}\ntensor<128x64xf16, #a_m16k16_b16_128x64_4x2>"
    )


def test_strings_are_left_alone() -> None:
    inside = r'{note = "see #tile.layout<\22x\22> and \"#tile.layout<a>\" #tile.layout<a>"}'
    assert with_aliases(inside) == inside


names = st.sampled_from(["layout", "shared"])
words = st.text("ab ->,[]0123", max_size=60)


@given(st.lists(st.tuples(names, words), max_size=12))
def test_expanding_the_aliases_gives_the_text_back(found: list[tuple[str, str]]) -> None:
    text = " ".join(f'#tile.{name}<"{word}">' for name, word in found) + " end"
    *definitions, body = with_aliases(text).split("\n")
    for definition in sorted(definitions, key=len, reverse=True):
        name, _, value = definition.partition(" = ")
        body = re.sub(rf"{name}(?![\w.])", lambda _, v=value: v, body)
    assert body == text
