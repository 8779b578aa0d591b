"""`hudi_sql`: the statements of Hudi's Spark SQL, parsed by sqlglot and carried out by this engine.

    SELECT, also with TIMESTAMP AS OF      CREATE TABLE ... USING hudi, AS SELECT    ALTER TABLE
    INSERT INTO, INSERT OVERWRITE          UPDATE, DELETE, MERGE INTO                CALL a procedure of Hudi
    CREATE INDEX, DROP INDEX, SHOW INDEXES    TRUNCATE TABLE, DROP TABLE, REFRESH TABLE, DESCRIBE TABLE
    SHOW TABLES, PARTITIONS, TBLPROPERTIES, CREATE TABLE                 SET, RESET (Spark's own)

A table is named by its path, hudi.`lake/fares`, or by a name of the session: one that CREATE TABLE or
`HudiTable.register_view` gave. Spark evaluates every expression; what it answers is written as one action.
"""

import re
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import reduce
from pathlib import Path
from typing import TYPE_CHECKING, Any, Final

import pyarrow as pa

from hudi_spark.datasource import GivenOptions
from hudi_spark.errors import UnsupportedFeature, boundary
from hudi_spark.options import refusal, resolve
from hudi_spark.procedures import call_procedure, outcome_frame
from hudi_spark.schema import avro_of_arrow
from hudi_spark.services.inline import InlineServices
from hudi_spark.spark import OnSpark, arrow_schema, check_session
from hudi_spark.sql_indexes import index_statement
from hudi_spark.sql_tables import (
    DELETES,
    DIALECT,
    INSERTS,
    OVERWRITES,
    Merge,
    SessionTables,
    Target,
    alias_of,
    aligned,
    assigned,
    expressions,
    no_statement,
    own_columns,
    parsed,
    tick,
    unsupported,
)
from hudi_spark.table import HudiTable, NamedTable, forget_name, session_storage
from hudi_spark.write import Outcome, TableWriter, WriteRequest

if TYPE_CHECKING:
    from pyspark.sql import DataFrame, SparkSession
    from pyspark.sql.types import StructType

    from hudi_spark.read import TableInfo


def hudi_sql(spark: "SparkSession", text: str) -> "DataFrame":
    """Carry out one statement; a query answers its rows, a write one row of what it did.

    SELECT, CREATE TABLE ... USING hudi, INSERT INTO, INSERT OVERWRITE, UPDATE, DELETE, MERGE INTO, ALTER TABLE, CALL,
    CREATE INDEX, DROP INDEX, SHOW INDEXES, TRUNCATE TABLE, DROP TABLE, REFRESH TABLE, DESCRIBE TABLE, SHOW TABLES, SHOW
    PARTITIONS, SHOW TBLPROPERTIES, SHOW CREATE TABLE, SET and RESET. A table is hudi.`path`, or a name that CREATE
    TABLE or `HudiTable.register_view` gave. FROM has hudi_table_changes, hudi_query, hudi_query_timeline,
    hudi_filesystem_view and hudi_metadata. Settings `hoodie.*` of the session hold for writes.

    A statement is refused before any effect where it cannot be carried out as it stands, and a value that a column
    cannot hold fails the write, which leaves nothing. A write that completes between what a statement reads and what it
    writes is a WRITE_CONFLICT.

    Raises:
        UnsupportedFeature: a statement, or a part of one, that is not carried out; the text says what to do instead.
        HudiError: CONFIG_INVALID for what does not parse or names no table; else as the operation.

    Clauses: OW-001, OW-013, OW-014, OW-018, OW-031, DM-021, RD-010.

    """
    check_session(spark)
    if not isinstance(text, str):
        raise refusal(f"the statement is a {type(text).__name__}", "give it as text")
    first, _, _ = text.lstrip(" \t\r\n(").partition(" ")
    if first.upper() in {"SET", "RESET"}:
        return spark.sql(text)
    tables = SessionTables(spark)
    if first.upper() == "CALL":
        return call_procedure(spark, text, tables.named_by_text)
    indexed = index_statement(tables, text)
    if indexed is not None:
        return indexed
    exp = expressions()
    session = _Session(tables)
    shown = _SHOW.match(text)
    if shown is not None:
        return session.show("".join(shown[1].split()).lower(), text[shown.end() :], text)
    tree = parsed(text)
    carried: Mapping[type, Callable[[Any], DataFrame]] = {
        exp.Create: session.create,
        exp.Insert: session.insert,
        exp.Update: session.update,
        exp.Delete: session.delete,
        exp.Merge: session.merge,
        exp.Alter: session.alter,
        exp.TruncateTable: session.truncate,
        exp.Describe: session.describe,
        exp.Drop: session.drop,
        exp.Refresh: session.refresh,
    }
    if isinstance(tree, exp.Query):
        return session.query(tree)
    carry_out = carried.get(type(tree))
    if carry_out is None:
        raise no_statement(text)
    return carry_out(tree)


