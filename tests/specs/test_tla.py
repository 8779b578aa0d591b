"""TLC runs from the wheel; a must-fail run that passes, or fails otherwise, is a failure."""

import re
from pathlib import Path

import pytest
from hudi_conformance.verification.checking_specs import SpecSelection, check_specs, chosen
from hudi_conformance.verification.lint.guards import check_guards
from hudi_conformance.verification.tla.configuration import Configuration, configure, parse_configuration
from hudi_conformance.verification.tla.manifest import ManifestError, Run, load_manifest
from hudi_conformance.verification.tla.output import read_finding
from hudi_conformance.verification.tla.tlc import run_tlc
from hypothesis import given
from hypothesis import strategies as st

SPECS = Path(__file__).resolve().parents[2] / "specs" / "tla"
MODULES = sorted(path.stem for path in (SPECS / "runs").glob("*.toml"))

MODULE = """---- MODULE Clock ----
EXTENDS Integers
CONSTANTS Rules, Last
VARIABLE hour
Init == hour = 0
Tick == hour < Last /\\ hour' = hour + 1
Leap == "no leaps" \\notin Rules /\\ hour < Last /\\ hour' = hour + 2
Next == Tick \\/ Leap
Spec == Init /\\ [][Next]_hour /\\ WF_hour(Next)
InRange == hour <= Last
StepByOne == [][hour' = hour + 1]_hour
Strikes == <>(hour >= Last)
NeverOne == hour # 1
====
"""

CONFIGURATION = """CONSTANTS
  Rules = {
    "no leaps"
  }
  Last = 3
SPECIFICATION
  Spec
INVARIANTS
  InRange
PROPERTIES
  StepByOne
  Strikes
"""


@pytest.fixture
def specs(tmp_path: Path) -> Path:
    """A folder with a clock that must not leap."""
    (tmp_path / "Clock.tla").write_text(MODULE, encoding="utf-8")
    (tmp_path / "MCClock.cfg").write_text(CONFIGURATION, encoding="utf-8")
    return tmp_path


def write_runs(folder: Path, text: str) -> None:
    """The file of runs of the module `Clock`."""
    (folder / "runs").mkdir()
    (folder / "runs" / "Clock.toml").write_text(text, encoding="utf-8")


def run(violates: str | None = None, **changes: object) -> Run:
    return Run(**{"name": "a run", "module": "Clock", "config": "MCClock.cfg", "violates": violates, **changes})  # type: ignore[arg-type]


def test_a_passing_run_counts_its_states(specs: Path):
    result = run_tlc(specs, run())

    assert result.fault is None
    assert result.finding is not None
    assert (result.finding.distinct_states, result.finding.depth) == (4, 4)


def test_a_property_of_another_module_is_named_as_the_run_names_it(specs: Path):
    """TLC names the place in the other module, and not the property that was checked."""
    other = "---- MODULE Steps ----\nEXTENDS Integers\nVARIABLE n\nSpec == [][n' = n + 1]_n\n====\n"
    (specs / "Steps.tla").write_text(other, encoding="utf-8")
    module = MODULE.replace(
        "NeverOne ==", "Other == INSTANCE Steps WITH n <- hour\nIsSteady == Other!Spec\nNeverOne =="
    )
    (specs / "Clock.tla").write_text(module, encoding="utf-8")
    (specs / "MCClock.cfg").write_text(CONFIGURATION + "  IsSteady\n", encoding="utf-8")

    assert run_tlc(specs, run("IsSteady", check=("IsSteady",), without="no leaps")).fault is None
    assert run_tlc(specs, run(check=("IsSteady",))).fault is None


def test_no_file_is_left_beside_the_modules(specs: Path):
    run_tlc(specs, run())

    assert {path.name for path in specs.iterdir()} == {"Clock.tla", "MCClock.cfg"}


