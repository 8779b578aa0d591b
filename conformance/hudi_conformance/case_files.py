"""The files of the corpus, read: `table.toml`, `cases.toml`, and the `case.toml` of a case that writes."""

import tomllib
from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Any, TypeVar

from hudi_conformance.case_values import READER, SERVICER, WRITER, WRITING_OPS, Case, Expectation, GoldenTable, Step
from hudi_conformance.resources import CorpusError

Result = TypeVar("Result")
_ROLES = (WRITER, SERVICER, READER)


def table_of(folder: Path, table_id: str) -> GoldenTable:
    """The golden table of a folder.

    Raises:
        CorpusError: its `table.toml` does not parse or lacks an entry.

    """
    path = folder / "table.toml"
    return _understood(path, _described, folder, table_id, _toml(path))


def cases_of(table: GoldenTable) -> tuple[Case, ...]:
    """The cases of one table, in the order of their file.

    Raises:
        CorpusError: the file does not parse, lacks an entry, or names one case twice.

    """
    path = table.folder / "cases.toml"
    if not path.is_file():
        return ()
    cases: tuple[Case, ...] = _understood(path, _cases, table, _toml(path))
    for name in {case.name for case in cases}:
        if sum(case.name == name for case in cases) > 1:
            raise CorpusError(f"{table.id}: case {name!r} stands in cases.toml twice")
    return cases


def writing_case_of(folder: Path, table_id: str, tables: Mapping[str, GoldenTable]) -> Case:
    """The case of a folder that writes; `tables` are those that it may begin with.

    Raises:
        CorpusError: its `case.toml` does not parse, lacks an entry, or names an unknown table or role.

    """
    path = folder / "case.toml"
    return _understood(path, _writing_case, folder, table_id, _toml(path), tables)


def _writing_case(folder: Path, table_id: str, entry: Mapping[str, Any], tables: Mapping[str, GoldenTable]) -> Case:
    begins_with = entry.get("table")
    if begins_with is not None and begins_with not in tables:
        raise ValueError(f"there is no golden table {begins_with}")
    case = _case(_described(folder, table_id, entry), folder.name, entry, tables[begins_with] if begins_with else None)
    strangers = sorted({step.by for step in case.steps} - set(_ROLES))
    if strangers:
        raise ValueError(f"{strangers[0]!r} is no role: {', '.join(_ROLES)}")
    return case


def _described(folder: Path, table_id: str, entry: Mapping[str, Any]) -> GoldenTable:
    return GoldenTable(
        id=table_id,
        folder=folder,
        title=str(entry["title"]),
        version=int(entry["table_version"]),
        features=tuple(entry.get("features", [])),
    )


def _cases(table: GoldenTable, content: Mapping[str, Any]) -> tuple[Case, ...]:
    return tuple(_case(table, str(entry["id"]), entry) for entry in content.get("case", []))


def _case(table: GoldenTable, name: str, entry: Mapping[str, Any], begins_with: GoldenTable | None = None) -> Case:
    return Case(
        name=name,
        table=table,
        title=str(entry["title"]),
        clauses=tuple(entry["clauses"]),
        kills=tuple(entry.get("kills", [])),
        given=str(entry.get("given", "")),
        when=str(entry.get("when", "")),
        then=str(entry.get("then", "")),
        steps=tuple(_step(table.folder, step) for step in entry["steps"]),
        begins_with=begins_with,
    )


def _step(folder: Path, entry: Mapping[str, Any]) -> Step:
    if "expect" in entry and "reject" in entry:
        raise ValueError("a step has `expect` or `reject`, not both")
    return Step(
        op=str(entry["op"]),
        params=entry.get("params", {}),
        expectations=_expectations(folder / "expected", entry.get("expect", {})),
        reasons=_reasons(entry.get("reject")),
        warnings=tuple(str(warning["clause"]) for warning in entry.get("warnings", [])),
        done=entry.get("done", {}),
        input=folder / entry["input"] if "input" in entry else None,
        by=str(entry.get("by", WRITER if entry["op"] in WRITING_OPS else READER)),
        process=int(entry.get("process", 1)),
        clause=str(entry.get("clause", "")),
    )


def _expectations(folder: Path, expect: str | Mapping[str, str]) -> tuple[Expectation, ...]:
    if isinstance(expect, str):
        return (Expectation(folder / expect),)
    return tuple(Expectation(folder / file, reading) for reading, file in expect.items())


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