_SHOW: Final = re.compile(r"\s*show\s+(partitions|tables|tblproperties|create\s+table)(?:\s|$)", re.IGNORECASE)
_KEY: Final = re.compile(r"""\(\s*(?:'([^']*)'|"([^"]*)"|([\w.-]+))\s*\)\s*;?\s*$""")


@dataclass(frozen=True, slots=True)
class _Session:
    """The statements of one session."""

    _tables: SessionTables

    @property
    def spark(self) -> "SparkSession":
        """The session."""
        return self._tables.spark

    def query(self, tree: Any) -> "DataFrame":
        """The rows of a query, planned now."""
        with self._tables.temporary():
            return self._tables.frame(tree)

    def create(self, tree: Any) -> "DataFrame":
        """A new table, with the rows of a query where there is one; or a name for one that is there."""
        exp = expressions()
        if tree.args.get("kind") != "TABLE" or tree.args.get("replace"):
            raise _no_creation(tree)
        _refuse_further(tree, {"kind", "exists", "properties", "expression"}, "give columns, or AS SELECT")
        schema = tree.this if isinstance(tree.this, exp.Schema) else None
        node = schema.this if schema else tree.this
        stated = _Stated.of(tree)
        named = self._new(node, stated)
        known = self._tables.named(node) if named.name and not stated.location else None
        if known is not None and HudiTable.exists(self.spark, known.path):
            if tree.args.get("exists"):
                return outcome_frame(self.spark, "CREATE_TABLE")
            if known.path != named.path:
                message = f"{named.name} is the name of the table in {known.path}"
                raise refusal(message, "take another name, or give LOCATION to let the name stand for another table")
        if HudiTable.exists(self.spark, named.path):
            if schema is not None and not tree.args.get("exists"):
                raise refusal(f"there is a table in {named.path}", "leave the columns out to give it a name")
            self._tables.remember(named)
            return outcome_frame(self.spark, "CREATE_TABLE")
        if tree.expression is None and schema is None:
            raise refusal(f"there is no table in {named.path}", "give the columns")
        with self._tables.temporary():
            rows = None if tree.expression is None else own_columns(self._tables.frame(tree.expression))
            fields = rows.schema if rows is not None else self._fields(schema, stated)
            made = _partitions_last(arrow_schema(fields), stated.partition_by)
            name = stated.configs.get("hoodie.table.name", "") or _simple_name(named)
            avro = avro_of_arrow(made, name)
            comments = _comments(schema) if schema else {}
            for one in avro["fields"]:
                if one["name"] in comments:
                    one["doc"] = comments[one["name"]]
            folders = {_HIVE_STYLE: "true"} if stated.partition_by else {}
            configs = {**folders, **self._tables.settings, **stated.configs, "hoodie.table.name": name}
            table = HudiTable.create(
                self.spark, named.path, schema=avro, partition_by=stated.partition_by, configs=configs
            )
            outcome = None if rows is None else table.bulk_insert(rows, configs)
        self._tables.remember(replace(named, managed=not stated.location and bool(named.name)))
        return outcome_frame(self.spark, "CREATE_TABLE", outcome)

    def insert(self, tree: Any) -> "DataFrame":
        """Rows of a query, by position or by names."""
        exp = expressions()
        listed = [one.name for one in tree.this.expressions] if isinstance(tree.this, exp.Schema) else []
        node = tree.this.this if listed else tree.this
        known = {"expression", "overwrite", "partition", "by_name", "with_"}
        _refuse_further(tree, known, "give INSERT INTO t SELECT ... or VALUES ...")
        if tree.expression is None:
            raise unsupported("an INSERT without a query or VALUES", "give INSERT INTO t SELECT ... or VALUES ...")
        target = self._tables.target(node)
        fixed = _fixed_partitions(node.args.get("partition") or tree.args.get("partition") or None, target)
        query = tree.expression.copy()
        if tree.args.get("with_"):
            query.set("with_", tree.args["with_"].copy())
        with self._tables.temporary():
            rows = own_columns(self._tables.frame(query))
            names = rows.columns if tree.args.get("by_name") else listed
            frame = self._positioned(rows, target, [target.column(name) for name in names], fixed)
            if tree.args.get("overwrite"):
                return self._overwrite(target, frame, fixed)
            return self._write(
                target, WriteRequest(self._tables.settings_of(target.named).get(INSERTS, "insert"), frame)
            )

    def update(self, tree: Any) -> "DataFrame":
        """The rows that a condition chooses, with new values: an upsert of them."""
        target = self._tables.target(tree.this)
        _refuse_further(tree, {"expressions", "where"}, "give MERGE INTO, or a subquery in WHERE")
        values = assigned(tree.expressions, target)
        for name, role in (
            *((one, "record key") for one in target.keys),
            *((one, "partition") for one in target.partitions),
        ):
            if name in values:
                message = f"UPDATE assigns {name!r}, a {role} field"
                raise refusal(message, "delete the rows and insert them with the new value")
        with self._tables.temporary():
            frame = self._chosen(target, values, tree.args.get("where"))
            return self._write(target, WriteRequest("upsert", frame, seen=target.seen))

    def delete(self, tree: Any) -> "DataFrame":
        """The rows that a condition chooses leave the table."""
        target = self._tables.target(tree.this)
        _refuse_further(tree, {"where"}, "give MERGE INTO ... WHEN MATCHED THEN DELETE, or a subquery in WHERE")
        with self._tables.temporary():
            frame = self._chosen(target, {}, tree.args.get("where"))
            return self._write(target, WriteRequest("delete", frame, seen=target.seen))

    def merge(self, tree: Any) -> "DataFrame":
        """Rows of a source matched with those of the table, and what the first clause says that fits: one upsert."""
        target = self._tables.target(tree.this)
        _refuse_further(tree, {"using", "on", "whens"}, "put the query into USING")
        whens = list(tree.args["whens"].expressions)
        with self._tables.temporary():
            frame = Merge(target, self._tables, whens, tree).rows()
            return self._write(target, WriteRequest("upsert", frame, deletes=DELETES, seen=target.seen))

    def alter(self, tree: Any) -> "DataFrame":
        """Columns are changed, partitions dropped, or the name of the session becomes another."""
        exp = expressions()
        _refuse_further(tree, {"kind", "actions", "moved"}, "leave it out")
        actions = tree.args.get("actions") or []
        if any(isinstance(one, exp.AlterRename) for one in actions):
            return self._rename(tree.this, actions)
        target = self._tables.target(tree.this)
        if any(isinstance(one, exp.AlterSet) for one in actions):
            return self._set(target, actions)
        if actions and all(isinstance(one, exp.DropPartition) for one in actions):
            return self._drop_partitions(target, actions)
        stated = [list(self._changes(one, tree.args.get("moved"))) for one in actions]
        if not stated or not all(stated):
            raise unsupported("this ALTER TABLE", "it adds, drops, renames and alters columns, and drops partitions")
        changes = [_in_table(change, target) for each in stated for change in each]
        return self._done(target, target.table.alter_schema(changes))

    def truncate(self, tree: Any) -> "DataFrame":
        """The rows leave the table, or those of the partitions that have the values; earlier states stay readable."""
        target, fixed = self._emptied(tree)
        if fixed:
            return self._delete(target, self._paths(target, fixed))
        return self._done(target, target.table.insert_overwrite_table(target.table.snapshot().limit(0)))

    def drop(self, tree: Any) -> "DataFrame":
        """The name goes; the table's files, too, where no LOCATION was given for them, or PURGE is."""
        if tree.args.get("kind") != "TABLE":
            raise unsupported(f"DROP {tree.args.get('kind')}", "call spark.sql")
        _refuse_further(tree, {"kind", "exists", "tables", "purge"}, "give DROP TABLE [IF EXISTS] name [PURGE]")
        if len(tree.args["tables"]) != 1:
            raise unsupported("several tables in one statement", "give one statement for each")
        node, exists, purge = tree.args["tables"][0], tree.args.get("exists"), tree.args.get("purge")
        named = self._tables.named(node)
        if named is None:
            if exists:
                return outcome_frame(self.spark, "DROP_TABLE")
            raise self._tables.no_table(node)
        there = HudiTable.exists(self.spark, named.path)
        if not named.name and not there and not exists:
            raise refusal(f"there is no table in {named.path}", "say IF EXISTS, or look for the folder")
        if not (named.name or purge):
            raise refusal(f"{named.path} is no name that could go", "say PURGE to delete the table's files")
        if there and (purge or named.managed):
            above, slash, name = named.path.rstrip("/").rpartition("/")
            with boundary(named.path):
                session_storage(self.spark, above or slash or ".", None).delete_folder(name)
        if named.name:
            forget_name(self.spark, named.name)
        return outcome_frame(self.spark, "DROP_TABLE")

    def refresh(self, tree: Any) -> "DataFrame":
        """The view that `spark.sql` sees of a name shows the table of now."""
        named = self._tables.named(tree.this) if tree.args.get("kind") == "TABLE" else None
        if named is None:
            return self.spark.sql(tree.sql(DIALECT))
        self._tables.remember(named)
        return outcome_frame(self.spark, "REFRESH_TABLE")

    def show(self, what: str, rest: str, text: str) -> "DataFrame":
        """What SHOW lists: the names of the session, or the partitions, properties or statement of one table."""
        if what == "tables":
            return self.spark.sql(text)
        key = _KEY.search(rest) if what == "tblproperties" else None
        # The rest has the form that TRUNCATE TABLE has, which sqlglot parses.
        tree = parsed(f"TRUNCATE TABLE {rest[: key.start()] if key else rest}")
        if what == "partitions":
            return self.partitions(tree)
        target, fixed = self._emptied(tree)
        if fixed:
            raise unsupported("PARTITION in this statement", "leave it out")
        if what == "createtable":
            return self.spark.createDataFrame([(self._creation(target),)], "createtab_stmt string")
        found = _properties(target, target.table.info())
        if key:
            name = key[1] or key[2] or key[3]
            found = {name: found.get(name, f"the table {target.named.name or target.named.path} has no {name}")}
        return self.spark.createDataFrame(sorted(found.items()), "key string, value string")

    def _creation(self, target: Target) -> str:
        """The statement that makes a table of the same columns, keys and partitions."""
        info = target.table.info()
        lines = []
        for name in target.columns:
            required = " NOT NULL" if name in info.required else ""
            comment = f" COMMENT {_literal(info.comments[name])}" if name in info.comments else ""
            lines.append(f"  {tick(name)} {target.type_of(name).simpleString()}{required}{comment}")
        by = f"\nPARTITIONED BY ({', '.join(map(tick, target.partitions))})" if target.partitions else ""
        properties = _properties(target, info).items()
        stated = ",\n".join(f"  {_literal(name)} = {_literal(value)}" for name, value in properties)
        named = tick(target.named.name) if target.named.name else f"hudi.{tick(target.named.path)}"
        columns = ",\n".join(lines)
        place = f"LOCATION {_literal(target.named.path)}"
        return f"CREATE TABLE {named} (\n{columns})\nUSING hudi{by}\n{place}\nTBLPROPERTIES (\n{stated})"

    def partitions(self, tree: Any) -> "DataFrame":
        """The partitions that hold data, as `name=value` for each field, sorted."""
        target, fixed = self._emptied(tree)
        if not target.partitions:
            raise refusal("the table has no partitions", "hudi_filesystem_view lists its file slices")
        paths = self._paths(target, fixed) if fixed else sorted({one.partition for one in target.table.file_slices()})
        return self.spark.createDataFrame([(_spec(one, target.partitions),) for one in paths], "partition string")

    def _emptied(self, tree: Any) -> tuple[Target, dict[str, Any]]:
        """The table and the values of partitions that TRUNCATE TABLE, or a statement of its form, names."""
        _refuse_further(tree, {"expressions", "partition"}, "name one table, and PARTITION (column = value)")
        if len(tree.expressions) != 1:
            raise unsupported("several tables in one statement", "give one statement for each")
        target = self._tables.target(tree.expressions[0])
        return target, _valued_partitions(tree.args.get("partition"), target, "PARTITION names a column")

    def describe(self, tree: Any) -> "DataFrame":
        """The columns, as SELECT * has them, with types and comments; those of partitions; EXTENDED: where it lies."""
        exp = expressions()
        if not isinstance(tree.this, exp.Table) or self._tables.named(tree.this) is None:
            return self.spark.sql(tree.sql(DIALECT))
        _refuse_further(tree, {"kind", "style"}, "give DESCRIBE TABLE, or DESCRIBE TABLE EXTENDED")
        style = tree.args.get("style") or ""
        if style not in {"", "EXTENDED", "FORMATTED"}:
            raise unsupported(f"DESCRIBE {style}", "hudi_query_timeline has the actions of a table")
        target = self._tables.target(tree.this)
        info = target.table.info()
        fields = self._tables.read(target.named, None).schema
        rows = {one.name: (one.name, one.dataType.simpleString(), info.comments.get(one.name)) for one in fields}
        found = list(rows.values())
        if target.partitions:
            found += [("# Partition Information", "", ""), ("# col_name", "data_type", "comment")]
            found += [rows[name] for name in target.columns if name in target.partitions]
        if style:
            stated = {"Name": target.named.name or info.name, "Location": target.named.path, "Provider": "hudi"}
            found += [("", "", ""), ("# Detailed Table Information", "", ""), *((k, v, "") for k, v in stated.items())]
        return self.spark.createDataFrame(found, "col_name string, data_type string, comment string")

    def _drop_partitions(self, target: Target, actions: Sequence[Any]) -> "DataFrame":
        if not target.partitions:
            raise refusal("the table has no partitions", "give DELETE FROM")
        paths: list[str] = []
        for action in actions:
            for one in action.expressions:
                paths += self._paths(target, _valued_partitions(one, target, "DROP PARTITION names a partition"))
        return self._delete(target, paths)

    def _delete(self, target: Target, paths: Sequence[str]) -> "DataFrame":
        """The partitions of these paths are deleted; no action where there are none."""
        outcome = target.table.delete_partitions(paths) if paths else None
        return self._done(target, outcome, "DELETE_PARTITION")

    def _paths(self, target: Target, fixed: Mapping[str, Any]) -> list[str]:
        """The paths of the partitions that hold rows with these values."""
        from pyspark.sql.functions import col, expr  # noqa: PLC0415 - pyspark is optional

        path = "_hoodie_partition_path"
        same = [col(f"`{name}`").eqNullSafe(expr(value.sql(DIALECT))) for name, value in fixed.items()]
        rows = target.table.snapshot(meta_columns=True).where(reduce(lambda a, b: a & b, same))
        return sorted(row[0] for row in rows.select(path).distinct().collect())

    def _rename(self, node: Any, actions: Sequence[Any]) -> "DataFrame":
        named = self._tables.named(node)
        if named is None or not named.name or len(actions) != 1:
            raise unsupported("RENAME TO of what is no name of the session", "move the folder, and open it by its path")
        forget_name(self.spark, named.name)
        self._tables.remember(replace(named, name=actions[0].this.name))
        return outcome_frame(self.spark, "RENAME_TABLE")

    def _set(self, target: Target, actions: Sequence[Any]) -> "DataFrame":
        """Options that hold for later statements by the name of the table."""
        exp = expressions()
        stated = [one for each in actions if isinstance(each, exp.AlterSet) for one in each.expressions]
        if len(actions) != 1 or not stated or not all(isinstance(one, exp.Properties) for one in stated):
            raise unsupported("this ALTER TABLE ... SET", "give SET TBLPROPERTIES ('hoodie....' = '...')")
        configs = _configs(_given([one for each in stated for one in each.expressions]))
        if fixed := sorted(configs.keys() & set(_SHORT.values())):
            raise refusal(f"{fixed[0]} is a property of the table's files", "make another table, or upgrade this one")
        named = target.named
        if not named.name:
            raise refusal("options are kept by a name", "CREATE TABLE name USING hudi LOCATION ..., or SET them")
        self._tables.remember(replace(named, configs={**named.configs, **configs}))
        return outcome_frame(self.spark, "SET_TBLPROPERTIES")

    def _changes(self, action: Any, moved: tuple[str, str] | None) -> Iterator[dict[str, Any]]:
        """The changes of a schema that one action of ALTER TABLE states."""
        exp = expressions()
        if isinstance(action, exp.Schema | exp.ColumnDef):
            for one in action.expressions if isinstance(action, exp.Schema) else [action]:
                name = ".".join(part.name for part in one.this.flatten()) if isinstance(one.this, exp.Dot) else one.name
                yield {"change": "add", "column": name, "type": self._type(one.kind), **_comment(one), **_position(one)}
        elif isinstance(action, exp.RenameColumn):
            yield {"change": "rename", "column": _path(action.this), "to": action.args["to"].name}
        elif isinstance(action, exp.Drop):
            tables = action.args.get("tables") or [action.this]
            columns = [part for one in tables for part in (one.expressions if isinstance(one, exp.Schema) else [one])]
            yield from ({"change": "drop", "column": _path(one)} for one in columns)
        elif isinstance(action, exp.AlterColumn):
            yield from self._altered(action, moved)

    def _altered(self, action: Any, moved: tuple[str, str] | None) -> Iterator[dict[str, Any]]:
        column = _path(action.this)
        if moved is not None:
            yield {
                "change": "move",
                "column": column,
                **({"first": True} if moved[0] == "first" else {"after": moved[1]}),
            }
            return
        if action.args.get("dtype"):
            yield {"change": "type", "column": column, "type": self._type(action.args["dtype"])}
        if action.args.get("comment"):
            yield {"change": "doc", "column": column, "doc": action.args["comment"].name}
        if action.args.get("drop") and action.args.get("allow_null"):
            yield {"change": "nullable", "column": column}
        new = action.args.get("rename_to")
        if new is not None and new.name != column.rpartition(".")[2]:
            yield {"change": "rename", "column": column, "to": new.name}

    def _type(self, kind: Any) -> pa.DataType:
        return arrow_schema(self.spark.createDataFrame([], f"column {kind.sql(DIALECT)}").schema).field(0).type

    def _fields(self, schema: Any, stated: "_Stated") -> "StructType":
        """The columns of a CREATE TABLE, as Spark types them."""
        exp = expressions()
        texts = []
        for one in (*schema.expressions, *stated.typed_partitions):
            if not isinstance(one, exp.ColumnDef):
                raise unsupported(f"{one.sql(DIALECT)} in CREATE TABLE", "give columns only; keys are TBLPROPERTIES")
            kinds = [constraint.kind for constraint in one.args.get("constraints") or []]
            known = (exp.NotNullColumnConstraint, exp.CommentColumnConstraint)
            if not all(isinstance(kind, known) for kind in kinds):
                raise unsupported(f"{one.sql(DIALECT)} in CREATE TABLE", "a column has a type, NOT NULL and COMMENT")
            required = any(isinstance(kind, exp.NotNullColumnConstraint) for kind in kinds)
            texts.append(f"{tick(one.name)} {one.kind.sql(DIALECT)}{' NOT NULL' if required else ''}")
        return self.spark.createDataFrame([], ", ".join(texts)).schema

    def _chosen(self, target: Target, values: Mapping[str, Any], where: Any) -> "DataFrame":
        """The rows of the table that a condition chooses, each column as assigned or as it is."""
        exp = expressions()
        columns = [
            exp.alias_(values.get(name, exp.column(name, target.alias, quoted=True)), name, quoted=True)
            for name in target.columns
        ] + [exp.column(name, target.alias) for name in target.stored_keys]
        source = exp.to_identifier(self._tables.view(self._tables.read(target.named, None)), quoted=True)
        query = exp.select(*columns).from_(exp.Table(this=source, alias=alias_of(target.alias)))
        rows = self._tables.frame(query.where(where.this) if where else query)
        return aligned(rows, {name: name for name in target.columns}, target)

    def _overwrite(self, target: Target, frame: "DataFrame", fixed: Mapping[str, Any]) -> "DataFrame":
        """Static by default, as with Spark: all rows go, or those of the partition that is named."""
        mode = self._tables.settings_of(target.named).get(OVERWRITES) or self.spark.conf.get(
            "spark.sql.sources.partitionOverwriteMode"
        )
        named = [name for name, value in fixed.items() if value is not None]
        if str(mode).upper() == "DYNAMIC" and target.partitions:
            return self._write(target, WriteRequest("insert_overwrite", frame))
        if not named:
            return self._write(target, WriteRequest("insert_overwrite_table", frame))
        if len(named) < len(target.partitions):
            hint = f"give every one of {', '.join(target.partitions)} a value, or set {OVERWRITES} = DYNAMIC"
            raise unsupported("INSERT OVERWRITE of some partition columns", hint)
        if not frame.take(1):
            return self._done(
                target, target.table.delete_partitions(self._paths(target, fixed) or [""]), "DELETE_PARTITION"
            )
        return self._write(target, WriteRequest("insert_overwrite", frame))

    def _positioned(
        self, rows: "DataFrame", target: Target, names: Sequence[str], fixed: Mapping[str, Any]
    ) -> "DataFrame":
        """The columns of a query as those of the table: by the names that were listed, or by position."""
        from pyspark.sql.functions import expr  # noqa: PLC0415 - pyspark is optional

        given = {name: value for name, value in fixed.items() if value is not None}
        wanted = list(names) or [name for name in target.columns if name not in given]
        if len(set(wanted)) != len(wanted) or set(wanted) & given.keys():
            raise refusal(f"INSERT names a column twice: {', '.join([*wanted, *given])}", "name each once")
        if len(rows.columns) != len(wanted):
            message = (
                f"the query has {len(rows.columns)} columns, and the table takes {len(wanted)}: {', '.join(wanted)}"
            )
            raise refusal(message, "give a value for each, or list the columns that it has")
        renamed = rows.toDF(*(f"c{number}" for number in range(len(wanted))))
        for number, value in enumerate(given.values()):
            renamed = renamed.withColumn(f"p{number}", expr(value.sql(DIALECT)))
        sources = {name: f"c{number}" for number, name in enumerate(wanted)}
        sources |= {name: f"p{number}" for number, name in enumerate(given)}
        return aligned(renamed, sources, target)

    def _write(self, target: Target, request: WriteRequest) -> "DataFrame":
        storage = session_storage(self.spark, target.named.path, None)
        configs = self._tables.configs_of(target.named)
        writer = TableWriter(storage, OnSpark.of(self.spark), configs, lifecycle=InlineServices())
        return self._done(target, writer.write(request))

    def _done(self, target: Target, outcome: Outcome | None, operation: str = "") -> "DataFrame":
        """What a write answers; the view of the table's name, if it has one, shows it."""
        if target.named.name:
            self._tables.remember(target.named)
        return outcome_frame(self.spark, operation, outcome)

    def _new(self, node: Any, stated: "_Stated") -> NamedTable:
        if node.db and node.db.lower() == "hudi":
            if stated.location and stated.location != node.name:
                raise refusal(f"the table is named by {node.name}, and LOCATION is {stated.location}", "say it once")
            return NamedTable(node.name, "", {})
        if node.db and node.db.lower() != "default":
            raise unsupported(f"the database {node.db}", "name the table alone: names are those of the session")
        place = stated.location or str(Path(self.spark.conf.get("spark.sql.warehouse.dir") or "") / node.name)
        kept = {key: value for key, value in stated.configs.items() if key in stated.kept}
        return NamedTable(place, node.name, kept)


