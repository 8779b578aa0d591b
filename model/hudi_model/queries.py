"""The questions a table answers, shaped as the adapter protocol has them."""

from collections.abc import Mapping
from dataclasses import dataclass

from hudi_model.records import Schema, Value


@dataclass(frozen=True, slots=True)
class Warning:  # noqa: A001 - the protocol's word
    """Something a reader skipped as the format says, and must tell of."""

    clause: str
    file: str
    offset: int | None
    message: str


@dataclass(frozen=True, slots=True)
class Answer:
    """Rows, the columns they have, and what was skipped on the way."""

    schema: Schema
    rows: tuple[Mapping[str, Value], ...]
    warnings: tuple[Warning, ...] = ()
