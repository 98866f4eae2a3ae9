"""Machine code of the forms and of the driver: compiled once, kept on disk, loaded in milliseconds.

An entry of the compile cache is object code. It is found by its IR, the processor's name and
features and LLVM's version, which decide all of it. Whoever does not use the cache
(`TILEC_CACHE=0`), or does not trust its folder, compiles in every process.
"""

from __future__ import annotations

import ctypes
import platform
from collections.abc import Callable, Mapping, Sequence
from functools import cache
from importlib import import_module
from typing import Any

import numpy as np
from tilec.isa import LANES

from ..alu import Array
from . import driver

RUN = ctypes.PYFUNCTYPE(ctypes.c_int64, *[ctypes.c_void_p] * 5, ctypes.c_int64, ctypes.c_int64)
"""The driver; it is called with the GIL, since it reads Python's objects."""
CALL = ctypes.CFUNCTYPE(None, ctypes.c_void_p)
"""A function of a plan, which touches no objects."""

_NEEDED = {
    "x86_64": ("avx2", "fma", "f16c"),
    "aarch64": (),
    "arm64": (),
}
"""Features of a processor without which arithmetic would call functions of a C library."""


class Library:
    """The functions that have been loaded.

    Attributes:
        llvm: LLVM's bindings.
        run: the driver.
        types: the driver's table of dtypes.
    """

    def __init__(self, llvm: Any, machine: Any, target: tuple[str, ...]) -> None:
        self.llvm = llvm
        self.types = driver.type_table()
        self._machine = machine
        self._target = target
        self._engines: list[Any] = []
        self._addresses: dict[str, int] = {}
        names = ("run", "look", "look_at_own", "own", *driver.SHARED)
        self.load({"run": driver.text()}, frozenset(), names)
        self.run: Callable[..., int] = RUN(self._addresses["run"])

    def address(self, name: str) -> int | None:
        """The address of a function; None if it has not been loaded."""
        return self._addresses.get(name)

    def load(
        self,
        functions: Mapping[str, str],
        declared: frozenset[str],
        names: tuple[str, ...] = (),
        speed: int = 1,
    ) -> None:
        """Compile functions, or find them in the cache, and load them.

        Args:
            functions: their IR, by name.
            declared: what they declare.
            names: the names that are wanted, where they are not those of `functions`.
            speed: LLVM's level of optimisation.
        """
        text = "\n".join((*sorted(declared), *(functions[name] for name in sorted(functions))))
        code = self._object(text, ", ".join(sorted(functions)), speed)
        empty = self.llvm.parse_assembly("")
        engine = self.llvm.create_mcjit_compiler(empty, self._machine())
        engine.add_object_file(self.llvm.ObjectFileRef.from_data(code))
        engine.finalize_object()
        self._engines.append(engine)  # which owns the code
        for name in names or functions:
            self._addresses[name] = engine.get_function_address(name)

    def _object(self, text: str, name: str, speed: int) -> bytes:
        """Object code of some IR."""
        import json  # noqa: PLC0415
        from hashlib import blake2b  # noqa: PLC0415

        from tilec.cache import entries, environment  # noqa: PLC0415 (takes 10 ms)

        if not environment.cache_wanted(None, default=True):
            return self._compile(text, speed)
        what = json.dumps(("simulator", self._target, speed, text))
        key = blake2b(what.encode(), digest_size=20).hexdigest()
        found: bytes | None = entries.find(key, _read)
        if found is None:
            found = self._compile(text, speed)
            data = {"object": found.hex(), "sum": _sum(found)}
            entries.keep(key, data, kind="simulator", name=name[:80], target=self._target[0])
        return found

    def _compile(self, text: str, speed: int) -> bytes:
        module = self.llvm.parse_assembly(text)
        machine = self._machine()
        options = self.llvm.create_pipeline_tuning_options(speed_level=speed)
        builder = self.llvm.create_pass_builder(machine, options)
        builder.getModulePassManager().run(module, builder)
        code: bytes = machine.emit_object(module)
        return code

    def call(self, address: int, plan: Array) -> None:
        """Call a function of a plan, without the GIL."""
        CALL(address)(plan.ctypes.data)

    def apply(self, name: str, operands: Sequence[Array], results: Sequence[Any]) -> list[Array]:
        """What a form makes of arrays of one dimension.

        Args:
            name: the form's function, which is loaded.
            operands: arrays of raw bits, of equal lengths or of length 1.
            results: the dtypes of its results.
        """
        count = max(operand.size for operand in operands)
        rows = -(-count // LANES)
        padded = [np.resize(operand, rows * LANES) for operand in operands]
        made = [np.zeros(rows * LANES, dtype) for dtype in results]
        room = np.zeros((driver.MOST_PLACES + 1) * LANES * 8, np.uint8)
        start = -room.ctypes.data % (2 * LANES)
        file = room[start:]
        places = np.arange(len(made) + len(padded), dtype=np.int32) * (LANES * 8)
        function = ctypes.CFUNCTYPE(None, ctypes.c_void_p, ctypes.c_void_p)(self._addresses[name])
        for row in range(rows):
            lanes = slice(row * LANES, (row + 1) * LANES)
            for place, operand in zip(places[len(made) :], padded, strict=True):
                part = operand[lanes].view(np.uint8)
                file[place : place + part.size] = part
            function(file.ctypes.data, places.ctypes.data)
            for place, result in zip(places, made, strict=False):
                part = result[lanes].view(np.uint8)
                part[:] = file[place : place + part.size]
        return [result[:count] for result in made]

    def checks_out(self) -> bool:
        """Whether numpy's arrays are as the driver takes them to be."""
        look = ctypes.PYFUNCTYPE(ctypes.c_int64, *[ctypes.c_void_p] * 3)(self._addresses["look"])
        base = np.arange(2 * 3 * 64, dtype=np.uint32).reshape(2, 3, 64)
        trials = (base, base[:, :, ::2], base[:1], base[1:, 1:2, 5:6], base.view(np.int32))
        for array in trials:
            held = [array]  # which must live while it is looked at
            entry = np.zeros(len(driver.OUTPUT), np.int64)
            entry[driver.INPUT.index("size")] = 2
            kind = look(id(held), entry.ctypes.data, self.types.ctypes.data)
            strides = [
                0 if extent == 1 else stride
                for extent, stride in zip(array.shape, array.strides, strict=True)
            ]
            data = driver.INPUT.index("data")
            expected = [array.ctypes.data, *strides]
            if kind != (2 if array.size == 1 else 1) or list(entry[data : data + 4]) != expected:
                return False
        if not self._knows_its_own():
            return False
        strangers = (base.astype(np.uint64), base[0], np.uint32(1), base.astype(">u4"))
        return not any(
            look(id(held), entry.ctypes.data, self.types.ctypes.data)
            for held in ([stranger] for stranger in strangers)
        )

    def _knows_its_own(self) -> bool:
        """Whether it is known of arrays who else has them."""
        look = ctypes.PYFUNCTYPE(ctypes.c_int64, ctypes.c_void_p, ctypes.c_int64)(
            self._addresses["look_at_own"]
        )
        dtype, shape = np.dtype(np.uint32), (2, 3, LANES)

        def owns(held: list[Array], dtype: np.dtype[Any] = dtype) -> bool:
            found: int = look(id(held), id(dtype))
            return found == 1

        shared, locked = np.empty(shape, dtype), [np.empty(shape, dtype)]
        locked[0].setflags(write=False)
        others = (
            [shared],
            locked,
            [shared[:]],
            [np.empty(shape[1:], dtype)],
            [np.empty(shape, dtype, order="F")],
            [np.empty(shape, np.uint64)],
        )
        mine = [np.empty(shape, dtype)]
        return (
            owns(mine)
            and not owns(mine, np.dtype(np.uint64))
            and not any(owns(other) for other in others)
        )


def _sum(code: bytes) -> str:
    from hashlib import blake2b  # noqa: PLC0415 (takes 3 ms)

    return blake2b(code, digest_size=20).hexdigest()


def _read(data: Any) -> bytes:
    """What was kept; raises for anything else."""
    code = bytes.fromhex(data["object"])
    if _sum(code) != data["sum"]:
        raise ValueError("not the object code that was kept")
    return code


@cache
def library() -> Library | None:
    """The library of this process; None on a machine that has none."""
    try:
        llvmlite, llvm = import_module("llvmlite"), import_module("llvmlite.binding")
    except ImportError:
        return None
    llvm.initialize_native_target()
    llvm.initialize_native_asmprinter()
    features = llvm.get_host_cpu_features()
    needed = _NEEDED.get(platform.machine())
    if needed is None or not all(features.get(name) for name in needed):
        return None
    cpu, flat = llvm.get_host_cpu_name(), features.flatten()
    triple = llvm.get_process_triple()
    target = llvm.Target.from_triple(triple)

    def machine() -> Any:
        return target.create_target_machine(
            cpu=cpu, features=flat, opt=2, reloc="pic", codemodel="jitdefault", jit=True
        )

    versions = llvmlite.__version__, str(llvm.llvm_version_info)
    found = Library(llvm, machine, (cpu, triple, flat, *versions))
    return found if found.checks_out() else None
