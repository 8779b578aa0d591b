import datetime as dt
from dataclasses import replace

import pytest
from hudi_conformance.bridge.loading import load
from hudi_conformance.runner.archive import unpacked_corpus
from hudi_model.configuration import configure
from hudi_model.files import Record
from hudi_model.keys import key_text
from hudi_model.partitions import partition_path, record_key
from hudi_model.queries import Selection, list_file_slices, read_snapshot
from hudi_model.rejection import Reason, Rejection, Unsupported
from hudi_model.tables import RELEASED, BucketRules, HashRing, open_table, view_at
from hudi_model.tagging import bucket_count, bucket_of, first_ring, hashed_texts, ring_hash, ring_of, xx_hash
from hudi_model.time import tick
from hudi_model_tools.locks import Lease, acquire, acquire_groups, refuse_lost
from test_model_writers import BUCKETS, after, new, row, upsert

GOLDEN = unpacked_corpus()


def test_buckets_are_those_of_released_writers() -> None:
    """Every row of a table that Apache Hudi bucketed lies in the file group that its key's hash names."""
    table = load(GOLDEN / "v9" / "apache_mor_log_only" / "table")
    groups = {(one["partition"], one["file_id"][:8]) for one in list_file_slices(table)}
    buckets = {prefix for _, prefix in groups}
    found = read_snapshot(table, selection=Selection(meta_columns=True)).rows
    assert found
    for one in found:
        name = str(one["_hoodie_file_name"]).removeprefix(".")
        assert name[:8] == f"{bucket_of([str(one['_hoodie_record_key'])], 2):08d}"
    assert buckets == {"00000000", "00000001"}


@pytest.mark.parametrize(
    ("values", "hashed"),
    [(["a"], 31 + 97), ([""], 31), (["a", "b"], (31 + 97) * 31 + 98), (["€"], 31 + 0x20AC)],
)
def test_the_hash_of_a_list(values: list[str], hashed: int) -> None:
    """As Java's: 31 times what was, plus the next, over UTF-16 units."""
    assert bucket_of(values, 2**31) == hashed


def test_a_hash_below_zero_has_its_sign_cut_off() -> None:
    """The sign bit is cut, not negated: both would be a bucket, only one the released one."""
    signed = 31 + sum(
        ord(one) * 31 ** (len("polygenelubricants") - 1 - place) for place, one in enumerate("polygenelubricants")
    )
    assert (signed & 0xFFFFFFFF) >> 31
    assert bucket_of(["polygenelubricants"], 1000) == (signed & 0x7FFFFFFF) % 1000


def test_bucket_groups() -> None:
    """File ids begin with the bucket; merge-on-read tables log new keys; later writes find the group again."""
    keys = ["a", "b", "c:d", "e,f"]
    table = after(new(), upsert(*map(row, keys), **BUCKETS), upsert(*(row(key, 2) for key in keys), **BUCKETS))
    assert table.base_files == ()
    prefixes = {log.file_id[:8] for log in table.log_files}
    assert prefixes == {f"{bucket_of([key], 4):08d}" for key in keys}
    assert len({log.file_id for log in table.log_files}) == len(prefixes)
    assert {one["ts"] for one in read_snapshot(table).rows} == {2}


@pytest.mark.parametrize(
    ("data", "hashed"),
    [(b"", 0x02CC5D05), (b"a", 0x550D7456), (b"abc", 0x32D153FF), (b"0123456789abcdef" * 2 + b"xyz12", 0x0F2CB18A)],
)
def test_the_hash_of_a_ring_is_xx_hash(data: bytes, hashed: int) -> None:
    assert xx_hash(data) == hashed


def test_the_first_ring_is_that_of_released_writers() -> None:
    """As 1.1.1 wrote it for four buckets; null is hashed as its word."""
    assert first_ring("region=north", 4).nodes == (
        (536870912, "1ab3dab2-c500-3eb6-a4d9-6161064eca12"),
        (1073741824, "d1a352e9-f4c2-37d1-8c8f-735d2362eb70"),
        (1610612736, "77db3037-ada8-3a94-b4c3-04ed12cbc55f"),
        (2147483647, "b99ef4a4-4d27-3c35-94a4-d580483ab152"),
    )
    assert ring_hash((None, "a")) == ring_hash(("nulla",))


def test_a_ring_holds_once_its_resize_has_completed() -> None:
    """By a sign, or by base files of its groups where it is older than the timeline; an instant that waits does not."""
    table = after(new(), upsert(row("a"), **BUCKETS))
    (done,) = {one.requested for one in table.timeline}
    old, newer = first_ring("p", 2), HashRing("p", done, first_ring("p", 3).nodes)

    def ring_in_force(*rings: HashRing) -> HashRing | None:
        return ring_of(view_at(open_table(replace(table, rings=rings)), None, RELEASED), "p")

    assert ring_in_force() is None
    assert ring_in_force(newer, old) == newer
    lost = replace(newer, instant=tick(99))
    assert ring_in_force(old, lost) == old
    assert ring_in_force(old, signed := replace(lost, is_signed=True)) == signed


