"""The laws of merging: of each mode, of partial updates, of payload classes and of record mergers."""

from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import replace
from functools import partial
from itertools import product

from hudi_model import merge_rules, mergers, merging
from hudi_model.configuration import configure
from hudi_model.merge_modes import merge_rule
from hudi_model.merge_rules import MergeMode, MergeRule, PartialUpdate, Version
from hudi_model.mergers import COUNTER, DELETE_AT_ZERO, GREATER_OF_TWO, SET_UNION
from hudi_model.payloads import LATEST, PACKAGE, PAYLOADS, POSTGRES, version_9_properties
from hudi_model.readings import RELEASED, TEXT, Readings
from hudi_model.records import Delete, Record, Value
from hudi_model.rejection import Rejection

from hudi_conformance.obligations.registry import Check, Counterexample, obligation

KEY = "k"
COMMIT = MergeRule(MergeMode.COMMIT_TIME_ORDERING, ("ts",))
EVENT = MergeRule(MergeMode.EVENT_TIME_ORDERING, ("ts",))
IGNORING = replace(COMMIT, partial_update=PartialUpdate.IGNORE_DEFAULTS)
MODES = (COMMIT, EVENT)
TIMES = (1, 2, 3)
Made = Callable[[int], Version]
"""A version by the place at which it is written, which its columns tell."""
Data = tuple[bool, tuple[tuple[str, Value], ...], tuple[Value, ...] | None]


def row(rule: MergeRule, **values: Value) -> Version:
    """A whole record."""
    return merge_rules.version_of_record(Record(values), KEY, rule)


def part(rule: MergeRule, **values: Value) -> Version:
    """A partial update."""
    return merge_rules.version_of_record(Record(values), KEY, rule, partial=True)


def gone(rule: MergeRule, ordering: int = 0) -> Version:
    """A tombstone; without ordering value where none is given."""
    return merge_rules.version_of_delete(Delete(KEY, None, ordering), rule)


def wholes(rule: MergeRule) -> tuple[Made, ...]:
    """Whole records at each time, told apart by the place at which they are written."""
    return tuple(lambda place, ts=ts: row(rule, ts=ts, x=place) for ts in TIMES)


def tombs(rule: MergeRule) -> tuple[Made, ...]:
    """Tombstones with an ordering value."""
    return tuple(lambda _place, ts=ts: gone(rule, ts) for ts in TIMES)


def plain(rule: MergeRule) -> tuple[Made, ...]:
    """The tombstone without one."""
    return (lambda _place: gone(rule),)


def parts(rule: MergeRule) -> tuple[Made, ...]:
    """Partial updates of either of two columns, at each time, one of them to null."""
    one = tuple(lambda place, ts=ts: part(rule, ts=ts, x=place) for ts in TIMES)
    other = tuple(lambda place, ts=ts: part(rule, ts=ts, y=place if ts > 1 else None) for ts in TIMES)
    return one + other


def full(rule: MergeRule) -> tuple[Made, ...]:
    """Whole records of two columns, at each time."""
    return tuple(lambda place, ts=ts: row(rule, ts=ts, x=place, y=place) for ts in TIMES)


def sequences(made: Sequence[Made], length: int) -> Iterator[tuple[Version, ...]]:
    """Every sequence of such versions, each told apart by its place."""
    for chosen in product(made, repeat=length):
        yield tuple(one(place) for place, one in enumerate(chosen))


def data(version: Version) -> Data:
    """What a later merge or a query can tell of a version."""
    values = tuple(sorted(version.record.values.items(), key=str)) if version.record else ()
    return version.is_delete, values, version.ordering


def said(*versions: Version) -> tuple[str, ...]:
    """Versions in words, in the order in which they were written."""
    return tuple(
        f"{place}: {'partial ' if one.partial else ''}{'delete' if one.is_delete else 'row'} "
        f"{dict(one.record.values) if one.record else ''} ordering {one.ordering}"
        for place, one in enumerate(versions)
    )


def associative(rule: MergeRule, made: Sequence[Made], counts: Callable[..., bool] = lambda *_: True) -> None:
    """Nothing, unless it matters for three versions which two are merged first."""
    for first, second, third in sequences(made, 3):
        if not counts(first, second, third):
            continue
        left = merging.merge(rule, merging.merge(rule, first, second), third)
        right = merging.merge(rule, first, merging.merge(rule, second, third))
        if data(left) != data(right):
            message = f"{rule.mode} {rule.strategy}: {data(left)} against {data(right)}"
            raise Counterexample(message, steps=said(first, second, third))


