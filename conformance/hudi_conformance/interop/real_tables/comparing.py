"""The recorded questions put to an adapter, and its answers held against those of Apache Hudi."""

import tempfile
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from enum import StrEnum
from pathlib import Path
from typing import Any

from hudi_adapter.rows import RowsError, read_answer, read_rows

from hudi_conformance.corpus.recipes_apache.catalogue import Recipe
from hudi_conformance.interop.real_tables.cache import Place, place_of
from hudi_conformance.interop.real_tables.known import KnownDifference, known_difference
from hudi_conformance.runner.adapters_config import AdapterConfig
from hudi_conformance.runner.comparison import compare_rows
from hudi_conformance.runner.session import Heard, Hung, Reply, Session
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
    told: tuple[str, ...] = ()

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
            for number, question in enumerate(place.questions()):
                out_dir = Path(folder) / made.id / str(number)
                out_dir.mkdir(parents=True)
                heard = session.ask(question["op"], place.table, question["params"], out_dir, _LIMIT_S)
                verdict, told = _verdict(question, place, heard, out_dir)
                listed = known_difference(known, f"{made.id}::{question['name']}", adapter.name)
                yield Compared(made, adapter.name, question, _against_list(verdict, listed), told)
            table_done()


def _session(adapter: AdapterConfig, folder: Path) -> Session:
    return Session(adapter.command, folder / "adapter.log")


def _against_list(verdict: Verdict, listed: KnownDifference | None) -> Verdict:
    if listed is None or verdict is Verdict.UNSUPPORTED:
        return verdict
    return Verdict.KNOWN if verdict is Verdict.DIFFERENT else Verdict.NOT_DIFFERENT


def _verdict(question: Mapping[str, Any], place: Place, heard: Heard, out_dir: Path) -> tuple[Verdict, tuple[str, ...]]:
    if not isinstance(heard, Reply):
        why = f"no answer within {heard.limit_s:g} s" if isinstance(heard, Hung) else heard.why
        return Verdict.DIFFERENT, (why,)
    message = heard.message
    if "unsupported" in message:
        return Verdict.UNSUPPORTED, (str(message["unsupported"]["feature"]),)
    told = _differences(question, place, message, out_dir)
    return (Verdict.DIFFERENT if told else Verdict.EQUAL), told


def _differences(
    question: Mapping[str, Any], place: Place, message: Mapping[str, Any], out_dir: Path
) -> tuple[str, ...]:
    refused = {"rejected", "unsupported", "errored"} & question.keys()
    if refused:
        wanted = f"Apache Hudi {' '.join(refused)}: {question[next(iter(refused))]}"
        # What both refuse, with whatever words, is told by both.
        return (
            ()
            if "rejected" in message
            else (wanted, f"answered {sorted(message['result'])}" if "result" in message else _said(message))
        )
    if "result" not in message:
        return (_said(message),)
    return _result_differences(question, place, message["result"], out_dir)


def _said(message: Mapping[str, Any]) -> str:
    if "rejected" in message:
        return f"refused with {message['rejected']['reason']}: {message['rejected']['message']}"
    error = message["errored"]
    last = str(error.get("traceback", "")).strip().splitlines()[-4:]
    return "\n".join([f"error: {error['message']}", *last])


def _result_differences(
    question: Mapping[str, Any], place: Place, result: Mapping[str, Any], out_dir: Path
) -> tuple[str, ...]:
    if ("rows" in question) != ("rows_file" in result):
        return ("rows where a value is asked, or the other way",)
    if "value" in question:
        return compare_values(question["op"], question["value"], result["value"])
    try:
        return compare_rows(read_rows(place.answers / question["rows"]), read_answer(out_dir, result["rows_file"]))
    except RowsError as error:
        return (f"rows: {error}",)
