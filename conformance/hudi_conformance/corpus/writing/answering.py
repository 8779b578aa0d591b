"""What the model answers to the steps of a recipe, in the words in which answers are kept."""

from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any

from hudi_adapter.rows import write_rows
from hudi_model.rejection import Rejection
from hudi_model.tables import RELEASED, Readings
from hudi_model.time import tick

from hudi_conformance.bridge import load
from hudi_conformance.bridge.writing import Session
from hudi_conformance.corpus.golden.answers import Expected, Verdict, expected
from hudi_conformance.corpus.golden.cases import GoldenError
from hudi_conformance.corpus.golden.questions import Question
from hudi_conformance.corpus.writing.steps import Draft
from hudi_conformance.runner.case_values import END_PROCESS
from hudi_conformance.runner.normalized_answers import InstantNames

# A savepoint bears the instant of what it saves; for a change of version no action stands, and for a rebuilt table
# stands what its rebuilder likes.
_NO_ACTION = ("savepoint", "delete_savepoint", "upgrade", "downgrade", "recover")


@dataclass(slots=True)
class ModelExecutor:
    """The model's processes on one table; each step has a second of its own."""

    name: str
    folder: Path
    readings: Readings = RELEASED
    names: InstantNames = field(default_factory=InstantNames)
    processes: dict[int, Session] = field(default_factory=dict)
    taken: int = 0

    @property
    def table(self) -> Path:
        """Where the table is."""
        return self.folder / "table"

    def take(self, draft: Draft) -> dict[str, Any] | Expected:
        """What a step must answer: the entries of its `done`, or the answer to a question.

        Raises:
            GoldenError: the model refuses what the recipe does not say it refuses, or the other way round.

        """
        self.taken += 1
        if draft.op == END_PROCESS:
            self.processes.pop(draft.process, None)
            return {}
        return self._written(draft) if draft.writes else self._read_answer(draft)

    def _written(self, draft: Draft) -> dict[str, Any]:
        params = {"now": tick(self.taken * 1000), **self.names.resolved(self._params(draft))}
        try:
            value = self.processes.setdefault(draft.process, Session(readings=self.readings)).run(
                draft.op, self.table, params
            )
        except Rejection as refusal:
            self._hold(draft, refusal.reason.value, str(refusal))
            return {}
        self._hold(draft, None)
        self.names.note(self.taken, value)
        return done_of(draft, value)

    def _read_answer(self, draft: Draft) -> Expected:
        question = Question(f"{self.name}, step {self.taken}", draft.op, "", (), (), self.names.resolved(draft.params))
        found = expected(load(self.table), question)
        self._hold(draft, found.released.reject)
        if found.released.unsupported:
            raise GoldenError(f"{question.id}: the model lacks {found.released.unsupported}")
        return replace(
            found,
            released=self._with_reason(found.released),
            text=self._with_reason(found.text) if found.text else None,
        )

    def _with_reason(self, verdict: Verdict) -> Verdict:
        return (
            replace(verdict, content=self.names.normalized(verdict.op, verdict.content)) if verdict.answers else verdict
        )

    def _params(self, draft: Draft) -> Mapping[str, Any]:
        if draft.rows is None:
            return draft.params
        file = self.folder / f"rows-{self.taken}.jsonl"
        write_rows(file, draft.rows)
        return {**draft.params, "input": str(file)}

    def _hold(self, draft: Draft, reason: str | None, message: str = "") -> None:
        if reason != draft.reject:
            difference = f"{draft.reject or 'nothing'} where the model refuses {reason or 'nothing'}"
            raise GoldenError(
                f"{self.name}, step {self.taken} ({draft.op}): the recipe refuses {difference}: {message}"
            )


def done_of(draft: Draft, value: Mapping[str, Any]) -> dict[str, Any]:
    """What a writing op's answer must say: its action, empty where there was none; or whether there is a plan."""
    if draft.op == "schedule":
        return {"planned": value["requested"] is not None}
    if draft.op in {"write", "commit_write", "execute"} or (
        draft.op == "service" and draft.params["name"] not in _NO_ACTION
    ):
        return {"action": value.get("action") or ""}
    return {}
