"""Traces held to the model and to the TLA+ modules: each says the same of every line."""

import json
import random
from collections.abc import Iterator, Sequence
from pathlib import Path

import pytest
from engine_traces import served_table
from hudi_conformance.corpus.trace_cases import load_trace_cases
from hudi_conformance.corpus.traces import lines_of, named_instant_line, read_trace
from hudi_conformance.verification.properties.scenarios import SCENARIOS
from hudi_conformance.verification.tracing.checking import Verdict, check_traces
from hudi_conformance.verification.tracing.console import check, describe_verdict
from hudi_conformance.verification.tracing.modules import Line, Trace, sample_module
from hudi_conformance.verification.tracing.samples import SPOILT, samples
from hudi_conformance.verification.tracing.samples import lines_of as sample_lines
from hudi_model_tools.accepts import accepts
from hudi_model_tools.protocol import Protocol
from hudi_model_tools.store import Store
from rich.console import Console

SPECS = Path(__file__).resolve().parents[2] / "specs" / "tla"
WALKS, SPOILT_OF_EACH = 2, 8
WORDS = ("effect", "action", "state", "holder", "process", "requested", "completed", "time", "file", "version")


def walked(name: str, seed: int) -> Trace:
    """A trace of a way through a scenario, with all its deaths every other time."""
    store, chance = Store(), random.Random(seed)  # noqa: S311 - a walk, no secret
    scenario = SCENARIOS[name]
    start = world = scenario.start(store)
    protocol, steps = Protocol(store, seed % 2 and scenario.crashes), []
    while moves := protocol.moves(world):
        steps.append(chance.choice(moves))
        world = steps[-1].world
    return Trace(f"{name} {seed}", lines_of(start, steps), start.shared.table.value.timeline)


def spoilt(trace: Trace, seed: int) -> Trace:
    """The trace with one line moved, missing, doubled, or with a word of another line."""
    chance, lines = random.Random(seed), list(trace.lines)  # noqa: S311 - a draw, no secret
    place = chance.randrange(len(lines))
    match seed % 4:
        case 0:
            lines.insert(chance.randrange(len(lines)), lines.pop(place))
        case 1:
            del lines[place]
        case 2:
            lines.insert(chance.randrange(place, len(lines)), lines[place])
        case _:
            lines[place] = changed(lines, place, chance)
    return Trace(f"{trace.name} spoilt {seed}", tuple(lines), trace.before)


def changed(lines: Sequence[Line], place: int, chance: random.Random) -> Line:
    """A line with one of its words as another line of the same effect has it."""
    line = lines[place]
    name = chance.choice([one for one in WORDS if one in line and one != "effect"])
    others = [one[name] for one in lines if one["effect"] == line["effect"] and name in one]
    return {**line, name: chance.choice(others)}


def disagreements(traces: Sequence[Trace], verdicts: Sequence[Verdict]) -> Iterator[str]:
    """Where the model and the modules differ: in whether, or at which line."""
    for trace, verdict in zip(traces, verdicts, strict=True):
        refused = accepts(trace.lines, trace.before)
        if (refused.number if refused else 0) != (0 if verdict.accepted else verdict.number):
            yield f"{trace.name}: model {refused}, TLA+ {describe_verdict(trace.lines, verdict) or 'accepted'}"


@pytest.mark.slow
def test_what_processes_of_the_model_do_is_accepted_and_spoilt_traces_are_refused_alike() -> None:
    """Ways through every scenario, and the same with a line moved, missing, doubled or changed: one run of TLC."""
    names = sorted(SCENARIOS.keys() - {"slow-writer"})
    accepted = [walked(name, seed) for name in names for seed in range(WALKS)]
    wrong = [spoilt(one, seed) for one in accepted for seed in range(SPOILT_OF_EACH)]
    traces = [*accepted, *wrong, walked("slow-writer", 0)]
    verdicts = check_traces(SPECS, traces)

    assert list(disagreements(traces, verdicts)) == []
    assert all(one.accepted for one in verdicts[: len(accepted)])
    assert sum(not one.accepted for one in verdicts[len(accepted) :]) > len(wrong) / 3


