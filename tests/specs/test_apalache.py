"""Apalache is asked for types, bounded depth and induction where it can be had; where not, one line says so."""

from pathlib import Path

import pytest
from hudi_conformance.verification.checking_specs import check_specs
from hudi_conformance.verification.tla.apalache import ABSENT, apalache_checks, run_apalache

MODULE = """---- MODULE {name} ----
EXTENDS Integers
CONSTANT Last
VARIABLE hour
Init == hour = 0
Next == hour < Last /\\ hour' = hour + 1
Spec == Init /\\ [][Next]_hour
InRange == hour <= Last
InductiveInit == hour \\in 0..Last /\\ InRange
====
"""
CONFIGURATION = """CONSTANTS
  Last = 3
SPECIFICATION
  Spec
INVARIANTS
  InRange
"""
# What Apalache is called with is put beside it; a violation is reported by its exit code, with a counterexample.
PROGRAM = """#!/bin/sh
echo "$@" >> "{calls}"
cat constants.cfg >> "{calls}" 2>/dev/null
case "$*" in *InductiveInit*) mkdir -p out/run; echo '{{}}' > out/run/violation1.itf.json; echo violated; exit 12;; esac
"""


@pytest.fixture
def specs(tmp_path: Path) -> Path:
    folder = tmp_path / "specs"
    (folder / "runs").mkdir(parents=True)
    for name in ("Clock", "InductiveClock"):
        (folder / f"{name}.tla").write_text(MODULE.format(name=name), encoding="utf-8")
        (folder / f"MC{name}.cfg").write_text(CONFIGURATION, encoding="utf-8")
    (folder / "runs" / "Clock.toml").write_text('[[run]]\nname = "it passes"\nexpect = "pass"\n', encoding="utf-8")
    return folder


@pytest.fixture
def calls(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A program of Apalache's name that writes down what it is called with."""
    (tmp_path / "bin").mkdir()
    program = tmp_path / "bin" / "apalache-mc"
    program.write_text(PROGRAM.format(calls=tmp_path / "calls"), encoding="utf-8")
    program.chmod(0o755)
    monkeypatch.setenv("PATH", f"{program.parent}:/usr/bin:/bin")
    return tmp_path / "calls"


def test_apalache_that_is_not_there_is_reported_in_one_line(
    specs: Path, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
):
    monkeypatch.setenv("PATH", str(specs))

    assert check_specs(specs, apalache=True) == 0
    assert capsys.readouterr().out.splitlines()[-1] == ABSENT


def test_every_module_is_typed_and_every_configuration_checked(specs: Path):
    titles = [(check.module, check.title) for check in apalache_checks(specs)]

    assert titles == [
        ("Clock", "types"),
        ("InductiveClock", "types"),
        ("Clock", "invariants to depth 6"),
        ("InductiveClock", "holds at first"),
        ("InductiveClock", "is kept by every step"),
    ]


def test_a_violation_is_a_failure_and_counted(specs: Path, calls: Path, capsys: pytest.CaptureFixture[str]):
    assert check_specs(specs, apalache=True) == 1

    printed = capsys.readouterr().out
    assert "ok   Clock              Apalache: invariants to depth 6" in printed
    assert "FAIL InductiveClock     Apalache: is kept by every step\nviolated" in printed
    calls_made = calls.read_text(encoding="utf-8")
    assert "--no-deadlock --inv=InRange --init=Init --next=Next --length=6 --out-dir=out Clock.tla" in calls_made
    assert "CONSTANTS\n  Last = 3\n" in calls_made


@pytest.mark.usefixtures("calls")
def test_a_counterexample_is_kept(specs: Path, tmp_path: Path):
    *_, induction = apalache_checks(specs)

    assert run_apalache(specs, induction, tmp_path) == "violated\n"
    assert (tmp_path / "InductiveClock.itf.json").read_text(encoding="utf-8") == "{}\n"
