"""What SentryWard is told of a launch, made from the JSON beside the PTX."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from math import prod
from typing import Any

SCHEMA = "spverify.kernel-input/v1"
TYPES = {"index": "u64", "i64": "u64", "i32": "u32", "i16": "u16", "i8": "u8", "f32": "f32"}
"""How scalars are passed."""
POINTER = "pointer"


def kernel_input(kernel: Mapping[str, Any], size: int) -> dict[str, Any]:
    """A launch of one CTA, whose arrays lie row by row, each for itself; scalars are 1.

    Args:
        kernel: an element of `kernels` of the JSON.
        size: every extent that the launch passes.
    """
    return {
        "schema": SCHEMA,
        "entry": kernel["name"],
        "launch": {
            "grid_dim": [1, 1, 1],
            "block_dim": kernel["block"],
            "cluster_dim": kernel.get("cluster", [1, 1, 1]),
            "dynamic_shared_bytes": kernel["dynamic_shared"],
        },
        "arguments": [
            {"parameter": f"{kernel['name']}_param_{number}", "type": type_, "value": value}
            for number, (type_, value) in enumerate(_passed(kernel, size))
            if type_ != POINTER  # theirs are the verifier's to choose
        ],
    }


def _passed(kernel: Mapping[str, Any], size: int) -> Iterator[tuple[str, int]]:
    """Type and value of each parameter, in order."""
    for argument in kernel["arguments"]:
        if argument["kind"] == "scalar":
            yield TYPES[argument["type"]], 1
            continue
        yield POINTER, 0
        if argument["kind"] == "memref":
            shape = [size if known is None else known for known in argument["shape"]]
            yield from (
                ("u64", n)
                for n, known in zip(shape, argument["shape"], strict=True)
                if known is None
            )
            strides = zip(_strides(shape), argument["strides"], strict=True)
            yield from (("u64", n) for n, known in strides if known is None)
            if argument["offset"] is None:
                yield "u64", 0


def _strides(shape: Sequence[int]) -> list[int]:
    """Those of an array that lies row by row."""
    return [prod(shape[dim + 1 :]) for dim in range(len(shape))]