@pytest.mark.slow
@pytest.mark.parametrize(("version", "table_type"), [(6, "MERGE_ON_READ"), (8, "COPY_ON_WRITE"), (9, "MERGE_ON_READ")])
def test_what_the_engine_does_is_accepted(tmp_path: Path, version: int, table_type: str) -> None:
    """Writes, every service, deaths, a restore and archivals; and spoilt traces are refused at the same line."""
    lines = served_table(tmp_path, version, table_type).lines()
    accepted = Trace("engine", lines)
    traces = [accepted, *(spoilt(accepted, seed) for seed in range(24))]
    verdicts = check_traces(SPECS, traces)

    assert {one["effect"] for one in lines} >= {"create_instant", "delete_instant", "commit_metadata_table"}
    assert describe_verdict(lines, verdicts[0]) == ""
    assert list(disagreements(traces, verdicts)) == []


def test_each_rule_refuses_a_trace_that_only_it_refuses() -> None:
    """The model refuses the same lines as the module does; TLC's runs show that each passes without its rule."""
    traces = samples()
    verdicts = check_traces(SPECS, traces)

    assert list(disagreements(traces, verdicts)) == []
    assert [one.broken for one in verdicts] == [(one.breaks,) if one.breaks else () for one in traces]
    assert {one.name for one in traces if one.name == one.breaks} == set(SPOILT)


def test_the_samples_beside_the_modules_are_those_that_are_generated() -> None:
    """To write them anew: the text of `sample_module(samples())`."""
    assert (SPECS / "TraceData.tla").read_text(encoding="utf-8") == sample_module(samples())


def test_an_empty_trace_among_others_is_no_accepted_one() -> None:
    """A tracer that wrote nothing must not pass."""
    (found,) = check_traces(SPECS, [Trace("empty", ())])

    assert not found.accepted


def written(folder: Path, lines: Sequence[Line]) -> Path:
    """A trace as a file."""
    file = folder / "trace.ndjson"
    file.write_text("".join(f"{json.dumps(dict(line))}\n" for line in lines), encoding="utf-8")
    return file


def test_the_command_names_the_line_the_rule_and_what_was_allowed(tmp_path: Path) -> None:
    """Odd names of files and processes come back as they are; 0 accepted, 1 refused, 2 no trace."""
    lines = sample_lines(
        "nobody take_lock nobody, nobody generate_time 7, nobody create_instant commit REQUESTED 7, "
        'nobody release_lock nobody, nobody put_marker 7 süd "b\\ CREATE'
    )
    accepted = list(lines)
    out = Console(width=2000, record=True)

    assert check(written(tmp_path, accepted), out, model=True, tla=True) == 0
    put = {**accepted[-1], "effect": "put_base_file", "file": "other"}
    del put["io_type"]
    assert check(written(tmp_path, [*accepted, put]), out, model=True, tla=True) == 1
    printed = out.export_text()
    assert "TLA+: line 6: nobody put_base_file 20250101000000007 süd other: marker before file; allowed: " in printed
    assert 'put_base_file 20250101000000007 süd "b\\; ' in printed
    assert printed.count("both agree") == 2
    assert check(written(tmp_path, ()), out, model=True, tla=False) == 2
    assert "the trace is empty" in out.export_text()


def test_the_line_of_a_file_that_is_gone_is_reported_by_its_name() -> None:
    """A slow writer gives up what its rollback has removed already."""
    names = ("1.inflight", "1.commit.requested", "1.deltacommit.inflight", "1_2.commit", "1.commit", "3.savepoint")
    lines = [" ".join(named_instant_line(name).values()) for name in names]

    assert lines == [
        "commit INFLIGHT 1",
        "commit REQUESTED 1",
        "deltacommit INFLIGHT 1",
        "commit COMPLETED 1 2",
        "commit COMPLETED 1",
        "savepoint COMPLETED 3",
    ]


def test_every_move_of_a_slow_writer_has_its_lines() -> None:
    """Also where it deletes what is gone."""
    for seed in range(20):
        lines = walked("slow-writer", 2 * seed).lines
        assert read_trace("\n".join(map(json.dumps, lines))) == lines


def test_the_modules_say_of_trace_cases_what_the_cases_say() -> None:
    """Every accepted trace is accepted, every refused one at the line that its case names."""
    cases = load_trace_cases(SPECS.parents[1])
    verdicts = check_traces(SPECS, [Trace(one.name, one.lines) for one in cases])

    found = [0 if one.accepted else one.number for one in verdicts]
    assert found == [one.refused for one in cases]
