"""tcgen05 and what stands around it: ptxas has what the table has, on every target.

How many there are of each, and which target has which part, is written down once more from the
ISA's syntax and tables; nothing of the table's own code is used.
"""

from __future__ import annotations

import re
from collections import Counter
from itertools import product

import pytest
from tilec.isa import TARGETS, Family, PtxVersion, TilecError, UnknownNameError, forms, target
from tilec.isa.instruction_kernel import instruction_kernel
from tilec.isa.instructions import instructions, named, operand_type
from tilec.isa.kernel import kernel
from tilec.isa.tensor_moves import TensorMove
from tilec.isa.tensor_products import TensorProduct
from tilec.isa.tensor_shapes import KINDS, columns, rows
from tilec.tools import tile_isa

AROUND = [one for one in instructions().values() if one.family.startswith(("tcgen05", "clusterl"))]
PRODUCTS = [one for one in AROUND if isinstance(one, TensorProduct)]
MOVES = [one for one in forms().values() if isinstance(one, TensorMove)]
REGISTERS = {
    "address": "%s", "u16": "%h1", "b64": "%p", "pred": "%q", "b32": "%r1", "tensor address": "%r2",
    "b128": "%z",
}  # fmt: skip
DECLARED = ".reg .b32 %s; .reg .b16 %h<4>; .reg .pred %q; .reg .b128 %z;"
VERSIONS = [PtxVersion(8, n) for n in (5, 6, 7, 8)] + [PtxVersion(9, n) for n in (0, 1, 3, 4, 5)]


def line(one, operands=None):
    """An instruction on any registers."""
    text = one.operands if operands is None else operands
    for name in dict.fromkeys(re.findall(r"[a-z]\w*", text)):
        number = operand_type(name) == "number"
        value = str(one.legal[0]) if number else REGISTERS.get(operand_type(name), "%r1")
        text = re.sub(rf"(?<![%\w]){name}\b", value, text)
    return f"{one.mnemonic} {text};"


def move_line(form):
    names = {"d": "%r", "r": "%r", "t": "%s"}
    pools = {"f32": "%f", "u32": "%r", "s32": "%r"}
    registers = [f"%r{n}" for n in range(form.fragment.registers)]
    listed, offset = "{" + ", ".join(registers) + "}", ", 16" * (form.move.halves > 1)
    if form.is_store:
        return f"{form.ptx} [{names['t']}]{offset}, {listed};"
    extra = ""
    if form.reduction:
        extra = f", {pools[form.reduction.rpartition('.')[2]]}128"
    return f"{form.ptx} {listed}{extra}, [{names['t']}]{offset};"


def undecided(one, version, newest):
    """What the ptxas of CUDA 13.0 asks 8.8 for, as for `.block32`, and the ISA and 13.5 do not."""
    return (
        newest < PtxVersion(9, 1)
        and version < PtxVersion(8, 8)
        and ".block_scale" in one.ptx
        and not re.search(r"scale_vec|block16|block32", one.ptx)
    )


def test_counts():
    collectors, places, groups, sparse = 5, 2, 2, 2
    shifted = 3  # of A in tensor memory: no use, last use, discard
    plain = 4 * groups * sparse * (places * collectors + shifted)
    scaled = (3 + 3 + 4) * groups * sparse * places * collectors
    stationary = 4 * sparse * places * (1 + 4 * 4)
    rubin = 3 * groups * places * 4
    assert Counter(one.family for one in AROUND) == {
        "tcgen05.mma": plain + scaled + stationary + rubin,
        "tcgen05.cp": groups * 6 * 3,
        "tcgen05.shift": groups,
        "tcgen05.alloc": groups * (2 * 2 + 2 + 1),
        "tcgen05.commit": groups * 2 * 3 * 2,
        "tcgen05.fence": 2,
        "tcgen05.wait": 2,
        "clusterlaunchcontrol": 2 * 2 + 1 + 3 + 1,
    }
    repeats = 8 + 8 + 7 + 6 + 8
    assert Counter(one.family for one in MOVES) == {
        Family.TCGEN05_LD: 2 * repeats,
        Family.TCGEN05_ST: 2 * repeats,
        Family.TCGEN05_LD_RED: 2 * 7 * 2 * (4 + 2),
    }


@pytest.mark.parametrize("name", ["sm_90a", "sm_100a", "sm_103a", "sm_107a", "sm_110f"])
def test_ptxas_has_what_the_table_has(name, assemblers):
    """A sample, of the versions that make a difference."""
    versions = (PtxVersion(8, 6), PtxVersion(8, 8), PtxVersion(9, 4))
    _compare([*AROUND, *MOVES][::11], name, assemblers, versions)


