"""Mutants of the TLA+ modules: what `Next` does with one of its conditions dropped, negated, or one change left out.

SANY parses the modules; by the levels that it states a condition is no change. TLC then does the declared runs: one
that gives another result than declared kills a mutant, and so do an agreement's other graph, and a trace case of which
the module says something else. What is no property of progress TLC checks for many mutants in one run: the module has
all of them, and a variable says which of them it is.
"""

import hashlib
import math
import pickle
import re
import shutil
import subprocess
import tempfile
import xml.etree.ElementTree as ET
from collections import Counter
from collections.abc import Callable, Hashable, Iterable, Iterator, Mapping, Sequence
from collections.abc import Set as AbstractSet
from concurrent.futures import Future, ThreadPoolExecutor
from dataclasses import dataclass, field, replace
from functools import partial
from pathlib import Path
from threading import Lock
from typing import Final, Generic, TypeVar

from hudi_adapter.java import java_home
from hudi_conformance.corpus.trace_cases import load_trace_cases
from hudi_conformance.verification.tla.apalache import EXTENDED
from hudi_conformance.verification.tla.configuration import Configuration, load_run
from hudi_conformance.verification.tla.expressions import Function
from hudi_conformance.verification.tla.graph import Graph, State, read_dump
from hudi_conformance.verification.tla.manifest import ManifestError, Run, load_manifest
from hudi_conformance.verification.tla.output import SUCCESS
from hudi_conformance.verification.tla.tlc import DUMPS, dump_graph, dump_with, run_tlc, tlc_jar
from hudi_conformance.verification.tla.tlc import Result as Checked
from hudi_conformance.verification.tracing.checking import CHECK, check_traces
from hudi_conformance.verification.tracing.modules import Trace
from mutation_targets import BUILD, ROOT
from results import SURVIVED, UNCHANGED, Result

Key = TypeVar("Key", bound=Hashable)
Found = TypeVar("Found")

FOLDER: Final = Path("specs") / "tla"
# A mutant may have more states than the module, and more than that says enough.
_TIMES: Final = 5
_LEAST_S: Final = 20.0
_SMALL: Final = 5_000
"""How many states a run may have whose graphs are compared."""
_LONGEST_S: Final = 600.0
"""The limit of the longest runs that mutants are put to."""
_TOGETHER: Final = 150
"""How many mutants one run of TLC has."""
_STATES_TOGETHER: Final = 60_000
"""How many states such a run may have, by those of the module as it is."""
_STATES_OF_GRAPHS: Final = 12_000
"""How many such a run may have whose graph is read: an error of one mutant costs a run of the others."""
_LEAST_STATES: Final = 1_000
_LEAST_LEVELS: Final = 100
"""How many states and levels a mutant may have before it is tried alone, where the module as it is has few."""
_TOGETHER_S: Final = 400.0
_INSTANCE: Final = re.compile(r"\bINSTANCE (\w+)")
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
        first, end = self.extent(text)
        return text[:first] + by(text[first:end]) + text[end:]

    def extent(self, text: str) -> tuple[int, int]:
        """Where it begins and ends in the module's text."""
        lines = text.splitlines(keepends=True)
        first = sum(map(len, lines[: self.line - 1])) + self.column - 1
        return first, sum(map(len, lines[: self.last_line - 1])) + self.last_column


@dataclass(frozen=True, slots=True)
class SpecMutant:
    """A module with one change, and the modules that have it, whose runs decide."""

    result: Result
    file: str
    text: str
    checked: frozenset[str]
    place: Place
    by: "Change"


@dataclass(frozen=True, slots=True)
class Change:
    """What a mutant makes of the text at its place."""

    operator: str
    name: str = ""
    """The variable that is left as it is, or the process that goes on."""

    def __call__(self, text: str) -> str:
        """The text that stands there instead."""
        answers = {
            "drop": "TRUE",
            "negate": f"~({text})",
            "leave": f"UNCHANGED {self.name}",
            "from any step": f"step[{self.name}]",
        }
        return answers[self.operator]


