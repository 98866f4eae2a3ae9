"""A kernel as an operator of PyTorch: in eager mode, under torch.compile, with a gradient.

On tensors of the CPU it runs on the simulator, on CUDA tensors on the GPU, on torch's stream.
"""

import math
from typing import Any

import tilec
import tilec.lang as tl
import torch

Matrix = tl.Array[tl.float32, int, int]


@tilec.kernel
def forward(x: Matrix, y: Matrix, COLS: tl.Constant[int]) -> None:
    row = tl.program_id(0)
    held = tl.load(x, (row, 0), COLS, fill=-math.inf)
    powers = tl.exp(held - held.max())
    tl.store(y, (row, 0), powers / powers.sum())


@tilec.kernel
def backward(y: Matrix, dy: Matrix, dx: Matrix, COLS: tl.Constant[int]) -> None:
    row = tl.program_id(0)
    held, above = tl.load(y, (row, 0), COLS), tl.load(dy, (row, 0), COLS)
    tl.store(dx, (row, 0), held * (above - (held * above).sum()))


def columns(x: torch.Tensor) -> int:
    """The extent of a tile that holds a row."""
    return 1 << (x.shape[1] - 1).bit_length()


@torch.library.custom_op("tilec_examples::softmax", mutates_args=())
def softmax(x: torch.Tensor) -> torch.Tensor:
    """The softmax of each row of a matrix of float32."""
    y = torch.empty_like(x)
    forward[x.shape[0]](x, y, COLS=columns(x))
    return y


@torch.library.custom_op("tilec_examples::softmax_backward", mutates_args=())
def softmax_backward(y: torch.Tensor, dy: torch.Tensor) -> torch.Tensor:
    """Its gradient, of its result and of the result's gradient."""
    dx = torch.empty_like(y)
    backward[y.shape[0]](y, dy.contiguous(), dx, COLS=columns(y))
    return dx


@softmax.register_fake
def _(x: torch.Tensor) -> torch.Tensor:
    return torch.empty_like(x)


@softmax_backward.register_fake
def _(y: torch.Tensor, dy: torch.Tensor) -> torch.Tensor:  # noqa: ARG001 (torch's signature)
    return torch.empty_like(y)


def keep(ctx: Any, inputs: Any, output: torch.Tensor) -> None:  # noqa: ARG001 (torch's)
    ctx.save_for_backward(output)


def gradient(ctx: Any, dy: torch.Tensor) -> torch.Tensor:
    (y,) = ctx.saved_tensors
    found: torch.Tensor = softmax_backward(y, dy)
    return found


softmax.register_autograd(gradient, setup_context=keep)

if __name__ == "__main__":
    x = torch.randn(5, 37, generator=torch.Generator().manual_seed(0), requires_grad=True)
    compiled = torch.compile(lambda x: softmax(2 * x).square().sum(), backend="aot_eager")
    compiled(x).backward()
    given, x.grad = x.grad, None
    torch.softmax(2 * x, dim=1).square().sum().backward()
    torch.testing.assert_close(given, x.grad)
    print("gradients agree")
