"""`tilec.isa.records.dataclass` against the standard library's, of made-up classes and of ours."""

from __future__ import annotations

import ast
import copy
import dataclasses
import importlib
import inspect
import pickle
from collections.abc import Callable
from dataclasses import field
from pathlib import Path
from typing import Any, Generic, TypeVar

import pytest
from tilec.isa import records

T = TypeVar("T")
ROOT = Path(__file__).resolve().parents[3]
OPTIONS = [
    {},
    {"frozen": True},
    {"slots": True},
    {"frozen": True, "slots": True},
    {"frozen": True, "slots": True, "eq": False},
    {"frozen": True, "slots": True, "kw_only": True},
    {"slots": True, "eq": False, "repr": False},
]


def classes(make: Callable[..., Any], options: dict[str, bool]) -> tuple[type, type]:
    """A class, and one that inherits from it."""

    @make(**options)
    class Base:
        """A class."""

        a: int
        b: str = "b"
        c: tuple[int, ...] = field(default_factory=tuple)
        d: int = field(default=4, compare=False, repr=False)
        e: int = field(default=5, init=False)

        @property
        def twice(self) -> int:
            return 2 * self.a

    @make(**options)
    class Derived(Base):
        """Another."""

        b: str = "other"
        f: float = 0.5
        g: int = field(default=7, kw_only=True)

        def __post_init__(self) -> None:
            object.__setattr__(self, "f", self.f + self.a)

    return Base, Derived


def outcome(do: Callable[[], object]) -> object:
    """What a call gives, or how it fails."""
    try:
        return do()
    except Exception as error:
        return type(error), str(error)


def observed(cls: Any, options: dict[str, bool], keys: dict[str, object]) -> dict[str, object]:
    """What can be seen of a class and its objects."""
    one, same, other = cls(**keys), cls(**keys), cls(**{**keys, "a": 2})
    hashed = options.get("eq", True)
    found = {
        "text": repr(one).partition(" at 0x")[0],
        "values": [outcome(lambda name=name: getattr(one, name)) for name in "abcdefg"],
        "equal": (one == same, one == other, one != same, one == 3),
        "hash": outcome(lambda: hash(one)) if hashed else one.__hash__ is None,
        "signature": str(inspect.signature(cls)),
        "of_method": str(inspect.signature(cls.__init__)),
        "match": cls.__match_args__,
        "fields": [(f.name, f.type, f.compare, f.kw_only) for f in dataclasses.fields(one)],
        "dict": dataclasses.asdict(one),
        "replaced": dataclasses.asdict(dataclasses.replace(one, a=9)),
        "copied": dataclasses.asdict(copy.copy(one)),
        "set": outcome(lambda: setattr(one, "a", 5)),
        "deleted": outcome(lambda: delattr(other, "a")),
        "missing": outcome(cls),
        "many": outcome(lambda: cls(1, 2, 3, 4, 5, 6, 7, 8)),
        "slots": getattr(cls, "__slots__", None),
        "named": (cls.__name__, cls.__qualname__, cls.__module__, cls.__doc__),
    }
    if not options.get("slots"):  # where the library's had faults before Python 3.12
        found["new"] = outcome(lambda: setattr(one, "zzz", 5))
    return found


@pytest.mark.parametrize("options", OPTIONS, ids=str)
@pytest.mark.parametrize("which", [0, 1])
def test_it_is_the_standard_librarys(options: dict[str, bool], which: int) -> None:
    ours, theirs = (classes(m, options)[which] for m in (records.dataclass, dataclasses.dataclass))
    keys = {"a": 1, "c": (1,)} if which == 0 else {"a": 1, "f": 2.5, "g": 3}
    assert observed(ours, options, keys) == observed(theirs, options, keys)


@records.dataclass(frozen=True, slots=True)
class Frozen(Generic[T]):
    """One that a pickle finds."""

    value: T
    more: tuple[int, ...] = ()


def test_it_is_pickled() -> None:
    one = Frozen(3, (1, 2))
    assert pickle.loads(pickle.dumps(one)) == one == copy.deepcopy(one)


def test_a_parameter_that_it_has_not_is_refused() -> None:
    with pytest.raises(TypeError, match="no parameter 'order'"):
        records.dataclass(order=True)


def _declared() -> list[tuple[str, str]]:
    """Modules and names of all classes that are made so, as the sources have them."""
    found = []
    for file in sorted(
        f for name in ("isa", "layout", "sim") for f in ROOT.glob(f"{name}/**/*.py")
    ):
        text = file.read_text()
        if "records import dataclass" not in text:
            continue
        parts = file.relative_to(ROOT).with_suffix("").parts
        module = ".".join(("tilec", *(part for part in parts if part != "__init__")))
        for node in ast.parse(text).body:
            if isinstance(node, ast.ClassDef) and "dataclass" in map(_name, node.decorator_list):
                found.append((module, node.name))
    return found


def _name(decorator: ast.expr) -> str:
    called = decorator.func if isinstance(decorator, ast.Call) else decorator
    return called.id if isinstance(called, ast.Name) else ""


def test_every_class_takes_what_the_standard_librarys_would() -> None:
    declared = _declared()
    assert len(declared) > 100
    for module, name in declared:
        cls = getattr(importlib.import_module(module), name)
        theirs = vars(cls)["__record__"].standard
        assert dataclasses.fields(cls) == dataclasses.fields(theirs)
        if "__init__" in vars(theirs):
            ours = inspect.signature(cls)
            assert str(ours) == str(inspect.signature(theirs)), (module, name)
        assert (cls.__hash__ is None) == (theirs.__hash__ is None), (module, name)
        assert cls.__match_args__ == theirs.__match_args__
