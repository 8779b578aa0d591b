"""The reference mergers, pair by pair as the suite's model merges them."""

import json
from pathlib import Path
from typing import Any

import pytest
from hudi_adapter import Rejected

from mergers import Rule, Version, columns_of, merge

CASES = json.loads((Path(__file__).parents[1] / "merger-cases.json").read_text(encoding="utf-8"))


def version(stored: dict[str, Any]) -> Version:
    """A version as the file states it."""
    return Version(stored["values"], stored["ordering"] and tuple(stored["ordering"]), stored["is_delete"])


@pytest.mark.parametrize("case", CASES)
def test_every_pair_is_merged_as_the_model_merges_it(case: dict[str, Any]) -> None:
    """Sums, sets, the greater record, and the row that goes at zero."""
    rule = Rule(tuple(case["columns"]), tuple(case["ordering"]))

    merged = merge(case["strategy"], rule, version(case["older"]), version(case["newer"]))

    assert merged == version(case["merged"])


def test_an_unknown_strategy_is_refused() -> None:
    """A table may name a merger of its own."""
    with pytest.raises(Rejected, match="MERGER_UNKNOWN"):
        merge("00000000-0000-0000-0000-000000000000", Rule(()), Version({}), Version({}))


def test_columns_are_those_that_the_table_names_else_its_ordering_fields() -> None:
    """The property is a list with commas."""
    named = {"hoodie.record.merge.property.hudi.conformance.columns": "a, b"}

    assert columns_of(named, ("ts",)) == ("a", "b")
    assert columns_of({}, ("ts",)) == ("ts",)
