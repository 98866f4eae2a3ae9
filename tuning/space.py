"""Search spaces: parameters, and constraints between them."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import cached_property
from math import prod

from tilec.isa import nearest
from tilec.isa.wording import counted

from .errors import TuningError
from .expressions import Expression
from .parameters import Parameter

Candidate = dict[str, int]
"""A value of each parameter, by name, in their order."""


@dataclass(frozen=True)
class Constraint:
    """A condition on candidates.

    Attributes:
        expression: the condition, of parameters and problem sizes.
        place: its `file:line:col`, or empty.
    """

    expression: Expression
    place: str = ""


@dataclass(frozen=True)
class Space:
    """A search space.

    Attributes:
        parameters: in order.
        constraints: in order.
        place: `file:line:col` of its declaration, or empty.
    """

    parameters: tuple[Parameter, ...]
    constraints: tuple[Constraint, ...] = ()
    place: str = ""
    _levels: Mapping[int, tuple[Constraint, ...]] = field(
        init=False, repr=False, compare=False, default_factory=dict
    )

    def __post_init__(self) -> None:
        """Sort constraints by the parameter at which they can be decided."""
        at = {one.name: number for number, one in enumerate(self.parameters)}
        levels: dict[int, tuple[Constraint, ...]] = {}
        for one in self.constraints:
            level = max((at[name] for name in one.expression.names if name in at), default=-1)
            levels[level] = (*levels.get(level, ()), one)
        object.__setattr__(self, "_levels", levels)

    @cached_property
    def names(self) -> tuple[str, ...]:
        """The names of the parameters."""
        return tuple(one.name for one in self.parameters)

    @property
    def combinations(self) -> int:
        """The number of candidates without the constraints."""
        return prod(len(one.values) for one in self.parameters)

    @property
    def default(self) -> Candidate:
        """The default of each parameter."""
        return {one.name: one.default for one in self.parameters}

    def check(self, sizes: Sequence[str]) -> None:
        """Check that constraints use only parameters and problem sizes.

        Args:
            sizes: names of the problem's sizes.

        Raises:
            TuningError: at the constraint's place.
        """
        known = {*self.names, *sizes}
        for one in self.constraints:
            for name in sorted(one.expression.names - known):
                close = ", ".join(nearest(name, sorted(known)))
                raise TuningError(
                    f"`{one.expression}` reads '{name}', which is neither a parameter nor a size; "
                    f"nearest: {close}",
                    one.place or self.place,
                )

    def pinned(self, pins: Mapping[str, int]) -> Space:
        """This space, with some parameters fixed to a value.

        Raises:
            TuningError: for a parameter that does not exist.
        """
        for name in pins:
            if name not in self.names:
                close = ", ".join(nearest(name, self.names))
                raise TuningError(f"there is no parameter '{name}'; nearest: {close}", self.place)
        return replace(
            self,
            parameters=tuple(
                replace(one, values=(pins[one.name],)) if one.name in pins else one
                for one in self.parameters
            ),
        )

    def candidates(self, sizes: Mapping[str, int]) -> Iterator[Candidate]:
        """The candidates that satisfy the constraints, in the order of the values.

        Args:
            sizes: sizes of the problem.

        Raises:
            TuningError: for a constraint that cannot be computed, at its place.
        """
        yield from self._walked(-1, dict(sizes), Counter())

    def satisfied(self, sizes: Mapping[str, int]) -> list[Candidate]:
        """The candidates as a list.

        Raises:
            TuningError: at the space's place, if there are none, with the constraint that rejects
                most.
        """
        refused: Counter[str] = Counter()
        found = list(self._walked(-1, dict(sizes), refused))
        if found:
            return found
        most = f": `{refused.most_common(1)[0][0]}` rejects most" if refused else ""
        problem = ", ".join(f"{name}={value}" for name, value in sizes.items())
        raise TuningError(
            f"none of {counted(self.combinations, 'combination')} satisfies the constraints for "
            f"{problem}{most}",
            self.place,
        )

    def _walked(
        self, level: int, names: dict[str, int], refused: Counter[str]
    ) -> Iterator[Candidate]:
        """The candidates that begin with the values so far."""
        for one in self._levels.get(level, ()):
            try:
                holds = one.expression.integer(names)
            except TuningError as error:
                raise TuningError(str(error), one.place or self.place) from None
            if not holds:
                refused[str(one.expression)] += 1
                return
        level += 1
        if level == len(self.parameters):
            yield {name: names[name] for name in self.names}
            return
        parameter = self.parameters[level]
        for value in parameter.values:
            names[parameter.name] = value
            yield from self._walked(level, names, refused)
        del names[parameter.name]
