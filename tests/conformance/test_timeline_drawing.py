"""The drawn timeline shows every instant once, inside its frame, whatever the timeline holds."""

import math
import re
from itertools import pairwise
from xml.etree import ElementTree as ET

import pytest
from hudi_conformance.drawing.timeline_drawing import timeline_svg
from hudi_conformance.drawing.timeline_style import ACTIONS
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

SVG = "{http://www.w3.org/2000/svg}"
NUMBERS = ("x", "y", "x1", "y1", "x2", "y2", "width", "height")


def instant_text(milliseconds: int) -> str:
    seconds, millis = divmod(milliseconds, 1000)
    days, seconds = divmod(seconds, 86400)
    clock = f"{seconds // 3600:02d}{seconds // 60 % 60:02d}{seconds % 60:02d}"
    return f"202501{1 + days:02d}{clock}{millis:03d}"


times = st.integers(0, 27 * 86_400_000).map(instant_text)
moments = st.one_of(
    times, times.map(lambda text: text[:14]), times.map(lambda text: text + "123"), st.text(max_size=24)
)
actions = st.one_of(st.sampled_from(ACTIONS), st.text(max_size=20))
entries = st.fixed_dictionaries(
    {
        "requested": moments,
        "completed": st.one_of(st.none(), moments),
        "action": actions,
        "state": st.one_of(st.sampled_from(["REQUESTED", "INFLIGHT", "COMPLETED"]), st.text(max_size=8)),
    }
)
timelines = st.lists(entries, max_size=40)
patiently = settings(max_examples=100, deadline=None, suppress_health_check=[HealthCheck.too_slow])


def drawn(timeline: list, **options: object) -> ET.Element:
    return ET.fromstring(timeline_svg(timeline, **options))  # noqa: S314 - our own output


def instants_of(svg: ET.Element) -> list[ET.Element]:
    return [group for group in svg.iter(f"{SVG}g") if "instant" in group.get("class", "").split()]


def coordinates(svg: ET.Element) -> list[tuple[str, float]]:
    """Every coordinate, named x or y by its axis."""
    found = []
    for part in svg.iter():
        found += [(name[0], float(part.get(name))) for name in NUMBERS[:6] if part.get(name)]
        for left, top in re.findall(r"(\S+),(\S+)", part.get("points", "")):
            found += [("x", float(left)), ("y", float(top))]
        for left, top in re.findall(r"[ML](\S+?) ([-0-9.]+)", part.get("d", "")):
            found += [("x", float(left)), ("y", float(top))]
    return found


@patiently
@given(timelines)
def test_every_instant_is_drawn_once(timeline: list):
    svg = drawn(timeline)

    assert len(instants_of(svg)) == len(timeline)


@patiently
@given(timelines)
def test_nothing_is_drawn_outside_the_frame(timeline: list):
    svg = drawn(timeline)
    _, _, width, height = map(float, svg.get("viewBox").split())

    assert all(math.isfinite(value) for _, value in coordinates(svg))
    assert all(0 <= value <= (width if axis == "x" else height) for axis, value in coordinates(svg))
    for rectangle in svg.iter(f"{SVG}rect"):
        assert float(rectangle.get("width")) >= 0
        assert float(rectangle.get("x")) + float(rectangle.get("width")) <= width


@pytest.mark.parametrize("count", [0, 1, 24, 25, 200])
def test_any_length_is_drawn(count: int):
    timeline = [
        {
            "requested": instant_text(place * 7000),
            "completed": instant_text(place * 7000 + 2500),
            "action": "deltacommit",
            "state": "COMPLETED",
        }
        for place in range(count)
    ]
    svg = drawn(timeline)

    assert len(instants_of(svg)) == count
    assert float(svg.get("viewBox").split()[3]) < 1200


