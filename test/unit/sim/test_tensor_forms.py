"""tcgen05 instructions one word away from legal ones: refused at their line where ptxas refuses.

The words are those of the ISA's syntax (9.7.16), written down here; nothing of the table is used.
What the simulator has not, but knows, it calls not simulated.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest
from tilec import sim
from tilec.isa import TARGETS, PtxVersion, target
from tilec.tools import tile_run

_GROUPS = "cta_group::1 cta_group::2 cta_group::3 -"
_KINDS = " ".join(
    f"kind::{k}" for k in ["f16", "tf32", "f8f6f4", "i8", "mxf8f6f4", "mxf4", "mxf4nvf4", "f32"]
)
_USES = " ".join(
    [*(f"collector::a::{use}" for use in ("fill", "use", "lastuse", "discard", "keep")), "-"]
)
_B_USES = "collector::b0::fill collector::b3::use collector::b4::use collector::a::fill -"
_VECTORS = "scale_vec::1X scale_vec::2X scale_vec::4X block16 block32 block64 -"
_SHAPES = "32x32b 16x64b 16x128b 16x256b 16x32bx2 64x32b"
_COUNTS = "x1 x2 x16 x32 x64 x128 x3 x256 -"
_MOVED = [_SHAPES, _COUNTS, "pack::16b unpack::16b -", "b32 b64 f32", "sync -", "aligned -"]
_COPIED = "128x256b 4x256b 128x128b 64x128b 32x128b 128x64b"
_CASTS = "warpx2::02_13 warpx2::01_23 warpx4 -"
LEGAL: dict[str, list[str]] = {
    "tcgen05.mma.cta_group::1.kind::f16": [_GROUPS, _KINDS, "block_scale -"],
    "tcgen05.mma.sp.cta_group::2.kind::f8f6f4": [_GROUPS, _KINDS],
    "tcgen05.mma.cta_group::1.kind::tf32.collector::a::fill": [_KINDS, _USES],
    "tcgen05.mma.cta_group::1.kind::f16.ashift.collector::a::lastuse": [_KINDS, _USES, "ashift -"],
    "tcgen05.mma.cta_group::2.kind::mxf4.block_scale.block32": [_GROUPS, _KINDS, _VECTORS],
    "tcgen05.mma.cta_group::1.kind::mxf4nvf4.block_scale.block16": [_KINDS, _VECTORS],
    "tcgen05.mma.sp.cta_group::1.kind::mxf8f6f4.block_scale.block32": [_KINDS, _VECTORS],
    "tcgen05.mma.ws.cta_group::1.kind::i8": [_GROUPS, _KINDS],
    "tcgen05.mma.ws.sp.cta_group::1.kind::f16.collector::b0::fill": [_KINDS, _B_USES],
    "tcgen05.ld.sync.aligned.32x32b.x2.b32": _MOVED,
    "tcgen05.ld.sync.aligned.16x64b.x2.pack::16b.b32": _MOVED,
    "tcgen05.ld.sync.aligned.16x256b.x32.b32": [_SHAPES, _COUNTS],
    "tcgen05.st.sync.aligned.16x128b.x2.unpack::16b.b32": _MOVED,
    "tcgen05.ld.red.sync.aligned.32x32b.x2.max.abs.NaN.f32": [
        _SHAPES, _COUNTS, "min max add", "abs -", "NaN -", "f32 u32 s32 f16",
    ],
    "tcgen05.cp.cta_group::1.32x128b.warpx4": [_GROUPS, _COPIED, _CASTS],
    "tcgen05.cp.cta_group::1.64x128b.warpx2::02_13": [_COPIED, _CASTS],
    "tcgen05.cp.cta_group::2.128x256b.b8x16.b4x16_p64": [
        _COPIED, "b8x16 -", "b6x16_p32 b4x16_p64 -",
    ],
    "tcgen05.commit.cta_group::1.mbarrier::arrive::one.shared::cluster.b64": [
        _GROUPS, "mbarrier::arrive::one -", "shared::cluster shared::cta -", "b64 b32",
    ],
    "tcgen05.alloc.cta_group::1.sync.aligned.shared::cta.b32": [
        _GROUPS, "sync -", "aligned -", "shared::cta shared::cluster -", "b32 b64",
    ],
    "tcgen05.dealloc.cta_group::2.sync.aligned.b32": [_GROUPS, "sync -", "aligned -", "b32 b64"],
    "tcgen05.relinquish_alloc_permit.cta_group::1.sync.aligned": [_GROUPS, "sync -", "aligned -"],
    "tcgen05.wait::ld.sync.aligned": ["wait::ld wait::st wait::mma", "sync -", "aligned -"],
    "tcgen05.fence::before_thread_sync": [
        "fence::before_thread_sync fence::after_thread_sync fence::thread_sync",
    ],
    "tcgen05.shift.cta_group::1.down": [_GROUPS, "down up -"],
}  # fmt: skip
"""Legal mnemonics, and which words may stand instead of one of theirs; `-` is none."""

OTHERS = """\
tcgen05.mma.cta_group::1.kind::f16 [%w1], %e1, %e2, %w2;
tcgen05.mma.cta_group::1.kind::f16 [%e1], %e1, %e2, %w2, %q1;
tcgen05.mma.cta_group::1.kind::f16 [%w1], %w1, %e2, %w2, %q1;
tcgen05.mma.cta_group::1.kind::f16 [%w1], %e1, [%w1], %w2, %q1;
tcgen05.mma.cta_group::1.kind::f16 [%w1], %e1, %e2, %e1, %q1;
tcgen05.mma.cta_group::1.kind::f16 [%w1], %e1, %e2, %w2, %w1;
tcgen05.mma.cta_group::1.kind::f16 [%w1], %e1, %e2, %w2, {%w1, %w1, %w1}, %q1;
tcgen05.mma.cta_group::2.kind::f16 [%w1], %e1, %e2, %w2, {%w1, %w1, %w1, %w1}, %q1;
tcgen05.mma.cta_group::1.kind::f16 [%w1], %e1, %e2, %w2, %q1, 16;
tcgen05.mma.cta_group::1.kind::f16 [%w1], %e1, %e2, %w2, %q1, 15;
tcgen05.mma.cta_group::1.kind::f8f6f4 [%w1], %e1, %e2, %w2, %q1, 1;
tcgen05.mma.cta_group::1.kind::mxf4.block_scale [%w1], %e1, %e2, %w2, [%w3], %q1;
tcgen05.mma.sp.cta_group::1.kind::f16 [%w1], %e1, %e2, %w2, %q1;
tcgen05.mma.cta_group::1.kind::f16.ashift [%w1], %e1, %e2, %w2, %q1;
tcgen05.ld.sync.aligned.32x32b.x2.b32 {%w1, %w2, %w3}, [%w4];
tcgen05.ld.sync.aligned.32x32b.x1.b32 %w1, [%w4];
tcgen05.ld.sync.aligned.16x32bx2.x1.b32 {%w1}, [%w4];
tcgen05.ld.sync.aligned.16x32bx2.x1.b32 {%w1}, [%w4], %w5;
tcgen05.st.sync.aligned.32x32b.x2.b32 [%w4], {%w1};
tcgen05.alloc.cta_group::1.sync.aligned.shared::cta.b32 [%w1], 48;
tcgen05.alloc.cta_group::1.sync.aligned.shared::cta.b32 [%w1], 512;
tcgen05.alloc.cta_group::1.sync.aligned.shared::cta.b32 [%w1], 1024;
tcgen05.dealloc.cta_group::1.sync.aligned.b32 %w1, 33;
tcgen05.dealloc.cta_group::1.sync.aligned.b32 %w1, 64;
tcgen05.wait::ld.sync.aligned %w1;
tcgen05.commit.cta_group::1.mbarrier::arrive::one.shared::cluster.b64 [%w1], %h1;
tcgen05.commit.cta_group::1.mbarrier::arrive::one.shared::cluster.multicast::cluster.b64 [%w1], %h1;
tcgen05.commit.cta_group::1.mbarrier::arrive::one.shared::cluster.multicast::cluster.b64 [%w1], %w1;
tcgen05.ld.sync.aligned.32x32b.x2.b32 {%e1, %e2}, [%w4];
tcgen05.ld.sync.aligned.32x32b.x2.b32 {_, %w2}, [%w4];
tcgen05.ld.sync.aligned.32x32b.x2.b32 {%h1, %h2}, [%w4];
tcgen05.ld.sync.aligned.32x32b.x2.b32 {%f1, %f2}, [%w4];
tcgen05.ld.sync.aligned.32x32b.x2.b32 {%w1, %w2}, [%e4];
tcgen05.st.sync.aligned.32x32b.x1.b32 [%w4], {%e1};
tcgen05.st.sync.aligned.32x32b.x1.b32 [%w4], {1};
tcgen05.alloc.cta_group::1.sync.aligned.shared::cta.b32 [%w1], %e1;
tcgen05.alloc.cta_group::1.sync.aligned.shared::cta.b32 [%e1], %w1;
tcgen05.dealloc.cta_group::1.sync.aligned.b32 %e1, 32;
tcgen05.dealloc.cta_group::1.sync.aligned.b32 %w1, %w2;
tcgen05.mma.cta_group::1.kind::f16 [%w1], %e1, %e2, %w2, {%e1, %e1, %e1, %e1}, %q1;
tcgen05.mma.cta_group::1.kind::f16 [%w1], [%e1], %e2, %w2, %q1;
tcgen05.mma.cta_group::1.kind::f16 [%w1], %e1, 7, %w2, %q1;
tcgen05.mma.cta_group::1.kind::f16 [%w1], %e1, %e2, %w2, 1;
tcgen05.mma.ws.cta_group::1.kind::f16 [%w1], %e1, %e2, %w2, %q1, %e3;
tcgen05.mma.ws.cta_group::1.kind::f16 [%w1], %e1, %e2, %w2, %q1, %w3;
tcgen05.cp.cta_group::1.128x256b [%e1], %e2;
tcgen05.cp.cta_group::1.128x256b [%w1], %w2;
""".splitlines()
"""Legal and illegal operands."""


DECLARED = ".reg .b32 %w<301>; .reg .b64 %e<9>; .reg .b16 %h<9>; .reg .pred %q<9>;"


def neighbours(mnemonic: str, classes: list[str]) -> Iterator[str]:
    """The mnemonic, with one word replaced, left out or put behind its opcode's words."""
    yield mnemonic
    words = mnemonic.split(".")
    for members in map(str.split, classes):
        at = next((n for n, word in enumerate(words) if word in members), None)
        for other in members:
            new = [] if other == "-" else [other]
            if at is not None:
                yield ".".join((*words[:at], *new, *words[at + 1 :]))
            elif new:
                yield ".".join((*words, *new))


