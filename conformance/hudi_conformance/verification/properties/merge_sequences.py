"""Versions of a record in every order, and the laws that merging them may keep."""

from collections.abc import Callable, Iterable, Iterator, Sequence
from itertools import product

from hudi_model import merge_rules, merging, tagging
from hudi_model.files import Delete, Record, Value
from hudi_model.merge_rules import MergeMode, MergeRule, Version
from hudi_model.tables import RELEASED, TEXT, Readings

from hudi_conformance.verification.properties.registry import Counterexample

KEY = "k"
COMMIT = MergeRule(MergeMode.COMMIT_TIME_ORDERING, ("ts",))
EVENT = MergeRule(MergeMode.EVENT_TIME_ORDERING, ("ts",))
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
    """Whole records at each time, distinguished by the place at which they are written."""
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
    """Every sequence of such versions, each distinguished by its place."""
    for chosen in product(made, repeat=length):
        yield tuple(one(place) for place, one in enumerate(chosen))


def data(version: Version) -> Data:
    """What a later merge or a query can tell of a version."""
    values = tuple(sorted(version.record.values.items(), key=str)) if version.record else ()
    return version.is_delete, values, version.ordering


def shown(*versions: Version) -> tuple[str, ...]:
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
            raise Counterexample(message, steps=shown(first, second, third))


def idempotent(rule: MergeRule, made: Sequence[Made]) -> None:
    """Nothing, unless a version merged with itself becomes another."""
    for (one,) in sequences(made, 1):
        if data(merging.merge(rule, one, one)) != data(one):
            raise Counterexample("a version merged with itself is another", steps=shown(one))


def commutative(rule: MergeRule, made: Sequence[Made], counts: Callable[..., bool] = lambda *_: True) -> None:
    """Nothing, unless it matters which of two versions was written first."""
    for first, second in sequences(made, 2):
        one, other = merging.merge(rule, first, second), merging.merge(rule, second, first)
        if counts(first, second) and data(one) != data(other):
            raise Counterexample(f"{rule.mode}: {data(one)} against {data(other)}", steps=shown(first, second))


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
                message = f"{rule.mode} {rule.strategy}: {shown(*straight)}, and with a compaction {shown(*between)}"
                raise Counterexample(message, steps=shown(first, second, third))


def same_combined(rule: MergeRule, made: Sequence[Made], readings: Readings) -> None:
    """Nothing, unless combining the rows of a write before it is merged changes the answer."""
    for first, second, third in sequences(made, 3):
        for base in ([], [first]):
            if base and first.is_delete:
                continue
            batch = (second, third)
            apart = rows_after(rule, base, batch, readings)
            together = rows_after(rule, base, tagging.precombine(rule, batch, readings), readings)
            if list(map(data, apart)) != list(map(data, together)):
                message = f"{rule.mode} {rule.payload}: {shown(*apart)}, and combined {shown(*together)}"
                raise Counterexample(message, steps=shown(*base, second, third))
