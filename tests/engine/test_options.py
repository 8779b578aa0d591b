"""What a caller's `hoodie.*` keys and values come to."""

import pickle
from random import Random

import pytest
from hudi_spark import HudiError
from hudi_spark.options import Options, check_configs, contradictions, of_reads
from hudi_spark.options.catalogue import Kind, Status, catalogue_of, group_of, the_catalogue
from hudi_spark.testing import resolve
from hypothesis import given
from hypothesis import strategies as st

CATALOGUE = the_catalogue()
GIVEN = {
    Kind.TEXT: st.just("some text"),
    Kind.FLAG: st.sampled_from(["true", "false"]),
    # No key asks for more than this at least.
    Kind.NUMBER: st.integers(2, 1000).map(str),
    Kind.DECIMAL: st.floats(0, 1, allow_nan=False).map(repr),
}
TAKEN = [one for one in CATALOGUE.entries if one.kind is not Kind.FAMILY and one.status is not Status.REFUSED]


@st.composite
def option_maps(draw: st.DrawFn) -> dict[str, str]:
    """Some keys by their current names, each with a value of its kind."""
    entries = [TAKEN[place] for place in draw(st.sets(st.integers(0, len(TAKEN) - 1), max_size=12))]
    choices = {one.key: st.sampled_from(one.choices) for one in entries if one.kind is Kind.CHOICE}
    return {one.key: draw(choices[one.key] if one.key in choices else GIVEN[one.kind]) for one in entries}


@given(option_maps())
def test_current_names_and_plain_values_come_back_as_they_are(configs: dict[str, str]):
    """What is honoured or accepted loses nothing, and resolving twice changes nothing."""
    resolved = resolve(configs)
    assert resolved.values == configs
    assert resolve(resolved.values) == resolved
    assert pickle.loads(pickle.dumps(resolved)) == resolved  # noqa: S301 - our own bytes


@given(option_maps(), st.randoms(use_true_random=False))
def test_a_key_by_any_of_its_names_is_the_same_option(configs: dict[str, str], random: Random):
    """Old names and Flink's stand for the current one."""
    renamed = {random.choice((key, *CATALOGUE[key].also)): f" {value} " for key, value in configs.items()}
    assert resolve(renamed).values == {key: value.strip() for key, value in configs.items()}


def test_giving_a_default_is_leaving_the_key_out():
    """A default is a value of its key; a refused key's is no exception where it passes at all."""
    for entry in CATALOGUE.entries:
        passes = entry.status is not Status.REFUSED or entry.default in entry.harmless
        if entry.default and passes:
            assert resolve({entry.key: entry.default}).text(entry.key) == Options().text(entry.key)


@pytest.mark.parametrize(
    ("name", "value", "key", "meant"),
    [
        ("archive.max_commits", "50", "hoodie.keep.max.commits", "50"),
        ("payload.class", "a.b.C", "hoodie.datasource.write.payload.class", "a.b.C"),
        ("write.operation", "INSERT", "hoodie.datasource.write.operation", "insert"),
        ("precombine.field", "ts", "hoodie.datasource.write.precombine.field", "ts"),
        ("index.type", "bucket", "hoodie.index.type", "BUCKET"),
        ("type", "mor", "hoodie.datasource.write.table.type", "MERGE_ON_READ"),
        ("hoodie.cleaner.policy", "keep_latest_commits", "hoodie.clean.policy", "KEEP_LATEST_COMMITS"),
        ("write.parquet.max.file.size", "120", "hoodie.parquet.max.file.size", "125829120"),
        ("hoodie.deltastreamer.keygen.timebased.timezone", "GMT", "hoodie.keygen.timebased.timezone", "GMT"),
        ("hoodie.table.version", "EIGHT", "hoodie.write.table.version", "8"),
    ],
)
def test_names_and_words_of_older_releases_and_of_flink_are_understood(name: str, value: str, key: str, meant: str):
    """A configuration that ran elsewhere means the same here."""
    assert resolve({name: value}).text(key) == meant
    assert resolve({name: value}).given(name)


