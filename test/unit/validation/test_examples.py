"""Every program in examples/, for every target: each pass up to level 3 is compared, none named."""

from __future__ import annotations

import re
from pathlib import Path

import pytest
from tilec.frontend.contexts import new_context
from tilec.frontend.parsing import parse
from tilec.ir.mlir import ir
from tilec.isa import target
from tilec.passes.base import ProgramError
from tilec.passes.functions import gpu_modules
from tilec.passes.instrumentation import Instrumentation
from tilec.passes.pipeline import run_pipeline
from tilec.pipelines import pipeline
from tilec.report.diagnostics import Source
from tilec.validation.validator import Validator

EXAMPLES = Path(__file__).parents[3] / "examples"
PROGRAMS = sorted(str(path.relative_to(EXAMPLES)) for path in EXAMPLES.rglob("*.mlir"))
TARGETS = ("sm_80", "sm_90a", "sm_120a")
REFUSED = r"does not exist on sm_|is not supported on sm_|no instruction of sm_\w+ multiplies"
DRAWN = (
    ("hopper/persistent.mlir", "sm_90a"),
    ("kernels/linalg_gemm.mlir", "sm_80"),
    ("kernels/scaled_gemm.mlir", "sm_120a"),
)
HAND_WRITTEN = ("gather.mlir", "gemm.mlir", "gemm_cluster.mlir", "mma.mlir", "warp_gemm.mlir")
"""Programs at level 3, or of which no pass changes anything before that ends."""
WITH_LAYOUTS = ("gemm_bounds.mlir", "gemm_strides.mlir")
"""Programs at level 2, of which fewer passes change something."""
BLACKWELL = [name for name in PROGRAMS if "tile.alloc_tensor" in (EXAMPLES / name).read_text()]
"""Programs with buffers in tensor memory."""


ALONE = "attributes {tile.cluster = array<i64: 1, 1, 1>, "
"""What a kernel says whose products no pairs compute."""
TOGETHER = "attributes {tile.cluster = array<i64: 1, 2, 1>, "
"""What one says whose products pairs compute."""


def retargeted(path: Path, chip: str, attributes: str) -> ir.Module:
    """The program, for another target than it names, with more attributes of its kernels."""
    text = re.sub(r'(#nvvm.target<chip = )"\w+"', rf'\1"{chip}"', path.read_text())
    return parse(Source("-", text.replace("attributes {", attributes)), new_context())


def validated(name: str, chip: str, attributes: str = "attributes {") -> Validator | None:
    """What the validator says of a program; None if the target has no such instructions."""
    found = Validator(shrinks=False)
    watched = Instrumentation(watchers=(found.around,))
    try:
        module = retargeted(EXAMPLES / name, chip, attributes)
        for one in pipeline(target(chip)).tile:
            with module.context:
                for kernels in gpu_modules(module):
                    named = ir.Attribute.parse(f'#nvvm.target<chip = "{chip}">')
                    kernels.attributes["targets"] = ir.ArrayAttr.get([named])
            run_pipeline(module, str(one), instrumentation=watched)
    except ProgramError as error:
        if not re.search(REFUSED, str(error)):
            raise
        return None
    return found


def check(name: str, chip: str) -> None:
    found = validated(name, chip)
    if found is None:
        return
    assert not found.left
    if name in BLACKWELL:
        assert "tile-allocate-tensor-memory" in found.validated
    elif Path(name).name not in HAND_WRITTEN:
        assert len(found.validated) >= (2 if name in WITH_LAYOUTS else 4)


@pytest.mark.parametrize(("name", "chip"), DRAWN)
def test_a_drawn_part(name: str, chip: str) -> None:
    check(name, chip)


@pytest.mark.slow
@pytest.mark.parametrize("chip", TARGETS)
@pytest.mark.parametrize("name", PROGRAMS)
def test_all(name: str, chip: str) -> None:
    check(name, chip)


@pytest.mark.slow
@pytest.mark.parametrize("name", BLACKWELL)
def test_tensor_memory(name: str) -> None:
    check(name, "sm_100a")


@pytest.mark.slow
@pytest.mark.parametrize(
    ("name", "attributes"),
    [
        *((name, ALONE) for name in ("gemm", "scaled_gemm", "attention")),
        *((name, TOGETHER) for name in ("gemm", "scaled_gemm")),
    ],
)
def test_products_in_tensor_memory(name: str, attributes: str) -> None:
    found = validated(f"kernels/{name}.mlir", "sm_100a", attributes)
    assert found is not None
    assert not found.left
    passes = {"tile-stage-tcgen05", "tile-place-accumulators"}
    if name != "attention":
        passes |= {"tile-specialize-warps", "tile-request-tiles", "tile-to-fragments"}
    if attributes == TOGETHER:
        passes |= {"tile-form-pairs", "tile-allocate-tensor-memory"}
    assert passes <= set(found.validated)
