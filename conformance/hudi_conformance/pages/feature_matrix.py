"""The table of features in the status page: what is read and written, by whom, in which table version.

No cell is typed by hand: they follow from the last comparison of real tables (conformance/results/real-tables.json.gz),
from the golden tables that the model wrote, and from what the peers were recorded to answer about these.
"""

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from fnmatch import fnmatchcase
from pathlib import Path
from typing import Any

from hudi_format.compat import tomllib

from hudi_conformance.corpus.recipes_apache.catalogue import Recipe
from hudi_conformance.interop.peers.recorded import Record, load_record
from hudi_conformance.interop.real_tables.catalogue import recipes
from hudi_conformance.interop.real_tables.known import FOLDER
from hudi_conformance.interop.real_tables.results import load_results
from hudi_conformance.runner.cases import Case, GoldenTable, load_cases, load_tables
from hudi_conformance.runner.expected_failures import load_expected_failures

HEAD = ("feature", "table version", "we read", "we write", "Apache Hudi reads ours", "hudi-rs reads ours")
ENGINE = "engine-in-process"
_PEERS = ("apache-hudi-1.1.1", "hudi-rs")
_ENGINE_WRITES = "yes: [tables of the array](#tables-that-the-engine-writes)"
_NO_WRITER = "no: tables of this version are not written"
_WRITTEN_SINCE = 6


@dataclass(frozen=True, slots=True)
class Feature:
    """A row for each of its versions; which real and which golden tables show it, and which questions count.

    `real` are features of recipes or globs of their ids. `golden` are features or clauses of golden tables, or globs
    of their ids. Without `ops` all questions count. `absent` says why no real table of a version shows it.
    `unwritten`: why the engine does not write it, empty where it does.
    """

    name: str
    area: str
    real: tuple[str, ...]
    golden: tuple[str, ...]
    ops: tuple[str, ...]
    versions: tuple[int, ...]
    absent: Mapping[str, str]
    unwritten: str = ""


@dataclass(frozen=True, slots=True)
class Facts:
    """Everything that cells follow from."""

    recipes: tuple[Recipe, ...]
    results: Mapping[str, Mapping[str, Any]]
    tables: tuple[tuple[GoldenTable, Mapping[str, Any]], ...]
    cases: Mapping[str, tuple[Case, ...]]
    golden: tuple[tuple[GoldenTable, Mapping[str, Any]], ...]
    engine: Record
    records: tuple[Record, ...]
    failing: Mapping[str, str]


def load_features(root: Path) -> tuple[Feature, ...]:
    """The rows, in the order of the file."""
    path = root / FOLDER / "features.toml"
    entries = tomllib.loads(path.read_text(encoding="utf-8"))["feature"] if path.is_file() else []
    return tuple(
        Feature(
            one["name"],
            one["area"],
            tuple(one.get("real", ())),
            tuple(one.get("golden", ())),
            tuple(one.get("ops", ())),
            tuple(one.get("versions", (6, 8, 9))),
            one.get("absent", {}),
            one.get("unwritten", ""),
        )
        for one in entries
    )


def load_facts(root: Path) -> Facts:
    """What the checkout holds now."""
    tables = load_tables(root)
    described = [(one, tomllib.loads((one.folder / "table.toml").read_text(encoding="utf-8"))) for one in tables]
    cases: dict[str, list[Case]] = {}
    for case in load_cases(root):
        cases.setdefault(case.table.id, []).append(case)
    failing: dict[str, str] = {}
    for peer in _PEERS:
        path = root / "adapters" / f"{peer}.expected.toml"
        listed = load_expected_failures(path) if path.is_file() else {}
        failing |= {f"{peer} {identifier}": one.clause for identifier, one in listed.items()}
    return Facts(
        recipes(),
        load_results(root),
        tuple((one, entry) for one, entry in described if entry.get("written_by") == "model"),
        {name: tuple(found) for name, found in cases.items()},
        tuple(described),
        load_record(root, ENGINE),
        tuple(load_record(root, peer) for peer in _PEERS),
        failing,
    )


def matrix_rows(features: Sequence[Feature], facts: Facts) -> Iterator[tuple[str, ...]]:
    """One row for each feature and version, as `HEAD` names its cells."""
    for feature in features:
        for version in feature.versions:
            ours = _golden_tables(feature, version, facts, facts.tables)
            yield (
                feature.name,
                str(version),
                _we_read(feature, version, facts),
                _we_write(feature, version, ours),
                *(_peer_reads(feature, ours, record, facts) for record in facts.records),
            )


def _we_read(feature: Feature, version: int, facts: Facts) -> str:
    shown = [made.id for made in facts.recipes if made.version == version and _shows(made, feature)]
    compared = [facts.results[one][ENGINE] for one in shown if ENGINE in facts.results.get(one, {})]
    fitting = [one for one in compared if _names(one["queries"], feature.ops)]
    golden = _golden_read(feature, version, facts)
    if fitting:
        return "; ".join(filter(None, (_real_read(feature, fitting), golden)))
    unbuilt = f"{_counted(len(shown), 'recipe')} not compared yet" if len(shown) > len(compared) else ""
    why = unbuilt or feature.absent.get(str(version), "no release was given to write it in this version")
    return f"yes: {golden}; {why}" if golden else f"no: {why}"


