"""What a statement of `hudi_sql` reads of its tables, and the rows that it writes to one.

Spark gets a text in which every table of Hudi's stands as a view of its state when the statement begins.
"""

import logging
import re
import uuid
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field, replace
from functools import cached_property
from typing import TYPE_CHECKING, Any, Final

from hudi_spark.datasource import GivenOptions
from hudi_spark.errors import HudiError, Reason, UnsupportedFeature, boundary, suggested, to_text
from hudi_spark.keys import RECORD_KEY
from hudi_spark.options import INDEX_TYPE, refusal, resolve
from hudi_spark.procedures import called_function
from hudi_spark.table import HudiTable, NamedTable, known_names, named_table, remember_name, session_storage
from hudi_spark.table_state import load_configuration, load_table

if TYPE_CHECKING:
    from pyspark.sql import Column, DataFrame, SparkSession
    from pyspark.sql.types import DataType, StructType

DIALECT: Final = "spark"
STATEMENTS: Final = (
    "SELECT, CREATE TABLE ... USING hudi, INSERT, UPDATE, DELETE, MERGE INTO, ALTER TABLE, CREATE INDEX, DROP INDEX, "
    "SHOW INDEXES, TRUNCATE TABLE, DROP TABLE, REFRESH TABLE, DESCRIBE TABLE, SHOW TABLES, SHOW PARTITIONS, "
    "SHOW TBLPROPERTIES, SHOW CREATE TABLE, CALL, SET and RESET"
)
META: Final = "_hoodie_"
INSERTS: Final = "hoodie.spark.sql.insert.into.operation"
OVERWRITES: Final = "hoodie.datasource.overwrite.mode"
_GLOBAL: Final = ("GLOBAL_BLOOM", "GLOBAL_SIMPLE", "RECORD_INDEX", "GLOBAL_RECORD_LEVEL_INDEX")


def expressions() -> Any:
    """The nodes of sqlglot's trees, which is imported by the first statement."""
    try:
        from sqlglot import exp  # noqa: PLC0415
    except ImportError as error:
        raise unsupported("hudi_sql needs sqlglot", "pip install 'sqlglot>=30,<31'") from error
    return exp


def parsed(text: str) -> Any:
    """The tree of one statement.

    Raises:
        HudiError: CONFIG_INVALID for text that is no statement, or several.
        UnsupportedFeature: a statement that is not parsed whole.

    """
    exp = expressions()
    from sqlglot import parse  # noqa: PLC0415
    from sqlglot.errors import SqlglotError  # noqa: PLC0415

    # It warns of what it does not parse, which is refused here.
    logger = logging.getLogger("sqlglot")
    level, moved = logger.level, _MOVE.fullmatch(text)
    logger.setLevel(logging.ERROR)
    try:
        trees = [one for one in parse(moved[1] + " TYPE INT" if moved else text, read=DIALECT) if one is not None]
    except SqlglotError as error:
        if found := _WITH_OPTIONS.match(text):
            hint = "leave WITH out: a name has its path, else write hudi.`lake/fares`; SET gives options"
            raise unsupported(f"{found[0].strip()}...) in hudi_sql", hint) from error
        message = " ".join(re.sub(r"\x1b\[\d+m", "", str(error)).split())
        raise refusal(f"the statement does not parse: {message}", "check it against Spark's SQL") from error
    finally:
        logger.setLevel(level)
    if len(trees) != 1:
        raise refusal(f"the text has {len(trees)} statements", "give one at a time")
    if moved:
        trees[0].set("moved", (moved[2].lower(), moved[3]))
    if isinstance(trees[0], exp.Command):
        raise no_statement(text)
    return trees[0]


# What sqlglot does not parse: the place of a column.
_MOVE: Final = re.compile(
    r"\s*(alter\s+table\s+\S+\s+(?:alter|change)\s+(?:column\s+)?\S+)\s+(first|after)(?:\s+(\S+?))?\s*;?\s*",
    re.IGNORECASE | re.DOTALL,
)


# An INSERT with options, as Spark has it for formats in Python.
_WITH_OPTIONS: Final = re.compile(r"\s*insert\s+(?:into|overwrite)\s+(?:table\s+)?\S+\s+with\s*\(", re.IGNORECASE)
_INSTEAD: Final[Mapping[str, str]] = {
    "REFRESH INDEX": "every write keeps the table's indexes up to date",
    "ALTER TABLE": "it adds, drops, renames and alters columns, drops partitions, renames, and sets TBLPROPERTIES",
    "EXPLAIN": "call explain on the DataFrame, or HudiTable.explain",
    "OPTIMIZE": "CALL run_clustering(table => 'lake/fares')",
    "VACUUM": "CALL run_clean(table => 'lake/fares')",
}


