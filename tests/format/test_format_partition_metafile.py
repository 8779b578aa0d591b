"""The file that makes a folder a partition: three forms, each both ways, none trusted."""

import pytest
from format_strategies import INSTANTS, damaged
from hudi_conformance.runner.archive import unpacked_corpus
from hudi_format.errors import FormatError, Reason
from hudi_format.table.partition_metafile import (
    MetafileForm,
    PartitionMetafile,
    metafile_form,
    metafile_name,
    parse_partition_metafile,
    serialise_partition_metafile,
)
from hypothesis import given, settings
from hypothesis import strategies as st

GOLDEN = unpacked_corpus()
FORMS: list[MetafileForm] = ["properties", "parquet", "orc"]
METAFILES = st.builds(PartitionMetafile, INSTANTS, st.integers(0, 999))


@settings(deadline=None)
@given(METAFILES, st.sampled_from(FORMS))
def test_every_form_round_trips(metafile: PartitionMetafile, form: MetafileForm):
    data = serialise_partition_metafile(metafile, form)
    assert parse_partition_metafile(data, form, "f") == metafile


@pytest.mark.parametrize("form", FORMS)
def test_a_form_is_known_by_its_name(form: MetafileForm):
    assert metafile_form(metafile_name(form)) == form
    assert metafile_form(f"{metafile_name(form)}.crc") is None


def test_the_files_of_apache_hudi_are_read():
    files = [*GOLDEN.glob("v?/apache_*/table/**/.hoodie_partition_metadata")]
    depths = [parse_partition_metafile(file.read_bytes(), "properties", str(file)).depth for file in files]
    assert depths
    assert set(depths) <= {0, 1, 2}


@pytest.mark.parametrize("form", FORMS)
@pytest.mark.parametrize("data", [b"", b"commitTime=1\n", b"commitTime=1\npartitionDepth=-1\n", b"partitionDepth=1\n"])
def test_a_file_without_its_keys_is_refused(form: MetafileForm, data: bytes):
    with pytest.raises(FormatError) as caught:
        parse_partition_metafile(data, form, "f")
    assert caught.value.reason == Reason.PROPERTIES_INVALID


@settings(deadline=None)
@given(st.data(), st.sampled_from(FORMS))
def test_damaged_files_give_a_value_or_one_error(data: st.DataObject, form: MetafileForm):
    bad = data.draw(damaged(serialise_partition_metafile(PartitionMetafile("20250101000000000", 2), form)))
    try:
        found = parse_partition_metafile(bad, form, "f")
    except FormatError:
        return
    assert found.depth >= 0
