"""Products of whole matrices as one instruction after the other adds them, bit by bit."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np
from tilec.interpret.numbers import Array
from tilec.isa import Product

from .base import Matrices, Scales


def multiply_by(form: Product, whole: Matrices, target: str) -> Array:
    """Σ in the order in which instructions of `form` go on along K.

    Raises:
        TilecError: if the target has no such tensor cores.
    """
    # Loads the simulator where bits are asked for.
    from tilec.sim.tensor.arithmetic import arithmetic  # noqa: PLC0415
    from tilec.sim.tensor.floats import (  # noqa: PLC0415
        Inputs,
        absent_of,
        addend_of,
        exact,
        sides_of,
    )

    if form.operand("a").type.name == "f64":
        return _chain(form, whole)
    batch = np.broadcast_shapes(*(one.shape[:-2] for one in (whole.a, whole.b, whole.c)))

    def flat(values: Array) -> Array:
        spread = np.broadcast_to(values, (*batch, *values.shape[-2:]))
        return spread.reshape(-1, *values.shape[-2:])

    left, right, total = (flat(one) for one in (whole.a, whole.b, whole.c))
    present = None
    if whole.present is not None and not np.isfinite(right.astype(np.float64)).all():
        present = flat(whole.present)
    step, of_target = form.shape.k, arithmetic(form, target)
    for start in range(0, left.shape[-1], step):
        part = slice(start, start + step)
        inputs = Inputs(
            _taken(form, "a", left[..., part]),
            _taken(form, "b", right[:, part]),
            total,
            None if present is None else present[..., part],
            *(_scales(form, whole.scales, start, flat) if whole.scales is not None else ()),
        )
        sides, addend = sides_of(form, inputs, of_target), addend_of(form, total)
        total = exact(form, of_target, sides, addend, absent_of(inputs)).transpose(2, 0, 1)
    return total.reshape(*batch, *total.shape[-2:])


def _taken(form: Product, name: str, values: Array) -> Array:
    """What an instruction takes of an operand: of a tf32 the upper 19 bits."""
    found = np.ascontiguousarray(values, np.float32)
    type_ = form.operand(name).type
    unread = np.uint32(32 - type_.value_bits) if type_.name == "tf32" else np.uint32(0)
    return np.asarray((found.view(np.uint32) >> unread << unread).view(np.float32))


def _chain(form: Product, whole: Matrices) -> Array:
    """f64: a chain of fused multiply-adds, k ascending; of NaNs there is one."""
    from tilec.sim.alu.arithmetic import arithmetic  # noqa: PLC0415

    fma = arithmetic("fma", 64, form.rounding or "rn")
    total = whole.c
    for k in range(whole.a.shape[-1]):
        factors = whole.a[..., k, None], whole.b[..., k, None, :]
        total = np.asarray(fma(*(np.array(v) for v in np.broadcast_arrays(*factors, total))))
    return np.where(np.isnan(total), np.nan, total)


def _scales(
    form: Product, scales: Scales, start: int, flat: Callable[[Array], Array]
) -> tuple[Array, Array]:
    """The scale factors of one instruction along K."""
    assert form.scaling is not None
    first = start // form.shape.k * form.scaling.chunks
    blocks = slice(first, first + form.scaling.chunks)
    found = flat(scales.a)[..., blocks], flat(scales.b)[:, blocks]
    a, b = (np.ascontiguousarray(one, np.float32) for one in found)
    return a, b
