"""What the corpus says of cases and tables, for a report: questions in words, timelines and files by the model."""

import json
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, replace
from typing import Any

from hudi_format.compat import tomllib
from hudi_model.rejection import Rejection, Unsupported
from hudi_model.tables import Table

from hudi_conformance.bridge import load
from hudi_conformance.bridge.operations import evaluate
from hudi_conformance.corpus.mutants import MUTANTS
from hudi_conformance.report.evidence import CaseStep, GoldenTable, Question
from hudi_conformance.report.file_layout import DrawnGroup, files_read, layout_of
from hudi_conformance.runner import cases as corpus
from hudi_conformance.runner.archive import unpacked
from hudi_conformance.runner.case_values import READER, SERVICER, WRITER, WRITING

_ROLES: Mapping[str, str] = {WRITER: "the writer", SERVICER: "the table service", READER: "the reader"}


@dataclass(frozen=True, slots=True)
class Shown:
    """A golden table with the questions about it."""

    table: GoldenTable
    questions: tuple[Question, ...]


def shown_table(table: corpus.GoldenTable, cases: Iterable[corpus.Case]) -> Shown:
    """A golden table as the model sees it, and its cases with the files that each answer is made of."""
    made = tomllib.loads((table.folder / "table.toml").read_text(encoding="utf-8"))
    state = load(unpacked(table.folder))
    timeline, refusal = _timeline(state)
    values = GoldenTable(
        id=table.id,
        title=table.title,
        version=str(table.version),
        type=str(made.get("table_type", "")),
        written_by=str(made.get("written_by", "")),
        how=str(made.get("how", "")),
        features=table.features,
        timeline=timeline,
        refusal=refusal,
        groups=_groups(state),
    )
    return Shown(values, tuple(_with_files(question_of(case), case, state) for case in cases))


def writing_table(name: str) -> GoldenTable:
    """What stands in place of a golden table for cases that write."""
    kind = name.removeprefix(f"{WRITING}/").replace("_", " ")
    return GoldenTable(
        name, f"Cases that write: {kind}", how="Each case makes its table, or goes on with a copy of one."
    )


def question_of(case: corpus.Case) -> Question:
    """A case in words."""
    return Question(
        id=case.id,
        table=case.table.id,
        title=case.title,
        clauses=case.clauses,
        given=case.given,
        when=case.when,
        then=case.then,
        version=str(case.table.version),
        features=case.table.features,
        kills=tuple((name, MUTANTS[name].sentence if name in MUTANTS else "") for name in case.kills),
        steps=tuple(_case_step(step, alone=not case.writes) for step in case.steps),
        begins_with=case.begins_with.id if case.begins_with else "",
    )


def _case_step(step: corpus.Step, *, alone: bool) -> CaseStep:
    """One step; who takes it is informed where there is more than one."""
    process = f", process {step.process}" if step.process > 1 else ""
    given = {**step.params, **({"input": step.input.name} if step.input else {})}
    return CaseStep(
        op=step.op,
        params=json.dumps(given, ensure_ascii=False) if given else "",
        who="" if alone else f"{_ROLES.get(step.by, step.by)}{process}",
        must=_must(step),
        expected=tuple((one.reading or "", one.answer) for one in step.expectations),
    )


def _must(step: corpus.Step) -> str:
    if step.reasons:
        return f"is refused with {' or '.join(step.reasons)}"
    if step.writes:
        return ", ".join(f"{name} is {json.dumps(value)}" for name, value in step.done.items()) or "is done"
    if step.is_open:
        return "is open: no answer is settled"
    readings = [one.reading for one in step.expectations if one.reading]
    text = "answers" + (f" by either reading ({', '.join(readings)})" if readings else "")
    return f"{text}, with a warning of {', '.join(step.warnings)}" if step.warnings else text


def _with_files(question: Question, case: corpus.Case, state: Table) -> Question:
    steps = (
        replace(case_step, read=files_read(state, step.op, step.params))
        for case_step, step in zip(question.steps, case.steps, strict=True)
    )
    return replace(question, steps=tuple(steps))


def _timeline(state: Table) -> tuple[tuple[Mapping[str, Any], ...] | None, str]:
    """What the model lists, or why it refuses to."""
    try:
        return tuple(evaluate(state, "list_timeline", {}).content), ""
    except Rejection as rejection:
        return None, f"the model refuses the table with {rejection}."
    except Unsupported as lack:
        return None, f"{lack}."


def _groups(state: Table) -> tuple[DrawnGroup, ...]:
    try:
        return layout_of(state)
    except (Rejection, Unsupported):
        return ()
