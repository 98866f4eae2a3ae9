"""wgmma: the table has what its grammar spells out, and ptxas takes it and refuses its neighbours.

The forms are written down once more from PTX ISA, "wgmma.mma_async" and "wgmma.mma_async.sp".
"""

from __future__ import annotations

import subprocess
import sys
from itertools import product

import pytest
from tilec.isa import (
    TARGETS,
    ExecutionScope,
    Product,
    PtxVersion,
    Storage,
    TilecError,
    UnknownNameError,
    form,
    forms,
    forms_of,
    instruction,
    target,
    warp_forms,
)
from tilec.isa.sass import executions
from tilec.isa.spellings import spellings
from tilec.isa.table import current

HOPPER = target("sm_90a")
EIGHTS = range(8, 257, 8)
FEW = [8, 16, 24, 32, *range(48, 257, 16)]
ALL = [found for found in forms().values() if found.scope is ExecutionScope.WARPGROUP]


def grammar():
    """Mnemonic: (first version, registers of D, has scales, has trans)."""
    for sparse in (False, True):
        head = f"wgmma.mma_async{'.sp' * sparse}.sync.aligned.m64"
        twice = 2 if sparse else 1
        old = "8.2" if sparse else "8.0"
        for n in EIGHTS:
            words, halves = n // 2, n // 4
            for k, types, count, trans in (
                (16, "f16.f16.f16", halves, True),
                (16, "f32.f16.f16", words, True),
                (16, "f32.bf16.bf16", words, True),
                (8, "f32.tf32.tf32", words, False),
                *(
                    (32, f"{d}.{a}.{b}", halves if d == "f16" else words, False)
                    for d, a, b in product(("f16", "f32"), ("e4m3", "e5m2"), ("e4m3", "e5m2"))
                ),
            ):
                yield f"{head}n{n}k{k * twice}.{types}", (old, count, True, trans)
        for n in FEW:
            for sat, a, b in product(("", ".satfinite"), ("s8", "u8"), ("s8", "u8")):
                since = old if a == b else "8.4"
                yield f"{head}n{n}k{32 * twice}{sat}.s32.{a}.{b}", (since, n // 2, False, False)
            if not sparse:
                yield f"{head}n{n}k256.s32.b1.b1.and.popc", ("8.0", n // 2, False, False)


GRAMMAR = dict(grammar())


def by_descriptor(found):
    return found.operand("a").storage is Storage.SHARED


def test_every_mnemonic_with_both_kinds_of_a():
    assert (sum(".sp." not in m for m in GRAMMAR), sum(".sp." in m for m in GRAMMAR)) == (546, 528)
    assert len(ALL) == 2148
    for kind, in_memory in (("descriptor", True), ("registers", False)):
        mine = [found for found in ALL if found.a_kind == kind]
        assert sorted(found.mnemonic() for found in mine) == sorted(GRAMMAR)
        assert all(by_descriptor(found) == in_memory for found in mine)


def test_versions_registers_and_other_operands():
    for found in ALL:
        since, registers, scales, trans = GRAMMAR[found.mnemonic()]
        assert {t: str(v) for t, v in found.targets.items()} == {"sm_90a": since}
        assert found.operand("d").registers == found.operand("c").registers == registers
        assert found.operand("c").tied == "d"
        assert found.operand("a").registers == (1 if by_descriptor(found) else 4)
        names = [selector.name for selector in found.selectors]
        wanted = ["selector"] * (found.sparsity is not None) + ["scale_d"]
        wanted += ["imm_scale_a", "imm_scale_b"] * scales
        wanted += ["imm_trans_a"] * (trans and by_descriptor(found)) + ["imm_trans_b"] * trans
        assert names == wanted
        if found.sparsity:
            narrow = found.operand("a").type.bits == 8
            assert found.sparsity.selectors == ((0,) if narrow else (0, 1))
            assert found.operand("a").cols * 2 == found.shape.k


def test_a_mnemonic_stands_for_two_forms_and_a_key_for_one():
    for mnemonic in list(GRAMMAR)[::31]:
        both = current().named(mnemonic)
        assert [found.a_kind for found in both] == ["descriptor", "registers"]
        for found in both:
            assert form(found.ptx) is form(mnemonic, found.a_kind) is found
            assert instruction(mnemonic, found.a_kind) == (found, "")
        with pytest.raises(TilecError, match=f"give one of {both[0]}, {both[1]}"):
            form(mnemonic)
    with pytest.raises(UnknownNameError, match="place of A 'tensor'; legal: descriptor, registers"):
        form(mnemonic, "tensor")
    with pytest.raises(TilecError, match="does not offer a choice for the location of A"):
        form("mma.sync.aligned.m16n8k8.row.col.f32.tf32.tf32.f32", "registers")


def test_satfinite_may_stand_at_the_end():
    early = "wgmma.mma_async.sync.aligned.m64n48k32.satfinite.s32.s8.u8"
    late = "wgmma.mma_async.sync.aligned.m64n48k32.s32.s8.u8.satfinite"
    assert form(late, "registers") is form(early, "registers")
    assert form(f"{late}.a::registers") is form(early, "registers")
    assert late in spellings(form(early, "registers"))


def test_products_of_a_shape():
    found = current().of_shape("m64n40k64")
    assert {f.ptx for f in found} == {f.ptx for f in ALL if ".m64n40k64." in f.ptx} != set()
    small = [f for f in forms_of(Product) if str(f.shape) == "m16n8k16"]
    assert list(current().of_shape("m16n8k16")) == small != []
    assert set(ALL) < set(forms_of(Product))
    assert not {f.ptx for f in ALL} & set(warp_forms())


def test_machine_code():
    names = {(f.operand("a").type.name, e.opcode) for f in ALL for e in executions(f)}
    assert names == {
        *product(("f16", "bf16", "tf32"), ("HGMMA",)),
        *product(("e4m3", "e5m2"), ("QGMMA",)),
        *product(("s8", "u8"), ("IGMMA",)),
        ("b1", "BGMMA"),
    }


def test_programs_without_it_do_not_load_it():
    code = (
        "import sys, tilec.isa as isa; isa.warp_forms(); isa.forms_of(isa.Mma);"
        "isa.form('mma.sync.aligned.m16n8k8.row.col.f32.tf32.tf32.f32');"
        "from tilec.layout import fragment; fragment('m16n8k8', 'a', 'tf32');"
        "sys.exit('tilec.isa.wgmma' in sys.modules)"
    )
    assert subprocess.run([sys.executable, "-c", code], check=False).returncode == 0


# ptxas


def test_ptxas_takes_every_form_from_its_version_on(assemblers, instruction_line):
    lines = [instruction_line(found) for found in ALL]
    for assembler in assemblers:
        for version in (PtxVersion(8, minor) for minor in range(5)):
            refused = assembler.refusals(lines, HOPPER, version, features=True)
            early = {n for n, one in enumerate(ALL) if one.require(HOPPER) > version}
            assert set(refused) == early
        assert not assembler.refusals(lines, HOPPER, assembler.newest)


@pytest.mark.parametrize("name", ["sm_90", "sm_100a", "sm_103a", "sm_120a"])
def test_no_other_target_has_any(name, assemblers, instruction_line):
    assert all(found.min_ptx(TARGETS[name]) is None for found in ALL)
    with pytest.raises(TilecError, match=f"is not available on {name}; .* on sm_90a from PTX 8.0"):
        ALL[0].require(TARGETS[name])
    drawn = [instruction_line(found) for found in ALL[::17]]
    for assembler in assemblers:
        refused = assembler.refusals(drawn, TARGETS[name], assembler.newest, features=True)
        assert len(refused) == len(drawn)


def test_ptxas_takes_every_spelling_and_selector(assemblers, instruction_line):
    lines = []
    for found in ALL[::7]:
        for selector in found.selectors:
            for value in selector.legal:
                lines.append(instruction_line(found, selectors={selector.name: value}))
        operands = instruction_line(found).split(" ", 1)[1]
        lines += [f"{spelling} {operands}" for spelling in spellings(found)]
    assert len(lines) > 1000
    for assembler in assemblers:
        assert not assembler.refusals(lines, HOPPER, assembler.newest)


def neighbours(found):
    """Mnemonics and operand lists one step away from a legal one."""
    name, shape = found.mnemonic(), found.shape
    types = [found.operand(one).type.name for one in "dab"]
    for n in (0, 4, 12, 40, 56, 104, 256, 264):
        yield name.replace(f".{shape}.", f".m64n{n}k{shape.k}.")
    for k in (shape.k // 2, shape.k * 2):
        yield name.replace(f".{shape}.", f".m64n{shape.n}k{k}.")
    yield name.replace(".m64", ".m16")
    written = ".".join(types)
    for other in ("f16", "bf16", "tf32", "f32", "e4m3", "e2m1", "s8", "u8", "s4", "b1", "s32"):
        for at in range(3):
            yield name.replace(written, ".".join((*types[:at], other, *types[at + 1 :])))
    if not found.satfinite:  # which ptxas takes twice
        yield f"{name}.satfinite"
    yield name.replace(".sync", ".sp::ordered_metadata.sync").replace(".sp.sp::", ".sp::")
    yield name.replace(".sp.", ".") if ".sp." in name else name.replace("async", "async.sp")
    yield name.replace(".and.", ".xor.")


def test_the_table_and_ptxas_refuse_the_neighbours(assemblers, instruction_line):
    legal = {one for found in ALL for one in (found.mnemonic(), *spellings(found))}
    cases = {}
    for found in ALL[::41]:
        operands = instruction_line(found).split(" ", 1)[1]
        cases |= {miss: f"{miss} {operands}" for miss in neighbours(found) if miss not in legal}
    assert len(cases) > 1000
    for miss in list(cases)[:: len(cases) // 25]:
        with pytest.raises(UnknownNameError, match="nearest legal: wgmma"):
            form(miss)
    for assembler in assemblers:
        refused = assembler.refusals(list(cases.values()), HOPPER, assembler.newest)
        assert not [one for n, one in enumerate(cases) if n not in refused]


def test_ptxas_counts_the_same_registers_and_selectors(assemblers, instruction_line):
    lines = []
    for found in ALL[::23]:
        for name in ("d",) if by_descriptor(found) else ("d", "a"):
            count = found.operand(name).registers
            for other in (count - 1, count + 1):
                if other:
                    lines.append(instruction_line(found, counts={name: other}))
        for selector in found.selectors:
            if selector.name != "scale_d":
                lines.append(instruction_line(found, selectors={selector.name: 2}))
        # One operand more than the form has.
        lines.append(instruction_line(found).replace(";", ", 0;"))
    for assembler in assemblers:
        refused = assembler.refusals(lines, HOPPER, assembler.newest)
        assert not [line for n, line in enumerate(lines) if n not in refused]
