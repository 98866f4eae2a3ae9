"""Whole kernels in a pack: right as simulated, and a wrong or changing result is told."""

from __future__ import annotations

import json
from itertools import islice

import numpy as np
import pytest


class Pack:
    """A pack, its data in a folder."""

    target = "sm_90a"

    def __init__(self, pairs, folder):
        self.folder = folder
        self.fields = [program.json() for program, _ in pairs]
        self.texts = {program.file: ptx for program, ptx in pairs}

    def read(self, name):
        return self.fields

    def text(self, name):
        return self.texts[name]


@pytest.fixture(scope="module")
def pairs(folder):
    """Of the examples `mma` and `warp_gemm`."""
    from device_pack.programs import Packed

    (folder / "programs.bin").touch()
    return list(islice(Packed("sm_90a").all(), 2))


@pytest.fixture(scope="module")
def folder(tmp_path_factory):
    return tmp_path_factory.mktemp("data")


def test_examples_are_right(cuda, library, pairs, folder):
    from device_run.programs import run

    rows = list(run(cuda, Pack(pairs, folder)))
    assert [row["program"] for row in rows] == ["mma", "warp_gemm"]
    assert [row["wrong"] for row in rows] == [[], []]
    assert library.allocated == 0


@pytest.mark.parametrize(
    "name",
    [
        "hopper-gemm",
        "hopper-gemm_cluster",
        pytest.param("hopper-tiles", marks=pytest.mark.slow),
        pytest.param("hopper-persistent", marks=pytest.mark.slow),
    ],
)
def test_products_of_warpgroups(cuda, library, folder, name):
    """Their tensor maps are made by the driver, and their product is numpy's."""
    from device_pack.programs import Packed
    from device_run.programs import Program

    program, ptx = next(pair for pair in Packed("sm_90a").hopper() if pair[0].name == name)
    program = Program.of(json.loads(json.dumps(program.json())))
    function = cuda.function(cuda.load(ptx), program.kernel, program.shared)
    found = program.execute(cuda, function, b"").view(np.float16)
    memories = [one.content(b"").view(np.float16) for one in program.passed if one.bytes]
    a, b = (memory.reshape(-1, 328).astype(np.float64) for memory in memories[:2])
    np.testing.assert_allclose(found.reshape(len(a), len(b)), a @ b.T, rtol=2e-3, atol=2e-2)
    simulated = program.simulate(ptx, b"", "sm_90a", checks=True)
    np.testing.assert_array_equal(found, simulated.view(np.float16))
    assert library.calls.count("cuTensorMapEncodeTiled") == 3
    assert library.allocated == 0


def test_no_other_target_gets_them():
    from device_pack.programs import Packed

    assert not list(Packed("sm_90").hopper())


def test_a_wrong_kernel_is_told(cuda, library, pairs, folder):
    """The GPU is given bf16's instruction in place of f16's."""
    from device_run.programs import run

    load = library._cuModuleLoadDataEx

    def loading(module, text, *rest):
        text.value = text.value.replace(b".f32.f16.f16.f32", b".f32.bf16.bf16.f32")
        return load(module, text, *rest)

    library._cuModuleLoadDataEx = loading
    (row,) = run(cuda, Pack(pairs[:1], folder))
    (wrong,) = row["wrong"]
    assert wrong["message"].startswith("mma: 128 of 128 elements differ; first: element 0: 0x")
    assert wrong["elements"] == list(range(64))


def test_a_result_that_changes_is_told(cuda, library, pairs, folder):
    from device_run.programs import REPEATS, run

    launch = library._cuLaunchKernel
    runs = []

    def racing(*arguments):
        status = launch(*arguments)
        runs.append(1)
        if len(runs) == 3:
            result = max(library._arrays)  # the last that was allocated: D
            library._arrays[result][4] ^= 1
        return status

    library._cuLaunchKernel = racing
    (row, right) = run(cuda, Pack(pairs, folder))
    assert f"{REPEATS} runs gave 2 results" in row["wrong"][0]["message"]
    assert "1 of 128 elements differ" in row["wrong"][0]["message"]
    assert "first: element 1: " in row["wrong"][0]["message"]
    assert row["wrong"][0]["elements"] == [1]
    assert right["wrong"] == []


@pytest.fixture(scope="module")
def tiles(tmp_path_factory):
    """Of the examples without layouts one that is exact and one that is not, and their folder."""
    from device_pack import examples, programs

    where = tmp_path_factory.mktemp("tiles")
    wanted = {"gemm_int8": None, "softmax": None}
    for one in examples.tile_kernels("sm_90a"):
        name = one.name.split("-")[0]
        if name in wanted and wanted[name] is None:
            wanted[name] = one
    packed = programs.Packed("sm_90a")
    packed._unchecked = lambda: map(packed._of_arrays, wanted.values())
    pairs = list(packed.all())
    (where / "programs.bin").write_bytes(packed.data)
    return pairs, where


def test_tiles_are_exact_or_within_a_tolerance(cuda, library, tiles):
    from device_run.programs import run

    pairs, folder = tiles
    exact, close = (program for program, _ in pairs)
    assert (exact.name.split("-")[0], exact.tolerance) == ("gemm_int8", 0)
    assert close.tolerance > 0
    rows = list(run(cuda, Pack(pairs, folder)))
    assert [row["wrong"] for row in rows] == [[], []]
    launch = library._cuLaunchKernel

    def changed(at, mask):
        def launching(*arguments):
            status = launch(*arguments)
            size = next(one.bytes for one in close.passed if one.written)
            for array in library._arrays.values():
                if len(array) == size:
                    array[at] ^= mask
            return status

        return launching

    library._cuLaunchKernel = changed(0, 1)  # the last bit of the first number
    (row,) = run(cuda, Pack(pairs[1:], folder))
    assert row["wrong"] == []
    library._cuLaunchKernel = changed(3, 0x40)  # its exponent
    (row,) = run(cuda, Pack(pairs[1:], folder))
    assert "1 of 3000 elements differ; first: element 0: " in row["wrong"][0]["message"]
    assert library.allocated == 0
