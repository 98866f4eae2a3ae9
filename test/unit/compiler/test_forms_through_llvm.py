"""Every form of the table, on every target that has it first, goes through LLVM to ptxas.

The PTX must hold the form's mnemonic and the version that the table says, and one of the installed
assemblers must take it.
"""

from __future__ import annotations

import re
from collections import defaultdict
from collections.abc import Iterator

import pytest
from tilec.backend.cubin import AssemblerError, assemble, find_ptxas
from tilec.backend.ptx import forms_used, ptx_version, to_ptx
from tilec.isa import Form, PtxVersion, Target, TilecError, target, warp_forms
from tilec.isa.llvm import Call, call

HEADER = 'target triple = "nvptx64-nvidia-cuda"\n'


def _function(name: str, made: Call) -> str:
    """A kernel that makes the call on its own arguments and stores what comes out."""
    parameters = ", ".join(
        f"{value.type} %a{i}" for i, value in enumerate(made.arguments) if not value.constant
    )
    arguments = ", ".join(
        f"{value.type} {0 if value.constant else f'%a{i}'}"
        for i, value in enumerate(made.arguments)
    )
    callee = (
        f"@{made.intrinsic}"
        if made.intrinsic
        else f'asm sideeffect "{made.assembly.replace(chr(34), "")}", "{made.constraints}"'
    )
    keep = made.result_type != "void"
    lines = [f"define ptx_kernel void @{name}(ptr addrspace(1) %out, {parameters}) {{"]
    lines.append(
        f"  {'%r = ' if keep else ''}call {made.result_type} {callee}({arguments}) convergent"
    )
    if keep:
        lines.append(f"  store {made.result_type} %r, ptr addrspace(1) %out")
    return "\n".join([*lines, "  ret void", "}"])


def _first_target(form: Form) -> Target:
    """The earliest target that has the form."""
    return target(min((s.target for s in form.since), key=lambda n: int(re.sub(r"\D", "", n))))


def _batches() -> Iterator[tuple[Target, PtxVersion, list[Form]]]:
    found: dict[tuple[Target, PtxVersion], list[Form]] = defaultdict(list)
    for form in warp_forms().values():
        first = _first_target(form)
        version = form.min_ptx(first)
        assert version
        found[first, version].append(form)
    for (first, version), together in found.items():
        yield first, version, together


BATCHES = list(_batches())


def _module(together: list[Form], on: Target) -> str:
    calls = [call(form, target=on) for form in together]
    declared = sorted({c.declaration for c in calls if c.intrinsic})
    functions = [_function(f"k{i}", made) for i, made in enumerate(calls)]
    return HEADER + "\n".join([*declared, *functions])


@pytest.mark.parametrize(
    ("on", "version", "together"), BATCHES, ids=[f"{t}-ptx{v}" for t, v, _ in BATCHES]
)
def test_forms(on: Target, version: PtxVersion, together: list[Form]) -> None:
    ir = _module(together, on)
    assert set(together) <= set(forms_used(ir))
    assert ptx_version(ir, on) == version
    ptx = to_ptx(ir, on, level=1)
    assert f".version {version}\n.target {on}\n" in ptx
    for form in together:
        assert form.mnemonic("shared") in ptx or form.ptx in ptx
    try:
        find_ptxas(on)
    except AssemblerError:
        return
    assert len(assemble(ptx, on).resources) == len(together)


def test_a_form_that_the_target_lacks() -> None:
    (late,) = [
        f
        for f in warp_forms().values()
        if f.ptx == "mma.sync.aligned.m16n8k16.row.col.f32.f16.f16.f32"
    ]
    with pytest.raises(TilecError, match=r"m16n8k16.* is not available on sm_75; it needs sm_80"):
        ptx_version(_module([late], target("sm_80")), target("sm_75"))


EMPTY = f"{HEADER}define ptx_kernel void @k() {{\n  ret void\n}}\n"


@pytest.mark.parametrize(
    ("on", "version"), [("sm_80", "7.0"), ("sm_90a", "8.0"), ("sm_100f", "8.8")]
)
def test_version_of_nothing_is_the_first_that_knows_the_target(on: str, version: str) -> None:
    assert str(ptx_version(EMPTY, target(on))) == version
    assemble(to_ptx(EMPTY, target(on)), target(on))


@pytest.mark.parametrize(
    ("instruction", "on", "version", "before"),
    [
        (
            "{ .reg .b64 p; cp.async.ca.shared.global.L2::128B [p], [p], 16; }",
            "sm_80",
            "7.4",
            "7.3",
        ),
        ("fence.proxy.async;", "sm_90", "8.0", "7.8"),
        (
            "{ .reg .b16 h; .reg .f32 f; cvt.rn.satfinite.e4m3x2.f32 h, f, f; }",
            "sm_89",
            "8.1",
            "8.0",
        ),
        (
            "{ .reg .b16 h; .reg .f32 f; cvt.rn.satfinite.relu.e5m2x2.f32 h, f, f; }",
            "sm_90",
            "7.8",
            "7.7",
        ),
    ],
)
def test_version_of_another_instruction_is_the_lowest(
    instruction: str, on: str, version: str, before: str
) -> None:
    text = f'call void asm sideeffect "{instruction}", ""()'
    ptx = to_ptx(EMPTY.replace("ret void", f"{text}\n  ret void"), target(on))
    assert f".version {version}\n" in ptx
    assemble(ptx, target(on))
    with pytest.raises(AssemblerError):
        assemble(ptx.replace(f".version {version}\n", f".version {before}\n"), target(on))