def _properties(target: Target, info: "TableInfo") -> dict[str, str]:
    """The properties by which a table is made, by the names that CREATE TABLE takes, and the options of its name."""
    found = {
        "type": next(short for short, long in _TYPES.items() if long == info.table_type),
        "primaryKey": ",".join(info.record_key),
        "orderingFields": ",".join(info.ordering),
        "tableVersion": str(info.version),
        "recordMergeMode": info.merge_mode,
    }
    return {name: value for name, value in found.items() if value} | dict(target.named.configs)


def _literal(text: str) -> str:
    return str(expressions().Literal.string(text).sql(DIALECT))


def _spec(path: str, names: Sequence[str]) -> str:
    """A partition's path as `name=value` for each field; the path itself where its folders are not those fields."""
    folders = path.split("/")
    if len(folders) != len(names):
        return path
    pairs = zip(names, folders, strict=True)
    return "/".join(one if one.startswith(f"{name}=") else f"{name}={one}" for name, one in pairs)


def _in_table(change: dict[str, Any], target: Target) -> dict[str, Any]:
    """A change of a column as the table spells it; those of partitions stay the last ones, where they are."""
    if "." in change["column"]:
        return change
    if change["change"] != "add":
        return {**change, "column": target.column(change["column"])}
    last = target.fields.names[len(target.fields.names) - len(target.partitions) :]
    placed = {"first", "after", "before"} & change.keys()
    return change if placed or not last or last != list(target.partitions) else {**change, "before": last[0]}


