"""The page of results: ratios, so that it says the same on machines of other speed, and a picture of each group."""

import json
import math
import re
from collections.abc import Iterable, Mapping
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any, Final

from hudi_conformance.drawing.svg import element, words
from measuring import Times, is_noisy
from work import Benchmark

_HEAD: Final = """# Benchmarks

`make bench` writes this page. Each number is a median of rounds, divided by the median of the contender that the line
is measured against, and in brackets the same by time of the processor, which other work on the machine disturbs less.
Below 1 is faster. The contenders take turns in one Spark session with the same settings.

- The tables have 20 columns, 8 partitions and table version 9. All sides write zstd at its level by default, files and
  row groups of at most 120 MB, and the metadata table as they do by default. Apache Hudi writes with its row
  writer and, but for logs in Avro, which it refuses there, with its merger of Spark's own rows.
- A tenth of the rows is updated before a snapshot is read.
- Each writer changes tables that it made. All readers read the same table, of Apache Hudi where rows are many.
- Plain Parquet is Spark's own write or scan of the same rows, for comparison.
- Small slices have three rows each.
- The spread is the range of the middle half of the rounds as a part of the median, the greatest of all contenders.
  Above 20 % the rounds are repeated once. What is still above is marked as noisy: its ratios say little.
- The load is the number of programs that wanted to run when a line was measured; above the cores, the machine was
  shared with other work, and the times of the processor say more than the times.
- "not done" is what a contender refuses or does not offer.

Why some lines are above their aim, by profiles:

- Snapshots of copy-on-write tables: Spark's scan of plain Parquet takes as long.
- Plans of many slices: each commit names hundreds of files and is decoded, then all partitions are listed, also under a
  filter: a table that has lost a file is refused wherever the file was (RD-011). Apache Hudi lists a partition when it
  is read. On Spark the JVM looks at each path once more.
- Ranges of merge-on-read tables: the state at the begin is read, too, since merging changes rows that name an older
  commit (IN-001).
- A rollback on Spark: one Spark job, which takes longer than its work.
"""
_DATA: Final = re.compile(r"<!-- results: (.*) -->")
_LINE: Final = 22
_LABEL, _WIDTH = 330, 360
_COLOURS: Final = ("#1f77b4", "#2ca02c", "#999999", "#d62728")


@dataclass(frozen=True, slots=True)
class Ratio:
    """A contender's median by that of the contender measured against, in time and in time of the processor."""

    time: float
    cpu: float


@dataclass(frozen=True, slots=True)
class Result:
    """One benchmark: the ratios, who does not do it and why, and what is to be known of the run."""

    group: str
    name: str
    against: str
    unit: str
    aim: float | None
    rows: int
    cores: int
    rounds: int
    spread: float
    noisy: bool
    load: float
    ratios: Mapping[str, Ratio]
    refusals: Mapping[str, str]


def result_of(benchmark: Benchmark, times: Mapping[str, Times], *, rows: int, cores: int, load: float) -> Result:
    """What a benchmark showed; without ratios where there is nothing to divide by."""
    reference = next((name for name in times if name.startswith(benchmark.against)), "")
    base = times[reference] if reference and times[reference].seconds else None
    ratios = {
        who: Ratio(round(found.median / base.median, 2), round(found.cpu_median / max(base.cpu_median, 0.01), 2))
        for who, found in times.items()
        if base is not None and who != reference and found.seconds and not found.refusal
    }
    done = [one for one in times.values() if one.seconds]
    return Result(
        group=benchmark.group,
        name=benchmark.name,
        against=reference,
        unit=benchmark.unit,
        aim=benchmark.aim,
        rows=rows,
        cores=cores,
        rounds=max((len(one.seconds) for one in done), default=0),
        spread=round(max((one.spread for one in done), default=0.0), 2),
        noisy=is_noisy(done),
        load=round(load, 1),
        ratios=ratios,
        refusals={who: found.refusal for who, found in times.items() if found.refusal},
    )


def add_results(page: Path, results: Iterable[Result]) -> None:
    """Put results on the page, in place of older ones of the same group and name; the others stay."""
    text = page.read_text(encoding="utf-8") if page.exists() else ""
    known = _DATA.search(text)
    kept = {(entry["group"], entry["name"]): _read(entry) for entry in json.loads(known[1])} if known else {}
    kept |= {(one.group, one.name): one for one in results}
    groups: dict[str, list[Result]] = {}
    for one in kept.values():
        groups.setdefault(one.group, []).append(one)
    pictures = page.parent / page.stem
    pictures.mkdir(exist_ok=True)
    for group, members in groups.items():
        (pictures / f"{_file(group)}.svg").write_text(_picture(members), encoding="utf-8")
    data = json.dumps([asdict(one) for one in kept.values()], ensure_ascii=False)
    sections = "".join(_section(group, members, page.stem) for group, members in groups.items())
    page.write_text(f"{_HEAD}{sections}\n<!-- results: {data} -->\n", encoding="utf-8")


