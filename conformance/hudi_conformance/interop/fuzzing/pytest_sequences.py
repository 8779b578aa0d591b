"""Histories as pytest items `fuzz::seed-N`, each carried out by the one adapter of the run."""

from collections.abc import Iterator
from contextlib import ExitStack
from pathlib import Path
from typing import Any

import pytest

from hudi_conformance.interop.fuzzing.checking import Found, Summary, check_cases, two_sides
from hudi_conformance.interop.fuzzing.command import ALL_WRITES, ATTEMPTS
from hudi_conformance.interop.fuzzing.running import Options, Side
from hudi_conformance.interop.fuzzing.strategies import write_cases
from hudi_conformance.runner.adapters_config import AdapterConfig, AdapterConfigError
from hudi_conformance.runner.pytest_cases import chosen_adapter, take_case_arguments
from hudi_conformance.runner.resources import suite_root

PREFIX = "fuzz"


class SequenceFailure(Exception):  # noqa: N818 - what pytest prints as the kind of failure
    """A history with an answer that is not the model's; the text shows the shortest one."""


def prepare_histories(config: pytest.Config) -> None:
    """Register the histories of a run.

    Raises:
        UsageError: not exactly one adapter, or an unknown one.

    """
    if not config.getoption("--conformance"):
        take_case_arguments(config)
    try:
        adapter = chosen_adapter(config, suite_root())
    except AdapterConfigError as error:
        raise pytest.UsageError(str(error)) from error
    first = config.getoption("--conformance-fuzz-seed")
    seeds = range(first, first + config.getoption("--conformance-fuzz"))
    config.pluginmanager.register(WriteSequences(adapter, seeds), PREFIX)


class WriteSequences:
    """The registered plugin: adds the histories and keeps the adapter."""

    def __init__(self, adapter: AdapterConfig, seeds: range) -> None:
        self.adapter, self.seeds = adapter, seeds
        self._cases = write_cases(ALL_WRITES)
        self._stack = ExitStack()
        self._sides: tuple[Side, Side] | None = None

    def carry_out(self, seed: int) -> Found | Summary:
        """One history: how it failed, or what came of it. The adapter starts with the first."""
        if self._sides is None:
            self._sides = self._stack.enter_context(two_sides(self.adapter, suite_root()))
        came = list(check_cases(self._cases, [seed], self._sides, Options(), seconds=float("inf"), attempts=ATTEMPTS))
        return came[0]

    @pytest.hookimpl(tryfirst=True)
    def pytest_collection_modifyitems(self, session: pytest.Session, items: list[pytest.Item]) -> None:
        """Add the histories."""
        collector = SequenceCollector.from_parent(session, name=PREFIX, nodeid=PREFIX, sequences=self)
        items.extend(session.genitems(collector))

    def pytest_report_header(self) -> str:
        """Who carries them out."""
        return f"hudi-conformance: {self.adapter.name}, {len(self.seeds)} histories from seed {self.seeds.start}"

    @pytest.hookimpl(trylast=True)
    def pytest_sessionfinish(self) -> None:
        """End the adapter."""
        self._stack.close()


class SequenceCollector(pytest.Collector):
    """All histories of a run."""

    def __init__(self, sequences: WriteSequences, **arguments: Any) -> None:
        super().__init__(**arguments)
        self.sequences = sequences

    def collect(self) -> Iterator["SequenceItem"]:
        """One item a seed."""
        for seed in self.sequences.seeds:
            yield SequenceItem.from_parent(self, name=f"seed-{seed}", seed=seed, sequences=self.sequences)


class SequenceItem(pytest.Item):
    """The history of one seed."""

    def __init__(self, seed: int, sequences: WriteSequences, **arguments: Any) -> None:
        super().__init__(**arguments)
        self.seed, self.sequences = seed, sequences

    def runtest(self) -> None:
        """Carry it out; what is unsupported is skipped."""
        came = self.sequences.carry_out(self.seed)
        if isinstance(came, Found):
            raise SequenceFailure(came.described(self.sequences.adapter.name))
        if came.unsupported:
            pytest.skip(f"unsupported: {', '.join(came.unsupported)}")

    def repr_failure(self, excinfo: pytest.ExceptionInfo[BaseException], style: Any = None) -> Any:
        """The shortest failing history instead of a traceback of the suite's own code."""
        if isinstance(excinfo.value, (SequenceFailure, AdapterConfigError)):
            return str(excinfo.value)
        return super().repr_failure(excinfo, style)

    def reportinfo(self) -> tuple[Path, None, str]:
        """The seed."""
        return Path(PREFIX), None, f"history of seed {self.seed}"
