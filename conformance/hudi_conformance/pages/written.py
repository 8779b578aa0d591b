"""Who reads what the engine writes, and who goes on with it: counted from the recorded array of written tables."""

from collections import defaultdict
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path

from hudi_conformance.interop.fuzzing.known_readers import explained, unexplained
from hudi_conformance.interop.fuzzing.reading_back import SAME, RowResult
from hudi_conformance.interop.fuzzing.recorded import load_results
from hudi_conformance.runner.markdown import markdown_table

HEAD = """
## Tables that the engine writes

Each table has features of its own; together they hold every two of operation, table type, version, index, metadata
table, keys, partition style, log format, merge mode and meta fields that go together. Read: how many answer a snapshot
as the model does. Continued: another writer updates every first row and adds one, and the reader answers as the model.
"""
_SHORT = {"COPY_ON_WRITE": "COW", "MERGE_ON_READ": "MOR"}
_INDEX = "index"


def written_lines(root: Path) -> Iterator[str]:
    """The section's lines; none where nothing was recorded."""
    results = list(load_results(root).values())
    if not results:
        return
    readers = _names(one.read for one in results)
    pairs = _names(one.continued for one in results)
    yield HEAD
    yield from _table(results, ["version", "type"], readers, "read")
    yield ""
    yield from _table(results, ["version", "type"], pairs, "continued")
    yield "\nBy index:\n"
    yield from _table(results, [_INDEX], readers, "read")
    yield from _others(results)


def _names(words: Iterator[Mapping[str, str]]) -> list[str]:
    return sorted({name for one in words for name in one})


def _table(results: Sequence[RowResult], by: Sequence[str], columns: Sequence[str], kind: str) -> Iterator[str]:
    groups: dict[tuple[str, ...], list[RowResult]] = defaultdict(list)
    for one in results:
        groups[tuple(one.features[name] for name in by)].append(one)
    head = [*by, "tables", "written", *(f"{'read by' if kind == 'read' else 'by'} {name}" for name in columns)]
    yield from markdown_table(head, (_row(key, groups[key], columns, kind) for key in sorted(groups)))


def _row(key: Sequence[str], held: Sequence[RowResult], columns: Sequence[str], kind: str) -> tuple[object, ...]:
    written = sum(one.written == SAME for one in held)
    cells = [_cell([getattr(one, kind).get(name, "") for one in held]) for name in columns]
    return (*(_SHORT.get(part, part) for part in key), len(held), written, *cells)


def _cell(words: Sequence[str]) -> str:
    """All, or how many of those asked; what is not supported is distinguished."""
    given = [word for word in words if word]
    same = sum(word == SAME for word in given)
    lacking = sum(word.startswith("unsupported") for word in given)
    if not given:
        return "not asked"
    text = f"{same} of {len(given)}"
    return f"{text}; {lacking} unsupported" if lacking else text


def _others(results: Sequence[RowResult]) -> Iterator[str]:
    """Why words are not `same`, and in how many tables; what nobody explained, word by word."""
    causes: dict[str, set[str]] = defaultdict(set)
    for one in results:
        for known, words in explained(one).items():
            causes[f"{known.why} {known.evidence}"].update(words)
    if causes:
        yield "\nWhat is not the same, each in the tables named:\n"
        yield from (f"- {cause} ({', '.join(sorted(words))})" for cause, words in sorted(causes.items()))
    rest = [line for one in results for line in unexplained(one)]
    if rest:
        yield "\nWhat is not explained:\n"
        yield from (f"- {line}" for line in rest)
