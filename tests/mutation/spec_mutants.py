"""Mutants of the TLA+ modules: what `Next` does with one of its conditions dropped, negated, or one change left out.

SANY parses the modules; by the levels that it states a condition is no change. TLC then does the declared runs of each
mutated module: a run that gives another result than declared kills the mutant, and so do an agreement's other graph,
and a trace case of which the module says something else.
"""

import re
import shutil
import subprocess
import tempfile
import xml.etree.ElementTree as ET
from collections import Counter
from collections.abc import Callable, Hashable, Iterable, Iterator, Mapping, Sequence
from collections.abc import Set as AbstractSet
from concurrent.futures import Future, ThreadPoolExecutor
from dataclasses import dataclass, replace
from functools import partial
from pathlib import Path
from threading import Lock
from typing import Final, Generic, TypeVar

from hudi_adapter.java import java_home
from hudi_conformance.corpus.trace_cases import load_trace_cases
from hudi_conformance.verification.tla.apalache import EXTENDED
from hudi_conformance.verification.tla.graph import Graph
from hudi_conformance.verification.tla.manifest import ManifestError, Run, load_manifest
from hudi_conformance.verification.tla.tlc import Result as Checked
from hudi_conformance.verification.tla.tlc import dump_graph, run_tlc, tlc_jar
from hudi_conformance.verification.tracing.checking import CHECK, check_traces
from hudi_conformance.verification.tracing.modules import Trace
from mutation_targets import ROOT
from results import SURVIVED, UNCHANGED, Result

Key = TypeVar("Key", bound=Hashable)
Found = TypeVar("Found")

FOLDER: Final = Path("specs") / "tla"
# A mutant may have more states than the module, and more than that says enough.
_TIMES: Final = 5
_LEAST_S: Final = 20.0
_SMALL: Final = 5_000
"""How many states a run may have whose graphs are compared."""
_STATE: Final = 1
"""The level of what says nothing of the next state."""
_AND: Final = frozenset({"$ConjList", "\\land"})
_SPLIT: Final = _AND | {"$DisjList", "\\lor", "$BoundedExists", "$IfThenElse", "=>", "Keeps"}


@dataclass(frozen=True, slots=True)
class Place:
    """Where something stands in a module: lines and columns from 1, the last column belongs to it."""

    module: str
    line: int
    column: int
    last_line: int
    last_column: int

    def replaced(self, text: str, by: Callable[[str], str]) -> str:
        """The module with what stands here replaced."""
        lines = text.splitlines(keepends=True)
        first = sum(map(len, lines[: self.line - 1])) + self.column - 1
        end = sum(map(len, lines[: self.last_line - 1])) + self.last_column
        return text[:first] + by(text[first:end]) + text[end:]


@dataclass(frozen=True, slots=True)
class SpecMutant:
    """A module with one change, and the modules that have it, whose runs decide."""

    result: Result
    file: str
    text: str
    checked: frozenset[str]


def spec_mutants(folder: Path, modules: Sequence[str]) -> list[SpecMutant]:
    """The mutants of some modules with runs, each once, in the order in which they stand.

    Raises:
        ValueError: SANY does not parse a module.

    """
    found: dict[tuple[Place, str], tuple[Callable[[str], str], set[str]]] = {}
    for module in modules:
        for place, operator, by in _changes(_parsed(folder, module), module):
            found.setdefault((place, operator), (by, set()))[1].add(module)
    sources = {file: (folder / f"{file}.tla").read_text(encoding="utf-8") for file in {key[0].module for key in found}}
    made, seen = list[SpecMutant](), Counter[tuple[str, str, str]]()
    for (place, operator), (by, checked) in sorted(found.items(), key=lambda one: (repr(one[0][0]), one[0][1])):
        source = sources[place.module]
        text = place.replaced(source, by)
        line = source.splitlines()[place.line - 1].strip()
        seen[place.module, line, operator] += 1
        nth, becomes = seen[place.module, line, operator], text.splitlines()[place.line - 1].strip()
        result = Result(f"{place.module}.tla", line, operator, nth, place.line, becomes)
        made.append(SpecMutant(result, place.module, text, frozenset(checked)))
    return sorted(made, key=lambda one: (one.result.module, one.result.line, one.result.operator))


