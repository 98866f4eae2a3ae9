"""Line information: every instruction names its line, and is the same instruction as without it.

The lines wanted are looked up in the programs' texts by what stands there.
"""

from __future__ import annotations

import re
from pathlib import Path

import pytest
import tilec
from tilec.backend.cubin import tools
from tilec.tools.tilec import main

EXAMPLES = Path(__file__).parents[3] / "examples"
NAMES = ("mma", "gemm", "families")
_MARKS = re.compile(r"\s*(\.loc\s|\.file\s|\$L__(func_begin|func_end|tmp)|//|\.section|$)")

needs_ptxas = pytest.mark.skipif(not tools("ptxas"), reason="no ptxas here")
needs_nvdisasm = pytest.mark.skipif(
    not (tools("ptxas") and tools("nvdisasm")), reason="no ptxas or no nvdisasm here"
)


def lines_of(source: str, pattern: str) -> set[int]:
    return {n for n, line in enumerate(source.splitlines(), 1) if re.search(pattern, line)}


PRODUCTS = r"= tile\.(mma|dot) "
FROM_SHARED = r"= tile\.load %s[ab]\["


def instructions(ptx: str) -> list[str]:
    return [line for line in ptx.splitlines() if not _MARKS.match(line)]


def located(ptx: str, mnemonic: str) -> set[int]:
    """Lines that `.loc` gives to instructions."""
    found, line = set(), 0
    for text in ptx.splitlines():
        if loc := re.match(r"\s*\.loc\s+1 (\d+)", text):
            line = int(loc[1])
        elif mnemonic in text:
            found.add(line)
    return found


@pytest.mark.parametrize("name", NAMES)
def test_same_code_with_places(name):
    path = EXAMPLES / f"{name}.mlir"
    plain, marked = (tilec.compile(path, lineinfo=on) for on in (False, True))
    assert not re.search(r"\.loc|\.file|!dbg", plain.ptx + plain.llvm)
    assert instructions(marked.ptx) == instructions(plain.ptx)
    assert f'.file\t1 "{path}"' in marked.ptx
    source = path.read_text()
    for pattern, mnemonic in ((PRODUCTS, "mma.sync"), (FROM_SHARED, "ldmatrix.sync")):
        assert located(marked.ptx, mnemonic) == lines_of(source, pattern)
    assert tilec.compile(path, lineinfo=True).ptx == marked.ptx


@needs_ptxas
def test_the_binary_needs_what_it_needed():
    path = EXAMPLES / "gemm.mlir"
    plain, marked = (tilec.compile(path, emit="cubin", lineinfo=on) for on in (False, True))
    assert marked.resources == plain.resources
    assert b".debug_line" in marked.cubin
    assert b".debug_line" not in plain.cubin


@needs_nvdisasm
@pytest.mark.parametrize("name", NAMES)
def test_lines_arrive_in_sass(name):
    path = EXAMPLES / f"{name}.mlir"
    plain, marked = (tilec.compile(path, emit="sass", lineinfo=on) for on in (False, True))

    def code(sass: str) -> list[str]:
        return re.findall(r"^\s+/\*[0-9a-f]+\*/\s+(.*?);", sass, re.MULTILINE)

    assert code(marked.sass) == code(plain.sass)
    found, line = set(), 0
    for text in marked.sass.splitlines():
        if place := re.search(r'//## File "(.*)", line (\d+)', text):
            assert place[1] == str(path)
            line = int(place[2])
        elif re.search(r"\b[HIDQ]?MMA\b", text):
            found.add(line)
    assert found == lines_of(path.read_text(), PRODUCTS)


def test_a_name_with_quotes():
    source = (EXAMPLES / "mma.mlir").read_text()
    compiled = tilec.compile(source, name='a "b"\\c.mlir', lineinfo=True)
    assert 'filename: "a \\22b\\22\\5Cc.mlir"' in compiled.llvm
    assert ".loc\t1 " in compiled.ptx


CALL = """\
gpu.module @m [#nvvm.target<chip = "sm_80">] {
  llvm.func @helper(%x: f32, %p: !llvm.ptr) {
    %y = llvm.fadd %x, %x : f32
    llvm.store %y, %p : f32, !llvm.ptr
    llvm.return
  }
  gpu.func @k(%x: memref<32xf32>) kernel attributes {known_block_size = array<i32: 32, 1, 1>} {
    %c = arith.constant 1.0 : f32
    %q = memref.extract_aligned_pointer_as_index %x : memref<32xf32> -> index
    %i = arith.index_cast %q : index to i64
    %p = llvm.inttoptr %i : i64 to !llvm.ptr
    llvm.call @helper(%c, %p) : (f32, !llvm.ptr) -> () loc(PLACE)
    gpu.return
  }
}
"""


@pytest.mark.parametrize("level", [0, 3])
@pytest.mark.parametrize("place", ["unknown", '"a.mlir":7:3', '"name"(unknown)'])
def test_calls_without_a_place(place, level):
    """LLVM refuses a call that it may inline, in a function with debug info, without one."""
    source = CALL.replace("PLACE", place)
    plain, marked = (tilec.compile(source, lineinfo=on, opt_level=level) for on in (False, True))
    assert instructions(marked.ptx) == instructions(plain.ptx)
    assert located(marked.ptx, "\tst.b32") == lines_of(source, "llvm.store")


def test_the_flag(capsysbinary):
    assert main([str(EXAMPLES / "mma.mlir"), "--lineinfo"]) == 0
    assert b'mma.mlir"' in capsysbinary.readouterr().out
