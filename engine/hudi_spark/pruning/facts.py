"""What is known of a column's values in the rows of one file slice."""

from collections.abc import Iterable
from dataclasses import dataclass, field, replace
from typing import Any, Final


@dataclass(frozen=True, slots=True)
class Facts:
    """Bounds of a column's values, or of a function's results, in all rows that a slice may answer.

    `minimum` and `maximum` are None where no bound is known. `nulls` and `values`: whether any may be there.
    `absent`: values that are certainly not there. `unordered`: whether not-a-number may be there, which bounds leave
    out, and which Spark takes for greater than all numbers.

    Clauses: IX-052, IX-053.
    """

    minimum: Any = None
    maximum: Any = None
    nulls: bool = True
    values: bool = True
    absent: frozenset[Any] = field(default_factory=frozenset)
    unordered: bool = True

    def beside(self, other: "Facts") -> "Facts":
        """What holds of the rows of either.

        Clauses: IX-054.
        """
        if not other.values:
            return replace(self, nulls=self.nulls or other.nulls)
        if not self.values:
            return replace(other, nulls=self.nulls or other.nulls)
        return Facts(
            _either(min, self.minimum, other.minimum),
            _either(max, self.maximum, other.maximum),
            nulls=self.nulls or other.nulls,
            values=True,
            absent=self.absent & other.absent,
            unordered=self.unordered or other.unordered,
        )

    def narrowed(self, other: "Facts") -> "Facts":
        """What holds where both are known of the same rows."""
        return Facts(
            _both(max, self.minimum, other.minimum),
            _both(min, self.maximum, other.maximum),
            nulls=self.nulls and other.nulls,
            values=self.values and other.values,
            absent=self.absent | other.absent,
            unordered=self.unordered and other.unordered,
        )

    def may_be(self, value: Any) -> bool:
        """Whether a value may be among them."""
        return (
            self.values
            and value not in self.absent
            and self.may_reach(value, up=True, or_be=True)
            and (self.may_reach(value, up=False, or_be=True))
        )

    def may_reach(self, value: Any, *, up: bool, or_be: bool) -> bool:
        """Whether something greater (`up`) or less than a value may be there, or the value itself."""
        bound = self.maximum if up else self.minimum
        if not self.values or bound is None:
            return self.values
        return bool((bound > value if up else bound < value) or (or_be and bound == value))

    def is_only(self, value: Any) -> bool:
        """Whether no other value than this one can be there."""
        return self.minimum is not None and self.maximum is not None and bool(self.minimum == value == self.maximum)


UNKNOWN: Final = Facts()
NOTHING: Final = Facts(nulls=False, values=False, unordered=False)


def together(facts: Iterable[Facts]) -> Facts:
    """What holds of the rows of all."""
    found = NOTHING
    for one in facts:
        found = found.beside(one)
    return found


def _either(choose: Any, first: Any, second: Any) -> Any:
    return None if first is None or second is None else choose(first, second)


def _both(choose: Any, first: Any, second: Any) -> Any:
    if first is None or second is None:
        return second if first is None else first
    return choose(first, second)