def no_statement(text: str) -> UnsupportedFeature:
    """The error of a statement that is none of `hudi_sql`, with what does the same where something does."""
    words = " ".join(text.upper().replace("DESC ", "DESCRIBE ", 1).split())
    hint = next((hint for start, hint in _INSTEAD.items() if words.startswith(start)), "")
    message = f"{' '.join(text.split())[:60]!r} is no statement of hudi_sql"
    return unsupported(message, hint or f"it has {STATEMENTS}; call spark.sql")


def unsupported(message: str, hint: str) -> UnsupportedFeature:
    """The one error of what is not carried out, and what to do instead."""
    return UnsupportedFeature("sql", f"{message}: {hint}")


@dataclass(frozen=True, slots=True)
class Target:
    """The table that a statement changes, as it stands when the statement begins.

    `alias`: what its columns are qualified with. `seen`: the writes that its rows are of.
    """

    named: NamedTable
    alias: str
    table: HudiTable
    fields: "StructType"
    keys: tuple[str, ...]
    partitions: tuple[str, ...]
    seen: frozenset[str]

    @property
    def columns(self) -> list[str]:
        """The names of its columns, those of partitions last, as Spark has them."""
        own = [one for one in self.fields.names if not one.startswith(META)]
        return [one for one in own if one not in self.partitions] + [one for one in own if one in self.partitions]

    @property
    def stored_keys(self) -> list[str]:
        """The column that finds a stored row again where keys are generated; none where fields of the row do."""
        return [] if self.keys else [RECORD_KEY]

    def column(self, name: str) -> str:
        """A column as the table spells it.

        Raises:
            HudiError: CONFIG_INVALID for none.

        """
        found = [one for one in self.columns if one.lower() == name.lower()]
        if not found:
            hint = suggested(name, self.columns, f"the columns are {', '.join(self.columns)}")
            raise refusal(f"the table has no column {name!r}", hint)
        return found[0]

    def type_of(self, name: str) -> "DataType":
        """The type of a column."""
        return self.fields[name].dataType