def idempotent(rule: MergeRule, made: Sequence[Made]) -> None:
    """Nothing, unless a version merged with itself becomes another."""
    for (one,) in sequences(made, 1):
        if data(merging.merge(rule, one, one)) != data(one):
            raise Counterexample("a version merged with itself is another", steps=said(one))


def commutative(rule: MergeRule, made: Sequence[Made], counts: Callable[..., bool] = lambda *_: True) -> None:
    """Nothing, unless it matters which of two versions was written first."""
    for first, second in sequences(made, 2):
        one, other = merging.merge(rule, first, second), merging.merge(rule, second, first)
        if counts(first, second) and data(one) != data(other):
            raise Counterexample(f"{rule.mode}: {data(one)} against {data(other)}", steps=said(first, second))


def differ(*versions: Version) -> bool:
    """Whether no two ordering values are the same."""
    return len({one.ordering for one in versions}) == len(versions)


def rising(*versions: Version) -> bool:
    """Whether ordering values never fall."""
    found = [one.ordering or () for one in versions]
    return found == sorted(found)


def rows_after(
    rule: MergeRule, base: Iterable[Version], changes: Iterable[Version], readings: Readings
) -> list[Version]:
    """The rows that a base file has after these changes are compacted into it."""
    return [row(rule, **one.values) for one in merging.merge_slice(rule, base, changes, readings)]


def same_compacted(
    rule: MergeRule,
    made: Sequence[Made],
    readings: Sequence[Readings] = (RELEASED, TEXT),
    counts: Callable[..., bool] = lambda *_: True,
) -> None:
    """Nothing, unless a compaction between two changes of a base row changes the answer."""
    for first, second, third in sequences(made, 3):
        if first.is_delete or first.partial or not counts(first, second, third):
            continue
        for reading in readings:
            straight = rows_after(rule, [first], [second, third], reading)
            between = rows_after(rule, rows_after(rule, [first], [second], reading), [third], reading)
            if list(map(data, straight)) != list(map(data, between)):
                message = f"{rule.mode} {rule.strategy}: {said(*straight)}, and with a compaction {said(*between)}"
                raise Counterexample(message, steps=said(first, second, third))


def same_combined(rule: MergeRule, made: Sequence[Made], readings: Readings) -> None:
    """Nothing, unless combining the rows of a write before it is merged changes the answer."""
    for first, second, third in sequences(made, 3):
        for base in ([], [first]):
            if base and first.is_delete:
                continue
            batch = (second, third)
            apart = rows_after(rule, base, batch, readings)
            together = rows_after(rule, base, merging.precombine(rule, batch, readings), readings)
            if list(map(data, apart)) != list(map(data, together)):
                message = f"{rule.mode} {rule.payload}: {said(*apart)}, and combined {said(*together)}"
                raise Counterexample(message, steps=said(*base, second, third))


# The modes


