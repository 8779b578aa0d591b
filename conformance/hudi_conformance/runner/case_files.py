"""The files of the corpus, read: `table.toml` of golden tables, with their cases, and the files of cases that write."""

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any, TypeVar

from hudi_format.compat import tomllib

from hudi_conformance.runner.answers_file import names
from hudi_conformance.runner.case_values import (
    CONFIGURED,
    READER,
    SERVICER,
    WRITER,
    WRITING,
    WRITING_OPS,
    Case,
    Expectation,
    GoldenTable,
    Step,
    StoredAnswer,
)
from hudi_conformance.runner.resources import CorpusError

Result = TypeVar("Result")
DESCRIBED = "table.toml"
"""The file that says what a golden table is: its traits, the list of its files, its cases."""
EXPECTED = "expected.json"
"""The file with the answers of a golden table."""
_ROLES = (WRITER, SERVICER, READER)


def table_of(folder: Path, table_id: str) -> GoldenTable:
    """The golden table of a folder.

    Raises:
        CorpusError: its file does not parse or lacks an entry.

    """
    path = folder / DESCRIBED
    return _understood(path, _described, folder, table_id, _toml(path))


def cases_of(table: GoldenTable) -> tuple[Case, ...]:
    """The cases of one table, in the order of their file.

    Raises:
        CorpusError: the file does not parse, lacks an entry, or names one case twice.

    """
    path = table.folder / DESCRIBED
    cases: tuple[Case, ...] = _understood(path, _cases, table, _toml(path))
    for name in {case.name for case in cases}:
        if sum(case.name == name for case in cases) > 1:
            raise CorpusError(f"{table.id}: case {name!r} stands in {DESCRIBED} twice")
    return cases


def writing_cases_of(file: Path, tables: Mapping[str, GoldenTable]) -> tuple[Case, ...]:
    """The cases of a file of cases that write; `tables` are those that they may begin with.

    Raises:
        CorpusError: it does not parse, lacks an entry, or names an unknown table, role or answer.

    """
    return _understood(file, _writing_cases, file, _toml(file), tables)


def _writing_cases(file: Path, content: Mapping[str, Any], tables: Mapping[str, GoldenTable]) -> tuple[Case, ...]:
    answers = file.with_suffix(".json")
    return tuple(
        _writing_case(file, content, entry, Answers(answers, entry["id"]), tables) for entry in content["case"]
    )


@dataclass(frozen=True, slots=True)
class Answers:
    """The answers of one case in the file that it shares with others: those of its own, then those of all."""

    file: Path
    owner: str = ""

    def kept(self, name: str) -> StoredAnswer:
        """The answer of a name.

        Raises:
            CorpusError: the file cannot be read.

        """
        own = f"{self.owner}/{name}"
        return StoredAnswer(self.file, own if self.owner and own in names(self.file) else name)


def _writing_case(
    file: Path,
    content: Mapping[str, Any],
    entry: Mapping[str, Any],
    answers: Answers,
    tables: Mapping[str, GoldenTable],
) -> Case:
    """What a case does not say itself, the file says for all; of `shape` and `configs` it says what differs."""
    stated = {**content, **entry}
    begins_with = stated.get("table")
    if begins_with is not None and begins_with not in tables:
        raise ValueError(f"there is no golden table {begins_with}")
    shape, configs = (dict(content.get(name, {})) | entry.get(name, {}) for name in ("shape", "configs"))
    steps = [
        _completed(step, shape, configs, content.get("schemas", {})) for step in content["scripts"][stated["script"]]
    ]
    table = GoldenTable(
        id=f"{WRITING}/{file.parent.name}",
        folder=file.parent,
        title=str(stated["title"]),
        version=int(stated["table_version"]),
        features=tuple(stated.get("features", [])),
    )
    case = _case(table, file, answers, {**stated, "steps": steps}, tables[begins_with] if begins_with else None)
    unknown = sorted({step.by for step in case.steps} - set(_ROLES))
    if unknown:
        raise ValueError(f"{unknown[0]!r} is no role: {', '.join(_ROLES)}")
    return case


