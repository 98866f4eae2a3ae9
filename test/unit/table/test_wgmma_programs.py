"""Products of warpgroups as `tile-isa emit --format mlir` has them: run, against numpy."""

from __future__ import annotations

import itertools
from collections.abc import Callable
from pathlib import Path
from typing import Any

import ml_dtypes
import numpy as np
import pytest
import tilec
from tilec.frontend.contexts import new_context
from tilec.frontend.parsing import parse
from tilec.interpret import arithmetic_of, interpret
from tilec.isa import forms, target
from tilec.report.diagnostics import Source
from tilec.tools import tile_isa

from ..interpret.arrays import contents, kernel_of, views

HOPPER = target("sm_90a")
FORMS = sorted(name for name, form in forms().items() if str(form.family).startswith("wgmma"))
DRAWN = np.random.default_rng(20261123).permutation(len(FORMS))[:24].tolist()
DTYPES = {
    "f16": np.float16, "bf16": ml_dtypes.bfloat16, "tf32": np.float32, "s8": np.int8,
    "e4m3": ml_dtypes.float8_e4m3fn, "e5m2": ml_dtypes.float8_e5m2, "u8": np.uint8,
    "f32": np.float32, "s32": np.int32,
}  # fmt: skip
BITS = {"f16": 16, "bf16": 16, "tf32": 32, "b1": 1}


def _split(name: str) -> tuple[str, str, str, int, int, bool]:
    """Types of D, A and B, columns, K, and whether it is sparse: of the mnemonic alone."""
    words = name.split(".")
    shape = next(word for word in words if word.startswith("m64n"))
    columns, _, k = shape.removeprefix("m64n").partition("k")
    d, a, b = [word for word in words if word in DTYPES or word == "b1"]
    return d, a, b, int(columns), int(k), ".sp." in name


def _stored(numbers: Any, type_: str) -> Any:
    """A matrix by K as memory holds it; bits packed, low ones first."""
    if type_ == "b1":
        packed = np.packbits(numbers.astype(np.uint8), axis=1, bitorder="little")
        return packed.view(np.int8)
    array = np.ascontiguousarray(numbers).astype(DTYPES[type_])
    return array.view(np.int8) if type_ == "u8" else array


