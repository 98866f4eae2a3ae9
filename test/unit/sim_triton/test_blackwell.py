"""Triton's kernels for sm_100 run unchanged: tcgen05 fed by cp.async, and by tensor copies.

Their descriptors say what tilec's own do of the same products.
"""

import re
from typing import Any

import ml_dtypes
import numpy as np
import pytest
import tilec
from tilec.dialects.tile import builders as tile
from tilec.isa.instruction_descriptor import InstructionDescriptor
from tilec.isa.matrix_descriptor import MatrixDescriptor
from tilec.sim import Report, TensorMap, launch

E4M3, BF16 = ml_dtypes.float8_e4m3fn, ml_dtypes.bfloat16
OPTIONS = {"num_warps": 4, "num_stages": 3}


def compiled(triton: Any, kernel: str, signature: list[str], **constexprs: Any) -> dict[str, Any]:
    numbers = [i for i, type_ in enumerate(signature) if type_[0] == "*" or type_ == "i32"]
    made = triton.compile(
        kernel=kernel, signature=signature, aligned=numbers, constexprs=constexprs,
        capability=100, options=OPTIONS,
    )  # fmt: skip
    assert "error" not in made, made["error"]
    assert "tcgen05.mma" in made["ptx"]
    found: dict[str, Any] = made
    return found


def run(made: dict[str, Any], grid: tuple[int, int], args: list[Any], **options: Any) -> Report:
    return launch(
        made["ptx"], made["name"], grid, made["threads"], args, arch="sm_100a",
        dynamic_smem=made["shared"], **{"numerics": "fast", **options},
    )  # fmt: skip