def _read(entry: dict[str, Any]) -> Result:
    return Result(**{**entry, "ratios": {who: Ratio(**ratio) for who, ratio in entry["ratios"].items()}})


def _section(group: str, results: list[Result], folder: str) -> str:
    contenders = list(
        dict.fromkeys(who for one in results for who in (*one.ratios, *one.refusals) if who != one.against)
    )
    head = f"\n## {group.capitalize()}\n\n![Ratios of the group {group}]({folder}/{_file(group)}.svg)\n\n"
    titles = ["benchmark", "against", *contenders, "aim", "spread", "load", "rows", "cores", "rounds"]
    lines = [titles, ["---"] * len(titles), *(_line(one, contenders) for one in results)]
    return head + "".join(f"| {' | '.join(cells)} |\n" for cells in lines)


def _line(one: Result, contenders: list[str]) -> list[str]:
    cells = [_cell(one, who) for who in contenders]
    spread = f"{one.spread:.0%}{', noisy' * one.noisy}"
    aim = "" if one.aim is None else f"{one.aim:g}"
    against = one.against if one.against not in one.refusals else f"{one.against}: not done"
    return [one.name, against, *cells, aim, spread, f"{one.load:.0f}", f"{one.rows:,}", str(one.cores), str(one.rounds)]


def _cell(one: Result, who: str) -> str:
    ratio = one.ratios.get(who)
    if ratio is not None:
        return f"{ratio.time:.2f}" if one.unit != "s" else f"{ratio.time:.2f} ({ratio.cpu:.2f})"
    return "not done" if who in one.refusals else ""


def _file(group: str) -> str:
    return group.replace(" ", "-")


def _picture(results: list[Result]) -> str:
    """A bar for each contender of each line on a logarithmic axis, around the one that all are measured against."""
    contenders = list(dict.fromkeys(who for one in results for who in one.ratios))
    parts, top = [_legend(contenders)], 30
    bars = [(one, who) for one in results for who in one.ratios]
    bottom = top + _LINE * len(bars) + 10
    for at in (0.01, 0.1, 1.0, 10.0):
        parts.append(
            element("line", x1=_x(at), x2=_x(at), y1=top - 4, y2=bottom, stroke="#aaa", stroke_width=1 + (at == 1))
        )
        parts.append(element("text", f"{at:g}", x=_x(at), y=bottom + 14, text_anchor="middle"))
    named = set[str]()
    for number, (one, who) in enumerate(bars):
        parts.extend(_bar(one, who, top + _LINE * number, _COLOURS[contenders.index(who) % 4], named=one.name in named))
        named.add(one.name)
    frame: dict[str, str | int] = {
        "viewBox": f"0 0 {_LABEL + _WIDTH + 60} {bottom + 24}",
        "xmlns": "http://www.w3.org/2000/svg",
        "font_family": "sans-serif",
        "font_size": 12,
    }
    white = element("rect", width="100%", height="100%", fill="#fff")
    return element("svg", white, *parts, **frame) + "\n"


def _legend(contenders: list[str]) -> str:
    texts = (
        element("text", words(f"\u25a0 {who}"), x=_LABEL + 130 * number, y=14, fill=_COLOURS[number % 4])
        for number, who in enumerate(contenders)
    )
    return "".join(texts)


def _bar(one: Result, who: str, top: float, colour: str, *, named: bool) -> Iterable[str]:
    ratio = one.ratios[who].time
    left, right = sorted((_x(ratio), _x(1.0)))
    if not named:
        yield element("text", words(one.name), x=_LABEL - 10, y=top + 14, text_anchor="end")
    faint = 0.45 if one.noisy else 1.0
    yield element(
        "rect", x=left, y=top + 3, width=max(right - left, 1), height=_LINE - 8, fill=colour, fill_opacity=f"{faint}"
    )
    beside = {"x": left - 4, "text_anchor": "end"} if ratio < 1 else {"x": right + 4}
    yield element("text", f"{ratio:.2f}", y=top + 14, font_size=10, **beside)
    if one.aim is not None:
        yield element(
            "line", x1=_x(one.aim), x2=_x(one.aim), y1=top, y2=top + _LINE - 2, stroke="#000", stroke_dasharray="2 2"
        )


def _x(ratio: float) -> float:
    """Two powers of ten below 1, and one and a half above."""
    place = (math.log10(min(max(ratio, 0.01), 30.0)) + 2) / 3.5
    return _LABEL + _WIDTH * place