def _no_creation(tree: Any) -> UnsupportedFeature:
    kind = str(tree.args.get("kind"))
    if kind == "TABLE":
        return unsupported("CREATE OR REPLACE TABLE", "INSERT OVERWRITE the table, or remove its folder first")
    return unsupported(f"CREATE {kind}", "call spark.sql")


def _refuse_further(tree: Any, known: set[str], hint: str) -> None:
    """Nothing, unless a statement has a part that is not carried out, such as WITH, USING or LIMIT."""
    further = [name for name, value in tree.args.items() if value and name not in {"this", *known}]
    if further:
        raise unsupported(f"{type(tree).__name__.upper()} with {further[0].strip('_').upper()}", hint)


@dataclass(frozen=True, slots=True)
class _Stated:
    """What CREATE TABLE says beside the columns; `kept`: options that hold for later statements by the name."""

    location: str
    partition_by: tuple[str, ...]
    typed_partitions: tuple[Any, ...]
    configs: Mapping[str, str]
    kept: frozenset[str]

    @classmethod
    def of(cls, tree: Any) -> "_Stated":
        exp = expressions()
        properties = tree.args.get("properties")
        given: dict[str, str] = {}
        parts: dict[type, Any] = {}
        for one in properties.expressions if properties else []:
            if isinstance(one, exp.OptionsProperty) or type(one) is exp.Property:
                given |= _given(one.expressions or [one])
            else:
                parts[type(one)] = one
        known = (exp.FileFormatProperty, exp.LocationProperty, exp.PartitionedByProperty, exp.SchemaCommentProperty)
        for kind, one in parts.items():
            if kind not in known:
                raise unsupported(f"{one.sql(DIALECT)} in CREATE TABLE", "give USING, TBLPROPERTIES, PARTITIONED BY")
        form = parts.get(exp.FileFormatProperty)
        if form is None or form.name.lower() != "hudi":
            raise unsupported("CREATE TABLE without USING hudi", "say USING hudi, or call spark.sql")
        by = parts[exp.PartitionedByProperty].this.expressions if exp.PartitionedByProperty in parts else []
        for column in by:
            if not isinstance(column, exp.Identifier | exp.Column | exp.ColumnDef):
                raise unsupported(f"PARTITIONED BY {column.sql(DIALECT)}", "name columns")
        location = parts[exp.LocationProperty].name if exp.LocationProperty in parts else ""
        typed = tuple(one for one in by if isinstance(one, exp.ColumnDef))
        configs = _configs(given)
        return cls(location, tuple(one.name for one in by), typed, configs, frozenset(configs) & given.keys())


