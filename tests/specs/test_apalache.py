"""Apalache checks what the files of runs declare: by a stand-in everywhere, by Apalache itself where it is installed.

The stand-in shows what is called and how an exit code is taken; only Apalache shows that it accepts what is written for
it, so the tests that need it name it in their reason where they are skipped.
"""

import shutil
from pathlib import Path

import pytest
from hudi_conformance.verification.checking_specs import SpecSelection, check_specs
from hudi_conformance.verification.tla.apalache import (
    ABSENT,
    Apalache,
    find_apalache,
    prepare,
    run_apalache,
    typed_modules,
    with_rules,
)
from hudi_conformance.verification.tla.manifest import BoundedCheck, ManifestError, Run, load_manifest

SPECS = Path(__file__).resolve().parents[2] / "specs" / "tla"
MODULE = """---- MODULE Clock ----
EXTENDS Integers
CONSTANTS
  \\* @type: Set(Str);
  Rules,
  \\* @type: Set(Str);
  Bells,
  \\* @type: Int;
  Last
VARIABLE
  \\* @type: Int;
  hour
Init == hour = 0 /\\ Bells \\subseteq {"a"}
Next == hour' = hour + (IF "no leaps" \\in Rules THEN 1 ELSE 2) /\\ hour < Last
Spec == Init /\\ [][Next]_hour
InRange == hour <= Last
EachHour == hour # 3
InductiveInit == hour \\in 0..Last /\\ InRange
====
"""
CONFIGURATION = """CONSTANTS
  Rules = {"no leaps"}
  Bells = {}
  Last = 3
SPECIFICATION
  Spec
INVARIANTS
  InRange
"""
RUNS = """[[run]]
name = "it stays in range"
expect = "pass"

[[apalache]]
name = "three hours"
depth = 4
expect = "pass"

[[apalache]]
name = "every step keeps it"
init = "InductiveInit"
depth = 1
expect = "pass"

[[apalache]]
name = "it leaps over its end"
without = "no leaps"
depth = 2
expect = { violates = "InRange" }
"""
# What Apalache is called with is put beside it; a violation is reported by its exit code, with a counterexample.
PROGRAM = """#!/bin/sh
if [ "$1" = version ]; then echo 0.1; exit; fi
echo "$@ $JVM_ARGS" >> "{calls}"
cat run.cfg >> "{calls}" 2>/dev/null
case "$*" in *typecheck*) exit 0;; esac
if grep -q "THEN 2\\|IF FALSE" Clock.tla; then
  mkdir -p out/run; echo '{{}}' > out/run/violation1.itf.json; echo "State 2: state invariant 0 violated."; exit {code}
fi
"""


@pytest.fixture
def specs(tmp_path: Path) -> Path:
    folder = tmp_path / "specs"
    (folder / "runs").mkdir(parents=True)
    (folder / "Clock.tla").write_text(MODULE, encoding="utf-8")
    (folder / "MCClock.cfg").write_text(CONFIGURATION, encoding="utf-8")
    (folder / "runs" / "Clock.toml").write_text(RUNS, encoding="utf-8")
    return folder


def stand_in(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, code: int = 12) -> Path:
    """A program of Apalache's name that writes down what it is called with."""
    (tmp_path / "bin").mkdir()
    program = tmp_path / "bin" / "apalache-mc"
    program.write_text(PROGRAM.format(calls=tmp_path / "calls", code=code), encoding="utf-8")
    program.chmod(0o755)
    monkeypatch.setenv("PATH", f"{program.parent}:/usr/bin:/bin")
    return tmp_path / "calls"


