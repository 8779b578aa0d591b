"""A run for those who do not open its report: a summary in Markdown, and a badge."""

import json
from collections.abc import Iterable, Iterator, Mapping
from pathlib import Path
from typing import Any
from xml.sax.saxutils import escape

from hudi_conformance.runner.cases import short_id
from hudi_conformance.runner.failure_text import headline_of
from hudi_conformance.runner.markdown import markdown_table
from hudi_conformance.runner.plain_text import counted, fitted
from hudi_conformance.runner.results import RunResults
from hudi_conformance.runner.scores import Score, shown_percent
from hudi_conformance.runner.trend import score_of, trend_lines
from hudi_conformance.runner.verdicts import BAD

_MOST_LISTED = 50
_COLUMNS = 80
LABEL = "hudi conformance"
_COLOURS = {"brightgreen": "#17693a", "yellowgreen": "#5f7a00", "red": "#b1261b", "lightgrey": "#5d6670"}


def markdown_summary(run: RunResults, before: RunResults | None = None, unmet: Iterable[str] = ()) -> str:
    """A run in Markdown: the first difference at 80 columns, scores by area, what changed, and what is bad.

    `unmet` are the requirements that it does not meet, in sentences.
    """
    return "\n".join(_summary(run, before, tuple(unmet))) + "\n"


def _summary(run: RunResults, before: RunResults | None, unmet: tuple[str, ...]) -> Iterator[str]:
    bad = [line for line in run.cases if line["verdict"] in BAD]
    if bad:
        yield _code(headline_of(bad[0]), _COLUMNS)
        yield f"\nThe first of {counted(len(bad), 'bad case')}: {_case(bad[0])} by {_text(str(bad[0]['adapter']))}."
    elif unmet:
        yield _code(unmet[0], _COLUMNS)
    else:
        answered = sum(score_of(run, name).answered for name in run.header["adapters"])
        yield f"No difference in {counted(answered, 'answered case')}."
    yield ""
    for line in unmet:
        yield f"- {_text(line)}"
    yield from ("", *_scores(run))
    if before is not None:
        yield "\n### Since the last run\n"
        for line in trend_lines(before, run):
            yield f"{'  ' if line.startswith(' ') else ''}- {_text(line.strip())}"
    if bad:
        yield "\n### Bad cases\n"
        head = ("case", "by", "clauses", "first difference")
        yield from markdown_table(head, map(_row, bad[:_MOST_LISTED]))
        if len(bad) > _MOST_LISTED:
            yield f"\nAnd {len(bad) - _MOST_LISTED} more."
        yield f"\nRun the first again: {_code(str(bad[0]['repro']))}"


def _row(line: Mapping[str, Any]) -> tuple[str, ...]:
    shown = (_case(line), str(line["adapter"]), " ".join(line["clauses"]), _code(headline_of(line)))
    return tuple(map(_cell, shown))


def _scores(run: RunResults) -> Iterator[str]:
    names = [str(name) for name in run.header["adapters"]]
    areas = dict.fromkeys(str(line["area"]) for line in run.cases)
    rows: list[tuple[str, ...]] = []
    for area in areas:
        mine = [line for line in run.cases if line["area"] == area]
        scores = (Score.of_verdicts(str(one["verdict"]) for one in mine if one["adapter"] == name) for name in names)
        rows.append((area, *(f"{one.passed}/{one.answered}" for one in scores)))
    rows.append(("**score**", *(f"**{_percent(score_of(run, name))}**" for name in names)))
    return markdown_table(("passed / answered", *names), (tuple(map(_cell, row)) for row in rows))


def _percent(score: Score) -> str:
    return "none answered" if score.percent is None else f"{shown_percent(score.percent)} % of {score.answered}"


def _case(line: Mapping[str, Any]) -> str:
    return _code(short_id(str(line["id"])))


def _code(text: str, columns: int = 0) -> str:
    """Text as Markdown takes no part of for markup; with `columns` at most so wide, backticks included."""
    plain = " ".join(text.replace("`", "'").split())
    return f"`{fitted(plain, columns - 2) if columns else plain}`"


def _text(text: str) -> str:
    return escape(text).replace("|", "\\|").replace("*", "\\*").replace("_", "\\_")


def _cell(value: object) -> str:
    return str(value).replace("|", "\\|")


def badge(run: RunResults, path: Path) -> str:
    """The badge of a run: a picture for the name of an SVG file, otherwise JSON for shields.io's `endpoint`.

    It is red when a verdict is bad or a requirement is not met, and grey when nothing was judged.
    """
    scores = {str(name): score_of(run, str(name)) for name in run.header["adapters"]}
    shown = {name: _percent(score) for name, score in scores.items()}
    message = (
        ", ".join(f"{name} {text}" for name, text in shown.items()) if len(shown) > 1 else next(iter(shown.values()))
    )
    colour = _colour(int(run.footer.get("exit", 2)), scores.values())
    if path.suffix.lower() == ".svg":
        return _svg(message, _COLOURS[colour])
    return json.dumps({"schemaVersion": 1, "label": LABEL, "message": message, "color": colour}) + "\n"


def _colour(code: int, scores: Iterable[Score]) -> str:
    if code:
        return "red" if code == 1 else "lightgrey"
    return "brightgreen" if all(one.passed == one.answered for one in scores) else "yellowgreen"


def _svg(message: str, colour: str) -> str:
    # Seven pixels a letter hold any font of this size; the text is squeezed into its half.
    left, right = 7 * len(LABEL) + 12, 7 * len(message) + 12
    width, shown = left + right, escape(message)
    return (
        f'<svg xmlns="http://www.w3.org/2000/svg" width="{width}" height="20" role="img" '
        f'aria-label="{LABEL}: {escape(message, {chr(34): "&quot;"})}">'
        f'<rect width="{width}" height="20" rx="3" fill="#444"/>'
        f'<path d="M{left} 0h{right - 3}a3 3 0 0 1 3 3v14a3 3 0 0 1-3 3H{left}z" fill="{colour}"/>'
        '<g fill="#fff" font-family="Verdana,DejaVu Sans,sans-serif" font-size="11" text-anchor="middle">'
        f'<text x="{left // 2}" y="14" textLength="{left - 12}">{LABEL}</text>'
        f'<text x="{left + right // 2}" y="14" textLength="{right - 12}">{shown}</text></g></svg>\n'
    )
