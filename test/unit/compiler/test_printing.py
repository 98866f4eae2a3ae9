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
    spelt = Counter(re.findall(r'#tile\.\w+<"[^"]*">', text))
    assert set(spelt.values()) == {1}
    assert len(text) < len(str(module))


def test_what_stands_once_stays() -> None:
    text = 'f(!tile.frag<tensor<2xf16>, #tile.layout<"a -> b">>)'
    assert with_aliases(text) == text


def test_types_are_written_with_the_aliases_of_their_layouts() -> None:
    layout = '#tile.layout<"lane [0,1] -> row 1, col 2">'
    one, two = f"!tile.frag<tensor<8x4xf16>, {layout}>", f"!tile.frag<tensor<8x4xf32>, {layout}>"
    assert with_aliases(f"({one}, {two}, {one})") == (
        f"#layout = {layout}\n"
        "!frag = !tile.frag<tensor<8x4xf16>, #layout>\n"
        "(!frag, !tile.frag<tensor<8x4xf32>, #layout>, !frag)"
    )


def test_several_of_a_kind_are_numbered() -> None:
    first, second = '#tile.layout<"x">', '#tile.layout<"y">'
    text = f"({first} {second} {second} {first})"
    assert with_aliases(text) == (
        f"#layout = {first}\n#layout1 = {second}\n(#layout #layout1 #layout1 #layout)"
    )


def test_strings_are_left_alone() -> None:
    inside = r'{note = "see #tile.layout<\22x\22> and \"#tile.layout<a>\" #tile.layout<a>"}'
    assert with_aliases(inside) == inside


names = st.sampled_from(["layout", "shared"])
words = st.text("ab ->,[]0123", max_size=6)


@given(st.lists(st.tuples(names, words), max_size=12))
def test_expanding_the_aliases_gives_the_text_back(found: list[tuple[str, str]]) -> None:
    text = " ".join(f'#tile.{name}<"{word}">' for name, word in found) + " end"
    printed = with_aliases(text)
    *definitions, body = printed.split("\n")
    for definition in sorted(definitions, key=len, reverse=True):
        name, _, value = definition.partition(" = ")
        body = re.sub(rf"{name}(?![\w.])", lambda _, v=value: v, body)
    assert body == text
    assert all(printed.count(f'#tile.{name}<"{word}">') == 1 for name, word in found)
