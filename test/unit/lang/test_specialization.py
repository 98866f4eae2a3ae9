"""What a kernel is compiled for, when it is compiled again, and what it does not take."""

from typing import Annotated, Any, Literal

import numpy as np
import pytest
import tilec
import tilec.lang as tl


@tilec.kernel
def add(
    x: tl.Array[tl.float32, int, int],
    n: int,
    s: float,
    BLOCK: tl.Constant[int] = 16,  # noqa: N803
) -> None:
    tl.store(x, (0, 0), tl.load(x, (0, 0), (BLOCK, BLOCK)) + n * s)


def zeros(*shape: int, dtype: Any = np.float32) -> np.ndarray[Any, Any]:
    """An array whose address is a multiple of 64 bytes."""
    count = int(np.prod(shape)) * np.dtype(dtype).itemsize
    raw = np.zeros(count + 64, np.uint8)
    start = -raw.ctypes.data % 64
    return raw[start : start + count].view(dtype).reshape(shape)


def facts(*args: Any) -> str:
    text = str(add.build(*args))
    return text[text.index("@add(") : text.index("kernel attributes")]


def test_facts_of_arrays_become_attributes() -> None:
    assert (
        "memref<?x?xf32, strided<[?, 1]>> {tile.aligned = 16 : i64, "
        "tile.sizes = array<i64: 1, 4>, tile.strides = array<i64: 4, 1>}, %arg1: index, "
        "%arg2: f32"
    ) in facts(zeros(7, 12), 1, 0.5)
    assert "tile.aligned = 4 : i64" in facts(zeros(7, 13)[:, 1:], 1, 0.5)
    assert "strided<[1, ?]>" in facts(zeros(8, 12).T, 1, 0.5)
    assert "strided<[?, ?]>" in facts(zeros(8, 12)[:, ::2], 1, 0.5)


def test_annotations_alone_suffice() -> None:
    @tilec.kernel
    def k(
        x: Annotated[tl.Array[tl.float16, int, Literal[64]], tl.Facts(aligned=16, strides=(8, 1))],
        y: tl.Array[tl.float16, int],
    ) -> None:
        tl.assume(y, aligned=32, sizes=(16,))
        assert x.shape[1] == 64

    text = str(k.build())
    assert (
        "memref<?x64xf16, strided<[64, 1]>> {tile.aligned = 16 : i64, "
        "tile.strides = array<i64: 8, 1>}, %arg1: memref<?xf16> {tile.aligned = 32 : i64, "
        "tile.sizes = array<i64: 16>}"
    ) in text
    with pytest.raises(tilec.TilecError, match="which is not a multiple of the 16 bytes"):
        k.build(zeros(5, 65, dtype=np.float16)[:, 1:], zeros(3, dtype=np.float16))
    with pytest.raises(tilec.TilecError, match=r"strides \[68, 1\], which are not multiples of"):
        k.build(zeros(5, 68, dtype=np.float16)[:, :64], zeros(3, dtype=np.float16))


def test_it_is_compiled_again_only_where_the_program_may_differ() -> None:
    kernel = add.using(target="sm_80")
    first = kernel.compile(zeros(16, 16), 1, 0.5)
    assert kernel.compile(zeros(20, 32), 7, 1.5) is first
    assert kernel.compile(zeros(20, 33), 7, 1.5) is not first
    assert kernel.compile(zeros(16, 16), 1, 0.5, BLOCK=8) is not first
    assert kernel.compile(zeros(16, 16), 1, 0.5, target="sm_90a").target.name == "sm_90a"


def test_explain() -> None:
    @tilec.kernel
    def k(x: tl.Array[tl.float32, int], B: tl.Constant[int] = 8) -> None:  # noqa: N803
        tl.store(x, 0, tl.load(x, 0, B))

    x = zeros(16)
    assert k.explain(x).splitlines() == [
        "k for",
        "  x: float32 [?], strides [1]; address a multiple of 16 bytes, extents of [4], "
        "strides of [1]",
        "  B: 8",
        "not compiled before in this process",
    ]
    k[1](x)
    assert k.explain(x).endswith("compiled before: nothing to do")
    lines = k.explain(x[1:], B=16).splitlines()
    assert lines[3:] == [
        "to be compiled; it differs from the nearest before in",
        "  x: facts address a multiple of 4 bytes, extents of [1], strides of [1], there address "
        "a multiple of 16 bytes, extents of [4], strides of [1]",
        "  B: 16, there 8",
    ]


A = zeros(16, 16)


@pytest.mark.parametrize(
    ("args", "reason"),
    [
        ((A,), "missing a required argument: 'n'; it takes (x, n, s, BLOCK)"),
        ((A, 1, 0.5, 16, 3), "too many positional arguments"),
        ((A.astype(np.float16), 1, 0.5), "elements of float16; the kernel takes float32"),
        ((A.astype(object), 1, 0.5), "elements of object; legal: float64, float32"),
        ((A[0], 1, 0.5), r"has the shape (16,); the kernel takes [int, int]"),
        ((A, 1.5, 0.5), "argument 'n' is 1.5; the kernel takes int"),
        ((A, 1, "x"), "argument 's' is 'x'; the kernel takes float32"),
        ((A, 1, 0.5, [3]), "constant 'BLOCK' is [3], which may change"),
        ((A[:, ::-1], 1, 0.5), "runs backwards, with strides [16, -1]"),
        (([1.0], 1, 0.5), "is a list, not an array; legal: numpy's"),
    ],
)
def test_arguments_that_do_not_fit(args: tuple[Any, ...], reason: str) -> None:
    with pytest.raises(tilec.TilecError) as caught:
        add[1](*args)
    assert reason in str(caught.value)


