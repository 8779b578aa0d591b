"""Real tables as the checks see them: each error in what a release wrote is a finding, or a fault of a check.

The check that users meet is asked through its adapter, the model's is its reference; what differs is listed as a known
difference (`<table>::check_table`) or is an error itself.
"""

import tempfile
from collections.abc import Iterable, Iterator, Mapping, Sequence
from pathlib import Path
from typing import NamedTuple

from hudi_format.storage import LocalStorage
from hudi_model.rejection import Rejection, Unsupported
from hudi_model_tools.violations import Severity, Violation, violations

from hudi_conformance.bridge.checking import load_for_check
from hudi_conformance.corpus.recipes_apache.catalogue import Recipe
from hudi_conformance.interop.real_tables.cache import is_answered, place_of
from hudi_conformance.interop.real_tables.known import KnownDifference, known_difference
from hudi_conformance.runner.adapters_config import AdapterConfig
from hudi_conformance.runner.session import Reply, Response, Session

OP = "check_table"
_LIMIT_S = 600.0


def errors_in(recipe: Recipe) -> tuple[Violation, ...]:
    """What the model's check with rows calls an error in a built table; nothing of what the model does not hold."""
    return tuple(one for one in _of_model(recipe) or () if one.severity is Severity.ERROR)


def _of_model(recipe: Recipe) -> tuple[Violation, ...] | None:
    """None where the model does not hold the table."""
    try:
        return violations(load_for_check(LocalStorage(place_of(recipe.id).table), deep=True))
    except Rejection as refusal:
        return (Violation(refusal.clause, Severity.ERROR, refusal.where, refusal.detail),)
    except Unsupported:
        return None


class Line(NamedTuple):
    """What a check found: an error of the table, or where the checking adapter and the model differ."""

    text: str
    is_difference: bool


def check_lines(
    recipes: Iterable[Recipe], adapter: AdapterConfig, known: Sequence[KnownDifference] = ()
) -> Iterator[Line]:
    """A line for each error that a checking adapter finds in a built table, and for what the model says otherwise."""
    with (
        tempfile.TemporaryDirectory(prefix="hudi-conformance-check-") as folder,
        Session(adapter.command, Path(folder) / "stderr.log", folder=adapter.folder) as session,
    ):
        for recipe in recipes:
            if is_answered(recipe):
                response = session.request(
                    OP, place_of(recipe.id).table.absolute(), {"deep": True}, Path(folder), _LIMIT_S
                )
                for one in _lines(recipe, response, adapter.name, known):
                    yield one._replace(text=f"{recipe.id}: {one.text}")


def _lines(recipe: Recipe, response: Response, name: str, known: Sequence[KnownDifference]) -> Iterator[Line]:
    if not isinstance(response, Reply) or "result" not in response.message:
        answer = response.message if isinstance(response, Reply) else response
        yield Line(f"{name} does not check it: {answer}", is_difference=True)
        return
    found = response.message["result"]["value"]
    for one in found:
        if one["severity"] == "error":
            yield Line(f"{one['clause']} {one['where']}: {one['message']}", is_difference=False)
    differences = _differences(recipe, found, name, known)
    yield from (Line(text, is_difference=True) for text in differences)


def _differences(
    recipe: Recipe, found: Sequence[Mapping[str, str]], name: str, known: Sequence[KnownDifference]
) -> Iterator[str]:
    reference = _of_model(recipe)
    if reference is None:
        return
    engine = {(one["clause"], one["severity"]) for one in found}
    model = {(one.clause, one.severity.value) for one in reference}
    # Entries of all questions about a table are about its rows.
    about_checks = [one for one in known if all(text.endswith(f"::{OP}") for text in one.questions)]
    listed = known_difference(about_checks, f"{recipe.id}::{OP}", name)
    if listed and engine == model:
        yield f"{name} and the model differ no longer, which is listed: {listed.why}"
    for clause, severity in sorted(engine ^ model) if not listed else ():
        who = name if (clause, severity) in engine else "the model"
        yield f"{severity} {clause} is found by {who} alone"
