"""The reader takes PTX as LLVM, NVCC and Triton write it, and says where a text goes wrong."""

from __future__ import annotations

import shutil
import struct
import subprocess
from pathlib import Path

import pytest
from tilec.sim import PtxError, UnsupportedInstructionError, check, launch, read
from tilec.sim.ptx.module import Address, Float, Integer, Name, Negated, Pair, Sink, Symbol, Vector

CONSTRUCTS = Path(__file__).parent / "constructs.ptx"
HEAD = ".version 8.0\n.target sm_80\n.address_size 64\n"


def body(text: str) -> list[object]:
    module = read(f"{HEAD}.entry k() {{ {text} }}\n")
    return [i.operands for i in module.functions["k"].body or ()]


def test_module() -> None:
    module = read(CONSTRUCTS)
    assert (module.version, module.target) == ("8.5", "sm_90a")
    assert module.files == {1: "kernel // not a comment.cu", 2: "other.h"}
    assert set(module.functions) == {"vprintf", "__assertfail", "helper", "kernel"}
    kernel = module.functions["kernel"]
    assert kernel.directives["reqntid"] == (128, 1, 1)
    assert [(p.type, p.size, p.align) for p in kernel.parameters] == [
        ("u64", 8, 8),
        ("b8", 12, 4),
        ("f32", 4, 4),
    ]
    assert module.functions["vprintf"].body is None
    assert len(module.functions["helper"].returns) == 1


def test_variables() -> None:
    variables = read(CONSTRUCTS).variables
    factors = [struct.unpack("<f", struct.pack("<I", v))[0] for v in variables["factors"].values]  # type: ignore[arg-type]
    assert factors == [1, 2, -0.5, 1000]
    assert variables["pointers"].values == (Symbol("plain", 0, True), Symbol("factors", 8, False))
    assert variables["nested"].values == (1, 2, 3, 4, 5, 7)
    assert variables["nested"].size == 6
    assert variables["dynamic_memory"].open_ended
    assert variables["pair"].size == 8


def test_operands() -> None:
    assert body("x.y %r1, _, -5, 0x1F, 017, 0b101, 3U;") == [
        (Name("%r1"), Sink(), *map(Integer, (-5, 31, 15, 5, 3)))
    ]
    assert body("x [%rd1+-4], [%rd1-4], [var+8], [16], %tid.x;") == [
        (
            Address(Name("%rd1"), -4),
            Address(Name("%rd1"), -4),
            Address(Name("var"), 8),
            Address(None, 16),
            Name("%tid", "x"),
        )
    ]
    assert body("x %p1|%p2, _|%p3, !%p4, {%r1, _}, sym+8;") == [
        (
            Pair(Name("%p1"), Name("%p2")),
            Pair(Sink(), Name("%p3")),
            Negated(Name("%p4")),
            Vector((Name("%r1"), Sink())),
            Name("sym", "", 8),
        )
    ]
    assert body("x 0f3F800000, -0d3FF0000000000000, 1.5;") == [
        (Float(0x3F800000, 32), Float(0xBFF0 << 48, 64), Float(0x3FF8 << 48, 64))
    ]
    assert body("x (1 << 4) | 3, -7 / 2, 7 % 4, 1 ? 2 : 3, ~0, !5, WARP_SZ - 1;") == [
        tuple(map(Integer, (19, -3, 3, 2, -1, 0, 31)))
    ]


def test_target_options() -> None:
    text = ".version 8.0\n.target sm_80, texmode_independent, debug\n.address_size 64\n"
    assert read(text).target == "sm_80"


@pytest.mark.skipif(shutil.which("ptxas") is None, reason="ptxas is not installed")
def test_constructs_are_ptx(tmp_path: Path) -> None:
    command = ["ptxas", "-arch=sm_90a", CONSTRUCTS, "-o", tmp_path / "out"]
    assert subprocess.run(command, check=False, capture_output=True).returncode == 0


def test_guards_and_source_locations() -> None:
    module = read(f'{HEAD}.file 1 "a.cu"\n.entry k() {{\n.loc 1 7 3\n@!%p1 add.s32 a, b, c;\n}}\n')
    (instruction,) = module.functions["k"].body or []
    assert (instruction.guard, instruction.negated) == ("%p1", True)
    assert instruction.mnemonic == "add.s32"
    assert module.line(instruction) == 7
    assert module.origin(instruction) == "a.cu:7"


@pytest.mark.parametrize(
    ("text", "line", "column", "words"),
    [
        (HEAD + ".entry k() {\n  add.s32 %r1, %r2\n}\n", 6, 1, "expected ',' after an operand"),
        (HEAD + ".entry k() {\n  mov.u32 %r1, 1;\n", 6, 1, "body of 'k' is not closed"),
        (HEAD + ".entry k() {\n  .reg .q32 %r1;\n}\n", 5, 8, "unknown type '.q32'; legal: .pred"),
        (HEAD + ".entry k() {\nA:\n mov.u32 a, 1;\nA: }\n", 7, 1, "label 'A' is defined twice"),
        (HEAD + ".global .b8 x[2] = {1, 2, 3};\n", 4, 13, "more initial values than 'x'"),
        (HEAD + ".nonsense 5\n", 4, 1, "unknown directive '.nonsense'"),
        (HEAD + ".entry k() {\n  mov.u32 a, 1/0;\n}\n", 5, 15, "division by zero"),
        (HEAD + ".entry k() { }\n.entry k() { }\n", 5, 1, "'k' is defined twice"),
        (".version 8\n", 1, 10, "expected a version such as 8.0"),
        ("what is this\n", 1, 1, "expected a directive, found 'what'"),
    ],
)
def test_errors_are_located(text: str, line: int, column: int, words: str) -> None:
    with pytest.raises(PtxError) as caught:
        read(text, "a.ptx")
    error = caught.value
    assert (error.line, error.column) == (line, column)
    assert words in error.reason
    message = str(error).splitlines()
    assert message[0].startswith(f"a.ptx:{line}:{column}: ")
    if len(message) == 3:
        assert message[2].index("^") == column - 1


UNSUPPORTED = (
    HEAD
    + """.entry k(.param .u64 p) {
  .reg .b32 %r<4>; .reg .b64 %rd<4>; .reg .pred %p<2>;
  mov.u32 %r1, %tid.x;
  setp.lt.u32 %p1, %r1, 99;
  @%p1 bra END;
  tex.2d.v4.f32.f32 {%r1, %r1, %r1, %r1}, [t, {%r1, %r1}];
  add.q32 %r1, %r1, %r1;
  mma.sync.aligned.m16n8k99.row.col.f32.f16.f16.f32 %r1, %r1, %r1, %r1;
END:
  ret;
}
"""
)


def test_dry_run_lists_what_is_not_supported() -> None:
    found = check(UNSUPPORTED)
    assert [e.line for e in found] == [9, 10, 11]
    assert "unsupported instruction 'tex.2d.v4.f32.f32'" in found[0].reason
    assert "nearest" in found[2].reason


def test_what_is_not_supported_is_an_error_only_when_reached() -> None:
    assert launch(UNSUPPORTED, "k", 1, 32, [None]).ok
    with pytest.raises(UnsupportedInstructionError, match=r"<ptx>:9:3: unsupported"):
        launch(UNSUPPORTED, "k", 1, 128, [None])
