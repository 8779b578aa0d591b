"""The timeline command: few actions or a thousand, active ones or all, on the terminal or as a picture."""

import io
import random
from pathlib import Path
from typing import Any
from xml.etree import ElementTree as ET

import pytest
from hudi_conformance.bridge import load
from hudi_conformance.bridge.checking import load_timeline
from hudi_conformance.bridge.operations import evaluate
from hudi_conformance.drawing.timeline_drawing import timeline_svg
from hudi_conformance.report.drawing_timelines import NEWEST, chosen, draw, print_timeline
from hudi_conformance.runner.archive import unpacked_corpus
from hudi_format.storage import LocalStorage
from hudi_model.time import tick
from rich.console import Console

GOLDEN = unpacked_corpus()
HISTORIES = ("v6/mor_archived", "v8/mor_archived", "v9/mor_archived")
ACTIONS = ("deltacommit", "commit", "clean", "compaction", "rollback")
WAITING = (3, 501, 999)


def thousand() -> list[dict[str, Any]]:
    """A thousand actions of a day; three of them wait, the first since the beginning."""
    chance, now, listed = random.Random(5), 0, []  # noqa: S311 - data of a test
    for number in range(1000):
        now += chance.randrange(500, 120_000)
        done = None if number in WAITING else tick(now + chance.randrange(400, 60_000))
        state = "COMPLETED" if done else "INFLIGHT"
        action = chance.choices(ACTIONS, (70, 10, 10, 5, 5))[0]
        listed.append({"requested": tick(now), "completed": done, "action": action, "state": state})
    return listed


def printed(listed: list[dict[str, Any]], *, every: bool) -> list[str]:
    out = Console(width=140, record=True, highlight=False, file=io.StringIO())
    print_timeline(out, listed, every=every)
    return out.export_text().splitlines()


def test_of_a_thousand_actions_the_newest_and_those_that_wait_are_shown() -> None:
    """The others are reported in numbers that add up; `--all` has a line for each."""
    listed = thousand()
    lines = printed(listed, every=False)
    assert lines[0].startswith(f"{1000 - NEWEST - 2} completed actions before these, --all shows them: ")
    counts = [int(part.split()[0]) for part in lines[0].partition("them: ")[2].split(", ")]
    assert sum(counts) == 1000 - NEWEST - 2
    shown = {line.split()[0] for line in lines[2:-1]}
    assert shown == {one["requested"] for one in (*listed[-NEWEST:], listed[3], listed[501])}
    assert len(printed(listed, every=True)) == 1000 + 2
    assert not [line for line in printed(listed[:NEWEST], every=False) if "--all" in line]


def test_many_waiting_actions_do_not_fill_the_screen_either() -> None:
    listed = [{**one, "state": "INFLIGHT", "completed": None} for one in thousand()]
    assert len(chosen(listed)) == 2 * NEWEST


def test_a_picture_of_a_thousand_actions_has_each_of_them() -> None:
    """In bands below one another, no wider than the page, and no heavier than half a kilobyte an action."""
    text = timeline_svg(thousand())
    svg = ET.fromstring(text)  # noqa: S314 - our own output
    drawn = [one for one in svg.iter("{http://www.w3.org/2000/svg}g") if "instant" in one.get("class", "").split()]
    assert len(drawn) == 1000
    assert float(svg.get("width", "")) <= 960
    assert len(text) < 600_000
    assert "prefers-color-scheme:dark" in text


@pytest.mark.parametrize("table", HISTORIES)
def test_archived_actions_are_drawn_on_request(table: str, tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    folder = GOLDEN / table / "table"
    whole = evaluate(load(folder), "list_timeline", {"include_history": True}).content
    active = evaluate(load(folder), "list_timeline", {}).content
    assert len(whole) > len(active)
    for history, listed in ((True, whole), (False, active)):
        assert draw(str(folder), {}, None, history=history, every=True) == 0
        output = capsys.readouterr().out
        assert [line.split()[0] for line in output.splitlines()[1:-1]] == [one["requested"] for one in listed]
        assert draw(str(folder), {}, tmp_path / "t.svg", history=history, every=False) == 0
        assert f"{len(listed)} actions" in capsys.readouterr().out
        assert (tmp_path / "t.svg").read_text(encoding="utf-8").startswith("<svg")


def test_a_timeline_is_drawn_without_a_look_into_data_files(tmp_path: Path) -> None:
    """Its state is that of the whole table, but for the contents of base files and logs."""
    folder = GOLDEN / "v9/mor_archived" / "table"
    whole, light = load(folder), load_timeline(LocalStorage(folder))
    assert (light.timeline, light.history, light.properties) == (whole.timeline, whole.history, whole.properties)
    assert [one.name for one in light.base_files] == [one.name for one in whole.base_files]


def test_what_is_no_table_has_no_timeline(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert draw(str(tmp_path), {}, None, history=False, every=False) == 2
    assert "NOT_A_TABLE" in capsys.readouterr().out
