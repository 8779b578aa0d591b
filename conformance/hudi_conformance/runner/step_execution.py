"""A writing case played: each step put to who takes it, judged, and at the end read back by everybody who reads."""

from collections.abc import Iterator, Mapping
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

from hudi_adapter.rows import write_rows

from hudi_conformance.runner.adapter_pool import Asked, Cast
from hudi_conformance.runner.archive import unpack
from hudi_conformance.runner.case_values import END_PROCESS, READER, WRITER, Case, Step
from hudi_conformance.runner.instant_order import TimeRules
from hudi_conformance.runner.judging import ReadingClauses, judge
from hudi_conformance.runner.normalized_answers import AbsentTimeError, StepTimes
from hudi_conformance.runner.session import Heard, Reply
from hudi_conformance.runner.verdicts import Outcome, Verdict

_CHECK = "check_table"


@dataclass(frozen=True, slots=True)
class Judging:
    """How long a step may take, and which clause of a case has two readings."""

    step_limit_s: float
    reading_clause: ReadingClauses


def play(case: Case, cast: Cast, folder: Path, judging: Judging) -> Outcome:
    """The outcome of a writing case: of the first step, reading back or check that does not pass, or of the last."""
    game = Play(case, cast, folder, judging)
    outcome = game.written()
    if outcome.verdict is not Verdict.PASS:
        return outcome
    back = (told for _, told in game.read_back() if told.verdict not in {Verdict.PASS, Verdict.UNSUPPORTED})
    return next(back, None) or game.checked() or outcome