class _AsTheyAre:
    """What the declared runs and agreements of the modules as they are come to, each done once it is needed."""

    def __init__(self, folder: Path, modules: Iterable[str]) -> None:
        manifest, self._folder = load_manifest(folder), folder
        runs = (one for one in manifest.runs if one.module in modules and not one.soak)
        # What takes longest has the greatest limit.
        self.runs: Sequence[Run] = sorted(runs, key=lambda one: (one.violates is not None, one.limit_s))
        compared = (one for one in manifest.agreements if one.run.module in modules and not one.run.soak)
        self.graphs: Sequence[Run] = [one.run for one in compared if not one.law]
        self._checked = Once[Run, Checked](self._check)
        self._dumped = Once[Run, Graph](partial(dump_graph, folder))
        self._kills, self._spent_s = dict.fromkeys(self.runs, 0), dict.fromkeys(self.runs, 0.0)

    def in_order(self, modules: AbstractSet[str]) -> list[Run]:
        """The runs of some modules, those that must pass first; of them what has killed most in its time."""
        runs = (one for one in self.runs if one.module in modules)
        rate = {one: self._kills[one] / max(1.0, self._spent_s[one]) for one in self.runs}
        return sorted(runs, key=lambda one: (one.violates is not None, -rate[one]))

    def count(self, run: Run, seconds: float, *, killed: bool) -> None:
        """Note what a run of a mutant came to."""
        self._spent_s[run] += seconds
        self._kills[run] += killed

    def checked(self, run: Run) -> Checked:
        """What a run comes to.

        Raises:
            ValueError: it is not what is declared.

        """
        return self._checked(run)

    def dumped(self, run: Run) -> Graph:
        """The states and the steps of an agreement."""
        return self._dumped(run)

    def _check(self, run: Run) -> Checked:
        plain = run_tlc(self._folder, run)
        if plain.fault:
            raise ValueError(f"{run.module} as it is: {run.name}: {plain.fault}")
        return plain


class Once(Generic[Key, Found]):
    """A function whose result is kept; of several threads that need one the first works it out."""

    def __init__(self, work: Callable[[Key], Found]) -> None:
        self._work, self._lock, self._found = work, Lock(), dict[Key, Future[Found]]()

    def __call__(self, key: Key) -> Found:
        """The result, or the exception that it came to."""
        with self._lock:
            is_first, result = key not in self._found, self._found.setdefault(key, Future())
        if is_first:
            try:
                result.set_result(self._work(key))
            except Exception as error:  # noqa: BLE001 - every caller gets it
                result.set_exception(error)
        return result.result()


def try_mutants(folder: Path, mutants: Sequence[SpecMutant], jobs: int = 2) -> Iterator[Result]:
    """What becomes of mutants, each as it is known.

    First the runs that must pass. Where all of them have as many states, steps and levels as before, and the largest
    of the small ones the same states, the mutant changes nothing; else the runs that must fail and the graphs of the
    agreements decide.

    Raises:
        ValueError: a module as it is gives another result than declared.

    """
    plain = _AsTheyAre(folder, {name for one in mutants for name in one.checked})
    with ThreadPoolExecutor(jobs) as pool:
        yield from pool.map(partial(_outcome, folder, plain), mutants)


def _outcome(folder: Path, plain: _AsTheyAre, mutant: SpecMutant) -> Result:
    with tempfile.TemporaryDirectory(prefix="hudi-spec-mutant-") as place:
        mutated = Path(place) / "tla"
        shutil.copytree(folder, mutated)
        (mutated / f"{mutant.file}.tla").write_text(mutant.text, encoding="utf-8")
        found = _of_runs(mutated, plain, mutant)
        if CHECK in mutant.checked and found in {"", UNCHANGED}:
            # The traces of its runs are a few of all: where they notice nothing, others may.
            return replace(mutant.result, outcome=_of_cases(mutated) or SURVIVED)
        return replace(mutant.result, outcome=found or _of_graphs(mutated, plain, mutant))


