"""Ways in which a kernel's Python comes to a value, and in which the value is changed.

In the texts `$n` is the number of the way in its program and `$v` Python for a value. `read` gives
the value in the kernel; `change` is what the program does to have another, if it can while it runs.
"""

from __future__ import annotations

import sys
from dataclasses import dataclass


@dataclass(frozen=True)
class Way:
    """A way.

    Attributes:
        name: what it is called.
        define: statements of the module.
        read: an expression of the kernel.
        change: statements of a function of the module.
        constant: an expression that is passed as a constant `K$n`, if any.
        enclosed: statements around the kernel, whose variables it encloses.
        module: the text of a module `other$n`, if there is one.
        variable: whether the value is a text, in a variable `STATE$n` of the environment.
        recorded: whether the snapshot holds it, so that a kernel that reads it is cached.
        values: of what kind they are: `any`, `hashable`, `number`, or `size`, small and positive.
        gives: the value that the kernel reads, by `$v`; empty where that is not so easily said.
        names: `any` if code takes attributes by names that do not stand in it, or of a class that
            it is given; `few` if the state can be recorded only where none does.
        moves: whether the state is known for the same where the code has moved.
        portable: whether another process can know the state for the same.
    """

    name: str
    define: str = ""
    read: str = ""
    change: str = ""
    constant: str = ""
    enclosed: str = ""
    module: str = ""
    variable: bool = False
    recorded: bool = True
    values: str = "any"
    gives: str = "$v"
    names: str = ""
    moves: bool = True
    portable: bool = True


