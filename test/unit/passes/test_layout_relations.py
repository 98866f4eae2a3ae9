"""A tile repeated along axes holds in each lane what the tile held: the verifier's own rule.

For random layouts with copies over lanes and warps; layouts found backward from a broadcast, too.
"""

from __future__ import annotations

from hypothesis import given, settings
from hypothesis import strategies as st
from tilec.layout import LinearLayout
from tilec.layout.views import collapse, dims, register_map, repeat


@settings(max_examples=80, derandomize=True)
@given(st.data())
def test_repeated(data) -> None:
    bits = data.draw(st.lists(st.integers(0, 3), min_size=1, max_size=3))
    extents = dict(zip(dims(len(bits)), (1 << bit for bit in bits), strict=True))
    places = [
        tuple((1 << bit) * (at == axis) for at in range(len(bits)))
        for axis, count in enumerate(bits)
        for bit in range(count)
    ]
    images = data.draw(st.permutations([*places, *[(0,) * len(bits)] * 7]))
    source = LinearLayout.of(
        {"register": images[7:], "lane": images[:5], "warp": images[5:7]}, extents
    )
    shape = tuple(
        extent if extent > 1 else 1 << data.draw(st.integers(0, 4)) for extent in extents.values()
    )
    found = repeat(source, shape)
    assert tuple(found.out_sizes.values()) == shape
    if source.is_surjective:
        assert found.is_surjective
    axes = [at for at, extent in enumerate(extents.values()) if extent == 1]
    assert register_map(source, collapse(found, axes)) is not None
