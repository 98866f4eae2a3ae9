"""Index formulas, evaluated as Python, are the layout; for fragments they read as documented."""

from __future__ import annotations

from hypothesis import given, settings
from hypothesis import strategies as st
from tilec.layout import LinearLayout, fragment
from tilec.layout.formula import formulas


def agree(layout: LinearLayout, indices) -> None:
    written = formulas(layout)
    for index in indices(layout.in_sizes):
        found = tuple(eval(text, {}, dict(index)) for text in written.values())
        assert found == layout(**index)


@settings(max_examples=150, derandomize=True)
@given(st.data())
def test_any_layout(layouts, bijections, indices, data):
    agree(data.draw(layouts({"x": 3, "y": 2}, {"p": 3, "q": 2})), indices)
    agree(data.draw(bijections({"x": 3, "y": 2}, {"p": 3, "q": 2})), indices)


def test_fragments(indices):
    for arguments in (("m16n8k16", "a", "f16"), ("m16n8k256", "a", "b1"), ("m8n8k4", "d", "f64")):
        agree(fragment(*arguments), indices)
    assert formulas(fragment("m16n8k16", "a", "f16"), {"register": "i"}) == {
        "row": "(lane >> 2) + 8 * (i >> 1 & 1)",
        "col": "(i & 1) + 2 * (lane & 3) + 8 * (i >> 2)",
    }
    assert formulas(LinearLayout.zeros(4, "x") * LinearLayout.empty(outs=("p",))) == {"p": "0"}
