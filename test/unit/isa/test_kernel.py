"""Every emitted kernel assembles, and what the assembler makes of it is what the table says.

For each generation the kernels of all forms that it has go through ptxas in one module; nvdisasm
then counts the tensor instructions that each became.
"""

from __future__ import annotations

import re
import shutil
import subprocess
from collections import Counter
from pathlib import Path

import pytest
from tilec.isa import TARGETS, TilecError, form, target, warp_forms
from tilec.isa.kernel import ENTRY, kernel
from tilec.isa.sass import execution, executions, sorts_metadata

TENSOR = ("HMMA", "IMMA", "BMMA", "DMMA", "QMMA", "OMMA")
# The other architectures are members of these families, and execute alike.
MACHINES = ["sm_75", "sm_80", "sm_89", "sm_90a", "sm_100a", "sm_120a"]
LIKE_OTHERS = [pytest.param(name, marks=pytest.mark.slow) for name in ("sm_86", "sm_110a")]


def module(found, where, version):
    """All forms' kernels under one header, one entry each."""
    parts = [f".version {version}\n.target {where}\n.address_size 64\n"]
    for number, one in enumerate(found):
        text = kernel(one, where).ptx
        parts.append(text[text.index(".visible") :].replace(ENTRY, f"k{number}"))
    return "".join(parts)


def here(assembler, where):
    """The forms that both the target and the assembler have."""
    found = [one for one in warp_forms().values() if one.min_ptx(where)]
    return [one for one in found if one.min_ptx(where) <= assembler.newest]


@pytest.mark.parametrize("name", [*MACHINES, *LIKE_OTHERS])
def test_machine_code(name, assemblers_for):
    where = TARGETS[name]
    assembler = assemblers_for(where)[-1]
    found = here(assembler, where)
    status, report = assembler.run(module(found, where, assembler.newest), name, "-O1")
    assert status == 0, report
    beside = Path(assembler.path).with_name("nvdisasm")
    nvdisasm = str(beside) if beside.exists() else shutil.which("nvdisasm")
    if nvdisasm is None:
        pytest.skip("no nvdisasm at hand to count instructions with")
    listing = subprocess.run(
        [nvdisasm, "-c", str(assembler.folder / "module.ptx.cubin")],
        capture_output=True,
        text=True,
        check=True,
    ).stdout
    opcodes = {}
    for text in re.split(r"^\s*\.section\s+\.text\.", listing, flags=re.M)[1:]:
        words = re.findall(r"/\*[0-9a-f]{4,}\*/\s+(?:@!?U?P\w+ )?([A-Z0-9]+)", text)
        opcodes[found[int(re.match(r"k(\d+)", text)[1])].ptx] = Counter(words)
    assert len(opcodes) == len(found)
    for one in found:
        how = execution(one, where)
        wanted = {how.opcode: how.count} if how and how.count else {}
        assert {k: v for k, v in opcodes[one.ptx].items() if k in TENSOR} == wanted, one.ptx
        if one.ptx.startswith("mma.sp.sync"):
            ordered = one.ptx.replace("mma.sp.", "mma.sp::ordered_metadata.")
            longer = opcodes[one.ptx].total() > 1.5 * opcodes[ordered].total()
            assert longer == sorts_metadata(one, where), one.ptx


def test_kernels_assemble_where_the_forms_begin(assemblers):
    """At the lowest version of every clause, the module's own `.version` among them."""
    for assembler in assemblers:
        cases = {}
        for found in warp_forms().values():
            for name, version in found.targets.items():
                where = target(name)
                assert kernel(found, where).version == version
                if version <= assembler.newest and assembler.architecture(where):
                    cases.setdefault((where, version), []).append(found)
        assert len(cases) > 15
        for (where, version), found in cases.items():
            text = module(found, where, version)
            status, report = assembler.run(text, assembler.architecture(where))
            assert status == 0, (where, version, report)


def test_selectors_are_written(assemblers):
    found = form(
        "mma.sync.aligned.m16n8k32.row.col.kind::mxf8f6f4.block_scale.scale_vec::1X"
        ".f32.e4m3.e4m3.f32.ue8m0"
    )
    text = kernel(found, target("sm_120a"), selectors={"byte_id_a": 3, "thread_id_b": 2}).ptx
    assert "%sfa0, {3, 0}, %sfb0, {0, 2};" in text
    with pytest.raises(TilecError, match=r"byte_id_a 4 .* out of range; legal: 0, 1, 2, 3"):
        kernel(found, target("sm_120a"), selectors={"byte_id_a": 4})
    with pytest.raises(TilecError, match="no selector 'selector'; it has byte_id_a, thread_id_a"):
        kernel(found, target("sm_120a"), selectors={"selector": 0})


def test_buffers_say_what_the_kernel_reads_and_writes():
    load = kernel(form("ldmatrix.sync.aligned.m8n16.x1.s8.s4"), target("sm_90a"))
    assert [(b.name, b.written, b.shape, b.bits) for b in load.buffers] == [
        ("r", True, (32, 1), 32),
        ("memory", False, (8, 8), 8),
    ]
    store = kernel(form("wmma.store.d.sync.aligned.col.m32n8k16.f16"), target("sm_70"))
    assert [(b.name, b.written, b.shape, b.bits, b.bytes) for b in store.buffers] == [
        ("memory", True, (8, 32), 16, 512),
        ("d", False, (32, 4), 32, 512),
    ]


def test_a_target_without_the_form_is_an_error():
    with pytest.raises(TilecError, match=r"not available on sm_75; .* on sm_80 from PTX 7\.0"):
        kernel(form("mma.sync.aligned.m16n8k16.row.col.f16.f16.f16.f16"), target("sm_75"))


def test_emulation():
    fp8 = form("mma.sync.aligned.m16n8k32.row.col.f32.e4m3.e4m3.f32")
    assert [(e.since, e.opcode, e.emulated) for e in executions(fp8)] == [
        (89, "QMMA", False),
        (90, "HMMA", True),
        (120, "QMMA", False),
    ]
    assert executions(form("movmatrix.sync.aligned.m8n8.trans.b16")) == ()
