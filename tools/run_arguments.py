"""What `tile-run --arg` takes: arrays from files or made up, and scalars."""

from __future__ import annotations

import re
from math import prod
from typing import Any

import numpy as np
from tilec.isa import ELEMENT_TYPES, TilecError
from tilec.isa.dtypes import numpy_type

Array = np.ndarray[Any, Any]
Value = Array | np.generic | int | float | None
"""An argument: an array, a scalar of a type or of none, or a null pointer."""

FORMS = """\
arguments, one --arg each:
  PATH.npy[:TYPE]      the array of a file; its bytes are read as TYPE if numpy has no such type
  randn:SHAPE[:TYPE]   normally distributed numbers
  randint:SHAPE[:TYPE] whole numbers from -8 to 8, of unsigned types from 0
  arange:SHAPE[:TYPE]  0, 1, 2, ...
  zeros:SHAPE[:TYPE]
  TYPE:NUMBER, NUMBER  a scalar, of this type or of the parameter's
  null                 a null pointer
SHAPE is as 128x64, TYPE as f16, bf16, f32 (the default), f64, e4m3, e5m2, i8, u8, i32, i64.
"""

_SHAPE = re.compile(r"[1-9][0-9]{0,17}(?:x[1-9][0-9]{0,17}){0,31}")
_INTEGER = re.compile(r"([isu])(8|16|32|64)")
_NPY = re.compile(r"(.*\.npy)(?::(\w+))?", re.DOTALL)
_MOST_BYTES = 1 << 34
_LONGEST = 100
"""Characters shown of a specification."""
_FLOATS = tuple(t for t in ELEMENT_TYPES.values() if t.is_float and t.bits >= 8)


def dtype(name: str) -> np.dtype[Any]:
    """The numpy type of a name that PTX or MLIR has for it.

    Raises:
        TilecError: if there is none.
    """
    integer = _INTEGER.fullmatch(name)
    if integer:
        return np.dtype(f"{'u' if integer[1] == 'u' else 'i'}{int(integer[2]) // 8}")
    for element in _FLOATS:
        if element.name == name:
            return numpy_type(element)
    legal = ", ".join(t.name for t in _FLOATS)
    raise TilecError(f"unknown type '{name}'; legal: {legal}, and i, s, u with 8, 16, 32, 64")


def argument(spec: str, number: int, seed: int) -> Value:
    """The value that a specification stands for.

    Args:
        spec: one of `FORMS`.
        number: which argument it is, so that each has random numbers of its own.
        seed: of the random numbers.

    Raises:
        TilecError: if it is none of them, or the file holds no array.
        OSError: if the file cannot be read.
    """
    try:
        return _value(spec, np.random.default_rng((seed, number)))
    except TilecError as error:
        raise TilecError(f"argument {number}, '{_shown(spec)}': {error}") from None
    except MemoryError:
        raise TilecError(f"argument {number}, '{_shown(spec)}': not enough memory") from None


def file_of(spec: str) -> str | None:
    """The file that a specification names, or None."""
    file = _NPY.fullmatch(spec)
    return file and file[1]


def _shown(text: str) -> str:
    return text if len(text) <= _LONGEST else f"{text[:_LONGEST]}..."


def _value(spec: str, rng: np.random.Generator) -> Value:
    if spec == "null":
        return None
    file = _NPY.fullmatch(spec)
    if file:
        return _loaded(file[1], file[2])
    first, colon, rest = spec.partition(":")
    if not colon:
        return _number(first)
    if first not in ("randn", "randint", "arange", "zeros"):
        return _scalar(dtype(first), rest)
    shape, _, name = rest.partition(":")
    if not _SHAPE.fullmatch(shape):
        raise TilecError(f"'{_shown(shape)}' is not a shape; shapes are as 128x64")
    return _made(first, tuple(map(int, shape.split("x"))), dtype(name or "f32"), rng)


def _check_bytes(shape: tuple[int, ...], itemsize: int) -> None:
    if prod(shape) * itemsize > _MOST_BYTES:
        raise TilecError(f"it takes more than {_MOST_BYTES >> 30} GiB")


def _made(
    kind: str, shape: tuple[int, ...], type_: np.dtype[Any], rng: np.random.Generator
) -> Array:
    if kind == "zeros":
        _check_bytes(shape, type_.itemsize)
        return np.zeros(shape, type_)
    _check_bytes(shape, 8)  # they are made as numbers of 64 bits
    match kind:
        case "arange":
            return np.arange(prod(shape)).reshape(shape).astype(type_)
        case "randint":
            least = 0 if type_.kind == "u" else -8
            return rng.integers(least, 9, shape).astype(type_)
    if type_.kind in "iu":
        raise TilecError("'randn' makes floats; 'randint' makes whole numbers of every type")
    return rng.standard_normal(shape).astype(type_)


def _loaded(path: str, name: str | None) -> Array:
    try:
        array = np.load(path, allow_pickle=False)
    except (OSError, MemoryError):
        raise
    except Exception as error:  # numpy reads the header as Python's, an archive as a zip
        raise TilecError(f"not a numpy array: {error}") from None
    if not isinstance(array, np.ndarray):
        raise TilecError("an archive of arrays; a .npy file holds one")
    if not array.itemsize:
        raise TilecError(f"elements of type {array.dtype!r}, of no bytes")
    array = np.require(array, array.dtype.newbyteorder("="), ["C", "W"])
    if name:
        type_ = dtype(name)
        if type_.itemsize != array.itemsize:
            raise TilecError(f"its elements are {array.dtype}, of {array.itemsize} bytes")
        array = array.view(type_)
    if array.dtype.kind not in "biuf" and name is None:
        raise TilecError(f"elements of type {array.dtype}; PATH.npy:TYPE says what they are")
    return array if array.ndim else array.reshape(1)


def _number(text: str) -> int | float:
    for kind in (lambda t: int(t, 0), float):
        try:
            return kind(text)
        except ValueError:
            continue
    raise TilecError("neither a file, an array nor a number; tile-run --help lists the forms")


def _scalar(type_: np.dtype[Any], text: str) -> np.generic:
    number = _number(text)
    if type_.kind in "iu":
        limits = np.iinfo(type_)
        if number % 1 or not limits.min <= number <= limits.max:
            raise TilecError(f"{_shown(text)} does not fit {type_.name}")
        number = int(number)
    try:
        return type_.type(number)  # type: ignore[no-any-return]
    except OverflowError:
        raise TilecError(f"{_shown(text)} does not fit {type_.name}") from None
