"""The same bits as mmasim, the model by the authors of the published hardware tests.

It needs torch and a C++ compiler: where it is not installed the plain model stands alone.
"""

from __future__ import annotations

import numpy as np
import pytest
from tilec.isa import Mma, form
from tilec.sim.tensor import multiply

torch = pytest.importorskip("torch", reason="mmasim needs torch")
mmasim = pytest.importorskip("mmasim.nv_ptx", reason="mmasim is not installed")

TARGETS = {
    "Volta": "sm_70",
    "Turing": "sm_75",
    "Ampere": "sm_80",
    "Ada Lovelace": "sm_89",
    "Hopper": "sm_90",
    "RTX Blackwell": "sm_120a",
    "Blackwell": "sm_100a",
}
DENSE = [
    (generation, name)
    for generation, names in mmasim.isa_mma.mma_shape_and_type.items()
    for name in names
]
SCALED = mmasim.isa_mma.mma_block_scale_shape_and_type["RTX Blackwell"]


def ours(name: str) -> Mma:
    """The form that mmasim calls `m16n8k8.f32.f16.f16.f32`."""
    shape, *rest = name.split(".")
    if rest[0].startswith("kind"):
        kind, *rest = rest
        shape = f"{shape}.row.col.{kind}"
        if rest[0].startswith("block"):
            block, *rest = rest
            k = int(name.split(".", maxsplit=1)[0].rpartition("k")[2])
            shape += f".block_scale.scale_vec::{k // int(block.removeprefix('block'))}X"
    else:
        shape += ".row.col"
    rounding = ".rn" if rest[0] == "f64" else ""
    found = form(f"mma.sync.aligned.{shape}.{'.'.join(rest)}{rounding}")
    assert isinstance(found, Mma)
    return found


def tensor(type_: str, bits: np.ndarray):
    """Bits as mmasim takes the type."""
    container = {"e3m2": 8, "e2m3": 8, "e2m1": 8}
    kinds = {
        "f64": (np.int64, torch.float64),
        "f32": (np.int32, torch.float32),
        "tf32": (np.int32, torch.float32),
        "f16": (np.int16, torch.float16),
        "bf16": (np.int16, torch.bfloat16),
        "e4m3": (np.int8, torch.float8_e4m3fn),
        "ue4m3": (np.int8, torch.float8_e4m3fn),
        "e5m2": (np.int8, torch.float8_e5m2),
        "ue8m0": (np.int8, torch.float8_e8m0fnu),
    }
    if type_ in container:
        return torch.from_numpy(bits.astype(np.uint8))
    integer, kind = kinds[type_]
    held = bits.astype(f"u{np.dtype(integer).itemsize}").view(integer)
    return torch.from_numpy(np.ascontiguousarray(held)).view(kind)


def compare(f: Mma, arch: str, theirs, tools, plain, mood: str, seed: int) -> None:
    rng = np.random.default_rng(seed)
    values = tools.inputs(f, rng, mood)
    selectors = {s.name: s.legal[0] for s in f.selectors}
    images = tools.registers(f, plain, values, selectors, rng)
    operands = {name: image[None] for name, image in images.items()}
    d = f.operand("d")
    got = multiply(f, operands, selectors, arch=arch, numerics="exact")[0]
    matrices = []
    for name in "abc":
        o = f.operand(name)
        bits = values[name].copy()
        if o.type.name == "e2m1" and o.container == 8:
            bits <<= np.uint64(2)
        if o.container == 4:  # two to a byte along K, which mmasim takes high half first
            bits = bits if name == "a" else bits.transpose(0, 2, 1)
            bits = bits[..., 0::2] << np.uint64(4) | bits[..., 1::2]
            bits = bits if name == "a" else bits.transpose(0, 2, 1)
        matrices.append([tensor(o.type.name, b) for b in bits])
    scales = [tensor(f.operand(n).type.name, values[n]) for n in ("sfa", "sfb") if n in values]
    want = []
    for a, b, c in zip(*matrices, strict=True):
        if f.operand("a").container == 4:
            b = b.T.contiguous().T  # noqa: PLW2901
        result = theirs(a, b, c, *scales).contiguous()
        want.append(result.view({2: torch.int16, 4: torch.int32, 8: torch.int64}[result.itemsize]))
    for lane in range(32):
        for i in range(d.elements):
            product, row, col = tools.element_place(f, plain, d, lane, i)
            bits = int(want[product][row, col]) & (1 << d.container) - 1
            found = tools.read_image(d, got, lane, i)
            assert hex(found) == hex(bits), (lane, i, mood)


@pytest.mark.parametrize(("generation", "name"), DENSE)
def test_dense(generation, name, tools, plain) -> None:
    f, theirs = ours(name), mmasim.MMA(generation, name)
    for seed, mood in enumerate(tools.MOODS[:3] if "f64" in name else tools.MOODS):
        compare(f, TARGETS[generation], theirs, tools, plain, mood, seed)


@pytest.mark.parametrize("name", SCALED)
def test_block_scaled(name, tools, plain) -> None:
    f, theirs = ours(name), mmasim.MMABlockScale("RTX Blackwell", name)
    for seed, mood in enumerate(tools.MOODS):
        compare(f, "sm_120a", theirs, tools, plain, mood, seed)
