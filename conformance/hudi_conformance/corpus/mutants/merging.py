"""Rules of merging, broken."""

from collections.abc import Iterable
from dataclasses import replace

from hudi_model import merging
from hudi_model.configuration import Configuration
from hudi_model.files import Delete, Record
from hudi_model.merge_rules import MergeMode, MergeRule, Version, is_greater
from hudi_model.tables import Readings

from hudi_conformance.corpus.mutants.registry import Function, mutant


@mutant(
    "event-time-ignores-ordering",
    "MG-003 SW-005",
    "The later write wins under event time ordering too.",
    "merging.merge_by_event_time",
)
def _event_time_ignores_ordering(_: Function) -> Function:
    return lambda _older, newer: newer


@mutant("tie-to-older", "MG-004", "Of equal ordering values the older wins.", "merging.merge_by_event_time")
def _tie_to_older(_: Function) -> Function:
    def older_on_tie(older: Version, newer: Version) -> Version:
        if older.ordering is None or newer.ordering is None or is_greater(newer.ordering, older.ordering):
            return newer
        return older

    return older_on_tie


@mutant(
    "delete-without-ordering-competes",
    "MG-005 LF-017",
    "The integer 0 of a plain delete is an ordering value.",
    "merge_rules.is_without_ordering",
)
def _delete_without_ordering_competes(_: Function) -> Function:
    return lambda delete: delete.ordering is None


@mutant(
    "typed-delete-ignores-ordering",
    "MG-006",
    "A delete beats whatever precedes it, late or not.",
    "merge_rules.version_of_delete",
)
def _typed_delete_ignores_ordering(_: Function) -> Function:
    def by_position(delete: Delete, _rule: MergeRule) -> Version:
        return Version(delete.key, None, None)

    return by_position


@mutant("deletes-ignored", "MG-005 MG-006", "Delete blocks are not read.", "files.valid_deletes")
def _deletes_ignored(_: Function) -> Function:
    return lambda _deletes: ()


@mutant(
    "deleted-flag-ignored",
    "MG-008",
    "A record that marks itself deleted is a row.",
    "merge_rules.is_marked_deleted",
)
def _deleted_flag_ignored(_: Function) -> Function:
    return lambda _record, _rule: False


@mutant(
    "commit-time-by-ordering",
    "MG-002",
    "Under commit time ordering the greater ordering value wins.",
    "merge_modes.merge_rule",
)
def _commit_time_by_ordering(original: Function) -> Function:
    def by_ordering(configuration: Configuration) -> MergeRule:
        rule: MergeRule = original(configuration)
        return replace(rule, mode=MergeMode.EVENT_TIME_ORDERING, ordering=configuration.ordering)

    return by_ordering


@mutant("payload-class-ignored", "MG-009", "The payload class says nothing.", "merge_modes.mode_of_payload")
def _payload_class_ignored(_: Function) -> Function:
    return lambda _configuration: None


@mutant("mode-always-event-time", "MG-001 MG-012", "Every table merges by event time.", "merge_modes.merge_mode")
def _mode_always_event_time(_: Function) -> Function:
    return lambda _configuration: MergeMode.EVENT_TIME_ORDERING


@mutant("mode-always-commit-time", "MG-001 MG-012", "Every table merges by commit time.", "merge_modes.merge_mode")
def _mode_always_commit_time(_: Function) -> Function:
    return lambda _configuration: MergeMode.COMMIT_TIME_ORDERING


@mutant(
    "commit-time-compares",
    "MG-002",
    "Under commit time ordering a greater ordering value stays.",
    "merging.merge_by_commit_time",
)
def _commit_time_compares(_: Function) -> Function:
    def compared(older: Version, newer: Version) -> Version:
        if older.ordering is None or newer.ordering is None:
            return newer
        return older if is_greater(older.ordering, newer.ordering) else newer

    return compared


@mutant(
    "logs-beat-base-row",
    "MG-018 MG-003 MG-025",
    "The winner of the logs takes the base row's place, whatever it holds.",
    "merging.merge_slice",
)
def _logs_beat_base_row(_: Function) -> Function:
    def replacing(
        rule: MergeRule, rows: Iterable[Version], changes: Iterable[Version], _readings: Readings
    ) -> tuple[Record, ...]:
        base, winners = tuple(rows), merging.fold(rule, changes)
        added = [winners[key] for key in sorted(winners.keys() - {row.key for row in base})]
        left = [winners.get(row.key, row) for row in base]
        return tuple(one.record for one in (*left, *added) if one.record and not one.is_delete)

    return replacing


@mutant(
    "partials-become-whole",
    "MG-025",
    "What two partial updates make together counts as a whole record.",
    "merging.completed",
)
def _partials_become_whole(original: Function) -> Function:
    def whole(rule: MergeRule, winner: Version, loser: Version) -> Version:
        found: Version = original(rule, winner, loser)
        return replace(found, partial=False)

    return whole


@mutant(
    "deletes-are-final",
    "MG-013",
    "What any change deletes is gone, whatever changes came after it.",
    "merging.merge_slice",
)
def _deletes_are_final(original: Function) -> Function:
    def final(
        rule: MergeRule, rows: Iterable[Version], changes: Iterable[Version], readings: Readings
    ) -> tuple[Record, ...]:
        changed = tuple(changes)
        gone = {one.key for one in changed if one.is_delete}
        left: tuple[Record, ...] = original(
            rule,
            [one for one in rows if one.key not in gone],
            [one for one in changed if one.key not in gone],
            readings,
        )
        return left

    return final
