"""`dataclass` as the standard library has it, whose methods are made when they are first used.

The library's writes and compiles the text of every method when the class is made, about half a
millisecond a class and half of what importing the simulator took; of most classes a process makes
no object. Here `__init__` is compiled for the first object. What is seldom asked for, `__repr__`
and what `dataclasses.fields` and `replace` need, is the library's, of a class with the same fields.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

__all__ = ["dataclass"]

if TYPE_CHECKING:
    from dataclasses import dataclass
else:
    import dataclasses
    import sys
    from operator import attrgetter
    from types import MemberDescriptorType

    _NONE = dataclasses.MISSING
    _RECORD = "__record__"
    _LATER = ("__repr__", "__dataclass_fields__", "__dataclass_params__")

    def dataclass(cls=None, /, **options):
        """`dataclasses.dataclass`, with those of its parameters that `_Record` has."""
        return _Record(options).make if cls is None else _Record(options).make(cls)

    class _Factory:
        """Stands for a default that is made anew each time; named as the library's is."""

        def __repr__(self):
            return "<factory>"

    _FACTORY = _Factory()

    class _Later:
        """A method or table that takes its own place when it is first asked for."""

        def __init__(self, cls, name, made):
            self.cls, self.name, self.made = cls, name, made

        def __get__(self, instance, owner=None):
            made = self.made()
            setattr(self.cls, self.name, made)
            return made.__get__(instance, owner) if hasattr(made, "__get__") else made

    class _Record:
        """A class as it was declared, before the decorator changed it."""

        def __init__(self, options):
            self.options = {"frozen": False, "eq": True, "repr": True, "kw_only": False, **options}
            self.slots = self.options.pop("slots", False)
            unknown = set(options) - {"frozen", "eq", "repr", "kw_only", "slots"}
            if unknown:
                raise TypeError(f"tilec.isa.records.dataclass has no parameter {min(unknown)!r}")
            self._standard = None

        def make(self, cls):
            """The class with its methods, or a new one that has slots."""
            self.bases = tuple(vars(b)[_RECORD] for b in cls.__bases__ if _RECORD in vars(b))
            self.own, self.fields = {}, {}
            for base in cls.__mro__[:0:-1]:
                self.fields |= vars(base)[_RECORD].own if _RECORD in vars(base) else {}
            for name, type_ in cls.__annotations__.items():
                given = vars(cls).get(name, _NONE)
                given = _NONE if isinstance(given, MemberDescriptorType) else given
                if not isinstance(given, dataclasses.Field):
                    given = dataclasses.field(default=given)
                elif given.default is not _NONE:
                    setattr(cls, name, given.default)
                else:
                    delattr(cls, name)
                if given.kw_only is _NONE:
                    given.kw_only = self.options["kw_only"]
                self.own[name] = self.fields[name] = (type_, given)
            self.name, self.module, self.qualname = cls.__name__, cls.__module__, cls.__qualname__
            if self.slots:
                cls = self._with_slots(cls)
            self._methods(cls)
            return cls

        def _with_slots(self, cls):
            space = {n: v for n, v in vars(cls).items() if n not in self.fields}
            inherited = {
                slot for base in cls.__mro__[1:] for slot in vars(base).get("__slots__", ())
            }
            space["__slots__"] = tuple(name for name in self.fields if name not in inherited)
            for name in ("__dict__", "__weakref__"):
                space.pop(name, None)
            made = type(cls)(cls.__name__, cls.__bases__, space)
            made.__qualname__ = cls.__qualname__
            return made

        def _methods(self, cls):
            frozen, space = self.options["frozen"], vars(cls)
            new = {"__init__": _Later(cls, "__init__", lambda: self._init(cls))}
            for name in _LATER[not self.options["repr"] :]:
                new[name] = _Later(cls, name, lambda name=name: getattr(self.standard, name))
            given_hash = space.get("__hash__", _NONE)
            if self.options["eq"]:
                new["__eq__"], hashed = self._compared()
                if given_hash is _NONE or (given_hash is None and "__eq__" in space):
                    cls.__hash__ = hashed if frozen else None
            if frozen:
                new["__setattr__"], new["__delattr__"] = self._refusals(cls)
                if self.slots:
                    new["__getstate__"], new["__setstate__"] = self._states()
            order = [name for name, (_, f) in self.fields.items() if f.init and not f.kw_only]
            new["__match_args__"] = tuple(order)
            for name, value in new.items():
                if name not in space:
                    setattr(cls, name, value)
            setattr(cls, _RECORD, self)

        @property
        def standard(self):
            """The library's class with the same fields."""
            if self._standard is None:
                space = {
                    "__annotations__": {name: type_ for name, (type_, _) in self.own.items()},
                    "__module__": self.module,
                    "__qualname__": self.qualname,
                    "__doc__": "",
                }
                for name, (_, given) in self.own.items():
                    made = ("default", "default_factory", "init", "repr", "hash", "compare")
                    made = {key: getattr(given, key) for key in (*made, "metadata", "kw_only")}
                    space[name] = dataclasses.field(**made)
                bases = tuple(base.standard for base in self.bases)
                made = dataclasses.dataclass(**self.options)
                self._standard = made(type(self.name, bases, space))
            return self._standard

        def _init(self, cls):
            """`__init__`, compiled."""
            frozen = self.options["frozen"]
            space = {"_set": object.__setattr__, "_factory": _FACTORY}
            plain, named, body = [], [], []
            for name, (_, field) in self.fields.items():
                default, value = name, name
                if field.default_factory is not _NONE:
                    space[f"_make_{name}"] = field.default_factory
                    default, value = f"{name}=_factory", f"_make_{name}()"
                    value += f" if {name} is _factory else {name}" if field.init else ""
                elif field.default is not _NONE:
                    space[f"_given_{name}"] = field.default
                    default = f"{name}=_given_{name}"
                    value = name if field.init else f"_given_{name}"
                elif not field.init:
                    continue
                if field.init:
                    (named if field.kw_only else plain).append(default)
                body.append(
                    f"_set(self, '{name}', {value})" if frozen else f"self.{name} = {value}"
                )
            if hasattr(cls, "__post_init__"):
                body.append("self.__post_init__()")
            taken = ", ".join(["self", *plain, *["*"][: len(named)], *named])
            outer = sys.modules[self.module].__dict__ if self.module in sys.modules else {}
            text = f"def __make__({', '.join(space)}):\n def __init__({taken}):\n  "
            text += "\n  ".join(body or ["pass"]) + "\n return __init__"
            found = {}
            exec(text, outer, found)
            made = found["__make__"](**space)
            made.__qualname__ = f"{self.qualname}.__init__"
            types = {n: type_ for n, (type_, field) in self.fields.items() if field.init}
            made.__annotations__ = {**types, "return": None}
            return made

        def _compared(self):
            """`__eq__` and `__hash__`."""
            equal = _values([name for name, (_, f) in self.fields.items() if f.compare])
            chosen = {
                n: f.compare if f.hash is None else f.hash for n, (_, f) in self.fields.items()
            }
            hashed = _values([name for name, use in chosen.items() if use])

            def same(self, other):
                if other.__class__ is self.__class__:
                    return equal(self) == equal(other)
                return NotImplemented

            def hash_of(self):
                return hash(hashed(self))

            return same, hash_of

        def _refusals(self, cls):
            """`__setattr__` and `__delattr__` of a class whose objects do not change."""
            names = frozenset(self.fields)

            def refuse_to_set(self, name, value):
                if type(self) is cls or name in names:
                    raise dataclasses.FrozenInstanceError(f"cannot assign to field {name!r}")
                super(cls, self).__setattr__(name, value)

            def refuse_to_delete(self, name):
                if type(self) is cls or name in names:
                    raise dataclasses.FrozenInstanceError(f"cannot delete field {name!r}")
                super(cls, self).__delattr__(name)

            return refuse_to_set, refuse_to_delete

        def _states(self):
            """What pickles and copies such objects, which nothing sets from outside."""
            names = tuple(self.fields)

            def state(self):
                return [getattr(self, name) for name in names]

            def restore(self, state):
                for name, value in zip(names, state, strict=True):
                    object.__setattr__(self, name, value)

            return state, restore

    def _values(names):
        """What gives a tuple of attributes of an object."""
        if len(names) > 1:
            return attrgetter(*names)
        return lambda one: tuple(getattr(one, name) for name in names)
