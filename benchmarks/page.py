"""The page of results: ratios, so that it says the same on machines of other speed."""

import json
import re
from collections.abc import Iterable, Mapping
from dataclasses import asdict, dataclass
from pathlib import Path

from measuring import Times

AIMS = (
    (r"^(bulk_insert|upsert of a tenth|delete of a tenth)", 0.4),
    (r"^snapshot.*MOR$", 0.5),
    (r"^snapshot.*COW$", 0.9),
)
_HEAD = """# Benchmarks

`make bench` writes this page. Each number is a median of rounds, divided by the median of Apache Hudi. Below 1 is
faster than Apache Hudi. The contenders take turns in one Spark session with the same settings.

- The tables have 20 columns, 8 partitions and table version 9. Each writer maintains the metadata table as it does by
  default.
- A tenth of the rows is updated before a snapshot is read.
- Each writer changes tables that it made. All readers read the tables of Apache Hudi.
- Plain Parquet is Spark's own write or scan of the same rows, for comparison.

| benchmark | rows | cores | rounds | {contenders} | aim |
| --- | --- | --- | --- | {rule} | --- |
"""
_DATA = re.compile(r"<!-- results: (.*) -->")
_CONTENDERS = ("engine on Spark", "engine in-process", "plain Parquet")


@dataclass(frozen=True, slots=True)
class Result:
    """One benchmark: each contender's median as a ratio to Apache Hudi's, or why there is none.

    `note`: what to know of the run.
    """

    name: str
    rows: int
    rounds: int
    cores: int
    ratios: Mapping[str, float | str]
    note: str = ""


def ratios_of(times: Mapping[str, Times], reference: str) -> dict[str, float | str]:
    """Each contender's median as a ratio to that of the reference."""
    base = times[reference].median
    return {
        who: round(found.median / base, 2) if found.seconds else found.refusal
        for who, found in times.items()
        if who != reference
    }


def add_results(page: Path, results: Iterable[Result]) -> None:
    """Put results on the page, in place of older ones of the same name; the others stay."""
    text = page.read_text(encoding="utf-8") if page.exists() else ""
    known = _DATA.search(text)
    kept = {entry["name"]: Result(**entry) for entry in json.loads(known[1])} if known else {}
    kept |= {one.name: one for one in results}
    page.write_text(_page(list(kept.values())), encoding="utf-8")


def _page(results: list[Result]) -> str:
    head = _HEAD.format(contenders=" | ".join(_CONTENDERS), rule=" | ".join(["---"] * len(_CONTENDERS)))
    data = json.dumps([asdict(one) for one in results], ensure_ascii=False)
    notes = "".join(f"\n{note}\n" for note in dict.fromkeys(one.note for one in results if one.note))
    return head + "".join(map(_line, results)) + notes + f"\n<!-- results: {data} -->\n"


def _line(one: Result) -> str:
    cells = [_cell(one.ratios.get(who, "")) for who in _CONTENDERS]
    aim = next((f"{limit}" for pattern, limit in AIMS if re.search(pattern, one.name)), "")
    return f"| {one.name} | {one.rows:,} | {one.cores} | {one.rounds} | {' | '.join(cells)} | {aim} |\n"


def _cell(ratio: float | str) -> str:
    return f"{ratio:.2f}" if isinstance(ratio, float) else "not done" * bool(ratio)
