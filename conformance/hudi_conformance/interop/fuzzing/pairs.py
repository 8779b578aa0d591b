"""Rows of features such that every two features that go together stand in one row: a greedy cover."""

import itertools
from collections.abc import Callable, Iterator, Mapping, Sequence
from random import Random

Row = Mapping[str, str]
Pair = frozenset[tuple[str, str]]
Possible = Callable[[Row], bool]
_TRIES = 40


def covering_rows(
    factors: Mapping[str, Sequence[str]], possible: Possible, same: Mapping[str, str] | None = None
) -> list[dict[str, str]]:
    """Rows that hold every pair of values that a possible row can hold; the same rows every time.

    `same` names factors that are another place for the values of one factor: a pair counts in either place.
    """
    names = dict(same or {})
    open_pairs = {pair for row in _pairs_alone(factors, possible, names) for pair in row}
    dice, rows = Random(7), []  # noqa: S311 - repeatable on purpose
    while open_pairs:
        candidates = (_grown(sorted(open_pairs, key=sorted), factors, possible, names, dice) for _ in range(_TRIES))
        best = max(candidates, key=lambda row: len(pairs_of(row, names) & open_pairs))
        rows.append(best)
        open_pairs -= pairs_of(best, names)
    return rows


def pairs_of(row: Row, names: Mapping[str, str]) -> set[Pair]:
    """Every two features of a row, factors under their common names; one with itself is none."""
    features = {(names.get(factor, factor), value) for factor, value in row.items()}
    return {frozenset(pair) for pair in itertools.combinations(sorted(features), 2) if pair[0][0] != pair[1][0]}


def _pairs_alone(
    factors: Mapping[str, Sequence[str]], possible: Possible, names: Mapping[str, str]
) -> Iterator[list[Pair]]:
    """The pairs for which there is a possible row."""
    dice = Random(11)  # noqa: S311 - repeatable on purpose
    for first, second in itertools.combinations([name for name in factors if name not in names], 2):
        for values in itertools.product(factors[first], factors[second]):
            fixed = dict(zip((first, second), values, strict=True))
            if completed(fixed, factors, possible, dice):
                yield [frozenset(fixed.items())]


def _grown(
    open_pairs: Sequence[Pair],
    factors: Mapping[str, Sequence[str]],
    possible: Possible,
    names: Mapping[str, str],
    dice: Random,
) -> dict[str, str]:
    """A possible row around a pair that is open; each further value the one that covers most."""
    row = dict(dice.choice(open_pairs))
    wanted = set(open_pairs)
    for factor in dice.sample(list(factors), len(factors)):
        if factor in row:
            continue
        values = [value for value in factors[factor] if completed({**row, factor: value}, factors, possible, dice)]
        dice.shuffle(values)
        row[factor] = max(values, key=lambda value: len(pairs_of({**row, factor: value}, names) & wanted))
    return {factor: row[factor] for factor in factors}


def completed(
    fixed: Row, factors: Mapping[str, Sequence[str]], possible: Possible, dice: Random
) -> dict[str, str] | None:
    """A possible row with these values, the others drawn; None where there is none.

    It is found factor by factor, so every rule must bear with rows half full.
    """
    if not possible(fixed):
        return None
    row = dict(fixed)
    for factor, values in factors.items():
        if factor in row:
            continue
        fitting = [value for value in values if possible({**row, factor: value})]
        if not fitting:
            return None
        row[factor] = dice.choice(fitting)
    return {factor: row[factor] for factor in factors}