def _sparse(rng: Any, values: Any, type_: str, k: int, selector: int) -> tuple[Any, Any]:
    """A sparse A as it is, and its metadata: two of four elements, of tf32 one of two."""
    values[values == 0] = 1
    if type_ == "tf32":
        which = rng.integers(0, 2, (64, k // 2))
        columns, codes = 2 * np.arange(k // 2) + which, np.where(which, 0b1110, 0b0100)
    else:
        pairs = np.array([*itertools.combinations(range(4), 2)])[rng.integers(0, 6, (64, k // 4))]
        columns = (4 * np.arange(k // 4)[:, None] + pairs).reshape(64, -1)
        codes = pairs[..., 0] | pairs[..., 1] << 2
    whole = np.zeros((64, k), np.int64)
    np.put_along_axis(whole, columns, values, axis=1)
    metadata = np.full((64, 16), 15, np.uint8)
    metadata[:, 8 * selector : 8 * selector + codes.shape[1]] = codes
    return whole, (metadata[:, ::2] | metadata[:, 1::2] << 4).view(np.int8)


def _check(name: str, folder: Path, ptxases: list[Any], selectors: dict[str, int]) -> None:
    d, a_type, b_type, columns, k, sparse = _split(name)
    mnemonic, _, where = name.rpartition(".a::")
    file = folder / "try.mlir"
    flags = [f"--select={key}={value}" for key, value in selectors.items()]
    given = ["--target", "sm_90a", "--format", "mlir", "--a", where, *flags, "-o", str(file)]
    assert tile_isa.main(["emit", mnemonic, *given]) == 0
    compiled = tilec.compile(file)
    assert compiled.ptx.count("wgmma.mma_async") == 1
    for ptxas in ptxases:
        status, report = ptxas.run(compiled.ptx, "sm_90a")
        assert status == 0, report
        assert "C75" not in report
    rng = np.random.default_rng(list(name.encode()))
    bounds = {t: {"b1": (0, 2), "u8": (0, 4)}.get(t, (-2, 3)) for t in (a_type, b_type)}
    held = k // 2 if sparse else k
    a = stored = rng.integers(*bounds[a_type], (64, held))
    b = rng.integers(*bounds[b_type], (columns, k))
    more = []
    if sparse:
        a, codes = _sparse(rng, stored, a_type, k, selectors.get("selector", 0))
        more = [codes]
    left, right = _stored(stored, a_type), _stored(b, b_type)
    if selectors.get("imm_trans_a"):
        left = np.ascontiguousarray(left.T)
    if selectors.get("imm_trans_b"):
        right = np.ascontiguousarray(right.T)
    out = np.full((64, columns), 77).astype(DTYPES[d])
    arguments = [out.copy(), left, right, *more]
    compiled.launch(out, left, right, *more, grid=1, device="sim")
    sign = selectors.get("imm_scale_a", 1) * selectors.get("imm_scale_b", 1)
    np.testing.assert_array_equal(out.astype(np.int64), sign * (a @ b.T))
    _check_interpreted(file.read_text(), arguments, sign * (a @ b.T))


def _check_interpreted(text: str, arguments: list[Any], expected: Any) -> None:
    """The interpreter computes the same at level 3, and finds nothing wrong."""
    module = parse(Source("-", text), new_context())
    function = kernel_of(module)
    for numerics in ("hardware", "f64"):
        arithmetic = arithmetic_of(numerics)
        given = views(function, arguments, arithmetic)
        done = interpret(function, given, arithmetic, target="sm_90a")
        assert not done.findings
        np.testing.assert_array_equal(contents(given[0], done.memories[0]), expected)


@pytest.mark.parametrize("number", sorted(DRAWN), ids=lambda n: FORMS[n])
def test_a_drawn_part(
    number: int, tmp_path: Path, assemblers_for: Callable[..., list[Any]]
) -> None:
    _check(FORMS[number], tmp_path, assemblers_for(HOPPER), {})


@pytest.mark.parametrize(
    ("name", "selectors"),
    [
        ("m64n64k16.f32.bf16.bf16.a::descriptor", {"imm_trans_a": 1, "imm_trans_b": 1}),
        ("m64n24k16.f16.f16.f16.a::registers", {"imm_trans_b": 1, "imm_scale_a": -1}),
        ("m64n40k8.f32.tf32.tf32.a::descriptor", {"imm_scale_b": -1, "scale_d": 0}),
    ],
)
def test_selectors(
    name: str, selectors: dict[str, int], tmp_path: Path, assemblers_for: Callable[..., list[Any]]
) -> None:
    whole = f"wgmma.mma_async.sync.aligned.{name}"
    _check(whole, tmp_path, assemblers_for(HOPPER), selectors)


@pytest.mark.parametrize("type_", ["bf16", "tf32"])
def test_selector_of_metadata(
    type_: str, tmp_path: Path, assemblers_for: Callable[..., list[Any]]
) -> None:
    k = 512 // BITS[type_]
    name = f"wgmma.mma_async.sp.sync.aligned.m64n48k{k}.f32.{type_}.{type_}.a::registers"
    _check(name, tmp_path, assemblers_for(HOPPER), {"selector": 1})


def test_what_is_refused(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    mnemonic = "wgmma.mma_async.sync.aligned.m64n64k16.f32.f16.f16"
    for flags, message in (
        (["--target", "sm_90"], "is not available on sm_90; it is available on sm_90a"),
        (["--target", "sm_90a", "--select", "imm_scale_a=3"], "imm_scale_a"),
        (["--target", "sm_90a", "--a", "registers", "--select", "imm_trans_a=1"], "imm_trans_a"),
    ):
        file = tmp_path / "try.mlir"
        assert tile_isa.main(["emit", mnemonic, "--format", "mlir", "-o", str(file), *flags]) == 1
        assert message in capsys.readouterr().err
        assert not file.exists()


@pytest.mark.slow
@pytest.mark.parametrize("part", range(32))
def test_all(part: int, tmp_path: Path, assemblers_for: Callable[..., list[Any]]) -> None:
    for name in FORMS[part::32]:
        _check(name, tmp_path, assemblers_for(HOPPER), {})
