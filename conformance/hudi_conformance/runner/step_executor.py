"""One player of steps: puts them to an adapter on one table, and gives each answer back as one value.

Every comparison of implementations takes its steps through it: it numbers the folders of answers and the files of rows,
and is the only place that reads the rows of an answer. What is asked, by whom, and what is compared is the caller's.
"""

import itertools
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from hudi_adapter.rows import Rows, RowsError, read_answer, write_rows
from hudi_format.compat import Self, StrEnum

from hudi_conformance.runner.adapter_pool import AdapterClient
from hudi_conformance.runner.normalized_answers import InstantNames
from hudi_conformance.runner.session import Broken, Hung, Response

CHECK_TABLE = "check_table"
_MOST_MESSAGE = 1500
_MOST_SHOWN = 12


class Kind(StrEnum):
    """What an answer is; `malformed` is a result whose rows cannot be read."""

    RESULT = "result"
    REJECTED = "rejected"
    UNSUPPORTED = "unsupported"
    ERRORED = "errored"
    MALFORMED = "malformed"
    BROKEN = "broken"
    TIMEOUT = "timeout"


@dataclass(frozen=True, slots=True)
class Answer:
    """The answer to one step.

    `content`: the rows or the value of a result. `reason`: that of a rejection, or the unsupported feature. `warned`:
    the clauses of warnings beside a result. `detail`: the traceback of an error, or the implementation's own words for
    a rejection. `caught` is False where the process died or hung instead of answering.
    """

    kind: Kind
    content: Any = None
    reason: str = ""
    message: str = ""
    detail: str = ""
    warned: frozenset[str] = frozenset()
    caught: bool = True

    @property
    def is_result(self) -> bool:
        """Whether there are rows or a value."""
        return self.kind is Kind.RESULT

    @property
    def rows(self) -> Rows | None:
        """The rows of a result; None where there is a value, or no result."""
        return self.content if isinstance(self.content, Rows) else None

    @property
    def value(self) -> Mapping[str, Any]:
        """The value of a result where it is an object, as that of every writing op is; else an empty one."""
        return self.content if isinstance(self.content, Mapping) else {}

    def describe(self) -> str:
        """The answer in one line, for messages."""
        match self.kind:
            case Kind.RESULT:
                return "does it"
            case Kind.REJECTED:
                text = f"refuses, {self.reason}: {self.message}"
            case Kind.UNSUPPORTED:
                text = f"does not support {self.reason}"
            case Kind.ERRORED:
                text = f"error: {self.message}"
            case Kind.MALFORMED:
                text = f"rows: {self.message}"
            case _:
                text = f"no answer: {self.message}"
        return text[:_MOST_MESSAGE]


def answer_of(response: Response, out_dir: Path) -> Answer:
    """What an adapter sent as one value; its rows are read from the folder of the answer."""
    match response:
        case Hung(limit_s):
            return Answer(Kind.TIMEOUT, message=f"no answer within {limit_s:g} s", caught=False)
        case Broken(why, caught):
            return Answer(Kind.BROKEN, message=why, caught=caught)
    message = response.message
    if "result" in message:
        return _result_of(message, out_dir)
    if "unsupported" in message:
        return Answer(Kind.UNSUPPORTED, reason=str(message["unsupported"]["feature"]))
    if "rejected" in message:
        refusal = message["rejected"]
        detail = str(refusal.get("native", ""))
        return Answer(Kind.REJECTED, reason=str(refusal["reason"]), message=str(refusal["message"]), detail=detail)
    error = message["errored"]
    return Answer(Kind.ERRORED, message=str(error["message"]), detail=str(error.get("traceback", "")))


def _result_of(message: Mapping[str, Any], out_dir: Path) -> Answer:
    warned = frozenset(str(warning["clause"]) for warning in message.get("warnings", []))
    result = message["result"]
    if "rows_file" not in result:
        return Answer(Kind.RESULT, result.get("value"), warned=warned)
    try:
        return Answer(Kind.RESULT, read_answer(out_dir, result["rows_file"]), warned=warned)
    except RowsError as error:
        return Answer(Kind.MALFORMED, message=str(error), warned=warned)


@dataclass(slots=True)
class StepExecutor:
    """An adapter's session or in-process adapter, and the table that it works on.

    `folder`: where the folders of answers and the files of rows go, numbered. `name`: who it is in messages. `names`:
    the instants that its steps answered.
    """

    adapter: AdapterClient
    table: Path
    folder: Path
    limit_s: float
    name: str = ""
    names: InstantNames = field(default_factory=InstantNames)
    _numbers: Iterator[int] = field(default_factory=lambda: itertools.count(1), repr=False)

    @classmethod
    def below(cls, folder: Path, adapter: AdapterClient, limit_s: float, name: str = "") -> Self:
        """A player with everything below one folder, the table in `table`."""
        return cls(adapter, folder / "table", folder, limit_s, name)

    def request(self, op: str, params: Mapping[str, Any], rows: Rows | None = None) -> Answer:
        """The answer to one step; rows that it brings are put into a file of their own."""
        if rows is not None:
            params = {**params, "input": str(self.input_file(rows))}
        out_dir = self.folder / f"out-{next(self._numbers)}"
        out_dir.mkdir(parents=True)
        return answer_of(self.adapter.request(op, self.table, params, out_dir, self.limit_s), out_dir)

    def input_file(self, rows: Rows) -> Path:
        """A new file with these rows."""
        file = self.folder / f"input-{next(self._numbers)}.jsonl"
        file.parent.mkdir(parents=True, exist_ok=True)
        write_rows(file, rows)
        return file

    def check_errors(self) -> tuple[str, ...]:
        """What is wrong with the table as the adapter checks it; a check without an answer is an error itself."""
        answer = self.request(CHECK_TABLE, {})
        if not isinstance(answer.content, list):
            return (answer.describe(),)
        errors = (one for one in answer.content if one.get("severity") == "error")
        return tuple(f"{one['clause']} {one['where']}: {one['message']}" for one in errors)


@dataclass(frozen=True, slots=True)
class Failure:
    """Where answers differ: the step (from 1; 0 makes the table), what was asked, and the differences.

    `actor`: whose step it was, where several take turns. `kind`: what a smaller case must share with this one, to fail
    in the same way; by default the question.
    """

    step: int
    question: str
    differences: tuple[str, ...]
    actor: str = ""
    kind: tuple[str, ...] = ()

    def fails_alike(self, other: "Failure | None") -> bool:
        """Whether another failure is the same one."""
        return other is not None and (self.kind or (self.question,)) == (other.kind or (other.question,))

    def __str__(self) -> str:
        shown = [*self.differences[:_MOST_SHOWN], *(["..."] if len(self.differences) > _MOST_SHOWN else [])]
        place = f"step {self.step} by {self.actor}" if self.actor else f"step {self.step}"
        return "\n".join([f"{place}, {self.question}:", *(f"  {line}" for line in shown)])
