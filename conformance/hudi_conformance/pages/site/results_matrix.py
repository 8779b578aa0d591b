"""The recorded answers of implementations, by area and by table version, as Markdown tables."""

from collections import Counter, defaultdict
from collections.abc import Callable, Iterator, Mapping
from pathlib import Path

from hudi_conformance.interop.peers.recorded import Record, load_record, subject
from hudi_conformance.interop.peers.running import PEERS
from hudi_conformance.runner.cases import Case, load_cases
from hudi_conformance.runner.markdown import markdown_table

OURS = "engine-in-process"
LEGEND = """\
Each cell counts **passed / asked** cases. *Differs* counts known differences: each is listed with its evidence under
[Findings](findings.md). *Unsupported* counts cases that the implementation declines to answer.
"""
Counts = Mapping[str, Counter[str]]
Cases = Mapping[tuple[str, str], Case]


def results_matrix(root: Path) -> str:
    """Two tables: areas and table versions down, implementations across; and when they were asked."""
    cases = {(subject(case), case.name): case for case in load_cases(root)}
    records = [record for record in (load_record(root, name) for name in (OURS, *PEERS)) if record.tables]
    return "\n".join(
        (
            LEGEND,
            "## By area\n",
            *_table("area", records, cases, lambda case: case.area),
            "\n## By table version\n",
            *_table("version", records, cases, lambda case: str(case.table.version)),
            "\n## Releases and dates\n",
            *markdown_table(("adapter", "release", "asked from", "to"), map(_release, records)),
        )
    )


def _table(head: str, records: list[Record], cases: Cases, part: Callable[[Case], str]) -> Iterator[str]:
    counted = {record.adapter: _counts(record, cases, part) for record in records}
    parts = sorted({one for counts in counted.values() for one in counts})
    rows = ((one, *(_cell(counted[name][one]) for name in counted)) for one in parts)
    sums = ("**all**", *(_cell(sum(counts.values(), Counter())) for counts in counted.values()))
    yield from markdown_table((head, *counted), [*rows, sums])


def _counts(record: Record, cases: Cases, part: Callable[[Case], str]) -> Counts:
    found: dict[str, Counter[str]] = defaultdict(Counter)
    for named, table in record.tables.items():
        for name, verdict in table.verdicts.items():
            if case := cases.get((named, name)):
                found[part(case)][verdict] += 1
    return found


def _cell(counts: Counter[str]) -> str:
    if not counts.total():
        return ""
    more = [f"{counts[one]} {name}" for one, name in _MORE if counts[one]]
    bad = counts.total() - counts["pass"] - sum(counts[one] for one, _ in _MORE)
    more += [f"{bad} failed"] if bad else []
    return "<br>".join((f"**{counts['pass']}** / {counts.total()}", *more))


_MORE = (("expected_fail", "differs"), ("unsupported", "unsupported"), ("open", "open"))


def _release(record: Record) -> tuple[str, str, str, str]:
    dates = sorted(table.asked for table in record.tables.values())
    return record.adapter, record.implementation.get("version", ""), dates[0], dates[-1]