def product(
    made: dict[str, Any], types: tuple[Any, Any], **options: Any
) -> tuple[Any, Any, Report]:
    """A product of 256×128×192: what the kernel gives, what it is, the report."""
    rng = np.random.default_rng(5)
    m, n, k = 256, 128, 192
    a, b = (rng.integers(-3, 4, shape).astype(types[0]) for shape in ((m, k), (k, n)))
    c = np.zeros((m, n), types[1])
    report = run(made, (m // 128, n // 128), [a, b, c, m, n, k, k, n, n, None, None], **options)
    exact = a.astype(np.float64) @ b.astype(np.float64)
    return c, exact.astype(types[1]), report


def matmul(triton: Any, type_: str, result: str = "*fp32", depth: int = 64, **sums: str) -> Any:
    return compiled(
        triton, "matmul", [type_, type_, result, *["i32"] * 6], bm=128, bn=128, bk=depth,
        masked=False, precision="tf32", **{"sum_type": "tl.float32", **sums},
    )  # fmt: skip


@pytest.mark.parametrize("numerics", ["fast", "exact"])
@pytest.mark.parametrize("type_", ["fp16", "fp8e4nv"])
def test_pointers(triton: Any, type_: str, numerics: str) -> None:
    types = {"fp16": (np.float16, np.float32), "fp8e4nv": (E4M3, np.float32)}[type_]
    c, exact, report = product(matmul(triton, f"*{type_}"), types, numerics=numerics)
    report.require_ok()
    assert np.array_equal(c, exact)


@pytest.mark.slow
def test_other_types(triton: Any) -> None:
    for type_, types, result, more in (
        ("*bf16", (BF16, np.float32), "*fp32", {}),
        ("*i8", (np.int8, np.int32), "*i32", {"sum_type": "tl.int32"}),
        ("*fp32", (np.float32, np.float32), "*fp32", {"depth": 32}),
    ):
        for order in (None, 1):
            c, exact, report = product(matmul(triton, type_, result, **more), types, order=order)
            report.require_ok()
            assert np.array_equal(c, exact)


def described(array: np.ndarray, box: tuple[int, int]) -> list[Any]:
    """What Triton's launcher passes for a tensor descriptor: the map, extents and strides."""
    rows, cols = array.shape
    return [
        TensorMap(array, box=box, swizzle="128B"),
        np.int32(rows), np.int32(cols), np.int64(cols), np.int64(1),
    ]  # fmt: skip


@pytest.mark.parametrize("order", [None, pytest.param(1, marks=pytest.mark.slow)])
def test_tensor_copies(triton: Any, order: int | None) -> None:
    rng = np.random.default_rng(2)
    m, n, k = 200, 136, 72
    a, b = (rng.integers(-2, 3, (rows, k)).astype(np.float16) for rows in (m, n))
    c = np.zeros((m, n), np.float16)
    types = ["tensordesc<fp16[128, 64]>"] * 2 + ["tensordesc<fp16[128, 128]>", "i32"]
    made = compiled(triton, "matmul_by_tensor_copies", types, bm=128, bn=128, bk=64)
    maps = [part for array in (a, b, c) for part in described(array, (128, 64))]
    args = [*maps, np.int32(-(-k // 64) * 64), None, None]
    run(made, (-(-m // 128), -(-n // 128)), args, order=order).require_ok()
    assert np.array_equal(c, (a.astype(np.float64) @ b.T.astype(np.float64)).astype(np.float16))


def test_attention(triton: Any) -> None:
    """Whose second product has A in tensor memory."""
    rng = np.random.default_rng(3)
    q, k, v = (rng.standard_normal((256, 64)).astype(np.float16) for _ in range(3))
    o = np.zeros((256, 64), np.float16)
    boxes = ((q, (128, 64)), (k, (64, 64)), (v, (64, 64)), (o, (128, 64)))
    maps = [part for array, box in boxes for part in described(array, box)]
    types = [f"tensordesc<fp16[{rows}, 64]>" for rows in (128, 64, 64, 128)]
    made = compiled(
        triton, "attention_by_tensor_copies", [*types, "i32", "fp32"], bm=128, bn=64, d=64
    )
    assert re.search(r"tcgen05.mma\S+ \[[^]]*\], \[", made["ptx"])
    run(made, (2, 1), [*maps, np.int32(256), np.float32(0.18), None, None]).require_ok()
    score = q.astype(np.float64) @ k.T.astype(np.float64) * 0.18
    share = np.exp2(score - score.max(axis=1, keepdims=True))
    expected = share / share.sum(axis=1, keepdims=True) @ v.astype(np.float64)
    assert np.abs(o - expected).max() < 2e-3


FAULTS: dict[str, tuple[str, str, str]] = {
    # what: an expression and what replaces it, what a finding says
    "wait for the product": (r"@!complete bra.uni waitLoop;", "", "before the wait for its commit"),
    "commit": (r"@\S+ tcgen05.commit.*", "", "deadlock"),
    "wait for stores": (r"tcgen05.wait::st.*", "", "before a tcgen05.wait::st for"),
    "wait for loads": (r"tcgen05.wait::ld.*", "", "before a tcgen05.wait::ld for"),
    "columns given back": (r"@\S+ tcgen05.dealloc.*", "", "of which 128 are still allocated"),
    "proxy fence": (r"fence\.proxy\.async\S*;", "", "no fence.proxy.async between"),
    "half the columns": (r"(tcgen05.alloc.*), 128;", r"\1, 64;", "has not allocated"),
    "M of the descriptor": (r"\b136380432\b", "119603216", "M = 112 is not legal for kind::f16"),
    "types of the descriptor": (r"\b136380432\b", "136380560", "has no f32 bf16 f16"),
    "barriers": (r"bar\.sync\s+0;", "", "without a barrier between it and 'tcgen05.st"),
}


@pytest.mark.slow
@pytest.mark.parametrize("fault", FAULTS)
def test_faults(triton: Any, fault: str) -> None:
    old, new, message = FAULTS[fault]
    made = dict(matmul(triton, "*fp16"))
    made["ptx"], count = re.subn(old, new, made["ptx"])
    assert count
    _, _, report = product(made, (np.float16, np.float32), max_steps=200000)
    said = [f"{finding.kind}: {finding.message}" for finding in report.findings]
    assert any(message in one for one in said), said


def test_descriptors(triton: Any) -> None:
    """What its constants say of a product of 128×128×64 with B along N."""
    text = matmul(triton, "*fp16")["ptx"]
    found = InstructionDescriptor.decode("f16", 136380432)
    assert str(found.encode()) in text
    wanted = InstructionDescriptor(
        kind="f16", d="f32", a="f16", b="f16", m=128, n=128, transpose_b=True
    )
    assert found == wanted
    # Of B: 8192 bytes to the next 64 columns; both swizzled, 1024 bytes to the next eight lines.
    assert str(MatrixDescriptor(0, 8192, 0, "none").encode() & 0xFFFFFFFF) in text
    assert str(MatrixDescriptor(0, 0, 1024, "128B").encode() >> 32) in text


def products_of(ptx: str) -> set[tuple[str, InstructionDescriptor]]:
    """Kind and descriptor of each product, whose descriptors are constants in registers."""
    constants = dict(re.findall(r"mov\.b32\s+(%r\d+), (\d+);", ptx))
    line = r"tcgen05\.mma\S*kind::(\w+)\S* \[.*?\], .*?, %rd\d+, (%r\d+), "
    found = set()
    for kind, register in re.findall(line, ptx):
        word = int(constants[register])
        descriptor = InstructionDescriptor.decode(kind, word)
        assert descriptor.encode() == word
        found.add((kind, descriptor))
    assert ptx.count("tcgen05.mma") == len(re.findall(line, ptx))
    return found


#: By the type of its operands: kind, types of D, A and B, and how deep a tile is.
KINDS = {
    "*fp16": ("f16", ("f32", "f16", "f16"), 64),
    "*bf16": ("f16", ("f32", "bf16", "bf16"), 64),
    "*fp8e4nv": ("f8f6f4", ("f32", "e4m3", "e4m3"), 64),
    "*fp8e5": ("f8f6f4", ("f32", "e5m2", "e5m2"), 64),
    "*i8": ("i8", ("s32", "s8", "s8"), 64),
    "*fp32": ("tf32", ("f32", "tf32", "tf32"), 32),
}


@pytest.mark.parametrize(
    "type_",
    [
        pytest.param(one, marks=() if one in ("*fp16", "*fp8e4nv") else pytest.mark.slow)
        for one in KINDS
    ],
)
def test_descriptors_of_every_kind(triton: Any, type_: str) -> None:
    """Those of Triton's products of 128×128, B along N where that is legal: bit by bit ours."""
    kind, (d, a, b), depth = KINDS[type_]
    whole = {"sum_type": "tl.int32"} if kind == "i8" else {}
    ptx = matmul(triton, type_, "*i32" if kind == "i8" else "*fp32", depth, **whole)["ptx"]
    along_n = kind != "tf32"
    wanted = InstructionDescriptor(kind=kind, d=d, a=a, b=b, m=128, n=128, transpose_b=along_n)
    assert products_of(ptx) == {(kind, wanted)}
    assert str(MatrixDescriptor(0, 0, 1024, "128B").encode() >> 32) in ptx


def test_descriptors_of_attention(triton: Any) -> None:
    """Of Q·K, and of P·V, whose A is in tensor memory and whose B is along N."""
    types = [f"tensordesc<fp16[{rows}, 64]>" for rows in (128, 64, 64, 128)]
    made = compiled(
        triton, "attention_by_tensor_copies", [*types, "i32", "fp32"], bm=128, bn=64, d=64
    )
    assert products_of(made["ptx"]) == {
        ("f16", InstructionDescriptor(
            kind="f16", d="f32", a="f16", b="f16", m=128, n=64, transpose_b=along_n,
        ))
        for along_n in (False, True)
    }  # fmt: skip


def test_our_own_product_is_told_the_same(triton: Any) -> None:
    """A product of 128×128×64 with B along N, compiled here and there."""
    theirs = matmul(triton, "*fp16")["ptx"]
    with tile.module("m", target="sm_100a") as module, tile.kernel("k", {}, block=128):
        left, right = (tile.alloc_shared(e, "f16", "128B") for e in ((128, 64), (2, 64, 64)))
        acc = tile.alloc_tensor('memref<128x128xf32, #tile.tensor<"d">>')
        form = "tcgen05.mma.cta_group::1.kind::f16.a::descriptor"
        tile.tcgen05_mma(form, "f32.f16.f16", left, right, acc, *[0] * 7, flags=["transpose_b"])
    ours = tilec.compile(str(module), target="sm_100a", cache=False).ptx
    words = set(re.findall(r"kind::f16 \[%r\d+\], %rd\d+, %rd\d+, (\d+), ", ours))
    assert words == {str(one.encode()) for _, one in products_of(theirs)}
    # SBO 1024, version 1 and the swizzle in the high word; 8192 bytes from panel to panel of B.
    high, low = 1073758272, 8192 >> 4 << 16
    assert all(str(word) in theirs for word in (high, low))
    found = {int(word) for word in re.findall(r"\b\d{19}\b", ours)}
    assert {word >> 32 for word in found} == {high}
    assert low in {word & 0xFFFFFFFF & ~0xFFFF for word in found}


def scaled(rng: Any, format_: str, rows: int, depth: int) -> tuple[Any, Any, Any]:
    """A factor as memory has it, its scale factors, and what it is."""
    types = {"e4m3": E4M3, "e5m2": ml_dtypes.float8_e5m2, "e2m1": ml_dtypes.float4_e2m1fn}
    values = rng.integers(-3, 4, (rows, depth)).astype(types[format_])
    memory = values.view(np.uint8)
    if format_ == "e2m1":
        memory = memory[:, 0::2] | memory[:, 1::2] << 4
    scales = rng.integers(125, 130, (rows, depth // 32)).astype(np.uint8)
    factor = np.repeat(2.0 ** (scales.astype(int) - 127), 32, axis=1)
    return memory, scales, values.astype(np.float64) * factor


@pytest.mark.parametrize(
    ("a_format", "b_format", "numerics"),
    [("e4m3", "e2m1", "fast"), ("e2m1", "e2m1", "exact"), ("e5m2", "e4m3", "exact")],
)
def test_block_scaling(triton: Any, a_format: str, b_format: str, numerics: str) -> None:
    """Whose scale factors are stored to tensor memory, and padded floats to shared memory."""
    rng, n = np.random.default_rng(7), 128
    (a, a_scales, x), (b, b_scales, y) = (scaled(rng, name, n, n) for name in (a_format, b_format))
    made = compiled(
        triton, "matmul_scaled", [*["*u8"] * 4, "*fp32"], bm=n, bn=n, bk=n, a_format=a_format,
        b_format=b_format, a_pack=n // a.shape[1], b_pack=n // b.shape[1],
    )  # fmt: skip
    assert "block_scale" in made["ptx"]
    c = np.zeros((n, n), np.float32)
    args = [a, a_scales, b, b_scales, c, None, None]
    run(made, (1, 1), args, numerics=numerics).require_ok()
    np.testing.assert_array_equal(c, (x @ y.T).astype(np.float32))
