"""What a snapshot holds: every value by type and bits, what code names and no more."""

from __future__ import annotations

import functools
import math
import re
import struct
import time
import types
from pathlib import Path
from typing import Any

import ml_dtypes
import numpy as np
import pytest
import tilec
import tilec.lang as tl
from hypothesis import given, settings
from hypothesis import strategies as st
from tilec.lang.kernels import Kernel
from tilec.lang.snapshot import Snapshot, exact, take
from tilec.lang.snapshot.places import Span, to_files, to_functions

PLAIN = st.recursive(
    st.one_of(
        st.none(),
        st.booleans(),
        st.integers(),
        st.floats(),
        st.complex_numbers(),
        st.text(max_size=3),
        st.binary(max_size=3),
        st.sampled_from([1, 1.0, True, 0.0, -0.0, np.float32(1), np.int8(1), np.float16, tl.int8]),
    ),
    lambda parts: st.lists(parts, max_size=3).map(tuple),
)


def same(one: Any, other: Any) -> bool:
    """Whether two values are of one type and have the same bits, as this test sees it."""
    if type(one) is not type(other):
        return False
    if isinstance(one, tuple):
        return len(one) == len(other) and all(map(same, one, other))
    if isinstance(one, float) and not isinstance(one, np.generic):
        return struct.pack("d", one) == struct.pack("d", other)
    if isinstance(one, complex):
        return same(one.real, other.real) and same(one.imag, other.imag)
    if isinstance(one, np.generic):
        return one.tobytes() == other.tobytes()
    return bool(one == other)


@settings(max_examples=1000)
@given(PLAIN, PLAIN)
def test_texts_are_equal_for_the_same_bits_alone(one: Any, other: Any) -> None:
    assert exact(one) is not None
    assert (exact(one) == exact(other)) == same(one, other)


def test_numbers_of_other_libraries() -> None:
    dtypes = (ml_dtypes.bfloat16, ml_dtypes.float8_e4m3fn, ml_dtypes.float8_e5m2, np.float16)
    values = [dtype(number) for dtype in dtypes for number in (1.0, -0.0, 0.0, math.nan)]
    texts = {exact(value) for value in [*values, *map(np.dtype, dtypes), *dtypes]}
    assert None not in texts
    assert len(texts) == len(values) + 2 * len(dtypes)
    assert exact(np.array(["a"], object)[:1]) is None
    assert exact([1]) is None


def of(kernel: Kernel) -> Snapshot:
    return take(kernel.source, {})


class Config:
    """Has attributes that no kernel names, and one that cannot be recorded."""

    def __init__(self) -> None:
        self.scale = 1.0
        self.unread = 1
        self.file = time.sleep

    def save(self, path: str) -> None:
        Path(path).write_text(str(self.scale))

    def twice(self) -> float:
        return self.scale * 2


CONFIG = Config()
TABLE = {"used": 2.0, "unread": time.sleep}


def scaled(x: tl.Tile, config: Config) -> tl.Tile:
    return x * config.scale


@tilec.kernel
def reads_attributes(x: tl.Array[tl.float32, int]) -> None:
    y = tl.load(x, 0, 16)
    tl.store(x, 0, scaled(y, CONFIG) + CONFIG.twice() + TABLE["used"])


def test_what_no_code_names_does_not_count(monkeypatch: pytest.MonkeyPatch) -> None:
    before = of(reads_attributes)
    assert before.reason is None
    monkeypatch.setattr(CONFIG, "unread", 2)
    monkeypatch.setitem(TABLE, "unread", 3)
    assert of(reads_attributes) == before
    assert before.holds()
    monkeypatch.setattr(CONFIG, "scale", 1)
    assert not before.holds()
    assert of(reads_attributes) != before


def test_a_value_set_to_what_it_is_changes_nothing(monkeypatch: pytest.MonkeyPatch) -> None:
    before = of(reads_attributes)
    monkeypatch.setattr(CONFIG, "scale", float("1.0"))
    assert of(reads_attributes) == before


@tilec.kernel
def reads_the_clock(x: tl.Array[tl.float32, int]) -> None:
    tl.store(x, 0, tl.full(16, time.time()))


@functools.cache
def kept() -> float:
    return CONFIG.scale


@tilec.kernel
def reads_what_is_kept(x: tl.Array[tl.float32, int]) -> None:
    tl.store(x, 0, tl.full(16, kept()))


@tilec.kernel
def reads_chance(x: tl.Array[tl.float32, int]) -> None:
    tl.store(x, 0, tl.full(16, np.random.rand()))


@tilec.kernel
def reads_a_file(x: tl.Array[tl.float32, int]) -> None:
    tl.store(x, 0, tl.full(16, float(open("scale").read())))  # noqa: SIM115


NUMBERS = iter(range(3))


@tilec.kernel
def reads_an_iterator(x: tl.Array[tl.float32, int]) -> None:
    tl.store(x, 0, tl.full(16, next(NUMBERS)).astype(tl.float32))


@pytest.mark.parametrize(
    ("kernel", "reason"),
    [
        (reads_the_clock, "time.time in reads_the_clock is time, which may give anything"),
        (reads_what_is_kept, "kept in .* keeps the results of earlier calls, by functools.cache"),
        (reads_chance, "np.random.rand in reads_chance is a cython_function_or_method"),
        (reads_a_file, "open in reads_a_file is open, which may give anything"),
        (reads_an_iterator, "NUMBERS in reads_an_iterator is a range_iterator, whose state is"),
    ],
)
def test_what_cannot_be_recorded_is_said(kernel: Kernel, reason: str) -> None:
    found = of(kernel)
    assert found.reason is not None
    assert re.search(reason, found.reason)
    assert found != of(kernel)
    assert kernel.explain().splitlines()[-2:] == [
        "rebuilt at every launch, since some of what it reads cannot be recorded:",
        f"  {found.reason}",
    ]