def test_a_must_fail_run_finds_its_violation(specs: Path):
    result = run_tlc(specs, run("StepByOne", without="no leaps"))

    assert result.fault is None
    assert result.finding is not None
    assert [(step.action, step.changed) for step in result.finding.trace] == [
        ("Initial predicate", (("hour", "0"),)),
        ("Leap", (("hour", "2"),)),
    ]


def test_a_violation_of_something_else_is_a_failure(specs: Path):
    assert (
        run_tlc(specs, run("InRange", without="no leaps")).fault == "StepByOne is violated, InRange was to be violated"
    )


def test_a_violation_where_none_is_expected_is_a_failure(specs: Path):
    assert run_tlc(specs, run(check=("NeverOne",))).fault == "NeverOne is violated, it was to pass"


def test_a_broken_promise_of_progress_is_named(specs: Path):
    module = (specs / "Clock.tla").read_text(encoding="utf-8").replace(" /\\ WF_hour(Next)", "")
    (specs / "Clock.tla").write_text(module, encoding="utf-8")

    assert run_tlc(specs, run("Strikes", check=("Strikes",))).fault is None


def test_a_module_that_does_not_parse_is_a_failure(specs: Path):
    (specs / "Clock.tla").write_text("---- MODULE Clock ----\nx ==\n====\n", encoding="utf-8")

    assert run_tlc(specs, run()).fault == "TLC could not check it"


@pytest.mark.slow
def test_a_run_is_stopped_at_its_limit_and_says_where_it_stood(specs: Path):
    endless = run(constants=(("Last", "100000000"),), limit_s=5)

    fault = str(run_tlc(specs, endless).fault)

    assert fault.startswith("stopped: more than 5 s\n")
    assert "Full thread dump" in fault


MUST_FAIL_THAT_PASSES = """
[[run]]
name = "the rule holds all the same"
expect = { violates = "InRange" }

[[run]]
name = "one is struck"
check = ["NeverOne"]
expect = "pass"
"""


def test_failures_are_counted_and_their_traces_printed(specs: Path, capsys: pytest.CaptureFixture[str]):
    """A must-fail configuration that passes means that the invariant guards nothing."""
    write_runs(specs, MUST_FAIL_THAT_PASSES)

    assert check_specs(specs, SpecSelection(apalache=False)) == 1

    printed = capsys.readouterr().out
    assert "the rule holds all the same: passes, InRange was to be violated" in printed
    assert "one is struck: NeverOne is violated, it was to pass" in printed
    assert " 1 Tick\n       hour = 1" in printed
    assert "2 runs, 2 failures" in printed


@pytest.mark.parametrize("count", [1, 2, 3, 7])
def test_shards_part_all_runs_of_tlc(count: int) -> None:
    """Each run is in one shard, the same always; agreements are in each."""
    whole = chosen(load_manifest(SPECS), SpecSelection(soak=True))
    parts = [chosen(load_manifest(SPECS), SpecSelection(soak=True, shard=f"{one + 1}/{count}")) for one in range(count)]

    assert sorted(run.name for part in parts for run in part.runs) == sorted(run.name for run in whole.runs)
    assert all(part.agreements == whole.agreements for part in parts)


@pytest.mark.parametrize("shard", ["0/3", "4/3", "1", "1/3/2", ""])
def test_shard_that_is_none_is_refused(shard: str) -> None:
    """Nothing is checked then, and nothing is said to be well."""
    assert check_specs(SPECS, SpecSelection(shard=shard)) == 2


@pytest.mark.parametrize(
    ("document", "message"),
    [
        ("", "holds no run"),
        ("[[run]", "cannot be read"),
        ('[[run]]\nname = "x"\n', "missing ['expect']"),
        ('[[run]]\nname = "x"\nexpect = "fail"\n', 'expect is "pass" or'),
        ('[[run]]\nname = "x"\nexpect = "pass"\nspeed = 1\n', "unknown keys ['speed']"),
    ],
)
def test_a_broken_manifest_is_an_error(tmp_path: Path, document: str, message: str):
    write_runs(tmp_path, document)

    with pytest.raises(ManifestError) as caught:
        load_manifest(tmp_path)

    assert message in str(caught.value)
    assert check_specs(tmp_path) == 2


