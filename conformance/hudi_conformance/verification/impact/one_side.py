"""One side of a comparison: runs by its path under the packages of that side, which may be an older revision's.

Asked by a line of JSON on its standard input, it answers lines of JSON: how much there is to do, what each comes to,
and which functions of the model ran for it. Of what is known already it answers the names.
It uses only what every revision has; how the newest draw a counterexample is requested and may be missing.
"""

import ast
import builtins
import fnmatch
import hashlib
import json
import os
import sys
import tempfile
import zipfile
from collections.abc import Callable, Generator, Iterable, Iterator
from functools import _lru_cache_wrapper
from importlib.machinery import PathFinder, SourceFileLoader
from pathlib import Path
from types import CodeType, ModuleType
from typing import Any

Line = dict[str, Any]
_ARCHIVE = "table.zip"
MEMORY = "/dev/shm" if os.access("/dev/shm", os.W_OK) else None  # noqa: S108 - names are made by tempfile
"""Where small files come and go quickly; None is the usual place."""


RECORDED = ("hudi_model", "hudi_model_tools")
"""The packages of which each function records that it runs."""
REACHED: set[str] = set()
_AT_IMPORT: set[str] = set()
"""What ran while modules were imported: everything that follows depends on it."""
_MEMOS: dict[int, Any] = {}
"""The functions that keep their results in memory."""


class Recording(SourceFileLoader):
    """Loads a module of this project, one of the model so that its functions record their names as they start."""

    def get_code(self, fullname: str) -> CodeType | None:
        """That of the model is compiled from its source: what is compiled already records nothing."""
        if fullname.partition(".")[0] not in RECORDED:
            return super().get_code(fullname)
        tree = ast.parse(self.get_data(self.path))
        record(tree.body, f"{fullname}.__init__" if self.is_package(fullname) else fullname)
        return compile(ast.fix_missing_locations(tree), self.path, "exec", dont_inherit=True)

    def exec_module(self, module: ModuleType) -> None:
        """Run it; what it calls as it is imported, it calls for everybody."""
        before = REACHED.copy()
        REACHED.clear()
        try:
            super().exec_module(module)
        finally:
            # Who imports it may do without: what ran before has run all the same.
            _AT_IMPORT.update(REACHED)
            REACHED.update(before)
        if module.__name__.startswith("hudi_conformance"):
            _MEMOS.update({id(one): one for one in vars(module).values() if isinstance(one, _lru_cache_wrapper)})


class Finder(PathFinder):
    """Finds the modules of this project for that loader."""

    @classmethod
    def find_spec(cls, fullname: str, path: Any = None, target: Any = None) -> Any:
        """As Python finds them, with another loader."""
        spec = super().find_spec(fullname, path, target) if fullname.startswith("hudi_") else None
        if spec is not None and type(spec.loader) is SourceFileLoader:
            spec.loader = Recording(spec.loader.name, spec.loader.path)
        return spec


def record(body: list[ast.stmt], place: str) -> None:
    """Let each function of a module or a class, and those inside of it, record the outer one's name first."""
    for node in body:
        if isinstance(node, ast.ClassDef):
            record(node.body, f"{place}.{node.name}")
        elif isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef):
            for one in ast.walk(node):
                if isinstance(one, ast.FunctionDef | ast.AsyncFunctionDef):
                    name = ast.Constant(f"{place}.{node.name}")
                    call = ast.Expr(ast.Call(ast.Name("__hudi_reached__", ast.Load()), [name], []))
                    first = 1 if ast.get_docstring(one, clean=False) is not None else 0
                    one.body.insert(first, ast.copy_location(call, one.body[0]))


def begin() -> None:
    """What follows is recorded alone, and computes again what was kept in memory for something before."""
    for one in _MEMOS.values():
        one.cache_clear()
    REACHED.clear()


def reached() -> list[str]:
    """The functions of the model that ran since, or while modules were imported."""
    return sorted(REACHED | _AT_IMPORT)


def main() -> None:
    """Answer what is asked."""
    # The folder of this program holds modules of the newest side, and no side may import those.
    sys.path[:] = [one for one in sys.path if Path(one).resolve() != Path(__file__).resolve().parent]
    setattr(builtins, "__hudi_reached__", REACHED.add)  # noqa: B010 - a name that no module has
    sys.meta_path.insert(0, Finder)
    import hudi_model  # noqa: PLC0415 - the packages are those of this side

    request = json.loads(sys.stdin.readline())
    send({"task": "place", "path": str(hudi_model.__file__)})
    tasks: dict[str, Callable[[Any], Iterable[Line]]] = {
        "answers": answers,
        "properties": properties,
        "scenarios": scenarios,
        "agreements": agreements,
    }
    for name, work in request.items():
        for line in tasks[name](work):
            send({"task": name, **line, **({"reach": reached()} if "cases" in line or "holds" in line else {})})


