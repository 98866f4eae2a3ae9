"""Kernels beside dense products and attention that are timed: from Python, without a layout.

Their sources are `examples/kernels` and `product_kernel`. Each case is a problem of
`device_run.workloads` with the kernels that solve it, compiled for the target, and the sizes to
time. Numbers of rows that are odd in the arrays that they are compiled for stay open.
"""

from __future__ import annotations

import runpy
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from functools import cache
from typing import Any

import ml_dtypes
import numpy as np
import tilec
from device_run.matrix import TYPES
from tilec.isa import Target
from tilec.isa import target as find_target

from .examples import EXAMPLES
from .kernels import TimedKernel, given_by_launch
from .product_kernel import product

_NUMPY: Mapping[str, Any] = {
    "f16": np.float16,
    "bf16": ml_dtypes.bfloat16,
    "f32": np.float32,
    "i8": np.int8,
    "i32": np.int32,
    "f8E4M3FN": ml_dtypes.float8_e4m3fn,
    "f8E5M2": ml_dtypes.float8_e5m2,
}


@dataclass(frozen=True)
class Step:
    """A kernel of a case.

    Attributes:
        kernel: from Python.
        arguments: like those of the launches.
        constants: of it.
        warps: that compute.
        fields: what the run must know of it besides.
    """

    kernel: Any
    arguments: Sequence[Any]
    constants: Mapping[str, Any]
    warps: int = 8
    fields: Mapping[str, Any] = field(default_factory=dict)


@dataclass(frozen=True)
class Case:
    """A problem, the kernels that solve it, and its sizes.

    Attributes:
        name: of the case, as tables have it.
        workload: of `device_run.workloads.WORKLOADS`.
        about: what the workload must know.
        problems: sizes, the most telling first.
        steps: the kernels, in their order.
        tolerance: error that a result may have, as the workload measures it.
        worth: 0 for what must be timed, more for what may be left out.
        since: the first architecture that has its instructions.
    """

    name: str
    workload: str
    about: Mapping[str, Any]
    problems: Sequence[Mapping[str, Any]]
    steps: Sequence[Step]
    tolerance: float
    worth: int = 1
    since: int = 80


@cache
def example(file: str) -> dict[str, Any]:
    """What a file of `examples/kernels` defines."""
    return runpy.run_path(str(EXAMPLES / "kernels" / f"{file}.py"))


def zeros(element: str, *shape: int) -> Any:
    """An array that stands for one of the launches."""
    return np.zeros(shape, _NUMPY[element])


def cases() -> Iterator[Case]:
    """Every case."""
    yield from _products()
    yield _groups()
    yield _stream_k()
    yield _block_scales()
    yield from _weights()
    yield from _sequences()
    yield from _gradients()


_E4M3, _E5M2 = "f8E4M3FN", "f8E5M2"
_LARGE = {"m": 4096, "n": 4096, "k": 4096, "batches": 1, "parts": 1}
_BATCHES = {"m": 1024, "n": 1024, "k": 1024, "batches": 32, "parts": 1}
_DEEP = {"m": 512, "n": 512, "k": 32768, "batches": 1, "parts": 16}

_TOLERANCES = {"f16": 2.0**-7, "bf16": 2.0**-5, "f32": 2.0**-6, "i32": 0.0}
"""By the element type of the result, of sums by the tensor cores."""


def _product(
    name: str, left: str, right: str, out: str, turned: str, sizes: Mapping[str, int], **how: Any
) -> Case:
    """A product; `turned` has an `a` if A is transposed, and a `b` if B is."""
    deep = 128 // np.dtype(_NUMPY[left]).itemsize
    rows, cols = (128, 128) if left == "f32" or sizes["parts"] > 1 else (128, 256)
    given = zeros(left, 3, 256, 256), zeros(right, 3, 256, 256), zeros(out, 3, 256, 256), 256
    constants = {
        "A_TURNED": "a" in turned,
        "B_TURNED": "b" in turned,
        "SPLIT": sizes["parts"] > 1,
        **{"BM": rows, "BN": cols, "BK": deep},
    }
    return Case(
        name,
        "products",
        {
            "elements": {"a": left, "b": right, "d": out},
            "turned": ["a" in turned, "b" in turned],
            "tile": [rows, cols, deep],
        },
        [sizes],
        [Step(product, given, constants)],
        _TOLERANCES[out],
        **how,
    )


