"""The corpus as pytest items `conformance::<table>::<case>`, asked of one adapter process per test process."""

import os
from collections.abc import Iterator, Sequence
from contextlib import ExitStack
from dataclasses import replace
from itertools import groupby
from pathlib import Path
from typing import Any

import pytest

from hudi_conformance.runner.adapter_pool import Roles, roles_of
from hudi_conformance.runner.adapters_config import AdapterConfig, AdapterConfigError, adapter_names, find_adapter
from hudi_conformance.runner.cases import ID_PREFIX, Case, Selection, load_cases
from hudi_conformance.runner.failure_text import failure_text, headline
from hudi_conformance.runner.reading_clauses import ClauseBook
from hudi_conformance.runner.resources import CorpusError, suite_root
from hudi_conformance.runner.running import AdapterRun, RunOptions
from hudi_conformance.runner.scores import CheckedRequirements, Requirements, Score, shown_percent
from hudi_conformance.runner.selecting import select
from hudi_conformance.runner.suite import Lists, lists_of, require_runnable_cases
from hudi_conformance.runner.verdicts import Outcome, Verdict
from hudi_conformance.runner.work_folders import work_folder

READING = "hudi_conformance_reading"
_SKIPPED = {Verdict.UNSUPPORTED: "unsupported: ", Verdict.OPEN: "open question: ", Verdict.SKIPPED: "skipped: "}


class ConformanceFailure(Exception):  # noqa: N818 - what pytest prints as the kind of failure
    """A case with a bad verdict; the text is the failure block."""


def prepare(config: pytest.Config) -> None:
    """Read the corpus and take the arguments that name cases out of pytest's paths.

    Raises:
        UsageError: not exactly one adapter, an unknown adapter, an absent or empty corpus.

    """
    named = take_case_arguments(config)
    try:
        root = suite_root()
        adapter = chosen_adapter(config, root)
        corpus = load_cases(root)
        cases = select(corpus, _selection(config, named, corpus))
        lists = lists_of(adapter, corpus, _list_file(config, "expected"), _list_file(config, "skip"))
        require_runnable_cases(cases, [lists])
        requirements = _requirements(config).checked(corpus)
        requirements.reject_incomparable([adapter.name])
        roles = roles_of(root, config.getoption("--conformance-servicer"), config.getoption("--conformance-reader"))
    except (CorpusError, AdapterConfigError) as error:
        raise pytest.UsageError(str(error)) from error
    limit_s = config.getoption("--conformance-limit")
    book = ClauseBook(root)
    plugin = Conformance(adapter, cases, book, lists, limit_s=limit_s, roles=roles, requirements=requirements)
    config.pluginmanager.register(plugin, ID_PREFIX)


def chosen_adapter(config: pytest.Config, root: Path) -> AdapterConfig:
    """The one adapter of the run.

    Raises:
        UsageError: not exactly one is named.
        AdapterConfigError: it is unknown.

    """
    given = config.getoption("--adapter")
    if len(given) > 1:
        raise pytest.UsageError(f"--conformance takes exactly one --adapter, not {len(given)}")
    return find_adapter(given[0], root) if given else _configured_adapter(config, root)


def take_case_arguments(config: pytest.Config) -> list[str]:
    """Case ids among the arguments; what is left are paths, none unless the user gave some."""
    if config.args_source is not pytest.Config.ArgsSource.ARGS:
        config.args = []
        return []
    named = [argument for argument in config.args if argument.startswith(f"{ID_PREFIX}::")]
    config.args = [argument for argument in config.args if argument not in named]
    return named


def _configured_adapter(config: pytest.Config, root: Path) -> AdapterConfig:
    """The adapter that pytest's configuration names; files are sought, and commands run, where that lies."""
    configured = str(config.getini("conformance_adapter")).strip()
    if not configured:
        raise pytest.UsageError(
            "--conformance takes exactly one --adapter, or a line `conformance_adapter = ...` in pytest's configuration"
        )
    file = Path(os.path.relpath(config.rootpath / configured))
    if configured.endswith(".toml") and file.is_file():
        return find_adapter(str(file), root)
    adapter = find_adapter(configured, root)
    return adapter if configured in adapter_names(root) else replace(adapter, folder=config.rootpath)


def _list_file(config: pytest.Config, which: str) -> Path | None:
    given = config.getoption(f"--conformance-{which}")
    configured = str(config.getini(f"conformance_{which}")).strip()
    if given:
        return Path(given)
    return config.rootpath / configured if configured else None


def _selection(config: pytest.Config, named: Sequence[str], corpus: Sequence[Case]) -> Selection:
    ids = {case.id for case in corpus}
    arguments = [argument if argument in ids else f"{argument}::*" for argument in named]
    return Selection(
        areas=tuple(config.getoption("--conformance-area")),
        clauses=tuple(config.getoption("--conformance-clause")),
        features=tuple(config.getoption("--conformance-feature")),
        table_versions=tuple(config.getoption("--conformance-table-version")),
        cases=(*config.getoption("--conformance-case"), *arguments),
    )


