"""From LLVM IR to PTX: the PTX version that a module needs, code generation, and a last look."""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Mapping
from functools import cache

from tilec.isa import Form, PtxVersion, Target, TilecError, UnknownNameError, forms, instruction
from tilec.isa.conversions import CONVERSIONS, Conversion
from tilec.isa.llvm import call
from tilec.isa.reductions import REDUCTIONS, Reduction

from .codegen import CodegenError, generate

_LLVM_NEWEST = PtxVersion(9, 0)
"""The newest PTX version that LLVM 22 writes."""

# A module begins with its name, so whatever is looked for has a line before it. `re` finds "\n" at
# once, where it would try "^" at every character.
_DECLARED = re.compile(r"\ndeclare .*?@(llvm\.nvvm\.[\w.]+)\(")
_ASSEMBLY = re.compile(r' asm (?:sideeffect )?"((?:\\.|[^"\\])*)"')
_MNEMONIC = re.compile(r"\b(?:wmma|mma|ldmatrix|stmatrix|movmatrix)\.[\w.:]+")
_EXTERN = re.compile(r"\n\.extern \.func\s+(?:\([^)]*\)\s*)?([\w.$]+)")
_SYSTEM_CALLS = frozenset({"vprintf", "__assertfail", "malloc", "free"})

# Other instructions whose PTX version may be above the first that knows the target (PTX ISA,
# "PTX ISA Notes" of each), as intrinsics and inline assembly spell them.
_VERSIONS: tuple[tuple[re.Pattern[str], PtxVersion], ...] = tuple(
    (re.compile(pattern), PtxVersion.parse(version))
    for pattern, version in (
        (r"activemask", "6.2"),
        (r"nanosleep", "6.3"),
        (r"tanh\.approx|ex2\.approx\.f16|redux\.sync|cp\.async|mbarrier", "7.0"),
        (r"L2::\d+B|L2::cache_hint|createpolicy|applypriority|discard\.", "7.4"),
        (r"try[._]wait|mapa|cluster|griddepcontrol|ex2\.approx.*bf16|tanh\.approx.*bf16", "7.8"),
        (
            r"cp\.async\.bulk|setmaxnreg|elect\.sync|fence\.(proxy|mbarrier)|wgmma|prefetch\.tensormap",
            "8.0",
        ),
        (r"e4m3|e5m2", "8.1"),
        (r"e2m1|e2m3|e3m2|ue8m0|tcgen05", "8.6"),
    )
)


@cache
def _by_intrinsic() -> Mapping[str, tuple[Form, ...]]:
    """The forms that each intrinsic may stand for, by its name without the address space."""
    table: dict[str, tuple[Form, ...]] = {}
    for form in forms().values():
        name = call(form, space="").intrinsic
        if name is not None:
            stem = re.sub(r"\.p\d+$", "", name)
            table[stem] = (*table.get(stem, ()), form)
    return table


def forms_used(ir: str) -> Iterator[Form]:
    """The matrix instruction forms that a module of LLVM IR calls."""
    return _forms(_DECLARED.findall(ir), _ASSEMBLY.findall(ir))


def _forms(called: Iterable[str], assembly: Iterable[str]) -> Iterator[Form]:
    """The forms that intrinsics are, and those in the texts of inline assembly."""
    for name in called:
        stem = re.sub(r"\.p\d+$", "", name)
        yield from _by_intrinsic().get(stem.replace(".stride", ""), ())
    for text in assembly:
        for mnemonic in _MNEMONIC.findall(text):
            try:
                yield instruction(mnemonic)[0]
            except UnknownNameError:
                continue  # not a warp's instruction, or none that PTX documents: ptxas will say


def ptx_version(ir: str, target: Target) -> PtxVersion:
    """The lowest PTX version that a module of LLVM IR needs on `target`.

    Raises:
        TilecError: if it uses a form that `target` lacks.
    """
    version = target.min_ptx
    called = set(_DECLARED.findall(ir))
    conversions = [c for c in CONVERSIONS.values() if c.intrinsic in called]
    assembly = _ASSEMBLY.findall(ir)
    words = {word for text in assembly for word in text.split()}
    reductions = [reduction for name, reduction in REDUCTIONS.items() if name in words]
    used: list[Form | Conversion | Reduction] = [
        *_forms(called, assembly),
        *conversions,
        *reductions,
    ]
    for one in used:
        needed = one.min_ptx(target)
        if needed is None:
            clauses = ", ".join(f"{s.target} (PTX {s.ptx})" for s in one.since)
            raise TilecError(f"{one.ptx} is not available on {target}; it needs {clauses}")
        version = max(version, needed)
    called -= {c.intrinsic for c in conversions}
    others = "\n".join((*sorted(called), *assembly))
    return max([version, *(v for pattern, v in _VERSIONS if pattern.search(others))])


def to_ptx(ir: str, target: Target, *, level: int = 3) -> str:
    """PTX of a module of LLVM IR.

    Args:
        ir: the module.
        target: its target.
        level: LLVM's optimisation level, 0 to 3.

    Raises:
        TilecError: if the target lacks a form, LLVM cannot generate code, or the code calls
            a function that nobody defines.
    """
    needed = ptx_version(ir, target)
    version = min(needed, _LLVM_NEWEST)
    text = generate(ir, cpu=target.name, features=version.llvm_feature, level=level)
    _refuse_undefined(text)
    if needed > version:
        # Inline assembly newer than LLVM: the header is all that it writes for the version.
        text = text.replace(f".version {version}\n", f".version {needed}\n", 1)
    return text


def written_version(ptx: str) -> PtxVersion:
    """The version that the header of a PTX module names."""
    header = re.search(r"^\.version\s+(\d+)\.(\d+)", ptx, re.MULTILINE)
    assert header
    return PtxVersion(int(header[1]), int(header[2]))


def _refuse_undefined(ptx: str) -> None:
    """Raise if `ptx` calls a function that neither it nor the driver defines.

    LLVM takes an intrinsic that it does not know for such a function.
    """
    for name in _EXTERN.findall(ptx):
        if name in _SYSTEM_CALLS:
            continue
        if name.startswith("llvm."):
            raise CodegenError(f"LLVM 22 has no intrinsic '{name}'")
        hint = ""
        if name.startswith("__nv_"):
            hint = ": it is of libdevice, which tilec does not link; write the approximate form"
        raise CodegenError(f"the function '{name}' is not defined{hint}")
