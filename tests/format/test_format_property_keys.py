"""Keys of the properties: newest name first, old names, defaults by version, and no key of a real table unknown."""

import pytest
from hudi_conformance.runner.archive import unpacked_corpus
from hudi_format.table.properties import parse_properties
from hudi_format.table.property_keys import PROPERTY_KEYS, property_key, property_value

GOLDEN = unpacked_corpus()
MERGE_PROPERTY = "hoodie.record.merge.property."


def test_the_newest_name_holds():
    names = {"hoodie.table.precombine.field": "old", "hoodie.table.ordering.fields": "new"}
    assert property_value(names, "hoodie.table.ordering.fields") == "new"
    assert property_value(names, "hoodie.table.precombine.field") == "new"


@pytest.mark.parametrize("text", ["", " "])
def test_an_empty_text_is_no_value(text: str):
    properties = {"hoodie.table.ordering.fields": text, "hoodie.table.precombine.field": "ts"}
    assert property_value(properties, "hoodie.table.ordering.fields") == "ts"


@pytest.mark.parametrize(("version", "layout"), [("4", "1"), ("5", "1"), ("6", "1"), ("8", "2"), ("9", "2")])
def test_a_default_is_that_of_the_tables_version(version: str, layout: str):
    assert property_value({"hoodie.table.version": version}, "hoodie.timeline.layout.version") == layout
    assert property_value({"hoodie.table.version": version}, "hoodie.table.name") is None


def test_an_upgraded_table_has_its_history_where_new_tables_have_it():
    properties = {"hoodie.table.version": "8", "hoodie.archivelog.folder": "archived"}
    assert property_value(properties, "hoodie.timeline.history.path") == "history"


def test_a_name_stands_for_one_key():
    names = [name for key in PROPERTY_KEYS for name in (key.name, *key.old_names)]
    assert len(names) == len(set(names))
    with pytest.raises(KeyError):
        property_key("hoodie.table.nonsense")


def test_every_key_of_a_real_table_is_known():
    files = [*GOLDEN.glob("v?/apache_*/table/.hoodie/hoodie.properties")]
    found = {key for file in files for key in parse_properties(file.read_bytes(), str(file))}
    assert found
    assert all(property_key(key) for key in found if not key.startswith(MERGE_PROPERTY))
