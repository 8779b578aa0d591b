"""The engine's check beside the model's, its reference: what differs is listed with its reason, and must differ."""

from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Final

from hudi_conformance.bridge.checking import load_for_check
from hudi_format.storage import LocalStorage
from hudi_model.rejection import Rejection, Unsupported
from hudi_model_tools.violations import violations
from hudi_spark import HudiError, UnsupportedFeature, check_table

Found = frozenset[tuple[str, str]]
"""Clauses with their severities; a refusal by its clause."""


@dataclass(frozen=True, slots=True)
class Difference:
    """What one of the two finds in a table and the other does not, and why that is right."""

    why: str
    engine: Found = frozenset()
    model: Found = frozenset()
    with_rows: bool = True
    without_rows: bool = True

    def at(self, *, deep: bool) -> tuple[Found, Found]:
        """Both, of a check with rows or without."""
        applies = self.with_rows if deep else self.without_rows
        return (self.engine, self.model) if applies else (frozenset(), frozenset())


def _errors(*clauses: str) -> Found:
    return frozenset((clause, "error") for clause in clauses)


_ROWS_FIRST: Final = (
    "The model compares entries with rows, which it reads with `deep` alone; the engine goes by counts."
)
_LENGTHS: Final = "The length that a manifest says is one of bytes, which the model's state does not hold."
KNOWN: Final[Mapping[str, Difference]] = {
    "v8/bad_index_passed_by": Difference(_ROWS_FIRST, engine=_errors("IG-003"), with_rows=False),
    "v9/apache_cow_not_a_number": Difference(
        "The model knows no statistics of a column with a not-a-number; the engine compares those that are stated.",
        engine=_errors("MT-011", "MT-014"),
        without_rows=False,
    ),
    "v9/bad_index_passed_by": Difference(_ROWS_FIRST, engine=_errors("IG-003"), with_rows=False),
    "a_manifest_with_another_length": Difference(_LENGTHS, engine=_errors("TL-031")),
    "a_row_of_no_action": Difference(
        f"{_LENGTHS} Its reader refuses the row's word by the clause of the format.",
        engine=_errors("TL-031"),
        model=_errors("TL-030"),
    ),
    "a_write_that_others_build_on_is_pending_again": Difference(
        "The instant before, which a stat states of a base file, the model's state does not hold.",
        engine=_errors("OW-002"),
    ),
    "two_completions": Difference(
        "The second completion is empty too: the engine reads the first alone, which counts.", model=_errors("TL-015")
    ),
}


def of_engine(table: Path, *, deep: bool) -> Found:
    """What the engine's check finds."""
    try:
        found = check_table(table, deep=deep)
    except HudiError as refusal:
        return frozenset({(refusal.clause, "refused")})
    except UnsupportedFeature as lacking:
        return frozenset({(lacking.feature, "unsupported")})
    return frozenset((one.clause, one.severity) for one in found)


def of_model(table: Path, *, deep: bool) -> Found:
    """What the model's finds."""
    try:
        found = violations(load_for_check(LocalStorage(table), deep=deep))
    except Rejection as refusal:
        return frozenset({(refusal.clause, "refused")})
    except Unsupported as lacking:
        return frozenset({(lacking.feature, "unsupported")})
    return frozenset((one.clause, one.severity.value) for one in found)


def assert_alike(name: str, table: Path) -> None:
    """Both find the same, with rows and without, but for what is listed; and that is still so."""
    known = KNOWN.get(name, Difference(""))
    for deep in (True, False):
        engine, model = of_engine(table, deep=deep), of_model(table, deep=deep)
        assert (engine - model, model - engine) == known.at(deep=deep), f"{name}, deep={deep}"