def test_what_cannot_be_recorded_is_read_at_every_launch() -> None:
    x = np.zeros(16, np.float32)
    got = []
    for _ in range(3):
        reads_an_iterator.using(device="sim")[1](x)
        got.append(x[0])
    assert got == [0, 1, 2]


COUNT = [0]


def counted() -> int:
    COUNT[0] += 1
    return COUNT[0]


@tilec.kernel
def changes_what_it_reads(x: tl.Array[tl.float32, int]) -> None:
    tl.store(x, 0, tl.full(16, counted(), tl.float32))


def test_what_building_changes_is_changed_at_every_launch() -> None:
    x, got = np.zeros(16, np.float32), []
    for _ in range(2):  # as another process, which finds what the first kept
        COUNT[0] = 0
        kernel = tilec.kernel(device="sim")(changes_what_it_reads.function)
        for _ in range(3):
            kernel[1](x)
            got.append(x[0])
    assert got == [1, 2, 3, 1, 2, 3]


def test_a_kernel_that_does_not_change_what_it_reads_any_more_is_found() -> None:
    @functools.cached_property
    def scale(self: Any) -> float:
        return 2.0

    config = type("Config", (), {"scale": scale})()
    scale.__set_name__(type(config), "scale")

    @tilec.kernel
    def kernel(x: tl.Array[tl.float32, int]) -> None:
        tl.store(x, 0, tl.full(16, config.scale))

    made = [kernel.compile() for _ in range(5)]
    assert made[-1] is made[-2]


def test_stages_of_another_state_are_not_shown(monkeypatch: pytest.MonkeyPatch) -> None:
    reads_attributes.compile()
    found = tilec.kernel(reads_attributes.function).compile()
    monkeypatch.setattr(CONFIG, "scale", 9.0)
    with pytest.raises(tilec.TilecError, match="'reads_attributes' reads has changed since"):
        _ = found.tile
    monkeypatch.undo()
    assert "arith.constant" in found.tile


@tilec.kernel
def takes_sizes(x: tl.Array[tl.int64, int], n: int) -> None:
    tl.store(x, 0, tl.full(1, n // 4, tl.int64))


@tilec.kernel
def takes_naturals(x: tl.Array[tl.int64, int], n: tl.Size) -> None:
    tl.store(x, 0, tl.full(1, n // 4, tl.int64))


def test_annotations_that_a_name_stands_for_count() -> None:
    """`int` and `tl.Size` have the same type, but not the same division."""
    keys = [kernel.specialize().key() for kernel in (takes_sizes, takes_naturals)]
    assert keys[0] != keys[1]


def test_explain_says_what_has_changed(monkeypatch: pytest.MonkeyPatch) -> None:
    kernel = tilec.kernel(reads_attributes.function)
    kernel.compile()
    assert kernel.explain().endswith("compiled before: nothing to do")
    monkeypatch.setattr(CONFIG, "scale", 4.0)
    assert kernel.explain().splitlines()[-1] == (
        "  CONFIG in reads_attributes.scale = float 4.0, there float 1.0"
    )


def test_objects_that_say_what_they_like_are_recorded_as_they_are() -> None:
    class Liar:
        __class__ = property(lambda self: 1 / 0)  # type: ignore[assignment]

        def __eq__(self, other: object) -> bool:
            raise ValueError

        __hash__ = None  # type: ignore[assignment]

    held = types.SimpleNamespace(value=Liar(), scale=1.0)

    def helper(x: tl.Tile, given: Any) -> tl.Tile:
        return x * given.scale

    @tilec.kernel
    def kernel(x: tl.Array[tl.float32, int]) -> None:
        tl.store(x, 0, helper(tl.load(x, 0, 16), held))

    before = of(kernel)
    assert before.reason is None
    held.scale = 2.0
    assert of(kernel) != before


SPANS = [Span('/a "b"\\é.py', 10, 20), Span("/other.py", 3, 90), Span("/other.py", 5, 9)]
MOVED = [Span("/elsewhere.py", 110, 120), Span("/é.py", 1, 88), Span("/x.py", 50, 54)]


@pytest.mark.parametrize(
    ("location", "kept", "moved"),
    [
        (
            r'loc("/a \22b\22\\\C3\A9.py":12:5)',
            'loc("<function 0>":2:5)',
            'loc("/elsewhere.py":112:5)',
        ),
        ('loc("/other.py":6:1)', 'loc("<function 2>":1:1)', 'loc("/x.py":51:1)'),
        (
            'loc(callsite("/other.py":4:1 at "/third.py":4:1))',
            'loc(callsite("<function 1>":1:1 at "/third.py":4:1))',
            r'loc(callsite("/\C3\A9.py":2:1 at "/third.py":4:1))',
        ),
        ("loc(unknown)", "loc(unknown)", "loc(unknown)"),
    ],
)
def test_places_move_with_their_functions(location: str, kept: str, moved: str) -> None:
    assert to_functions(location, SPANS) == kept
    assert to_files(kept, SPANS) == location
    assert to_files(kept, MOVED) == moved
