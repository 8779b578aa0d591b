"""The recorded questions put to an adapter, and its answers held against those of Apache Hudi."""

import tempfile
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from hudi_adapter.rows import RowsError, read_rows
from hudi_format.compat import StrEnum

from hudi_conformance.corpus.recipes_apache.catalogue import Recipe
from hudi_conformance.interop.real_tables.cache import Place, place_of
from hudi_conformance.interop.real_tables.known import KnownDifference, known_difference
from hudi_conformance.runner.adapters_config import AdapterConfig
from hudi_conformance.runner.comparison import compare_rows
from hudi_conformance.runner.session import Session
from hudi_conformance.runner.step_executor import Answer, Kind, StepExecutor
from hudi_conformance.runner.value_comparison import compare_values

_LIMIT_S = 60.0


class Verdict(StrEnum):
    """What became of one question."""

    EQUAL = "equal"
    KNOWN = "known difference"
    UNSUPPORTED = "unsupported"
    DIFFERENT = "different"
    NOT_DIFFERENT = "listed as different, but equal"


BAD = frozenset({Verdict.DIFFERENT, Verdict.NOT_DIFFERENT})


@dataclass(frozen=True, slots=True)
class Compared:
    """One question about one table: the verdict, and what differs, or the feature that is missing."""

    recipe: Recipe
    adapter: str
    question: Mapping[str, Any]
    verdict: Verdict
    details: tuple[str, ...] = ()

    @property
    def id(self) -> str:
        """`table::question`."""
        return f"{self.recipe.id}::{self.question['name']}"


def compare(
    chosen: Sequence[Recipe],
    adapter: AdapterConfig,
    known: Sequence[KnownDifference],
    table_done: Callable[[], None] = lambda: None,
) -> Iterator[Compared]:
    """Put all questions about these tables, which must have been built, to an adapter."""
    with tempfile.TemporaryDirectory(prefix="hudi-real-") as folder, _session(adapter, Path(folder)) as session:
        for made in chosen:
            place = place_of(made.id)
            executor = StepExecutor(session, place.table, Path(folder) / made.id, _LIMIT_S, adapter.name)
            for question in place.questions():
                verdict, details = _verdict(question, place, executor.request(question["op"], question["params"]))
                listed = known_difference(known, f"{made.id}::{question['name']}", adapter.name)
                yield Compared(made, adapter.name, question, _against_list(verdict, listed), details)
            table_done()


def _session(adapter: AdapterConfig, folder: Path) -> Session:
    return Session(adapter.command, folder / "adapter.log")


def _against_list(verdict: Verdict, listed: KnownDifference | None) -> Verdict:
    if listed is None or verdict is Verdict.UNSUPPORTED:
        return verdict
    return Verdict.KNOWN if verdict is Verdict.DIFFERENT else Verdict.NOT_DIFFERENT


def _verdict(question: Mapping[str, Any], place: Place, answer: Answer) -> tuple[Verdict, tuple[str, ...]]:
    if answer.kind is Kind.UNSUPPORTED:
        return Verdict.UNSUPPORTED, (answer.reason,)
    refused = {"rejected", "unsupported", "errored"} & question.keys()
    if refused:
        found = _not_refused(answer, f"Apache Hudi {' '.join(refused)}: {question[next(iter(refused))]}")
    else:
        found = _differences(question, place, answer)
    return (Verdict.DIFFERENT if found else Verdict.EQUAL), found


def _not_refused(answer: Answer, wanted: str) -> tuple[str, ...]:
    """What both refuse, with whatever words, is no difference."""
    return () if answer.kind is Kind.REJECTED else (wanted, _described(answer))


def _differences(question: Mapping[str, Any], place: Place, answer: Answer) -> tuple[str, ...]:
    if not answer.is_result:
        return (_described(answer),)
    if ("rows" in question) != (answer.rows is not None):
        return ("rows where a value is asked, or the other way",)
    if answer.rows is None:
        return compare_values(question["op"], question["value"], answer.content)
    try:
        return compare_rows(read_rows(place.answers / question["rows"]), answer.rows)
    except RowsError as error:
        return (f"rows: {error}",)


def _described(answer: Answer) -> str:
    if answer.is_result:
        return f"answered {'value' if answer.rows is None else 'rows'}"
    if answer.kind is Kind.ERRORED:
        return "\n".join([answer.describe(), *answer.detail.strip().splitlines()[-4:]])
    return answer.describe()