WAYS = (
    Way("global", "value$n = $v", "value$n", "global value$n; value$n = $v"),
    Way(
        "global of a helper",
        "value$n = $v\ndef helper$n(): return value$n",
        "helper$n()",
        "global value$n; value$n = $v",
    ),
    Way(
        "helper of a helper",
        "value$n = $v\ndef inner$n(x): return value$n\ndef helper$n(): return inner$n(1)",
        "helper$n()",
        "global value$n; value$n = $v",
    ),
    Way(
        "global of a function of the kernel's",
        "value$n = $v\n@tilec.function\ndef helper$n(x):\n    y = value$n\n    return y",
        "helper$n(1)",
        "global value$n; value$n = $v",
    ),
    Way(
        "enclosed variable",
        enclosed="value$n = $v\ndef set$n(v):\n    nonlocal value$n\n    value$n = v",
        read="value$n",
        change="setters[$n]($v)",
    ),
    Way(
        "enclosed by a helper",
        "def make$n(value):\n    def helper():\n        return value\n    return helper\n"
        "helper$n = make$n($v)",
        "helper$n()",
        "helper$n.__closure__[0].cell_contents = $v",
    ),
    Way(
        "two closures of one code",
        "def make$n(value):\n    return lambda: value\none$n = make$n(3)\nother$n = make$n($v)",
        "(one$n(), other$n())[1]",
        "global other$n; other$n = make$n($v)",
    ),
    Way(
        "default",
        "def helper$n(x, value=$v): return value",
        "helper$n(1)",
        "helper$n.__defaults__ = ($v,)",
    ),
    Way(
        "keyword default",
        "def helper$n(*, value=$v): return value",
        "helper$n()",
        "helper$n.__kwdefaults__['value'] = $v",
    ),
    Way(
        "default of a function of the kernel's",
        "def make$n(default):\n    @tilec.function\n    def helper(x: int, value=default):\n"
        "        return value\n    return helper\nhelper$n = make$n($v)",
        "helper$n(1)",
        "global helper$n; helper$n = make$n($v)",
    ),
    Way("code of a helper", "def helper$n(): return $v", "helper$n()"),
    Way(
        "code that is replaced",
        "def helper$n(): return $v",
        "helper$n()",
        "helper$n.__code__ = (lambda: $v).__code__",
    ),
    Way(
        "class attribute",
        "class Config$n: value = $v",
        "Config$n.value",
        "Config$n.value = $v",
    ),
    Way(
        "inherited class attribute",
        "class Base$n: value = $v\nclass Config$n(Base$n): pass",
        "Config$n.value",
        "Config$n.value = $v",
    ),
    Way(
        "instance attribute",
        "class Config$n:\n    def __init__(self, value): self.value = value\n"
        "config$n = Config$n($v)",
        "config$n.value",
        "config$n.value = $v",
    ),
    Way(
        "instance attribute that comes to hide one of the class",
        "class Config$n: value = $v\nconfig$n = Config$n()",
        "config$n.value",
        "config$n.value = $v",
    ),
    Way(
        "instance as an argument",
        "class Config$n:\n    def __init__(self, value): self.value, self.log = value, open\n"
        "config$n = Config$n($v)\ndef helper$n(config): return config.value",
        "helper$n(config$n)",
        "config$n.value = $v",
        names="few",
    ),
    Way(
        "slot",
        "class Config$n:\n    __slots__ = ('value',)\nconfig$n = Config$n()\nconfig$n.value = $v",
        "config$n.value",
        "config$n.value = $v",
    ),
    Way(
        "slot of an argument",
        "class Config$n:\n    __slots__ = ('value',)\nconfig$n = Config$n()\nconfig$n.value = $v\n"
        "def helper$n(config): return config.value",
        "helper$n(config$n)",
        "config$n.value = $v",
    ),
    Way(
        "property",
        "class Config$n:\n    @property\n    def value(self): return self._value\n"
        "config$n = Config$n()\nconfig$n._value = $v",
        "config$n.value",
        "config$n._value = $v",
    ),
    Way(
        "property that replaces an attribute",
        "class Config$n: value = $v\nconfig$n = Config$n()",
        "config$n.value",
        "Config$n.value = property(lambda self: $v)",
    ),
    Way(
        "cached property",
        "class Config$n:\n    @functools.cached_property\n    def value(self): return self._value\n"
        "config$n = Config$n()\nconfig$n._value = $v",
        "config$n.value",
        "config$n.value = $v",
        recorded=False,
    ),
    Way(
        "method",
        "class Config$n:\n    def get(self): return self.value\nconfig$n = Config$n()\n"
        "config$n.value = $v",
        "config$n.get()",
        "config$n.value = $v",
    ),
    Way(
        "code of a method",
        "class Config$n:\n    def get(self): return $v\nconfig$n = Config$n()",
        "config$n.get()",
        "Config$n.get = lambda self: $v",
    ),
    Way(
        "bound method",
        "class Config$n:\n    def get(self): return self.value\nconfig$n = Config$n()\n"
        "config$n.value = $v\nget$n = config$n.get",
        "get$n()",
        "config$n.value = $v",
    ),
    Way(
        "static method",
        "class Config$n:\n    @staticmethod\n    def get(): return value$n\nvalue$n = $v",
        "Config$n.get()",
        "global value$n; value$n = $v",
    ),
    Way(
        "class method",
        "class Config$n:\n    value = $v\n    @classmethod\n    def get(cls): return cls.value",
        "Config$n.get()",
        "Config$n.value = $v",
        names="any",
    ),
    Way(
        "super",
        "class Base$n:\n    def get(self): return self.value\n"
        "class Config$n(Base$n):\n    def get(self): return super().get()\n"
        "config$n = Config$n()\nconfig$n.value = $v",
        "config$n.get()",
        "config$n.value = $v",
    ),
    Way(
        "operator",
        "class Config$n:\n    def __add__(self, other): return self.value\nconfig$n = Config$n()\n"
        "config$n.value = $v",
        "config$n + 1",
        "config$n.value = $v",
    ),
    Way(
        "operator that comes later",
        "class Base$n:\n    def __getitem__(self, at): return value$n\n"
        "class Config$n(Base$n): pass\nconfig$n = Config$n()\nvalue$n = $v",
        "config$n[0]",
        "Config$n.__getitem__ = lambda self, at: $v",
    ),
    Way(
        "call of an object",
        "class Config$n:\n    def __call__(self): return self.value\nconfig$n = Config$n()\n"
        "config$n.value = $v",
        "config$n()",
        "config$n.value = $v",
    ),
    Way(
        "__getattr__",
        "class Config$n:\n    def __getattr__(self, name): return value$n\nconfig$n = Config$n()\n"
        "value$n = $v",
        "config$n.value",
        "global value$n; value$n = $v",
    ),
    Way(
        "__getattribute__",
        "class Config$n:\n    def __getattribute__(self, name): return value$n\n"
        "config$n = Config$n()\nvalue$n = $v",
        "config$n.value",
        "global value$n; value$n = $v",
        names="any",
    ),
    Way(
        "descriptor",
        "class Get$n:\n    def __get__(self, owner, kind): return self.held\n"
        "class Config$n: value = Get$n()\nvars(Config$n)['value'].held = $v",
        "Config$n().value",
        "vars(Config$n)['value'].held = $v",
    ),
    Way(
        "metaclass",
        "class Meta$n(type):\n    @property\n    def value(cls): return value$n\n"
        "class Config$n(metaclass=Meta$n): pass\nvalue$n = $v",
        "Config$n.value",
        "global value$n; value$n = $v",
    ),
    Way(
        "instance made by a helper",
        "class Config$n:\n    def __init__(self): self.value = value$n\nvalue$n = $v\n"
        "def helper$n(): return Config$n().value",
        "helper$n()",
        "global value$n; value$n = $v",
    ),
    Way(
        "instance made of another",
        "class Config$n:\n    def __init__(self): self.value = value$n\nvalue$n = $v\n"
        "config$n = Config$n()\ndef helper$n(config): return type(config)().value",
        "helper$n(config$n)",
        "global value$n; value$n = $v",
        names="any",
    ),
    Way(
        "item of a dict", "config$n = {'value': $v}", "config$n['value']", "config$n['value'] = $v"
    ),
    Way(
        "item of a dict by a name that is computed",
        "config$n = {'value': $v, 'other': 1}",
        "config$n['val' + 'ue'[-2:]]",
        "config$n['value'] = $v",
    ),
    Way(
        "item of a dict beside what cannot be recorded",
        "config$n = {'value': $v, 'other': iter(())}",
        "config$n['value']",
        "config$n['value'] = $v",
    ),
    Way(
        "nested dict",
        "config$n = {'a': {'b': [0, $v]}}",
        "config$n['a']['b'][1]",
        "config$n['a']['b'][1] = $v",
    ),
    Way(
        "nested dict as an argument",
        "config$n = {'a': {'b': [0, $v]}}\ndef helper$n(d): return d['a']['b'][1]",
        "helper$n(config$n)",
        "config$n['a']['b'][1] = $v",
    ),
    Way(
        "get of a dict",
        "config$n = {'value': $v}",
        "config$n.get('value', 1)",
        "config$n['value'] = $v",
    ),
    Way(
        "order of a dict",
        "config$n = {'a': $v, 'b': 1}",
        "list(config$n.values())[0]",
        "config$n.pop('b'); config$n['a'] = $v; config$n['b'] = 1",
    ),
    Way("item of a list", "config$n = [1, $v]", "config$n[1]", "config$n[1] = $v"),
    Way("last of a list", "config$n = [1, $v]", "config$n[-1]", "config$n[-1] = $v"),
    Way(
        "turn of a loop",
        "config$n = [$v]",
        "[one for one in config$n][0]",
        "config$n[:] = [$v]",
    ),
    Way(
        "length of a list",
        "config$n = [0] * ($v)",
        "len(config$n)",
        "config$n[:] = [0] * ($v)",
        values="size",
    ),
    Way(
        "nested tuple",
        "config$n = (1, ('x', $v))",
        "config$n[1][1]",
        "global config$n; config$n = (1, ('x', $v))",
    ),
    Way(
        "list in a tuple",
        "config$n = (1, [$v])",
        "config$n[1][0]",
        "config$n[1][0] = $v",
    ),
    Way(
        "named tuple",
        "Config$n = collections.namedtuple('Config$n', 'value other')\nconfig$n = Config$n($v, 1)",
        "config$n.value",
        "global config$n; config$n = config$n._replace(value=$v)",
    ),
    Way(
        "typed named tuple with a method",
        "class Config$n(typing.NamedTuple):\n    value: object\n"
        "    def get(self): return self.value\nconfig$n = Config$n($v)",
        "config$n.get()",
        "global config$n; config$n = Config$n($v)",
    ),
    Way(
        "namespace",
        "config$n = types.SimpleNamespace(value=$v)",
        "config$n.value",
        "config$n.value = $v",
    ),
    Way(
        "namespace as an argument",
        "config$n = types.SimpleNamespace(value=$v)\ndef helper$n(c): return c.value",
        "helper$n(config$n)",
        "config$n.value = $v",
    ),
    Way(
        "dataclass",
        "@dataclasses.dataclass\nclass Config$n:\n    value: object = None\n"
        "config$n = Config$n($v)",
        "config$n.value",
        "config$n.value = $v",
    ),
    Way(
        "dataclass as an argument",
        "@dataclasses.dataclass\nclass Config$n:\n    value: object = None\n"
        "config$n = Config$n($v)\n"
        "def helper$n(c): return c.value",
        "helper$n(config$n)",
        "config$n.value = $v",
    ),
    Way(
        "dataclass with slots",
        "@dataclasses.dataclass(slots=True)\nclass Config$n:\n    value: object = None\n"
        "config$n = Config$n($v)\ndef helper$n(c): return c.value",
        "helper$n(config$n)",
        "config$n.value = $v",
    ),
    Way(
        "fields of a dataclass",
        "@dataclasses.dataclass\nclass Config$n:\n    value: object = None\n"
        "config$n = Config$n($v)",
        "dataclasses.astuple(config$n)[0]",
        "config$n.value = $v",
        names="any",
        gives="dataclasses.astuple(dataclasses.make_dataclass('Config', ['value'])($v))[0]",
    ),
    Way(
        "default of a dataclass",
        "@dataclasses.dataclass(frozen=True)\nclass Config$n:\n    value: object = $v",
        "Config$n().value",
        values="hashable",
    ),
    Way(
        "enum",
        "class Mode$n(enum.Enum):\n    A = 'a'\n    B = $v",
        "Mode$n.B.value",
        "Mode$n.B._value_ = $v",
        values="hashable",
    ),
    Way(
        "enum as an argument",
        "class Mode$n(enum.Enum):\n    B = $v\n    def get(self): return self.value\n"
        "mode$n = Mode$n.B\ndef helper$n(mode): return mode.get()",
        "helper$n(mode$n)",
        "Mode$n.B._value_ = $v",
        values="hashable",
    ),
    Way(
        "os.environ",
        read="os.environ['STATE$n']",
        change="os.environ['STATE$n'] = $v",
        variable=True,
    ),
    Way(
        "os.environ.get",
        read="os.environ.get('STATE$n', '')",
        change="os.environ['STATE$n'] = $v",
        variable=True,
    ),
    Way(
        "os.getenv", read="os.getenv('STATE$n')", change="os.environ['STATE$n'] = $v", variable=True
    ),
    Way(
        "os.getenv with a default",
        "def helper$n(): return os.getenv('STATE$n', default='nothing')",
        "helper$n()",
        "os.environ['STATE$n'] = $v",
        variable=True,
    ),
    Way(
        "a variable of the environment by a name that is computed",
        "def helper$n(name): return os.environ[name]",
        "helper$n('STATE' + str($n))",
        "os.environ['STATE$n'] = $v",
        variable=True,
        portable=False,
    ),
    Way(
        "an import in a helper of os",
        "def helper$n():\n    import os as system\n    return system.environ['STATE$n']",
        "helper$n()",
        "os.environ['STATE$n'] = $v",
        variable=True,
    ),
    Way(
        "getattr of a module",
        "import other$n",
        "getattr(other$n, 'value')",
        "other$n.value = $v",
        module="value = $v",
    ),
    Way(
        "getattr of an object",
        "config$n = types.SimpleNamespace(value=$v)\n"
        "def helper$n(c): return getattr(c, 'value', None)",
        "helper$n(config$n)",
        "config$n.value = $v",
    ),
    Way(
        "getattr by a name that is computed",
        "class Config$n:\n    pass\nconfig$n = Config$n()\nconfig$n.value = $v\n"
        "def helper$n(c, name): return getattr(c, name)",
        "helper$n(config$n, 'val' + chr(117) + 'e')",
        "config$n.value = $v",
        names="any",
    ),
    Way(
        "vars",
        "config$n = types.SimpleNamespace(value=$v)\n"
        "def helper$n(c): return list(vars(c).values())[0]",
        "helper$n(config$n)",
        "config$n.value = $v",
        names="any",
    ),
    Way(
        "__dict__",
        "class Config$n:\n    pass\nconfig$n = Config$n()\nconfig$n.value = $v\n"
        "def helper$n(c): return list(c.__dict__.values())[0]",
        "helper$n(config$n)",
        "config$n.value = $v",
        names="any",
    ),
    Way(
        "attribute by a format",
        "class Config$n:\n    pass\nconfig$n = Config$n()\nconfig$n.value = $v\n"
        "form$n = '{0.value!r}'\ndef helper$n(c): return form$n.format(c)",
        "helper$n(config$n)",
        "config$n.value = $v",
        gives="repr($v)",
        names="any",
    ),
    Way(
        "text of an object",
        "class Config$n:\n    def __repr__(self): return repr(self.value)\nconfig$n = Config$n()\n"
        "config$n.value = $v\ndef helper$n(c): return f'{c}'",
        "helper$n(config$n)",
        "config$n.value = $v",
        gives="repr($v)",
    ),
    Way(
        "operator.attrgetter",
        "class Config$n:\n    pass\nconfig$n = Config$n()\nconfig$n.value = $v\n"
        "get$n = operator.attrgetter('value')",
        "get$n(config$n)",
        "config$n.value = $v",
    ),
    Way(
        "operator.itemgetter",
        "config$n = {'value': $v}\nget$n = operator.itemgetter('value')",
        "get$n(config$n)",
        "config$n['value'] = $v",
    ),
    Way(
        "partial",
        "helper$n = functools.partial(lambda x, value: value, value=$v)",
        "helper$n(1)",
        "helper$n.keywords['value'] = $v",
    ),
    Way(
        "partial of a position",
        "helper$n = functools.partial(lambda value, x: value, $v)",
        "helper$n(1)",
        "global helper$n; helper$n = functools.partial(lambda value, x: value, $v)",
    ),
    Way(
        "map",
        "value$n = $v\ndef helper$n(x): return value$n",
        "list(map(helper$n, (1,)))[0]",
        "global value$n; value$n = $v",
    ),
    Way(
        "decorator",
        "def decorated$n(f):\n    @functools.wraps(f)\n    def inner(): return f(), value$n\n"
        "    return inner\nvalue$n = $v\n@decorated$n\ndef helper$n(): return 1",
        "helper$n()[1]",
        "global value$n; value$n = $v",
    ),
    Way(
        "context manager",
        "@contextlib.contextmanager\ndef held$n():\n    yield value$n\nvalue$n = $v\n"
        "def helper$n():\n    with held$n() as v: return v",
        "helper$n()",
        "global value$n; value$n = $v",
    ),
    Way(
        "generator",
        "value$n = $v\ndef values$n():\n    yield value$n\ndef helper$n(): return next(values$n())",
        "helper$n()",
        "global value$n; value$n = $v",
    ),
    Way(
        "function in a function",
        "value$n = $v\ndef helper$n():\n    def inner(): return value$n\n    return inner()",
        "helper$n()",
        "global value$n; value$n = $v",
    ),
    Way(
        "class in a function",
        "value$n = $v\ndef helper$n():\n    class Inner:\n        held = value$n\n"
        "    return Inner.held",
        "helper$n()",
        "global value$n; value$n = $v",
        moves=sys.version_info < (3, 13),  # since when the code of a class holds its line
    ),
    Way(
        "function attribute",
        "def helper$n(): return helper$n.value\nhelper$n.value = $v",
        "helper$n()",
        "helper$n.value = $v",
    ),
    Way(
        "method of a constant",
        "class Config$n:\n    def __init__(self, value): self.value = value\n"
        "    def get(self): return self.value\nconfig$n = Config$n($v)",
        "K$n.get()",
        "config$n.value = $v",
        constant="config$n",
    ),
    Way(
        "code of a method of a constant",
        "@dataclasses.dataclass(frozen=True)\nclass Config$n:\n    def get(self): return value$n\n"
        "config$n = Config$n()\nvalue$n = $v",
        "K$n.get()",
        "global value$n; value$n = $v",
        constant="config$n",
    ),
    Way(
        "constant made anew",
        "@dataclasses.dataclass(frozen=True)\nclass Config$n:\n    value: object\nvalue$n = $v",
        "K$n.value",
        "global value$n; value$n = $v",
        constant="Config$n(value$n)",
        values="hashable",
    ),
    Way(
        "named tuple as a constant, made anew",
        "class Config$n(typing.NamedTuple):\n    value: object\nvalue$n = $v",
        "K$n.value",
        "global value$n; value$n = $v",
        constant="Config$n(value$n)",
        values="hashable",
    ),
    Way(
        "constant",
        "value$n = $v",
        "K$n",
        "global value$n; value$n = $v",
        constant="value$n",
        values="hashable",
    ),
    Way(
        "tuple as a constant",
        "value$n = $v",
        "K$n[1]",
        "global value$n; value$n = $v",
        constant="(1, value$n)",
        values="hashable",
    ),
    Way(
        "attribute of a module",
        "import other$n",
        "other$n.value",
        "other$n.value = $v",
        module="value = $v",
    ),
    Way(
        "function of a module",
        "import other$n",
        "other$n.get()",
        "other$n.value = $v",
        module="value = $v\ndef get(): return value",
    ),
    Way(
        "module under another name",
        "import other$n\ndef helper$n():\n    m = other$n\n    return m.value",
        "helper$n()",
        "other$n.value = $v",
        module="value = $v",
        names="few",
    ),
    Way(
        "module as an argument",
        "import other$n\ndef helper$n(m): return m.value",
        "helper$n(other$n)",
        "other$n.value = $v",
        module="value = $v",
        names="few",
    ),
    Way(
        "import in a helper",
        "def helper$n():\n    import other$n\n    return other$n.value",
        "helper$n()",
        "import other$n; other$n.value = $v",
        module="value = $v",
    ),
    Way(
        "import in a helper from a module",
        "def helper$n():\n    from other$n import value\n    return value",
        "helper$n()",
        "import other$n; other$n.value = $v",
        module="value = $v",
    ),
    Way(
        "import in a helper under another name",
        "def helper$n():\n    import other$n as m\n    return [m for _ in (1,)][0].value",
        "helper$n()",
        "import other$n; other$n.value = $v",
        module="value = $v",
        names="few",
    ),
    Way(
        "import in a helper that may fail",
        "def helper$n():\n    try:\n        from other$n import value as found\n"
        "    except ImportError:\n        found = None\n    return found",
        "helper$n()",
        "import other$n; other$n.value = $v",
        module="value = $v",
    ),
    Way(
        "__getattr__ of a module",
        "import other$n",
        "other$n.value",
        "other$n.held = $v",
        module="held = $v\ndef __getattr__(name):\n    if name == 'value': return held\n"
        "    raise AttributeError(name)",
    ),
    Way(
        "array",
        "config$n = np.array([1.0, 2.0])\nconfig$n[1] = $v",
        "config$n[1]",
        "config$n[1] = $v",
        values="number",
        gives="np.array([1.0, 2.0, $v])[2]",
    ),
    Way(
        "type of an array",
        "config$n = np.array([$v])",
        "config$n",
        "global config$n; config$n = np.array([$v])",
        values="number",
        gives="np.array([$v])",
    ),
    Way(
        "shape of an array",
        "config$n = np.zeros((2, $v))",
        "config$n.shape[1]",
        "global config$n; config$n = np.zeros((2, $v))",
        values="size",
    ),
    Way(
        "function of numpy",
        "config$n = np.full(3, $v, float)",
        "np.sum(config$n)",
        "config$n[:] = $v",
        values="number",
        gives="np.sum(np.full(3, $v, float))",
    ),
    Way(
        "set",
        "config$n = {1, $v}",
        "sorted(config$n, key=repr)[-1]",
        "config$n.clear(); config$n.update((1, $v))",
        values="hashable",
        gives="sorted({1, $v}, key=repr)[-1]",
        portable=False,
    ),
    Way(
        "frozen set",
        "config$n = frozenset((1, $v))",
        "sorted(config$n, key=repr)[-1]",
        "global config$n; config$n = frozenset((1, $v))",
        values="hashable",
        gives="sorted({1, $v}, key=repr)[-1]",
        portable=False,
    ),
    Way("deque", "config$n = collections.deque([1, $v])", "config$n[1]", "config$n[1] = $v"),
    Way(
        "default dict",
        "config$n = collections.defaultdict(lambda: $v)",
        "config$n['value']",
        "config$n['value'] = $v",
        recorded=False,
    ),
    Way(
        "ordered dict",
        "config$n = collections.OrderedDict(a=$v, b=1)",
        "list(config$n.values())[0]",
        "config$n.clear(); config$n['a'] = $v",
    ),
    Way(
        "proxy of a dict",
        "held$n = {'value': $v}\nconfig$n = types.MappingProxyType(held$n)",
        "config$n['value']",
        "held$n['value'] = $v",
    ),
    Way(
        "subclass of a dict",
        "class Config$n(dict): pass\nconfig$n = Config$n(value=$v)",
        "config$n['value']",
        "config$n['value'] = $v",
    ),
    Way(
        "subclass of a number",
        "class Number$n(float): pass\nconfig$n = Number$n(2.0)\nconfig$n.value = $v",
        "config$n.value",
        "config$n.value = $v",
    ),
    Way(
        "builtin that is hidden",
        "value$n = $v",
        "abs(value$n)",
        "global abs; abs = lambda value: $v",
        values="number",
        gives="",
    ),
    Way(
        "match",
        "@dataclasses.dataclass\nclass Config$n:\n    value: object\nconfig$n = Config$n($v)\n"
        "def helper$n(c):\n    match c:\n        case Config$n(value):\n            return value",
        "helper$n(config$n)",
        "config$n.value = $v",
    ),
    Way(
        "result that is kept",
        "@functools.lru_cache\ndef helper$n(): return value$n\nvalue$n = $v",
        "helper$n()",
        "global value$n; value$n = $v; helper$n.cache_clear()",
        recorded=False,
    ),
    Way(
        "file",
        "Path('state$n').write_text(repr($v))\ndef helper$n():\n"
        "    with open('state$n') as f: return f.read()",
        "helper$n()",
        "Path('state$n').write_text(repr($v))",
        recorded=False,
        gives="repr($v)",
    ),
    Way(
        "file by pathlib",
        "Path('state$n').write_text(repr($v))\ndef helper$n(): return Path('state$n').read_text()",
        "helper$n()",
        "Path('state$n').write_text(repr($v))",
        recorded=False,
        gives="repr($v)",
    ),
    Way(
        "state of an object written in C",
        "held$n = threading.local()\nheld$n.value = $v",
        "held$n.value",
        "held$n.value = $v",
        recorded=False,
    ),
    Way(
        "context variable",
        "held$n = contextvars.ContextVar('held$n')\nheld$n.set($v)",
        "held$n.get()",
        "held$n.set($v)",
        recorded=False,
    ),
    Way(
        "module's dictionary",
        "value$n = $v\ndef helper$n(): return globals()['value$n']",
        "helper$n()",
        "global value$n; value$n = $v",
        recorded=False,
    ),
    Way(
        "frame",
        "value$n = $v\ndef helper$n(): return sys._getframe(0).f_globals['value' + str($n)]",
        "helper$n()",
        "global value$n; value$n = $v",
        recorded=False,
    ),
    Way(
        "global of a function's",
        "value$n = $v\ndef helper$n(): return helper$n.__globals__['value' + str($n)]",
        "helper$n()",
        "global value$n; value$n = $v",
        recorded=False,
    ),
    Way(
        "a memo of the user's",
        "memo$n = {}\nvalue$n = $v\n"
        "def helper$n():\n    if 'v' not in memo$n: memo$n['v'] = value$n\n"
        "    return memo$n['v']",
        "helper$n()",
        "global value$n; value$n = $v; memo$n.clear()",
        recorded=False,
    ),
    Way(
        "read before it is assigned",
        "value$n = $v\ndef helper$n(x):\n    if x: value$n = 1\n    else: value$n = held$n\n"
        "    return value$n\nheld$n = $v",
        "helper$n(0)",
        "global held$n; held$n = $v",
    ),
)
"""Every way."""
