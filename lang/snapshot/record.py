"""What has been found of a kernel's state so far, and what is still to be looked at."""

from __future__ import annotations

from collections import deque
from collections.abc import Callable, Collection, Iterable, Mapping

from .fixed import CALLS_ANY_CLASS, DEPENDS_ON_SET_ORDER, TAKES_ANY_NAME
from .guards import MISSING, Get, Guards
from .places import Span
from .words import words

_MOST_LINES = 4096
_FEW = 64
"""Attributes of an object that are faster counted than each looked for in vain."""
_FORBIDDEN = words(
    """
    __array_interface__ __array_struct__ __builtins__ __closure__ __code__ __cuda_array_interface__
    __globals__ __loader__ __self__ __spec__ __subclasses__ __traceback__ _getframe ag_frame
    cr_frame ctypes f_back f_builtins f_globals f_locals gi_frame tb_frame
    """
)
"""Attributes that lead to what no record holds: frames, modules' globals, addresses."""
_OF_ANY_NAME = words("__dataclass_fields__ __dict__ __getattribute__ __slots__ format format_map")
"""Attributes that give access to others by names that need not stand in the code."""
_BY_FIXED_CODE = words(
    "_fields as_integer_ratio denominator dtype get items keys name numerator ndim shape values"
)
"""Attributes that fixed code takes of what it is given."""
NOT_READ = words(
    """
    __abstractmethods__ __annotate__ __annotate_func__ __annotations__ __annotations_cache__
    __builtins__ __cached__ __dataclass_fields__ __dataclass_params__ __dict__ __doc__ __file__
    __firstlineno__ __loader__ __module__ __orig_bases__ __parameters__ __path__ __qualname__
    __slots__ __spec__ __static_attributes__ __type_params__ __weakref__ _abc_impl
    """
)
"""Attributes that nothing reads but code that names them."""


class UnrecordableError(Exception):
    """A kernel reads what cannot be recorded."""


class Members:
    """An object's attributes, of which those count that code names.

    Args:
        label: the object.
        get: as `get` of a dictionary of them.
        names: a view of their names, of which all count whenever any name may be taken.
        always: tells of a name whether it counts although no code names it; None if none does.
    """

    def __init__(
        self,
        label: str,
        get: Get,
        names: Collection[str],
        always: Callable[[str], bool] | None = None,
    ) -> None:
        self._label = label
        self._get = get
        self._names = names
        self._always = always
        self._known: set[str] = set()
        self._counted = False

    def look(self, record: Record) -> None:
        """Record those that code names by now."""
        due = set(record.names)
        if record.any_name:
            due |= {name for name in self._names if name not in NOT_READ}
        elif self._always is not None:
            due |= set(filter(self._always, self._names))
        if not self._counted and (record.any_name or self._always or len(self._names) < _FEW):
            record.guards.elements(self._names)
            self._counted = True
        for name in sorted(due - self._known):
            value = self._get(name, MISSING)
            if value is not MISSING:
                record.add(f"{self._label}.{name}", value)
            if value is not MISSING or not self._counted:
                record.guards.entry(self._get, name, value)
        self._known |= due


class Record:
    """What has been found of a kernel's state.

    Attributes:
        lines: what was read, a value a line; the same for the same state, in any process.
        guards: what tells whether it is as it was.
        spans: where the functions stand, in the order in which they were found.
        names: the attributes that code names.
        any_name: whether code may take attributes that it does not name.
        any_class: whether code may call classes that it does not name.
        made: the classes that code names.
    """

    def __init__(self) -> None:
        self.lines: list[str] = []
        self.guards = Guards()
        self.spans: list[Span] = []
        self.names = set(_BY_FIXED_CODE)
        self.any_name = False
        self.any_class = False
        self.made: set[type] = set()
        self._members: list[Members] = []
        self._labels: dict[int, str] = {}
        self._held: list[object] = []
        self._waiting: deque[tuple[str, object]] = deque()
        self._ordered = False

    def add(self, label: str, value: object) -> None:
        """Have a value looked at, which is read under a name for people."""
        self._waiting.append((label, value))

    def line(self, label: str, text: str) -> None:
        """Note what a value is.

        Raises:
            UnrecordableError: if it is too much.
        """
        if len(self.lines) == _MOST_LINES:
            raise UnrecordableError(f"it reads more than {_MOST_LINES} values")
        self.lines.append(f"{label} = {text}")

    def members(self, members: Members) -> None:
        """Have an object's attributes looked at, whenever code is found that names them."""
        self._members.append(members)

    def mention(self, names: Iterable[str], *, any_name: bool = False) -> None:
        """Note that code takes attributes.

        Raises:
            UnrecordableError: for one that refers to something that cannot be recorded.
        """
        found = frozenset(names)
        for name in sorted(found & _FORBIDDEN):
            raise UnrecordableError(f"'{name}' refers to something that cannot be recorded")
        self.any_name |= any_name or not found.isdisjoint(_OF_ANY_NAME)
        self.names |= found

    def fixed(self, label: str, name: str) -> None:
        """Note what is known by its name, and what it allows the code that has it."""
        self.line(label, name)
        self.any_class |= name in CALLS_ANY_CLASS
        if name in TAKES_ANY_NAME:
            self.mention(("__dataclass_fields__",), any_name=True)
        if name in DEPENDS_ON_SET_ORDER:
            self.set_order()

    def set_order(self) -> None:
        """Note that code may depend on the order of a set, and so on the hashes of texts."""
        if not self._ordered:
            self._ordered = True
            self.line("order of sets", str(hash("tilec")))

    def variables(self, label: str, owner: Mapping[str, object]) -> None:
        """Have the entries of a dictionary of attributes looked at, as code names them."""
        self.members(Members(label, owner.get, owner.keys()))

    def first(self, label: str, value: object) -> bool:
        """Whether a value is met for the first time; else a line says where it was before."""
        before = self._labels.get(id(value))
        if before is None:
            self._labels[id(value)] = label
            self._held.append(value)  # so that its id stays its own
        else:
            self.line(label, f"the same as {before}")
        return before is None

    def all(self, look: Callable[[Record, str, object], None]) -> None:
        """Look at all that waits, and at what comes of it."""
        while self._waiting:
            while self._waiting:
                look(self, *self._waiting.popleft())
            for members in self._members:
                members.look(self)