@pytest.mark.parametrize(
    ("configs", "message"),
    [
        ({"hoodie.tabel.name": "t"}, r"hoodie\.tabel\.name is no known option.*did you mean hoodie\.table\.name\?"),
        ({"write.operations": "upsert"}, r"did you mean write\.operation\?"),
        ({"something.else": "1"}, r"something\.else is no known option.*configuration reference"),
        ({"hoodie.metadata.enable": "yes"}, "hoodie.metadata.enable is 'yes'.*true or false"),
        ({"hoodie.index.type": "HBASE"}, "hoodie.index.type is 'HBASE'.*BUCKET"),
        ({"hoodie.bucket.index.num.buckets": "0"}, "is 0.*at least 1"),
        ({"hoodie.bucket.index.num.buckets": "four"}, "'four', which is no whole number"),
        ({"hoodie.parquet.small.file.limit": "9" * 19}, "at most 18 digits"),
        ({"write.parquet.page.size": "-1"}, "is -1"),
        ({"hoodie.index.bloom.fpp": "nan"}, "'nan', which is no number"),
        ({"hoodie.table.type": "mor", "table.type": "COPY_ON_WRITE"}, "two names of one option"),
        ({"hoodie.table.service.manager.enabled": "true"}, "service.manager.enabled = true is not supported"),
        ({"hoodie.streamer.source.limit": "1"}, "Hudi Streamer"),
        ({"hoodie.sql.insert.mode": "strict"}, "hoodie.datasource.insert.dup.policy"),
        ({"hoodie.bulkinsert.overwrite.operation.type": "insert_overwrite"}, "request insert_overwrite"),
        ({"hoodie.static.overwrite.partition.paths": "north"}, "replace the partitions of their rows"),
        ({"hoodie.write.merge.handle.class": "com.example.Mine"}, "merged as the merge mode"),
        ({"hoodie.write.concat.handle.class": "com.example.Mine"}, "merged as the merge mode"),
        ({"hoodie.compact.merge.handle.class": "com.example.Mine"}, "merged as the merge mode"),
    ],
)
def test_what_cannot_be_honoured_is_refused_with_what_to_do(configs: dict[str, str], message: str):
    """No key and no value is dropped silently."""
    with pytest.raises(HudiError, match=message) as caught:
        resolve(configs)
    assert caught.value.reason == "CONFIG_INVALID"


def test_two_names_of_one_key_may_agree():
    """Only unequal values are a contradiction."""
    configs = {"hoodie.table.type": "mor", "table.type": "MERGE_ON_READ"}
    assert resolve(configs).values == {"hoodie.datasource.write.table.type": "MERGE_ON_READ"}


def test_what_a_call_says_holds_over_what_its_table_says():
    """A later layer may name a key otherwise than an earlier one, and have another value."""
    options = resolve({"index.type": "BLOOM", "_a": "1"}, {"hoodie.index.type": "SIMPLE", "_b": "2"})
    assert (options.values, options.extra) == ({"hoodie.index.type": "SIMPLE"}, {"_a": "1", "_b": "2"})


def test_a_refused_key_may_say_what_happens_anyway():
    """Asking for no inline compaction is no mistake."""
    assert not resolve({"hoodie.compact.inline": "False"}).flag("hoodie.compact.inline")


def test_a_missing_key_without_default_is_named_with_its_other_names():
    """Who creates a table is reported which key is missing."""
    with pytest.raises(HudiError, match=r"hoodie\.table\.name is missing.*hoodie\.datasource\.write\.table\.name"):
        Options().required("hoodie.table.name")
    assert resolve({"hoodie.table.name": "trips"}).required("hoodie.table.name") == "trips"


def test_values_come_as_what_they_are():
    """Numbers, fractions, switches and lists are read in one place."""
    options = resolve({"hoodie.index.bloom.fpp": "1e-6", "primaryKey": "id, day ,"})
    assert options.decimal("hoodie.index.bloom.fpp") == 1e-6
    assert options.names("hoodie.datasource.write.recordkey.field") == ("id", "day")
    assert options.number("hoodie.parquet.max.file.size") == 125829120
    assert options.flag("hoodie.populate.meta.fields")
    assert options.text("hoodie.table.name") == ""