def registers(words: list[str]) -> str:
    """As many registers as a shape and its repetitions have; some for what has none."""
    shape = next((word for word in words if re.fullmatch(r"\d+x\d+bx?2?", word)), "32x32b")
    count = next((int(word[1:]) for word in words if re.fullmatch(r"x\d+", word)), 1)
    each = {"16x128b": 2, "16x256b": 4}.get(shape, 1)
    return "{" + ", ".join(f"%w{n}" for n in range(min(each * count, 256))) + "}"


def line(mnemonic: str) -> str:
    """An instruction with the operands that its words call for."""
    _, what, *words = mnemonic.split(".")
    half = ", 16" * ("16x32bx2" in words)
    if what == "mma":
        a = "[%w9]" if "ashift" in words else "%e1"
        meta = ", [%w8]" * ("sp" in words)
        scales = ", [%w6], [%w7]" * ("block_scale" in words)
        operands = f" [%w1], {a}, %e2{meta}, %w2{scales}, %q1"
    elif what == "ld":
        pool = {"f32": "%f1", "u32": "%w300", "s32": "%w300"}.get(words[-1], "%w300")
        reduced = f", {pool}" * (words[0] == "red")
        operands = f" {registers(words)}{reduced}, [%w1]{half}"
    else:
        operands = {
            "st": f" [%w1]{half}, {registers(words)}", "cp": " [%w1], %e1", "alloc": " [%w1], 64",
            "dealloc": " %w1, 64", "commit": " [%w1]", "shift": " [%w1]",
        }.get(what, "")  # fmt: skip
    return f"{mnemonic}{operands};"


