"""Random histories carried out by the engine and by the model: the same answers after every step."""

import os
from dataclasses import replace

import pytest
from hudi_conformance.interop.fuzzing.checking import Found, Summary, check_cases, two_sides
from hudi_conformance.interop.fuzzing.command import ALL_WRITES
from hudi_conformance.interop.fuzzing.running import Options
from hudi_conformance.interop.fuzzing.strategies import write_cases
from hudi_conformance.runner.resources import suite_root

SOAK = os.environ.get("HUDI_CONFORMANCE_SOAK", "") not in {"", "0"}
SECONDS = 3600.0 if SOAK else 15.0
ENGINE = "engine-in-process"
LIMITS = {
    "tables of version 6": replace(ALL_WRITES, versions=(6,)),
    "tables of versions 8 and 9": replace(ALL_WRITES, versions=(8, 9)),
}


@pytest.mark.slow
@pytest.mark.timeout(7200 if SOAK else 300)
@pytest.mark.parametrize("drawn", LIMITS)
def test_the_engine_answers_as_the_model_after_every_step(drawn: str):
    """Snapshots, base files alone, times, ranges, change feeds and properties; refusals by reason; and the model finds
    no fault with the engine's tables. As many seeds as there is time for."""
    cases, seeds = write_cases(LIMITS[drawn]), range(1_000_000)
    with two_sides(ENGINE, suite_root()) as sides:
        found = list(check_cases(cases, seeds, sides, Options(), seconds=SECONDS, attempts=500, stop_after=3))

    summary = found[-1]
    assert isinstance(summary, Summary)
    assert [one.described(ENGINE) for one in found if isinstance(one, Found)] == []
    assert summary.queries > 10
    assert not summary.unsupported, str(summary)
