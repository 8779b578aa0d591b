"""From a results file and the corpus to the evidence of a report."""

from collections import defaultdict
from collections.abc import Collection, Iterable, Mapping, Sequence
from pathlib import Path
from typing import Any

from hudi_conformance.corpus.trace_cases import FOLDER as TRACE_CASES
from hudi_conformance.corpus.trace_cases import load_trace_cases
from hudi_conformance.report.evidence import Evidence, GoldenTable, Implementation, Outcome, Question
from hudi_conformance.report.gathering_corpus import Shown, question_of, shown_table, writing_table
from hudi_conformance.report.tallies import ALARMING, group_of
from hudi_conformance.runner import cases as corpus
from hudi_conformance.runner.adapters_config import AdapterConfigError, find_adapter
from hudi_conformance.runner.case_values import WRITING
from hudi_conformance.runner.cells import comparison_of
from hudi_conformance.runner.clauses import Clause, load_clauses
from hudi_conformance.runner.expected_failures import load_expected_failures
from hudi_conformance.runner.processes import in_processes
from hudi_conformance.runner.resources import suite_root
from hudi_conformance.runner.results import RunResults, read_results

Line = Mapping[str, Any]


def gather(results_file: Path, root: Path | None = None) -> Evidence:
    """A run's results beside the corpus below `root`; results of cases that are gone are shown as they were recorded.

    Raises:
        ResultsError: the results are absent or do not parse.
        CorpusError: the corpus is absent or does not parse.

    """
    suite = root or suite_root()
    results = read_results(results_file)
    questions, tables = _shown(results, suite)
    return Evidence(
        implementations=tuple(_implementation(name, results, suite) for name in results.header["adapters"]),
        questions=questions,
        tables=tables,
        outcomes=tuple(map(_outcome, results.cases)),
        clauses=_clauses(suite),
        facts=_facts(results),
        started=str(results.header.get("started", "")),
        traces=_traces(suite),
    )


def _implementation(name: str, results: RunResults, root: Path) -> Implementation:
    entry = results.footer.get("implementations", {}).get(name) or {}
    return Implementation(
        name=name,
        product=str(entry.get("name", "")),
        version=str(entry.get("version", "")),
        language=str(entry.get("language", "")),
        expected_failures=_evidence(name, root, {str(line["id"]) for line in results.cases}),
    )


def _evidence(name: str, root: Path, ids: Collection[str]) -> dict[str, str]:
    """Case id to what shows that the implementation differs, where the adapter has a list."""
    try:
        listed = load_expected_failures(find_adapter(name, root).expected_failures)
    except AdapterConfigError:
        return {}
    return {one: failure.evidence for entry, failure in listed.items() for one in corpus.fitting(entry, ids)}


def _shown(results: RunResults, root: Path) -> tuple[tuple[Question, ...], tuple[GoldenTable, ...]]:
    """Questions in the order of the results, and the tables they are about."""
    recorded = {str(line["id"]): line for line in results.cases}
    cases: dict[str, list[corpus.Case]] = defaultdict(list)
    for case in corpus.load_cases(root):
        if case.id in recorded:
            cases[case.table.id].append(case)
    golden = {table.id: table for table in corpus.load_tables(root)}
    questions: dict[str, Question] = {}
    tables = []
    tasks = [(name, golden.get(name), cases[name]) for name in _names(recorded.values())]
    for shown in in_processes(_of_table, tasks, "tables of the report"):
        tables.append(shown.table)
        questions |= {question.id: question for question in shown.questions}
    return tuple(questions.get(name) or _recorded(line) for name, line in recorded.items()), tuple(tables)


def _names(lines: Iterable[Line]) -> list[str]:
    return sorted({str(line.get("table", "")) for line in lines})


def _of_table(named: tuple[str, corpus.GoldenTable | None, Sequence[corpus.Case]]) -> Shown:
    name, table, cases = named
    if table is not None:
        return shown_table(table, cases)
    return Shown(_unknown_table(name), tuple(question_of(case) for case in cases if case.writes))


def _recorded(line: Line) -> Question:
    """A case that the corpus no longer has, as far as its result shows."""
    return Question(
        id=str(line["id"]),
        table=str(line.get("table", "")),
        title=str(line.get("title", "")),
        clauses=tuple(map(str, line.get("clauses", ()))),
        version=str(line.get("table_version", "")),
    )


def _unknown_table(name: str) -> GoldenTable:
    if name.startswith(f"{WRITING}/"):
        return writing_table(name)
    return GoldenTable(name, "A table that the corpus does not hold")


def _outcome(line: Line) -> Outcome:
    verdict = str(line["verdict"])
    reading = line.get("reading")
    return Outcome(
        implementation=str(line["adapter"]),
        case=str(line["id"]),
        verdict=verdict,
        seconds=float(line.get("seconds", 0.0)),
        message=str(line.get("message") or ""),
        differences=tuple(map(str, line.get("differences", ()))),
        followed=(str(reading["clause"]), str(reading["reading"])) if reading else None,
        repro=str(line.get("repro") or "") if group_of(verdict) in ALARMING | {"expected"} else "",
        traceback=str(line.get("traceback") or ""),
        step=int(line.get("step", 0)),
        comparison=comparison_of(line["comparison"]) if line.get("comparison") else None,
    )


def _traces(root: Path) -> tuple[tuple[str, tuple[str, ...]], ...]:
    folder = root / TRACE_CASES
    return tuple((case.id, case.clauses) for case in load_trace_cases(root)) if folder.is_dir() else ()


def _clauses(root: Path) -> tuple[Clause, ...]:
    folder = root / "specs" / "clauses"
    return load_clauses(folder) if folder.is_dir() else ()


def _facts(results: RunResults) -> tuple[tuple[str, str], ...]:
    seconds = results.footer.get("seconds")
    facts = [
        ("Suite", f"hudi-conformance {results.header.get('suite', '')}"),
        ("Protocol", str(results.header.get("protocol", ""))),
        ("Started", str(results.header.get("started", ""))),
        ("Took", "interrupted before its end" if seconds is None else f"{seconds:.1f} s"),
    ]
    for name, entry in results.footer.get("implementations", {}).items():
        facts.append((name, _text_of(entry)))
    return tuple(facts)


def _text_of(line: Line | None) -> str:
    return "did not start" if not line else " ".join(str(line.get(key, "")) for key in ("name", "version", "language"))
