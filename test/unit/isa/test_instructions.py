"""What stands around Hopper's matrix instructions: the table agrees with ptxas, and both refuse.

How many there are of each is written down once more from the ISA's syntax; ptxas says of every one,
for every kind of target and every PTX version, whether it is there.
"""

from __future__ import annotations

import json
import re
import subprocess
import sys
from collections import Counter

import pytest
from tilec.isa import TARGETS, PtxVersion, TilecError, forms, target
from tilec.isa.instruction_kernel import instruction_kernel
from tilec.isa.instructions import Instruction, instructions, operand_type
from tilec.isa.kernel import ENTRY
from tilec.tools import tile_isa

ALL = [
    one
    for one in instructions().values()
    if not one.family.startswith(("tcgen05", "clusterlaunchcontrol"))  # test_tensor_instructions.py
]
HOPPER = target("sm_90a")
REGISTERS = {
    "address": "%s", "tensor map": "%p", "parameter": "map", "u16": "%h1", "u64": "%p",
    "b64": "%p", "pred": "%q", "f32": "%f1", "f64": "%d1", "u32": "%r1", "s32": "%r1",
    "b32": "%r1",
}  # fmt: skip
DECLARED = ".reg .b32 %s; .reg .b16 %h<4>; .reg .pred %q;"


def line(one: Instruction, extra: str = "") -> str:
    """The instruction on any registers, global addresses in 64 bits and shared ones in 32."""
    found = {}
    for name in one.names:
        sort = operand_type(name)
        in_global = dict(one.addresses).get(name) == "global"
        found[name] = str(one.legal[0]) if sort == "number" else REGISTERS[sort]
        if in_global:
            found[name] = "%p"
    return one.text(found).replace(";", f"{extra};")


@pytest.fixture(scope="module")
def verdict():
    """The lines that ptxas refuses, by index."""

    def verdict(assembler, lines, where, version):
        return {i - 1 for i in assembler.refusals([DECLARED, *lines], where, version)}

    return verdict


def test_counts():
    groups = 1 + 2  # none, or of CTAs
    # hint; shared::cta, cluster, multicast; tile of five ranks, im2col
    loads = 2 * (1 + 2) * groups * (5 + 3)
    stores = prefetches = 2 * (5 + 3)
    # hint; gathered to shared::cta, cluster, multicast; scattered
    rows = 2 * ((1 + 2) * groups + 1)
    global_ops = 5 + 2 + 2 * 6 + 2 + 3 * 2
    peer_ops = 3 + 4 + 2 + 3
    assert Counter(one.family for one in ALL) == {
        "cp.async.bulk.tensor": loads + stores + rows,
        "cp.reduce.async.bulk.tensor": 8 * stores,
        "cp.async.bulk.prefetch.tensor": prefetches + 2,
        "cp.async.bulk": 2 * 3 + 1 + 2,
        "cp.async.bulk.prefetch": 2,
        "cp.reduce.async.bulk": peer_ops + 2 * global_ops,
        "cp.async.bulk group": 3,
        # init, inval; arrive, drop, with and without expect_tx; noComplete; tx; waits; the rest
        "mbarrier": 2 + 2 * 2 * 2 * 2 * 2 + 2 + 2 * 2 * 2 + 2 * 2 * 2 * 2 + 1 + 2,
        "fence": 4 + 2 * 4 + 1 + 2,
        "wgmma order": 3,
        "barrier.cluster": 6,
        "mapa": 8,
        "distributed shared memory": 2 * 4 + 2 * 2 + 5,
        "st.async": 4 * 3 + 4 * 2,
        "red.async": peer_ops,
        "setmaxnreg": 2,
        "elect": 1,
        "griddepcontrol": 2,
        "createpolicy": 4,
        "tensormap": 2 + 2 * 10 + 4,
    }
    assert not set(instructions()) & set(forms())


@pytest.mark.parametrize(
    "name",
    ["sm_75", "sm_80", "sm_90", "sm_90a", "sm_100a", "sm_103a", "sm_110f", "sm_120", "sm_120a"],
)
def test_ptxas_has_what_the_table_has(name, assemblers, verdict):
    where = TARGETS[name]
    lines = [line(one) for one in ALL]
    first = [one.min_ptx(where) for one in ALL]
    versions = [PtxVersion(7, 4), PtxVersion(7, 8), *(PtxVersion(8, n) for n in range(9))]
    for assembler in assemblers:
        if not assembler.architecture(where):
            continue
        for version in {*versions, assembler.newest}:
            if version < where.min_ptx:
                continue
            missing = {n for n, since in enumerate(first) if since is None or since > version}
            refused = verdict(assembler, lines, where, version)
            assert not [(str(version), lines[n]) for n in refused ^ missing]


def test_what_may_follow(assemblers, verdict):
    found = [one for one in ALL if one.optional]
    assert {one.optional for one in found} == {"count", "hint"}
    lines = [line(one, ", %r1") for one in found]
    for assembler in assemblers:
        assert not verdict(assembler, lines, HOPPER, assembler.newest)
        others = [one for one in ALL if one.family == "mbarrier" and not one.optional]
        more = [line(one, ", %r1") for one in others]
        assert len(verdict(assembler, more, HOPPER, assembler.newest)) == len(more)


