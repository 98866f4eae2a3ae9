"""Depthwise convolution of images, channels last: each channel with a filter of its own."""

from typing import Any

import numpy as np
import tilec
import tilec.lang as tl

Images = tl.Array[tl.float16, int, int, int, int]


@tilec.kernel
def depthwise_conv(
    x: Images,  # batch x height x width x channels
    w: tl.Array[tl.float16, int, int, int],  # taps x taps x channels
    bias: tl.Array[tl.float32, int],
    y: Images,
    TAPS: tl.Constant[int],
    STRIDE: tl.Constant[int] = 1,
    WIDTH: tl.Constant[int] = 16,
    CHANNELS: tl.Constant[int] = 32,
) -> None:
    """A part of a row; what lies outside of the image is 0, and half of the taps do."""
    image, across = tl.program_id(2), tl.cdiv(y.shape[2], WIDTH)
    row, col = tl.program_id(1) // across, tl.program_id(1) % across * WIDTH
    channel = tl.program_id(0) * CHANNELS
    acc = tl.zeros((WIDTH, CHANNELS)) + tl.load(bias, channel, CHANNELS)
    for down in tl.static_range(TAPS):
        for right in tl.static_range(TAPS):
            cols = (tl.arange(WIDTH) + tl.int32(col)) * STRIDE + (right - TAPS // 2)
            place = (image, row * STRIDE + down - TAPS // 2, cols, channel)
            held = tl.load(x, place, (WIDTH, CHANNELS)).astype(tl.float32)
            acc += held * tl.load(w, (down, right, channel), CHANNELS).astype(tl.float32)
    tl.store(y, (image, row, col, channel), acc.astype(tl.float16))


def check(**settings: Any) -> None:
    """Run it, and compare with numpy."""
    random = np.random.default_rng(0)
    x = random.standard_normal((2, 6, 21, 40)).astype(np.float16)
    w, bias = random.standard_normal((3, 3, 40)).astype(np.float16), np.arange(40, dtype=np.float32)
    padded = np.pad(x.astype(float), ((0, 0), (1, 1), (1, 1), (0, 0)))
    for stride in (1, 2):
        y = np.empty((2, tl.cdiv(6, stride), tl.cdiv(21, stride), 40), np.float16)
        grid = (tl.cdiv(40, 32), y.shape[1] * tl.cdiv(y.shape[2], 16), 2)
        depthwise_conv.using(**settings)[grid](x, w, bias, y, TAPS=3, STRIDE=stride)
        windows = np.lib.stride_tricks.sliding_window_view(padded, (3, 3), axis=(1, 2))
        expected = np.einsum("nhwcij,ijc->nhwc", windows[:, ::stride, ::stride], w.astype(float))
        np.testing.assert_allclose(y, expected + bias, rtol=2e-3, atol=2e-2)


if __name__ == "__main__":
    check()