@pytest.mark.slow
@pytest.mark.parametrize("name", [name for name, one in TARGETS.items() if one.number >= 80])
def test_ptxas_has_what_the_table_has_in_every_version(name, assemblers):
    _compare([*AROUND, *MOVES], name, assemblers, VERSIONS)


def _compare(every, name, assemblers, versions):
    where = TARGETS[name]
    lines = [(move_line if isinstance(one, TensorMove) else line)(one) for one in every]
    for assembler in assemblers:
        if not assembler.architecture(where):
            continue
        for version in {*versions, assembler.newest}:
            if not where.min_ptx <= version <= assembler.newest:
                continue
            refused = assembler.refusals([DECLARED, *lines], where, version, features=True)
            assert 0 not in refused
            for index, one in enumerate(every, start=1):
                first = one.min_ptx(where)
                has = first is not None and first <= version
                if has == (index in refused) and not undecided(one, version, assembler.newest):
                    raise AssertionError((str(version), lines[index - 1], refused.get(index)))


#: Which of the columns 100a 100f 103a 103f 107a 107f 110a 110f has a form.
MATRIX = {
    "tcgen05.mma.cta_group::1.kind::f16": "Y Y Y Y Y Y Y Y",
    "tcgen05.mma.ws.sp.cta_group::1.kind::tf32": "Y Y Y Y Y Y Y Y",
    "tcgen05.mma.cta_group::2.kind::i8": "Y . . . . . Y .",
    "tcgen05.mma.cta_group::1.kind::mxf8f6f4.block_scale.block32": "Y Y Y Y Y Y Y Y",
    "tcgen05.mma.cta_group::1.kind::mxf8f6f4.block_scale": "Y Y Y Y Y Y Y Y",
    "tcgen05.mma.cta_group::1.kind::mxf8f6f4.block_scale.scale_vec::1X": "Y . Y . Y . Y .",
    "tcgen05.mma.sp.cta_group::1.kind::mxf4nvf4.block_scale.block16": "Y . Y . Y . Y .",
    "tcgen05.mma.cta_group::1.kind::mxf4nvf4.block_scale.block16": "Y Y Y Y Y Y Y Y",
    "tcgen05.shift.cta_group::1.down": "Y . Y . Y . Y .",
    "tcgen05.ld.red.sync.aligned.32x32b.x2.max.f32": ". . Y Y Y Y Y Y",
    "tcgen05.ld.sync.aligned.32x32b.x1.b32": "Y Y Y Y Y Y Y Y",
    "tcgen05.cp.cta_group::1.32x128b.warpx4": "Y Y Y Y Y Y Y Y",
}
COLUMNS = ("100a", "100f", "103a", "103f", "107a", "107f", "110a", "110f")


@pytest.mark.parametrize("mnemonic", MATRIX)
def test_which_target_has_what(mnemonic):
    one = named(mnemonic) or forms()[mnemonic]
    has = ["Y" if one.min_ptx(TARGETS[f"sm_{name}"]) else "." for name in COLUMNS]
    assert has == MATRIX[mnemonic].split()
    for name in ("sm_90a", "sm_100", "sm_107", "sm_120a", "sm_121f"):
        assert one.min_ptx(TARGETS[name]) is None
        with pytest.raises(TilecError, match=rf"is not available on {name}; .* on sm_10"):
            one.require(TARGETS[name])


@pytest.mark.parametrize("group", [1, 2])
def test_operands_that_may_follow(group, assemblers_for):
    """Masks and exponents, where they may stand and where not; a kernel has one `cta_group`."""
    where = TARGETS["sm_100a"]
    assembler = assemblers_for(where, PtxVersion(9, 0))[-1]
    plain = [one for one in PRODUCTS if one.min_ptx(where) and one.group == group][::3]
    masks = [(one, line(one, one.with_lane_mask())) for one in plain]
    scales = [(one, line(one, f"{one.operands}, 3")) for one in plain]
    zeros = [(one, line(one, one.with_zero_columns())) for one in plain]
    lines = [text for _, text in (*masks, *scales, *zeros)]
    refused = assembler.refusals([DECLARED, *lines], where, PtxVersion(9, 0))
    ok = [index + 1 not in refused for index in range(len(lines))]
    assert ok[: len(plain)] == [one.masked for one, _ in masks]
    # ptxas takes an exponent of i8 too, which the ISA does not grant; behind .ws it is a mask.
    assert ok[len(plain) : 2 * len(plain)] == [
        one.stationary or (not one.scaled and one.kind in ("f16", "tf32", "i8"))
        for one, _ in scales
    ]
    assert ok[2 * len(plain) :] == [one.stationary for one, _ in zeros]