def test_constants(assemblers, verdict):
    """The first and last legal one; what lies beside them is refused where ptxas looks at it."""
    for way in ("inc", "dec"):
        one = instructions()[f"setmaxnreg.{way}.sync.aligned.u32"]
        assert (one.legal[0], one.legal[-1], one.legal.step) == (24, 256, 8)
        lines = [one.text({"n": str(n)}) for n in (24, 32, 256, 16, 28, 264)]
        for assembler in assemblers:
            assert verdict(assembler, lines, HOPPER, assembler.newest) == {3, 4, 5}


WRONG = """\
cp.async.bulk.tensor.3d.shared::cluster.global.tile::gather4.mbarrier::complete_tx::bytes [%s], [%p, {%r1, %r1, %r1, %r1, %r1}], [%s];
cp.async.bulk.tensor.2d.shared::cluster.global.tile.mbarrier::complete_tx::bytes.cta_group::3 [%s], [%p, {%r1, %r1}], [%s];
cp.async.bulk.tensor.3d.shared::cluster.global.im2col::w.mbarrier::complete_tx::bytes [%s], [%p, {%r1, %r1, %r1}], [%s], {%h1, %h1};
cp.async.bulk.tensor.6d.shared::cluster.global.tile.mbarrier::complete_tx::bytes [%s], [%p, {%r1, %r1, %r1, %r1, %r1, %r1}], [%s];
cp.async.bulk.tensor.2d.shared::cluster.global.im2col.mbarrier::complete_tx::bytes [%s], [%p, {%r1, %r1}], [%s];
cp.async.bulk.tensor.2d.shared::cta.global.tile.mbarrier::complete_tx::bytes.multicast::cluster [%s], [%p, {%r1, %r1}], [%s], %h1;
cp.async.bulk.tensor.2d.shared::cluster.global.tile.bulk_group [%s], [%p, {%r1, %r1}];
cp.async.bulk.tensor.2d.global.shared::cta.tile.mbarrier::complete_tx::bytes [%p, {%r1, %r1}], [%s], [%s];
cp.async.bulk.tensor.3d.global.shared::cta.im2col.bulk_group [%p, {%r1, %r1, %r1}], [%s];
cp.reduce.async.bulk.tensor.2d.global.shared::cta.exch.tile.bulk_group [%p, {%r1, %r1}], [%s];
cp.async.bulk.shared::cluster.global.mbarrier::complete_tx::bytes [%s], [%p], 24, [%s];
cp.reduce.async.bulk.global.shared::cta.bulk_group.add.f16 [%p], [%s], %r1;
cp.reduce.async.bulk.global.shared::cta.bulk_group.min.f32 [%p], [%s], %r1;
cp.reduce.async.bulk.global.shared::cta.bulk_group.xor.u32 [%p], [%s], %r1;
cp.reduce.async.bulk.shared::cluster.shared::cta.mbarrier::complete_tx::bytes.add.f32 [%s], [%s], %r1, [%s];
mbarrier.arrive.release.gpu.shared::cta.b64 %p, [%s];
mbarrier.arrive.release.cluster.shared::cluster.b64 %p, [%s];
mbarrier.try_wait.parity.acquire.cluster.shared::cluster.b64 %q, [%s], %r1;
mbarrier.test_wait.parity.release.cta.shared::cta.b64 %q, [%s], %r1;
mbarrier.expect_tx.release.cta.shared::cta.b64 [%s], %r1;
mbarrier.init.shared::cluster.b64 [%s], %r1;
fence.proxy.async.local;
fence.proxy.tensormap::generic.acquire.gpu [%p], 64;
fence.mbarrier_init.release.gpu;
barrier.cluster.wait.relaxed;
elect.sync %r1|_, %r1;
mapa.shared::cta.u32 %r1, %r1, %r1;
st.async.weak.shared::cluster.mbarrier::complete_tx::bytes.v4.b64 [%s], {%p, %p, %p, %p}, [%s];
st.async.weak.shared::cluster.mbarrier::complete_tx::bytes.b16 [%s], %h1, [%s];
red.async.relaxed.cluster.shared::cluster.mbarrier::complete_tx::bytes.min.u64 [%s], %p, [%s];
griddepcontrol.arrive;
prefetch.global.tensormap [%p];
wgmma.wait_group.sync.aligned %r1;
ldmatrix.sync.aligned.m8n8.x1.shared::cluster.b16 {%r1}, [%s];
"""  # noqa: E501


def test_what_is_not_legal(assemblers, verdict):
    lines = WRONG.splitlines()
    spelled = {line(one) for one in ALL}
    assert not spelled & set(lines)
    for assembler in assemblers:
        refused = verdict(assembler, lines, HOPPER, assembler.newest)
        assert not [one for n, one in enumerate(lines) if n not in refused]