def _of_cases(mutated: Path) -> str:
    """The trace case of which a mutated module says something else than the case."""
    cases = load_trace_cases(ROOT)
    try:
        verdicts = check_traces(mutated, [Trace(one.name, one.lines) for one in cases])
    except ManifestError:
        return "error trace cases"
    pairs = zip(cases, verdicts, strict=True)
    wrong = (one.id for one, verdict in pairs if (0 if verdict.accepted else verdict.number) != one.refused)
    return next((f"case {one}" for one in wrong), "")


def _of_runs(mutated: Path, plain: _AsTheyAre, mutant: SpecMutant) -> str:
    """What kills a mutant, or that it is unchanged; nothing where it changes what no run notices."""
    order, is_changed = plain.in_order(mutant.checked), False
    for run in (one for one in order if one.violates is None):
        killed, is_other = _of_run(mutated, plain, run)
        if killed:
            return killed
        is_changed = is_changed or is_other
    if not is_changed and _is_same(mutated, plain, mutant.checked):
        return UNCHANGED
    kills = (_of_run(mutated, plain, run)[0] for run in order if run.violates)
    return next(filter(None, kills), "")


def _of_run(mutated: Path, plain: _AsTheyAre, run: Run) -> tuple[str, bool]:
    """How a run kills a mutant, if it does; whether it has other numbers of states, steps or levels than before."""
    before = plain.checked(run)
    checked = run_tlc(mutated, replace(run, limit_s=max(_LEAST_S, _TIMES * before.seconds)))
    plain.count(run, checked.seconds, killed=checked.fault is not None)
    if checked.finding is None:
        return f"limit {run.module}: {run.name}", True
    kind = "run" if checked.finding.violated or checked.finding.passed else "error"
    return f"{kind} {run.module}: {run.name}" if checked.fault else "", _size(checked) != _size(before)


def _is_same(mutated: Path, plain: _AsTheyAre, modules: AbstractSet[str]) -> bool:
    """Whether the largest of the small runs that must pass has the same states and steps; counts alone may agree."""
    found = [(_size(plain.checked(one))[1], one) for one in plain.in_order(modules) if one.violates is None]
    small = [pair for pair in found if pair[0] <= _SMALL] or [min(found, key=lambda pair: pair[0])]
    _, run = max(small, key=lambda pair: pair[0])
    return dump_graph(mutated, run) == plain.dumped(run)


def _of_graphs(mutated: Path, plain: _AsTheyAre, mutant: SpecMutant) -> str:
    """The agreement whose graph is another than the model's, which is that of the module as it is."""
    for run in (one for one in plain.graphs if one.module in mutant.checked):
        try:
            is_same = dump_graph(mutated, run) == plain.dumped(run)
        except ManifestError:
            is_same = False
        if not is_same:
            return f"agreement {run.module}: {run.name}"
    return SURVIVED


def _size(checked: Checked) -> tuple[int, ...]:
    found = checked.finding
    return (found.generated_states, found.distinct_states, found.depth) if found else ()


@dataclass(frozen=True, slots=True)
class _Parsed:
    """SANY's tree of a module and those that it extends: what each number names."""

    entries: Mapping[str, ET.Element]
    files: frozenset[str]
    extended: frozenset[str]
    """The module and those that it extends, which an instance of another module is none of."""

    def definition(self, name: str) -> ET.Element:
        """A definition of the module, or of one that it extends."""
        named = (one for one in self.entries.values() if one.findtext("uniquename") == name)
        return next(one for one in named if one.findtext("location/filename") in self.extended)

    def operator(self, node: ET.Element) -> ET.Element | None:
        """What an application applies."""
        named = node.find("operator/*/UID")
        return None if named is None or named.text is None else self.entries.get(named.text)

    def name(self, node: ET.Element) -> str:
        """The name of what an application applies."""
        operator = self.operator(node)
        return "" if operator is None else operator.findtext("uniquename") or ""


