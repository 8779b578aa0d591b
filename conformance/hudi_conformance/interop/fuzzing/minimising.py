"""A failing case made smaller, as long as it fails in the same way."""

from collections.abc import Callable, Iterator, Mapping
from dataclasses import replace

from hudi_conformance.corpus.table_shapes import SMALL_FILE_LIMIT, Step, TableShape, WriteCase

Fails = Callable[[WriteCase], bool]


def minimised(case: WriteCase, fails: Fails, attempts: int) -> WriteCase:
    """The smallest case found by dropping one thing after the other; `fails` is asked at most `attempts` times."""
    left = attempts
    smaller = True
    while smaller:
        smaller = False
        for candidate in smaller_cases(case):
            if left <= 0:
                return case
            left -= 1
            if fails(candidate):
                case, smaller = candidate, True
                break
    return case


def smaller_cases(case: WriteCase) -> Iterator[WriteCase]:
    """Every case that lacks one thing of this one: the last steps first, then rows, then what the table has."""
    for number in reversed(range(len(case.steps))):
        yield replace(case, steps=_without_step(case.steps, number + 1))
    for shape in _smaller_shapes(case.shape):
        yield replace(case, shape=shape)
    for number, step in enumerate(case.steps):
        for smaller in _smaller_steps(step):
            yield replace(case, steps=(*case.steps[:number], smaller, *case.steps[number + 1 :]))


def _without_step(steps: tuple[Step, ...], number: int) -> tuple[Step, ...]:
    """The steps without one, and without those about it; who is about a later one names it anew."""
    kept = [one for place, one in enumerate(steps, start=1) if number not in {place, one.target}]
    gone = [place for place, one in enumerate(steps, start=1) if number in {place, one.target}]
    return tuple(replace(one, target=one.target - sum(place < one.target for place in gone)) for one in kept)


def _smaller_shapes(shape: TableShape) -> Iterator[TableShape]:
    yield from (replace(shape, properties=_without(shape.properties, key)) for key in shape.properties)
    yield from (
        replace(shape, configs=_without(shape.configs, key)) for key in shape.configs if key != SMALL_FILE_LIMIT
    )
    if shape.merge_mode:
        yield replace(shape, merge_mode=None)
    if shape.partition_by:
        yield replace(shape, partition_by=shape.partition_by[:-1])
    if len(shape.record_key) > 1:
        yield replace(shape, record_key=shape.record_key[:1])
    if shape.ordering:
        yield replace(shape, ordering=())


def _without(held: Mapping[str, str], key: str) -> dict[str, str]:
    return {other: value for other, value in held.items() if other != key}


def _smaller_steps(step: Step) -> Iterator[Step]:
    rows = step.rows or ()
    if len(rows) > 1:
        for number in range(len(rows)):
            yield replace(step, rows=rows[:number] + rows[number + 1 :])
    if rows:
        for place, (name, _) in enumerate(step.columns):
            if name in {"note", "fare", "extra", "more"} and any(row[place] is not None for row in rows):
                yield replace(step, rows=tuple((*row[:place], None, *row[place + 1 :]) for row in rows))
