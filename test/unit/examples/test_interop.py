"""Kernels as operators of PyTorch and JAX; skipped where those are not installed."""

from __future__ import annotations

import runpy
from pathlib import Path
from typing import Any

import numpy as np
import pytest
import tilec.lang as tl
from tilec import kernel

EXAMPLES = Path(__file__).resolve().parents[3] / "examples" / "interop"
X = np.random.default_rng(0).standard_normal((5, 37)).astype(np.float32)


@kernel(target="sm_80")
def doubled(x: tl.Array[tl.float32, int, int], y: tl.Array[tl.float32, int, int]) -> None:
    tl.store(y, (0, 0), 2 * tl.load(x, (0, 0), (8, 64)))


def example(library: str) -> dict[str, Any]:
    """What an example defines; it checks its gradients itself."""
    pytest.importorskip(library, reason=f"{library} is not installed: pip install '.[interop]'")
    return runpy.run_path(str(EXAMPLES / f"{library}_softmax.py"), run_name="__main__")


def test_torch(capsys: pytest.CaptureFixture[str]) -> None:
    """torch's own checks of an operator: schema, fake tensors, gradient, torch.compile."""
    softmax = example("torch")["softmax"]
    assert "gradients agree" in capsys.readouterr().out
    import torch

    x = torch.from_numpy(X.copy()).requires_grad_()
    torch.library.opcheck(softmax, (x,))
    torch.testing.assert_close(softmax(x), torch.softmax(x, 1))


def test_tensors_of_torch_are_not_copied() -> None:
    torch = pytest.importorskip("torch", reason="torch is not installed")
    whole = torch.zeros(5, 80)
    x, y = torch.from_numpy(X), whole[:, 3:40]  # a view, whose rows lie apart
    doubled[1](x, y)
    np.testing.assert_array_equal(whole[:, 3:40].numpy(), 2 * X)
    assert not whole[:, :3].any()
    assert not whole[:, 40:].any()


def test_jax(capsys: pytest.CaptureFixture[str]) -> None:
    softmax = example("jax")["softmax"]
    assert "gradients agree" in capsys.readouterr().out
    import jax

    x = jax.numpy.asarray(np.stack([X, 2 * X]))
    wanted = jax.nn.softmax(x)
    np.testing.assert_allclose(jax.jit(softmax)(x), wanted, rtol=1e-5, atol=1e-7)
    np.testing.assert_allclose(jax.vmap(softmax)(x), wanted, rtol=1e-5, atol=1e-7)


def test_arrays_of_jax_are_read() -> None:
    jax = pytest.importorskip("jax", reason="jax is not installed")
    y = np.zeros_like(X)
    doubled[1](jax.numpy.asarray(X), y)
    np.testing.assert_array_equal(y, 2 * X)


def test_arrays_of_jax_are_not_written() -> None:
    jax = pytest.importorskip("jax", reason="jax is not installed")
    with pytest.raises(Exception, match=r"read-only|readonly"):
        doubled[1](X, jax.numpy.zeros(X.shape))