def _parsed(folder: Path, module: str) -> _Parsed:
    command = [
        str(java_home() / "bin" / "java"),
        "-cp",
        str(tlc_jar()),
        "tla2sany.xml.XMLExporter",
        "-o",
        f"{module}.tla",
    ]
    output = subprocess.run(command, cwd=folder, capture_output=True, text=True, check=False)
    if output.returncode or not output.stdout.startswith("<"):
        raise ValueError(f"{folder / module}.tla: {output.stderr or output.stdout}")
    entries: dict[str, ET.Element] = {}
    for entry in ET.fromstring(output.stdout).iterfind("context/entry"):  # noqa: S314 - SANY wrote it
        entries[entry.findtext("UID") or ""] = next(one for one in entry if one.tag != "UID")
    files = {path.stem: path.read_text(encoding="utf-8") for path in folder.glob("*.tla")}
    extended, waiting = set[str](), [module]
    while waiting:
        extended.add(name := waiting.pop())
        found = (one for match in EXTENDED.finditer(files.get(name, "")) for one in re.findall(r"\w+", match["names"]))
        waiting += [one for one in found if one not in extended]
    return _Parsed(entries, frozenset(files), frozenset(extended))


_Change = tuple[Place, str, Callable[[str], str]]


def _changes(parsed: _Parsed, module: str) -> Iterator[_Change]:
    """Of what `Next` reaches: each condition dropped, each negated, each change left out."""
    waiting, known = [parsed.definition("Next")], set[int]()
    while waiting:
        definition = waiting.pop()
        if id(definition) in known:
            continue
        known.add(id(definition))
        body = definition.find("body/*")
        if body is None or definition.findtext("location/filename") not in parsed.files:
            continue
        yield from _within(parsed, body)
        for node in body.iter("OpApplNode"):
            operator = parsed.operator(node)
            if operator is not None and operator.tag == "UserDefinedOpKind":
                waiting.append(operator)


def _within(parsed: _Parsed, node: ET.Element) -> Iterator[_Change]:
    if node.tag == "LetInNode":
        inner = node.find("body/*")
        if inner is not None:
            yield from _within(parsed, inner)
    name = parsed.name(node) if node.tag == "OpApplNode" else ""
    if name not in _SPLIT:
        return
    for operand in _operands(node):
        if name in _AND and operand.tag == "OpApplNode":
            yield from _of_conjunct(parsed, operand)
        yield from _within(parsed, operand)


def _operands(node: ET.Element) -> list[ET.Element]:
    return list(node.iterfind("operands/*"))


def _of_conjunct(parsed: _Parsed, node: ET.Element) -> Iterator[_Change]:
    place, level = _place(node), int(node.findtext("level") or 0)
    if level <= _STATE:
        yield place, "drop", lambda _: "TRUE"
        yield place, "negate", lambda text: f"~({text})"
        return
    if parsed.name(node) == "=" and (variable := _changed(parsed, node)):
        yield place, "leave", lambda _: f"UNCHANGED {variable}"
    operands = _operands(node)
    if parsed.name(node) == "Goes":
        # The step that an action begins with is its first condition.
        process = parsed.name(operands[0])
        yield _place(operands[1]), "from any step", lambda _: f"step[{process}]"


def _changed(parsed: _Parsed, node: ET.Element) -> str | None:
    """The variable whose next value an equation states."""
    left = _operands(node)[0]
    if left.tag != "OpApplNode" or parsed.name(left) != "'":
        return None
    inner = _operands(left)
    return parsed.name(inner[0]) if inner and inner[0].tag == "OpApplNode" else None


def _place(node: ET.Element) -> Place:
    def number(path: str) -> int:
        return int(node.findtext(f"location/{path}") or 0)

    return Place(
        node.findtext("location/filename") or "",
        number("line/begin"),
        number("column/begin"),
        number("line/end"),
        number("column/end"),
    )


def modules_of(folder: Path) -> list[str]:
    """The modules that have runs of `Next`."""
    return sorted({run.module for run in load_manifest(folder).runs})
