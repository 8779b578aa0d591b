"""Partial updates: what the winner of two versions takes from the loser."""

from hudi_model.files import DataBlock
from hudi_model.merge_rules import MergeRule, PartialUpdate, Version, ordering_of
from hudi_model.records import META_FIELDS, Record, Schema, Value


def completed(rule: MergeRule, winner: Version, loser: Version) -> Version:
    """The winner, with the loser's values for the columns that it does not set; a delete neither gives nor takes.

    Clauses: PU-001, PU-002, PU-003, PU-004, PU-005, PU-006.
    """
    if winner.record is None or loser.record is None:
        return winner
    taken = {name: value for name, value in loser.record.values.items() if not sets_column(rule, winner, name)}
    record = Record({**winner.record.values, **taken})
    ordering = winner.ordering or ordering_of(record.values, rule)
    return Version(winner.key, record, ordering, winner.partial and loser.partial) if taken else winner


def sets_column(rule: MergeRule, winner: Version, name: str) -> bool:
    """Whether a version says what a column holds: a partial one where it has the column.

    By the table's mode a null, or the text that stands for an unavailable value, says nothing.

    Clauses: PU-001, PU-003, PU-004.
    """
    values = winner.record.values if winner.record else {}
    if name not in values:
        return not winner.partial
    if rule.partial_update is PartialUpdate.IGNORE_DEFAULTS:
        return values[name] is not None
    return rule.partial_update is not PartialUpdate.FILL_UNAVAILABLE or not is_unavailable(rule, values[name])


def is_unavailable(rule: MergeRule, value: Value) -> bool:
    """Whether a text, or bytes, is the one that stands for an unavailable value.

    Clauses: PU-004.
    """
    return rule.unavailable is not None and value in (rule.unavailable, rule.unavailable.encode())


def kept(rule: MergeRule, older: Version, newer: Version) -> Version:
    """The older version where it wins: what came late still fills what it does not set.

    Before version 9, with `PostgresDebeziumAvroPayload` late data fill nothing, and with `PartialUpdateAvroPayload` a
    row has the meta fields of what came late.

    Clauses: PU-005, PL-004, PL-007.
    """
    if rule.payload and rule.partial_update is PartialUpdate.FILL_UNAVAILABLE:
        return older
    found = completed(rule, older, newer)
    if not rule.payload or found.record is None or newer.record is None:
        return found
    late = {name: newer.record.values[name] for name in META_FIELDS if name in newer.record.values}
    return Version(found.key, Record({**found.record.values, **late}), found.ordering, found.partial)


def columns_of_block(block: DataBlock, schema: Schema, rule: MergeRule) -> Schema:
    """The table's columns that a block's records hold: all, or in a partial block those of its own schema.

    Clauses: PU-001, PU-002, PU-006.
    """
    own = {field.name for field in (block.schema or schema).fields}
    return Schema(tuple(one for one in schema.fields if one.name in own)) if is_partial(block, rule) else schema


def is_partial(block: DataBlock, rule: MergeRule) -> bool:
    """Whether a column that a block lacks keeps its value: the block says so, or the table's mode does.

    Clauses: PU-001, PU-006.
    """
    return block.partial or rule.partial_update is PartialUpdate.KEEP_VALUES