@dataclass(frozen=True)
class SessionTables:
    """The tables of a session for one statement; `views`: temporary views that stand for them in Spark's text."""

    spark: "SparkSession"
    views: list[str] = field(default_factory=list)

    @cached_property
    def settings(self) -> Mapping[str, str]:
        """The settings of the session that are Hudi's."""
        names = [row[0] for row in self.spark.sql("SET").collect() if row[0].startswith("hoodie.")]
        # SET hides the values of names that look like secrets, "urlencode" among them.
        found = {name: self.spark.conf.get(name) for name in names}
        given = GivenOptions.of(found)
        given.check_write()
        if given.operation:
            raise refusal(f"the session sets the operation {given.operation}", "reset it: statements say what they do")
        return dict(given.configs)

    def settings_of(self, named: NamedTable) -> dict[str, str]:
        """The settings for a table: those of its name, and over them the session's."""
        return {**named.configs, **self.settings}

    def is_global(self, target: Target) -> bool:
        """Whether a key is looked up in all partitions."""
        return resolve(self.settings_of(target.named)).text(INDEX_TYPE).upper() in _GLOBAL

    def target(self, node: Any) -> Target:
        """The table that a statement changes.

        Raises:
            HudiError: CONFIG_INVALID for none of Hudi's; the reasons of a refused table.
            UnsupportedFeature: what is more than a table.

        Clauses: RD-001.

        """
        exp = expressions()
        if not isinstance(node, exp.Table) or node.args.get("version"):
            raise unsupported(f"a write to {node.sql(DIALECT)}", "name the table alone")
        named = self.named(node)
        if named is None:
            raise self.no_table(node)
        storage = session_storage(self.spark, named.path, None)
        with boundary(storage.base):
            # Before its rows are planned: a write in between is a conflict then, never lost.
            known, timeline = load_table(storage)
        table = HudiTable(self.spark, named.path, configs=self.configs_of(named))
        return Target(
            named,
            node.alias or node.name,
            table,
            table.snapshot().schema,
            known.record_key,
            tuple(one.partition(":")[0] for one in known.partition_by),
            frozenset(one.requested for one in timeline.completed_data()),
        )

    def remember(self, named: NamedTable) -> None:
        """Let the name of a table, if it has one, stand for it, and show its rows of now to `spark.sql`."""
        if named.name:
            remember_name(self.spark, named)
            self.read(named, None).createOrReplaceTempView(named.name)

    def named(self, node: Any) -> NamedTable | None:
        """The table of Hudi's that a node of a tree names; None for any other."""
        exp = expressions()
        if not isinstance(node.this, exp.Identifier) or node.args.get("catalog"):
            return None
        if node.db.lower() == "hudi":
            return NamedTable(node.name, "", {})
        return named_table(self.spark, node.name) if node.db.lower() in {"", "default"} else None

    def no_table(self, node: Any) -> HudiError:
        """The error of a name that stands for no table of Hudi's."""
        hint = "name it by its path, hudi.`lake/fares`, or give it a name: CREATE TABLE name USING hudi LOCATION '...'"
        shown = suggested(node.name, known_names(self.spark), hint)
        return refusal(f"{node.name} is no Hudi table of this session", shown)

    def named_by_text(self, text: str) -> NamedTable:
        """The table that a procedure or a function names: by a name of the session, or by its path."""
        return named_table(self.spark, text.removeprefix("default.")) or NamedTable(text, "", {})

    def _configured(self, text: str) -> NamedTable:
        known = self.named_by_text(text)
        return replace(known, configs=self.configs_of(known))

    def read(self, named: NamedTable, as_of: str | None) -> "DataFrame":
        """The rows of a table, its meta columns first and those of partitions last."""
        table = HudiTable(self.spark, named.path, configs=self.configs_of(named))
        rows = table.snapshot(meta_columns=True) if as_of is None else table.as_of(as_of, meta_columns=True)
        with boundary(named.path):
            known = load_configuration(session_storage(self.spark, named.path, None))
        last = [one.partition(":")[0] for one in known.partition_by if one.partition(":")[0] in rows.columns]
        return rows.select(*(tick(one) for one in (*(name for name in rows.columns if name not in last), *last)))

    def configs_of(self, named: NamedTable) -> dict[str, str]:
        """The same without what is an option of statements alone."""
        return {key: value for key, value in self.settings_of(named).items() if key not in {INSERTS, OVERWRITES}}

    def frame(self, tree: Any) -> "DataFrame":
        """What Spark makes of a query, in which every table of Hudi's stands as a view."""
        return self.spark.sql(self.bound(tree).sql(DIALECT))

    def bound(self, tree: Any) -> Any:
        """A copy of a tree in which every table of Hudi's stands as a view."""
        exp = expressions()
        made = tree.copy()
        common = {one.alias.lower() for one in made.find_all(exp.CTE)}
        for node in list(made.find_all(exp.Table)):
            if isinstance(node.this, exp.Anonymous) and not node.db:
                rows = called_function(self.spark, node.this, self._configured)
                if rows is not None:
                    node.set("this", exp.to_identifier(self.view(rows), quoted=True))
                continue
            named = None if not node.db and node.name.lower() in common else self.named(node)
            version = node.args.get("version")
            if named is None and node.name not in self.views and version is not None:
                raise self.no_table(node)
            if named is None:
                continue
            as_of = None
            if version is not None:
                if str(version.this).upper() != "TIMESTAMP" or not isinstance(version.expression, exp.Literal):
                    raise unsupported(version.sql(DIALECT), "give TIMESTAMP AS OF and an instant as a literal")
                as_of = version.expression.name
            if not node.alias:
                node.set("alias", alias_of(node.name))
            node.set("this", exp.to_identifier(self.view(self.read(named, as_of)), quoted=True))
            node.set("db", None)
            node.set("version", None)
        return made

    def view(self, frame: "DataFrame") -> str:
        """The name of a temporary view of rows."""
        name = f"hudi_sql_{uuid.uuid4().hex}"
        frame.createOrReplaceTempView(name)
        self.views.append(name)
        return name

    def view_of(self, target: Target) -> str:
        """A view of the rows of the table that a statement changes."""
        return self.view(self.read(target.named, None))

    @contextmanager
    def temporary(self) -> "Iterator[None]":
        """Views that are made inside are dropped: frames that read them are analysed by then."""
        try:
            yield
        finally:
            while self.views:
                self.spark.catalog.dropTempView(self.views.pop())


def alias_of(name: str) -> Any:
    """An alias of a table in a tree."""
    exp = expressions()
    return exp.TableAlias(this=exp.to_identifier(name, quoted=True))


