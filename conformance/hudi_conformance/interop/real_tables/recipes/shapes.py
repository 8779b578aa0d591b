"""Tables whose schema changes: columns added, dropped, moved, widened, renamed; by name and by id."""

from hudi_conformance.corpus.recipes_apache.catalogue import Question, recipe
from hudi_conformance.corpus.recipes_apache.writer import EVENT_TIME
from hudi_conformance.interop.real_tables.writer import RealTable

# Both types of the release that answers, of the others one, so that each pair stands somewhere.
FOUR = ("0.15.0 v6 mor", "1.0.2 v8 cow", "1.1.1 v9", "1.2.0 v9 mor")
SINCE_8 = FOUR[1:]
# 1.0.2 does not update base files of some types.
LOGS_OF_FOUR = ("0.15.0 v6 mor", "1.0.2 v8 mor", "1.1.1 v9", "1.2.0 v9 mor")
ALL = ("0.15.0 v6 cow", "1.0.2 v8 mor", "1.1.1 v6 mor", "1.1.1 v8 cow", "1.1.1 v9", "1.2.0 v9 cow")
BOTH = ("cow", "mor")
# What other areas ask about their tables: here only rows matter.
NOT_ROWS = (
    *("timeline", "history", "slices", "slices_middle", "info"),
    *("as_of_middle", "incremental_later", "incremental_between"),
)
_BY_ID = {"hoodie.schema.on.read.enable": "true"}
_ROWS_BY_ID = (
    Question("snapshot_by_id", "read_snapshot", {"configs": _BY_ID}),
    Question("meta_by_id", "read_snapshot", {"configs": _BY_ID, "meta_columns": True}),
)
_USUAL_ROWS = ("snapshot", "snapshot_meta", "as_of_first", "optimized", "incremental_all")
_DROPPING = "hoodie.datasource.write.schema.allow.auto.evolution.column.drop"


def write_query(table: RealTable, query: str, operation: str = "upsert", **options: str) -> None:
    """Write the rows of a query, every column and every part of one nullable."""
    staged = str(table.beside("staged") / "rows")
    table.session.sql(query).write.mode("overwrite").parquet(staged)
    table.write_frame(table.session.read.parquet(staged), operation, **options)


def rows_of(values: str, columns: str) -> str:
    """The query of literal rows."""
    return f"SELECT * FROM VALUES {values} t({columns})"  # noqa: S608  every word is a recipe's own


def altered(table: RealTable, columns: str) -> None:
    """Make a table by SQL whose columns have ids; SQL knows it as `altered`."""
    kind = "mor" if table.made.type == "MERGE_ON_READ" else "cow"
    run(
        table,
        "DROP TABLE IF EXISTS altered",
        f"CREATE TABLE altered ({columns}, ts BIGINT, region STRING) USING hudi PARTITIONED BY (region) TBLPROPERTIES "
        f"(primaryKey = 'id', preCombineField = 'ts', type = '{kind}', {{options}}) LOCATION '{{path}}'",
    )


def run(table: RealTable, *statements: str) -> None:
    """SQL statements on a table whose columns have ids."""
    settings = {**_BY_ID, _DROPPING: "true"}
    table.sql(*statements, **{key.replace(".", "__"): value for key, value in settings.items()})


@recipe("shapes/added", on=ALL, types=BOTH, features=("schema-evolution",), without=NOT_ROWS)
def added(table: RealTable) -> None:
    """A column more, and more fields in a struct, in the elements of a list and in the values of a map."""
    table.configure(EVENT_TIME)
    write_query(
        table,
        rows_of(
            "('a','north',1L,named_struct('x',1,'y','p'),array(named_struct('m',1)),"
            "map('k',named_struct('v',1))),('b','süd',1L,null,null,null),"
            "('c','north',1L,named_struct('x',null,'y','q'),array(),map())",
            "id,region,ts,s,l,m",
        ),
        "insert",
    )
    write_query(
        table,
        rows_of(
            "('a','north',2L,named_struct('x',2,'y','pp','z',7L),array(named_struct('m',2,'n','new')),"
            "map('k',named_struct('v',2,'u',true)),'extra'),('d','süd',2L,null,null,null,'e2')",
            "id,region,ts,s,l,m,extra",
        ),
    )


@recipe("shapes/widened", on=ALL, types=BOTH, features=("schema-evolution",), without=NOT_ROWS)
def widened(table: RealTable) -> None:
    """Integers to longs and doubles, floats to doubles, and numbers to texts."""
    table.configure(EVENT_TIME)
    write_query(
        table,
        rows_of(
            "('a','north',1L,1,2,3L,cast(1.1 as float),4,5L,cast(1.25 as float),2.5D),"
            "('b','süd',1L,-1,-2,-3L,cast(-0.1 as float),-4,-5L,cast(1e20 as float),-1e-5D),"
            "('c','north',1L,null,null,null,null,null,null,null,null)",
            "id,region,ts,i_l,i_d,l_d,f_d,i_s,l_s,f_s,d_s",
        ),
        "insert",
    )
    write_query(
        table,
        rows_of(
            "('a','north',2L,10000000000L,2.5D,3.5D,1.1D,'x','y','z','w'),"
            "('d','süd',2L,7L,0.1D,1e300D,1.7D,'x','y','z','w')",
            "id,region,ts,i_l,i_d,l_d,f_d,i_s,l_s,f_s,d_s",
        ),
    )


