"""Which cases and tests reach which lines of the modules that are mutated: only these can tell a mutant.

Made anew for every run, below build/: nothing of it is kept.
"""

import json
import sys
import threading
from collections.abc import Callable, Iterable, Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from tempfile import TemporaryDirectory
from types import FrameType
from typing import Any, Final, TypeAlias

import pytest
from hudi_conformance.runner.cases import load_cases
from hudi_conformance.runner.processes import in_processes
from mutation_targets import BUILD, ENGINE, MODULES, ROOT, test_files

Line: TypeAlias = tuple[str, int]
_WRITING: Final = (
    *("archival", "cleaning", "clustering", "compaction", "conflicts", "log_compaction", "phases", "single", "streams"),
)
_FILE: Final = BUILD / "reached.json"
PYTEST: Final = (
    *("-q", "-x", "--no-header", "-p", "no:xdist", "-p", "no:cacheprovider"),
    *("-m", "not spark and not peers", "-W", "ignore::pytest.PytestAssertRewriteWarning"),
)
"""One process, up to the first failure, nothing that needs Java."""


@dataclass(frozen=True, slots=True)
class Reached:
    """The lines that a case or a test runs; of a case its area, and what the engine as it is makes of it."""

    name: str
    lines: frozenset[Line]
    answer: str = ""
    area: str = ""


class Tracer:
    """Collects the lines that run in the modules that are mutated."""

    def __init__(self, package: Path = ENGINE / "hudi_spark") -> None:
        self._modules = {str(package / module): module for module in MODULES}
        self._found: set[Line] = set()

    @contextmanager
    def collecting(self) -> Iterator[set[Line]]:
        """The set that is filled while the context lasts."""
        self._found = set()
        before = sys.gettrace()
        sys.settrace(self._entered)
        threading.settrace(self._entered)
        try:
            yield self._found
        finally:
            sys.settrace(before)
            threading.settrace(before)  # type: ignore[arg-type]

    def _entered(self, frame: FrameType, _event: str, _given: Any) -> Callable[..., Any] | None:
        module = self._modules.get(frame.f_code.co_filename)
        if module is None:
            return None
        self._found.add((module, frame.f_lineno))

        def line(frame: FrameType, _event: str, _given: Any) -> Callable[..., Any]:
            self._found.add((module, frame.f_lineno))
            return line

        return line


class _TracedTests:
    """A plugin of pytest: the lines that each test that passes reaches."""

    def __init__(self) -> None:
        self.found: list[Reached] = []

    @pytest.hookimpl(hookwrapper=True)
    def pytest_runtest_protocol(self, item: pytest.Item) -> Iterator[None]:
        with Tracer().collecting() as lines:
            yield
        self.found.append(Reached(item.nodeid, frozenset(lines)))


def reach_of_cases(*, every: bool = False) -> list[Reached]:
    """Every case that the engine passes in this process and that reaches a module; of those that write, most areas."""
    names = [case.id for case in load_cases(ROOT) if every or not case.writes or _folder(case.id) in _WRITING]
    return [one for one in in_processes(_reach_of_case, names) if one.lines and one.answer.startswith("pass")]


def _folder(name: str) -> str:
    return name.split("::")[1].rpartition("/")[2]


def _reach_of_case(name: str) -> Reached:
    from engine_here import answer_of, case_here  # noqa: PLC0415 - the engine is imported in the process that traces

    with TemporaryDirectory() as folder, Tracer().collecting() as lines:
        answer = answer_of(case_here(name), Path(folder) / "case")
    return Reached(name, frozenset(lines), answer, case_here(name).area)


def reach_of_tests() -> list[Reached]:
    """Every test of the files of the areas that reaches a module."""
    plugin = _TracedTests()
    status = pytest.main([*PYTEST, *map(str, test_files())], plugins=[plugin])
    if status:
        raise SystemExit(f"the tests do not pass on the engine as it is: pytest ended with {status}")
    return [one for one in plugin.found if one.lines]


def keep(cases: Iterable[Reached], tests: Iterable[Reached]) -> None:
    """Write down what reaches what."""
    BUILD.mkdir(parents=True, exist_ok=True)
    kinds = {"cases": cases, "tests": tests}
    stored = {
        kind: [[one.name, sorted(one.lines), one.answer, one.area] for one in found] for kind, found in kinds.items()
    }
    _FILE.write_text(json.dumps(stored), encoding="utf-8")


def kept() -> Mapping[str, list[Reached]]:
    """What was written down: `cases` and `tests`.

    Raises:
        OSError: nothing was.

    """
    stored = json.loads(_FILE.read_text(encoding="utf-8"))
    return {kind: [_reached(*one) for one in found] for kind, found in stored.items()}


def _reached(name: str, lines: list[list[Any]], answer: str, area: str) -> Reached:
    return Reached(name, frozenset((str(module), int(line)) for module, line in lines), answer, area)
