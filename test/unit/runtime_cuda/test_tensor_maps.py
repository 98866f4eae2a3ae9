"""What the driver is asked for a tensor map, and what an array must be for one."""

from __future__ import annotations

import re
from typing import Any

import numpy as np
import pytest
from tilec.isa import LaunchError
from tilec.isa.boxes import Im2col
from tilec.runtime.cuda import tensor_map
from tilec.runtime.tensor_maps import BoxedArray

driver = pytest.importorskip("cuda.bindings.driver")


def _boxed(shape: tuple[int, ...], strides: tuple[int, ...]) -> BoxedArray:
    return BoxedArray(np.zeros(1), "bf16", 2, shape, strides, (1, 64, 32), "64B")


def test_dimension_0_is_the_last(monkeypatch: pytest.MonkeyPatch) -> None:
    asked: list[Any] = []

    def call(function: str, *args: Any) -> Any:
        assert hasattr(driver, function)
        asked.extend(args)
        return driver.CUtensorMap()

    monkeypatch.setattr(tensor_map, "bindings", lambda: driver)
    monkeypatch.setattr(tensor_map, "call", call)
    # One matrix of 100 rows of 72: the stride from matrix to matrix tells nothing.
    made = tensor_map.encode_map(_boxed((1, 100, 72), (6, 144, 2)), 0x1000)
    assert made == bytes(128)
    assert asked[0] == driver.CUtensorMapDataType.CU_TENSOR_MAP_DATA_TYPE_BFLOAT16
    assert asked[1:3] == [3, 0x1000]
    assert [[int(n) for n in numbers] for numbers in asked[3:7]] == [
        [72, 100, 1],
        [144, 16],
        [32, 64, 1],
        [1, 1, 1],
    ]
    assert asked[8] == driver.CUtensorMapSwizzle.CU_TENSOR_MAP_SWIZZLE_64B


def test_boxes_of_im2col(monkeypatch: pytest.MonkeyPatch) -> None:
    asked: list[Any] = []

    def call(function: str, *args: Any) -> Any:
        assert hasattr(driver, function)
        asked.extend((function, *args))
        return driver.CUtensorMap()

    monkeypatch.setattr(tensor_map, "bindings", lambda: driver)
    monkeypatch.setattr(tensor_map, "call", call)
    box = Im2col((-1, -2), (3, 4), 64, 100)  # W first
    shape, strides = (5, 7, 9, 64), (8064, 1152, 128, 2)
    boxed = BoxedArray(np.zeros(1), "f16", 2, shape, strides, (), "128B", (1, 2, 3, 1), box)
    tensor_map.encode_map(boxed, 0x1000)
    assert asked[0] == "cuTensorMapEncodeIm2col"
    assert asked[2:4] == [4, 0x1000]
    assert [[int(n) for n in numbers] for numbers in asked[4:6]] == [
        [64, 9, 7, 5],
        [128, 1152, 8064],
    ]
    assert asked[6:10] == [[-1, -2], [3, 4], 64, 100]
    assert [int(n) for n in asked[10]] == [1, 3, 2, 1]
    assert asked[12] == driver.CUtensorMapSwizzle.CU_TENSOR_MAP_SWIZZLE_128B


@pytest.mark.parametrize(
    ("shape", "strides", "address", "message"),
    [
        ((2, 8, 8), (128, 16, 2), 8, "argument 0 is at 0x8; "),
        ((2, 8, 9), (144, 18, 2), 0, "a stride of 18 bytes along dimension 1"),
        ((2, 8, 8), (72, 16, 2), 0, "a stride of 72 bytes along dimension 0"),
        ((2, 8, 8), (128, 16, 4), 0, "elements 4 bytes apart along dimension 2"),
        ((2, 0, 8), (128, 16, 2), 0, "0 elements along dimension 1"),
    ],
)
def test_demands(
    shape: tuple[int, ...], strides: tuple[int, ...], address: int, message: str
) -> None:
    with pytest.raises(LaunchError, match=re.escape(message)):
        _boxed(shape, strides).check("argument 0", address)