def test_read_only_arrays() -> None:
    x = zeros(16, 16)
    x.flags.writeable = False
    with pytest.raises(tilec.TilecError, match="'x' is read-only, and the kernel changes it"):
        add[1](x, 1, 0.5)


def test_grids_and_settings() -> None:
    for grid in (-1, 1.5, "x", (), (1, 1, 1, 1), lambda arguments: "x"):
        with pytest.raises(tilec.TilecError, match=r"grid is .*; it takes one to three positive"):
            add[grid](A, 1, 0.5)
    assert add[tl.cdiv(0, 16), 1](A, 1, 0.5) is None
    assert not A.any()
    with pytest.raises(tilec.TilecError, match=r"a kernel runs on a grid: add\[grid\]"):
        add(A, 1, 0.5)
    with pytest.raises(tilec.TilecError, match="unknown setting 'wraps'; nearest legal: warps"):
        add.using(wraps=3)
    with pytest.raises(tilec.TilecError, match="1, 2, 4, 8, 16 or 32 warps, not 3"):
        add.using(warps=3)
    with pytest.raises(tilec.TilecError, match=r"1, 2, 4, 8, 16 or 32 warps, not 4\.0"):
        add.using(warps=4.0)
    with pytest.raises(tilec.TilecError, match="unknown target '3'"):
        add.compile(target=3)
    with pytest.raises(tilec.TilecError, match="unknown target 'sm_1'"):
        add.compile(target="sm_1")
    with pytest.raises(tilec.TilecError, match="add has no constant 'BLOK'; it has: BLOCK"):
        add.compile(BLOK=3)
    x = zeros(16, 16)
    report = add.using(warps=1)[lambda arguments: arguments["BLOCK"] // 16](x, 2, 0.5)
    assert report is not None
    assert (x == 1).all()


def test_packed_elements_are_asked_for() -> None:
    import ml_dtypes

    @tilec.kernel
    def k(x: tl.Array[tl.int4, int]) -> None:
        pass

    with pytest.raises(tilec.TilecError, match="kernels take two in a byte"):
        k[1](np.zeros(4, ml_dtypes.int4))


class Shared:
    """An array of another library in the host's memory."""

    def __init__(self, array: np.ndarray[Any, Any]) -> None:
        self.array = array

    def __dlpack__(self, **options: Any) -> Any:
        return self.array.__dlpack__(**options)

    def __dlpack_device__(self) -> Any:
        return self.array.__dlpack_device__()


def test_arrays_of_other_libraries() -> None:
    x = zeros(16, 16)
    add[1](Shared(x), 1, 0.5)
    assert (x == 0.5).all()


def test_tensors_of_torch(monkeypatch: pytest.MonkeyPatch) -> None:
    """A module that stands for torch: a tensor whose bits alone numpy can have."""
    import sys
    from types import SimpleNamespace

    import ml_dtypes

    class Tensor(Shared):
        dtype = "torch.bfloat16"

        def detach(self) -> "Tensor":
            return self

        def element_size(self) -> int:
            return 2

        def view(self, dtype: Any) -> "Tensor":
            return Tensor(self.array.view(dtype))

        def numpy(self) -> np.ndarray[Any, Any]:
            assert self.array.dtype == np.int16
            return self.array

    monkeypatch.setitem(sys.modules, "torch", SimpleNamespace(Tensor=Tensor, int16=np.int16))

    @tilec.kernel
    def k(x: tl.Array[tl.bfloat16, int]) -> None:
        tl.store(x, 0, tl.load(x, 0, 16) + 1.5)

    x = zeros(16, dtype=ml_dtypes.bfloat16)
    k[1](Tensor(x))
    assert (x == 1.5).all()


def test_a_pipeline_of_ones_own() -> None:
    from tilec.pipelines import pipeline

    x = zeros(16, 16)
    tile, nvvm = pipeline(add.compile().target)
    without = [name for name in tile if name != "tile-coalesce-stores"]
    add.using(pipeline=[*without, *nvvm])[1](x, 1, 0.5)
    assert (x == 0.5).all()
    with pytest.raises(tilec.TilecError, match="unknown pass 'tile-nothing'"):
        add.using(pipeline=["tile-nothing"]).compile()


class OnGpu:
    """What an array on a GPU shows of itself."""

    __cuda_array_interface__ = {  # noqa: RUF012 (the protocol's)
        "shape": (16, 16),
        "typestr": "<f4",
        "data": (4096, False),
        "version": 3,
    }


def test_devices() -> None:
    with pytest.raises(tilec.TilecError, match="unknown device 'gpu'; legal: 'cuda', 'sim', 'interpret', None"):
        add.using(device="gpu")
    with pytest.raises(tilec.TilecError, match="argument 'x' is on a GPU; the simulator takes"):
        add.using(device="sim")[1](OnGpu(), 1, 0.5)
