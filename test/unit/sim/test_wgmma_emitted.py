"""The kernels that `tile-isa emit` makes of wgmma multiply, on the simulator, as numpy does.

Whole numbers that every type of the operands holds: any order of sums gives the same.
"""

from __future__ import annotations

import numpy as np
import pytest
from tilec import sim
from tilec.isa import Form, form, forms, target
from tilec.isa.kernel import ENTRY, kernel
from tilec.runtime import compress, from_registers, pack, prune, to_registers

HOPPER = target("sm_90a")
ALL = [found for found in forms().values() if found.family.startswith("wgmma")]
DRAWN = ALL[3::83]


def logical(found: Form, rng: np.random.Generator) -> tuple[np.ndarray, np.ndarray]:
    """A, where it is sparse as the form keeps it, and B."""
    m, n, k = found.shape

    def matrix(shape: tuple[int, int], type_: str) -> np.ndarray:
        low, high = {"u": (0, 4), "b": (0, 2)}.get(type_[0] if type_ != "bf16" else "", (-2, 3))
        return rng.integers(low, high, shape)

    a = matrix((m, k), found.operand("a").type.name)
    b = matrix((k, n), found.operand("b").type.name)
    return (prune(found, a) if found.sparsity else a), b


def run(found: Form, selectors: dict[str, int]) -> None:
    rng = np.random.default_rng(len(found.ptx))
    a, b = logical(found, rng)
    c = rng.integers(-8, 9, (found.shape.m, found.shape.n))
    matrices = {"a": a, "b": b, "c": c}
    if found.sparsity:
        stored, codes = compress(found, a)
        matrices |= {"a": stored, "e": codes}
    made = kernel(found, HOPPER, selectors=selectors)
    picked = {name: n for name, n in selectors.items() if name == "selector"}
    args = []
    for buffer in made.buffers:
        if buffer.name == "d":
            count = found.operand("d").registers
            args.append(np.zeros((128, count), np.uint32))
        elif found.operand(buffer.name).threads:
            chosen = picked if buffer.name == "e" else {}
            words = to_registers(found, buffer.name, matrices[buffer.name], chosen)
            args.append(np.ascontiguousarray(words.T))
        else:
            # Lines along K, or along M or N if the instruction transposes them.
            lines = np.asarray(matrices[buffer.name])
            along_k = lines if buffer.name == "a" else lines.T
            lines = along_k.T if selectors.get(f"imm_trans_{buffer.name}") else along_k
            args.append(pack(np.ascontiguousarray(lines), found.operand(buffer.name).type.name))
            assert args[-1].nbytes == buffer.bytes
    sim.launch(made.ptx, ENTRY, 1, made.threads, args, arch="sm_90a")
    got = from_registers(found, "d", np.ascontiguousarray(args[0].T))
    product = a.astype(np.int64) @ b.astype(np.int64)
    sign = selectors.get("imm_scale_a", 1) * selectors.get("imm_scale_b", 1)
    wanted = sign * product + (c if selectors.get("scale_d", 1) else 0)
    assert (got.astype(np.int64) == wanted).all(), found.ptx


@pytest.mark.parametrize("found", DRAWN, ids=str)
def test_a_drawn_part(found: Form) -> None:
    run(found, {})


@pytest.mark.slow
@pytest.mark.parametrize("start", range(0, len(ALL), 200))
def test_every_form(start: int) -> None:
    for found in ALL[start : start + 200]:
        run(found, {})


F16 = "wgmma.mma_async.sync.aligned.m64n24k16.f32.f16.f16"
SPARSE = "wgmma.mma_async.sp.sync.aligned.m64n40k32.f32.bf16.bf16"


@pytest.mark.parametrize(
    ("mnemonic", "a", "selectors"),
    [
        (F16, "descriptor", {"imm_trans_a": 1}),
        (F16, "descriptor", {"imm_trans_b": 1}),
        (F16, "registers", {"imm_trans_b": 1, "imm_scale_a": -1}),
        (F16, "descriptor", {"scale_d": 0, "imm_trans_a": 1, "imm_trans_b": 1}),
        (SPARSE, "descriptor", {"selector": 1}),
        (SPARSE, "registers", {"selector": 1, "imm_trans_b": 1}),
        (SPARSE, "descriptor", {"imm_trans_a": 1, "imm_trans_b": 1, "imm_scale_b": -1}),
    ],
)
def test_selectors(mnemonic: str, a: str, selectors: dict[str, int]) -> None:
    run(form(mnemonic, a), selectors)
