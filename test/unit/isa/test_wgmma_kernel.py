"""The emitted kernels of wgmma: ptxas takes them without a note, and operands lie as the ISA says.

ptxas prints a note (C75xx, C76xx) where it puts in a fence or a wait, or serialises.
"""

from __future__ import annotations

import re

import pytest
from tilec.isa import TilecError, form, forms, target
from tilec.isa.kernel import ENTRY, kernel
from tilec.tools import tile_isa

HOPPER = target("sm_90a")
ALL = [found for found in forms().values() if found.family.startswith("wgmma")]
BATCH = 200
MNEMONIC = "wgmma.mma_async.sync.aligned.m64n24k16.f32.f16.f16"


def module(trials, version):
    """The kernels of several forms, with their selectors, under one header."""
    parts = [f".version {version}\n.target sm_90a\n.address_size 64\n"]
    for number, (found, selectors) in enumerate(trials):
        text = kernel(found, HOPPER, selectors=selectors).ptx
        text = text[text.index(".visible") :].replace(ENTRY, f"k{number}")
        parts.append(text.replace("image_", f"image{number}_"))
    return "".join(parts)


def check(assembler, trials):
    """No complaint, no note, and each kernel with its instruction and without a spill."""
    status, report = assembler.run(module(trials, assembler.newest), "sm_90a")
    assert (status, report) == (0, "")


def test_a_drawn_part_assembles(assemblers):
    for assembler in assemblers:
        check(assembler, [(found, {}) for found in ALL[::71]])


@pytest.mark.slow
@pytest.mark.parametrize("start", range(0, len(ALL), BATCH))
def test_every_form_assembles(start, assemblers):
    for assembler in assemblers:
        check(assembler, [(found, {}) for found in ALL[start : start + BATCH]])


def test_every_selector_assembles(assemblers):
    trials = []
    for found in ALL[5::97]:
        for selector in found.selectors:
            trials += [(found, {selector.name: value}) for value in selector.legal[1:]]
    assert len({name for _, chosen in trials for name in chosen}) == 6
    for assembler in assemblers:
        check(assembler, trials)


def test_what_lacks_a_fence_or_a_wait_is_noted(assemblers):
    """So that no note means something: ptxas 13.0 says of each line that it is missing."""
    text = kernel(form(MNEMONIC, "registers"), HOPPER).ptx
    for line in ("wgmma.fence.sync.aligned;", "wgmma.wait_group.sync.aligned 0;"):
        assert line in text
        reports = [one.run(text.replace(line, ""), "sm_90a") for one in assemblers]
        assert any(re.search(r"C75\d\d", report) for _, report in reports)


def address(strides, transposed, size, row, k):
    """Bytes from the start to an element: PTX ISA, matrix layout without a swizzle.

    Core matrices are eight rows of sixteen bytes, along K or, if transposed, along M or N.
    """
    leading, stride = strides
    chunk = 16 // size
    if transposed:
        at = row // chunk * stride + k // 8 * leading
        return at + k % 8 * 16 + row % chunk * size
    at = row // 8 * stride + k // chunk * leading
    return at + row % 8 * 16 + k % chunk * size


def placed(text, name):
    """Where byte b of the buffer goes: source offset to place, from the kernel's own arithmetic."""
    part = text[text.index(f"mov.u32 %at_{name}, image_{name};") :]
    part = part[: part.index("or.b64")]
    lines = int(re.search(r"div\.u32 %chunk, %vector, (\d+);", part)[1])
    stride = int(re.search(r"mul\.lo\.u32 %from, %line, (\d+);", part)[1])
    count = int(re.search(rf"\.b8 image_{name}\[(\d+)\]", text)[1]) // 16
    starts = [int(n) for n in re.findall(r"add\.u32 %vector, %lane, (\d+);", part)]
    assert starts == list(range(0, count, 128))
    return {
        vector % lines * stride + vector // lines * 16 + b: vector * 16 + b
        for vector in range(count)
        for b in range(16)
    }