def test_the_first_rule_whose_pattern_is_found_counts() -> None:
    """Anywhere in the path; rules that do not parse, or leave no bucket, are refused."""
    rules = BucketRules(4, "=b,2;a.c,3")
    assert [bucket_count(rules, path) for path in ("p=b", "xabc", "b")] == [2, 3, 4]
    for wrong in ("a", "a,x", "a,0", "a,1;;b,2", "[,3", "a,b,3"):
        with pytest.raises(Rejection) as caught:
            bucket_count(BucketRules(4, wrong), "z")
        assert (caught.value.reason, caught.value.clause) == (Reason.CONFIG_INVALID, "OW-036")
    with pytest.raises(Rejection):
        bucket_count(BucketRules(4, "a,1", "glob"), "z")


def test_bucket_fields_of_composite_keys() -> None:
    """The hash fields' parts of the key are hashed, not the whole key."""
    table = new(hoodie_table_recordkey_fields="id,note")
    settings = {**BUCKETS, "hoodie.bucket.index.hash.field": "id"}
    table = after(table, upsert(row("k", note="x"), row("k", note="y"), **settings))
    assert {log.file_id[:8] for log in table.log_files} == {f"{bucket_of(['k'], 4):08d}"}


# What BucketIdentifier of 1.1.1 answers for keys, hash fields and 1,000,003 buckets.
@pytest.mark.parametrize(
    ("key", "fields", "bucket"),
    [
        ("k:v", ["id"], 104774),
        ("a,b", ["id"], 94710),
        ("id:a,b", ["id"], 94710),
        ("id:1,city:x", ["id", "city"], 2600),
        ("id:1,city:x:y", ["city"], 117270),
        ("id:1,city:x,y:z", ["city"], 151),
        ("id:1,city:__null__", ["id", "city"], 2480),
        ("id:__null__,city:__empty__", ["id", "city"], 961),
        ("id:a,b:,city:é", ["id", "city"], 4201),
        ("id:a b:c,d,city:x", ["id", "city"], 956019),
        ("id:1,,city:2", ["id", "city"], 49464),
        ("id:1,city:x,id:7", ["id", "city"], 80655),
        ("id:1,city:2", ["city", "id"], 2530),
        ("x,id:7", ["id"], 871442),
        (",id:1,city:2", ["id", "city"], 81),
        ("a:1,b:2", ["c"], 655600),
    ],
)
def test_keys_are_taken_apart_as_released(key: str, fields: list[str], bucket: int) -> None:
    """Values may hold commas and colons; null and empty parts hash alike."""
    assert bucket_of(hashed_texts(key, fields), 1_000_003) == bucket


@pytest.mark.parametrize("named", ["note", "id,absent"])
def test_hash_fields_are_key_fields(named: str) -> None:
    """Another column would move a row when it changes."""
    with pytest.raises(Rejection) as found:
        after(new(), upsert(row("a"), **BUCKETS, **{"hoodie.bucket.index.hash.field": named}))
    assert (found.value.reason, found.value.clause) == (Reason.CONFIG_INVALID, "OW-022")


def test_an_unknown_index_is_refused() -> None:
    """Else every key would be new."""
    with pytest.raises(Rejection) as found:
        after(new(), upsert(row("a"), **{"hoodie.index.type": "GUESS"}))
    assert found.value.reason is Reason.CONFIG_INVALID


def path(values: dict[str, object], fields: str = "p", **more: str) -> str:
    properties = {
        "hoodie.table.name": "t",
        "hoodie.table.type": "COPY_ON_WRITE",
        "hoodie.table.version": "9",
        "hoodie.table.partition.fields": fields,
        **{name.replace("__", "."): text for name, text in more.items()},
    }
    return partition_path(Record(values), configure(properties))  # type: ignore[arg-type]


HIVE = "hoodie__datasource__write__hive_style_partitioning"
ENCODED = "hoodie__datasource__write__partitionpath__urlencode"


@pytest.mark.parametrize("value", [None, ""])
def test_a_partition_without_value_has_a_name(value: str | None) -> None:
    """A folder cannot be named by nothing."""
    assert path({"p": value}) == "__HIVE_DEFAULT_PARTITION__"
    assert path({"p": value}, **{HIVE: "true"}) == "p=__HIVE_DEFAULT_PARTITION__"


def test_partition_paths() -> None:
    """Folders in the order of the fields; slashes in values make more of them, unless they are encoded."""
    day = dt.date(2024, 2, 28)
    assert path({}, "") == ""
    assert path({"p": day, "q": 7}, "p,q") == "2024-02-28/7"
    assert path({"p": day, "q": 7}, "p,q", **{HIVE: "true"}) == "p=2024-02-28/q=7"
    assert path({"p": "a/b"}) == "a/b"
    assert path({"p": "a/b=c %é+\x01"}, **{ENCODED: "true"}) == "a%2Fb%3Dc %25é+%01"


