"""Real tables as a check sees them: each error in what a release wrote is a finding, or a fault of the check."""

from collections.abc import Iterable, Iterator

from hudi_format.storage import LocalStorage
from hudi_model.rejection import Rejection, Unsupported
from hudi_model.violations import Severity, Violation, violations

from hudi_conformance.bridge.checking import load_for_check
from hudi_conformance.real_tables.cache import is_answered, place_of
from hudi_conformance.real_tables.catalogue import Recipe


def errors_in(recipe: Recipe) -> tuple[Violation, ...]:
    """What a check with rows calls an error in a built table; nothing of what the model does not hold."""
    try:
        found = violations(load_for_check(LocalStorage(place_of(recipe.id).table), deep=True))
    except Rejection as refusal:
        return (Violation(refusal.clause, Severity.ERROR, refusal.where, refusal.detail),)
    except Unsupported:
        return ()
    return tuple(one for one in found if one.severity is Severity.ERROR)


def told_of(recipes: Iterable[Recipe]) -> Iterator[str]:
    """A line for each error in each table that is built."""
    for recipe in recipes:
        for one in errors_in(recipe) if is_answered(recipe) else ():
            yield f"{recipe.id}: {one.clause} {one.where}: {one.message}"
