"""What fails after an action has completed: it is noted, and never raised as a failure of the action, which stands.

A caller that saw an error would do the action again, and an insert that is done again stands twice.

Clauses: OW-010.
"""

import threading
import warnings
from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress
from dataclasses import dataclass, replace
from functools import wraps
from typing import Any, ParamSpec, TypeVar, cast

from hudi_spark.errors import UnsupportedFeature

_COLLECTED = threading.local()


@dataclass(frozen=True, slots=True)
class Failure:
    """A step after the completion that failed: which one, why, and the error's text.

    `reason`: one of specs/reasons.toml, `unsupported` for a feature that is not built, else the name of the error's
    class.
    """

    step: str
    reason: str
    message: str

    def __str__(self) -> str:
        return f"{self.step} failed: {self.message}"


class ServiceWarning(UserWarning):
    """A step after a completed action failed; the action stands."""


P = ParamSpec("P")
R = TypeVar("R")


@contextmanager
def afterwards(step: str) -> Iterator[None]:
    """Inside is a step after a completed action: an error of it is noted, and nothing is raised."""
    try:
        yield
    except Exception as error:  # noqa: BLE001 - whatever failed, the action stands
        note(step, error)


def note(step: str, error: Exception) -> None:
    """A failed step becomes part of what the action under way answers; a warning as well."""
    failure = Failure(step, _reason(error), str(error) or type(error).__name__)
    stack = _stack()
    if stack:
        stack[-1].append(failure)
    # Where warnings are turned into errors the failure is in the answer all the same.
    with suppress(Warning):
        warnings.warn(f"the action stands; {failure}", ServiceWarning, stacklevel=3)


def with_failures(act: Callable[P, R]) -> Callable[P, R]:
    """A function that answers with an Outcome, into which goes what was noted while it ran."""

    @wraps(act)
    def run(*args: P.args, **kwargs: P.kwargs) -> R:
        found: list[Failure] = []
        _stack().append(found)
        try:
            outcome = act(*args, **kwargs)
        finally:
            _stack().pop()
        if not found or not hasattr(outcome, "failures"):
            return outcome
        done: Any = outcome
        return cast("R", replace(done, failures=(*done.failures, *found)))

    return run


def _stack() -> list[list[Failure]]:
    if not hasattr(_COLLECTED, "stack"):
        _COLLECTED.stack = []
    return cast("list[list[Failure]]", _COLLECTED.stack)


def _reason(error: Exception) -> str:
    if isinstance(error, UnsupportedFeature):
        return "unsupported"
    return str(getattr(error, "reason", "")) or type(error).__name__
