"""Which module declares the instructions of each opcode; it is imported when one is asked for."""

from __future__ import annotations

from importlib import import_module

MODULES: dict[str, tuple[str, ...]] = {
    "async_copy": ("cp",),
    "atomics": ("atom", "red"),
    "barriers": ("bar", "barrier", "fence", "membar"),
    "branches": ("bra", "brx", "ret", "exit"),
    "calls": ("brkpt", "trap", "call"),
    "cluster": ("mapa", "getctarank"),
    "launch_control": ("clusterlaunchcontrol",),
    "matrix": ("mma", "movmatrix", "ldmatrix", "stmatrix", "wmma"),
    "mbarrier": ("mbarrier",),
    "memory": ("ld", "ldu", "st"),
    "moves": (
        *("mov", "cvta", "isspacep", "nanosleep", "griddepcontrol", "pmevent"),
        *("prefetch", "prefetchu", "applypriority", "discard", "createpolicy"),
    ),
    "register_count": ("setmaxnreg",),
    "tcgen05": ("tcgen05",),
    "tensor_maps": ("tensormap",),
    "video": (
        *("vadd", "vsub", "vabsdiff", "vmin", "vmax", "vshl", "vshr", "vset", "vmad"),
        *("vadd2", "vsub2", "vabsdiff2", "vmin2", "vmax2", "vavrg2", "vset2"),
        *("vadd4", "vsub4", "vabsdiff4", "vmin4", "vmax4", "vavrg4", "vset4"),
    ),
    "warp": ("shfl", "vote", "activemask", "match", "redux", "elect"),
    "wgmma": ("wgmma",),
}
"""Modules of `tilec.sim.instructions`, by the opcodes that each declares."""

OTHERS = "arithmetic"
"""The module for all opcodes that compute on registers alone (`tilec.sim.alu`)."""

_HOMES = {opcode: module for module, opcodes in MODULES.items() for opcode in opcodes}


_loaded: set[str] = set()


def load(opcode: str) -> None:
    """Have the module of an opcode declare it."""
    if opcode in _loaded:
        return
    _loaded.add(opcode)
    import_module(f"{__package__}.instructions.{_HOMES.get(opcode, OTHERS)}")


def load_all() -> None:
    """Have every module declare its opcodes."""
    for module in (*MODULES, OTHERS):
        import_module(f"{__package__}.instructions.{module}")