def _products() -> Iterator[Case]:
    """Types and transpositions that the dense products of `kernels` do not have."""
    yield _product("f16 batched", "f16", "f16", "f16", "", _BATCHES)
    yield _product("f16 split-K", "f16", "f16", "f32", "", _DEEP)
    for turned in ("a", "b", "ab"):
        yield _product(f"f16 {turned}^T", "f16", "f16", "f16", turned, _LARGE, worth=2)
    for turned in ("a", "ab"):
        yield _product(f"bf16 {turned}^T", "bf16", "bf16", "bf16", turned, _LARGE, worth=3)
    yield _product("e4m3 e5m2", _E4M3, _E5M2, "bf16", "b", _LARGE, since=89)
    yield _product("e5m2", _E5M2, _E5M2, "bf16", "b", _LARGE, since=89, worth=3)
    yield _product("e4m3 batched", _E4M3, _E4M3, "bf16", "b", _BATCHES, since=89, worth=3)
    yield _product("tf32 batched", "f32", "f32", "f32", "b", _BATCHES, worth=3)
    yield _product("s8 batched", "i8", "i8", "i32", "b", _BATCHES, worth=3)


def _groups() -> Case:
    rows = [1024, 3000, 512, 40, 2048, 1100, 200, 268]
    # Of the number of rows nothing is promised.
    given = [
        [zeros("f16", 71, 256) for _ in rows],
        [zeros("f16", 256, 256) for _ in rows],
        [zeros("f32", 71, 256) for _ in rows],
    ]
    return Case(
        "f16 grouped",
        "groups",
        {"elements": {"a": "f16", "b": "f16", "c": "f32"}, "block": 128, "ctas_per_sm": 1},
        [{"m": rows, "n": 4096, "k": 2048}],
        [Step(example("grouped_gemm")["grouped_gemm"], given, {"BLOCK": 128})],
        2.0**-7,
    )


def _stream_k() -> Case:
    given = [zeros("f16", 256, 256), zeros("f16", 256, 256), zeros("f32", 256, 256)]
    given += [zeros("f32", 5, 128, 128), zeros("i32", 5)]
    return Case(
        "f16 stream-K",
        "stream-K",
        {"elements": {"a": "f16", "b": "f16", "c": "f32"}, "block": 128},
        [{"m": 1792, "n": 1536, "k": 8192}, {"m": 4096, "n": 4096, "k": 4096}],
        [Step(example("stream_k_gemm")["stream_k_gemm"], given, {"BLOCK": 128, "DEEP": 64})],
        2.0**-7,
    )


def _block_scales() -> Case:
    given = [zeros(_E4M3, 256, 256), zeros(_E4M3, 256, 256)]
    given += [zeros("f32", 256, 2), zeros("f32", 2, 2), zeros("bf16", 256, 256)]
    return Case(
        "e4m3 1x128 128x128",
        "block scales",
        {"tile": [128, 128, 128]},
        [{"m": 4096, "n": 7168, "k": 2048}, {"m": 4096, "n": 4096, "k": 4096}],
        [Step(example("fp8_block_gemm")["fp8_block_gemm"], given, {"BM": 128, "BN": 128})],
        2.0**-5,
        worth=0,
        since=89,
    )


def _weights() -> Iterator[Case]:
    """By the product as it is, and by that of the transposes, whose A comes from registers."""
    for rows, sizes in ((16, 16), (64, 256)):
        for name in ("w4a16_gemm", "w4a16_gemm_by_weights"):
            turned = name != "w4a16_gemm"
            given = [zeros("f16", 64, 256), np.zeros((256, 128), np.uint8)]
            given += [zeros("f16", 256, 4), np.zeros((256, 4), np.uint8), zeros("f16", 64, 256)]
            yield Case(
                f"W4A16{', A in registers' if turned else ''}, M {sizes}",
                "weights",
                {"group": 64, "tile": [rows, 128]},
                [{"m": sizes, "n": 14336, "k": 4096}],
                [
                    Step(
                        example("w4a16_gemm")[name],
                        given,
                        {"BM": rows, "BN": 128},
                        8 if turned or rows > 16 else 4,
                    )
                ],
                2.0**-6,
                1 if turned else 3,
            )


