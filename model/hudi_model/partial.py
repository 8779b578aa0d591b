"""Partial updates: what the winner of two versions takes from the loser."""

from hudi_model.files import DataBlock
from hudi_model.merge_rules import MergeRule, PartialUpdate, Version, ordering_of
from hudi_model.records import META_FIELDS, Record, Schema


def completed(rule: MergeRule, winner: Version, loser: Version) -> Version:
    """The winner, with the loser's values for the columns that it does not set; a delete neither gives nor takes.

    Clauses: MG-021, MG-022, MG-023, MG-024, MG-025.
    """
    if winner.record is None or loser.record is None:
        return winner
    taken = {name: value for name, value in loser.record.values.items() if not sets_column(rule, winner, name)}
    record = Record({**winner.record.values, **taken})
    ordering = winner.ordering or ordering_of(record.values, rule)
    return Version(winner.key, record, ordering, winner.partial and loser.partial) if taken else winner


def sets_column(rule: MergeRule, winner: Version, name: str) -> bool:
    """Whether a version says what a column holds: a partial one where it has the column.

    By the table's mode the column's default, or the text (or bytes) that stands for an unavailable value, says nothing.

    Clauses: MG-021, MG-023, MG-024.
    """
    if winner.record is None or name not in winner.record.values:
        return not winner.partial
    value = winner.record.values[name]
    if rule.partial_update is PartialUpdate.IGNORE_DEFAULTS:
        return value != rule.defaults.get(name)
    sentinel = rule.unavailable if rule.partial_update is PartialUpdate.FILL_UNAVAILABLE else None
    return sentinel is None or value not in (sentinel, sentinel.encode())


def kept(rule: MergeRule, older: Version, newer: Version) -> Version:
    """The older version where it wins: what came late still fills what it does not set.

    Before version 9 a payload lets late data fill with `PartialUpdateAvroPayload` alone, the meta fields with it.

    Clauses: MG-025, PL-004, PL-007.
    """
    if rule.payload and rule.partial_update is not PartialUpdate.IGNORE_DEFAULTS:
        return older
    found = completed(rule, older, newer)
    if not rule.payload or found.record is None or newer.record is None:
        return found
    late = {name: newer.record.values[name] for name in META_FIELDS if name in newer.record.values}
    return Version(found.key, Record({**found.record.values, **late}), found.ordering, found.partial)


def columns_of_block(block: DataBlock, schema: Schema) -> Schema:
    """The table's columns that a block's records set: all, or in a partial block those of its own schema.

    Clauses: MG-021, MG-022.
    """
    own = {field.name for field in (block.schema or schema).fields}
    return Schema(tuple(one for one in schema.fields if one.name in own)) if block.partial else schema
