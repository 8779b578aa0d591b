"""Rules of record mergers and operations, broken."""

from collections.abc import Sequence
from dataclasses import replace

from hudi_model.files import Record, Value
from hudi_model.merge_rules import MergeRule, Version
from hudi_model.merging import RecordMerger

from hudi_conformance.corpus.mutants.registry import Function, mutant


@mutant("merger-takes-newer", "RM-001", "Under custom merging the later write wins.", "merging.merged_by_strategy")
def _merger_takes_newer(_: Function) -> Function:
    return lambda _rule, _older, newer: newer


@mutant("first-merger-listed", "RM-002", "The first merger of a list is taken.", "merging.select_merger")
def _first_merger_listed(_: Function) -> Function:
    def first(_strategy: str, _engine: str, implementations: Sequence[RecordMerger]) -> RecordMerger:
        return implementations[0]

    return first


@mutant("any-engines-merger", "RM-002", "A merger for any engine's records is taken.", "merging.select_merger")
def _any_engines_merger(original: Function) -> Function:
    def any_engine(strategy: str, engine: str, implementations: Sequence[RecordMerger]) -> RecordMerger:
        alike = [replace(one, record_type="AVRO") for one in implementations]
        found: RecordMerger = original(strategy, "JAVA" if engine else engine, alike)
        return found

    return any_engine


@mutant("merger-columns-ignored", "RM-007 RM-011", "A merger receives no columns.", "merging.columns_of")
def _merger_columns_ignored(_: Function) -> Function:
    return lambda rule: rule.ordering


@mutant(
    "sums-forgotten-on-delete",
    "RM-003 RM-007",
    "A delete leaves nothing to go on from.",
    "merging.merged_by_strategy",
)
def _sums_forgotten_on_delete(original: Function) -> Function:
    def forgetting(rule: MergeRule, older: Version, newer: Version) -> Version:
        found: Version = original(rule, older, newer)
        return replace(found, record=None) if found.is_delete else found

    return forgetting


@mutant("zero-kept", "RM-004 RM-010", "A row that comes to zero stays.", "merging.merged_by_strategy")
def _zero_kept(original: Function) -> Function:
    return lambda rule, older, newer: replace(original(rule, older, newer), deleted=newer.is_delete)


@mutant("greater-by-first-alone", "RM-008", "The second column does not matter.", "merging.columns_or_ordering")
def _greater_by_first_alone(original: Function) -> Function:
    def first(rule: MergeRule, version: Version) -> tuple[Value, ...] | None:
        found: tuple[Value, ...] | None = original(rule, version)
        return found[:1] if found else None

    return first


@mutant(
    "tombstones-compete-by-position",
    "RM-008",
    "A tombstone's first ordering value meets the first column, whatever field it is of.",
    "merging.columns_or_ordering",
)
def _tombstones_compete_by_position(original: Function) -> Function:
    def by_position(rule: MergeRule, version: Version) -> tuple[Value, ...] | None:
        found: tuple[Value, ...] | None = original(rule, version)
        return version.ordering if version.record is None else found

    return by_position


@mutant("union-unsorted", "RM-009", "Members stand in the order in which they came.", "merging.together")
def _union_unsorted(original: Function) -> Function:
    def together(older: Value, newer: Value) -> Value:
        if isinstance(older, list) and isinstance(newer, list):
            return [*older, *(one for one in newer if one not in older)]
        found: Value = original(older, newer)
        return found

    return together


@mutant(
    "merger-drops-ordering",
    "RM-005",
    "What a merger makes has no ordering values.",
    "merging.merged_by_strategy",
)
def _merger_drops_ordering(original: Function) -> Function:
    return lambda rule, older, newer: replace(original(rule, older, newer), ordering=None)


@mutant(
    "before-image-is-row",
    "MG-014",
    "What an update replaces is a row.",
    "merge_rules.is_marked_deleted",
)
def _before_image_is_row(original: Function) -> Function:
    def marked(record: Record, rule: MergeRule) -> bool:
        return record.values.get("_hoodie_operation") != "-U" and bool(original(record, rule))

    return marked


@mutant(
    "partial-answers-of-the-newer",
    "RM-006",
    "Of partial records a merger's answer has the columns of the newer one.",
    "merging.merged_by_strategy",
)
def _partial_answers_of_the_newer(original: Function) -> Function:
    def newer_columns(rule: MergeRule, older: Version, newer: Version) -> Version:
        found: Version = original(rule, older, newer)
        if not (older.partial or newer.partial) or found.record is None or newer.record is None:
            return found
        kept = {name: value for name, value in found.record.values.items() if name in newer.record.values}
        return replace(found, record=Record(kept))

    return newer_columns
