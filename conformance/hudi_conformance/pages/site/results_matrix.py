"""The recorded answers of implementations, by area, by table version and over releases, as Markdown tables."""

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
[Findings](findings/index.md). *Declined* counts cases that are answered with `unsupported`.
"""
TREND = """\
The table compares the {cases} cases that all of these releases answer. Each cell gives the share of them that passed.
The line shows it from 0 % to 100 %.
"""
PRODUCT = "apache-hudi"
Counts = Mapping[str, Counter[str]]
Cases = Mapping[tuple[str, str], Case]


def results_matrix(root: Path) -> str:
    """Implementations by area and by table version, Apache Hudi over its releases, and when each was asked."""
    cases = {(subject(case), case.name): case for case in load_cases(root)}
    records = [record for record in (load_record(root, name) for name in (OURS, *PEERS)) if record.tables]
    return "\n".join(
        (
            LEGEND,
            "## By area\n",
            *_table("area", records, cases, lambda case: case.area),
            "\n## By table version\n",
            *_table("version", records, cases, lambda case: str(case.table.version)),
            "\n## Apache Hudi over its releases\n",
            *_trend([record for record in records if record.implementation.get("name") == PRODUCT], cases),
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


def _trend(records: list[Record], cases: Cases) -> Iterator[str]:
    """What each release passes of the cases that all of them answer, by area."""
    answers = [_answers(record) for record in records]
    common = set[tuple[str, str]](cases).intersection(*answers)
    areas: dict[str, list[tuple[str, str]]] = defaultdict(list)
    for key in common:
        areas[cases[key].area].append(key)
    yield TREND.format(cases=len(common))
    rows = [_trend_row(area, areas[area], answers) for area in sorted(areas)]
    rows.append(_trend_row("**all**", list(common), answers))
    releases = (record.implementation.get("version", "") for record in records)
    yield from markdown_table(("area", "cases", *releases, "trend"), rows)
    yield ""
    answered = ", ".join(
        f"{len(one)} by {record.implementation['version']}" for record, one in zip(records, answers, strict=True)
    )
    yield f"Cases that each release answers: {answered}. A release declines table versions that it does not know."


def _answers(record: Record) -> Mapping[tuple[str, str], str]:
    """The verdicts on the cases that an implementation does not decline."""
    return {
        (named, name): verdict
        for named, table in record.tables.items()
        for name, verdict in table.verdicts.items()
        if verdict not in {"unsupported", "open"}
    }


def _trend_row(area: str, keys: list[tuple[str, str]], answers: list[Mapping[tuple[str, str], str]]) -> tuple[str, ...]:
    shares = [100 * sum(one[key] == "pass" for key in keys) / len(keys) for one in answers]
    return area, str(len(keys)), *(_percent(share) for share in shares), _line(shares)


def _percent(share: float) -> str:
    """A share that is rounded never to all or nothing."""
    rounded = f"{share:.0f}" if share in {0, 100} else f"{min(max(share, 0.1), 99.9):.1f}"
    return f"{rounded} %"


def _line(shares: list[float]) -> str:
    """A small line over the releases, as SVG."""
    points = [(4 + 24 * number, 20 - 16 * share / 100) for number, share in enumerate(shares)]
    width = 8 + 24 * (len(points) - 1)
    dots = "".join(f'<circle cx="{x}" cy="{y:.1f}" r="2"/>' for x, y in points)
    path = " ".join(f"{x},{y:.1f}" for x, y in points)
    title = ", ".join(map(_percent, shares))
    return (
        f'<svg class="trend" role="img" viewBox="0 0 {width} 24" width="{width}" height="24"><title>{title}</title>'
        f'<polyline points="{path}"/>{dots}</svg>'
    )


def _cell(counts: Counter[str]) -> str:
    if not counts.total():
        return ""
    more = [f"{counts[one]} {name}" for one, name in _MORE if counts[one]]
    bad = counts.total() - counts["pass"] - sum(counts[one] for one, _ in _MORE)
    more += [f"{bad} failed"] if bad else []
    return "<br>".join((f"**{counts['pass']}** / {counts.total()}", *more))


_MORE = (("expected_fail", "differs"), ("unsupported", "declined"), ("open", "open"))


def _release(record: Record) -> tuple[str, str, str, str]:
    dates = sorted(table.queried_on for table in record.tables.values())
    return record.adapter, record.implementation.get("version", ""), dates[0], dates[-1]