@pytest.mark.parametrize("transposed", [False, True])
def test_matrices_lie_where_their_descriptor_says(transposed):
    seen = set()
    for found in ALL:
        if transposed and "imm_trans_b" not in {s.name for s in found.selectors}:
            continue
        for name in "ab":
            operand = found.operand(name)
            key = (name, operand.type.name, operand.rows, operand.cols)
            if operand.threads or operand.type.bits < 8 or key in seen:
                continue
            seen.add(key)
            chosen = {f"imm_trans_{name}": 1} if transposed else {}
            text = kernel(found, HOPPER, selectors=chosen).ptx
            word = int(re.search(rf"or\.b64 %{name}0, %{name}0, (0x[0-9a-f]+);", text)[1], 16)
            assert word < 1 << 46  # neither base offset nor swizzle
            strides = (word >> 16 & 0x3FFF) << 4, (word >> 32 & 0x3FFF) << 4
            size = operand.type.bits // 8
            rows, ks = (operand.rows, operand.cols)[:: 1 if name == "a" else -1]
            there = placed(text, name)
            for row in range(rows):
                for k in range(ks):
                    source = (k * rows + row if transposed else row * ks + k) * size
                    at = address(strides, transposed, size, row, k)
                    assert [there[source + b] for b in range(size)] == [*range(at, at + size)]
    assert len(seen) > 60


def test_the_order_of_things():
    text = kernel(form(MNEMONIC, "descriptor"), HOPPER).ptx
    text = text[text.index("{") :]
    order = ("st.shared", "fence.proxy.async", "bar.sync", "wgmma.fence", "wgmma.mma_async.sync",
             "wgmma.commit_group", "wgmma.wait_group", "st.global")  # fmt: skip
    places = [
        text.rindex(word) if word == "st.shared" else text.index(f" {word}") for word in order
    ]
    assert places == sorted(places)
    assert kernel(form(MNEMONIC, "descriptor"), HOPPER).threads == 128


def test_tile_isa_emits_both(capsys):
    for flags, kind in (([], "descriptor"), (["--a", "registers"], "registers")):
        assert tile_isa.main(["emit", MNEMONIC, "--target", "sm_90a", *flags]) == 0
        assert capsys.readouterr().out == kernel(form(MNEMONIC, kind), HOPPER).ptx
        assert tile_isa.main(["show", MNEMONIC, *flags]) == 0
        assert re.search(rf"\n  a +{kind}\n", capsys.readouterr().out)


@pytest.mark.parametrize(
    ("argv", "message"),
    [
        (
            ["--target", "sm_90"],
            "is not available on sm_90; it is available on sm_90a from PTX 8.0",
        ),
        (
            ["--target", "sm_100a"],
            "is not available on sm_100a; it is available on sm_90a from PTX 8.0",
        ),
        (
            ["--target", "sm_120a"],
            "is not available on sm_120a; it is available on sm_90a from PTX 8.0",
        ),
        (["--target", "sm_90a", "--select", "scale_d=2"], "out of range; legal: 1, 0"),
        (["--target", "sm_90a", "--select", "imm_scale_a=0"], "out of range; legal: 1, -1"),
        (["--target", "sm_90a", "--a", "registers", "--select", "imm_trans_a=1"], "it has scale_d"),
        (
            ["--target", "sm_90", "--format", "mlir"],
            "is not available on sm_90; it is available on sm_90a from PTX 8.0",
        ),
    ],
)
def test_mistakes(argv, message, capsys, tmp_path):
    file = tmp_path / "kernel.ptx"
    assert tile_isa.main(["emit", MNEMONIC, *argv, "-o", str(file)]) == 1
    out, err = capsys.readouterr()
    assert (out, file.exists(), err.count("\n")) == ("", False, 1)
    assert err.startswith("error: ")
    assert message in err


def test_a_form_without_a_choice_takes_no_kind():
    with pytest.raises(TilecError, match="does not offer a choice"):
        form("movmatrix.sync.aligned.m8n8.trans.b16", "registers")
