"""The laws of merging by commit time and by event time, of whole records and of partial updates."""

from dataclasses import replace
from itertools import product

from hudi_model import merging
from hudi_model.merge_rules import PartialUpdate

from hudi_conformance.verification.properties.merge_sequences import (
    COMMIT,
    EVENT,
    KEY,
    MODES,
    associative,
    commutative,
    data,
    differ,
    full,
    idempotent,
    parts,
    plain,
    rising,
    row,
    sequences,
    shown,
    tombs,
    wholes,
)
from hudi_conformance.verification.properties.registry import Counterexample, model_property

IGNORING = replace(COMMIT, partial_update=PartialUpdate.IGNORE_DEFAULTS)


@model_property(
    "PO-120",
    "Commit time is associative and idempotent",
    "MG-002 MG-020",
    broken_by="commit-time-compares",
    exhaustive=True,
)
def _commit_time_laws() -> None:
    made = (*wholes(COMMIT), *tombs(COMMIT), *plain(COMMIT))
    associative(COMMIT, made)
    idempotent(COMMIT, made)


@model_property(
    "PO-121",
    "Merging is commutative",
    "MG-020",
    refuted=True,
    holds_instead="PO-122",
    exhaustive=True,
)
def _commutative_everywhere() -> None:
    for rule in MODES:
        commutative(rule, wholes(rule))


@model_property(
    "PO-122",
    "Under event time the order of writing does not matter where ordering values differ",
    "MG-003 MG-006 MG-020",
    broken_by="event-time-ignores-ordering typed-delete-ignores-ordering",
    exhaustive=True,
)
def _event_time_commutes() -> None:
    commutative(EVENT, (*wholes(EVENT), *tombs(EVENT)), differ)


@model_property(
    "PO-123",
    "Event time is associative",
    "MG-005 MG-013 MG-020",
    refuted=True,
    holds_instead="PO-124",
    exhaustive=True,
)
def _event_time_associative() -> None:
    associative(EVENT, (*wholes(EVENT), *tombs(EVENT), *plain(EVENT)))


@model_property(
    "PO-124",
    "Event time is associative and idempotent where every version has an ordering value",
    "MG-003 MG-004 MG-006 MG-020",
    broken_by="typed-delete-ignores-ordering",
    exhaustive=True,
)
def _event_time_laws() -> None:
    made = (*wholes(EVENT), *tombs(EVENT))
    associative(EVENT, made)
    idempotent(EVENT, made)


@model_property(
    "PO-125",
    "Partial updates are associative",
    "MG-021 MG-025 MG-020",
    refuted=True,
    holds_instead="PO-126",
    exhaustive=True,
)
def _partial_associative() -> None:
    for rule in MODES:
        associative(rule, (*full(rule), *parts(rule)))


@model_property(
    "PO-126",
    "Partial updates are associative under commit time, and under event time where ordering values never fall",
    "MG-021 MG-025 MG-020",
    broken_by="partials-become-whole",
    assumptions="released readings; no deletes",
    exhaustive=True,
)
def _partial_laws() -> None:
    associative(COMMIT, (*full(COMMIT), *parts(COMMIT)))
    associative(EVENT, (*full(EVENT), *parts(EVENT)), rising)


@model_property(
    "PO-127",
    "A partial update of a whole record does what the whole record it stands for does",
    "MG-021 MG-025",
    broken_by="partial-null-unset",
    exhaustive=True,
)
def _partial_as_expanded() -> None:
    for rule in MODES:
        for first, second in product((one(0) for one in full(rule)), (one(1) for one in parts(rule))):
            held = {**(first.record.values if first.record else {}), **(second.record.values if second.record else {})}
            by_column = merging.merge(rule, first, second)
            expanded = merging.merge(rule, first, row(rule, **held))
            if data(by_column) != data(expanded):
                message = f"{rule.mode}: {data(by_column)} against {data(expanded)}"
                raise Counterexample(message, steps=shown(first, second))


@model_property(
    "PO-128",
    "With defaults ignored, under commit time each column holds the last value that is not null",
    "MG-023 PL-003",
    broken_by="defaults-overwrite",
    exhaustive=True,
)
def _last_value_that_is_not_null() -> None:
    values = (None, 1, 2)
    made = tuple(lambda _place, x=x, y=y: row(IGNORING, ts=1, x=x, y=y) for x, y in product(values, values))
    for versions in sequences(made, 3):
        found = merging.fold(IGNORING, versions)[KEY].record
        for name in ("x", "y"):
            stated = [one.record.values[name] for one in versions if one.record and one.record.values[name] is not None]
            if found is None or found.values[name] != (stated[-1] if stated else None):
                raise Counterexample(f"column {name}: {found}", steps=shown(*versions))
