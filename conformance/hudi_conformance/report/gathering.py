"""From a results file and the corpus to the evidence of a report."""

import tomllib
from collections.abc import Iterable, Mapping
from pathlib import Path
from typing import Any

from hudi_model.rejection import Rejection, Unsupported

from hudi_conformance import cases as corpus
from hudi_conformance.adapters_config import AdapterConfigError, find_adapter
from hudi_conformance.bridge import load
from hudi_conformance.bridge.asking import ask
from hudi_conformance.clauses import Clause, load_clauses
from hudi_conformance.expected_failures import load_expected_failures
from hudi_conformance.report.evidence import Evidence, GoldenTable, Implementation, Outcome, Question
from hudi_conformance.report.tallies import ALARMING, group_of
from hudi_conformance.resources import suite_root
from hudi_conformance.results import RunResults, read_results

Line = Mapping[str, Any]


def gather(results_file: Path, root: Path | None = None) -> Evidence:
    """A run's results beside the corpus below `root`; results of cases that are gone are shown as they were recorded.

    Raises:
        ResultsError: the results are absent or do not parse.
        CorpusError: the corpus is absent or does not parse.

    """
    suite = root or suite_root()
    results = read_results(results_file)
    tables = {table.id: table for table in corpus.load_tables(suite)}
    return Evidence(
        implementations=tuple(_implementation(name, results, suite) for name in results.header["adapters"]),
        questions=_questions(results.cases, {case.id: case for case in corpus.load_cases(suite)}),
        tables=tuple(_table(table, tables.get(table)) for table in _tables_asked(results.cases)),
        outcomes=tuple(map(_outcome, results.cases)),
        clauses=_clauses(suite),
        facts=_facts(results),
    )


def _implementation(name: str, results: RunResults, root: Path) -> Implementation:
    said = results.footer.get("implementations", {}).get(name) or {}
    return Implementation(
        name=name,
        product=str(said.get("name", "")),
        version=str(said.get("version", "")),
        language=str(said.get("language", "")),
        expected_failures=_evidence(name, root),
    )


def _evidence(name: str, root: Path) -> dict[str, str]:
    """Case id to what shows that the implementation differs, where the adapter has a list."""
    try:
        listed = load_expected_failures(find_adapter(name, root).expected_failures)
    except AdapterConfigError:
        return {}
    return {failure.id: failure.evidence for failure in listed.values()}


def _questions(lines: Iterable[Line], known: Mapping[str, corpus.Case]) -> tuple[Question, ...]:
    recorded = {str(line["id"]): line for line in lines}
    return tuple(_question(known[name]) if name in known else _recorded(line) for name, line in recorded.items())


def _question(case: corpus.Case) -> Question:
    return Question(
        id=case.id,
        table=case.table.id,
        title=case.title,
        clauses=case.clauses,
        given=case.given,
        when=case.when,
        then=case.then,
        expects=" then ".join(map(_expects, case.steps)),
    )


def _expects(step: corpus.Step) -> str:
    if step.is_open:
        return f"{step.op}, open"
    if step.reasons:
        return f"{step.op} is refused with {' or '.join(step.reasons)}"
    readings = [expectation.reading for expectation in step.expectations if expectation.reading]
    said = f"{step.op} answers" + (f" by either reading ({', '.join(readings)})" if readings else "")
    return f"{said}, warning of {', '.join(step.warnings)}" if step.warnings else said


def _recorded(line: Line) -> Question:
    """A case that the corpus no longer has, as far as its result tells."""
    return Question(
        id=str(line["id"]),
        table=str(line.get("table", "")),
        title=str(line.get("title", "")),
        clauses=tuple(map(str, line.get("clauses", ()))),
    )


def _tables_asked(lines: Iterable[Line]) -> list[str]:
    return sorted({str(line.get("table", "")) for line in lines})


def _table(name: str, table: corpus.GoldenTable | None) -> GoldenTable:
    if table is None:
        return GoldenTable(name, "A table that the corpus does not hold")
    made = tomllib.loads((table.folder / "table.toml").read_text(encoding="utf-8"))
    timeline, refusal = _timeline(table.folder / "table")
    return GoldenTable(
        id=table.id,
        title=table.title,
        version=str(table.version),
        type=str(made.get("table_type", "")),
        written_by=str(made.get("written_by", "")),
        how=str(made.get("how", "")),
        features=table.features,
        timeline=timeline,
        refusal=refusal,
    )


def _timeline(folder: Path) -> tuple[tuple[Mapping[str, Any], ...] | None, str]:
    """What the model lists, or why it refuses to."""
    try:
        return tuple(ask(load(folder), "list_timeline", {}).content), ""
    except Rejection as rejection:
        return None, f"the model refuses the table with {rejection}."
    except Unsupported as lack:
        return None, f"{lack}."


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
    )


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
    for name, said in results.footer.get("implementations", {}).items():
        facts.append((name, _said(said)))
    return tuple(facts)


def _said(said: Line | None) -> str:
    return "did not start" if not said else " ".join(str(said.get(key, "")) for key in ("name", "version", "language"))