def send(line: Line) -> None:
    """One line of answer."""
    sys.stdout.write(json.dumps(line, ensure_ascii=True) + "\n")
    sys.stdout.flush()


def answers(request: Line) -> Iterator[Line]:
    """What this side's model answers to the questions of its corpus, and the sums of the tables that it writes."""
    from hudi_conformance.bridge import load, store  # noqa: PLC0415
    from hudi_conformance.corpus.golden.questions import RECIPES  # noqa: PLC0415
    from hudi_conformance.corpus.golden.recipes import load_recipes  # noqa: PLC0415
    from hudi_conformance.corpus.recipes_apache.catalogue import written_tables  # noqa: PLC0415

    load_recipes()
    root = Path(request["folder"])
    made_here = {name: one for name, one in RECIPES.items() if wanted(name, request["tables"])}
    there = {
        n: one
        for n, one in written_tables().items()
        if wanted(n, request["tables"]) and (root / n / _ARCHIVE).is_file()
    }
    unknown = yield from part_of(request, [*made_here, *there], len(RECIPES) + len(written_tables()), "table")
    for name, recipe in ((name, made_here[name]) for name in unknown if name in made_here):
        begin()
        with tempfile.TemporaryDirectory(prefix="hudi-impact-table-", dir=MEMORY) as place:
            folder = Path(place) / "table"
            try:
                made = recipe.made()
                store(made.state(), folder)
                for damage in made.damages:
                    damage(folder)
                questions = made.questions
            except Exception as error:  # noqa: BLE001 - a changed model may break anywhere, and that is the answer
                yield {"table": name, "sum": repr(error), "cases": {}}
                continue
            yield {"table": name, "sum": sum_of(folder), "cases": cases(load(folder), questions)}
    for name, written in ((name, there[name]) for name in unknown if name in there):
        begin()
        with (
            tempfile.TemporaryDirectory(prefix="hudi-impact-table-", dir=MEMORY) as place,
            zipfile.ZipFile(root / name / _ARCHIVE) as kept,
        ):
            kept.extractall(place)
            state = load(Path(place))
            yield {"table": name, "sum": "", "cases": cases(state, written.made(state).questions)}


def part_of(request: Line, names: list[str], there_are: int, key: str) -> Generator[Line, None, list[str]]:
    """Which of these this process computes: of what is not known already, its part. The first answers what is known."""
    first, parts = request["part"]
    known = set(request["known"])
    unknown = [name for name in names if name not in known][first::parts]
    yield {"total": len(unknown), "known": there_are}
    if first == 0:
        yield from ({key: name, "kept": True} for name in names if name in known)
    return unknown


def wanted(name: str, globs: Iterable[str]) -> bool:
    """Whether a table is asked about."""
    return not globs or any(fnmatch.fnmatchcase(name, glob) for glob in globs)


def cases(state: Any, questions: Iterable[Any]) -> Line:
    """The answers to a table's questions, by the names of the cases."""
    return {one.id: {"title": one.title, "clauses": list(one.clauses), **answer(state, one)} for one in questions}


def answer(state: Any, question: Any) -> Line:
    """The answer to one question under both readings, as texts."""
    from hudi_conformance.corpus.golden.answers import expected  # noqa: PLC0415

    try:
        found = expected(state, question)
        return {"released": text_of(found.released), "text": text_of(found.text) if found.text else ""}
    except Exception as error:  # noqa: BLE001 - likewise
        return {"released": f"breaks: {error!r}", "text": ""}


def text_of(verdict: Any) -> str:
    """An answer as one text: a refusal, or rows or a value with the warnings."""
    if not verdict.answers:
        return f"refused: {verdict.reject or verdict.unsupported}\n"
    content = verdict.content
    rows = sorted(map(repr, content.rows)) if hasattr(content, "rows") else [json.dumps(content, sort_keys=True)]
    return "".join(f"{row}\n" for row in rows) + "".join(f"warning: {clause}\n" for clause in verdict.warnings)


def sum_of(folder: Path) -> str:
    """The sum of a folder's files."""
    whole = hashlib.sha256()
    for path in sorted(path for path in folder.rglob("*") if path.is_file()):
        whole.update(path.relative_to(folder).as_posix().encode() + b"\0" + path.read_bytes())
    return whole.hexdigest()