LINES = list(
    dict.fromkeys(
        [*(line(n) for one, classes in LEGAL.items() for n in neighbours(one, classes)), *OTHERS]
    )
)


def refused(lines: list[str], name: str, version: PtxVersion) -> dict[int, str]:
    """What the simulator says of each instruction that it refuses, by index.

    What it has but does not simulate is none of them.
    """
    head = f".version {version}\n.target {name}\n.address_size 64\n.visible .entry k() {{\n"
    head += f"{DECLARED} .reg .f32 %f<9>;\n"
    first = head.count("\n") + 1
    found = sim.check(head + "\n".join(lines) + "\nret;\n}\n")
    return {e.line - first: e.reason for e in found if "not simulated" not in e.reason}


def compared(lines: list[str], name: str, version: str, assemblers_for: Any) -> None:
    """Hold what the simulator refuses against what ptxas refuses."""
    on, of = target(name), PtxVersion.parse(version)
    assembler = assemblers_for(on, of)[-1]
    differ = {}
    for pair in (True, False):  # a kernel has one `cta_group`
        some = [text for text in lines if ("cta_group::2" in text) == pair]
        ours, theirs = refused(some, name, of), assembler.refusals([DECLARED, *some], on, of)
        for index, text in enumerate(some):
            if (index in ours) != (index + 1 in theirs):
                differ[text] = (ours.get(index), theirs.get(index + 1))
    assert not differ