WRONG = """\
tcgen05.mma.cta_group::1.kind::mxf4 [%r1], %p, %p, %r1, %q;
tcgen05.mma.cta_group::1.kind::f16.ashift [%r1], %p, %p, %r1, %q;
tcgen05.mma.cta_group::1.kind::f16.ashift.collector::a::fill [%r1], [%r1], %p, %r1, %q;
tcgen05.mma.cta_group::1.kind::mxf4nvf4.block_scale [%r1], %p, %p, %r1, [%r2], [%r3], %q;
tcgen05.mma.cta_group::1.kind::mxf4.block_scale.block16 [%r1], %p, %p, %r1, [%r2], [%r3], %q;
tcgen05.mma.ws.cta_group::2.kind::f16 [%r1], %p, %p, %r1, %q;
tcgen05.mma.ws.cta_group::1.kind::f16.collector::a::fill [%r1], %p, %p, %r1, %q;
tcgen05.mma.ws.cta_group::1.kind::mxf4.block_scale [%r1], %p, %p, %r1, [%r2], [%r3], %q;
tcgen05.mma.cta_group::1.kind::f16.collector::b::fill [%r1], %p, %p, %r1, %q;
tcgen05.mma.cta_group::3.kind::f16 [%r1], %p, %p, %r1, %q;
tcgen05.ld.sync.aligned.16x256b.x64.b32 {%r1}, [%r2];
tcgen05.ld.sync.aligned.32x32b.x1.b32 %r1, [%r2];
tcgen05.ld.sync.aligned.32x32b.x3.b32 {%r1, %r2, %r3}, [%r2];
tcgen05.ld.sync.aligned.32x32b.x2.unpack::16b.b32 {%r1, %r2}, [%r2];
tcgen05.alloc.cta_group::1.sync.aligned.shared::cta.b32 [%s], 48;
tcgen05.alloc.cta_group::1.sync.aligned.shared::cta.b32 [%s], 16;
tcgen05.commit.cta_group::1.mbarrier::arrive::one.shared::cta.b64 [%s];
tcgen05.cp.cta_group::1.64x128b [%r1], %p;
tcgen05.cp.cta_group::1.128x64b [%r1], %p;
tcgen05.fence::after_thread_sync.aligned;
"""


def test_what_is_not_legal(assemblers_for):
    where = TARGETS["sm_100a"]
    assembler = assemblers_for(where, PtxVersion(9, 0))[-1]
    lines = WRONG.splitlines()
    refused = assembler.refusals([DECLARED, *lines], where, PtxVersion(9, 0))
    assert not [text for n, text in enumerate(lines, start=1) if n not in refused]
    for text in lines[:1] + lines[2:10]:
        assert named(text.partition(" ")[0]) is None or "ashift" in text or "collector::b" in text


def test_a_sample_of_kernels_assembles(assemblers_for):
    every = [one for one in AROUND if one.min_ptx(TARGETS["sm_100a"])][::150]
    for one in (*every, named("clusterlaunchcontrol.query_cancel.is_canceled.pred.b128")):
        _assembles(instruction_kernel(one, TARGETS["sm_100a"]), assemblers_for, "sm_100a")
    for one in MOVES[4::70]:
        name = "sm_103a" if one.reduction else "sm_100a"
        _assembles(kernel(one, TARGETS[name]), assemblers_for, name)


@pytest.mark.slow
def test_every_kernel_assembles(assemblers_for):
    for name in ("sm_100a", "sm_107a"):
        for one in (*AROUND, *MOVES):
            if one.min_ptx(TARGETS[name]):
                made = kernel if isinstance(one, TensorMove) else instruction_kernel
                _assembles(made(one, TARGETS[name]), assemblers_for, name)


def _assembles(made, assemblers_for, name):
    status, report = assemblers_for(TARGETS[name], made.version)[-1].run(made.ptx, name)
    assert (status, report) == (0, ""), made.ptx


