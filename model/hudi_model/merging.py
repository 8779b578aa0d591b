"""Versions of one record compete: by commit time, by event time, or as the table's own merger has it."""

from collections.abc import Iterable, Mapping
from dataclasses import replace

from hudi_model.merge_rules import MergeMode, MergeRule, PartialUpdate, Version, is_greater
from hudi_model.mergers import merged_by_strategy
from hudi_model.partial import completed, kept
from hudi_model.payloads import LATEST
from hudi_model.readings import RELEASED, Reading, Readings
from hudi_model.records import Record


def merge(rule: MergeRule, older: Version, newer: Version) -> Version:
    """The version that wins, completed from the other; `newer` stands later in merge order.

    Raises: MERGER_UNKNOWN.

    Clauses: MG-002, MG-003, MG-025, RM-001.
    """
    if rule.strategy:
        return merged_by_strategy(rule, older, newer)
    by_event_time = rule.mode is MergeMode.EVENT_TIME_ORDERING
    winner = merge_by_event_time(older, newer) if by_event_time else merge_by_commit_time(older, newer)
    return completed(rule, newer, older) if winner is newer else kept(rule, older, newer)


def merge_by_commit_time(older: Version, newer: Version) -> Version:  # noqa: ARG001 - the rule is that it does not matter
    """The later write wins, whatever the two hold.

    Clauses: MG-002.
    """
    return newer


def merge_by_event_time(older: Version, newer: Version) -> Version:
    """The greater ordering value wins, a tie goes to the newer; what has no ordering value beats what precedes it.

    Clauses: MG-003, MG-004, MG-005, MG-006, MG-011.
    """
    if older.ordering is None or newer.ordering is None:
        return newer
    return older if is_greater(older.ordering, newer.ordering) else newer


def fold(
    rule: MergeRule, versions: Iterable[Version], start: Mapping[str, Version] | None = None
) -> dict[str, Version]:
    """The winner of each key among versions in merge order, deletes that won included.

    Clauses: DM-001, MG-002, MG-003.
    """
    winners = dict(start or {})
    for version in versions:
        older = winners.get(version.key)
        winners[version.key] = version if older is None else merge(rule, older, version)
    return winners


def precombine(rule: MergeRule, incoming: Iterable[Version], readings: Readings = RELEASED) -> tuple[Version, ...]:
    """One version a key of those that a write brings, in the order in which the keys came.

    Clauses: MG-017.
    """
    return tuple(fold(precombine_rule(rule, readings), incoming).values())


def precombine_rule(rule: MergeRule, readings: Readings) -> MergeRule:
    """The rule by which a write combines its own rows: the table's.

    Before version 9 most payloads take the whole row with the greatest ordering value here, even those that merge
    otherwise; in the text `OverwriteWithLatestAvroPayload` does too.

    Clauses: MG-017, PL-002, PL-009.
    """
    fills_both_ways = (
        rule.partial_update is PartialUpdate.IGNORE_DEFAULTS and rule.mode is not MergeMode.COMMIT_TIME_ORDERING
    )
    by_arrival = rule.payload == LATEST and readings.overwriting_precombine is Reading.RELEASED
    if not rule.payload or fills_both_ways or by_arrival:
        return rule
    return replace(rule, mode=MergeMode.EVENT_TIME_ORDERING, partial_update=PartialUpdate.NONE)


def merge_slice(
    rule: MergeRule, rows: Iterable[Version], changes: Iterable[Version], readings: Readings
) -> tuple[Record, ...]:
    """The rows of a slice, for a query as for its compaction: what is left of its base file's, and what changes add.

    As released the changes compete among themselves first, and the winner meets the base row.
    In the text's order each change meets what the ones before it left: a delete stays done.
    Where a base file holds a key twice, each of its rows meets the changes on its own.

    Clauses: DM-001, MG-012, MG-013, MG-018, RD-017.
    """
    base, changed = tuple(rows), tuple(changes)
    winners = fold(rule, changed)
    if readings.delete_without_ordering is Reading.TEXT:
        of_key = {key: [change for change in changed if change.key == key] for key in winners}
        left = [fold(rule, of_key.get(row.key, ()), {row.key: row})[row.key] for row in base]
    else:
        left = [merge(rule, row, winners[row.key]) if row.key in winners else row for row in base]
    added = [winners[key] for key in sorted(winners.keys() - {row.key for row in base})]
    return tuple(version.record for version in (*left, *added) if version.record and not version.is_delete)
