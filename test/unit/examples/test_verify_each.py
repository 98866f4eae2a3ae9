"""Every pass leaves IR that MLIR's verifier accepts, over whole kernels: nothing used out of reach.

A compilation verifies less, and a later pass may mend what an earlier one left.
"""

from pathlib import Path

import pytest
import tilec

KERNELS = Path(__file__).parents[3] / "examples" / "kernels"


@pytest.mark.parametrize("name", ["attention", "gemm", "gemm_int4", "layer_norm", "split_k_gemm"])
@pytest.mark.parametrize("target", ["sm_75", "sm_90a"])
def test_after_every_pass(name: str, target: str) -> None:
    tilec.compile(KERNELS / f"{name}.mlir", target=target, emit="nvvm", verify_each=True)
