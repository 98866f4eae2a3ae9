"""A stretch as one function, whose values stay in the processor's registers.

Forms are compiled once each, and hand values on by memory. Of stretches that are executed so often
that it is worth it, all forms are compiled again as one function:

    fused(file)

reads the inputs of a stretch from its file (`driver`), and leaves the outputs there.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping, Sequence

from tilec.isa import LANES

from .library import Library

ASKED, HOT = 5_000, 100_000
"""Warps for which a stretch has been executed when it is asked whether there is such a function,
and when one is compiled: this takes about as long as so many more executions."""

Places = tuple[int, int, int, int]
"""Slot, place, value and size of an input or output, as the driver's tables begin."""
Operation = tuple[str, list[int], list[int], int]
"""A form, its places, and the values of operands and result."""

_heat: Counter[str] = Counter()


def write(
    inputs: Sequence[Places],
    operations: Sequence[Operation],
    outputs: Sequence[Places],
    size: int,
    forms: Mapping[str, str],
) -> tuple[str, str]:
    """Name and text of the function of a stretch.

    Args:
        inputs: of the driver's tables.
        operations: likewise.
        outputs: likewise.
        size: bytes of the file.
        forms: the texts of the forms, by name.
    """
    lines = [f"%own = alloca [{size} x i8], align 64"]
    constants = []

    def copy(number: str, given: Places, from_: str, to: str) -> None:
        _, place, _, bytes_ = given
        type_ = f"<{LANES} x i{8 << bytes_}>"
        lines.append(f"%from{number} = getelementptr i8, ptr {from_}, i64 {place}")
        lines.append(f"%to{number} = getelementptr i8, ptr {to}, i64 {place}")
        lines.append(f"%value{number} = load {type_}, ptr %from{number}, align {LANES}")
        lines.append(f"store {type_} %value{number}, ptr %to{number}, align {LANES}")

    for n, given in enumerate(inputs):
        copy(f"i{n}", given, "%file", "%own")
    for n, (form, places, _, _) in enumerate(operations):
        items = ", ".join(f"i32 {place}" for place in places)
        constants.append(
            f"@places{n} = private unnamed_addr constant [{len(places)} x i32] [{items}]"
        )
        lines.append(f"call void @{form}(ptr %own, ptr @places{n})")
    for n, given in enumerate(outputs):
        copy(f"o{n}", given, "%own", "%file")
    lines.append("ret void")
    inlined = [
        forms[name]
        .replace("define void", "define internal void", 1)
        .replace(") {", ") alwaysinline {", 1)
        for name in sorted({form for form, *_ in operations})
    ]
    body = "\n  ".join(lines)
    rest = "\n".join((*constants, *inlined))
    from hashlib import blake2b  # noqa: PLC0415 (takes 3 ms)

    name = f"fused_{blake2b((body + rest).encode(), digest_size=12).hexdigest()}"
    return name, f"{rest}\ndefine void @{name}(ptr %file) {{\n  {body}\n}}\n"


def worth(name: str, warps: int) -> bool:
    """Whether to compile a function, after so many more warps."""
    _heat[name] += warps
    return _heat[name] >= HOT


def address(library: Library, name: str, text: str, declared: frozenset[str]) -> int:
    """Where a function is, which is loaded if it has not been."""
    if library.address(name) is None:
        library.load({name: text}, declared, speed=2)
    found = library.address(name)
    assert found is not None
    return found
