from collections.abc import Iterator

import pytest
from hudi_conformance.corpus.traces import Line, lines_of
from hudi_conformance.verification.properties.scenarios import SCENARIOS
from hudi_conformance.verification.tracing.modules import Trace
from hudi_conformance.verification.tracing.samples import samples
from hudi_model_tools.accepts import accepts
from hypothesis import given
from hypothesis import strategies as st
from test_model_protocol import walks


def trace(name: str, crashes: int, seed: int) -> tuple[Line, ...]:
    from hudi_model_tools.store import Store  # noqa: PLC0415 - only for the start

    return lines_of(SCENARIOS[name].start(Store()), walks(SCENARIOS[name], crashes, seed))


def before(name: str) -> Iterator[object]:
    from hudi_model_tools.store import Store  # noqa: PLC0415 - only for the start

    return iter(SCENARIOS[name].start(Store()).shared.table.value.timeline)


@pytest.mark.parametrize("name", sorted(SCENARIOS.keys() - {"slow-writer"}))
def test_what_processes_do_is_accepted(name: str):
    """Every walk through a scenario, deaths and all, leaves a trace that a behaviour explains."""
    for seed in range(6):
        assert accepts(trace(name, seed % 2, seed), before(name)) is None


WRITER = trace("travel", 0, 1)
SERVED = samples()[0].lines


def test_a_writer_that_goes_on_after_its_rollback_is_refused():
    """The table comes to no harm, and the trace still shows that a heartbeat was taken for failed too early."""
    refused = accepts(trace("slow-writer", 0, 0), before("slow-writer"))

    assert refused is not None
    assert "is not on the timeline" in refused.wrong


def test_an_empty_trace_is_refused():
    """A tracer that wrote nothing must not pass."""
    refused = accepts(())

    assert refused is not None
    assert (refused.number, refused.wrong) == (1, "the trace is empty")


def swapped(first: str, second: str) -> tuple[Line, ...]:
    """The trace with the first of two effects moved behind the next one of the other kind."""
    lines = list(WRITER)
    one = next(place for place, line in enumerate(lines) if line["effect"] == first)
    process = lines[one]["process"]
    other = next(
        place
        for place, line in enumerate(lines)
        if place > one and line["effect"] == second and line["process"] == process
    )
    lines.insert(other, lines.pop(one))
    return tuple(lines)


@pytest.mark.parametrize(
    ("first", "second", "wrong"),
    [
        ("put_marker", "put_base_file", "no marker announces the file"),
        ("generate_time", "create_instant", "the process generated"),
        ("take_lock", "release_lock", "does not hold the lock"),
    ],
)
def test_effects_in_the_wrong_order_are_refused(first: str, second: str, wrong: str):
    """The line that comes too early is named, with what was missing."""
    refused = accepts(swapped(first, second), before("travel"))

    assert refused is not None
    assert wrong in refused.wrong
    assert refused.allowed


def without(effect: str, **values: str) -> tuple[Line, ...]:
    """The trace without the lines of an effect."""
    return tuple(
        line
        for line in WRITER
        if line["effect"] != effect or any(line.get(name) != value for name, value in values.items())
    )


@pytest.mark.parametrize(
    ("lines", "wrong"),
    [
        (without("put_marker"), "no marker announces the file"),
        (without("take_lock"), "does not hold the lock"),
        (without("release_lock"), "holds the lock"),
        (without("create_instant", state="INFLIGHT"), "REQUESTED"),
        (without("create_instant", state="REQUESTED"), "is not on the timeline"),
        (without("pick_snapshot"), "no snapshot"),
        (
            (*WRITER, {"process": "x", "effect": "put_base_file", "requested": "1", "partition": "", "file": "f"}),
            "pending",
        ),
        ((*WRITER, {"process": "x", "effect": "generate_time", "time": "1"}), "was generated before"),
        ((*WRITER, {"process": "x", "effect": "swap_version", "version": "7"}), "no such manifest"),
        ((*WRITER, {**WRITER[3], "effect": "delete_instant", "process": "x", "state": "COMPLETED"}), "has"),
    ],
)
def test_what_lacks_a_line_or_has_one_too_many_is_refused(lines: tuple[Line, ...], wrong: str):
    """One rule each: markers, lock, states, snapshots, files of the past, times, manifests, deletions."""
    refused = accepts(lines, before("travel"))

    assert refused is not None
    assert wrong in refused.wrong


@given(seed=st.integers(0, 5), chance=st.data())
def test_another_completion_time_is_refused(seed: int, chance: st.DataObject):
    """A completion bears the time that was generated under the lock, and no other."""
    lines = trace("travel", 0, seed)
    done = [place for place, line in enumerate(lines) if line.get("completed")]
    place = chance.draw(st.sampled_from(done))
    changed = (*lines[:place], {**lines[place], "completed": "20250101000000999"}, *lines[place + 1 :])
    refused = accepts(changed, before("travel"))

    assert refused is not None
    assert refused.number == place + 1


@pytest.mark.parametrize("sample", samples(), ids=lambda one: one.name)
def test_each_rule_refuses_what_only_it_refuses(sample: Trace) -> None:
    """Traces written by hand: some keep every rule; for each rule of specs/tla/Effects.tla others break it."""
    assert (accepts(sample.lines) is None) == (not sample.breaks)


def test_a_rollback_that_several_carry_out_may_find_its_work_done() -> None:
    """A file that is gone already is deleted again; without a rollback nobody deletes what is not there."""
    again = next(one for one in SERVED if one["effect"] == "delete_instant")
    place = SERVED.index(again) + 1

    assert accepts((*SERVED[:place], again, *SERVED[place:])) is None
    refused = accepts((*SERVED[:5], again))
    assert refused is not None
    assert "no such file" in refused.wrong