@recipe("shapes/widened_inside", on=FOUR, types=BOTH, features=("schema-evolution",), without=NOT_ROWS)
def widened_inside(table: RealTable) -> None:
    """Integers to longs inside a struct and inside a list."""
    table.configure(EVENT_TIME)
    columns = "id,region,ts,s,l"
    write_query(
        table,
        rows_of(
            "('a','north',1L,named_struct('x',1),array(1,2)),"
            "('b','süd',1L,named_struct('x',-1),array(-1)),('c','north',1L,null,null)",
            columns,
        ),
        "insert",
    )
    write_query(
        table,
        rows_of(
            "('a','north',2L,named_struct('x',10000000000L),array(10000000000L)),"
            "('d','süd',2L,named_struct('x',1L),array(5L))",
            columns,
        ),
    )


@recipe("shapes/dropped", on=FOUR, types=BOTH, features=("schema-evolution",), without=NOT_ROWS)
def dropped(table: RealTable) -> None:
    """A column and a field of a struct that later writes no longer have."""
    table.configure({**EVENT_TIME, _DROPPING: "true"})
    write_query(
        table,
        rows_of(
            "('a','north',1L,'gone',named_struct('x',1,'y','p'),'kept'),('b','süd',1L,'gone2',null,'k2')",
            "id,region,ts,old,s,kept",
        ),
        "insert",
    )
    write_query(
        table,
        rows_of(
            "('a','north',2L,named_struct('x',2),'kept2'),('c','süd',2L,named_struct('x',5),'k3')",
            "id,region,ts,s,kept",
        ),
    )


@recipe("shapes/moved", on=FOUR, types=BOTH, features=("schema-evolution",), without=NOT_ROWS)
def moved(table: RealTable) -> None:
    """The same columns in another order."""
    table.configure(EVENT_TIME)
    query = rows_of("('a','north',1L,'x1',1),('b','süd',1L,'x2',2)", "id,region,ts,one,two")
    write_query(table, query, "insert")
    write_query(table, rows_of("(10,'a','y1',2L,'north'),(30,'c','y3',2L,'süd')", "two,id,one,ts,region"))


@recipe(
    "shapes/renamed",
    on=ALL,
    types=BOTH,
    features=("schema-on-read",),
    questions=_ROWS_BY_ID,
    without=(*NOT_ROWS, *_USUAL_ROWS),
)
def renamed(table: RealTable) -> None:
    """A column dropped, another renamed to its name, one widened, one of an old name added."""
    altered(table, "id STRING, col1 STRING, col2 STRING, col3 STRING, num INT")
    run(
        table,
        "INSERT INTO altered VALUES ('a','1a','2a','3a',1,1,'north'),('b','1b','2b','3b',2,1,'sud'),"
        "('c','1c','2c','3c',3,1,'north')",
        "ALTER TABLE altered DROP COLUMN col3",
        "ALTER TABLE altered RENAME COLUMN col2 TO col3",
        "INSERT INTO altered VALUES ('d','1d','3d',4,2,'sud')",
        "ALTER TABLE altered ALTER COLUMN num TYPE BIGINT",
        "ALTER TABLE altered ADD COLUMNS (col2 STRING AFTER col1, extra DOUBLE)",
        "UPDATE altered SET num = 10000000000, col2 = 'again', ts = 3 WHERE id = 'a'",
    )


@recipe(
    "shapes/added_again",
    on=ALL,
    types=BOTH,
    features=("schema-on-read",),
    questions=_ROWS_BY_ID,
    without=(*NOT_ROWS, *_USUAL_ROWS),
)
def added_again(table: RealTable) -> None:
    """A column dropped, and one of its name and of another type added later: it shows no old value."""
    altered(table, "id STRING, x INT, note STRING")
    run(
        table,
        "INSERT INTO altered VALUES ('a',1,'n1',1,'north'),('b',2,'n2',1,'sud')",
        "ALTER TABLE altered DROP COLUMN x",
        "INSERT INTO altered VALUES ('c','n3',2,'north')",
        "ALTER TABLE altered ADD COLUMNS (x STRING)",
        "INSERT INTO altered VALUES ('d','n4',3,'xx','sud')",
        "UPDATE altered SET note = 'u', ts = 4 WHERE id = 'b'",
    )