@pytest.fixture
def nowhere(specs: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("PATH", str(specs))
    for name in ("APALACHE", "APALACHE_JAR", "APALACHE_IMAGE"):
        monkeypatch.delenv(name, raising=False)


def only_apalache() -> Apalache:
    found = find_apalache()
    if found is None:
        pytest.skip(ABSENT)
    return found


@pytest.mark.usefixtures("nowhere")
@pytest.mark.parametrize("requested", [SpecSelection(apalache=True), SpecSelection(apalache_only=True)])
def test_apalache_requested_but_absent_is_an_error(
    specs: Path, requested: SpecSelection, capsys: pytest.CaptureFixture[str]
):
    """A gate that wants Apalache must not pass without it."""
    assert check_specs(specs, requested) == 2
    assert capsys.readouterr().out.splitlines()[-1] == ABSENT


@pytest.mark.usefixtures("nowhere")
def test_the_variable_requests_apalache_as_the_option_does(specs: Path, monkeypatch: pytest.MonkeyPatch):
    monkeypatch.setenv("APALACHE", "1")

    assert check_specs(specs) == 2


@pytest.mark.usefixtures("nowhere")
def test_without_apalache_the_run_prints_what_goes_unchecked(specs: Path, capsys: pytest.CaptureFixture[str]):
    assert check_specs(specs) == 0
    printed = capsys.readouterr().out
    assert ABSENT in printed
    assert printed.startswith("TLC of revision ")


def test_a_run_names_its_checkers_and_counts_failures(
    specs: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
):
    calls = stand_in(tmp_path, monkeypatch)

    assert check_specs(specs, SpecSelection(apalache_only=True)) == 0

    printed = capsys.readouterr().out
    assert printed.startswith("Apalache 0.1, from apalache-mc on PATH\n")
    assert "Apalache: types of 1 modules, 3 checks, 0 failures" in printed
    made = calls.read_text(encoding="utf-8")
    assert "--no-deadlock --inv=InRange --length=4 --out-dir=out Checked.tla -Xmx4g -Xss512m" in made
    assert "INIT InductiveInit\nNEXT Next\n" in made


def test_another_exit_code_than_the_expected_one_is_a_failure(
    specs: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
):
    stand_in(tmp_path, monkeypatch, code=255)

    assert check_specs(specs, SpecSelection(apalache_only=True)) == 1
    assert "it leaps over its end: Apalache could not check it" in capsys.readouterr().out


def test_a_counterexample_is_kept(specs: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch):
    stand_in(tmp_path, monkeypatch)
    *_, leaps = load_manifest(specs).bounded

    assert run_apalache(only_apalache(), specs, leaps, tmp_path).fault is None
    assert (tmp_path / "Clock.itf.json").read_text(encoding="utf-8") == "{}\n"


def test_empty_sets_have_the_types_of_their_constants(specs: Path, tmp_path: Path):
    """A configuration file gives an empty set no type, and Apalache refuses it."""
    (tmp_path / "place").mkdir()

    prepare(specs, load_manifest(specs).bounded[0], tmp_path / "place")

    module = (tmp_path / "place" / "Checked.tla").read_text(encoding="utf-8")
    assert "EXTENDS Clock\n\\* @type: Set(Str);\nNoBells == {}\n" in module
    assert "  Bells <- NoBells\n" in (tmp_path / "place" / "run.cfg").read_text(encoding="utf-8")


@pytest.mark.parametrize(
    ("question", "answer"),
    [
        ('"a" \\in Rules /\\ x', "TRUE /\\ x"),
        ('"b" \\in Rules', "FALSE"),
        ('"b" \\notin Rules', "TRUE"),
        ('{"a", "c"} \\subseteq Rules', "TRUE"),
        ('{"a", "b"} \\subseteq Rules', "FALSE"),
        ("Rules \\subseteq AllRules", "Rules \\subseteq AllRules"),
    ],
)
def test_a_question_for_a_rule_is_replaced_by_its_answer(question: str, answer: str):
    assert with_rules(question, frozenset({"a", "c"})) == answer


def test_a_check_of_a_module_that_is_not_there_is_an_error(specs: Path, tmp_path: Path):
    check = BoundedCheck(Run("x", "Watch", "MCClock.cfg", None), 1)

    with pytest.raises(ManifestError, match="there is no module Watch"):
        prepare(specs, check, tmp_path)


def test_every_module_is_typed_once_or_says_why_not():
    """The types of a module are checked with those of the module that extends it."""
    manifest = load_manifest(SPECS)
    typed = set(typed_modules(SPECS, manifest.tlc_only))

    extended = {"TrueTime", "Timeline", "OptimisticWriters", "LsmTimeline"}
    assert {path.stem for path in (SPECS / "runs").glob("*.toml")} - set(manifest.tlc_only) - extended < typed
    assert {"InductiveTrueTime", "InductiveTimeline", "InductiveWriters", "InductiveHistory", "Effects"} < typed
    assert set(manifest.tlc_only) == {"TraceEffects"}


def test_every_module_that_apalache_checks_has_checks_that_hold_and_that_must_fail():
    """A check that nothing can break shows nothing."""
    bounded = load_manifest(SPECS).bounded

    for module in {one.run.module for one in bounded}:
        for soak in (False, True):
            checks = [one for one in bounded if one.run.module == module and (soak or not one.run.soak)]
            assert not checks or {one.run.violates is None for one in checks} == {True, False}


@pytest.mark.slow
def test_apalache_itself_finds_what_is_declared(specs: Path):
    """What is written for it is accepted: configuration, typed empty set, rules, both ends of an induction."""
    apalache = only_apalache()

    for check in load_manifest(specs).bounded:
        assert run_apalache(apalache, specs, check).fault is None


@pytest.mark.slow
def test_apalache_itself_shows_a_check_that_was_to_fail(specs: Path):
    whole = BoundedCheck(Run("x", "Clock", "MCClock.cfg", "InRange"), 2)

    assert run_apalache(only_apalache(), specs, whole).fault == "holds, InRange was to be violated"


def test_the_jar_is_called_with_java(specs: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch):
    """Who has no program on PATH names the jar; the Java must be recent enough."""
    java = tmp_path / "jdk" / "bin" / "java"
    java.parent.mkdir(parents=True)
    java.write_text("#!/bin/sh\necho 'openjdk version \"21.0.1\"' >&2\n", encoding="utf-8")
    java.chmod(0o755)
    jar = tmp_path / "apalache.jar"
    jar.touch()
    monkeypatch.setenv("PATH", str(specs))
    monkeypatch.setenv("JAVA_HOME", str(tmp_path / "jdk"))
    monkeypatch.setenv("APALACHE_JAR", str(jar))

    found = find_apalache()

    assert found is not None
    assert found.command == (str(java), "-Xmx4g", "-Xss512m", "-jar", str(jar))
    assert shutil.which("apalache-mc") is None