def _completed(
    step: Mapping[str, Any], shape: Mapping[str, Any], configs: Mapping[str, Any], schemas: Mapping[str, str]
) -> dict[str, Any]:
    """A step with the parameters that it shares with others."""
    params = dict(step.get("params", {}))
    if step["op"] == "create_table":
        absent = params.pop("absent", [])
        params = {name: value for name, value in {**shape, **params}.items() if name not in absent}
        params["schema"] = schemas.get(params.get("schema", ""), params.get("schema"))
    elif step["op"] in CONFIGURED:
        params["configs"] = {**configs, **params.get("configs", {})}
    return {**step, "params": params}


def _described(folder: Path, table_id: str, entry: Mapping[str, Any]) -> GoldenTable:
    return GoldenTable(
        id=table_id,
        folder=folder,
        title=str(entry["title"]),
        version=int(entry["table_version"]),
        features=tuple(entry.get("features", [])),
    )


def _cases(table: GoldenTable, content: Mapping[str, Any]) -> tuple[Case, ...]:
    answers = Answers(table.folder / EXPECTED)
    return tuple(_case(table, table.folder / DESCRIBED, answers, entry) for entry in content.get("case", []))


def _case(
    table: GoldenTable,
    file: Path,
    answers: Answers,
    entry: Mapping[str, Any],
    begins_with: GoldenTable | None = None,
) -> Case:
    return Case(
        name=str(entry["id"]),
        table=table,
        title=str(entry["title"]),
        clauses=tuple(entry["clauses"]),
        kills=tuple(entry.get("kills", [])),
        given=str(entry.get("given", "")),
        when=str(entry.get("when", "")),
        then=str(entry.get("then", "")),
        steps=tuple(_step(answers, step) for step in entry["steps"]),
        file=file,
        begins_with=begins_with,
    )


def _step(answers: Answers, entry: Mapping[str, Any]) -> Step:
    if "expect" in entry and "reject" in entry:
        raise ValueError("a step has `expect` or `reject`, not both")
    return Step(
        op=str(entry["op"]),
        params=entry.get("params", {}),
        expectations=_expectations(answers, entry.get("expect", {})),
        reasons=_reasons(entry.get("reject")),
        warnings=tuple(str(warning["clause"]) for warning in entry.get("warnings", [])),
        done=entry.get("done", {}),
        input=answers.kept(entry["input"]) if "input" in entry else None,
        by=str(entry.get("by", WRITER if entry["op"] in WRITING_OPS else READER)),
        process=int(entry.get("process", 1)),
        clause=str(entry.get("clause", "")),
    )


def _expectations(answers: Answers, expect: str | Mapping[str, str]) -> tuple[Expectation, ...]:
    if isinstance(expect, str):
        return (Expectation(answers.kept(expect)),)
    return tuple(Expectation(answers.kept(name), reading) for reading, name in expect.items())


def _reasons(reject: Mapping[str, Any] | None) -> tuple[str, ...]:
    if reject is None:
        return ()
    reason = reject["reason"]
    return (reason,) if isinstance(reason, str) else tuple(reason)


def _toml(path: Path) -> dict[str, Any]:
    try:
        return tomllib.loads(path.read_text(encoding="utf-8"))
    except (OSError, ValueError) as error:
        raise CorpusError(f"{path.parent.name}/{path.name}: {error}") from error


def _understood(path: Path, read: Callable[..., Result], *arguments: Any) -> Result:
    try:
        return read(*arguments)
    except KeyError as error:
        raise CorpusError(f"{path.parent.name}/{path.name}: {error.args[0]!r} is missing") from error
    except (ValueError, TypeError, AttributeError) as error:
        raise CorpusError(f"{path.parent.name}/{path.name}: {error}") from error