def shapes(one):
    """Every type, every M, the smallest, a middle and the largest N that a product takes."""
    kind, given = KINDS[one.kind], {"stationary": one.stationary, "sparse": one.sparse}
    wide = list(columns(kind, one.group, **given))
    ns = dict.fromkeys((wide[0], wide[len(wide) // 2], wide[-1]))
    for types, m, n in product(kind.types, rows(kind, one.group, **given), ns):
        yield one.describe(types, m=m, n=n)


def _assemble_shapes(every, name, assemblers_for):
    where = TARGETS[name]
    for group in (1, 2):
        lines = [
            line(one, one.operands.replace("idesc", str(shape.encode())))
            for one in every
            if one.group == group and one.min_ptx(where)
            for shape in shapes(one)
        ]
        assembler = assemblers_for(where)[-1]
        assert len(lines) > 10
        assert not assembler.refusals([DECLARED, *lines], where, assembler.newest, features=True)


BASIC = [one for one in PRODUCTS if not re.search("collector|ashift|scale_vec", one.ptx)]


@pytest.mark.parametrize("name", ["sm_100a", "sm_107f"])
def test_every_type_and_shape_assembles(name, assemblers_for):
    """Of each kind without what says how it is carried out."""
    _assemble_shapes([one for one in BASIC if one.a == "descriptor"], name, assemblers_for)


@pytest.mark.slow
@pytest.mark.parametrize("name", [name for name, one in TARGETS.items() if 100 <= one.number < 120])
def test_every_type_and_shape_of_every_mnemonic_assembles(name, assemblers_for):
    if TARGETS[name].scope:
        _assemble_shapes(PRODUCTS, name, assemblers_for)


def test_one_of_each_kind_is_emitted_and_assembles(assemblers_for, tmp_path):
    """By the command, as a file; elsewhere it is refused, and no file is left."""
    for one in [one for one in BASIC if one.group == 1 and one.a == "tensor"][::5]:
        shape = list(shapes(one))[-1]
        types, size = ".".join((shape.d, shape.a, shape.b)), (f"m={shape.m}", f"n={shape.n}")
        select = [word for value in size for word in ("--select", value)]
        out = tmp_path / "one.ptx"
        argv = ["emit", one.mnemonic, "--a", "tensor", "--types", types, *select, "-o", str(out)]
        assert tile_isa.main([*argv, "--target", "sm_100a"]) == 0
        text = out.read_text()
        assert f"{shape.encode():#x}" in text
        status, report = assemblers_for(TARGETS["sm_100a"])[-1].run(text, "sm_100a")
        assert (status, report) == (0, "")
        out.unlink()
        assert tile_isa.main([*argv, "--target", "sm_120a"]) == 1
        assert not out.exists()


def test_k_of_96_is_of_one_target(assemblers_for, capsys):
    """No assembler sees it: it is a bit of the descriptor."""
    argv = ["emit", "tcgen05.mma.cta_group::1.kind::mxf4.block_scale", "--select", "wide=1"]
    assert tile_isa.main([*argv, "--target", "sm_103a"]) == 0
    text = capsys.readouterr().out
    assert assemblers_for(TARGETS["sm_103a"])[-1].run(text, "sm_103a") == (0, "")
    for name in ("sm_100a", "sm_103f", "sm_110a"):
        assert tile_isa.main([*argv, "--target", name]) == 1
        error = f"K = 96 is not available on {name}; it is available on sm_103a from PTX 8.8"
        assert error in capsys.readouterr().err


def test_where_a_lies_is_said_apart():
    ptx = "tcgen05.mma.cta_group::1.kind::f16"
    assert named(ptx).ptx == f"{ptx}.a::descriptor"
    assert named(ptx, "tensor").operands == "[acc], [a], bdesc, idesc, p"
    assert named(ptx).mnemonic == ptx
    assert named(f"{ptx}.a::tensor", "tensor") is named(ptx, "tensor")
    with pytest.raises(TilecError, match="does not offer a choice"):
        named(f"{ptx}.a::tensor", "descriptor")
    with pytest.raises(UnknownNameError, match="unknown field"):
        named(ptx).describe(rows=3)


def test_sm_107_is_of_the_family_of_sm_100(assemblers_for):
    """Code for the family runs there, and what it has besides is its own."""
    where = target("sm_107a")
    assembler = assemblers_for(where)[-1]
    text = ".version 9.4\n.target {}\n.address_size 64\n.visible .entry k() {{ ret; }}\n"
    for name, runs in (("sm_100f", True), ("sm_103f", True), ("sm_110f", False)):
        status, _ = assembler.run(text.format(name), "sm_107a")
        assert (status == 0) is runs
        assert target(name).runs_on(where) is runs