@obligation(
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


@obligation(
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


@obligation(
    "PO-122",
    "Under event time the order of writing does not matter where ordering values differ",
    "MG-003 MG-006 MG-020",
    broken_by="event-time-ignores-ordering typed-delete-ignores-ordering",
    exhaustive=True,
)
def _event_time_commutes() -> None:
    commutative(EVENT, (*wholes(EVENT), *tombs(EVENT)), differ)


@obligation(
    "PO-123",
    "Event time is associative",
    "MG-005 MG-013 MG-020",
    refuted=True,
    holds_instead="PO-124",
    exhaustive=True,
)
def _event_time_associative() -> None:
    associative(EVENT, (*wholes(EVENT), *tombs(EVENT), *plain(EVENT)))


@obligation(
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


# Partial updates


@obligation(
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


@obligation(
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


@obligation(
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
                raise Counterexample(message, steps=said(first, second))


@obligation(
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
                raise Counterexample(f"column {name}: {found}", steps=said(*versions))


# Where merging happens


@obligation(
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


@obligation(
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


@obligation(
    "PO-131",
    "A compaction in between changes no answer where every delete has an ordering value",
    "MG-006 MG-018",
    refuted=True,
    holds_instead="PO-130",
    exhaustive=True,
)
def _compaction_with_competing_deletes() -> None:
    same_compacted(EVENT, (*wholes(EVENT), *tombs(EVENT)))


@obligation(
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


@obligation(
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


@obligation(
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


@obligation(
    "PO-135",
    "With OverwriteWithLatestAvroPayload combining a write's rows first changes no answer",
    "PL-002 MG-017",
    refuted=True,
    holds_instead="PO-134",
    assumptions="the text's reading of PL-002",
    exhaustive=True,
)
def _overwriting_combined_or_not() -> None:
    rule = replace(COMMIT, payload=LATEST)
    same_combined(rule, wholes(rule), TEXT)


@obligation(
    "PO-136",
    "Before version 9 combining a write's rows first changes no answer",
    "PL-009 MG-017",
    refuted=True,
    holds_instead="PO-134",
    exhaustive=True,
)
def _payloads_combined_or_not() -> None:
    for name in ("AWSDmsAvroPayload", "OverwriteNonDefaultsWithLatestAvroPayload"):
        rule = payload_rule(name, 8)
        same_combined(rule, wholes(rule), RELEASED)


# Record mergers


def told(strategy: str, columns: str, ordering: tuple[str, ...] = ("ts",)) -> MergeRule:
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
        rule = told(strategy, "n")
        yield rule, (*rows_of(rule, "n", (None, -1, 1, 2)), *tombs(rule), *plain(rule), partial(assigned, rule))
    rule = told(GREATER_OF_TWO.strategy, "", ("ts", "n"))
    pairs = tuple(partial(paired, rule, first, second) for first, second in product((1, 2), (1, 2, None)))
    yield rule, (*pairs, *plain(rule), partial(gone_at_both, rule))
    rule = told(SET_UNION.strategy, "n")
    yield rule, (*rows_of(rule, "n", (None, [], ["a"], ["c", "b"])), *tombs(rule), *plain(rule))


@obligation(
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
                raise Counterexample(f"{rule.strategy} answers {data(found)}", steps=said(first, second))
        associative(rule, made)


@obligation(
    "PO-138",
    "A merger that starts anew after a delete can be associative",
    "RM-003",
    refuted=True,
    holds_instead="PO-137",
    exhaustive=True,
)
def _starting_anew_is_associative() -> None:
    """A sum that a delete sets back: what the delete undid cannot be told once delete and later row are one."""
    rule = told(COUNTER.strategy, "n")

    def anew(older: Version, newer: Version) -> Version:
        return newer if older.is_delete or newer.is_delete else merging.merge(rule, older, newer)

    made = (lambda place: row(rule, ts=place, n=1), lambda _place: gone(rule))
    for first, second, third in sequences(made, 3):
        left, right = anew(anew(first, second), third), anew(first, anew(second, third))
        if data(left) != data(right):
            raise Counterexample(f"{data(left)} against {data(right)}", steps=said(first, second, third))


@obligation(
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


@obligation(
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


# Payload classes


def payload_rule(name: str, version: int) -> MergeRule:
    """The merge rule of a table of this version whose writer named a payload class."""
    stated = {
        "hoodie.table.name": "t",
        "hoodie.table.type": "MERGE_ON_READ",
        "hoodie.table.version": str(version),
        "hoodie.table.precombine.field": "ts",
        "hoodie.compaction.payload.class": PACKAGE + name,
    }
    in_9 = {key: value for key, value in stated.items() if "payload" not in key} | version_9_properties(name, "ts")
    return merge_rule(configure(stated if version < 9 else in_9))


def alike(names: Sequence[str]) -> Check:
    """A check that classes merge rows before version 9 as version 9 merges what stands in their place."""

    def check() -> None:
        values = (None, "a", "__debezium_unavailable_value")
        for name in names:
            before, after = payload_rule(name, 6), payload_rule(name, 9)
            held = [{"ts": ts, "_event_lsn": ts, "x": x, "y": y} for ts, x, y in product((1, 2), values, (None, "b"))]
            for batch in product(held, repeat=3):
                versions = [[row(rule, **one) for one in batch] for rule in (before, after)]
                old, new = (merging.fold(rule, some)[KEY] for rule, some in zip((before, after), versions, strict=True))
                if data(old) != data(new):
                    raise Counterexample(f"{name}: {data(old)} against {data(new)}", steps=said(*versions[0]))

    return check


obligation(
    "PO-141",
    "What version 9 makes of a payload class merges rows as the class did",
    "PL-010",
    refuted=True,
    holds_instead="PO-142",
    assumptions="released readings; no deletes",
    exhaustive=True,
)(alike([POSTGRES]))

obligation(
    "PO-142",
    "What version 9 makes of a payload class that is not of Debezium merges rows as the class did",
    "PL-010 PL-003 PL-004 PL-005 PL-006",
    broken_by="partial-update-mode-ignored payload-by-commit-time",
    assumptions="released readings; no deletes",
    exhaustive=True,
)(alike([name for name, rule in PAYLOADS.items() if not rule.ordering]))


@obligation(
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
            found = mergers.select_merger(COUNTER.strategy, engine, listed)
        except Rejection:
            found = None
        if found is not (fitting[0] if fitting else None):
            raise Counterexample(f"{found} is chosen for {engine}", steps=tuple(map(str, listed)))