def test_slashed_days_are_folders() -> None:
    """Of a single field; what begins with a dash stays as it is."""
    slashed = {"hoodie__datasource__write__slash__separated__date__partitioning": "true"}
    assert path({"p": dt.date(2024, 2, 28)}, **slashed) == "2024/02/28"
    assert path({"p": "2024-02-28"}, **slashed, **{HIVE: "true", ENCODED: "true"}) == "p=2024/02/28"
    assert path({"p": "-5"}, **slashed) == "-5"
    assert path({"p": None}, **slashed) == "__HIVE_DEFAULT_PARTITION__"
    assert path({"p": "2024-02-28", "q": "a-b"}, "p,q", **slashed) == "2024-02-28/a-b"


@pytest.mark.parametrize(
    ("value", "text"),
    [
        (0.5, "0.5"),
        (100.0, "100.0"),
        (0.001, "0.001"),
        (0.1, "0.1"),
        (-0.0, "-0.0"),
        (1e-9, "1.0E-9"),
        (1e7, "1.0E7"),
        (9999999.5, "9999999.5"),
        (-123456789.0, "-1.23456789E8"),
        (1e300, "1.0E300"),
        (5e-324, "4.9E-324"),
        (float("-inf"), "-Infinity"),
        (float("nan"), "NaN"),
    ],
)
def test_fractions_are_spelt_as_java_does(value: float, text: str) -> None:
    """At least two digits, the fewest that name the number, with an exponent where it is small or large."""
    assert key_text(value) == text


def test_a_fraction_that_single_width_would_shorten_is_not_spelt() -> None:
    """0.1 of single width is 0.10000000149011612 of double width: the value does not say which it is."""
    with pytest.raises(Unsupported):
        key_text(0.10000000149011612)


TIMES = {
    "hoodie__table__keygenerator__type": "TIMESTAMP",
    "hoodie__keygen__timebased__timestamp__type": "EPOCHMILLISECONDS",
    "hoodie__keygen__timebased__output__dateformat": "yyyy/MM/dd",
}


def test_partition_paths_by_timestamp() -> None:
    """Epochs and dates become the output's format, whole, also in hive style, of the zone that is configured."""
    assert path({"p": 1_709_078_400_000}, **TIMES) == "2024/02/28"
    assert path({"p": 1_709_078_400_000}, **TIMES, **{HIVE: "true"}) == "p=2024/02/28"
    assert path({"p": None}, **TIMES) == "1970/01/01"
    text = {**TIMES, "hoodie__keygen__timebased__timestamp__type": "DATE_STRING"}
    text["hoodie__keygen__timebased__input__dateformat"] = "dd.MM.yyyy"
    assert path({"p": "28.02.2024"}, **text) == "2024/02/28"
    assert path({"p": None}, **text) == "1970/01/01"
    custom = {**TIMES, "hoodie__table__keygenerator__type": "CUSTOM"}
    assert path({"p": 1_709_078_400_000, "q": "x"}, "q:SIMPLE,p:TIMESTAMP", **custom) == "x/2024/02/28"
    assert path({"p": 1_709_136_000_000}, **TIMES, hoodie__keygen__timebased__timezone="Asia/Tokyo") == "2024/02/29"


def test_a_complex_generator_names_its_only_field() -> None:
    """As 1.1 writes it; a table of a simple generator has the bare value."""
    complex_table, simple_table = new(hoodie_table_keygenerator_type="COMPLEX"), new()
    keys = [record_key(row("a"), configure(one.properties)) for one in (complex_table, simple_table)]  # type: ignore[arg-type]
    assert keys == ["id:a", "a"]


def test_file_group_locks_are_all_or_none() -> None:
    """A writer that got half of its locks would keep others from the rest."""
    one, two = ("p", "1"), ("p", "2")
    held = acquire_groups({}, [one], "first", tick(1), tick(9))
    with pytest.raises(Rejection) as found:
        acquire_groups(held, [two, one], "second", tick(2), tick(9))
    assert found.value.reason is Reason.LOCK_UNAVAILABLE
    assert held == {one: Lease("first", tick(9))}
    assert acquire_groups(held, [two, one], "second", tick(10), tick(19)) == dict.fromkeys(
        (one, two), Lease("second", tick(19))
    )


def test_a_lease_that_ended_is_lost() -> None:
    """Who went on with it would complete beside the next holder."""
    lease = acquire(None, "first", tick(1), tick(5))
    refuse_lost(lease, "first", tick(5))
    with pytest.raises(Rejection) as found:
        refuse_lost(acquire(lease, "second", tick(6), tick(9)), "first", tick(6))
    assert found.value.reason is Reason.LOCK_LOST