def spec_mutants(folder: Path, modules: Sequence[str]) -> list[SpecMutant]:
    """The mutants of some modules with runs, each once, in the order in which they stand.

    Raises:
        ValueError: SANY does not parse a module.

    """
    found: dict[tuple[Place, str], tuple[Change, set[str]]] = {}
    for module in modules:
        for place, by in _changes_kept(folder, module):
            found.setdefault((place, by.operator), (by, set()))[1].add(module)
    sources = {file: (folder / f"{file}.tla").read_text(encoding="utf-8") for file in {key[0].module for key in found}}
    made, seen = list[SpecMutant](), Counter[tuple[str, str, str]]()
    for (place, operator), (by, checked) in sorted(found.items(), key=lambda one: (repr(one[0][0]), one[0][1])):
        source = sources[place.module]
        text = place.replaced(source, by)
        line = source.splitlines()[place.line - 1].strip()
        seen[place.module, line, operator] += 1
        nth, becomes = seen[place.module, line, operator], text.splitlines()[place.line - 1].strip()
        result = Result(f"{place.module}.tla", line, operator, nth, place.line, becomes)
        made.append(SpecMutant(result, place.module, text, frozenset(checked), place, by))
    return sorted(made, key=lambda one: (one.result.module, one.result.line, one.result.operator))


class _AsTheyAre:
    """What the declared runs and agreements of the modules as they are come to, each done once it is needed."""

    def __init__(self, folder: Path, modules: Iterable[str]) -> None:
        manifest, self._folder = load_manifest(folder), folder
        runs = (one for one in manifest.runs if one.module in modules and not one.soak)
        self.runs: Sequence[Run] = [one for one in runs if one.limit_s <= _LONGEST_S]
        compared = (one for one in manifest.agreements if one.run.module in modules and not one.run.soak)
        self.graphs: Sequence[Run] = [one.run for one in compared if not one.law]
        self._checked = Once[Run, Checked](self._check)
        self._dumped = Once[Run, Graph](partial(dump_graph, folder))

    def in_order(self, modules: AbstractSet[str]) -> list[Run]:
        """The runs of some modules: those known to be short first, then those that are expected to be."""

        def place(run: Run) -> tuple[float, float, bool]:
            known = self._file(run)
            seconds = self.checked(run).seconds if known.exists() else math.inf
            return seconds, run.limit_s, run.violates is None

        return sorted((one for one in self.runs if one.module in modules), key=place)

    def checked(self, run: Run) -> Checked:
        """What a run comes to.

        Raises:
            ValueError: it is not what is declared.

        """
        return self._checked(run)

    def dumped(self, run: Run) -> Graph:
        """The states and the steps of an agreement."""
        return self._dumped(run)

    def states_of(self, run: Run) -> int:
        """How many states an agreement has."""
        return _from_file(self._file(run).with_suffix(".states.pickle"), lambda: len(self._dumped(run).states))

    def _file(self, run: Run) -> Path:
        configuration, modules = load_run(self._folder, run)
        return _file_of("as-it-is", run, configuration, _read_by(modules, run.module))

    def _check(self, run: Run) -> Checked:
        return _from_file(self._file(run), partial(self._check_anew, run))

    def _check_anew(self, run: Run) -> Checked:
        plain = run_tlc(self._folder, run)
        if plain.fault:
            raise ValueError(f"{run.module} as it is: {run.name}: {plain.fault}")
        return plain


def _read_by(sources: Mapping[str, str], module: str) -> list[tuple[str, str]]:
    """The texts of a module and of those that it extends or has instances of."""
    waiting, known = [module], dict[str, str]()
    while waiting:
        text = sources.get(f"{(name := waiting.pop())}.tla", "")
        known[name] = text
        extended = (one for each in EXTENDED.finditer(text) for one in re.findall(r"\w+", each["names"]))
        waiting += [one for one in (*extended, *_INSTANCE.findall(text)) if one not in known]
    return sorted(known.items())


