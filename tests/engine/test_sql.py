"""`hudi_sql`: statements of Hudi's Spark SQL, against what they mean, and against Apache Hudi."""
# ruff: noqa: S608 - statements are what is tested

import json
import random
import re
import shutil
import subprocess
import sys
from collections.abc import Callable
from itertools import cycle
from pathlib import Path
from typing import Any, Final

import pyarrow as pa
import pytest
from apache_sql import with_times
from hudi_spark import HudiError, HudiTable, UnsupportedFeature, check_table, hudi_sql, read_arrow, save, write_arrow

pytestmark = [
    pytest.mark.spark,
    pytest.mark.filterwarnings("ignore:distutils Version classes:DeprecationWarning"),
    pytest.mark.filterwarnings("ignore:unclosed:ResourceWarning"),
    pytest.mark.filterwarnings("ignore:.*unclosed <socket:pytest.PytestUnraisableExceptionWarning"),
]
COLUMNS: Final = "id, city, fare, ts"
FILL: Final = "(1, 1.0D, 3L, 'lima'), (2, 2.0D, 3L, 'oslo'), (3, 3.0D, 3L, 'lima'), (4, 4.0D, 3L, 'oslo')"
Rows = dict[int, tuple[str, float, int]]


def creation(name: str, path: object, kind: str = "mor", ordering: str = "ts", partition: str = "city") -> str:
    """A table of fares."""
    properties = [f"type = '{kind}'", "primaryKey = 'id'", "'hoodie.metadata.enable' = 'false'"]
    properties += [f"preCombineField = '{ordering}'"] if ordering else []
    by = f"partitioned by ({partition})" if partition else ""
    columns = "id int, fare double, ts bigint, city string"
    return f"create table {name} ({columns}) using hudi tblproperties ({', '.join(properties)}) {by} location '{path}'"


@pytest.fixture
def run(spark: Any, tmp_path: Path) -> Callable[[str], Any]:
    """Carries out a statement on `t`, a filled table."""
    hudi_sql(spark, creation("t", tmp_path / "t"))
    hudi_sql(spark, f"insert into t values {FILL}")
    return lambda text: hudi_sql(spark, text.replace("{path}", str(tmp_path / "t")))


