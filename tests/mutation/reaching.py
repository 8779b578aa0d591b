"""Which cases and tests reach which lines of the modules that are mutated: only these can tell a mutant.

Made anew for every run, below build/: nothing of it is kept.
"""

import json
import sys
import threading
from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Mapping
from contextlib import contextmanager
from dataclasses import astuple, dataclass
from pathlib import Path
from tempfile import TemporaryDirectory
from types import CodeType, FrameType
from typing import Any, Final, TypeAlias

import pytest
from hudi_conformance.runner.cases import load_cases
from hudi_conformance.runner.processes import in_processes
from mutation_targets import BUILD, CORPUS_MODULES, ENGINE, HISTORIES, HISTORY, ROOT, test_files

Line: TypeAlias = tuple[str, int]
_WRITING: Final = (
    *("archival", "cleaning", "clustering", "compaction", "conflicts", "log_compaction", "phases", "single", "streams"),
)
_FILE: Final = BUILD / "reached.json"
_STEADY: Final = 50
"""After so many calls that reach no new line, a function is not traced again in the same case: tracing takes time."""
PYTEST: Final = (
    *("-q", "-x", "--no-header", "-p", "no:xdist", "-p", "no:cacheprovider"),
    *("-m", "not spark and not peers", "-W", "ignore::pytest.PytestAssertRewriteWarning"),
)
"""One process, up to the first failure, nothing that needs Java."""


@dataclass(frozen=True, slots=True)
class Reached:
    """The lines that a case or a test runs; of a case its area, and what the engine as it is makes of it.

    `lines`: for each module a number whose bits are its lines.
    """

    name: str
    lines: Mapping[str, int]
    answer: str = ""
    area: str = ""

    def reaches(self, module: str, first: int, last: int) -> bool:
        """Whether one of some lines of a module runs."""
        return bool(self.lines.get(module, 0) >> first & ((1 << last - first + 1) - 1))

    def count(self) -> int:
        """How many lines of all modules run."""
        return sum(lines.bit_count() for lines in self.lines.values())


def _bits(lines: Iterable[Line]) -> dict[str, int]:
    found: dict[str, int] = {}
    for module, line in lines:
        found[module] = found.get(module, 0) | 1 << line
    return found


class Tracer:
    """Collects the lines that run in the modules that are mutated."""

    def __init__(self, package: Path = ENGINE / "hudi_spark") -> None:
        self._modules = {str(package / module): module for module in CORPUS_MODULES}
        self._found: set[Line] = set()
        self._steady: Counter[CodeType] = Counter()

    @contextmanager
    def collecting(self) -> Iterator[set[Line]]:
        """The set that is filled while the context lasts."""
        self._found = set()
        self._steady.clear()
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
        code, before = frame.f_code, len(self._found)
        self._found.add((module, frame.f_lineno))
        if self._steady[code] > _STEADY:
            return None
        self._steady[code] += 1

        def line(frame: FrameType, _event: str, _given: Any) -> Callable[..., Any]:
            nonlocal before
            self._found.add((module, frame.f_lineno))
            if len(self._found) != before:
                before = len(self._found)
                self._steady[code] = 0
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
        self.found.append(Reached(item.nodeid, _bits(lines)))


def reach_of_cases(*, every: bool = False) -> list[Reached]:
    """Every case that the engine passes in this process and that reaches a module; of those that write, most areas.

    `every`: of all areas, and drawn histories.
    """
    names = [case.id for case in load_cases(ROOT) if every or not case.writes or _folder(case.id) in _WRITING]
    names += [f"{HISTORY}{seed}" for seed in HISTORIES] if every else []
    return [one for one in in_processes(_reach_of_case, names) if one.lines and one.answer.startswith("pass")]


def _folder(name: str) -> str:
    return name.split("::")[1].rpartition("/")[2]


def _reach_of_case(name: str) -> Reached:
    from engine_here import answer_of, case_here  # noqa: PLC0415 - the engine is imported in the process that traces

    with TemporaryDirectory() as folder, Tracer().collecting() as lines:
        answer = answer_of(name, Path(folder) / "case")
    area = "" if name.startswith(HISTORY) else case_here(name).area
    return Reached(name, _bits(lines), answer, area)


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
    stored = {kind: [astuple(one) for one in found] for kind, found in kinds.items()}
    _FILE.write_text(json.dumps(stored), encoding="utf-8")


def kept() -> Mapping[str, list[Reached]]:
    """What was written down: `cases` and `tests`.

    Raises:
        OSError: nothing was.

    """
    stored = json.loads(_FILE.read_text(encoding="utf-8"))
    return {kind: [Reached(*one) for one in found] for kind, found in stored.items()}
