"""Arrays of a launch in groups that share memory, beside a comparison of every pair of bytes."""

import numpy as np
import pytest
from tilec.isa import LaunchError
from tilec.isa.host_memory import Region, host_blocks, overlapping

RANDOM = np.random.default_rng(0)


@pytest.mark.parametrize("seed", range(40))
def test_regions_of_different_groups_share_no_byte(seed: int) -> None:
    random = np.random.default_rng(seed)
    count = int(random.integers(1, 9))
    starts, sizes = random.integers(0, 60, count), random.integers(0, 20, count)
    regions = [Region(int(s), int(s + n)) for s, n in zip(starts, sizes, strict=True)]
    groups = overlapping(regions)
    assert sorted(number for group in groups for number in group) == list(range(count))
    touched = [set(range(*region)) for region in regions]
    for group in groups:
        mine = set().union(*(touched[number] for number in group))
        for other in groups:
            if other is not group:
                assert not any(mine & touched[number] for number in other)
        reached = {group[0]}
        for _ in group:
            reached |= {n for n in group if any(touched[n] & touched[m] for m in reached)}
        assert reached == set(group)


def test_views_are_one_block_and_keep_their_alignment() -> None:
    base = np.arange(100, dtype=np.float32)
    one, other, apart = base[3:20], base[10:40:3], np.zeros(4, np.float32)
    blocks = host_blocks([one, (apart, np.int32(1)), other, one, base[:0], 3.0])
    assert [block.name for block in blocks] == [
        "argument 0 and argument 2",
        "member 0 of argument 1",
    ]
    both, alone = blocks
    assert alone.place(apart) == 0
    places = [both.place(array) for array in (one, other)]
    assert places[1] - places[0] == 7 * 4
    assert [place % 256 for place in places] == [a.ctypes.data % 256 for a in (one, other)]
    data = both.read().copy()
    assert (data[places[0] :].view(np.float32)[:17] == one).all()
    data[places[1] : places[1] + 8].view(np.float32)[:] = -1, -2  # of `other` the first, a gap
    both.write(data)
    expected = np.arange(100, dtype=np.float32)
    expected[10:12] = -1, -2
    assert (base == expected).all()


def test_what_is_read_only_stays() -> None:
    base = np.arange(8, dtype=np.int16)
    fixed, part = base[:6], base[4:]
    fixed.flags.writeable = False
    (block,) = host_blocks([fixed, part])
    assert block.writable
    block.write(np.zeros(block.size, np.uint8))
    assert base.tolist() == [0, 1, 2, 3, 0, 0, 0, 0]


def test_arrays_of_objects_are_refused() -> None:
    with pytest.raises(LaunchError, match="argument 1 holds Python's objects"):
        host_blocks([1, np.zeros(3, object)])