@pytest.mark.parametrize(
    "changes",
    [{"without": "no such rule"}, {"constants": (("Missing", "1"),)}],
)
def test_a_run_may_only_change_what_is_there(changes: dict[str, object]):
    """A misspelt rule would leave every rule in force, and the run would show nothing."""
    with pytest.raises(ManifestError):
        configure(parse_configuration(CONFIGURATION, "MCClock.cfg"), run(**changes))


NAMES = st.text("ABCDEFGHxyz", min_size=1, max_size=6)


@given(
    st.dictionaries(NAMES, st.sampled_from(["1", '"a"', '{"a = b", "c"}']), min_size=1),
    NAMES,
    st.lists(NAMES),
    st.lists(NAMES),
)
def test_a_configuration_reads_back_as_written(
    constants: dict[str, str], specification: str, invariants: list[str], properties: list[str]
):
    configuration = Configuration(constants, specification, tuple(invariants), tuple(properties))

    assert parse_configuration(configuration.text(), "a.cfg") == configuration


@given(st.text())
def test_output_that_says_nothing_is_no_pass(output: str):
    finding = read_finding(output, ())

    assert not finding.passed
    assert finding.violated is None


def test_every_module_has_runs_that_pass_and_runs_that_must_fail():
    runs = load_manifest(SPECS).runs

    for module in MODULES:
        assert {run.violates is None for run in runs if run.module == module} == {True, False}


def test_the_lint_finds_a_property_that_no_run_violates(tmp_path: Path):
    """An invariant that nothing can break says nothing; TypeOK stands in for types."""
    folder = tmp_path / "specs" / "tla"
    folder.mkdir(parents=True)
    (folder / "MCClock.cfg").write_text(CONFIGURATION.replace("InRange", "TypeOK\n  InRange"), encoding="utf-8")
    twin = '[[run]]\nname = "{0}"\nexpect = {{ violates = "{0}" }}\n'
    held = '[[apalache]]\nname = "x"\ndepth = 1\nexpect = "pass"\n'
    write_runs(folder, twin.format("InRange") + twin.format("Strikes") + held)

    assert [str(problem) for problem in check_guards(tmp_path)] == [
        "specs/tla/MCClock.cfg:1: StepByOne: no run in runs/Clock.toml must violate it",
        "specs/tla/runs/Clock.toml:1: Apalache is to find that something holds, and that something fails",
    ]


def test_every_property_of_the_modules_has_a_run_that_violates_it():
    assert list(check_guards(SPECS.parents[1])) == []


@pytest.mark.parametrize(
    "heading", ["2: <Leap line 6, col 9 of module Clock>", '2: <Leap("a", <<1>>) line 6, col 9 of module Clock>']
)
def test_the_action_of_a_step_has_one_name_by_both_releases(heading: str):
    """TLC of today names what an action was taken with."""
    output = f"@!@!@STARTMSG 2217:4 @!@!@\n{heading}\nhour = 2\n\n@!@!@ENDMSG 2217 @!@!@\n"

    assert [step.action for step in read_finding(output, ()).trace] == ["Leap"]


def test_every_rule_has_a_run_without_it():
    """Of an inductive invariant only the rules that it needs."""
    runs = load_manifest(SPECS).runs
    for module in MODULES:
        if module.startswith("Inductive"):
            continue
        text = (SPECS / f"MC{module}.cfg").read_text(encoding="utf-8")
        rules = parse_configuration(text, module).constants["Rules"]
        dropped = {run.without for run in runs if run.module == module and run.without}

        assert dropped == set(re.findall(r'"([^"]*)"', rules))