_SHORT: Final = {
    "type": "hoodie.datasource.write.table.type",
    "primarykey": "hoodie.datasource.write.recordkey.field",
    "precombinefield": "hoodie.datasource.write.precombine.field",
    "orderingfields": "hoodie.datasource.write.precombine.field",
    "tableversion": "hoodie.write.table.version",
    "recordmergemode": "hoodie.write.record.merge.mode",
}
_HIVE_STYLE: Final = "hoodie.datasource.write.hive_style_partitioning"
"""Apache Hudi's SQL makes tables with folders `city=lima` unless they say otherwise; its data source does not."""
_TYPES: Final = {"cow": "COPY_ON_WRITE", "mor": "MERGE_ON_READ"}


def _given(properties: Sequence[Any]) -> dict[str, str]:
    """Properties by their names, with or without quotes: `'hoodie.index.type'` and `hoodie.index.type` are one."""
    exp = expressions()
    named = [(one.this, one.args["value"].name) for one in properties]
    plain = exp.Literal | exp.Var
    return {key.name if isinstance(key, plain) else key.sql(DIALECT).replace("`", ""): text for key, text in named}


def _configs(given: Mapping[str, str]) -> dict[str, str]:
    """TBLPROPERTIES and OPTIONS by Hudi's own keys."""
    found: dict[str, str] = {}
    for name, text in given.items():
        key = _SHORT.get(name.lower(), name)
        if not key.startswith("hoodie."):
            raise refusal(f"{name} is no property of a table", f"say {', '.join(_SHORT)} or a key hoodie.*")
        value = _TYPES.get(text.lower(), text) if key == _SHORT["type"] else text
        if found.setdefault(key, value) != value:
            raise refusal(f"{key} is given twice and differs", "say it once")
    options = GivenOptions.of(found)
    options.check_write()
    resolve(options.configs)
    return dict(options.configs)