class Play:
    """One case on one table, below an empty folder."""

    def __init__(self, case: Case, cast: Cast, folder: Path, judging: Judging) -> None:
        self.case, self.cast, self.folder, self.judging = case, cast, folder, judging
        self.table = folder / "table"
        self.times = StepTimes()
        self._rules = TimeRules(case.table.version)
        self._asked = 0
        self._started: dict[str, str] = {}

    def written(self) -> Outcome:
        """All steps in turn, up to the first that does not pass."""
        lacking = self._lacking()
        if lacking:
            return Outcome(self.case, Verdict.UNSUPPORTED, lacking)
        self._lay_out()
        outcome = Outcome(self.case, Verdict.PASS)
        for number, step in enumerate(self.case.steps, start=1):
            try:
                judged = self._step(number, step)
            except AbsentTimeError as error:
                judged = _placed(Outcome(self.case, Verdict.FAIL, str(error)), f"step {number} ({step.op})")
            outcome = replace(judged, reading=judged.reading or outcome.reading, step=number)
            if outcome.verdict is not Verdict.PASS:
                break
        return outcome

    def read_back(self) -> Iterator[tuple[str, Outcome]]:
        """What each other reader answers to the questions about the last state; those that it lacks are left out."""
        for name, reader in self.cast.readers():
            yield name, self._read_by(name, reader)

    def _read_by(self, name: str, reader: Asked) -> Outcome:
        """The first answer that does not pass; unsupported where there is none at all."""
        found = Outcome(self.case, Verdict.UNSUPPORTED, "no question of the last state")
        for number, step in self._last_questions():
            told = replace(self._judged(step, reader), step=number)
            if told.verdict is not Verdict.UNSUPPORTED:
                found = _placed(told, f"step {number} ({step.op}) asked of {name}")
            if told.verdict not in {Verdict.PASS, Verdict.UNSUPPORTED}:
                break
        return found

    def checked(self) -> Outcome | None:
        """What is wrong with the table by who checks it; None where nothing is but what it came with."""
        checker = self.cast.checker()
        if checker is None:
            return None
        heard, _ = self._ask(checker, Step(_CHECK, {}), {})
        found = _errors(heard)
        if found and self.case.begins_with:
            before, out_dir = self.folder / "before", self.folder / "out-before"
            unpack(self.case.begins_with.folder, before)
            out_dir.mkdir(parents=True)
            known = _errors(checker.ask(_CHECK, before, {}, out_dir, self.judging.step_limit_s))
            found = tuple(one for one in found if one not in known)
        return Outcome(self.case, Verdict.FAIL, "check_table finds errors", differences=found) if found else None

    def _lacking(self) -> str:
        """The first op that who would be asked does not have."""
        for step in self.case.steps:
            if step.op != END_PROCESS and not _has(self._player(step), step.op):
                return f"op {step.op}"
        return ""

    def _player(self, step: Step) -> Asked:
        """Who takes a step: the writer where a reader lacks the question, the checker where an adapter has no check."""
        player = self.cast.player(step.by, step.process)
        if step.by == READER and not _has(player, step.op):
            player = self.cast.player(WRITER, step.process)
        if step.op == _CHECK and not _has(player, _CHECK):
            return self.cast.checker() or player
        return player

    def _lay_out(self) -> None:
        if self.case.begins_with:
            unpack(self.case.begins_with.folder, self.table)
        else:
            self.table.mkdir(parents=True)

    def _step(self, number: int, step: Step) -> Outcome:
        player = self._player(step)
        if step.op == END_PROCESS:
            player.kill()
            return Outcome(self.case, Verdict.PASS)
        if not step.writes:
            return _placed(self._judged(step, player), f"step {number} ({step.op})")
        params = self.times.resolved(self._params(step))
        heard, out_dir = self._ask(player, step, params)
        outcome = judge(self.case, step, heard, out_dir, self.judging.reading_clause)
        value = _value(heard)
        if outcome.verdict is Verdict.PASS and value is not None:
            wrong = self._rules.broken(step.op, params, value)
            self.times.note(number, value)
            if wrong:
                outcome = Outcome(self.case, Verdict.FAIL, differences=wrong)
        return _placed(outcome, f"step {number} ({step.op})")

    def _judged(self, step: Step, player: Asked) -> Outcome:
        heard, out_dir = self._ask(player, step, self.times.resolved(self._params(step)))
        return judge(self.case, step, heard, out_dir, self.judging.reading_clause, tell=self.times.told)

    def _params(self, step: Step) -> Mapping[str, Any]:
        if step.input is None:
            return step.params
        rows = self.folder / f"{step.input.name.replace('/', '-')}.jsonl"
        if not rows.is_file():
            write_rows(rows, step.input.content)
        return {**step.params, "input": str(rows)}

    def _ask(self, player: Asked, step: Step, params: Mapping[str, Any]) -> tuple[Heard, Path]:
        self._asked += 1
        out_dir = self.folder / f"out-{self._asked}"
        out_dir.mkdir(parents=True)
        return player.ask(step.op, self.table, params, out_dir, self.judging.step_limit_s), out_dir

    def _last_questions(self) -> Iterator[tuple[int, Step]]:
        """The questions after the last step that changes the table: who reads may answer them."""
        steps = list(enumerate(self.case.steps, start=1))
        last = max((number for number, step in steps if step.writes), default=0)
        return ((number, replace(step, by=READER)) for number, step in steps[last:])


def _has(player: Asked, op: str) -> bool:
    """Whether an adapter has an op, by what it says when it starts; one that says nothing of it may have all."""
    if player.started is None:
        player.start()
    ops = (player.started or {}).get("ops")
    return ops is None or op in ops


def _placed(outcome: Outcome, place: str) -> Outcome:
    """An outcome that tells where it came about, unless all is well."""
    if outcome.verdict in {Verdict.PASS, Verdict.UNSUPPORTED}:
        return outcome
    return replace(outcome, message=f"{place}: {outcome.message}" if outcome.message else place)


def _value(heard: Heard) -> Mapping[str, Any] | None:
    value = heard.message.get("result", {}).get("value") if isinstance(heard, Reply) else None
    return value if isinstance(value, Mapping) else None


def _errors(heard: Heard) -> tuple[str, ...]:
    """The errors among what a check found; a check that does not answer is one."""
    found = heard.message.get("result", {}).get("value") if isinstance(heard, Reply) else None
    if not isinstance(found, list):
        return (f"no answer: {str(heard)[:500]}",)
    return tuple(f"{one['clause']} {one['where']}: {one['message']}" for one in found if one.get("severity") == "error")
