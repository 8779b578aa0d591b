"""Moments, scales and the terminal's drawing: what is written beside the bars is true."""

import io
from datetime import timedelta

import pytest
from hudi_conformance.drawing.console_timeline import plain, timeline_table
from hudi_conformance.drawing.moments import axis_text, clock_time, elapsed_text, order_of, readable
from hudi_conformance.drawing.scale import scale_of
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st
from rich.console import Console

patiently = settings(max_examples=80, deadline=None, suppress_health_check=[HealthCheck.too_slow])
milliseconds = st.integers(0, 27 * 86_400_000)


def instant_text(number: int) -> str:
    seconds, millis = divmod(number, 1000)
    days, seconds = divmod(seconds, 86400)
    return f"202501{1 + days:02d}{seconds // 3600:02d}{seconds // 60 % 60:02d}{seconds % 60:02d}{millis:03d}"


def shown(timeline: list, width: int = 140) -> list[str]:
    console = Console(file=io.StringIO(), width=width, force_terminal=False)
    console.print(timeline_table(timeline))
    return console.file.getvalue().splitlines()


@patiently
@given(st.lists(milliseconds, min_size=1, max_size=30, unique=True))
def test_positions_are_in_the_order_of_time_and_inside_the_axis(numbers: list):
    moments = [instant_text(number) for number in numbers]
    scale = scale_of(moments, 10, 500)
    places = [scale.at(moment) for moment in sorted(moments)]

    assert places == sorted(places)
    assert len(set(places)) == len(places)
    assert places[0] >= 10
    assert places[-1] <= 500.001


@patiently
@given(milliseconds, milliseconds, milliseconds)
def test_distances_are_durations_where_the_axis_says_so(first: int, second: int, third: int):
    scale = scale_of(map(instant_text, (first, second, third)), 0, 1000)
    whole = max(first, second, third) - min(first, second, third)

    if scale.proportional:
        for number in (first, second, third):
            share = (number - min(first, second, third)) / whole
            assert scale.at(instant_text(number)) == pytest.approx(1000 * share)


@given(st.text())
def test_any_text_can_be_shown_as_a_moment(text: str):
    assert readable(text) or not text
    assert axis_text(text, "", fine=True) or not text


@given(milliseconds)
def test_the_seconds_form_stands_at_the_end_of_its_second(number: int):
    text = instant_text(number)

    assert order_of(text[:14]) == text[:14] + "999"
    assert clock_time(text[:14]) - clock_time(text) == timedelta(milliseconds=999 - number % 1000)


@pytest.mark.parametrize(
    "text", ["", "abc", "00000000000000010", "20251301000000000", "20250101", "٢٠٢٥٠١٠١٠٠٠٠٠٠٠٠٠", "2025-01-01"]
)
def test_what_is_no_calendar_time_is_shown_as_it_stands(text: str):
    assert clock_time(text) is None
    assert readable(text) == text


@pytest.mark.parametrize(
    ("span", "text"),
    [
        (timedelta(milliseconds=250), "250 ms"),
        (timedelta(seconds=4), "4 s"),
        (timedelta(minutes=12), "12 min"),
        (timedelta(hours=3), "3 h"),
        (timedelta(days=5), "5 d"),
    ],
)
def test_a_span_is_written_in_its_unit(span: timedelta, text: str):
    assert elapsed_text(span) == text


def test_every_instant_has_a_line_on_the_terminal_and_its_state_is_drawn():
    timeline = [
        {
            "requested": instant_text(0),
            "completed": instant_text(2000),
            "action": "commit",
            "state": "COMPLETED",
        },
        {"requested": instant_text(3000), "completed": None, "action": "clean", "state": "COMPLETED"},
        {"requested": instant_text(4000), "completed": None, "action": "compaction", "state": "REQUESTED"},
        {"requested": instant_text(5000), "completed": None, "action": "deltacommit", "state": "INFLIGHT"},
    ]
    head, *lines, foot = shown(timeline)

    assert "to scale" in head
    assert "2025-01-01 00:00:05.000" in foot
    assert len(lines) == 4
    assert "2 s" in lines[0]
    assert "█" in lines[0]
    assert "◆" in lines[1]
    assert "┄▷" in lines[2]
    assert "▒▷" in lines[3]


def test_names_from_a_table_give_the_terminal_no_orders():
    hostile = "\x1b[31m[bold]x\x07"
    text = plain(hostile)

    assert text.plain == "\ufffd[31m[bold]x\ufffd"
    assert not text.spans


@pytest.mark.parametrize("width", [80, 100, 200])
def test_no_column_is_cut_and_no_line_is_longer_than_the_terminal(width: int):
    timeline = [
        {
            "requested": instant_text(place * 86_400_000),
            "completed": instant_text(place * 86_400_000 + 250),
            "action": "replacecommit",
            "state": "COMPLETED",
        }
        for place in range(9)
    ]
    lines = shown(timeline, width)

    assert all(len(line.rstrip()) <= width for line in lines)
    assert all("replacecommit COMPLETED 250 ms" in " ".join(line.split()) for line in lines[1:10])


def test_an_empty_timeline_prints_its_heading():
    assert "requested" in shown([])[0]