def _real_read(feature: Feature, recorded: Sequence[Mapping[str, Any]]) -> str:
    total = sum(len(_names(one["queries"], feature.ops)) for one in recorded)
    different = sum(_count(one, one.get("different", ()), feature) for one in recorded)
    known = sum(_count(one, one.get("known", ()), feature) for one in recorded)
    missing = {kind: 0 for one in recorded for kind in sorted(one.get("unsupported", {}))}
    for one in recorded:
        for kind, names in one.get("unsupported", {}).items():
            missing[kind] += _count(one, names, feature)
    unsupported = sum(missing.values())
    kinds = ", ".join(kind for kind, count in missing.items() if count)
    if unsupported == total:
        return f"no: unsupported ({kinds})"
    if different:
        return f"no: {different} of {total} answers differ"
    but = [f"{unsupported} unsupported ({kinds})"] if unsupported else []
    but += [f"{known} differ, [explained](real-tables.md)"] if known else []
    return f"yes: {_counted(len(recorded), 'table')}, {_counted(total, 'answer')}" + (
        f"; {', '.join(but)}" if but else ""
    )


def _golden_read(feature: Feature, version: int, facts: Facts) -> str:
    """What the engine made of the golden tables of all writers, where it was recorded."""
    tables = _golden_tables(feature, version, facts, facts.golden)
    verdicts = list(_verdicts(feature, tables, facts.engine, facts).values())
    good = sum(verdict in {"pass", "open"} for verdict in verdicts)
    return f"golden tables: {good} of {_counted(len(verdicts), 'answer')}" if good else ""


def _we_write(feature: Feature, version: int, ours: Sequence[GoldenTable]) -> str:
    """The tables of the engine have a section of their own; the golden ones here are the model's."""
    built = f"no: {feature.unwritten}" if feature.unwritten else _ENGINE_WRITES
    engine = built if version >= _WRITTEN_SINCE else _NO_WRITER
    return f"{engine}; the model: {_counted(len(ours), 'table')}" if ours else engine


def _verdicts(feature: Feature, tables: Sequence[GoldenTable], record: Record, facts: Facts) -> dict[str, str]:
    return {
        case.id: record.tables[table.id].verdicts[_short(case)]
        for table in tables
        for case in facts.cases.get(table.id, ())
        if table.id in record.tables and _short(case) in record.tables[table.id].verdicts and _has_query(case, feature)
    }


def _peer_reads(feature: Feature, ours: Sequence[GoldenTable], record: Record, facts: Facts) -> str:
    verdicts = _verdicts(feature, ours, record, facts)
    if not verdicts:
        return "not asked: no golden table of ours shows it in this version"
    good = sum(verdict in {"pass", "open"} for verdict in verdicts.values())
    unsupported = sum(verdict == "unsupported" for verdict in verdicts.values())
    failed = [identifier for identifier, verdict in verdicts.items() if verdict == "expected_fail"]
    clauses = ", ".join(sorted({facts.failing.get(f"{record.adapter} {one}", "?") for one in failed}))
    but = [f"{len(failed)} wrong ([{clauses}](peers.md))"] if failed else []
    but += [f"{unsupported} unsupported"] if unsupported else []
    word = f"yes: {good} of {_counted(len(verdicts), 'answer')}" if good else "no"
    return f"{word}{'; ' if good and but else ': ' if but else ''}{', '.join(but)}"


def _golden_tables(
    feature: Feature, version: int, facts: Facts, tables: Sequence[tuple[GoldenTable, Mapping[str, Any]]]
) -> list[GoldenTable]:
    return [
        table
        for table, entry in tables
        if table.version == version
        and _fits(feature.golden, table.id, {*entry["features"], *entry["clauses"]})
        and any(_has_query(case, feature) for case in facts.cases.get(table.id, ()))
    ]


def _shows(made: Recipe, feature: Feature) -> bool:
    return _fits(feature.real, made.id, set(made.features))


def _fits(patterns: Iterable[str], identifier: str, words: set[str]) -> bool:
    return any(one in words or fnmatchcase(identifier, one) for one in patterns)


def _has_query(case: Case, feature: Feature) -> bool:
    refuses = any(step.reasons for step in case.steps)
    return not refuses and (not feature.ops or any(step.op in feature.ops for step in case.steps))


def _names(by_op: Mapping[str, Sequence[str]], ops: Sequence[str]) -> list[str]:
    return [name for op, names in by_op.items() for name in names if not ops or op in ops]


def _count(recorded: Mapping[str, Any], names: Iterable[str], feature: Feature) -> int:
    counted = set(_names(recorded["queries"], feature.ops))
    return sum(name in counted for name in names)


def _short(case: Case) -> str:
    return case.id.rsplit("::", maxsplit=1)[-1]


def _counted(number: int, word: str) -> str:
    return f"{number} {word}{'' if number == 1 else 's'}"
