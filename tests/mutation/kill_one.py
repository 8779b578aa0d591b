"""One mutant in one process: the cases and tests that reach its statement, until one of them shows it."""

import ast
import hashlib
import os
import sys
from collections.abc import Iterable, Mapping, Sequence
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Final

import pytest
from mutation_targets import ENGINE, ROOT, SEED, Area, SampleSizes, area_of
from reaching import PYTEST, Line, Reached

_WRITING: Final = "::writing/"


def statement_lines(module: str, line: int) -> frozenset[Line]:
    """The lines of the innermost statement, or of the head of the compound statement, that a line belongs to."""
    tree = ast.parse((ENGINE / "hudi_spark" / module).read_text(encoding="utf-8"))
    spans = [_span(node) for node in ast.walk(tree) if isinstance(node, ast.stmt)]
    holding = [(first, last) for first, last in spans if first <= line <= last]
    first, last = min(holding, key=lambda span: span[1] - span[0], default=(line, line))
    return frozenset((module, number) for number in range(first, last + 1))


def _span(node: ast.stmt) -> tuple[int, int]:
    body = getattr(node, "body", None)
    last = node.end_lineno if body is None else max(node.lineno, body[0].lineno - 1)
    return node.lineno, last or node.lineno


def chosen(found: Iterable[Reached], module: str, line: int) -> list[Reached]:
    """What reaches a statement, in the order in which it is asked; of what runs at import, what reaches its file.

    Cases and tests of the module's own area come first, then a fixed shuffle.
    """
    area = area_of(module)
    lines = statement_lines(module, line)
    every = list(found)
    reaching = [one for one in every if not lines.isdisjoint(one.lines)]
    reaching = reaching or [one for one in every if any(place == module for place, _ in one.lines)]
    return sorted(reaching, key=lambda one: (not _belongs(one, area), _shuffled(one.name)))


def _belongs(one: Reached, area: Area) -> bool:
    return one.area in area.areas or one.name.partition("::")[0].rpartition("/")[2] in area.tests


def _shuffled(name: str) -> str:
    return hashlib.sha256(f"{SEED} {name}".encode()).hexdigest()


def killer(module: str, line: int, reached: Mapping[str, Sequence[Reached]], sizes: SampleSizes) -> str:
    """What states the mutant from the engine, empty where nothing does."""
    ordered = chosen(reached["cases"], module, line)
    reading = [one for one in ordered if _WRITING not in one.name]
    writing = [one for one in ordered if _WRITING in one.name][: sizes.writing]
    cases = (*reading[: sizes.cases - len(writing)], *writing)
    # A test that runs little else says most of this statement.
    tests = sorted(chosen(reached["tests"], module, line), key=lambda one: len(one.lines))
    names = [one.name for one in tests[: sizes.tests]]
    if sizes.tests_first:
        return _reporting_test(names) or _reporting_case(cases)
    return _reporting_case(cases) or _reporting_test(names)


def _reporting_case(cases: Sequence[Reached]) -> str:
    from engine_here import answer_of, case_here  # noqa: PLC0415 - only now, the mutant is imported

    with TemporaryDirectory() as folder:
        for number, one in enumerate(cases):
            if answer_of(case_here(one.name), Path(folder) / str(number)) != one.answer:
                return f"case {one.name}"
    return ""


class _FirstFailure:
    """A plugin of pytest: the test that failed."""

    name = ""

    def pytest_runtest_logreport(self, report: pytest.TestReport) -> None:
        """Keep its name."""
        if report.failed:
            self.name = self.name or report.nodeid


def _reporting_test(names: Sequence[str]) -> str:
    if not names:
        return ""
    os.chdir(ROOT)
    plugin = _FirstFailure()
    status = pytest.main([*PYTEST, *names], plugins=[plugin])
    return f"test {plugin.name or 'collection'}" if status else ""


def engine_first(package: Path) -> None:
    """Import the engine from a folder, in this process and in those that it starts."""
    sys.path.insert(0, str(package))
    before = os.environ.get("PYTHONPATH")
    os.environ["PYTHONPATH"] = os.pathsep.join([str(package), *([before] if before else [])])
