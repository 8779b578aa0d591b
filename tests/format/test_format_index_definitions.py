"""The file of index definitions: those of real tables byte for byte, every definition both ways, bad ones refused."""

import json
from typing import Any

import pytest
from format_strategies import TEXT
from hudi_conformance.runner.archive import unpacked_corpus
from hudi_format.errors import FormatError, Reason
from hudi_format.table.index_definitions import (
    DEFINITIONS_FILE,
    IndexDefinition,
    parse_index_definitions,
    serialise_index_definitions,
)
from hypothesis import given
from hypothesis import strategies as st

GOLDEN = unpacked_corpus()
NAMES = st.text(min_size=1, max_size=8)
TEXTS = st.lists(TEXT, max_size=2).map(tuple)
OPTIONS = st.dictionaries(TEXT, TEXT, max_size=2)
DEFINITIONS = st.lists(
    st.builds(IndexDefinition, NAMES, TEXT, TEXT, TEXTS, OPTIONS, st.sampled_from(["V1", "V2"])),
    max_size=3,
    unique_by=lambda one: one.name,
)


@given(DEFINITIONS)
def test_definitions_round_trip(definitions: list[IndexDefinition]):
    found = parse_index_definitions(serialise_index_definitions(definitions), "f")
    assert found == tuple(sorted(definitions, key=lambda one: one.name))


def test_the_files_of_apache_hudi_come_back_by_value():
    files = [*GOLDEN.glob(f"v?/apache_*/table/{DEFINITIONS_FILE}")]
    assert files
    for file in files:
        data = file.read_bytes()
        again = serialise_index_definitions(parse_index_definitions(data, str(file)))
        found = json.loads(data)["indexDefinitions"]
        # Releases before 1.1 name no version; what is written now does.
        named = {name: {"version": "V1", **one} for name, one in found.items()}
        assert json.loads(again)["indexDefinitions"] == named
        assert found != named or len(found) > 1 or sorted(again.splitlines()) == sorted(data.splitlines())


def test_definitions_before_1_1_name_no_version():
    definition = IndexDefinition("secondary_index_a", "secondary_index", "identity", ("a",), {})
    data = serialise_index_definitions([definition], versions=False)
    assert b"version" not in data
    assert parse_index_definitions(data, "f") == (definition,)


@pytest.mark.parametrize("content", [None, [], {}, {"indexDefinitions": []}, {"indexDefinitions": {"a": 1}}])
def test_a_file_of_another_form_is_refused(content: Any):
    with pytest.raises(FormatError) as caught:
        parse_index_definitions(json.dumps(content).encode(), "f")
    assert (caught.value.reason, caught.value.clause) == (Reason.PROPERTIES_INVALID, "IX-001")
