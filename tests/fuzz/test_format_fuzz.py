"""Every parser on real bytes with damage: an answer or one of two errors, soon, within memory, inside its folder."""

import random
import subprocess
import sys
import time
from pathlib import Path

import pytest
from damage import damage
from fuzz_inputs import PLACED, Target, folder
from fuzz_targets import NO_PARSERS, TARGETS, parsers
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

# The longest of a million calls took a third of a second on a busy machine.
SECONDS = 5.0
SOAK = Path(__file__).parent / "soak.py"


def test_no_parser_is_without_a_target():
    """A new public function that reads bytes gets real bytes to damage in fuzz_targets.TARGETS."""
    covered = {parser for target in TARGETS for parser in target.covers}
    left = [name for name, parser in parsers().items() if parser not in covered and name not in NO_PARSERS]
    assert left == []


@pytest.mark.parametrize("target", TARGETS, ids=lambda target: target.name)
def test_undamaged_bytes_are_read(target: Target):
    """The seeds are valid, so that damage reaches behind the first check."""
    assert target.seeds()
    for seed in target.seeds():
        target.refuses_or_answers(seed)


@pytest.mark.parametrize("target", TARGETS, ids=lambda target: target.name)
@settings(max_examples=25, deadline=None, suppress_health_check=list(HealthCheck))
@given(number=st.integers(0, 2**32))
def test_damaged_bytes_are_read_or_refused(target: Target, number: int):
    data = damage(random.Random(number), target.seeds())  # noqa: S311 - damage, not secrets
    started = time.monotonic()
    target.refuses_or_answers(data)
    assert time.monotonic() - started < SECONDS


def test_nothing_is_written_but_what_the_tests_put():
    """Parsers open no files: what they name stays a name."""
    for target in TARGETS:
        target.refuses_or_answers(target.seeds()[0])
    assert {status.path for status in folder().list_files()} == PLACED


@pytest.mark.slow
def test_the_soak_runs_each_target_within_its_memory(tmp_path: Path):
    """The runner that `make soak` uses: a process a target, its memory bounded by the system."""
    report = tmp_path / "report.md"
    command = [sys.executable, str(SOAK), "--seconds", "0.2", "--write", str(report), "hash rings"]
    subprocess.run(command, check=True, capture_output=True, timeout=120)
    assert [line.split("|")[1].strip() for line in report.read_text().splitlines() if "| damage |" in line] == [
        "hash rings"
    ]