def tick(name: str) -> str:
    """A name in which dots and backticks are plain characters."""
    return "`" + name.replace("`", "``") + "`"


_ACTION: Final = "_hudi_sql_clause"
_MATCHED: Final = "_hudi_sql_matched"
DELETES: Final = "_hudi_sql_deletes"


@dataclass(frozen=True, slots=True)
class Merge:
    """MERGE INTO as a join, and a row for each pair for which a clause says something.

    ON consists of equalities of a column of the table and an expression of the source. Where it has the record key, and
    keys live once in each partition, rows of another partition than the source's do not match, as with Apache Hudi.
    """

    target: Target
    session: SessionTables
    whens: Sequence[Any]
    tree: Any

    def rows(self) -> "DataFrame":
        """The rows to write, and which of them remove their key."""
        from pyspark.sql import functions  # noqa: PLC0415 - pyspark is optional

        exp = expressions()
        clauses = [_clause(number, when, self.target) for number, when in enumerate(self.whens)]
        source = self.session.bound(self.tree.args["using"])
        if not source.alias:
            source.set("alias", alias_of(source.name or "source"))
        names = self._source_columns(source)
        known = {name.lower() for name in names}
        lacking = [one for one in self.target.columns if one.lower() not in known]
        if lacking and any(clause.star for clause in clauses):
            raise refusal(f"the source has no column {lacking[0]!r}, which * takes", "list the columns to set")
        numbered = list(enumerate(self.target.columns))
        columns = [
            exp.alias_(self._value(clause, name, source.alias), f"c{clause.number}_{number}", quoted=True)
            for clause in clauses
            for number, name in numbered
        ]
        stored = [
            exp.alias_(exp.column(name, self.target.alias, quoted=True), f"t_{number}", quoted=True)
            for number, name in numbered
        ] + [exp.alias_(exp.column(name, self.target.alias), name) for name in self.target.stored_keys]
        decision = exp.alias_(self._decision(clauses), _ACTION, quoted=True)
        query = self._joined(source, names).select(decision, *columns, *stored)
        found = self.session.spark.sql(query.sql(DIALECT)).where(functions.col(_ACTION).isNotNull())
        return self._chosen(found, clauses)

    def _joined(self, source: Any, names: Sequence[str]) -> Any:
        exp = expressions()
        view = exp.to_identifier(self.session.view_of(self.target), quoted=True)
        stored = exp.select("*", exp.alias_(exp.true(), _MATCHED)).from_(exp.Table(this=view))
        side = "left" if any(not when.args.get("matched") for when in self.whens) else "inner"
        on = self._condition(source, names)
        return exp.select().from_(source).join(stored.subquery(self.target.alias), on=on, join_type=side)

    def _source_columns(self, source: Any) -> list[str]:
        exp = expressions()
        return list(self.session.spark.sql(exp.select("*").from_(source.copy()).sql(DIALECT)).columns)

    def _condition(self, source: Any, names: Sequence[str]) -> Any:
        exp = expressions()
        on = self.session.bound(self.tree.args["on"])
        compared: set[str] = set()
        for one in on.flatten() if isinstance(on, exp.And) else [on]:
            inner = one.unnest()
            if not isinstance(inner, exp.EQ | exp.NullSafeEQ):
                message = f"ON has {inner.sql(DIALECT)}, which is no equality"
                raise unsupported(message, "compare columns of the table in ON, and put the rest into WHEN ... AND")
            sides = [self._own(side, names) for side in (inner.this, inner.expression)]
            compared |= {name for name in sides if name}
            if not any(sides):
                message = f"ON has {inner.sql(DIALECT)}, which names no column of the table"
                raise unsupported(message, "put it into WHEN ... AND")
        if not self.target.keys or not set(self.target.keys) <= compared or self.session.is_global(self.target):
            return on
        for name in self.target.partitions:
            if name in compared:
                continue
            same = [one for one in names if one.lower() == name.lower()]
            if not same:
                message = f"ON does not compare {name!r}, and the source has no such column"
                raise refusal(message, "a key is looked up in its partition: compare the partition columns, too")
            pair = (
                exp.column(name, self.target.alias, quoted=True),
                exp.column(same[0], source.alias_or_name, quoted=True),
            )
            on = exp.and_(on, exp.NullSafeEQ(this=pair[0], expression=pair[1]))
        return on

    def _own(self, side: Any, names: Sequence[str]) -> str | None:
        """The column of the table that a side of an equality is."""
        exp = expressions()
        if not isinstance(side, exp.Column):
            return None
        known = {one.lower(): one for one in self.target.columns}
        is_own = (
            side.table.lower() == self.target.alias.lower()
            if side.table
            else side.name.lower() not in map(str.lower, names)
        )
        return known.get(side.name.lower()) if is_own else None

    def _decision(self, clauses: Sequence["_Clause"]) -> Any:
        """The number of the first clause that fits; null for none."""
        exp = expressions()
        matched = exp.column(_MATCHED, self.target.alias)
        found = exp.Case()
        for clause in clauses:
            fits = matched.copy().is_(exp.null())
            fits = exp.not_(fits) if clause.matched else fits
            if clause.condition is not None:
                fits = exp.and_(fits, self.session.bound(clause.condition))
            found = found.when(fits, exp.Literal.number(clause.number))
        return found

    def _value(self, clause: "_Clause", name: str, alias: str) -> Any:
        exp = expressions()
        if clause.star:
            return exp.column(name, alias, quoted=True)
        value = clause.values.get(name)
        if value is not None:
            return self.session.bound(value)
        return exp.column(name, self.target.alias, quoted=True) if clause.matched else exp.null()

    def _chosen(self, taken: "DataFrame", clauses: Sequence["_Clause"]) -> "DataFrame":
        """Of each row the values of its clause, as the table's columns have them."""
        from pyspark.sql.functions import col, lit, raise_error, when  # noqa: PLC0415 - pyspark is optional

        action = col(_ACTION)
        moving = self.session.is_global(self.target)
        columns = []
        for number, name in enumerate(self.target.columns):
            parts = []
            for clause in clauses:
                source = f"c{clause.number}_{number}"
                value = stored(source, taken.schema[source].dataType, self.target.type_of(name), name)
                fixed = name in self.target.keys or (name in self.target.partitions and not moving)
                if fixed and clause.matched and not clause.deletes:
                    message = f"MERGE would change {name!r} of a row, which is where it lives"
                    error = HudiError(
                        Reason.CONFIG_INVALID, "DM-002", message, hint="delete the row and insert it anew"
                    )
                    other = ~value.eqNullSafe(col(f"t_{number}"))
                    value = when(other, raise_error(lit(to_text(error))).cast(self.target.type_of(name))).otherwise(
                        value
                    )
                parts.append((clause.number, value))
            first, *rest = parts
            chosen = when(action == first[0], first[1])
            for one, value in rest:
                chosen = chosen.when(action == one, value)
            columns.append(chosen.alias(name))
        gone = [clause.number for clause in clauses if clause.deletes]
        columns += [col(name) for name in self.target.stored_keys]
        return taken.select(*columns, (action.isin(gone) if gone else lit(False)).alias(DELETES))


