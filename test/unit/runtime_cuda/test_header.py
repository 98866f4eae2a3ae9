"""What is read off a PTX text: against texts written by hand, and the simulator's whole parser on
what LLVM writes for the examples."""

from pathlib import Path

import pytest
import tilec
from tilec import sim
from tilec.runtime.cuda.header import Param, header

EXAMPLES = sorted((Path(__file__).resolve().parents[3] / "examples").glob("*.mlir"))

TEXT = """\
// .version 1.0
.version 8.7
.target sm_100a, debug  /* .target sm_80 */
.address_size 64
.func (.param .b32 r) helper(.param .b64 h) { ret; }
.visible .entry one ( // .entry none()
  .param .u64 .ptr .global .align 16 a_0,
  .param .align 8 .b8 $s[24],
  .param .f32 f
) .maxntid 128 { }
.func waiting() { griddepcontrol.wait; ret; }
.entry two .reqntid 64 , 2
{ .reg .b32 %r; griddepcontrol.wait; }
.extern .entry three();
"""


def test_by_hand():
    found = header(TEXT)
    assert (str(found.version), found.target) == ("8.7", "sm_100a")
    assert set(found.entries) == {"one", "two"}
    assert found.entries["one"].parameters == (
        Param("a_0", "u64", 8, 8),
        Param("$s", "b8", 24, 8),
        Param("f", "f32", 4, 4),
    )
    assert found.entries["one"].block is None
    assert found.entries["two"].parameters == ()
    assert found.entries["two"].block == (64, 2, 1)
    assert {name: entry.waits for name, entry in found.entries.items()} == {
        "one": False,
        "two": True,
    }


@pytest.mark.parametrize("text", ["", "gpu.module @m {}", ".version 8.0\n"])
def test_what_is_no_ptx(text):
    assert header(text) is None


@pytest.mark.parametrize("path", EXAMPLES, ids=lambda path: path.stem)
def test_examples(path):
    ptx = tilec.compile(path).ptx
    found, read = header(ptx), sim.read(ptx)
    assert found.target == read.target
    kernels = {f.name: f for f in read.functions.values() if f.entry}
    assert set(found.entries) == set(kernels)
    for name, entry in found.entries.items():
        listed = [(p.name, p.type, p.size, p.align) for p in kernels[name].parameters]
        assert [(p.name, p.type, p.size, p.align) for p in entry.parameters] == listed
        required = kernels[name].directives.get("reqntid")
        assert entry.block == ((*required, 1, 1)[:3] if required else None)