def _sequences() -> Iterator[Case]:
    """Of many lengths; and of one, where several heads share keys."""
    lengths = [8192, 1000, 3333, 64, 2, 2048, 517, 1228]
    for deep, causal, shared, sizes, worth in (
        (128, True, 4, {"lengths": lengths, "heads": 32}, 1),
        (64, False, 1, {"lengths": lengths, "heads": 32}, 3),
        (128, True, 8, {"lengths": [8192], "heads": 32}, 1),
        (256, True, 2, {"lengths": [4096], "heads": 16}, 2),
    ):
        keys = 64 if deep == 256 else 128
        given = [zeros("f16", heads, 99, deep) for heads in (2 * shared, 2, 2, 2 * shared)]
        title = "lengths" if len(sizes["lengths"]) > 1 else "GQA"
        yield Case(
            f"{title} d{deep}{' causal' if causal else ''}",
            "sequences",
            {"deep": deep, "causal": causal, "shared": shared, "tile": [128, keys]},
            [sizes],
            [
                Step(
                    example("varlen_attention")["varlen_attention"],
                    [*given, zeros("i32", 3), 0.1],
                    {"SHARED": shared, "CAUSAL": causal, "BM": 128, "BN": keys},
                )
            ],
            2.0**-5,
            worth,
        )


def _gradients() -> Iterator[Case]:
    """A CTA has 128 rows, and goes over the others by 32 or 64."""
    found = example("attention_backward")
    for deep, causal, worth in ((128, True, 1), (128, False, 2), (64, False, 3)):
        other = 32 if deep == 128 else 64

        def heads(count: int, deep: int = deep) -> list[Any]:
            return [zeros("f16", 2, 256, deep) for _ in range(count)]

        rows = [zeros("f32", 2, 256) for _ in range(2)]
        constants = {"CAUSAL": causal}
        steps = [
            Step(found["delta_of_rows"], [*heads(2), rows[1]], {}, 4, {"rows": 64}),
            Step(
                found["gradients_of_keys"],
                [*heads(4), *rows, *heads(2), 0.1],
                {**constants, "BM": other, "BN": 128},
                fields={"rows": 128},
            ),
            Step(
                found["gradient_of_queries"],
                [*heads(4), *rows, *heads(1), 0.1],
                {**constants, "BM": 128, "BN": other},
                fields={"rows": 128},
            ),
        ]
        yield Case(
            f"backward d{deep}{' causal' if causal else ''}",
            "gradients",
            {"deep": deep, "causal": causal},
            [{"heads": 32, "count": 4096}],
            steps,
            2.0**-4,
            worth,
        )


def compiled(case: Case, target: Target) -> tuple[dict[str, Any], list[TimedKernel]]:
    """A case as JSON has it, and its kernels."""
    kernels = [_kernel(case, number, target) for number in range(len(case.steps))]
    forms = sorted({_instruction(kernel.ptx) for kernel in kernels} - {""})
    fields = {
        "name": case.name,
        "work": "kernels",
        "dtype": case.name,
        "workload": case.workload,
        "about": dict(case.about),
        "problems": [dict(sizes) for sizes in case.problems],
        "tolerance": case.tolerance,
        "worth": case.worth,
        "configuration": " ".join(forms),
        "level": 1,
        "kernels": [kernel.fields for kernel in kernels],
    }
    return fields, kernels


def _instruction(ptx: str) -> str:
    """What multiplies, in a word."""
    return next((word for word in ("wgmma", "tcgen05", "mma.sync") if f"{word}." in ptx), "")


def _kernel(case: Case, number: int, target: Target) -> TimedKernel:
    step = case.steps[number]
    program: tilec.Compiled = step.kernel.using(warps=step.warps).compile(
        *step.arguments, target=target.name, **step.constants
    )
    (kernel,) = program.kernels
    words = "".join(c if c.isalnum() else "-" for c in case.name)
    name = f"kernels-{words}-{number}"
    described = kernel.json()
    assert all(one["name"] for one in given_by_launch(described["arguments"]))
    fields = {**described, "kernel": kernel.name, "name": name, **step.fields}
    return TimedKernel(name, program.ptx, fields)


def suite(name: str) -> Iterator[tuple[dict[str, Any], list[TimedKernel]]]:
    """Every case whose instructions a target has."""
    target = find_target(name)
    for case in cases():
        if target.number >= case.since:
            yield compiled(case, target)


assert set(_NUMPY) == set(TYPES)