def _requirements(config: pytest.Config) -> Requirements:
    not_below = config.getoption("--conformance-not-below")
    return Requirements(
        areas=tuple(config.getoption("--conformance-require")),
        minimum=config.getoption("--conformance-minimum"),
        not_below=Path(not_below) if not_below else None,
    )


class Conformance:
    """The registered plugin: adds the cases, asks the adapter, watches over readings."""

    def __init__(
        self,
        adapter: AdapterConfig,
        cases: Sequence[Case],
        book: ClauseBook,
        lists: Lists,
        *,
        limit_s: float,
        roles: Roles,
        requirements: CheckedRequirements,
    ) -> None:
        self.adapter, self.cases, self.book = adapter, cases, book
        self._lists, self._limit_s, self.roles = lists, limit_s, roles
        self._stack = ExitStack()
        self._run: AdapterRun | None = None
        self._readings: dict[str, dict[str, str]] = {}
        self._requirements = requirements
        self._requested = self._decided = 0
        self._by_id = {case.id: case for case in cases}
        self._outcomes: dict[str, Outcome] = {}

    def outcome(self, case: Case) -> Outcome:
        """Ask the adapter, whose process starts with the first question."""
        return self._started_run().outcome(case)

    def _started_run(self) -> AdapterRun:
        if self._run is None:
            work = self._stack.enter_context(work_folder("hudi-conformance-"))
            options = RunOptions(Path(work), self._limit_s, roles=self.roles)
            run = AdapterRun(self.adapter, options, self.book.reading_clause, self._lists.expected, self._lists.skips)
            self._run = self._stack.enter_context(run)
        return self._run

    @pytest.hookimpl(tryfirst=True)
    def pytest_runtestloop(self, session: pytest.Session) -> None:
        """Start the adapter before the first case is asked; with several workers this is done once for all.

        Raises:
            UsageError: it names an op that the protocol does not have.

        """
        config = session.config
        shared = getattr(config.option, "dist", "no") != "no"
        chosen = shared or any(isinstance(item, CaseItem) for item in session.items)
        if config.option.collectonly or hasattr(config, "workerinput") or not chosen:
            return
        try:
            self._started_run().begin()
        except AdapterConfigError as error:
            raise pytest.UsageError(str(error)) from error
        if shared:
            # The workers ask.
            self._stack.close()
            self._run = None

    def pytest_report_header(self) -> str:
        """Who is asked, and how much."""
        return f"hudi-conformance: {self.adapter.name}, {len(self.cases)} cases"

    @pytest.hookimpl(tryfirst=True)
    def pytest_collection_modifyitems(self, session: pytest.Session, items: list[pytest.Item]) -> None:
        """Add the cases, before other plugins select and order."""
        collector = CorpusCollector.from_parent(session, name=ID_PREFIX, nodeid=ID_PREFIX, conformance=self)
        items.extend(session.genitems(collector))

    def pytest_runtest_logreport(self, report: pytest.TestReport) -> None:
        """Note the readings followed, and whether anything is judged; with several workers only here do they meet."""
        if report.nodeid.startswith(f"{ID_PREFIX}::") and (report.when == "call" or report.failed):
            self._requested += 1
            self._decided += not _is_not_queried(report)
            if report.nodeid in self._by_id:
                self._outcomes[report.nodeid] = _outcome_of(self._by_id[report.nodeid], report)
        for name, value in report.user_properties:
            if name == READING and report.when == "call":
                clause, _, reading = str(value).partition(" ")
                self._readings.setdefault(clause, {}).setdefault(reading, report.nodeid)

    @pytest.hookimpl(trylast=True)
    def pytest_sessionfinish(self, session: pytest.Session) -> None:
        """End the adapter; mixed readings between workers fail the run."""
        self._stack.close()
        failed = self._mixed() or (self._outcomes and self._unmet())
        if failed and session.exitstatus == pytest.ExitCode.OK:
            session.exitstatus = pytest.ExitCode.TESTS_FAILED
        if self._requested and not self._decided and session.exitstatus == pytest.ExitCode.OK:
            session.exitstatus = pytest.ExitCode.USAGE_ERROR

    def pytest_terminal_summary(self, terminalreporter: Any) -> None:
        """Which readings the implementation follows."""
        for clause, readings in sorted(self._readings.items()):
            terminalreporter.write_line(f"{clause}: follows {' and '.join(sorted(readings))}")
        for clause in self._mixed():
            places = ", ".join(f"{reading} in {case}" for reading, case in sorted(self._readings[clause].items()))
            terminalreporter.write_line(f"FAILED mixed readings of {clause}: {places}", red=True)
        if self._outcomes:
            score = Score.of(self._outcomes.values())
            if score.percent is not None:
                share = f"{score.passed} of {score.answered} answered cases pass ({shown_percent(score.percent)} %)"
                terminalreporter.write_line(f"{self.adapter.name}: {share}")
            for line in self._unmet():
                terminalreporter.write_line(f"FAILED {line}", red=True)
        if self._requested and not self._decided:
            text = f"FAILED {self.adapter.name} supports none of the {self._requested} cases, so nothing is judged"
            terminalreporter.write_line(text, red=True)

    def _unmet(self) -> tuple[str, ...]:
        return self._requirements.unmet(self.adapter.name, tuple(self._outcomes.values()))

    def _mixed(self) -> list[str]:
        return sorted(clause for clause, readings in self._readings.items() if len(readings) > 1)