def test_keys_for_the_commit_and_for_the_storage_are_kept_apart():
    """Keys with the prefix go into the commit's metadata; how to reach a store is no key of Hudi's."""
    options = resolve({"_batch": "7", "fs.region": "eu", "hoodie.metadata.enable": "true"})
    assert (options.extra, options.storage) == ({"_batch": "7"}, {"fs.region": "eu"})
    prefixed = resolve({"hoodie.datasource.write.commitmeta.key.prefix": "my.", "my.key": "1"})
    assert prefixed.extra == {"my.key": "1"}


def test_keys_of_a_family_keep_their_own_names():
    """What mergers receive is not listed key by key."""
    options = resolve({"hoodie.record.merge.property.columns": "a"})
    assert options.below("hoodie.record.merge.property.") == {"columns": "a"}
    assert options.text("hoodie.record.merge.property.columns") == "a"


@pytest.mark.parametrize(
    ("name", "message"),
    [
        ("hoodie.metadata.enabled", r"did you mean hoodie\.metadata\.enable\?"),
        ("hoodie.parquet.small.file.limit", "is no option of a read: Smaller base files.*it belongs to write"),
        ("read.data.skipping.enabled", r"give it as hoodie\.enable\.data\.skipping"),
        ("as.of.instant", "is no option of a read: The instant that is read.*use the call"),
    ],
)
def test_a_read_says_where_a_key_that_it_does_not_take_belongs(name: str, message: str):
    """The same catalogue answers for reads; it is refused before the table is looked at."""
    with pytest.raises(HudiError, match=message):
        check_configs({name: "true"})


def test_reads_take_old_names_that_they_look_up():
    """Configurations of older releases keep working."""
    check_configs({"hoodie.metadata.record.index.enable": "true", "hoodie.datasource.write.record.merger.impls": "a"})


def test_a_table_object_has_options_for_reads_and_writes():
    """Reads leave a write's options aside, and understand Flink's names; a key that nobody knows is refused."""
    both = {"hoodie.index.type": "BLOOM", "metadata.enabled": "FALSE", "_batch": "1"}
    assert of_reads(both) == {"hoodie.metadata.enable": "false"}
    with pytest.raises(HudiError, match=r"did you mean hoodie\.metadata\.enable"):
        of_reads({"hoodie.metadata.enabel": "true"})


@pytest.mark.parametrize(
    ("configs", "properties", "contradicts"),
    [
        ({"hoodie.table.cdc.enabled": "true"}, {}, True),
        ({"hoodie.table.cdc.enabled": "false"}, {}, False),
        ({"primaryKey": "id"}, {}, True),
        ({"hoodie.datasource.write.partitionpath.field": ""}, {}, False),
        ({"primaryKey": "id, day"}, {"hoodie.table.recordkey.fields": "id,day"}, False),
        ({"primaryKey": "id"}, {"hoodie.table.recordkey.fields": "id,day"}, True),
        ({"hoodie.table.partition.fields": "day"}, {"hoodie.table.partition.fields": "day:SIMPLE"}, False),
        ({"precombine.field": "ts"}, {"hoodie.table.precombine.field": "v"}, True),
        ({"precombine.field": "ts"}, {}, False),
        ({"hoodie.write.table.version": "9"}, {"hoodie.table.version": "8"}, True),
        ({"type": "mor"}, {"hoodie.table.type": "MERGE_ON_READ"}, False),
        (
            {"hoodie.datasource.write.keygenerator.type": "SIMPLE_AVRO"},
            {"hoodie.table.keygenerator.type": "SIMPLE"},
            False,
        ),
        ({"hoodie.index.type": "BLOOM"}, {"hoodie.index.type": "SIMPLE"}, False),
    ],
)
def test_what_a_table_keeps_a_write_can_only_repeat(
    configs: dict[str, str], properties: dict[str, str], *, contradicts: bool
):
    """Nothing that only the making of a table decides is dropped silently by a later write."""
    assert bool(list(contradictions(resolve(configs), properties))) == contradicts


def test_two_entries_never_share_a_name():
    """An alias stands for one key."""
    keys = {"a": {"kind": "text", "also": ["c"]}, "b": {"kind": "text", "also": ["c"]}}
    group = group_of(
        "g", {"title": "", "about": "", "section": [{"status": "honoured", "scopes": ["write"], "keys": keys}]}
    )
    with pytest.raises(ValueError, match="c stands for a and for b"):
        catalogue_of([group])
