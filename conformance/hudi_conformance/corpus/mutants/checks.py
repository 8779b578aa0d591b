"""Checks of a table at rest that do not look: each leaves out one kind of fault."""

from collections.abc import Iterator
from typing import Any

from hudi_conformance.corpus.mutants.registry import Function, mutant

_BLIND = {
    "plans-unchecked": (
        "CP-005 CN-005 SR-002",
        "Files that plans are to read and that savepoints keep may be gone.",
        "hudi_model_tools.checks.plans.plan_violations",
    ),
    "given-times-unchecked": (
        "TL-024",
        "An action may complete at the time of a request.",
        "hudi_model_tools.checks.timeline.times_used_twice",
    ),
    "names-in-history-unchecked": (
        "HS-005",
        "A file of the history may have any bounds in its name.",
        "hudi_model_tools.checks.history.file_violations",
    ),
    "contradictions-unchecked": (
        "MG-016",
        "A table may state two ways of merging.",
        "hudi_model_tools.checks.properties.contradictions",
    ),
}


def _blind(_: Function) -> Function:
    def nothing(*_: Any, **__: Any) -> Iterator[Any]:
        yield from ()

    return nothing


for _name, (_clauses, _sentence, _place) in _BLIND.items():
    mutant(_name, _clauses, _sentence, _place)(_blind)
