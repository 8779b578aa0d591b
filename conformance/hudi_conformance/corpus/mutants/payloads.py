"""Rules of payload classes and partial updates, broken."""

from dataclasses import replace

from hudi_model.configuration import Configuration
from hudi_model.files import Delete, Record, Value
from hudi_model.merge_rules import MergeMode, MergeRule, PartialUpdate, Version
from hudi_model.rejection import Rejection
from hudi_model.schemas import table_schema
from hudi_model.tables import View

from hudi_conformance.corpus.mutants.registry import Function, mutant


def _with_mode(mode: MergeMode) -> Function:
    def wrap(original: Function) -> Function:
        def changed(configuration: Configuration) -> MergeRule:
            found: MergeRule = original(configuration)
            return replace(found, mode=mode)

        return changed

    return wrap


@mutant(
    "payload-by-event-time",
    "PL-003 PL-006",
    "Under every payload class the greater ordering value wins.",
    "merge_modes.custom_rule",
)
def _payload_by_event_time(original: Function) -> Function:
    wrapped: Function = _with_mode(MergeMode.EVENT_TIME_ORDERING)(original)
    return wrapped


@mutant(
    "payload-by-commit-time",
    "PL-004 PL-005 PL-007 PL-008",
    "Under every payload class the later write wins.",
    "merge_modes.custom_rule",
)
def _payload_by_commit_time(original: Function) -> Function:
    wrapped: Function = _with_mode(MergeMode.COMMIT_TIME_ORDERING)(original)
    return wrapped


@mutant(
    "unknown-merger-overwrites",
    "PL-011 MG-001",
    "Where the payload class is unknown, the later write wins.",
    "merge_modes.custom_rule",
)
def _unknown_merger_overwrites(original: Function) -> Function:
    def forgiving(configuration: Configuration) -> MergeRule:
        try:
            found: MergeRule = original(configuration)
        except Rejection:
            return MergeRule(MergeMode.COMMIT_TIME_ORDERING, ())
        return found

    return forgiving


@mutant(
    "defaults-overwrite",
    "MG-023 PL-003 PL-004",
    "A null of the winner stands, whatever the table's mode.",
    "merging.sets_column",
)
def _defaults_overwrite(original: Function) -> Function:
    def sets(rule: MergeRule, winner: Version, name: str) -> bool:
        ignoring = rule.partial_update is PartialUpdate.IGNORE_DEFAULTS
        found: bool = original(replace(rule, partial_update=PartialUpdate.NONE) if ignoring else rule, winner, name)
        return found

    return sets


@mutant(
    "unavailable-leaks",
    "MG-024 PL-007",
    "The text that stands for an unavailable value is a value.",
    "merging.sets_column",
)
def _unavailable_leaks(original: Function) -> Function:
    return lambda rule, winner, name: original(replace(rule, unavailable=None), winner, name)


@mutant(
    "partial-null-unset",
    "MG-021",
    "A null in a partial update says nothing.",
    "merging.sets_column",
)
def _partial_null_unset(original: Function) -> Function:
    def sets(rule: MergeRule, winner: Version, name: str) -> bool:
        is_null = winner.partial and winner.record is not None and winner.record.values.get(name) is None
        return not is_null and bool(original(rule, winner, name))

    return sets


@mutant(
    "late-partial-dropped",
    "MG-025 PL-004",
    "What loses fills nothing where it came later.",
    "merging.kept",
)
def _late_partial_dropped(_: Function) -> Function:
    return lambda _rule, older, _newer: older


@mutant(
    "late-partial-wins",
    "MG-025",
    "What comes late and fills a column leaves its meta fields.",
    "merging.kept",
)
def _late_partial_wins(original: Function) -> Function:
    def kept(rule: MergeRule, older: Version, newer: Version) -> Version:
        found: Version = original(rule, older, newer)
        if found is older or found.record is None or newer.record is None:
            return found
        meta = {name: value for name, value in newer.record.values.items() if name.startswith("_hoodie_commit")}
        return replace(found, record=Record({**found.record.values, **meta}))

    return kept


