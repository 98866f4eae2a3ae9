"""Attributes for which the bindings have no class may stand in any program."""

from __future__ import annotations

import subprocess
import sys

import pytest

ATTRIBUTES = (
    "array<i128: 1, 8>", "array<f16: 1.0>", "array<bf16>", "array<si32: 1>", "array<i64: 1>",
    "dense<(1.0, 2.0)> : tensor<1xcomplex<f32>>", "dense<1> : tensor<2xi4>", 'loc("x")',
    "loc(unknown)", 'loc("f":1:2)', 'loc(fused["a", "b"])', 'loc(callsite("a" at "b"))',
)  # fmt: skip
# The process would end, hence another one.
WALK = """
import sys
from tilec.frontend.contexts import new_context
from tilec.ir.mlir import ir
with new_context():
    held = ir.DictAttr.parse("{a = " + sys.argv[1] + "}")
    (found,) = [str(one.attr) for one in held]
    assert found == str(held["a"]) == str(ir.Attribute.parse(sys.argv[1])), found
    print(found)
"""


@pytest.mark.parametrize("text", ATTRIBUTES)
def test_a_dictionary_may_hold_it(text: str) -> None:
    done = subprocess.run([sys.executable, "-c", WALK, text], capture_output=True, text=True)  # noqa: PLW1510
    assert done.returncode == 0, done.stderr
    assert done.stdout.strip().replace(" ", "")[:8] == text.replace(" ", "")[:8]


def test_locations_keep_their_classes() -> None:
    from tilec.frontend.contexts import new_context
    from tilec.ir.mlir import ir

    with new_context() as context, context:
        one, other = (ir.Location.file("f", 1, column) for column in (2, 3))
        for location, kind in (
            (one, ir.FileLineColLoc),
            (ir.Location.name("n", one), ir.NameLoc),
            (ir.Location.callsite(one, [other]), ir.CallSiteLoc),
            (ir.Location.fused([one, other]), ir.FusedLoc),
        ):
            assert isinstance(ir.Location.from_attr(location.attr), kind)
