"""A kernel in JAX: under jit and vmap, with a gradient.

`pure_callback` calls the kernel from compiled code with arrays that are in the host's memory, where
it runs on the simulator; arrays of JAX on a GPU are passed to a kernel as they are, by DLPack.
"""

import math
from typing import Any

import jax
import jax.numpy as jnp
import numpy as np
import tilec
import tilec.lang as tl

Matrix = tl.Array[tl.float32, int, int]


@tilec.kernel
def forward(x: Matrix, y: Matrix, COLS: tl.Constant[int]) -> None:
    row = tl.program_id(0)
    held = tl.load(x, (row, 0), COLS, fill=-math.inf)
    powers = tl.exp(held - held.max())
    tl.store(y, (row, 0), powers / powers.sum())


def on_host(x: Any) -> Any:
    """The kernel on an array that DLPack shares; it writes to numpy's, as JAX's do not change."""
    rows = x.reshape(-1, x.shape[-1])
    y = np.empty(rows.shape, np.float32)
    forward[rows.shape[0]](rows, y, COLS=1 << (rows.shape[1] - 1).bit_length())
    return y.reshape(x.shape)


@jax.custom_vjp
def softmax(x: jax.Array) -> jax.Array:
    """The softmax along the last dimension."""
    result = jax.ShapeDtypeStruct(x.shape, jnp.float32)
    return jax.pure_callback(on_host, result, x, vmap_method="broadcast_all")


def keep(x: jax.Array) -> tuple[jax.Array, jax.Array]:
    """The result, twice: the gradient takes it as well."""
    y = softmax(x)
    return y, y


def gradient(y: jax.Array, dy: jax.Array) -> tuple[jax.Array]:
    """By what JAX has."""
    return (y * (dy - (y * dy).sum(-1, keepdims=True)),)


softmax.defvjp(keep, gradient)

if __name__ == "__main__":
    x = jnp.asarray(np.random.default_rng(0).standard_normal((5, 37)), jnp.float32)

    def loss(x: jax.Array) -> jax.Array:
        return (softmax(2 * x) ** 2).sum()

    found = jax.jit(jax.grad(loss))(x)
    wanted = jax.grad(lambda x: (jax.nn.softmax(2 * x) ** 2).sum())(x)
    np.testing.assert_allclose(found, wanted, rtol=1e-4, atol=1e-6)
    print("gradients agree")
