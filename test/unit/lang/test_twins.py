"""The examples in Python are the programs of the `.mlir` files beside them, and agree with numpy.

The programs are the same when `canonicalize` and `cse` have run, whatever the order in which their
ops were written. The runs are those of the `.mlir` files' own tests, over ragged shapes and others;
in CI over one, as it is the same program that those run.
"""

import importlib.util
import runpy
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Any, NamedTuple

import ml_dtypes
import numpy as np
import pytest

HERE = Path(__file__).parent
FOLDER = HERE.parents[2] / "examples" / "kernels"


def module(path: Path) -> Any:
    spec = importlib.util.spec_from_file_location(path.stem, path)
    assert spec is not None
    assert spec.loader is not None
    found = sys.modules[path.stem] = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(found)
    return found


canonical = module(HERE / "canonical.py").canonical
RUNS = module(HERE.parent / "examples" / "kernels_of_tiles.py").KERNELS


class Twin(NamedTuple):
    """A kernel of a `.mlir` file and what it is in Python.

    Attributes:
        file: the `.mlir` file.
        name: of its kernel.
        python: the file of the kernel in Python, and its name.
        arrays: element types of arrays to build it for; none where the annotations suffice.
        warps: of a CTA.
        constants: further arguments.
    """

    file: str
    name: str
    python: tuple[str, str]
    arrays: tuple[Any, ...] = ()
    warps: int = 8
    constants: dict[str, Any] = {}  # noqa: RUF012 (never changed)


F16, F32, F64 = np.float16, np.float32, np.float64
BF16, E4M3 = ml_dtypes.bfloat16, ml_dtypes.float8_e4m3fn
TYPES = ("gemm_types", "gemm")
SMALL = {"BM": 64, "BN": 64, "BK": 16}
TWINS = (
    *(
        Twin(n, n, (n, n))
        for n in ("gemm", "fused_gemm", "split_k_gemm", "sparse_gemm", "scaled_gemm")
    ),
    *(
        Twin(n, n, (n, n), warps=4)
        for n in ("batched_gemm", "gemm_int4", "softmax", "layer_norm", "conv")
    ),
    Twin("gemm_types", "gemm_bf16", TYPES, (BF16, BF16, F32)),
    Twin("gemm_types", "gemm_tf32", TYPES, (F32, F32, F32), constants={"BK": 32}),
    Twin("gemm_types", "gemm_f64", TYPES, (F64, F64, F64), 4, SMALL),
    Twin("gemm_fp8", "gemm_fp8", TYPES, (E4M3, E4M3, F32), constants={"TRANSPOSED": True}),
    Twin("gemm_int8", "gemm_int8", TYPES, (np.int8, np.int8, np.int32), 8, {"TRANSPOSED": True}),
    *(
        Twin(
            f"attention{suffix}",
            f"attention{'_causal' * causal}{suffix}",
            ("attention", "attention"),
            (F16,) * 4,
            warps,
            {"CAUSAL": causal},
        )
        for suffix, warps in (("", 4), ("_128", 8))
        for causal in (False, True)
    ),
)
ALONE = (
    *("attention_backward", "causal_conv", "cross_entropy", "dependent_add", "depthwise_conv"),
    "dropout",
    *("embedding", "fp8_block_gemm", "grouped_gemm", "histogram", "layer_norm_backward", "mamba2"),
    *("math_functions", "moe", "paged_attention", "persistent_gemm", "prefix_sum", "rms_norm"),
    *("rotary", "stream_k_gemm", "swiglu", "topk", "varlen_attention", "w4a16_gemm"),
)
"""Kernels that stand in Python only; each has a `check` that compares it with numpy."""
OTHERS = ("sm_75", "sm_90a", "sm_120a")
"""Targets beside the default, for which they are run as programs."""
SINCE_HOPPER = ("sm_90a", "sm_120a")
LATE = ("dependent_add", "fp8_block_gemm")
"""Those that sm_75 has not the instructions of."""
LONG = (
    *("attention_backward", "depthwise_conv", "layer_norm_backward", "mamba2", "math_functions"),
    *("stream_k_gemm", "varlen_attention", "w4a16_gemm"),
)


def others(name: str) -> Iterator[Any]:
    """The runs of a kernel that stands alone; CI has those for sm_90a and for one more target."""
    more = "sm_120a" if name in LATE + LONG or ALONE.index(name) % 2 else "sm_75"
    for target in SINCE_HOPPER if name in LATE else OTHERS:
        slow = target not in ("sm_90a", more)
        yield pytest.param(name, target, marks=[pytest.mark.slow] if slow else [])


twins = pytest.mark.parametrize("twin", TWINS, ids=lambda twin: twin.name)


def kernel_of(twin: Twin) -> Any:
    file, name = twin.python
    return getattr(module(FOLDER / f"{file}.py"), name).using(warps=twin.warps)


@twins
def test_it_is_the_same_program(twin: Twin) -> None:
    kernel = kernel_of(twin)
    deep = 128 if twin.file.endswith("_128") else 64
    arguments = [
        np.empty((3, 5, deep) if twin.file.startswith("attention") else (33, 65), dtype)
        for dtype in twin.arrays
    ]
    if twin.file.startswith("attention"):
        arguments.append(1.0)
    ours = canonical(kernel.build(*arguments, **twin.constants), kernel.__name__)
    text = (FOLDER / f"{twin.file}.mlir").read_text(encoding="utf-8")
    assert ours == canonical(text, twin.name)


@pytest.mark.parametrize(
    "every", [False, pytest.param(True, marks=pytest.mark.slow)], ids=["ragged", "every"]
)
@twins
def test_it_agrees_with_numpy(twin: Twin, every: bool) -> None:
    run = next(r for r in RUNS if (r.file, r.name) == (twin.file, twin.name))
    kernel = kernel_of(twin).using(target=run.targets[0])
    for extents in run.extents if every else run.extents[:2][-1:]:
        made = run.run(np.random.default_rng(0), extents)
        arguments = [_as_annotated(argument) for argument in made.arguments]
        kernel[made.grid](*arguments, **twin.constants)
        scale = max(np.abs(made.expected.astype(F64)).max(initial=0), 1e-30)
        off = np.abs(made.result.astype(F64) - made.expected.astype(F64)).max(initial=0)
        assert off <= made.tolerance * scale, f"{extents}: {off} of {scale}"


def _as_annotated(argument: Any) -> Any:
    """Scalars of numpy as Python's."""
    return argument.item() if isinstance(argument, np.generic) else argument


def test_every_kernel_in_python_has_a_twin() -> None:
    """But those that stand alone, `vector_add` too, and those of linalg and vector."""
    files = {path.stem for path in FOLDER.glob("*.py")} - {"vector_add", *ALONE}
    assert files == {twin.python[0] for twin in TWINS}
    names = {(r.file, r.name) for r in RUNS if not r.file.startswith(("linalg", "vector"))}
    assert names == {(twin.file, twin.name) for twin in TWINS}


@pytest.mark.parametrize(("name", "target"), [run for name in ALONE for run in others(name)])
def test_it_checks_itself_for_each_target(name: str, target: str) -> None:
    module(FOLDER / f"{name}.py").check(target=target)


@pytest.mark.parametrize("file", sorted(FOLDER.glob("*.py")), ids=lambda path: path.stem)
def test_run_as_a_program_it_checks_itself(file: Path) -> None:
    runpy.run_path(str(file), run_name="__main__")