@pytest.mark.parametrize(("name", "step"), [("sm_100a", 3), ("sm_100f", 17), ("sm_120a", 59)])
def test_ptxas_refuses_the_same(
    name: str, step: int, assemblers_for: Callable[..., list[Any]]
) -> None:
    compared([*LINES[: -len(OTHERS) : step], *OTHERS[:: step // 3]], name, "9.0", assemblers_for)


@pytest.mark.slow
@pytest.mark.parametrize("version", ["8.6", "8.8", "9.0", "9.4"])
@pytest.mark.parametrize("name", [name for name, one in TARGETS.items() if one.number >= 90])
def test_ptxas_refuses_the_same_on_every_target(
    name: str, version: str, assemblers_for: Callable[..., list[Any]]
) -> None:
    if PtxVersion.parse(version) >= TARGETS[name].min_ptx:
        compared(LINES, name, version, assemblers_for)


#: Products, types, extents and bits 0 to 3 of a constant instruction descriptor, and what of it is
#: refused. Codes of types and places of bits are those of the ISA, 9.7.16.4.
DESCRIBED: list[tuple[str, int, str]] = [
    ("cta_group::1.kind::f16", 1 << 4 | 16 << 17 | 8 << 24, ""),
    ("cta_group::1.kind::f16", 1 << 4 | 3 << 17 | 8 << 24, ""),
    ("cta_group::1.kind::f16", 1 << 4 | 33 << 17 | 8 << 24, "N = 264 is not legal"),
    ("cta_group::1.kind::f16", 1 << 4 | 16 << 17 | 16 << 24, "M = 256 is not legal"),
    ("cta_group::2.kind::f16", 1 << 4 | 16 << 17 | 16 << 24, ""),
    ("cta_group::2.kind::f16", 1 << 4 | 16 << 17 | 4 << 24, "M = 64 is not legal"),
    ("cta_group::2.kind::f16", 1 << 4 | 3 << 17 | 8 << 24, "N = 24 is not legal"),
    ("cta_group::1.kind::f16", 1 << 4 | 1 << 7 | 16 << 17 | 8 << 24, "f32 bf16 f16"),
    ("cta_group::1.kind::f16", 1 << 7 | 1 << 10 | 16 << 17 | 8 << 24, "f16 bf16 bf16"),
    ("cta_group::1.kind::f16", 1 << 2 | 1 << 4 | 16 << 17 | 8 << 24, "not .sp"),
    ("cta_group::1.kind::f8f6f4", 1 << 4 | 5 << 7 | 3 << 10 | 1 << 17 | 4 << 24, ""),
    ("cta_group::1.kind::f8f6f4", 1 << 4 | 7 << 7 | 16 << 17 | 8 << 24, "A"),
    ("cta_group::1.kind::i8", 2 << 4 | 1 << 7 | 5 << 17 | 8 << 24, "N = 40 is not legal"),
]  # fmt: skip


@pytest.mark.parametrize(("words", "descriptor", "says"), DESCRIBED)
def test_a_constant_instruction_descriptor(words: str, descriptor: int, says: str) -> None:
    """Refused where the ISA's tables have no such types and extents, which ptxas does not see."""
    text = f"tcgen05.mma.{words} [%w1], %e1, %e2, {descriptor}, %q1;"
    found = refused([text], "sm_100a", PtxVersion(9, 0))
    assert (says in found[0] and words in found[0]) if says else not found


@pytest.mark.parametrize(
    ("name", "says"),
    [("sm_100a", "does not exist on sm_100a; it needs sm_103a"), ("sm_103a", "is not simulated")],
)
def test_k_of_96(name: str, says: str) -> None:
    """A bit of the descriptor, which ptxas does not look at; legal on sm_103a alone."""
    described = 1 << 7 | 1 << 10 | 16 << 17 | 1 << 23 | 8 << 24 | 1 << 31
    text = "tcgen05.mma.cta_group::1.kind::mxf4.block_scale"
    line = f"{text} [%w1], %e1, %e2, {described}, [%w2], [%w3], %q1;"
    source = f".version 9.0\n.target {name}\n.address_size 64\n.visible .entry k() {{\n"
    (found,) = sim.check(f"{source}{DECLARED}\n{line}\nret;\n}}\n")
    assert found.line == 6
    assert says in found.reason


def test_what_is_refused_says_where_and_what_is_legal(tmp_path: Path, capsys: Any) -> None:
    """By the command, too, which prints no traceback."""
    source = tmp_path / "k.ptx"
    for on, mnemonic, says in (
        (
            "sm_100a",
            "tcgen05.mma.cta_group::1.kind::f17",
            "nearest legal: tcgen05.mma.cta_group::1.kind::f16,",
        ),
        (
            "sm_90a",
            "tcgen05.mma.cta_group::1.kind::f16",
            "does not exist on sm_90a; it needs sm_100a (PTX 8.6)",
        ),
        (
            "sm_100f",
            "tcgen05.mma.cta_group::1.kind::i8",
            "does not exist on sm_100f; it needs sm_100a (PTX 8.6), sm_101a",
        ),
        ("sm_110a", "tcgen05.mma.cta_group::1.kind::f16.ashift", "takes A in tensor memory"),
    ):
        source.write_text(
            f".version 9.0\n.target {on}\n.address_size 64\n.visible .entry k() {{\n{DECLARED}\n"
            f"  {mnemonic} [%w1], %e1, %e2, %w2, %q1;\n  ret;\n}}\n"
        )
        assert tile_run.main([str(source), "--grid", "1", "--block", "32"]) == 1
        error = capsys.readouterr().err
        assert error.startswith(f"error: {source}:6:3: "), error
        assert says in error
        assert "Traceback" not in error


def test_a_kernel_is_of_one_group_of_ctas(assemblers_for: Callable[..., list[Any]]) -> None:
    """What a function does that it calls counts, too; ptxas refuses it, without a line."""
    text = """.version 9.0
.target sm_100a
.address_size 64
.func f() { tcgen05.relinquish_alloc_permit.cta_group::2.sync.aligned; ret; }
.visible .entry k() {
tcgen05.relinquish_alloc_permit.cta_group::1.sync.aligned;
call f; ret; }
"""
    (found,) = sim.check(text)
    assert {found.line, int(re.findall(r"line (\d+)", found.reason)[0])} == {4, 6}
    assert "all of a kernel are of one" in found.reason
    status, report = assemblers_for(target("sm_100a"))[-1].run(text, "sm_100a")
    assert status
    assert "that is not allowed" in report
    assert not sim.check(text.replace("group::2", "group::1"))
