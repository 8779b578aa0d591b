"""The pages of a report: an index that stands alone, and pages beside it that only links lead to."""

import base64
import hashlib
from collections.abc import Collection, Iterator, Sequence
from functools import cache
from pathlib import Path
from urllib.parse import quote

from jinja2 import Environment
from markupsafe import Markup

from hudi_conformance.drawing.svg import legal
from hudi_conformance.drawing.templating import resource, templates
from hudi_conformance.drawing.timeline_style import embedded_style
from hudi_conformance.report.case_page import CasePages, table_drawings
from hudi_conformance.report.clause_page import clauses_page, rules_of
from hudi_conformance.report.clause_text import line_html
from hudi_conformance.report.evidence import Evidence
from hudi_conformance.report.gathering import gather
from hudi_conformance.report.links import CASES, CLAUSES, INDEX, RUNS, TABLES, case_file, table_file
from hudi_conformance.report.page import cases_with_findings, page_of
from hudi_conformance.report.runs import History, history_of, result_files, runs_of
from hudi_conformance.report.runs_drawing import runs_svg
from hudi_conformance.report.slices_style import slices_style
from hudi_conformance.runner.resources import write_text
from hudi_conformance.runner.results import RESULTS_FILE, RunResults
from hudi_conformance.runner.trend import EarlierRun

GENERATOR = "hudi-conformance report"


def write_report(
    results: Path, output_dir: Path, *, all_cases: bool = False, earlier: EarlierRun | None = None
) -> Path:
    """Write the report of a run, or of the last of a folder of runs, and answer the index's path.

    With an earlier run the report of one run has what moved since then.

    Raises:
        OSError: the results cannot be read or the folder cannot be written.
        ValueError: a line of the results is not what the runner writes.

    """
    if not results.is_dir() or (results / RESULTS_FILE).is_file():
        compared: list[tuple[Path, RunResults]] = []
        if earlier is not None and earlier.results is not None:
            now = results / RESULTS_FILE if results.is_dir() else results
            compared = [(earlier.file, earlier.results), *runs_of([now])]
        return write_pages(gather(results), output_dir, all_cases=all_cases, runs=compared)
    files = [file for file in result_files(results) if not file.is_relative_to(output_dir)]
    runs = runs_of(files)
    evidence = gather(runs[-1][0])
    return write_pages(evidence, output_dir, all_cases=all_cases, runs=runs)


def write_pages(
    evidence: Evidence, output_dir: Path, *, all_cases: bool = False, runs: Sequence[tuple[Path, RunResults]] = ()
) -> Path:
    """Write every page of finished evidence into a folder, and answer the index's path."""
    report = Report(evidence, all_cases=all_cases, runs=runs)
    written = set()
    for name, text in report.pages():
        page = output_dir / name
        write_text(page, text)
        written.add(page)
    _remove_stale(output_dir, written)
    return output_dir / INDEX


def _remove_stale(folder: Path, written: Collection[Path]) -> None:
    """Remove pages of an earlier report that this one does not have; what another program wrote stays."""
    for page in [folder / RUNS, *(page for name in (CASES, TABLES) for page in (folder / name).glob("*.html"))]:
        if page not in written and page.is_file() and GENERATOR in page.read_text(encoding="utf-8", errors="replace"):
            page.unlink()


class Report:
    """The pages of one report, each by its path and rendered when it is requested."""

    def __init__(
        self, evidence: Evidence, *, all_cases: bool = False, runs: Sequence[tuple[Path, RunResults]] = ()
    ) -> None:
        findings = cases_with_findings(evidence)
        self.cases = tuple(one.id for one in evidence.questions if all_cases or one.id in findings)
        self.evidence = evidence
        self.page = page_of(evidence, frozenset(self.cases))
        self.history = history_of(runs, self.page) if runs else None

    def pages(self) -> Iterator[tuple[str, str]]:
        """The path and the text of every page."""
        yield INDEX, self.index()
        if self.evidence.clauses:
            yield CLAUSES, self.clauses()
        if self.history:
            yield RUNS, self.runs(self.history)
        yield from self.tables()
        yield from self.case_pages()

    def index(self) -> str:
        """Matrix, findings, and the list of cases."""
        shown = {"page": self.page, "history": self.history, "started": self.evidence.started}
        return rendered("report.html.j2", **shown, has_clauses=bool(self.evidence.clauses))

    def clauses(self) -> str:
        """Every clause with its cases."""
        return rendered("clauses.html.j2", page=clauses_page(self.evidence, self.page))

    def runs(self, history: History) -> str:
        """What came of each run, and what moved between the last two."""
        # The drawings escape whatever results hold.
        pictures = [(name, Markup(runs_svg(name, history.of(name)))) for name in history.names]  # noqa: S704
        return rendered("runs.html.j2", history=history, pictures=pictures)

    def tables(self) -> Iterator[tuple[str, str]]:
        """A page for every golden table."""
        for section in self.page.sections:
            drawn = table_drawings(section.table)
            values = {"section": section, "pictures": drawn, "pages": frozenset(self.cases)}
            yield section.link, rendered("table.html.j2", **values)

    def case_pages(self) -> Iterator[tuple[str, str]]:
        """A page for every case that has one."""
        rules = rules_of(self.evidence)
        pages = CasePages(self.evidence, self.cases)
        for place, case in enumerate(self.cases):
            page = pages.page(place)
            begins = table_file(page.question.begins_with)
            yield case_file(case), rendered("case.html.j2", page=page, rules=rules, begins_link=begins)


def rendered(template: str, **values: object) -> str:
    """A page of a template as text; its policy admits the one script by its hash and no request at all."""
    # Our own files, with nothing of the run inside.
    style, script = Markup(_style()), Markup(_script())  # noqa: S704
    policy = f"default-src 'none'; img-src data:; style-src 'unsafe-inline'; script-src '{_hash(script)}'"
    shared = {"policy": policy, "style": style, "script": script, "generator": GENERATOR}
    return legal(_templates().get_template(template).render(**shared, **values))


@cache
def _templates() -> Environment:
    return templates(__package__, fragment=lambda text: quote(legal(text)), marked=line_html)


@cache
def _style() -> str:
    return resource(__package__, "report.css") + embedded_style() + slices_style()


@cache
def _script() -> str:
    return resource(__package__, "report.js")


def _hash(script: str) -> str:
    return "sha256-" + base64.b64encode(hashlib.sha256(script.encode()).digest()).decode()