def _file_of(kind: str, *parts: object) -> Path:
    """Where it is kept what comes of these."""
    return BUILD / f"{kind}-{hashlib.sha256(repr(parts).encode()).hexdigest()[:20]}.pickle"


def _from_file(file: Path, make: Callable[[], Found]) -> Found:
    """What is kept in a file, made where it is not."""
    if not file.exists():
        content = pickle.dumps(make())
        BUILD.mkdir(parents=True, exist_ok=True)
        file.write_bytes(content)
    found: Found = pickle.loads(file.read_bytes())  # noqa: S301 - written here
    return found


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


@dataclass(slots=True)
class _Tried:
    """What is known of a mutant before it is tried alone."""

    killed: str = ""
    decided: set[Run] = field(default_factory=set)
    """The runs that came to what is declared."""
    same: set[Run] = field(default_factory=set)
    """The runs that have as many states and levels as before."""
    is_large: bool = False
    """Whether it has many more states than the module in some run."""


def try_quickly(folder: Path, mutants: Sequence[SpecMutant]) -> Iterator[Result]:
    """The mutants that short runs kill: those that must fail, and small ones. Others stay as they were.

    Raises:
        ValueError: a module as it is gives another result than declared.

    """
    plain = _AsTheyAre(folder, {name for one in mutants for name in one.checked})
    tried = {one.result.key: _Tried() for one in mutants}
    short = [one for one in plain.runs if one.violates or _states(plain, one) <= _LEAST_STATES]
    for run in sorted(short, key=lambda one: plain.checked(one).seconds):
        for chunk in _chunks(partial(_states, plain, run), run, tried, _not_large(mutants, tried)):
            yield from _of_many(folder, run, _size(plain.checked(run)), tried, chunk)


