"""What is found of a module once serves every launch of it, and only as long as it holds."""

from __future__ import annotations

import numpy as np
import pytest
from tilec.sim import launch, read
from tilec.sim.instructions import registry
from tilec.sim.ptx import parser
from tilec.sim.taint import unwritten

KERNEL = """
.version 8.0
.target sm_90
.address_size 64
.entry twice(.param .u64 out)
{{
.reg .b32 %r<4>; .reg .b64 %d<3>;
ld.param.u64 %d1, [out];
mov.u32 %r1, %tid.x;
{middle}
mul.wide.u32 %d2, %r1, 4;
add.u64 %d1, %d1, %d2;
st.global.u32 [%d1], %r2;
ret;
}}
"""


def _run(text: str) -> list[int]:
    out = np.zeros(32, np.uint32)
    launch(text, "twice", 1, 32, [out]).require_ok()
    return [int(value) for value in out]


def test_a_text_is_read_and_analysed_once(monkeypatch: pytest.MonkeyPatch) -> None:
    text = KERNEL.format(middle="shl.b32 %r2, %r1, 1;  // once")
    expected = [2 * lane for lane in range(32)]
    assert _run(text) == expected

    def again(*_: object) -> None:
        raise AssertionError("done a second time")

    monkeypatch.setattr(parser, "read_text", again)
    monkeypatch.setattr(unwritten, "_effects", again)
    assert _run(text) == expected


def test_another_text_is_another_module() -> None:
    assert _run(KERNEL.format(middle="shl.b32 %r2, %r1, 1;")) == [2 * n for n in range(32)]
    assert _run(KERNEL.format(middle="shl.b32 %r2, %r1, 2;")) == [4 * n for n in range(32)]


def test_a_reader_gets_a_module_of_its_own() -> None:
    text = KERNEL.format(middle="shl.b32 %r2, %r1, 1;  // own")
    assert _run(text) == [2 * n for n in range(32)]
    module = read(text)
    assert module is not read(text)
    module.functions["twice"].body = []
    assert _run(text) == [2 * n for n in range(32)]


def test_new_traits_are_seen() -> None:
    """An instruction that is declared between two launches ends its block in the second."""
    from tilec.sim.blocks import EXIT
    from tilec.sim.traits import Flow, Traits

    text = KERNEL.format(middle="shl.b32 %r2, %r1, 1;\nleave.now;")
    with pytest.raises(Exception, match="unsupported instruction 'leave"):
        _run(text)
    registry.ending("leave", traits=Traits(flow=Flow.END))(lambda _: EXIT)
    try:
        assert _run(text) == [0] * 32
    finally:
        registry.forget("leave")
    with pytest.raises(Exception, match="unsupported instruction 'leave"):
        _run(text)