def _fixed_partitions(node: Any, target: Target) -> dict[str, Any]:
    """The columns of a PARTITION clause and their literals, None for those without."""
    exp = expressions()
    found: dict[str, Any] = {}
    for one in node.expressions if node else []:
        column, value = (one.this, one.expression) if isinstance(one, exp.EQ) else (one, None)
        name = target.column(column.name)
        if name not in target.partitions:
            known = ", ".join(target.partitions) or "none"
            raise refusal(f"{name!r} is no partition column", f"the table's are: {known}")
        found[name] = value
    return found


def _valued_partitions(node: Any, target: Target, what: str) -> dict[str, Any]:
    """The columns of a PARTITION clause and their literals, of which none may be left out."""
    found = _fixed_partitions(node, target)
    if None in found.values():
        raise refusal(f"{what} without a value", "give column = value")
    return found


def _partitions_last(schema: pa.Schema, partitions: Sequence[str]) -> pa.Schema:
    last = [one for name in partitions for one in schema if one.name.lower() == name.lower()]
    return pa.schema([*(one for one in schema if one not in last), *last])


def _simple_name(named: NamedTable) -> str:
    return named.name or re.sub(r"\W", "_", named.path.rstrip("/").rpartition("/")[2]) or "table"


def _comments(schema: Any) -> dict[str, str]:
    return {one.name: found["doc"] for one in schema.expressions if (found := _comment(one))}


def _comment(column: Any) -> dict[str, str]:
    exp = expressions()
    kinds = [constraint.kind for constraint in column.args.get("constraints") or []]
    return next(({"doc": kind.name} for kind in kinds if isinstance(kind, exp.CommentColumnConstraint)), {})


def _position(column: Any) -> dict[str, Any]:
    place = column.args.get("position")
    if place is None:
        return {}
    word = str(place.args["position"]).lower()
    return {"first": True} if word == "first" else {word: place.this.name}


def _path(column: Any) -> str:
    """The name of a column, or of a field inside one."""
    exp = expressions()
    parts = column.parts if isinstance(column, exp.Column) else [column]
    return ".".join(part.name for part in parts)