@pytest.fixture(scope="module")
def kept(spark: Any, tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A folder with a filled table, `kept`, for statements that change nothing."""
    folder = tmp_path_factory.mktemp("kept")
    hudi_sql(spark, creation("kept", folder / "t"))
    hudi_sql(spark, f"insert into kept values {FILL}")
    spark.createDataFrame([(1,)], "id int").createOrReplaceTempView("s")
    return folder


@pytest.mark.parametrize("statement", ["update t set fare = fare + 1", "delete from t"])
def test_rows_that_share_a_key_are_not_lost_to_one_another(run: Callable[[str], Any], statement: str):
    """A global index knows one place for a key: two partitions have it here, by an index that is not global."""
    run("insert into t values (1, 9.0D, 3L, 'oslo')")
    before = sorted(map(tuple, run(f"select {COLUMNS} from t").collect()))
    run("alter table t set tblproperties ('hoodie.index.type' = 'GLOBAL_SIMPLE')")
    if statement.startswith("update"):
        with pytest.raises(HudiError, match=r"CONFIG_INVALID.*rows of several partitions share the key '1'.*OW-021"):
            run(statement)
        assert sorted(map(tuple, run(f"select {COLUMNS} from t").collect())) == before
    run("alter table t set tblproperties ('hoodie.index.type' = 'SIMPLE')")
    run(statement)
    changed = [(id_, city, fare + 1, ts) for id_, city, fare, ts in before] if statement.startswith("update") else []
    assert sorted(map(tuple, run(f"select {COLUMNS} from t").collect())) == changed


def rows_of(run: Callable[[str], Any]) -> Rows:
    """What each key has."""
    return {row.id: (row.city, row.fare, row.ts) for row in run(f"select {COLUMNS} from t").collect()}


def times(spark: Any, path: Path) -> list[str]:
    """The actions of the table."""
    return [one.requested for one in HudiTable(spark, path).timeline()]


@pytest.mark.parametrize("kind", ["cow", "mor"])
@pytest.mark.parametrize("ordering", ["ts", ""])
def test_merges_are_what_their_clauses_say(spark: Any, tmp_path: Path, kind: str, ordering: str):
    """Against the clauses over a dictionary, each merge one action; older rows lose where rows are ordered.

    Rows come anew with higher ordering values than those that were deleted: as in released implementations, a lower one
    would meet the row below the delete (MG-013).
    """
    path, drawn = tmp_path / "t", random.Random(kind + ordering)  # noqa: S311
    hudi_sql(spark, creation("t", path, kind, ordering))
    hudi_sql(spark, f"insert into t values {FILL}")
    known: Rows = {1: ("lima", 1.0, 3), 2: ("oslo", 2.0, 3), 3: ("lima", 3.0, 3), 4: ("oslo", 4.0, 3)}
    for step in range(3):
        source = [
            (n, ("lima", "oslo")[n % 2 == 0], float(step), drawn.choice([1, 100 * step]) + drawn.randint(1, 5), op)
            for n in range(1, 8)
            for op in [drawn.choice("diu")]
        ]
        values = ", ".join(f"({n}, '{city}', {fare}D, {ts}L, '{op}')" for n, city, fare, ts, op in source)
        hudi_sql(
            spark,
            f"""merge into t using (select * from values {values} as s(id, city, fare, ts, op)) s on t.id = s.id
                when matched and s.op = 'd' then delete
                when matched and s.op = 'u' then update set fare = t.fare + s.fare * 10, ts = s.ts
                when matched then update set *
                when not matched and s.op <> 'd' then insert (id, city, fare, ts)
                    values (s.id, s.city, -s.fare, s.ts + {100 * step + 100})""",
        )
        for n, city, fare, ts, op in source:
            old = known.get(n)
            if old is None:
                known |= {} if op == "d" else {n: (city, -fare, ts + 100 * step + 100)}
            elif op == "d":
                del known[n]
            elif not ordering or ts >= old[2]:
                known[n] = (city, old[1] + fare * 10 if op == "u" else fare, ts)
        assert rows_of(lambda text: hudi_sql(spark, text)) == known
        assert len(times(spark, path)) == step + 2
    assert not [one for one in check_table(path, deep=True) if one.level == "error"]


# What Apache Hudi 1.1.1 carries out as the statement says, and this engine alike.
MERGES: Final = (
    (
        "merge into {t} t using (select 1 id, 'lima' city, 9.0D fare, 5L ts union all select 7, 'oslo', 7.0D, 1L) s"
        " on t.id = s.id when matched then update set * when not matched then insert *"
    ),
    (
        "merge into {t} t using (select 1 id, 'lima' city, 9.0D fare, 1L ts) s on t.id = s.id"
        " when matched then update set *"
    ),
    (
        "merge into {t} t using (select 1 id, 'lima' city, 9.0D fare, 5L ts union all select 1, 'lima', 10.0D, 6L) s"
        " on t.id = s.id when matched then update set *"
    ),
    (
        "merge into {t} t using (select 1 id, 'oslo' city, 9.0D fare, 5L ts) s on t.id = s.id"
        " when matched then update set *"
    ),
    (
        "merge into {t} t using (select 5L ts, 9.0D fare, 'lima' city, 1 id union all select 5L, 3.0D, 'oslo', 41) s"
        " on t.id = s.id when matched then update set * when not matched then insert *"
    ),
    (
        "merge into {t} t using (select 31 id, 'lima' city, 9.0D fare, 5L ts) s on t.id = s.id"
        " when not matched then insert (id, city, ts) values (s.id, s.city, s.ts)"
    ),
    (
        "merge into {t} t using (select 1 id, 'lima' city, 9.0D fare, 5L ts) s on t.id = s.id"
        " when matched and s.fare > 5 then update set fare = 100.0D, ts = s.ts when matched then delete"
    ),
    "update {t} set fare = fare * 2 where city = 'lima'",
    "update {t} set fare = 77.0D, ts = 1L where id = 1",
    "delete from {t} where fare > 1.5",
    "insert into {t} (id, fare, ts, city) values (1, 50.0D, 1L, 'lima')",
    "insert into {t} (id, city, ts) values (53, 'lima', 4L)",
    "insert overwrite {t} partition (city = 'rome') values (62, 50.0D, 9L)",
    "insert overwrite {t} values (61, 50.0D, 9L, 'lima')",
    "alter table {t} drop partition (city = 'lima')",
)


# What Apache Hudi 1.1.1 carries out otherwise: rows that MERGE deletes stay, or are there twice, without ordering.
DIFFERENCES: Final = (
    (
        (
            "merge into {t} t using (select 1 id, 'lima' city) s on t.id = s.id and t.city = s.city"
            " when matched then delete"
        ),
        "cow",
        "",
        [[2, "oslo", 2.0, 3], [3, "lima", 3.0, 3], [4, "oslo", 4.0, 3]],
    ),
    (
        (
            "merge into {t} t using (select 4 id, 'lima' city, 9.0D fare, 5L ts union all select 4, 'lima', 9.0D, 5L) s"
            " on t.id = s.id when not matched then insert *"
        ),
        "mor",
        "",
        [
            [1, "lima", 1.0, 3],
            [2, "oslo", 2.0, 3],
            [3, "lima", 3.0, 3],
            [4, "lima", 9.0, 5],
            [4, "oslo", 4.0, 3],
        ],
    ),
)


# What Apache Hudi 1.1.1 answers for a table that it wrote, and this engine for the same table.
FUNCTIONS: Final = (
    "select * from hudi_table_changes('{name}', 'latest_state', 'earliest')",
    "select * from hudi_table_changes('{path}', 'latest_state', '<completed 0 of {path}>')",
    (
        "select c.id, c.fare from hudi_table_changes('{path}', 'latest_state', '<completed 0 of {path}>',"
        " '<completed 1 of {path}>') c where c.city = 'lima'"
    ),
    "select id, fare from hudi_table_changes('{path}', 'latest_state', '<completed 3 of {path}>')",
    # Images there may have meta columns, too.
    (
        "select op, ts_ms, get_json_object(before, '$.id'), get_json_object(before, '$.fare'),"
        " get_json_object(after, '$.id'), get_json_object(after, '$.fare')"
        " from hudi_table_changes('{name}', 'cdc', 'earliest')"
    ),
    (
        "select op, count(*) from hudi_table_changes('{path}', 'cdc', '<completed 0 of {path}>',"
        " '<completed 2 of {path}>') group by op"
    ),
    "select * from hudi_query('{name}', 'snapshot')",
    "select id, fare from hudi_query('{name}', 'read_optimized')",
    "select * from hudi_query_timeline('{name}')",
    "select action, state from hudi_query_timeline('{path}', 'true') where total_records_written > 1",
    (
        "select file_id, partition_path, base_instant_time, base_file_path like '%.parquet', base_file_size,"
        " log_file_count, log_file_size, log_file_scheduled, log_file_unscheduled"
        " from hudi_filesystem_view('{name}', 'city*')"
    ),
    "select count(*) from hudi_filesystem_view('{path}', 'fare*')",
)


def answers_of_apache(statements: list[list[str]], folder: Path) -> Any:
    """The rows of the last statement of each list, in a session of Apache Hudi 1.1.1."""
    given, found = folder / "given.json", folder / "found.json"
    given.write_text(json.dumps(statements), "utf-8")
    command = [sys.executable, str(Path(__file__).with_name("apache_sql.py")), str(given), str(found)]
    subprocess.run(command, check=True, capture_output=True, timeout=600)
    return json.loads(found.read_text("utf-8"))


@pytest.mark.peers
@pytest.mark.usefixtures("apache_bundle")
@pytest.mark.timeout(900)
def test_functions_answer_as_apache_hudi_does(spark: Any, tmp_path: Path):
    """Of both types, for one table each that Apache Hudi has written: rows, meta columns and change feeds alike."""
    writes = (
        f"insert into {{t}} values {FILL}",
        "update {t} set fare = 9.0D, ts = 4L where id = 1",
        "delete from {t} where id = 2",
        "insert overwrite {t} partition (city = 'rome') values (62, 50.0D, 9L)",
    )
    queried: list[str] = []
    given: list[list[str]] = []
    for kind in ("cow", "mor"):
        path = tmp_path / kind
        cdc = "tblproperties ('hoodie.table.cdc.enabled' = 'true', "
        made = creation(kind, path, kind).replace("tblproperties (", cdc)
        given.append([made, *(one.format(t=kind) for one in writes), "select 1"])
        queries = [one.format(name=kind, path=path) for one in FUNCTIONS]
        queried += ["", *queries]
        given += [[one] for one in queries]
    theirs = answers_of_apache(given, tmp_path)
    for kind in ("cow", "mor"):
        hudi_sql(spark, f"create table {kind} using hudi location '{tmp_path / kind}'")
    for text, expected in zip(queried, theirs, strict=True):
        ours = sorted(map(list, hudi_sql(spark, with_times(text)).collect()), key=repr) if text else [[1]]
        assert [text, ours] == [text, expected]


@pytest.mark.peers
@pytest.mark.usefixtures("apache_bundle")
@pytest.mark.timeout(900)
def test_statements_answer_as_apache_hudi_does(spark: Any, tmp_path: Path):
    """Of both types, with and without ordering, in turn; each on a table of its own."""
    shapes = [(kind, ordering) for kind in ("cow", "mor") for ordering in ("ts", "")]
    cases = [(statement, *shape) for statement, shape in zip(MERGES, cycle(shapes), strict=False)]
    cases += [(statement, kind, ordering) for statement, kind, ordering, _ in DIFFERENCES]

    def statements(side: str, number: int) -> list[str]:
        statement, kind, ordering = cases[number]
        name = f"{side}{number}"
        made = creation(name, tmp_path / name, kind, ordering)
        return [made, f"insert into {name} values {FILL}", statement.format(t=name), f"select {COLUMNS} from {name}"]

    theirs = answers_of_apache([statements("theirs", number) for number in range(len(cases))], tmp_path)
    for number, case in enumerate(cases):
        for text in statements("ours", number):
            rows = hudi_sql(spark, text)
        ours = sorted(map(list, rows.collect()), key=repr)
        if number < len(MERGES):
            assert [case, ours] == [case, theirs[number]]
        else:
            assert ours == DIFFERENCES[number - len(MERGES)][3]
            assert ours != theirs[number]


@pytest.mark.peers
@pytest.mark.usefixtures("apache_bundle")
@pytest.mark.timeout(900)
def test_procedures_take_arguments_in_the_order_of_apache_hudi(spark: Any, tmp_path: Path):
    """Those of 1.1.1, which has no `show_timeline`, by its own help; further ones come after them."""

    def listed(text: str) -> list[str]:
        with pytest.raises((HudiError, UnsupportedFeature)) as found:
            hudi_sql(spark, text)
        return re.split(r"there are |it takes ", str(found.value))[1].split(", ")

    names = [one for one in listed("call zzz()") if one != "show_timeline"]
    helps = answers_of_apache([[f"call help(cmd => '{one}')"] for one in names], tmp_path)
    for name, answer in zip(names, helps, strict=True):
        parameters = answer[0][0].partition("outputType:")[0].splitlines()[2:]
        theirs = [line.split()[0] for line in parameters if line.strip()]
        assert [name, listed(f"call {name}(zzz => 1)")[: len(theirs)]] == [name, theirs]


@pytest.mark.parametrize("kind", ["cow", "mor"])
def test_a_table_that_generates_its_keys_is_changed_by_statements(spark: Any, tmp_path: Path, kind: str):
    """As in Hudi's quick start, whose table has no primary key; a row keeps the key that it got, as with 1.1.1."""
    for name, rows in (
        ("trips", "(1L, 'a', 1.0D, 'oslo'), (1L, 'b', 2.0D, 'lima')"),
        ("more", "(1L, 'b', 2.5D, 'x'), (1L, 'c', 3.0D, 'rome'), (1L, 'd', 4.0D, 'rome')"),
    ):
        hudi_sql(
            spark,
            f"""create table {name} (ts bigint, uuid string, fare double, city string) using hudi
            tblproperties (type = '{kind}') partitioned by (city) location '{tmp_path / name}'""",
        )
        hudi_sql(spark, f"insert into {name} values {rows}")

    def stored() -> dict[str, tuple[str, float, str]]:
        rows = hudi_sql(spark, "select uuid, _hoodie_record_key, fare, city from trips").collect()
        assert len({one[1] for one in rows}) == len({one[0] for one in rows}) == len(rows)
        return {one[0]: (one[1], one[2], one[3]) for one in rows}

    first = stored()
    hudi_sql(spark, "update trips set fare = 5.0 where uuid = 'a'")
    hudi_sql(
        spark,
        """merge into trips t using more s on t.uuid = s.uuid
        when matched then update set t.fare = t.fare + s.fare when not matched then insert *""",
    )
    merged = stored()
    assert {name: one[1:] for name, one in merged.items()} == {
        "a": (5.0, "oslo"),
        "b": (4.5, "lima"),
        "c": (3.0, "rome"),
        "d": (4.0, "rome"),
    }
    assert all(merged[name][0] == one[0] for name, one in first.items())
    hudi_sql(spark, "delete from trips where uuid = 'b'")
    hudi_sql(spark, "merge into trips t using more s on t.uuid = s.uuid when matched and s.fare > 3 then delete")
    assert stored().keys() == {"a", "c"}


def test_options_of_a_name_are_written_with_and_without_quotes(spark: Any, tmp_path: Path):
    """They hold for the writes by that name, until others are set."""

    def run(text: str) -> Any:
        return hudi_sql(spark, text.replace("{path}", str(tmp_path / "t")))

    run(
        """create table t (id int, fare double) using hudi options (primaryKey = 'id', type = 'mor',
        hoodie.compact.inline = 'true', hoodie.compact.inline.max.delta.commits = '1') location '{path}'"""
    )
    run("insert into t values (1, 1.0)")
    run("update t set fare = 2.0")
    compactions = [one.action for one in HudiTable(spark, tmp_path / "t").timeline() if one.action == "commit"]
    assert compactions
    run("alter table t set tblproperties (hoodie.compact.inline = 'false')")
    run("update t set fare = 3.0")
    assert [one.action for one in HudiTable(spark, tmp_path / "t").timeline() if one.action == "commit"] == compactions
    assert hudi_sql(spark, "select fare from t").collect() == [(3.0,)]


def test_statements_write_what_they_say(spark: Any, run: Callable[[str], Any], tmp_path: Path):
    """By name and by path, with subqueries; the view of the name shows each write."""
    run("update t set fare = 0 where false")
    done = run("update t set fare = (select max(fare) from t) + id where city = 'oslo'").collect()[0]
    assert (done.operation, done.rows_updated, done.rows_deleted) == ("UPSERT", 2, 0)
    assert done.instant == times(spark, tmp_path / "t")[-1]
    assert rows_of(run)[4] == ("oslo", 8.0, 3)
    assert spark.sql("select fare from t where id = 2").collect()[0][0] == 6.0
    run("delete from hudi.`{path}` where id in (select id from t where fare > 7)")
    run("insert into hudi.`{path}` (city, id, ts) select 'rome', 9, 1")
    run("insert into t partition (city = 'rome') values (10, 2, 1)")
    assert rows_of(run) == {
        1: ("lima", 1.0, 3),
        2: ("oslo", 6.0, 3),
        3: ("lima", 3.0, 3),
        9: ("rome", None, 1),
        10: ("rome", 2.0, 1),
    }
    old = run(f"select count(*) from t timestamp as of '{times(spark, tmp_path / 't')[0]}'").collect()
    assert old[0][0] == 4
    joined = run(
        "with rich as (select * from t where fare > 2) select count(*) from rich join hudi.`{path}` x on x.id = rich.id"
    )
    assert joined.collect()[0][0] == 2
    run("set hoodie.datasource.overwrite.mode = dynamic")
    run("insert overwrite t select * from t where id = 9")
    run("reset hoodie.datasource.overwrite.mode")
    assert sorted(rows_of(run)) == [1, 2, 3, 9]
    run("alter table t drop partition (city = 'lima')")
    run("insert overwrite t partition (city = 'oslo') select id, fare, ts from t where false")
    assert sorted(rows_of(run)) == [9]
    run("insert overwrite t select 5, 5.0D, 5L, 'lima'")
    assert sorted(rows_of(run)) == [5]
    assert not [name for name in spark.catalog.listTables() if name.name.startswith("hudi_sql_")]


def test_tables_are_made_named_and_altered(spark: Any, tmp_path: Path):
    """With rows of a query, for a table that is there, and through changes of columns."""
    path = tmp_path / "made"
    hudi_sql(
        spark,
        f"""create table if not exists hudi.`{path}` (
            city string, id int not null comment 'a number', fare decimal(5, 2)
            ) using hudi options (primaryKey 'id', type = 'cow') partitioned by (city)""",
    )
    hudi_sql(spark, f"create table named using hudi location '{path}'")
    hudi_sql(spark, f"create table if not exists named (id int) using hudi location '{path}'")
    hudi_sql(spark, "insert into named values (1, 2, 'lima')")
    info = HudiTable(spark, path).info()
    assert (info.record_key, info.partition_by, info.schema.names) == (("id",), ("city",), ["id", "fare", "city"])
    for change in (
        "add columns (note string comment 'free' after id, tax float)",
        "rename column note to remark",
        "alter column tax type double",
        "alter column tax comment 'in percent'",
        "alter column fare first",
        "alter column remark after tax",
        "alter column id drop not null",
        "drop column remark",
    ):
        hudi_sql(spark, f"alter table named {change}")
    assert HudiTable(spark, path).info().schema.names == ["fare", "id", "tax", "city"]
    hudi_sql(spark, "alter table named rename to renamed")
    hudi_sql(spark, "insert into renamed (id, tax, city) values (2, 0.5, 'oslo')")
    copy = tmp_path / "copy"
    hudi_sql(
        spark,
        f"""create table copied using hudi tblproperties (primaryKey = 'id', orderingFields = 'tax') location '{copy}'
            as select * from renamed where id > 1""",
    )
    assert read_arrow(copy).to_pylist() == [{"fare": None, "id": 2, "tax": 0.5, "city": "oslo"}]
    with pytest.raises(HudiError, match="no Hudi table of this session"):
        hudi_sql(spark, "insert into named values (1)")


@pytest.mark.parametrize(
    ("style", "encoded", "folder"),
    [("", "false", "city=l=m"), ("'hoodie.datasource.write.hive_style_partitioning' = 'false',", "true", "l%3Dm")],
)
def test_a_new_table_has_folders_named_by_fields_unless_it_says_otherwise(
    spark: Any, tmp_path: Path, style: str, encoded: str, folder: str
):
    """As with Apache Hudi's SQL; and SET hides the value of `urlencode`, whose name has `url` in it."""
    hudi_sql(spark, f"set hoodie.datasource.write.partitionpath.urlencode = {encoded}")
    try:
        hudi_sql(spark, creation("t", tmp_path / "t").replace("tblproperties (", f"tblproperties ({style} "))
        hudi_sql(spark, "insert into t values (1, 1.0D, 3L, 'l=m')")
    finally:
        hudi_sql(spark, "reset hoodie.datasource.write.partitionpath.urlencode")
    assert [one.name for one in (tmp_path / "t").iterdir() if one.name != ".hoodie"] == [folder]
    assert [row.city for row in hudi_sql(spark, "select * from t").collect()] == ["l=m"]


def test_procedures_have_the_names_of_hudi(spark: Any, run: Callable[[str], Any], tmp_path: Path):
    path = tmp_path / "t"
    run("update t set fare = 9 where id = 1")
    first, second = times(spark, path)
    shown = run("call show_commits(table => 't', limit => 1)").collect()
    assert [(one.commit_time, one.total_update_records_written) for one in shown] == [(second, 1)]
    run(f"call create_savepoint('t', '{first}', 'me', 'before the update')")
    assert [one.savepoint_time for one in run("call show_savepoints('t')").collect()] == [first]
    run("call run_compaction(table => 't', limit => 0)")
    assert run("call run_compaction(op => 'schedule', table => 't')").collect()[0].operation == "SCHEDULE_COMPACTION"
    assert run("call show_compaction(table => '{path}')").count() == 1
    run("call run_compaction(op => 'run', table => 't')")
    assert run("call show_compaction(table => 't')").count() == 0
    run("call run_clustering(table => 't', order => 'fare')")
    run("call run_clean(table => 't', retain_commits => 1)")
    run("call rollback_to_savepoint('t', '%s')" % first)  # noqa: UP031 - the path stands in braces
    assert rows_of(run)[1] == ("lima", 1.0, 3)
    run(f"call delete_savepoint('t', '{first}')")
    run("insert into t values (5, 5, 5, 'lima')")
    newest = times(spark, path)[-1]
    run(f"call rollback_to_instant(table => 't', instant_time => '{newest}')")
    assert sorted(rows_of(run)) == [1, 2, 3, 4]
    assert {one.key: one.value for one in run("call show_table_properties('t')").collect()}["hoodie.table.name"] == "t"
    assert run("call show_timeline(table => 't', limit => 3)").count() == 3
    assert run("call show_timeline(path => '{path}', limit => 2, showArchived => true)").count() == 2
    run("update t set fare = 7.0")
    run("call run_compaction('schedule', 't')")
    (waiting,) = run("call show_compaction('t')").collect()
    groups = run("select distinct city from t").count()
    assert (waiting.operation_size, waiting.state, waiting.action) == (groups, "REQUESTED", "compaction")
    (planned,) = Path(path, ".hoodie/timeline").glob(f"{waiting.timestamp}.compaction.requested")
    plan = planned.read_bytes()
    planned.write_bytes(b"no plan")
    (corrupt,) = run("call show_compaction('t')").collect()
    assert (corrupt.timestamp, corrupt.operation_size, corrupt.state) == (waiting.timestamp, None, "REQUESTED")
    planned.write_bytes(plan)
    assert run(f"call run_compaction(op => 'run', table => 't', instants => '{waiting.timestamp}')").count() == 1
    assert run("call show_compaction('t', null, 1)").count() == 0


@pytest.mark.parametrize(
    ("text", "match"),
    [
        ("selec 1", "does not parse|no statement"),
        ("select 1; select 2", "2 statements"),
        ("drop view kept", "DROP VIEW: call spark.sql"),
        ("truncate table kept, kept", "one statement for each"),
        ("truncate table kept partition (city)", "give column = value"),
        ("show partitions kept partition (fare = 1)", "is no partition column"),
        ("describe history kept", "hudi_query_timeline"),
        ("show create table kept partition (city = 'lima')", "leave it out"),
        ("alter table kept unset tblproperties ('hoodie.keep.max.commits')", "it adds, drops, renames"),
        ("create index by_key on kept (id)", "name it record_index"),
        ("create index record_index on kept (fare)", "take another name"),
        ("create index i on kept (nothing)", "no column 'nothing'"),
        ("create index i on kept using lucene (fare)", "USING lucene: say secondary_index"),
        ("create index i on kept using column_stats(fare)", "has no expr"),
        ("create index i on kept using column_stats(fare) options(func='upper')", "say expr"),
        ("create index i on kept (fare) options(a)", "name = 'value'"),
        ("create index i on kept (fare) options(a = 1, a = 2)", "given twice"),
        ("create index i on kept", "write CREATE INDEX name ON table"),
        ("drop index i", "write DROP INDEX name ON table"),
        ("show indexes from nowhere", "no Hudi table of this session"),
        ("call show_fsview_all(table => 'kept')", "hudi_filesystem_view"),
        ("call show_commits_metadata(table => 'kept')", "hudi_query_timeline"),
        ("call hive_sync(table => 'kept')", "has no catalog"),
        ("show views", "it has SELECT.*call spark.sql"),
        ("insert into kept with (path = '{path}') values (1)", "leave WITH out"),
        ("create or replace table kept (id int) using hudi", "INSERT OVERWRITE the table"),
        ("create database kept", "CREATE DATABASE: call spark.sql"),
        ("create table kept (id int) using hudi", "kept is the name of the table in"),
        ("create table u (id int) using parquet", "USING hudi"),
        ("create table u (id int) using hudi tblproperties (owner = 'me')", "is no property"),
        ("create table u (id int) using hudi tblproperties ('hoodie.recordkey' = 'id')", "no known option"),
        ("create table u (id int primary key) using hudi", "a column has a type"),
        ("create table u (id int) using hudi partitioned by (bucket(4, id))", "name columns"),
        ("create table u (id int) using hudi location '{path}'", "there is a table in"),
        ("insert into nowhere values (1)", "no Hudi table of this session"),
        ("insert into kept values (1, 2)", "the query has 2 columns, and the table takes 4: id, fare, ts, city"),
        ("insert into kept (id, nothing) values (1, 2)", "no column 'nothing'"),
        ("insert into kept (id, ID) values (1, 2)", "a column twice"),
        ("insert into kept values (1, 'x', 3, 'lima')", "'fare' is double, and the value is string"),
        ("insert into kept partition (fare = 1) values (1, 2, 3)", "is no partition column"),
        ("update kept set id = 2", "a record key field"),
        ("update kept set city = 'rome' where id = 1", "a partition field"),
        ("update kept set fare = 1, fare = 2", "assigned twice"),
        ("update kept set nothing = 1", "no column 'nothing'"),
        ("update kept set fare = 1 order by id limit 1", "UPDATE with"),
        ("delete from kept limit 1", "DELETE with LIMIT"),
        ("with w as (select 1 id) delete from kept where id in (select id from w)", "DELETE with WITH"),
        ("merge into kept t using s on t.id = s.id when not matched by source then delete", "NOT MATCHED BY SOURCE"),
        (
            "merge into kept t using (select 1 id) s on t.id = s.id when matched then delete",
            "compare the partition columns",
        ),
        (
            "merge into kept t using (select 1 id, 'x' city) s on t.id = s.id when matched then update set *",
            "has no column 'fare'",
        ),
        ("merge into kept t using (select 1 id, 'x' city) s on t.id > s.id when matched then delete", "is no equality"),
        (
            (
                "merge into kept t using (select 1 id, 'x' city) s on t.id = s.id and s.city = 'x'"
                " when matched then delete"
            ),
            "names no column",
        ),
        ("alter table kept set tblproperties ('a' = 'b')", "a is no property of a table"),
        ("alter table kept set tblproperties (primaryKey = 'fare')", "a property of the table's files"),
        ("alter table kept set location 'elsewhere'", "SET TBLPROPERTIES"),
        ("alter table hudi.`{path}` set tblproperties (hoodie.keep.max.commits = '10')", "kept by a name"),
        ("update kep set fare = 1", "did you mean kept"),
        ("alter table kept drop column id", "SCHEMA_INCOMPATIBLE"),
        ("alter table kept drop partition (fare = 1)", "is no partition column"),
        ("select * from kept version as of 3", "TIMESTAMP AS OF"),
        ("select * from kept timestamp as of 'yesterday'", "is no instant"),
        ("select * from hudi_table_change('kept', 'cdc', 'earliest')", "did you mean hudi_table_changes"),
        (
            "select * from hudi_0123456789_abcdef_0123456789('kept')",
            "there are hudi_filesystem_view, hudi_metadata, hudi_query",
        ),
        ("select * from hudi_filesystem_view('kept', 'city={lima,oslo}')", "has braces"),
        ("select * from hudi_metadata('kept', 'files')", "write hudi_metadata"),
        ("select * from hudi_metadata('kept')", "no metadata table to read"),
        ("select * from hudi_filesystem_view('{path}/none')", "NOT_A_TABLE"),
        ("select * from hudi_table_changes('kept', 'latest_state')", "write hudi_table_changes"),
        ("select * from hudi_table_changes('kept', 'newest', 'earliest')", "say latest_state or cdc"),
        ("select * from hudi_table_changes('kept', 'latest_state', 'yesterday')", "is no instant"),
        ("select * from hudi_table_changes('kept', 'cdc', 'earliest')", "cdc"),
        ("select * from hudi_query('kept', 'incremental')", "say snapshot or read_optimized"),
        ("select * from hudi_query('{path}/none', 'snapshot')", "NOT_A_TABLE"),
        ("select * from hudi_query(concat('a', 'b'), 'snapshot')", "is no literal"),
        ("call show_commit(table => 'kept')", "did you mean show_commits"),
        ("call show_commits(table => 'kept', limits => 1)", "did you mean limit"),
        ("call show_commits(table => 'kept', table => 'kept')", "given twice"),
        ("call run_clustering(table => 'kept', predicate => 'ts > 1')", "with predicate: leave it out"),
        ("call show_commits(limit => 1)", "needs a table"),
        ("call rollback_to_savepoint('kept')", "needs instant_time"),
        ("call rollback_to_savepoint('kept', '20250101000000000')", "no savepoint"),
    ],
)
def test_what_is_not_carried_out_is_refused_before_any_effect(spark: Any, kept: Path, text: str, match: str):
    before = times(spark, kept / "t")
    with pytest.raises((HudiError, UnsupportedFeature), match=match):
        hudi_sql(spark, text.replace("{path}", str(kept / "t")))
    assert times(spark, kept / "t") == before
    assert len(list(kept.iterdir())) == 1
    assert not [name for name in spark.catalog.listTables() if name.name.startswith("hudi_sql_")]


@pytest.mark.parametrize(
    ("text", "match"),
    [
        ("insert into kept values (3000000000, 2, 3, 'lima')", "'id' cannot hold a value of bigint"),
        ("update kept set ts = fare + 0.5D where id = 1", "'ts' cannot hold a value of double"),
        (
            (
                "merge into kept t using (select 1 id, 'lima' old, 'rome' city) s on t.id = s.id and t.city = s.old"
                " when matched then update set city = s.city"
            ),
            "would change 'city'",
        ),
        (
            "merge into kept t using (select 1 id, 'lima' city) s on t.id = s.id when matched then update set id = 8",
            "would change 'id'",
        ),
    ],
)
def test_a_value_that_cannot_be_stored_leaves_nothing(spark: Any, kept: Path, text: str, match: str):
    before = read_arrow(kept / "t")
    with pytest.raises(HudiError, match=match):
        hudi_sql(spark, text)
    assert read_arrow(kept / "t") == before
    assert not [one for one in HudiTable(spark, kept / "t").timeline() if one.state != "COMPLETED"]


@pytest.mark.parametrize(
    "text",
    [
        "update t set fare = fare + 1 where id = 1",
        "delete from t where id = 1",
        "merge into t using (select 1 id, 'lima' city) s on t.id = s.id and t.city = s.city when matched then delete",
    ],
)
def test_a_write_between_reading_and_writing_is_a_conflict(
    spark: Any, run: Callable[[str], Any], tmp_path: Path, monkeypatch: pytest.MonkeyPatch, text: str
):
    """Also of another key: the statement has not seen it."""
    snapshot, between = HudiTable.snapshot, [{"id": 8, "fare": 8.0, "ts": 3, "city": "rome"}]

    def read(table: HudiTable, *given: Any, **more: Any) -> Any:
        if more and between:
            write_arrow(
                tmp_path / "t", pa.Table.from_pylist([between.pop()], read_arrow(tmp_path / "t").schema), "insert"
            )
        return snapshot(table, *given, **more)

    with monkeypatch.context() as patched:
        patched.setattr(HudiTable, "snapshot", read)
        with pytest.raises(HudiError, match="WRITE_CONFLICT"):
            run(text)
    assert not between
    assert sorted(rows_of(run)) == [1, 2, 3, 4, 8]
    run(text)
    assert rows_of(run).get(1) in (None, ("lima", 2.0, 3))


def test_functions_read_a_table_within_a_query(spark: Any, run: Callable[[str], Any], tmp_path: Path):
    """By name, by path, beside tables and in the source of a MERGE; what they answer is of the statement's time."""
    path = tmp_path / "t"
    run("update t set fare = 9 where id = 1")
    first = HudiTable(spark, path).timeline()[0].completed
    changed = run(f"select c.id from hudi_table_changes('t', 'latest_state', '{first}') c join t on t.id = c.id")
    run("update t set fare = 8 where id = 2")
    assert [one.id for one in changed.collect()] == [1]
    assert run("select * from hudi_query('{path}', 'read_optimized') where fare > 7").count() == 0
    shown = run("select File_Name, Total_Updated_Records_Written from hudi_query_timeline('t', 'true')").collect()
    assert [one[1] for one in shown] == [0, 1, 1]
    assert all((path / ".hoodie/timeline" / one[0]).is_file() for one in shown)
    viewed = run("select base_file_path path, base_file_size size from hudi_filesystem_view('t')").collect()
    assert {(Path(one.path), one.size) for one in viewed if one.path} == {
        (one, one.stat().st_size) for one in path.glob("*/*.parquet")
    }
    for pattern, partitions in (("=[k-m]*/", {"lima"}), ("=*", {"lima", "oslo"}), ("=lima/*", set()), ("=l?m", set())):
        found = run(f"select partition_path from hudi_filesystem_view('{{path}}', 'city{pattern}')").collect()
        assert {one[0] for one in found} == {f"city={one}" for one in partitions}
    hudi_sql(spark, creation("copy", tmp_path / "copy"))
    run(
        f"""merge into copy using (select id, fare, ts, city from hudi_table_changes('t', 'latest_state', '{first}')) s
            on copy.id = s.id and copy.city = s.city when matched then update set * when not matched then insert *"""
    )
    assert run("select id, fare from copy order by id").collect() == [(1, 9.0), (2, 8.0)]
    assert run("select t.id from t, range(3) r where t.id = r.id").count() == 2


def test_the_metadata_table_is_read_by_kind_of_record(spark: Any, tmp_path: Path):
    """Files, statistics whose bounds have the member of their type, and where keys live; as functions and rows say."""
    options = {
        "hoodie.table.name": "trips",
        "hoodie.datasource.write.recordkey.field": "id",
        "hoodie.datasource.write.partitionpath.field": "city",
        "hoodie.metadata.index.column.stats.enable": "true",
        "hoodie.metadata.index.column.stats.column.list": "fare",
        "hoodie.metadata.record.index.enable": "true",
    }
    rows = [(1, "lima", 1.5), (2, "oslo", 2.5), (3, "oslo", 4.0)]
    save(spark.createDataFrame(rows, "id int, city string, fare double"), tmp_path / "t", options)

    def records(columns: str, kind: int) -> set[tuple[Any, ...]]:
        text = f"select {columns} from hudi_metadata('{tmp_path / 't'}') where type = {kind}"
        return {tuple(one) for one in hudi_sql(spark, text).collect()}

    viewed = hudi_sql(spark, f"select * from hudi_filesystem_view('{tmp_path / 't'}')").collect()
    files = {(one.Partition_Path, Path(one.Base_File_Path).name, one.Base_File_Size) for one in viewed}
    assert records("explode(map_keys(filesystemMetadata))", 1) == {("lima",), ("oslo",)}
    listed = "map_keys(filesystemMetadata)[0], map_values(filesystemMetadata)[0].size"
    assert records(f"key, {listed}", 2) == files
    bounds = "ColumnStatsMetadata.minValue.member4.value, ColumnStatsMetadata.maxValue.member4.value"
    of_fares = [one for one in records(f"ColumnStatsMetadata.columnName, {bounds}", 3) if one[0] == "fare"]
    assert sorted(of_fares) == [("fare", 1.5, 1.5), ("fare", 2.5, 4.0)]
    assert records("key, recordIndexMetadata.partitionName", 5) == {(str(id_), city) for id_, city, _ in rows}


def test_indexes_are_made_listed_and_dropped_by_statements(spark: Any, tmp_path: Path):
    """As Apache Hudi's page on DDL writes them; the table answers as before."""

    def run(text: str) -> Any:
        return hudi_sql(spark, text)

    run(creation("t", tmp_path / "t").replace("'false'", "'true'"))
    run(f"insert into t values {FILL}")
    run("CREATE INDEX record_index ON t (id)")
    run("create index if not exists by_fare on table t (fare);")
    run("CREATE INDEX upper_city ON t USING column_stats(city) OPTIONS(expr='upper')")
    assert run("create index if not exists by_fare on t (fare)").collect()[0].instant is None
    own = {("record_index", "", "record_index"), ("secondary_index_by_fare", "fare", "secondary_index")}
    made = {("expr_index_upper_city", "city", "column_stats"), *own}
    assert made <= {tuple(one) for one in run("SHOW INDEXES FROM t").collect()}
    assert run("select id from t where fare = 2").collect() == [(2,)]
    keys = run("select key from hudi_metadata('t') where type = 7").collect()
    assert {one.key.partition("$")[2] for one in keys} == {str(one.id) for one in run("select id from t").collect()}
    run("DROP INDEX by_fare ON t")
    run("drop index if exists by_fare on t")
    left = {one.index_name for one in run("show indexes in t").collect()}
    assert "secondary_index_by_fare" not in left
    assert {"record_index", "expr_index_upper_city"} <= left
    with pytest.raises(HudiError, match="by_fare"):
        run("drop index by_fare on t")


def test_a_truncated_table_is_empty_and_its_earlier_states_stay(run: Callable[[str], Any], spark: Any, tmp_path: Path):
    """One action each: of the whole table, and of the partitions that have a value."""
    before = times(spark, tmp_path / "t")
    run("truncate table t partition (city = 'oslo')")
    assert {row[0] for row in rows_of(run).values()} == {"lima"}
    assert run("truncate table t partition (city = 'cusco')").collect()[0].instant is None
    run("TRUNCATE TABLE hudi.`{path}`")
    assert rows_of(run) == {}
    assert len(times(spark, tmp_path / "t")) == len(before) + 2
    assert read_arrow(tmp_path / "t", as_of=before[-1]).num_rows == 4
    run(f"insert into t values {FILL}")
    assert len(rows_of(run)) == 4


def test_partitions_are_listed_as_their_fields_have_values(run: Callable[[str], Any], spark: Any, tmp_path: Path):
    """Those with data, in the form that Spark has for every table, whichever form the folders have."""
    assert [one.partition for one in run("SHOW PARTITIONS t").collect()] == ["city=lima", "city=oslo"]
    assert [one.partition for one in run("show partitions t partition (city = 'oslo')").collect()] == ["city=oslo"]
    run("alter table t drop partition (city = 'lima')")
    assert [one.partition for one in run("SHOW PARTITIONS hudi.`{path}`").collect()] == ["city=oslo"]
    hudi_sql(spark, creation("plain", tmp_path / "plain", partition=""))
    with pytest.raises(HudiError, match="no partitions"):
        run("show partitions plain")
    with pytest.raises(HudiError, match="city"):
        run("show partitions t partition (town = 'oslo')")


def test_a_table_is_described_by_its_columns(run: Callable[[str], Any], spark: Any):
    """Types and comments as Spark writes them, those of partitions again; other names are Spark's own."""
    run("alter table t alter column fare comment 'in soles'")
    meta = ("commit_time", "commit_seqno", "record_key", "partition_path", "file_name")
    columns: list[Any] = [(f"_hoodie_{name}", "string", None) for name in meta]
    columns += [("id", "int", None), ("fare", "double", "in soles"), ("ts", "bigint", None), ("city", "string", None)]
    partitions = [("# Partition Information", "", ""), ("# col_name", "data_type", "comment"), columns[-1]]
    assert [tuple(one) for one in run("DESCRIBE TABLE t").collect()] == columns + partitions
    extended = [tuple(one) for one in run("desc extended hudi.`{path}`").collect()]
    assert extended[: len(columns + partitions)] == columns + partitions
    assert ("Provider", "hudi", "") in extended
    spark.createDataFrame([(1,)], "own int").createOrReplaceTempView("other")
    assert [one.col_name for one in run("describe other").collect()] == ["own"]


def test_a_dropped_table_leaves_its_files_where_they_have_a_place_of_their_own(spark: Any, tmp_path: Path):
    """As Spark has it: without LOCATION, or with PURGE, the files go with the name, by its path only with PURGE."""
    warehouse = spark.conf.get("spark.sql.warehouse.dir").removeprefix("file:")
    placed, own = tmp_path / "placed", Path(warehouse) / "owned"
    shutil.rmtree(own, ignore_errors=True)
    for _ in range(2):
        hudi_sql(spark, "create table owned (id int, fare double) using hudi tblproperties (primaryKey = 'id')")
        hudi_sql(spark, "insert into owned values (1, 2)")
        assert (own / ".hoodie").is_dir()
        hudi_sql(spark, "alter table owned rename to still_owned")
        hudi_sql(spark, "drop table still_owned")
        assert not own.exists()
    hudi_sql(spark, creation("here", placed))
    hudi_sql(spark, f"create table there using hudi location '{placed}'")
    hudi_sql(spark, "drop table if exists default.here;")
    assert read_arrow(placed).num_rows == 0
    for text, match in (
        ("drop table here", "no Hudi table of this session"),
        (f"drop table hudi.`{placed}`", "say PURGE"),
        (f"drop table hudi.`{tmp_path}/none` purge", "there is no table"),
        ("drop table there, elsewhere", "several tables"),
        ("drop table there cascade", "CASCADE"),
    ):
        with pytest.raises((HudiError, UnsupportedFeature), match=match):
            hudi_sql(spark, text)
    hudi_sql(spark, "drop table if exists here")
    assert hudi_sql(spark, "select * from there").count() == 0
    hudi_sql(spark, "drop table there purge")
    assert not placed.exists()
    hudi_sql(spark, f"drop table if exists hudi.`{placed}` purge")


def test_a_table_is_made_again_by_the_statement_that_is_shown_of_it(spark: Any, tmp_path: Path):
    """Its columns, keys, partitions and options; the properties are shown one by one, too."""
    path = tmp_path / "first"
    hudi_sql(
        spark,
        f"""create table shown (city string, `order` int not null comment 'it\\'s', fare decimal(5, 2), ts bigint,
            tags array<struct<n: int>>) using hudi partitioned by (city) location '{path}' tblproperties (
            primaryKey = 'order', orderingFields = 'ts', type = 'mor', 'hoodie.index.type' = 'BLOOM')""",
    )
    statement = hudi_sql(spark, "show create table shown").collect()[0][0]
    hudi_sql(spark, "drop table shown purge")
    hudi_sql(spark, statement)
    assert hudi_sql(spark, "SHOW CREATE TABLE default.shown;").collect()[0][0] == statement
    info = HudiTable(spark, path).info()
    assert (info.record_key, info.partition_by, info.table_type) == (("order",), ("city",), "MERGE_ON_READ")
    assert info.required == ("order",)
    properties = {one.key: one.value for one in hudi_sql(spark, "show tblproperties shown").collect()}
    assert properties == {
        "hoodie.index.type": "BLOOM",
        "orderingFields": "ts",
        "primaryKey": "order",
        "recordMergeMode": "EVENT_TIME_ORDERING",
        "tableVersion": "9",
        "type": "mor",
    }
    assert hudi_sql(spark, "show tblproperties shown ('type')").collect()[0].value == "mor"
    assert "has no typ" in hudi_sql(spark, "show tblproperties shown (typ)").collect()[0].value
    assert "shown" in [one.tableName for one in hudi_sql(spark, "show tables").collect()]


def test_a_refreshed_name_shows_what_others_wrote(spark: Any, tmp_path: Path):
    """To plain Spark SQL; hudi_sql reads the newest rows of its own accord."""
    hudi_sql(spark, creation("stale", tmp_path / "t"))
    hudi_sql(spark, f"insert into hudi.`{tmp_path / 't'}` values {FILL}")
    assert spark.sql("select * from stale").count() == 0
    hudi_sql(spark, "refresh table stale")
    assert spark.sql("select * from stale").count() == hudi_sql(spark, "select * from stale").count() > 0


def test_a_name_that_stands_for_a_table_stays_where_it_is_created_if_not_exists(spark: Any, tmp_path: Path):
    """Without a place: with one, the name stands for another table from then on."""
    hudi_sql(spark, creation("once", tmp_path / "first"))
    hudi_sql(spark, f"insert into once values {FILL}")
    count = hudi_sql(spark, "select * from once").count()
    hudi_sql(spark, "create table if not exists once (id int) using hudi")
    assert hudi_sql(spark, "select * from once").count() == count > 0
    hudi_sql(spark, creation("once", tmp_path / "second"))
    assert hudi_sql(spark, "select * from once").count() == 0


def test_a_registered_view_is_a_name_of_its_table(spark: Any, tmp_path: Path):
    """Of a table that no statement made, its partition column in the middle."""
    options = {
        "hoodie.table.name": "trips",
        "hoodie.datasource.write.recordkey.field": "id",
        "hoodie.datasource.write.partitionpath.field": "city",
    }
    rows = spark.createDataFrame([(1, "lima", 1.0)], "id int, city string, fare double")
    save(rows, tmp_path / "t", options)
    HudiTable(spark, tmp_path / "t").register_view("trips")
    hudi_sql(spark, "insert into trips values (2, 2.0, 'oslo')")
    hudi_sql(spark, "insert into trips select * from trips where id = 1")
    found = hudi_sql(spark, "select * from trips where id = 2")
    assert found.columns[5:] == ["id", "fare", "city"]
    assert found.collect()[0].city == "oslo"
    assert hudi_sql(spark, "select id from trips").count() == 3
