"""Every area of the rule book has a name that people can select cases by."""

import tomllib
from pathlib import Path

from hudi_conformance.runner.cases import AREAS

ROOT = Path(__file__).parents[2]


def test_cases_are_named_after_the_areas_of_the_rule_book() -> None:
    """A new area that nobody can select would show as two letters in every report."""
    areas = tomllib.loads((ROOT / "specs" / "areas.toml").read_text(encoding="utf-8"))

    assert set(AREAS) == set(areas)
    assert len(set(AREAS.values())) == len(AREAS)