def _chunks(
    states: Callable[[], int],
    run: Run,
    tried: Mapping[Hashable, _Tried],
    mutants: Iterable[SpecMutant],
    together: int = _STATES_TOGETHER,
) -> list[Sequence[SpecMutant]]:
    """What is left to be tried by a run, as many at once as it may have; nothing where that is one."""
    left = [one for one in mutants if run.module in one.checked and not tried[one.result.key].killed]
    size = min(_TOGETHER, together // max(1, states())) if left else 0
    return [left[start : start + size] for start in range(0, len(left), size)] if size > 1 else []


def _states(plain: _AsTheyAre, run: Run) -> int:
    return _size(plain.checked(run))[0]


def _not_large(mutants: Iterable[SpecMutant], tried: Mapping[Hashable, _Tried]) -> list[SpecMutant]:
    return [one for one in mutants if not tried[one.result.key].is_large]


def try_mutants(folder: Path, mutants: Sequence[SpecMutant], jobs: int = 2) -> Iterator[Result]:
    """What becomes of mutants, each as it is known.

    First the agreements, the smallest first, of many mutants at once: states and steps that are other than before
    kill. Then so all runs, the shortest first. Where all runs of a mutant that must pass have as many
    states and levels as before, and the largest of the small ones the same states, the mutant changes nothing; else
    the runs that must be done of it alone, and the graphs of the agreements, decide.

    Raises:
        ValueError: a module as it is gives another result than declared.

    """
    plain = _AsTheyAre(folder, {name for one in mutants for name in one.checked})
    tried = {one.result.key: _Tried() for one in mutants}
    with ThreadPoolExecutor(jobs) as pool:
        yield from _by_graphs(folder, plain, tried, mutants, pool)
        for run in plain.in_order({name for one in mutants for name in one.checked}):
            chunks = _chunks(partial(_states, plain, run), run, tried, _not_large(mutants, tried))
            of_chunk = partial(_of_many, folder, run, _size(plain.checked(run)) if chunks else (), tried)
            for chunk in pool.map(of_chunk, chunks):
                yield from chunk
        left = [one for one in mutants if not tried[one.result.key].killed]
        yield from pool.map(partial(_outcome, folder, plain, tried), left)


def try_by_graphs(
    folder: Path, mutants: Sequence[SpecMutant], jobs: int = 2, most: float = math.inf
) -> Iterator[Result]:
    """The mutants with which an agreement of at most so many states has others, or other steps. Others stay."""
    plain = _AsTheyAre(folder, {name for one in mutants for name in one.checked})
    with ThreadPoolExecutor(jobs) as pool:
        yield from _by_graphs(folder, plain, {one.result.key: _Tried() for one in mutants}, mutants, pool, most=most)


def _by_graphs(
    folder: Path,
    plain: _AsTheyAre,
    tried: Mapping[Hashable, _Tried],
    mutants: Sequence[SpecMutant],
    pool: ThreadPoolExecutor,
    *,
    most: float = math.inf,
) -> Iterator[Result]:
    for run in sorted((one for one in plain.graphs if plain.states_of(one) <= most), key=plain.states_of):
        chunks = _chunks(partial(plain.states_of, run), run, tried, mutants, _STATES_OF_GRAPHS)
        for chunk in pool.map(partial(_of_graph, folder, run, plain, tried), chunks):
            yield from chunk


def _of_graph(
    folder: Path, run: Run, plain: _AsTheyAre, tried: Mapping[Hashable, _Tried], mutants: Sequence[SpecMutant]
) -> list[Result]:
    """The mutants with which an agreement has other states or steps, or TLC ends with an error."""
    killed: list[Result] = []
    for number, kind in sorted(_other_graphs(folder, run, mutants, plain.states_of(run)).items()):
        known = tried[mutants[number].result.key]
        known.killed = f"{kind} {run.module}: {run.name}"
        killed.append(replace(mutants[number].result, outcome=known.killed))
    return killed


def _of_many(
    folder: Path,
    run: Run,
    size: tuple[int, ...],
    tried: Mapping[Hashable, _Tried],
    mutants: Sequence[SpecMutant],
) -> list[Result]:
    """The mutants that a run kills; of the others what it shows is noted."""
    killed: list[Result] = []
    for mutant, found in zip(mutants, _together(folder, run, mutants, size), strict=True):
        known = tried[mutant.result.key]
        if found.verdict in {"run", "error"}:
            known.killed = f"{found.verdict} {run.module}: {run.name}"
            killed.append(replace(mutant.result, outcome=known.killed))
        if found.verdict == "declared":
            known.decided.add(run)
        if found.is_same:
            known.same.add(run)
        known.is_large = known.is_large or found.verdict == _BEYOND
    return killed


def _outcome(folder: Path, plain: _AsTheyAre, tried: Mapping[Hashable, _Tried], mutant: SpecMutant) -> Result:
    with tempfile.TemporaryDirectory(prefix="hudi-spec-mutant-") as place:
        mutated = Path(place) / "tla"
        shutil.copytree(folder, mutated)
        (mutated / f"{mutant.file}.tla").write_text(mutant.text, encoding="utf-8")
        found = _of_runs(mutated, plain, tried[mutant.result.key], mutant.checked)
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


def _of_runs(mutated: Path, plain: _AsTheyAre, known: _Tried, modules: AbstractSet[str]) -> str:
    """What kills a mutant, or that it is unchanged; nothing where it changes what no run notices."""
    order = plain.in_order(modules)

    def is_unchanged() -> bool:
        return all(one in known.same for one in order if one.violates is None) and _is_same(mutated, plain, modules)

    if is_unchanged():
        return UNCHANGED
    for run in (one for one in order if one not in known.decided):
        killed, is_other = _of_run(mutated, plain, run)
        if killed:
            return killed
        if not is_other:
            known.same.add(run)
    return UNCHANGED if is_unchanged() else ""


def _of_run(mutated: Path, plain: _AsTheyAre, run: Run) -> tuple[str, bool]:
    """How a run kills a mutant, if it does; whether it has other numbers of states or levels than before."""
    before = plain.checked(run)
    checked = run_tlc(mutated, replace(run, limit_s=max(_LEAST_S, _TIMES * before.seconds)))
    if checked.finding is None:
        return f"limit {run.module}: {run.name}", True
    kind = "run" if checked.finding.violated or checked.finding.passed else "error"
    return f"{kind} {run.module}: {run.name}" if checked.fault else "", _size(checked) != _size(before)


def _is_same(mutated: Path, plain: _AsTheyAre, modules: AbstractSet[str]) -> bool:
    """Whether the largest of the small runs that must pass has the same states and steps; counts alone may agree."""
    found = [(_size(plain.checked(one))[0], one) for one in plain.in_order(modules) if one.violates is None]
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
    """Not the steps: TLC counts one for each way that a condition has to be true."""
    found = checked.finding
    return (found.distinct_states, found.depth) if found else ()


@dataclass(frozen=True, slots=True)
class _OfOne:
    """What a run of many mutants shows of one: `run`, `error` or `declared`; else it must be tried alone."""

    verdict: str = ""
    is_same: bool = False


_MUTANTS: Final = "Mutants"
_MUTATED: Final = "Mutated"
_BROKEN: Final = 100_000
"""Registers of TLC from here on say which mutants have broken something; those below count states."""
_NOTED: Final = re.compile(r"^<<(?P<mutant>\d+), (?P<level>\d+)>>$", re.MULTILINE)
_FOUND: Final = re.compile(r'^"(?P<name>\w+) of (?P<mutant>\d+)"$', re.MULTILINE)
_BEYOND: Final = "Beyond"
_IN_ERROR: Final = re.compile(r"^(?:/\\ )?mutant = (?P<mutant>\d+)$", re.MULTILINE)
_OF_STEPS: Final = re.compile(
    r"^(?P<name>\w+) ==\s*(?:\[\]\[(?P<body>.*?)\]_(?P<variables>\w+)|(?P<instance>\w+)!Spec)$",
    re.MULTILINE | re.DOTALL,
)


def _together(folder: Path, run: Run, mutants: Sequence[SpecMutant], size: tuple[int, ...]) -> list[_OfOne]:
    """What one run shows of many mutants, numbered from 1; 0 is the module as it is.

    Raises:
        ValueError: the module as it is gives another result than declared.

    """
    question = _Question.of(folder, run, size)
    if run.violates in question.progress:
        return [_OfOne() for _ in mutants]
    output, _, errors = _output_of_all(folder, run, mutants, question.output)
    if not output:
        return [_OfOne() for _ in mutants]
    sizes, broken = _sizes(output), dict[int, str]()
    # Of a step TLC reports what its state violates before what the step itself does.
    for match in sorted(_FOUND.finditer(output), key=lambda one: one["name"] in question.steps):
        broken.setdefault(int(match["mutant"]), match["name"])
    if broken.get(0) == _BEYOND:
        return [_OfOne() for _ in mutants]
    if broken.get(0) != run.violates:
        raise ValueError(f"{run.module} as it is, beside mutants: {run.name}: {broken.get(0)} is violated")
    return [
        _OfOne("error" if number in errors else question.verdict(broken.get(number)), sizes.get(number) == sizes[0])
        for number in range(1, len(mutants) + 1)
    ]


def _output_of_all(
    folder: Path,
    run: Run,
    mutants: Sequence[SpecMutant],
    query: Callable[[Path, AbstractSet[int]], tuple[str, str]],
) -> tuple[str, str, AbstractSet[int]]:
    """What TLC prints and dumps of many mutants, and those of which it ends with an error; nothing without an end."""
    with tempfile.TemporaryDirectory(prefix="hudi-spec-mutants-") as name:
        place, errors = Path(name), set[int]()
        for file, text in _with_all(folder, mutants).items():
            (place / file).write_text(text, encoding="utf-8")
        (place / run.config).write_text((folder / run.config).read_text(encoding="utf-8"), encoding="utf-8")
        # Of an error TLC ends: once more, without the mutant of which it is.
        while (found := query(place, set(range(len(mutants) + 1)) - errors))[0] and not _has_ended(found[0]):
            last = [int(match["mutant"]) for match in _IN_ERROR.finditer(found[0])][-1:]
            if not last or last[0] == 0:
                return "", "", errors
            errors.update(last)
    return *found, errors


def _other_graphs(folder: Path, run: Run, mutants: Sequence[SpecMutant], states: int) -> dict[int, str]:
    """Which mutants, numbered from 0, are killed by an agreement: `error`, or `agreement` for other states or steps.

    The names of steps are not compared: TLC names each step of many mutants the same.
    """
    question = replace(_Question.of(folder, run, (states, 0)), states=states)
    output, dump, errors = _output_of_all(folder, run, mutants, question.dumped)
    if not output:
        return {}
    parts = _by_mutant(read_dump(dump))
    others = (number for number in range(1, len(mutants) + 1) if number not in errors and parts.get(number) != parts[0])
    return {**dict.fromkeys((one - 1 for one in errors), "error"), **{one - 1: "agreement" for one in others}}


_Steps = tuple[set[State], set[State], set[tuple[State, State]]]


def _by_mutant(graph: Graph) -> dict[int, _Steps]:
    """The first states, all states and the steps of each mutant."""
    plain = {state: _plain(state) for state in graph.states}
    found: dict[int, _Steps] = {}
    for state, (number, without) in plain.items():
        first, all_states, _ = found.setdefault(number, (set(), set(), set()))
        all_states.add(without)
        if state in graph.initial:
            first.add(without)
    for before, _, after in graph.edges:
        (number, start), (_, end) = plain[before], plain[after]
        found[number][2].add((start, end))
    return found


def _plain(state: State) -> tuple[int, State]:
    """Which mutant a state is of, and the state without that."""
    number = next(value for name, value in state.pairs if name == "mutant")
    if not isinstance(number, int):
        raise TypeError(number)
    return number, Function(frozenset(pair for pair in state.pairs if pair[0] != "mutant"))


def _has_ended(output: str) -> bool:
    return f"STARTMSG {SUCCESS}:" in output


def _sizes(output: str) -> dict[int, tuple[int, int]]:
    """How many states and levels each mutant has."""
    found: dict[int, tuple[int, int]] = {}
    for match in _NOTED.finditer(output):
        count, level = found.get(number := int(match["mutant"]), (0, 0))
        found[number] = count + 1, max(level, int(match["level"]))
    return found


@dataclass(frozen=True, slots=True)
class _Question:
    """What a run asks of every mutant."""

    run: Run
    configuration: Configuration
    specification: tuple[str, str]
    """What it begins with, and its step."""
    steps: Mapping[str, str]
    """Properties that each step has or breaks, and what they say of one."""
    progress: tuple[str, ...]
    """Properties that are left for a run of one mutant alone."""
    states: int
    levels: int
    """How many of them are too many."""

    @classmethod
    def of(cls, folder: Path, run: Run, size: tuple[int, ...]) -> "_Question":
        """That of a run that has as many states and levels where the module is as it is."""
        configuration, sources = load_run(folder, run)
        steps = _of_steps(sources, run.module)
        form = re.compile(rf"^{configuration.specification} == (\w+) /\\ \[\]\[(\w+)\]_", re.MULTILINE)
        begins = next((match[1], match[2]) for text in sources.values() if (match := form.search(text)))
        progress = tuple(name for name in configuration.properties if name not in steps)
        wanted = {name: steps[name] for name in configuration.properties if name in steps}
        bounds = max(_LEAST_STATES, _TIMES * size[0]), max(_LEAST_LEVELS, _TIMES * size[1])
        return cls(run, configuration, begins, wanted, progress, *bounds)

    def output(self, place: Path, tried: AbstractSet[int]) -> tuple[str, str]:
        """What TLC prints of some mutants; nothing where it comes to no end."""
        return self._requested(place, self._module(tried), ("INVARIANT Noted", "ACTION_CONSTRAINT Stepped"))

    def dumped(self, place: Path, tried: AbstractSet[int]) -> tuple[str, str]:
        """What TLC prints of some mutants and the graph of all: each to the first state too many."""
        return self._requested(place, self._counting(tried), ("INVARIANT Noted",), DUMPS)

    def _requested(self, place: Path, module: str, checks: Sequence[str], more: Sequence[str] = ()) -> tuple[str, str]:
        (place / f"{_MUTATED}.tla").write_text(module, encoding="utf-8")
        lines = ["CONSTANTS", *(f"  {name} = {value}" for name, value in self.configuration.constants.items())]
        lines += [f"INIT {_MUTATED}Init", f"NEXT {_MUTATED}Next", "CONSTRAINT Alive", *checks]
        run = replace(self.run, module=_MUTATED, limit_s=_TOGETHER_S)
        try:
            return dump_with(place, run, {"run.cfg": "\n".join([*lines, ""])}, *more)
        except ManifestError:
            return "", ""

    def verdict(self, broken: str | None) -> str:
        """What the first that a mutant breaks says of it."""
        if broken == _BEYOND:
            return broken
        if broken != self.run.violates:
            return "run"
        return "" if self.progress else "declared"

    def _head(self, tried: Iterable[int]) -> str:
        """Each mutant from the beginning."""
        begins, goes = self.specification
        return f"""---- MODULE {_MUTATED} ----
EXTENDS {self.run.module}
LOCAL INSTANCE Integers
LOCAL INSTANCE Sequences
LOCAL INSTANCE TLC
Tried == {{{", ".join(map(str, sorted(tried)))}}}
ASSUME \\A one \\in Tried: TLCSet(one, 0) /\\ TLCSet({_BROKEN} + one, 0)
{_MUTATED}Init == mutant \\in Tried /\\ {begins}
{_MUTATED}Next == mutant' = mutant /\\ {goes}
"""

    def _counting(self, tried: Iterable[int]) -> str:
        """The module that TLC runs for graphs."""
        return f"""{self._head(tried)}Noted == TLCSet(mutant, TLCGet(mutant) + 1)
Alive == TLCGet(mutant) <= {self.states} + 1
====
"""

    def _module(self, tried: Iterable[int]) -> str:
        """The module that TLC runs for checks; what each mutant breaks first is printed."""
        defined = "".join(f"StepOf{name} ==\n{text}\n" for name, text in self.steps.items())
        broken = _first((name, name) for name in self.configuration.invariants)
        return f"""{self._head(tried)}Noted ==
  /\\ TLCSet(mutant, TLCGet(mutant) + 1)
  /\\ PrintT(<<mutant, TLCGet("level")>>)
  /\\ IF TLCGet(mutant) > {self.states} \\/ TLCGet("level") > {self.levels} THEN {_reported(_BEYOND)}
    ELSE {broken}
Alive == TLCGet({_BROKEN} + mutant) = 0
{defined}Stepped ==
  {_first((name, f"StepOf{name}") for name in self.steps)}
====
"""


def _reported(name: str) -> str:
    return f'TLCSet({_BROKEN} + mutant, 1) /\\ PrintT("{name} of " \\o ToString(mutant))'


def _first(checks: Iterable[tuple[str, str]]) -> str:
    return "".join(f"IF ~{text} THEN {_reported(name)}\n    ELSE " for name, text in checks) + "TRUE"


def _with_all(folder: Path, mutants: Sequence[SpecMutant]) -> dict[str, str]:
    """The modules, in which the number of a mutant decides what stands at its place."""
    found = {path.name: path.read_text(encoding="utf-8") for path in folder.glob("*.tla")}
    by_file: dict[str, dict[Place, list[tuple[int, SpecMutant]]]] = {}
    for number, one in enumerate(mutants, start=1):
        by_file.setdefault(f"{one.file}.tla", {}).setdefault(one.place, []).append((number, one))
    for file, places in by_file.items():
        text, added = found[file], list[tuple[int, bool, int, str]]()
        for place, here in places.items():
            first, end = place.extent(text)
            blanks, after = " " * (place.column - 1), " " * place.last_column
            # What stands on lines of its own keeps its columns, which count in lists.
            whole = f"\n{blanks}{text[first:end]}\n{blanks}"
            answers = "".join(f"IF mutant = {number} THEN {one.by(whole)} ELSE " for number, one in here)
            rest = text[end : text.find("\n", end)].strip()
            # At one place the greater one begins first, and ends last.
            added.append((first, True, first - end, f"({answers}\n{blanks}"))
            added.append((end, False, end - first, ")" + (f"\n{after}" if rest else "")))
        found[file] = _declaring(_inserted(text, sorted(added)))
    return found | {f"{_MUTANTS}.tla": f"---- MODULE {_MUTANTS} ----\n\\* @type: Int;\nVARIABLE mutant\n====\n"}


def _inserted(text: str, added: Iterable[tuple[int, bool, int, str]]) -> str:
    parts, done = list[str](), 0
    for position, _, _, more in added:
        parts += [text[done:position], more]
        done = position
    return "".join([*parts, text[done:]])


def _declaring(text: str) -> str:
    """A module that knows which mutant it is."""
    if EXTENDED.search(text):
        return EXTENDED.sub(lambda match: f"EXTENDS {_MUTANTS}, {match['names']}", text, count=1)
    return re.sub(r"^(-+ MODULE .*)$", rf"\1\nEXTENDS {_MUTANTS}", text, count=1, flags=re.MULTILINE)


def _of_steps(sources: Mapping[str, str], module: str) -> dict[str, str]:
    """Properties that each step has or breaks, and what they say of one; those of the modules that a module extends."""
    found: dict[str, str] = {}
    waiting, known = [module], set[str]()
    while waiting:
        known.add(name := waiting.pop())
        text = sources.get(f"{name}.tla", "")
        waiting += [
            one for each in EXTENDED.finditer(text) for one in re.findall(r"\w+", each["names"]) if one not in known
        ]
        for match in _OF_STEPS.finditer(text):
            if inner := match["instance"]:
                found[match["name"]] = f"  {inner}!Next \\/ UNCHANGED {inner}!table"
            elif not re.search(r"^\w+(?:\(.*\))? ==", match["body"], re.MULTILINE):
                # Where a list stands below itself its columns count.
                start = match.start("body")
                blanks = " " * (start - text.rfind("\n", 0, start) - 2)
                found[match["name"]] = f"{blanks}({match['body']})\n  \\/ UNCHANGED {match['variables']}"
    return found


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


_Change = tuple[Place, Change]


def _changes_kept(folder: Path, module: str) -> list[_Change]:
    """Those of a module and what it extends; of the same sources SANY reads them once."""
    sources = {path.name: path.read_text(encoding="utf-8") for path in folder.glob("*.tla")}
    file = _file_of("changes", module, _read_by(sources, module), Path(__file__).read_text(encoding="utf-8"))
    return _from_file(file, lambda: list(_changes(_parsed(folder, module), module)))


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
        yield place, Change("drop")
        yield place, Change("negate")
        return
    if parsed.name(node) == "=" and (variable := _changed(parsed, node)):
        yield place, Change("leave", variable)
    operands = _operands(node)
    if parsed.name(node) == "Goes":
        # The step that an action begins with is its first condition.
        yield _place(operands[1]), Change("from any step", parsed.name(operands[0]))


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