@dataclass(frozen=True, slots=True)
class _Clause:
    """One WHEN: `values` by column; of UPDATE SET * and INSERT * all come from the source."""

    number: int
    matched: bool
    condition: Any
    star: bool = False
    deletes: bool = False
    values: Mapping[str, Any] = field(default_factory=dict)


def _clause(number: int, when: Any, target: Target) -> _Clause:
    exp = expressions()
    matched, then = bool(when.args.get("matched")), when.args["then"]
    if when.args.get("source"):
        raise unsupported("WHEN NOT MATCHED BY SOURCE", "give a DELETE or an UPDATE with NOT EXISTS")
    common = {"number": number, "matched": matched, "condition": when.args.get("condition")}
    if isinstance(then, exp.Update) and matched:
        star = any(isinstance(one, exp.Star) for one in then.expressions)
        return _Clause(**common, star=star, values={} if star else assigned(then.expressions, target))
    if isinstance(then, exp.Insert) and not matched:
        if isinstance(then.this, exp.Star):
            return _Clause(**common, star=True)
        names = [target.column(one.name) for one in then.this.expressions] if then.this else target.columns
        values = then.expression.expressions if then.expression else []
        if len(names) != len(values):
            raise refusal(f"INSERT has {len(names)} columns and {len(values)} values", "give one for each")
        return _Clause(**common, values=dict(zip(names, values, strict=True)))
    if isinstance(then, exp.Var) and then.name.upper() == "DELETE" and matched:
        return _Clause(**common, deletes=True)
    raise unsupported(when.sql(DIALECT), "a clause is UPDATE, DELETE, or INSERT where nothing matches")