def properties(request: Line) -> Iterator[Line]:
    """How properties come out: those named, or those of the clauses and the functions that are touched, or all."""
    from hudi_conformance.corpus.mutants import MUTANTS  # noqa: PLC0415
    from hudi_conformance.verification import properties as stated  # noqa: PLC0415
    from hudi_conformance.verification.proving import tried  # noqa: PLC0415

    # The second name is that of older bases.
    registry = vars(stated).get("MODEL_PROPERTIES") or vars(stated)["OBLIGATIONS"]
    functions = set(request["functions"])
    broken = {one.name for one in MUTANTS.values() if f"{one.module}.{one.function}" in functions}
    chosen = {
        one.id: one
        for one in sorted(registry.values(), key=lambda one: str(one.id))
        if request["all"]
        or one.id in request["ids"]
        or not set(request["clauses"]).isdisjoint(one.clauses)
        or not broken.isdisjoint(one.broken_by)
        or f"{one.check.__module__}.{one.check.__name__}" in functions
    }
    unknown = yield from part_of(request, list(chosen), len(registry), "id")
    for one in map(chosen.__getitem__, unknown):
        begin()
        line = {"id": one.id, "title": one.title, "clauses": list(one.clauses), "expected": one.verdict != "refuted"}
        try:
            found = tried(one).found
        except Exception as error:  # noqa: BLE001 - likewise
            yield {**line, "holds": False, "message": f"breaks: {error!r}", "words": [], "behaviour": None}
            continue
        message, words = (found.message, list(found.steps)) if found else ("", [])
        behaviour = drawable(one.id, found) if found else None
        yield {**line, "holds": found is None, "message": message, "words": words, "behaviour": behaviour}


def drawable(place: str, found: Any) -> Any:
    """A counterexample with its states; None from a revision that does not keep them."""
    try:
        from hudi_conformance.verification.counterexamples.sources import of_counterexample  # noqa: PLC0415
    except ImportError:
        return None
    return of_counterexample(found, place).as_json()


def scenarios(request: Line) -> Iterator[Line]:
    """Whether the laws of scenarios hold: of those named, else of all but the large."""
    from hudi_conformance.verification.properties.scenarios import SCENARIOS  # noqa: PLC0415
    from hudi_conformance.verification.proving import SOAKED  # noqa: PLC0415

    small = [name for name in SCENARIOS if request["all"] or name not in SOAKED]
    chosen = [name for name in request["ids"] or small if name in SCENARIOS]
    unknown = yield from part_of(request, chosen, len(SCENARIOS), "id")
    for one in map(SCENARIOS.__getitem__, unknown):
        begin()
        line = {"id": one.name, "title": one.sentence, "clauses": [], "expected": "(refuted" not in one.sentence}
        try:
            found = one.search()
        except Exception as error:  # noqa: BLE001 - likewise
            yield {**line, "holds": False, "message": f"breaks: {error!r}", "words": [], "behaviour": None}
            continue
        yield {**line, "holds": not found.broken, "message": found.broken, **way_of(one, found)}


def way_of(scenario: Any, found: Any) -> Line:
    """The shortest way to a broken law, in words and with its states."""
    from hudi_conformance.verification.properties.concurrency import counterexample  # noqa: PLC0415

    if not found.broken:
        return {"words": [], "behaviour": None}
    behaviour = counterexample(scenario.name, found)
    return {"words": list(behaviour.steps), "behaviour": drawable(f"scenario {scenario.name}", behaviour)}


def agreements(request: Line) -> Iterator[Line]:
    """Whether modules agree with the model: of those named the agreements, by module and name."""
    from hudi_conformance.verification.agreement.comparing import compare  # noqa: PLC0415
    from hudi_conformance.verification.tla.manifest import load_manifest  # noqa: PLC0415

    folder = Path(request["folder"])
    known = load_manifest(folder).agreements
    chosen = [
        one
        for one in known
        if one.run.module in request["modules"] or f"{one.run.module}: {one.run.name}" in request["ids"]
    ]
    by_name = {f"{one.run.module}: {one.run.name}": one for one in chosen}
    unknown = yield from part_of(request, list(by_name), len(known), "id")
    for one in map(by_name.__getitem__, unknown):
        begin()
        line = {"id": f"{one.run.module}: {one.run.name}", "title": "the module agrees with the model", "clauses": []}
        try:
            words = list(compare(folder, one).differs)
        except Exception as error:  # noqa: BLE001 - likewise
            words = [repr(error)]
        yield {
            **line,
            "expected": True,
            "holds": not words,
            "message": next(iter(words), ""),
            "words": words[1:],
            "behaviour": None,
        }


if __name__ == "__main__":
    main()
