"""One pass over the instructions of a code object, for what they read."""

from __future__ import annotations

import re
from collections.abc import Iterator
from inspect import CO_VARARGS, CO_VARKEYWORDS
from types import CodeType

from .instructions import Instruction, instructions
from .paths import Import, Name, Path, Step

_GLOBALS = frozenset(("LOAD_GLOBAL", "LOAD_NAME", "LOAD_FROM_DICT_OR_GLOBALS"))
_CELLS = frozenset(("LOAD_DEREF", "LOAD_CLASSDEREF", "LOAD_FROM_DICT_OR_DEREF"))
_LOADS = _GLOBALS | _CELLS | {"LOAD_FAST"}
_ATTRIBUTE = frozenset(("LOAD_ATTR", "LOAD_METHOD"))
_MAKES_SET = frozenset(("BUILD_SET", "SET_ADD", "SET_UPDATE"))
_BY_NAME = frozenset(Path(Name(name)) for name in ("getattr", "hasattr"))
_BY_ANY_NAME = frozenset(Path(Name(name)) for name in ("vars", "dir"))
_TYPE = Path(Name("type"))
_CALL_OF_ONE = Instruction("CALL", 1)
_WORD = re.compile(r"[^\W\d]\w*")


class Scan:
    """What the instructions of one code object read.

    Attributes:
        paths: what is read from outside, in order.
        names: the attributes that are taken of what the code holds, and the words in its texts.
        any_name: whether attributes may be taken whose names are in neither.
        any_class: whether a class may be called that the code does not name.
        set_order: whether something may depend on the order of a set.
    """

    def __init__(self, code: CodeType) -> None:
        self.paths: list[Path] = []
        self.names: set[str] = set()
        self.any_name = False
        self.any_class = False
        self.set_order = False
        self._code = list(instructions(code))
        self._imported: dict[str, Path] = {}
        self._once = set(self._stored_once(code))
        for _, value in (one for one in self._code if one.op == "LOAD_CONST"):
            parts = value if isinstance(value, tuple | frozenset) else (value,)
            self.names.update(*(_WORD.findall(part) for part in parts if isinstance(part, str)))
        for at, one in enumerate(self._code):
            if one.op == "IMPORT_NAME":
                self._import(at)
        at = 0
        while at < len(self._code):
            at = self._instruction(at)

    def _op(self, at: int) -> str:
        return self._code[at].op if at < len(self._code) else ""

    def _stored_once(self, code: CodeType) -> Iterator[str]:
        """Variables that have one value, once they have one."""
        starred = bool(code.co_flags & CO_VARARGS) + bool(code.co_flags & CO_VARKEYWORDS)
        parameters = code.co_varnames[: code.co_argcount + code.co_kwonlyargcount + starred]
        stored = [one.value for one in self._code if one.op == "STORE_FAST"]
        return (name for name in stored if name not in parameters and stored.count(name) == 1)

    def _import(self, at: int) -> None:
        """Note the modules that a statement imports: as variables, or as read where they are not.

        `import a.b` gives `a`; `import a.b as c` takes `b` of `a` in steps; `from a import b, c`
        takes one name after the other.
        """
        level, names = (self._code[at - back].value for back in (2, 1))
        name = str(self._code[at].value)
        leaf = Path(Import(name, level, tuple(names or ()), leaf=True))
        if not names and self._op(at + 1) != "IMPORT_FROM":
            self._stored(at + 1, Path(Import(name, level, (), leaf=False)))
        elif not names:
            end = at + 1
            while self._op(end) in ("IMPORT_FROM", "SWAP", "POP_TOP"):
                end += 1
            self._stored(end, leaf)
        else:
            at += 1
            while self._op(at) == "IMPORT_FROM":
                self._stored(at + 1, leaf.then(Step("attribute", self._code[at].value)))
                at += 2

    def _stored(self, at: int, path: Path) -> None:
        """Note that an instruction stores an import."""
        op, name = self._code[at]
        if op == "STORE_FAST" and name in self._once:
            self._imported[name] = path
        else:
            self.paths.append(path)

    def _instruction(self, at: int) -> int:
        """Note what one instruction reads, or a path of several; where the next is."""
        op, value = self._code[at]
        path, after = self._path(at)
        if path is not None:
            if path in _BY_NAME:
                return self._by_name(at, path, after)
            self.any_name |= path in _BY_ANY_NAME
            if path == _TYPE:
                one = self._op(after) == "LOAD_FAST" and self._code[after + 1] == _CALL_OF_ONE
                self.any_class |= not one or not self._is_compared(after + 2)
            self.paths.append(path)
            return after
        if op in _ATTRIBUTE or op == "LOAD_SUPER_ATTR":
            self.names.add(str(value))
            self.any_class |= value == "__call__"
            self.any_class |= value == "__class__" and not self._is_compared(at + 1)
        searched = isinstance(value, frozenset) and self._op(at + 1) == "CONTAINS_OP"
        self.set_order |= op in _MAKES_SET or (isinstance(value, frozenset) and not searched)
        return at + 1

    def _is_compared(self, at: int) -> bool:
        """Whether a class that has been taken is only compared, or an attribute of it taken.

        As dataclasses do, in `self.__class__ is other.__class__`; others may call the class.
        """
        if self._op(at) in ("LOAD_ATTR", "IS_OP"):
            return True
        if self._op(at) not in _LOADS:
            return False
        end = at + 1 + (self._op(at + 1) == "LOAD_ATTR")
        return self._op(end) == "IS_OP"

    def _path(self, at: int) -> tuple[Path | None, int]:
        """The path that begins at an instruction, and where it ends."""
        op, value = self._code[at]
        if op in _GLOBALS:
            path = Path(Name(value))
        elif op in _CELLS:
            path = Path(Name(value, cell=True))
        elif op == "LOAD_FAST" and value in self._imported:
            path = self._imported[value]
        else:
            return None, at
        at += 1
        while True:
            step, at = self._step(at)
            if step is None:
                return path, at
            path = path.then(step)

    def _step(self, at: int) -> tuple[Step | None, int]:
        op = self._op(at)
        if op in _ATTRIBUTE:
            return Step("attribute", self._code[at].value), at + 1
        if op == "LOAD_CONST" and self._op(at + 1) == "BINARY_SUBSCR":
            key = self._code[at].value
            return (Step("item", key), at + 2) if type(key) in (str, int) else (None, at)
        end = at
        while self._op(end) == "LOAD_CONST":
            end += 1
        names = self._op(end) == "CALL_KW"  # since 3.13, with the names of arguments last
        taken = end - at - names if names or self._op(end) == "CALL" else 0
        if taken > 0 and self._code[end].value == taken:
            return Step("call", tuple(one.value for one in self._code[at : at + taken])), end + 1
        return None, at

    def _by_name(self, at: int, path: Path, after: int) -> int:
        """`getattr` of a path or a variable with a name that stands there."""
        self.paths.append(path)
        operand, end = self._path(after) if after < len(self._code) else (None, after)
        if operand is None:
            end = after + (self._op(after) == "LOAD_FAST")
            while end > after and self._op(end) in _ATTRIBUTE:
                self.names.add(str(self._code[end].value))
                end += 1
        name = self._code[end].value if self._op(end) == "LOAD_CONST" else None
        call = end + 1 + (self._op(end + 1) == "LOAD_CONST")
        if end == after or not isinstance(name, str) or self._op(call) != "CALL":
            self.any_name = True
            return at + 1
        if operand is not None:
            self.paths.append(operand.then(Step("attribute", name)))
        return call + 1
