"""Depthwise causal convolution along a sequence, as state-space models have it, with SiLU."""

from typing import Any

import numpy as np
import tilec
import tilec.lang as tl


@tilec.kernel
def causal_conv(
    x: tl.Array[tl.float32, int, int],
    w: tl.Array[tl.float32, int, int],
    bias: tl.Array[tl.float32, int] | None,
    y: tl.Array[tl.float32, int, int],
    TAPS: tl.Constant[int],
    TIME: tl.Constant[int] = 32,
    CHANNELS: tl.Constant[int] = 64,
) -> None:
    time, channel = tl.program_id(1) * TIME, tl.program_id(0) * CHANNELS
    acc = tl.zeros((TIME, CHANNELS))
    for tap in tl.static_range(TAPS):
        held = tl.load(x, (time + tap - (TAPS - 1), channel), (TIME, CHANNELS))
        acc = acc + held * tl.load(w, (tap, channel), CHANNELS)
    if bias is not None:
        acc = acc + tl.load(bias, channel, CHANNELS)
    tl.store(y, (time, channel), acc * tl.sigmoid(acc))


def check(**settings: Any) -> None:
    """Run it, and compare with numpy."""
    random = np.random.default_rng(0)
    x, w = random.standard_normal((50, 70)), random.standard_normal((4, 70))
    x, w, bias = (one.astype(np.float32) for one in (x, w, random.standard_normal(70)))
    for given in (bias, None):
        y = np.empty_like(x)
        causal_conv.using(**settings)[2, 2](x, w, given, y, TAPS=4)
        padded = np.concatenate([np.zeros((3, 70)), x])
        sums = sum(padded[tap : tap + 50] * w[tap] for tap in range(4))
        sums = sums + (0 if given is None else given)
        np.testing.assert_allclose(y, sums / (1 + np.exp(-sums)), rtol=1e-4, atol=1e-5)


if __name__ == "__main__":
    check()