@mutant(
    "payload-late-fills",
    "PL-007",
    "What comes late fills the unavailable values of the winner before version 9 too.",
    "merging.kept",
)
def _payload_late_fills(original: Function) -> Function:
    return lambda rule, older, newer: original(replace(rule, payload=""), older, newer)


@mutant(
    "partial-as-whole",
    "MG-021 MG-022",
    "A column that a partial block lacks is null.",
    "merging.columns_of_block",
)
def _partial_as_whole(_: Function) -> Function:
    return lambda _block, schema, _stored: schema


@mutant("defaults-are-null", "MG-023 PL-003 PL-004", "Every column is null by default.", "merging.sets_column")
def _defaults_are_null(original: Function) -> Function:
    def sets(rule: MergeRule, winner: Version, name: str) -> bool:
        found: bool = original(replace(rule, defaults={}), winner, name)
        return found

    return sets


@mutant(
    "partial-payload-knows-defaults",
    "PL-004",
    "Before version 9 PartialUpdateAvroPayload ignores defaults other than null, too.",
    "merge_modes.table_rule",
)
def _partial_payload_knows_defaults(original: Function) -> Function:
    def knowing(view: View) -> MergeRule:
        named = {one.name: one.default for one in table_schema(view).fields if one.default is not None}
        found: MergeRule = original(view)
        return replace(found, defaults=named)

    return knowing


@mutant(
    "partial-update-mode-ignored",
    "MG-023 MG-026 PL-010",
    "The table's partial update mode says nothing.",
    "merge_modes.partial_update_mode",
)
def _partial_update_mode_ignored(_: Function) -> Function:
    return lambda _properties: PartialUpdate.NONE


@mutant(
    "payload-marker-ignored",
    "PL-006 PL-007 PL-008",
    "Payload classes know no column that marks deletes.",
    "merge_modes.custom_rule",
)
def _payload_marker_ignored(original: Function) -> Function:
    return lambda configuration: replace(original(configuration), delete_field=None)


@mutant(
    "payload-marker-exact",
    "PL-006 PL-007",
    "Payload classes mind the case of their marker.",
    "merge_rules.is_marked_deleted",
)
def _payload_marker_exact(original: Function) -> Function:
    return lambda record, rule: original(record, replace(rule, payload=""))


@mutant(
    "payload-marker-any-case",
    "PL-010 MG-008",
    "The marker of a table of version 9 is compared whatever its case.",
    "merge_rules.is_marked_deleted",
)
def _payload_marker_any_case(original: Function) -> Function:
    return lambda record, rule: original(record, replace(rule, payload="any"))


@mutant(
    "flagged-captures-never-compete",
    "PL-009",
    "A change that bears the flag removes what precedes it, however late its place.",
    "merge_rules.version_of_record",
)
def _flagged_captures_never_compete(original: Function) -> Function:
    def removing(record: Record, key: str, rule: MergeRule, *, partial: bool = False) -> Version:
        found: Version = original(record, key, rule, partial=partial)
        flagged = bool(rule.payload) and record.values.get("_hoodie_is_deleted") is True
        return replace(found, ordering=None) if flagged else found

    return removing


@mutant(
    "payload-tombstones-compete",
    "PL-009",
    "A tombstone competes by its ordering value under every payload class.",
    "merge_rules.version_of_delete",
)
def _payload_tombstones_compete(original: Function) -> Function:
    def competing(delete: Delete, rule: MergeRule) -> Version:
        found: Version = original(delete, replace(rule, payload=""))
        return found

    return competing


@mutant(
    "sequence-as-text",
    "PL-008",
    "Places of a binary log compare as texts.",
    "merge_rules.binlog_position",
)
def _sequence_as_text(_: Function) -> Function:
    def as_text(sequence: Value) -> tuple[Value, ...]:
        return (sequence,)

    return as_text


@mutant(
    "overwriting-combines-by-ordering",
    "PL-002 MG-017",
    "The rows of one write are combined by ordering value, whatever the mode.",
    "tagging.precombine_rule",
)
def _overwriting_combines_by_ordering(original: Function) -> Function:
    return lambda rule, readings: replace(original(rule, readings), mode=MergeMode.EVENT_TIME_ORDERING)