def assigned(assignments: Sequence[Any], target: Target) -> dict[str, Any]:
    """The expressions that a SET assigns, by the columns of the table.

    Raises:
        UnsupportedFeature: an assignment to what is no whole column.
        HudiError: CONFIG_INVALID for no column, or one that is assigned twice.

    """
    exp = expressions()
    found: dict[str, Any] = {}
    for one in assignments:
        if not isinstance(one, exp.EQ) or not isinstance(one.this, exp.Column):
            raise unsupported(f"the assignment {one.sql(DIALECT)}", "give column = expression")
        if one.this.table and one.this.table.lower() != target.alias.lower():
            raise unsupported(f"the assignment {one.sql(DIALECT)}", "assign whole columns of the table")
        name = target.column(one.this.name)
        if name in found:
            raise refusal(f"{name!r} is assigned twice", "assign each column once")
        found[name] = one.expression
    return found


def own_columns(frame: "DataFrame") -> "DataFrame":
    """A query's columns without those of Hudi's own."""
    return frame.drop(*(name for name in frame.columns if name.startswith(META)))


def aligned(frame: "DataFrame", sources: Mapping[str, str], target: Target) -> "DataFrame":
    """The columns of the table from those of a frame; null for those that have no source."""
    from pyspark.sql.functions import lit  # noqa: PLC0415 - pyspark is optional

    columns = []
    for name in target.columns:
        kind = target.type_of(name)
        if name in sources:
            source = sources[name]
            columns.append(stored(source, frame.schema[source].dataType, kind, name).alias(name))
        else:
            columns.append(lit(None).cast(kind).alias(name))
    return frame.select(*columns, *(name for name in target.stored_keys if name in frame.columns))


def stored(source: str, given: "DataType", kind: "DataType", name: str) -> "Column":
    """The values of a column of a frame as the table's column stores them: numbers keep their value, or fail the write.

    Raises:
        HudiError: SCHEMA_INCOMPATIBLE for a type that is not stored in a column of this one without a CAST.

    Clauses: DM-004.

    """
    from pyspark.sql import types  # noqa: PLC0415 - pyspark is optional
    from pyspark.sql.functions import col, expr, lit, raise_error, when  # noqa: PLC0415

    column = col(tick(source))
    if _is_widened(given, kind):
        return column.cast(kind)
    if isinstance(given, types.NumericType) and isinstance(kind, types.NumericType):
        # A plain cast raises an error of Spark's, wraps around, or answers null, by the session's settings.
        made = expr(f"try_cast({tick(source)} as {kind.simpleString()})")
        lost = column.isNotNull() & (made.isNull() | (made.cast(given) != column))
        error = HudiError(
            Reason.SCHEMA_INCOMPATIBLE, "DM-004", f"{name!r} cannot hold a value of {given.simpleString()}"
        )
        return when(lost, raise_error(lit(to_text(error))).cast(kind)).otherwise(made)
    moments = (types.DateType, types.TimestampType, types.TimestampNTZType)
    if isinstance(given, types.AtomicType) and isinstance(kind, types.StringType):
        return column.cast(kind)
    if isinstance(given, moments) and isinstance(kind, moments):
        return column.cast(kind)
    message = f"{name!r} is {kind.simpleString()}, and the value is {given.simpleString()}"
    raise HudiError(Reason.SCHEMA_INCOMPATIBLE, "DM-004", message, hint="CAST it")


def _is_widened(given: "DataType", kind: "DataType") -> bool:
    """Whether every value of a type is one of another, part by part."""
    from pyspark.sql import types  # noqa: PLC0415 - pyspark is optional

    if given.simpleString() == kind.simpleString() or isinstance(given, types.NullType):
        return True
    if isinstance(kind, types.FloatType | types.DoubleType):
        return isinstance(given, types.NumericType)
    whole = [types.ByteType, types.ShortType, types.IntegerType, types.LongType]
    if type(given) in whole and type(kind) in whole:
        return whole.index(type(given)) <= whole.index(type(kind))
    parts = _parts(given), _parts(kind)
    alike = type(given) is type(kind) and len(parts[0]) == len(parts[1]) > 0
    return alike and all(_is_widened(one, other) for one, other in zip(*parts, strict=True))


def _parts(kind: "DataType") -> list["DataType"]:
    """The types inside one, in order."""
    from pyspark.sql import types  # noqa: PLC0415 - pyspark is optional

    if isinstance(kind, types.ArrayType):
        return [kind.elementType]
    if isinstance(kind, types.MapType):
        return [kind.keyType, kind.valueType]
    return [one.dataType for one in kind.fields] if isinstance(kind, types.StructType) else []