@recipe(
    "shapes/altered_inside",
    # The other releases fail to read what their own statements altered.
    on=("1.1.1 v9",),
    types=BOTH,
    features=("schema-on-read",),
    questions=_ROWS_BY_ID,
    without=(*NOT_ROWS, *_USUAL_ROWS),
)
def altered_inside(table: RealTable) -> None:
    """Fields renamed, added, dropped and moved inside a struct, a list and a map."""
    altered(
        table,
        "id STRING, s STRUCT<a: INT, b: STRING, c: STRUCT<d: INT, e: STRING>>, l ARRAY<STRUCT<m: INT, n: STRING>>, "
        "mp MAP<STRING, STRUCT<v: INT, w: STRING>>",
    )
    run(
        table,
        "INSERT INTO altered VALUES ('a',named_struct('a',1,'b','b1','c',named_struct('d',1,'e','e1')),"
        "array(named_struct('m',1,'n','n1')),map('k',named_struct('v',1,'w','w1')),1,'north'),"
        "('b',null,null,null,1,'sud')",
        "ALTER TABLE altered RENAME COLUMN s.b TO bb",
        "ALTER TABLE altered ADD COLUMNS (s.z BIGINT AFTER a)",
        "ALTER TABLE altered DROP COLUMN s.c.d",
        "ALTER TABLE altered RENAME COLUMN l.element.n TO nn",
        "ALTER TABLE altered ADD COLUMNS (mp.value.q STRING)",
        "INSERT INTO altered SELECT 'd',named_struct('a',4,'z',44L,'bb','b4','c',named_struct('e','e4')),"
        "array(named_struct('m',4,'nn','n4')),map('k',named_struct('v',4,'w','w4','q','q4')),3,'sud'",
        "UPDATE altered SET ts = 4 WHERE id = 'a'",
    )


@recipe(
    "shapes/altered_types",
    on=FOUR,
    types=BOTH,
    features=("schema-on-read",),
    questions=_ROWS_BY_ID,
    without=(*NOT_ROWS, *_USUAL_ROWS),
)
def altered_types(table: RealTable) -> None:
    """Every change of type that SQL allows, with values at which rounding shows."""
    kinds = {
        "i_f": ("INT", "FLOAT"),
        "l_f": ("BIGINT", "FLOAT"),
        "l_d": ("BIGINT", "DOUBLE"),
        "i_s": ("INT", "STRING"),
        "i_dec": ("INT", "DECIMAL(20,2)"),
        "l_dec": ("BIGINT", "DECIMAL(30,4)"),
        "d_s": ("DOUBLE", "STRING"),
        "f_dec": ("FLOAT", "DECIMAL(20,2)"),
        "d_dec": ("DOUBLE", "DECIMAL(20,2)"),
        "s_date": ("STRING", "DATE"),
        "dec_s": ("DECIMAL(20,8)", "STRING"),
        "s_dec": ("STRING", "DECIMAL(20,2)"),
        "date_s": ("DATE", "STRING"),
    }
    altered(table, "id STRING, " + ", ".join(f"{column} {old}" for column, (old, _) in kinds.items()))
    run(
        table,
        "INSERT INTO altered VALUES ('a',16777217,9007199254740993,9007199254740993,4,5,6,-1e-5,1.005,1.005,'2024-1-3',"
        "0.00000001,'1.005',date'1583-01-01',1,'north'),"
        "('b',-1,-2,-3,-4,-5,-6,1e10,-1.005,0.125,'2024-01-31',0,'0.125',date'9999-12-31',1,'sud')",
        *(f"ALTER TABLE altered ALTER COLUMN {column} TYPE {new}" for column, (_, new) in kinds.items()),
        "UPDATE altered SET ts = 2 WHERE id = 'b'",
    )


@recipe(
    "shapes/altered_and_compacted",
    on=("0.15.0 v6", "1.0.2 v8", "1.1.1 v9", "1.2.0 v9"),
    features=("schema-on-read", "compaction"),
    questions=_ROWS_BY_ID,
    without=(*NOT_ROWS, *_USUAL_ROWS),
)
def altered_and_compacted(table: RealTable) -> None:
    """Updates before and after changes of the schema, a compaction between them, a rename after it."""
    altered(table, "id STRING, x INT, note STRING")
    run(
        table,
        "INSERT INTO altered VALUES ('a',1,'n1',1,'north'),('b',2,'n2',1,'sud')",
        "UPDATE altered SET note = 'u1', ts = 2 WHERE id = 'a'",
        "ALTER TABLE altered DROP COLUMN x",
        "ALTER TABLE altered RENAME COLUMN note TO x",
        "UPDATE altered SET x = 'u2', ts = 3 WHERE id = 'a'",
    )
    table.schedule_compaction()
    table.compact()
    run(
        table,
        "ALTER TABLE altered RENAME COLUMN x TO y",
        "UPDATE altered SET y = 'u3', ts = 4 WHERE id = 'b'",
    )