def test_what_a_mnemonic_says():
    def found(ptx):
        one = instructions()[ptx]
        return one.spaces, one.order, one.visible, one.completion, one.asynchronous

    load = "cp.async.bulk.tensor.2d.shared::cluster.global.tile.mbarrier::complete_tx::bytes"
    assert found(load) == (("shared::cluster", "global"), None, None, "mbarrier", True)
    store = "cp.async.bulk.tensor.2d.global.shared::cta.tile.bulk_group"
    assert found(store) == (("global", "shared::cta"), None, None, "bulk_group", True)
    wait = "mbarrier.try_wait.parity.acquire.cluster.shared::cta.b64"
    assert found(wait) == (("shared::cta",), "acquire", "cluster", None, False)
    assert str(instructions()["wgmma.fence.sync.aligned"].scope) == "warpgroup"
    assert str(instructions()["elect.sync"].scope) == "warp"
    assert instructions()[load].min_ptx(target("sm_89")) is None
    with pytest.raises(TilecError, match=r"is not available on sm_89; .* on sm_90 from PTX 8\.0"):
        instructions()[load].require(target("sm_89"))


def test_every_kernel_assembles(assemblers):
    """At the newest version that any of them needs; the groups of wgmma alone are noted."""
    later = TARGETS["sm_100a"]
    for where, wanted in ((HOPPER, True), (later, False)):
        ones = [one for one in ALL if (one.min_ptx(HOPPER) is not None) is wanted]
        texts = [f".version 8.6\n.target {where}\n.address_size 64\n"]
        for number, one in enumerate(ones):
            made = instruction_kernel(one, where)
            assert made.version == one.min_ptx(where)
            assert made.threads == one.scope.threads
            text = made.ptx[made.ptx.index(".visible") :]
            texts.append(text.replace(ENTRY, f"k{number}").replace("_memory", f"_memory{number}"))
        for assembler in assemblers:
            status, report = assembler.run("".join(texts), str(where))
            assert status == 0, report
            found = re.findall(r"function 'k(\d+)'", report)
            assert {ones[int(number)].family for number in found} <= {"wgmma order"}
            assert "C7508" not in report


@pytest.fixture
def tool(capsys):
    def run(*argv):
        code = tile_isa.main(argv)
        out, err = capsys.readouterr()
        return code, out, err

    return run


def test_tile_isa_lists_shows_and_emits_them(tool, tmp_path):
    _, out, _ = tool("list", "--format", "json")
    listed = [entry["ptx"] for entry in json.loads(out)]
    assert listed[-len(instructions()) :] == list(instructions())
    _, out, _ = tool("list", "--family", "barrier.cluster", "--target", "sm_90")
    assert len(out.splitlines()) == 6
    for one in ALL:
        code, out, _ = tool("show", one.ptx, "--format", "json")
        data = json.loads(out)
        assert (code, data["ptx"], data["scope"]) == (0, one.ptx, str(one.scope))
        assert {operand["name"] for operand in data["operands"]} >= set(one.names)
    _, out, _ = tool("show", "mbarrier.try_wait.parity.acquire.cta.shared::cta.b64")
    assert re.search(r"order +acquire at cta", out)
    assert "p, [bar], parity{, hint};" in out
    _, out, _ = tool("show", "setmaxnreg.dec.sync.aligned.u32")
    assert "number from 24 to 256 in steps of 8" in out
    assert re.search(r"executed by +warpgroup", out)
    for ptx in [one.ptx for one in ALL][::29]:
        one = instructions()[ptx]
        where = HOPPER if one.min_ptx(HOPPER) else TARGETS["sm_100a"]
        code, out, _ = tool("emit", ptx, "--target", str(where))
        assert (code, out) == (0, instruction_kernel(one, where).ptx)


@pytest.mark.parametrize(
    ("argv", "message"),
    [
        (
            ["show", "mbarrier.arrive.gpu"],
            "unknown instruction 'mbarrier.arrive.gpu'; nearest legal",
        ),
        (
            ["show", "elect.sync", "--a", "registers"],
            "does not offer a choice for the location of A",
        ),
        (
            ["emit", "elect.sync", "--target", "sm_80"],
            "elect.sync is not available on sm_80; it is available on sm_90",
        ),
        (
            ["emit", "elect.sync", "--target", "sm_90", "--format", "mlir"],
            "no tile program exercises elect.sync alone",
        ),
        (["emit", "elect.sync", "--target", "sm_90", "--select", "a=1"], "has no selector 'a'"),
        (
            ["list", "--family", "barrier"],
            "unknown family 'barrier'; nearest legal: .*barrier.clust",
        ),
    ],
)
def test_mistakes(tool, argv, message):
    code, out, err = tool(*argv)
    assert (code, out, err.count("\n")) == (1, "", 1)
    assert re.match(f"error: .*{message}", err)


def test_they_are_made_when_asked_for():
    code = (
        "import sys, tilec.isa; from tilec.isa import forms; len(forms());"
        "sys.exit('tilec.isa.instructions' in sys.modules)"
    )
    assert subprocess.run([sys.executable, "-c", code], check=False).returncode == 0
