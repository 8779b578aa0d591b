"""The laws of record mergers, and which of them is chosen."""

from collections.abc import Iterable, Iterator
from dataclasses import replace
from functools import partial
from itertools import product

from hudi_model import merge_rules, merging
from hudi_model.files import Delete, Value
from hudi_model.merge_rules import MergeMode, MergeRule, Version
from hudi_model.merging import COUNTER, DELETE_AT_ZERO, GREATER_OF_TWO, SET_UNION
from hudi_model.rejection import Rejection
from hudi_model.tables import RELEASED

from hudi_conformance.verification.properties.merge_sequences import (
    KEY,
    Made,
    associative,
    data,
    gone,
    part,
    plain,
    row,
    same_compacted,
    sequences,
    shown,
    tombs,
)
from hudi_conformance.verification.properties.registry import Counterexample, model_property


def rule_of(strategy: str, columns: str, ordering: tuple[str, ...] = ("ts",)) -> MergeRule:
    """The rule of a table that names a merger and its columns."""
    properties = {"hoodie.record.merge.property.hudi.conformance.columns": columns}
    return MergeRule(MergeMode.CUSTOM, ordering, strategy=strategy, properties=properties)


def rows_of(rule: MergeRule, name: str, values: Iterable[Value]) -> tuple[Made, ...]:
    """Whole records with each of these values in a column, whose ordering value is the place."""
    return tuple(partial(written, rule, name, value) for value in values)


def written(rule: MergeRule, name: str, value: Value, place: int) -> Version:
    """A whole record with a value in a column."""
    return row(rule, **{"ts": place, "x": place, name: value})


def assigned(rule: MergeRule, place: int) -> Version:
    """A partial update that adds one."""
    return part(rule, ts=place, n=1)


def paired(rule: MergeRule, first: int, second: int | None, place: int) -> Version:
    """A record of two columns that are compared."""
    return row(rule, ts=first, n=second, x=place)


def gone_at_both(rule: MergeRule, _place: int) -> Version:
    """A tombstone with a value for each of two ordering fields."""
    return merge_rules.version_of_delete(Delete(KEY, None, (1, 2)), rule)


def merger_cases() -> Iterator[tuple[MergeRule, tuple[Made, ...]]]:
    """Each reference merger with the versions to run it through."""
    for strategy in (COUNTER.strategy, DELETE_AT_ZERO.strategy):
        rule = rule_of(strategy, "n")
        yield rule, (*rows_of(rule, "n", (None, -1, 1, 2)), *tombs(rule), *plain(rule), partial(assigned, rule))
    rule = rule_of(GREATER_OF_TWO.strategy, "", ("ts", "n"))
    pairs = tuple(partial(paired, rule, first, second) for first, second in product((1, 2), (1, 2, None)))
    yield rule, (*pairs, *plain(rule), partial(gone_at_both, rule))
    rule = rule_of(SET_UNION.strategy, "n")
    yield rule, (*rows_of(rule, "n", (None, [], ["a"], ["c", "b"])), *tombs(rule), *plain(rule))


@model_property(
    "PO-137",
    "The reference mergers keep the guidelines: never nothing, deletes said, ordering values kept, associative",
    "RM-001 RM-003 RM-004 RM-005 RM-006 RM-007 RM-008 RM-009 RM-010",
    broken_by="merger-drops-ordering sums-forgotten-on-delete",
    exhaustive=True,
)
def _reference_mergers_keep_the_guidelines() -> None:
    for rule, made in merger_cases():
        for first, second in sequences(made, 2):
            found = merging.merge(rule, first, second)
            lost = found.ordering is None and None not in {first.ordering, second.ordering}
            unsaid = found.record is None and not found.is_delete
            if lost or unsaid:
                raise Counterexample(f"{rule.strategy} answers {data(found)}", steps=shown(first, second))
        associative(rule, made)


@model_property(
    "PO-138",
    "A merger that starts anew after a delete can be associative",
    "RM-003",
    refuted=True,
    holds_instead="PO-137",
    exhaustive=True,
)
def _starting_anew_is_associative() -> None:
    """A sum that a delete sets back: what the delete undid cannot be determined once delete and later row are one."""
    rule = rule_of(COUNTER.strategy, "n")

    def anew(older: Version, newer: Version) -> Version:
        return newer if older.is_delete or newer.is_delete else merging.merge(rule, older, newer)

    made = (lambda place: row(rule, ts=place, n=1), lambda _place: gone(rule))
    for first, second, third in sequences(made, 3):
        left, right = anew(anew(first, second), third), anew(first, anew(second, third))
        if data(left) != data(right):
            raise Counterexample(f"{data(left)} against {data(right)}", steps=shown(first, second, third))


@model_property(
    "PO-139",
    "A compaction in between changes no answer of a merger that keeps the guidelines",
    "RM-003 MG-018",
    refuted=True,
    holds_instead="PO-140",
    exhaustive=True,
)
def _compaction_under_mergers() -> None:
    for rule, made in merger_cases():
        same_compacted(rule, made, (RELEASED,))


@model_property(
    "PO-140",
    "A compaction in between changes no answer of a reference merger where nothing is deleted",
    "RM-001 MG-018",
    broken_by="logs-beat-base-row",
    assumptions="both readings",
    exhaustive=True,
)
def _compaction_under_mergers_without_deletes() -> None:
    def nothing_deleted(*versions: Version) -> bool:
        return not any(one.is_delete for one in versions)

    for rule, made in merger_cases():
        if rule.strategy != DELETE_AT_ZERO.strategy:
            same_compacted(rule, made, counts=nothing_deleted)


@model_property(
    "PO-143",
    "The merger chosen is the first of the list that has the table's id and takes the engine's records, or none",
    "RM-002",
    broken_by="first-merger-listed any-engines-merger",
    exhaustive=True,
)
def _first_fitting_merger() -> None:
    kinds = [replace(one, record_type=kind) for one in (COUNTER, SET_UNION) for kind in ("AVRO", "SPARK")]
    lists = [some for length in (1, 2, 3) for some in product(kinds, repeat=length)]
    for listed, engine in product(lists, ("JAVA", "SPARK", "FLINK")):
        wanted = {"JAVA": "AVRO"}.get(engine, engine)
        fitting = [one for one in listed if (one.strategy, one.record_type) == (COUNTER.strategy, wanted)]
        try:
            found = merging.select_merger(COUNTER.strategy, engine, listed)
        except Rejection:
            found = None
        if found is not (fitting[0] if fitting else None):
            raise Counterexample(f"{found} is chosen for {engine}", steps=tuple(map(str, listed)))
