"""What tables of Apache Hudi 1.1.1 have and those of the model have not, and what no check may take for a fault."""

import json

import pytest
from hudi_conformance.bridge.timeline_contents import load_content
from hudi_format.names import TimelineFileName, parse_timeline_file_name
from hudi_model.actions import OtherContent
from hudi_model.files import Damaged
from hudi_model.metadata import is_own
from hudi_model.time import InstantTime

EMPTY = {"partitionToWriteStats": {}, "compacted": False, "extraMetadata": {}, "operationType": "UNKNOWN"}


def _request(action: str) -> TimelineFileName:
    name = parse_timeline_file_name(f"20261122185159796.{action}.requested", 1)
    assert name is not None
    return name


@pytest.mark.parametrize("action", ["commit", "deltacommit"])
def test_the_request_of_a_commit_may_hold_metadata_and_plans_nothing(action: str) -> None:
    """A downgrade to version 6 leaves empty metadata there; what does not parse is a fault all the same."""
    text = json.dumps(EMPTY, indent=2).encode()

    assert load_content(text, "f", _request(action)) == OtherContent()
    assert isinstance(load_content(b"{ torn", "f", _request(action)), Damaged)


@pytest.mark.parametrize(
    ("instant", "own"),
    [
        ("00000000000000010", True),
        ("20261122184933901010", True),
        ("20261122184933901", False),
    ],
)
def test_an_index_that_version_6_gets_later_counts_without_an_action(instant: str, own: bool) -> None:
    """Its instant is that of an action with three digits behind, which the data timeline does not have."""
    assert is_own(InstantTime(instant)) is own
