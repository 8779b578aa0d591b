"""Rules of comparing ordering values, broken for the types that a long is not."""

import datetime as dt
from decimal import Decimal
from typing import Any

from hudi_model.files import Ordering

from hudi_conformance.corpus.mutants.registry import Function, mutant

_DAY_ZERO = dt.date(1970, 1, 1)


@mutant("ordering-without-fractions", "MG-003", "Doubles compare as whole numbers.", "merge_rules.comparable")
def _ordering_without_fractions(original: Function) -> Function:
    def whole(value: Ordering) -> Any:
        is_finite = isinstance(value, float) and abs(value) < float("inf")
        return original(int(value) if is_finite and isinstance(value, float) else value)

    return whole


@mutant("ordering-of-texts", "MG-003", "Decimals compare as texts.", "merge_rules.comparable")
def _ordering_of_texts(original: Function) -> Function:
    return lambda value: str(value) if isinstance(value, Decimal) else original(value)


@mutant("ordering-to-the-millisecond", "MG-003", "Of moments the microseconds do not count.", "merge_rules.comparable")
def _ordering_to_the_millisecond(original: Function) -> Function:
    def cut(value: Ordering) -> Any:
        if isinstance(value, dt.datetime):
            return value.replace(microsecond=value.microsecond // 1000 * 1000)
        return original(value)

    return cut


@mutant("ordering-to-the-second", "MG-003", "Of moments the parts of seconds do not count.", "merge_rules.comparable")
def _ordering_to_the_second(original: Function) -> Function:
    return lambda value: value.replace(microsecond=0) if isinstance(value, dt.datetime) else original(value)


@mutant("ordering-by-size", "MG-003", "Dates before 1970 compare without their sign.", "merge_rules.comparable")
def _ordering_by_size(original: Function) -> Function:
    def unsigned(value: Ordering) -> Any:
        if isinstance(value, dt.date) and not isinstance(value, dt.datetime):
            return abs((value - _DAY_ZERO).days)
        return original(value)

    return unsigned


@mutant("texts-by-utf-16", "MG-003", "Texts compare by their UTF-16 units.", "merge_rules.comparable")
def _texts_by_utf_16(original: Function) -> Function:
    return lambda value: value.encode("utf-16-be") if isinstance(value, str) else original(value)


@mutant("zeroes-are-one-value", "MG-003", "Minus zero is as great as zero.", "merge_rules.comparable")
def _zeroes_are_one_value(original: Function) -> Function:
    return lambda value: original(value + 0.0 if isinstance(value, float) else value)