@patiently
@given(st.lists(st.tuples(st.integers(0, 2_000_000_000), st.integers(1, 90_000_000)), min_size=25, max_size=80))
def test_bars_that_share_a_lane_never_overlap(spans: list):
    timeline = [
        {
            "requested": instant_text(start),
            "completed": instant_text(start + length),
            "action": "commit",
            "state": "COMPLETED",
        }
        for start, length in spans
    ]
    lanes: dict[float, list[tuple[float, float]]] = {}
    for group in instants_of(drawn(timeline)):
        bar = group.find(f"{SVG}rect")
        start = float(bar.get("x"))
        lanes.setdefault(float(bar.get("y")), []).append((start, start + float(bar.get("width"))))

    for bars in lanes.values():
        ordered = sorted(bars)
        assert all(first[1] <= second[0] + 0.2 for first, second in pairwise(ordered))


@patiently
@given(st.lists(st.integers(0, 2_000_000_000), min_size=2, max_size=40, unique=True))
def test_what_was_requested_later_never_begins_further_left(starts: list):
    timeline = [
        {"requested": instant_text(start), "completed": None, "action": "commit", "state": "COMPLETED"}
        for start in starts[:24]
    ]
    tips = [float(group.find(f"{SVG}polygon").get("points").split(",")[0]) for group in instants_of(drawn(timeline))]

    assert tips == sorted(tips)


def test_hostile_names_are_text_and_nothing_else():
    hostile = '"><script>alert(1)</script>\x00&'
    entry = {"requested": hostile, "completed": hostile, "action": hostile, "state": hostile}
    text = timeline_svg([entry], title=hostile)

    assert "<script" not in text
    assert ET.fromstring(text).find(f"{SVG}title").text.startswith('"><script>')  # noqa: S314


def test_the_picture_has_a_text_alternative():
    entry = {"requested": instant_text(1000), "completed": None, "action": "compaction", "state": "REQUESTED"}
    svg = drawn([entry], title="Timeline of t")

    assert svg.get("role") == "img"
    assert svg[0].text == "Timeline of t"
    assert "1 compaction requested" in svg[1].text
    assert "2025-01-01 00:00:01.000" in instants_of(svg)[0].find(f"{SVG}title").text


def test_an_unfinished_action_reaches_past_every_event_and_a_finished_one_does_not():
    pending = {"requested": instant_text(0), "completed": None, "action": "compaction", "state": "REQUESTED"}
    finished = {
        "requested": instant_text(1000),
        "completed": instant_text(9000),
        "action": "commit",
        "state": "COMPLETED",
    }
    first, second = instants_of(drawn([pending, finished]))
    ends = [
        float(group.find(f"{SVG}rect").get("x")) + float(group.find(f"{SVG}rect").get("width"))
        for group in (first, second)
    ]

    assert ends[0] > ends[1]


def test_the_legend_of_every_action_stays_inside_the_frame():
    timeline = [
        {"requested": instant_text(place), "completed": None, "action": action, "state": state}
        for place, (action, state) in enumerate((a, s) for a in ACTIONS for s in ("INFLIGHT", "COMPLETED"))
    ]
    svg = drawn(timeline)
    texts = [part for part in svg.iter(f"{SVG}text") if part.get("class") == "quiet small"]
    legend = [part for part in texts if part.get("text-anchor") is None]

    assert all(float(part.get("x")) + 6 * len(part.text or "") <= 960 for part in legend)
    assert max(float(part.get("y")) for part in legend) <= float(svg.get("viewBox").split()[3])


def test_a_long_wait_between_close_events_is_named_where_the_axis_does_not_show_it():
    close = [0, 1, 2, 3, 4, 5 * 86_400_000]
    timeline = [
        {"requested": instant_text(start), "completed": None, "action": "commit", "state": "COMPLETED"}
        for start in close
    ]
    text = timeline_svg(timeline)

    assert "even steps" in text
    assert "+5 d" in text


def test_embedded_drawings_carry_no_style_of_their_own():
    assert "<style" in timeline_svg([])
    assert "<style" not in timeline_svg([], embedded=True)