def _outcome_of(case: Case, report: pytest.TestReport) -> Outcome:
    """The outcome that a report stands for; with several workers no other comes here."""
    if hasattr(report, "wasxfail"):
        return Outcome(case, Verdict.EXPECTED_FAIL)
    if report.skipped:
        why = _why_skipped(report)
        verdict = next((one for one, begin in _SKIPPED.items() if why.startswith(begin)), Verdict.SKIPPED)
        return Outcome(case, verdict, why.removeprefix(_SKIPPED[verdict]))
    return Outcome(case, Verdict.PASS if report.passed else Verdict.FAIL)


def _why_skipped(report: pytest.TestReport) -> str:
    why = report.longrepr[2] if report.skipped and isinstance(report.longrepr, tuple) else ""
    return why.removeprefix("Skipped: ")


def _is_not_queried(report: pytest.TestReport) -> bool:
    """Whether a case was skipped as unsupported, or by a list."""
    return _why_skipped(report).startswith((_SKIPPED[Verdict.UNSUPPORTED], _SKIPPED[Verdict.SKIPPED]))


class CorpusCollector(pytest.Collector):
    """The whole corpus."""

    def __init__(self, conformance: Conformance, **arguments: Any) -> None:
        super().__init__(**arguments)
        self.conformance = conformance

    def collect(self) -> Iterator["TableCollector"]:
        """Golden tables with selected cases; areas of cases that write."""
        for name, cases in groupby(self.conformance.cases, key=lambda case: case.table.id):
            yield TableCollector.from_parent(self, name=name, cases=tuple(cases), conformance=self.conformance)


class TableCollector(pytest.Collector):
    """One golden table, or one area of cases that write."""

    def __init__(self, cases: Sequence[Case], conformance: Conformance, **arguments: Any) -> None:
        super().__init__(**arguments)
        self.cases, self.conformance = cases, conformance

    def collect(self) -> Iterator["CaseItem"]:
        """Its selected cases."""
        for case in self.cases:
            yield CaseItem.from_parent(self, name=case.name, case=case, conformance=self.conformance)


class CaseItem(pytest.Item):
    """One case."""

    def __init__(self, case: Case, conformance: Conformance, **arguments: Any) -> None:
        super().__init__(**arguments)
        self.case, self.conformance = case, conformance
        # A JUnit report has them as properties of the test case.
        self.user_properties += [("clauses", " ".join(case.clauses)), ("area", case.area), ("title", case.title)]

    def runtest(self) -> None:
        """Ask, and turn the verdict into pytest's own terms."""
        conformance = self.conformance
        outcome = conformance.outcome(self.case)
        if outcome.verdict in _SKIPPED:
            pytest.skip(f"{_SKIPPED[outcome.verdict]}{outcome.message}")
        if outcome.verdict is Verdict.EXPECTED_FAIL:
            pytest.xfail(outcome.message)
        if outcome.verdict is not Verdict.PASS:
            roles = conformance.roles
            # Summaries and JUnit files of pytest show the first line alone.
            first = headline(outcome.verdict, outcome.message, outcome.differences)
            text = failure_text(outcome, conformance.adapter, conformance.book, roles=roles)
            raise ConformanceFailure(f"{first}\n{text}")
        if outcome.reading:
            self.user_properties.append((READING, " ".join(outcome.reading)))

    def repr_failure(self, excinfo: pytest.ExceptionInfo[BaseException], style: Any = None) -> Any:
        """The failure block instead of a traceback of the suite's own code."""
        if isinstance(excinfo.value, (ConformanceFailure, CorpusError, AdapterConfigError)):
            return str(excinfo.value)
        return super().repr_failure(excinfo, style)

    def reportinfo(self) -> tuple[Path, None, str]:
        """Where the case stands, and its title."""
        return self.case.file, None, f"{self.case.name}: {self.case.title}"
