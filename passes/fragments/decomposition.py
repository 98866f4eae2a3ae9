"""A CTA's tile as fragments: one a warp-level instruction, or one for all a warp holds."""

from __future__ import annotations

from dataclasses import dataclass
from functools import lru_cache

from tilec.layout import LinearLayout


@dataclass(frozen=True, slots=True)
class Decomposition:
    """The fragments of a tensor with a layout.

    Attributes:
        unit: (register, lane) -> place within one fragment.
        repeats: (register) -> place of fragment number `register`, in elements.
        warps: (warp) -> place of the warp's first fragment, in elements.
    """

    unit: LinearLayout
    repeats: LinearLayout
    warps: LinearLayout

    @property
    def count(self) -> int:
        """Fragments that a warp holds."""
        return self.repeats.in_size("register")

    def group(self, size: int) -> LinearLayout:
        """(register, lane) -> place of `size` consecutive fragments taken as one."""
        return self.unit if size == 1 else _group(self.unit, self.repeats, size)


@lru_cache(maxsize=1024)
def _group(unit: LinearLayout, repeats: LinearLayout, size: int) -> LinearLayout:
    """(register, lane) -> place of the first fragments, so many, taken as one."""
    images = repeats.bases["register"][: size.bit_length() - 1]
    registers = [*unit.bases["register"], *images]
    extents = [
        1 << max(max((i[at] for i in registers), default=0).bit_length(), bits)
        for at, (_, bits) in enumerate(unit.outs)
    ]
    return LinearLayout.of(
        {"register": registers, "lane": unit.bases["lane"]},
        dict(zip(unit.out_sizes, extents, strict=True)),
    )


@lru_cache(maxsize=1024)
def first_registers(layout: LinearLayout, count: int) -> LinearLayout | None:
    """(register, lane) -> place of the first `count` registers; None if there are fewer."""
    held = layout.bases["register"]
    size = count.bit_length() - 1
    if not count or size > len(held):
        return None
    inner = {"register": held[:size], "lane": layout.bases["lane"]}
    images = [*inner["register"], *inner["lane"]]
    extents = {
        name: 1 << max((image[at].bit_length() for image in images), default=0)
        for at, name in enumerate(layout.out_sizes)
    }
    return LinearLayout.of(inner, extents)


@lru_cache(maxsize=1024)
def decompose(layout: LinearLayout, unit: LinearLayout | None) -> Decomposition:
    """Take a layout apart.

    Args:
        layout: (register, lane, warp) -> place, of the whole tile.
        unit: the fragment that it repeats, or None to take all that a warp holds as one.
    """
    quotient = layout.divide_left(unit) if unit is not None else None
    if unit is not None and quotient is not None and quotient.in_size("lane") == 1:
        sizes = unit.out_sizes
        images = {
            name: [
                tuple(at * sizes[out] for at, out in zip(image, sizes, strict=True))
                for image in quotient.bases.get(name, [])
            ]
            for name in ("register", "warp")
        }
        return Decomposition(
            unit,
            LinearLayout.of({"register": images["register"]}, layout.out_sizes),
            LinearLayout.of({"warp": images["warp"]}, layout.out_sizes),
        )
    warps = layout.bases.get("warp", [])
    return Decomposition(
        layout.restrict(ins=("register", "lane")),
        LinearLayout.of({"register": []}, layout.out_sizes),
        LinearLayout.of({"warp": warps}, layout.out_sizes),
    )
