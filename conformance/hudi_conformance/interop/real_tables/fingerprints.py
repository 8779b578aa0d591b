"""What a table's bytes and its answers depend on, as hashes: what has not changed is not made again."""

import functools
import hashlib
import inspect
from collections.abc import Callable, Iterator
from types import CodeType
from typing import Any

from hudi_conformance.corpus.recipes_apache.catalogue import Recipe
from hudi_conformance.interop.real_tables import questions


def written(made: Recipe) -> str:
    """The hash of the steps with everything of their module that they use, and of where they run."""
    parts = [made.id, made.bundle, str(made.version), made.type, made.begins_with, *_sources(made.steps, set())]
    return _hash("\n".join(parts))


def of_questions(made: Recipe) -> str:
    """The hash of the questions and of who answers them."""
    return _hash("\n".join([inspect.getsource(questions), repr((made.questions, made.without, made.answered_by))]))


def _sources(function: Any, seen: set[str]) -> Iterator[str]:
    if isinstance(function, functools.partial):
        yield repr((function.args, function.keywords))
        function = function.func
    plain: Callable[..., Any] = inspect.unwrap(function)
    yield _body(plain)
    yield from (repr(cell.cell_contents) for cell in plain.__closure__ or () if _is_plain(cell.cell_contents))
    scope = plain.__globals__
    for name in sorted(_names(plain.__code__)):
        value = scope.get(name)
        if name in seen or value is None:
            continue
        seen.add(name)
        if inspect.isfunction(value) and value.__module__ == plain.__module__:
            yield from _sources(value, seen)
        elif _is_plain(value):
            yield repr(value)


def _body(plain: Callable[..., Any]) -> str:
    """The source without decorators: on which releases else the steps run does not matter."""
    source = inspect.getsource(plain)
    return source[source.index("def ") :]


def _names(code: CodeType) -> set[str]:
    inner = (one for one in code.co_consts if isinstance(one, CodeType))
    return set(code.co_names).union(*(_names(one) for one in inner))


def _is_plain(value: Any) -> bool:
    return isinstance(value, (str, int, float, tuple, dict, list))


def _hash(text: str) -> str:
    return hashlib.sha256(text.encode()).hexdigest()[:16]
