"""One mutant in one process: the cases and tests that reach its statement, until one of them shows it."""

import ast
import hashlib
import os
import sys
from collections import Counter
from collections.abc import Callable, Iterable, Mapping, Sequence
from heapq import heapify, heappop, heappush
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Final

import pytest
from mutation_targets import ENGINE, HISTORY, ROOT, SEED, Area, SampleSizes, area_of
from reaching import PYTEST, Reached

_WRITING: Final = "::writing/"


def statement_lines(module: str, line: int) -> tuple[int, int]:
    """The first and the last line of the innermost statement, or of the head of a compound one, that holds a line."""
    tree = ast.parse((ENGINE / "hudi_spark" / module).read_text(encoding="utf-8"))
    spans = [_span(node) for node in ast.walk(tree) if isinstance(node, ast.stmt)]
    holding = [(first, last) for first, last in spans if first <= line <= last]
    return min(holding, key=lambda span: span[1] - span[0], default=(line, line))


def _function(module: str, line: int) -> tuple[int, int] | None:
    """The first and the last line of the body of the innermost function that holds a line; None for one at import."""
    tree = ast.parse((ENGINE / "hudi_spark" / module).read_text(encoding="utf-8"))
    functions = (node for node in ast.walk(tree) if isinstance(node, ast.FunctionDef))
    bodies = [(_span(node)[1] + 1, node.end_lineno or 0) for node in functions]
    holding = [(first, last) for first, last in bodies if first <= line <= last]
    return min(holding, key=lambda body: body[1] - body[0], default=None)


def _span(node: ast.stmt) -> tuple[int, int]:
    body = getattr(node, "body", None)
    last = node.end_lineno if body is None else max(node.lineno, body[0].lineno - 1)
    return node.lineno, last or node.lineno


def chosen(found: Iterable[Reached], module: str, line: int) -> list[Reached]:
    """What reaches a statement, in the order in which it is asked; of what runs at import, what reaches its file.

    Cases and tests of the module's own area come first, then those that reach what few others do of the same function,
    then those that together reach most of the engine, then a fixed shuffle.
    """
    area = area_of(module)
    first, last = statement_lines(module, line)
    every = list(found)
    reaching = [one for one in every if one.reaches(module, first, last)]
    function = _function(module, line)
    if not reaching and function is None:
        reaching = [one for one in every if module in one.lines]
    rarity = _rarity(reaching, module, function or (first, last))
    spread = _spread(reaching)
    return sorted(reaching, key=lambda one: (not _belongs(one, area), -rarity(one), spread[one.name]))


def _spread(found: Iterable[Reached]) -> Mapping[str, int]:
    """The place of each by how much of the engine it reaches that those before it do not."""
    waiting = [(-one.count(), _shuffled(one.name), one) for one in found]
    heapify(waiting)
    places, covered = dict[str, int](), dict[str, int]()
    while waiting:
        least, shuffled, one = heappop(waiting)
        new = sum((lines & ~covered.get(module, 0)).bit_count() for module, lines in one.lines.items())
        if new < -least:
            heappush(waiting, (-new, shuffled, one))
            continue
        places[one.name] = len(places)
        covered |= {module: lines | covered.get(module, 0) for module, lines in one.lines.items()}
    return places


def _rarity(found: Sequence[Reached], module: str, lines: tuple[int, int]) -> Callable[[Reached], float]:
    """How little of what one reaches of some lines is reached by others."""
    numbers = range(lines[0], lines[1] + 1)
    times = Counter(number for one in found for number in numbers if one.reaches(module, number, number))
    return lambda one: sum(1 / times[number] for number in numbers if one.reaches(module, number, number))


def _belongs(one: Reached, area: Area | None) -> bool:
    if area is None:
        return False
    return one.area in area.areas or one.name.partition("::")[0].rpartition("/")[2] in area.tests


def _shuffled(name: str) -> str:
    return hashlib.sha256(f"{SEED} {name}".encode()).hexdigest()


def killer(module: str, line: int, reached: Mapping[str, Sequence[Reached]], sizes: SampleSizes) -> str:
    """What states the mutant from the engine, empty where nothing does."""
    ordered = chosen(reached["cases"], module, line)
    histories = [one for one in ordered if one.name.startswith(HISTORY)][: sizes.histories]
    reading = [one for one in ordered if _WRITING not in one.name and not one.name.startswith(HISTORY)]
    writing = [one for one in ordered if _WRITING in one.name][: sizes.writing]
    cases = (*reading[: sizes.cases - len(writing)], *writing, *histories)
    # A test that runs little else says most of this statement.
    tests = sorted(chosen(reached["tests"], module, line), key=Reached.count)
    names = [one.name for one in tests[: sizes.tests]]
    if sizes.tests_first:
        return _reporting_test(names) or _reporting_case(cases)
    return _reporting_case(cases) or _reporting_test(names)


def _reporting_case(cases: Sequence[Reached]) -> str:
    from engine_here import answer_of  # noqa: PLC0415 - only now, the mutant is imported

    with TemporaryDirectory() as folder:
        for number, one in enumerate(cases):
            if answer_of(one.name, Path(folder) / str(number)) != one.answer:
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
