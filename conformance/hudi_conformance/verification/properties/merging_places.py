"""Whether it matters where rows are merged: by a query, in a compaction, or before they are written."""

from hudi_model.merge_rules import Version
from hudi_model.tables import RELEASED, TEXT

from hudi_conformance.verification.properties.merge_sequences import (
    COMMIT,
    EVENT,
    MODES,
    full,
    parts,
    plain,
    rising,
    same_combined,
    same_compacted,
    tombs,
    wholes,
)
from hudi_conformance.verification.properties.registry import model_property


@model_property(
    "PO-129",
    "A compaction in between changes no answer",
    "MG-018 MG-013",
    refuted=True,
    holds_instead="PO-130",
    exhaustive=True,
)
def _compaction_changes_nothing() -> None:
    for rule in MODES:
        same_compacted(rule, (*wholes(rule), *plain(rule)))


@model_property(
    "PO-130",
    "A compaction in between changes no answer where records are whole and no version falls behind a delete before it",
    "MG-018 MG-003 MG-006",
    broken_by="logs-beat-base-row",
    assumptions="both readings",
    exhaustive=True,
)
def _compaction_of_whole_records() -> None:
    def nothing_falls_behind(first: Version, second: Version, third: Version) -> bool:
        after_both = rising(first, third) and (second.ordering is None or rising(second, third))
        return after_both or not second.is_delete

    for rule in MODES:
        same_compacted(rule, (*wholes(rule), *tombs(rule), *plain(rule)), counts=nothing_falls_behind)


@model_property(
    "PO-131",
    "A compaction in between changes no answer where every delete has an ordering value",
    "MG-006 MG-018",
    refuted=True,
    holds_instead="PO-130",
    exhaustive=True,
)
def _compaction_with_competing_deletes() -> None:
    same_compacted(EVENT, (*wholes(EVENT), *tombs(EVENT)))


@model_property(
    "PO-132",
    "A compaction in between changes no answer of partial updates",
    "MG-018 MG-025",
    refuted=True,
    holds_instead="PO-133",
    assumptions="released readings; no deletes",
    exhaustive=True,
)
def _compaction_of_partial_updates() -> None:
    same_compacted(EVENT, (*full(EVENT), *parts(EVENT)), (RELEASED,))


@model_property(
    "PO-133",
    "A compaction in between changes no answer of partial updates where each change meets the row in turn",
    "MG-018 MG-025 MG-013",
    broken_by="logs-beat-base-row",
    assumptions="commit time, or the text's reading of MG-013, or ordering values that never fall; no deletes",
    exhaustive=True,
)
def _compaction_of_partial_updates_in_turn() -> None:
    same_compacted(COMMIT, (*full(COMMIT), *parts(COMMIT)))
    same_compacted(EVENT, (*full(EVENT), *parts(EVENT)), (TEXT,))
    same_compacted(EVENT, (*full(EVENT), *parts(EVENT)), counts=rising)


@model_property(
    "PO-134",
    "Combining a write's rows first changes no answer",
    "MG-017 MG-018",
    broken_by="overwriting-combines-by-ordering",
    assumptions="both readings; whole records with ordering values, or commit time; tables that state a mode",
    exhaustive=True,
)
def _combined_or_not() -> None:
    for readings in (RELEASED, TEXT):
        same_combined(COMMIT, (*wholes(COMMIT), *tombs(COMMIT), *plain(COMMIT)), readings)
        same_combined(EVENT, (*wholes(EVENT), *tombs(EVENT)), readings)
