"""What a recipe of a writing case is handed: each method is one step."""

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import Any

from hudi_adapter.rows import Rows
from hudi_model.files import Schema

from hudi_conformance.bridge.operations import SKIPPING
from hudi_conformance.bridge.schemas import avro_schema
from hudi_conformance.corpus.golden.rides import RIDES, Row
from hudi_conformance.corpus.table_shapes import TableShape
from hudi_conformance.runner.case_values import END_PROCESS, READER, SERVICER, WRITER, WRITING_OPS
from hudi_conformance.runner.clauses import DRAFT_VERSIONS

Configs = Mapping[str, str]
_TABLE = "rides"
_EVERY_INDEX = (
    "hoodie.metadata.index.column.stats.enable",
    "hoodie.metadata.index.bloom.filter.enable",
    "hoodie.metadata.record.index.enable",
    "hoodie.metadata.index.secondary.enable",
    "hoodie.metadata.index.expression.enable",
)
"""The settings by which a reader uses one index or another."""


@dataclass(frozen=True, slots=True)
class Done:
    """A step that has been taken: its instants, as later steps name them."""

    number: int
    has_completion_times: bool = True

    @property
    def requested(self) -> str:
        """Its requested time."""
        return f"${self.number}.requested"

    @property
    def completed(self) -> str:
        """Its completion time."""
        return f"${self.number}.completed"

    @property
    def bound(self) -> str:
        """The time by which a range is bounded: of completion, or of request before version 8."""
        return self.completed if self.has_completion_times else self.requested


@dataclass(frozen=True, slots=True)
class Draft:
    """One step as a recipe states it; `reject` is the reason of a refusal, `warns` the clauses that a doer warns of.

    `text_rejects`: the clause by whose text it is refused, with WRITE_CONFLICT, and as released is not.
    """

    op: str
    params: Mapping[str, Any]
    rows: Rows | None = None
    reject: str | None = None
    by: str = WRITER
    process: int = 1
    warns: tuple[str, ...] = ()
    text_rejects: str = ""

    @property
    def writes(self) -> bool:
        """Whether the step changes the table."""
        return self.op in WRITING_OPS


@dataclass(slots=True)
class WritingCase:
    """A sequence of steps under construction; `shape` is what its table is made with."""

    shape: TableShape
    schema: Schema = RIDES
    drafts: list[Draft] = field(default_factory=list)
    clauses: list[str] = field(default_factory=list)
    kills: list[str] = field(default_factory=list)
    _started: dict[str, Draft] = field(default_factory=dict)

    @property
    def is_mor(self) -> bool:
        """Whether the table is merge-on-read."""
        return self.shape.table_type == "MERGE_ON_READ"

    def shows(self, clauses: str = "", kills: str = "") -> None:
        """More clauses, and mutants that this case kills: those that hold for some shapes only."""
        self.clauses += clauses.split()
        self.kills += kills.split()

    def shows_draft(self, clauses: str, kills: str) -> None:
        """The same where the table is of a version that no release writes."""
        if self.shape.version in DRAFT_VERSIONS:
            self.shows(clauses, kills)

    # Writing.

    def create(self, *, reject: str | None = None, **params: Any) -> None:
        """The table is made; `params` in place of those of the shape, of which None leaves one out."""
        made = {**self.shape.create_params(avro_schema(self.schema, _TABLE)), **params}
        stated = {name: value for name, value in made.items() if value is not None}
        self._step(Draft("create_table", stated, reject=reject))

    def write(
        self,
        operation: str,
        rows: Iterable[Row] | None = None,
        *,
        schema: Schema | None = None,
        configs: Configs | None = None,
        reject: str | None = None,
        process: int = 1,
        by: str = WRITER,
        warns: str = "",
        **params: Any,
    ) -> Done:
        """A whole write; `params` may be `partitions` or `filter`."""
        fields = {"operation": operation, **params, "configs": self._configs(configs)}
        return self._step(Draft("write", fields, self._rows(rows, schema), reject, by, process, tuple(warns.split())))

    def begin(
        self,
        txn: str,
        operation: str,
        rows: Iterable[Row] | None = None,
        *,
        schema: Schema | None = None,
        configs: Configs | None = None,
        reject: str | None = None,
        process: int = 1,
        by: str = WRITER,
        **params: Any,
    ) -> Done:
        """The first phase of a write; the others go on with what is reported here."""
        fields = {"txn": txn, "operation": operation, **params, "configs": self._configs(configs)}
        self._started[txn] = Draft("begin_write", fields, self._rows(rows, schema), reject, by, process)
        return self._step(self._started[txn])

    def stage(self, txn: str, *, reject: str | None = None) -> Done:
        """The second phase: its files."""
        return self._step(replace(self._started[txn], op="stage_write", reject=reject))

    def commit(self, txn: str, *, reject: str | None = None, text_rejects: str = "") -> Done:
        """The third phase: checks, then the completed file; `text_rejects`: the clause by whose text it is refused."""
        draft = replace(self._started[txn], op="commit_write", reject=reject, rows=None, text_rejects=text_rejects)
        return self._step(draft)

    def abort(self, txn: str) -> Done:
        """The write is given up."""
        return self._step(replace(self._started[txn], op="abort_write", rows=None))

    def schedule(
        self,
        service: str,
        configs: Configs | None = None,
        *,
        reject: str | None = None,
        process: int = 1,
        by: str = SERVICER,
        **params: Any,
    ) -> Done:
        """A plan of a table service; `params` may be `now`."""
        fields = {"service": service, **params, "configs": self._configs(configs)}
        return self._step(Draft("schedule", fields, None, reject, by, process))

    def execute(
        self,
        plan: Done | str,
        configs: Configs | None = None,
        *,
        reject: str | None = None,
        process: int = 1,
        by: str = SERVICER,
        **params: Any,
    ) -> Done:
        """A plan is carried out: that of a step, or that of an instant on the timeline of the table it began with."""
        requested = plan.requested if isinstance(plan, Done) else plan
        fields = {"requested": requested, **params, "configs": self._configs(configs)}
        return self._step(Draft("execute", fields, None, reject, by, process))

    def run(self, service: str, configs: Configs | None = None) -> Done:
        """A service planned and carried out at once."""
        return self.execute(self.schedule(service, configs), configs)

    def service(
        self,
        name: str,
        configs: Configs | None = None,
        *,
        reject: str | None = None,
        process: int = 1,
        by: str = SERVICER,
        warns: str = "",
        **params: Any,
    ) -> Done:
        """A service that plans and runs in one: archive, rollback, savepoint, restore, upgrade ..."""
        fields = {"name": name, **params, "configs": self._configs(configs)}
        return self._step(Draft("service", fields, None, reject, by, process, tuple(warns.split())))

    def end_process(self, process: int, by: str = WRITER) -> None:
        """A process is killed: what it has begun stays as it is."""
        self._step(Draft(END_PROCESS, {}, by=by, process=process))

    # Asking.

    def query(self, op: str, *, reject: str | None = None, by: str = READER, **params: Any) -> None:
        """A question about the table as it is now."""
        self._step(Draft(op, params, reject=reject, by=by))

    def snapshot(self, **params: Any) -> None:
        """The latest completed state, with the meta fields by default."""
        self.query("read_snapshot", **{"meta_columns": True, **params})

    def filtered(self, form: Any) -> None:
        """The rows that a filter wants, asked of a reader that may skip what indexes rule out."""
        self.query("read_snapshot", filter=form, configs=dict.fromkeys((*SKIPPING, *_EVERY_INDEX), "true"))

    def sound(self) -> None:
        """Nothing is wrong with the table, nor with what its indexes hold."""
        self.query("check_table", deep=True)

    def past(self, *writes: Done, ranges: bool = True) -> None:
        """The rows as of each write, what came after each, and between the second and the last; all that came."""
        for one in writes:
            self.query("read_as_of", instant=one.bound)
        if not ranges:
            return
        for one in writes[1:]:
            self.incremental(one)
        self.incremental(writes[1], writes[-1])
        self.incremental(None)

    def optimized(self) -> None:
        """The rows of base files."""
        self.query("read_optimized")

    def as_of(self, done: Done) -> None:
        """The rows as of the request of a step."""
        self.query("read_as_of", instant=done.requested)

    def incremental(self, begin: Done | None, end: Done | None = None) -> None:
        """The rows that came after a step (all where there is none), until another."""
        until = {"end": end.bound} if end else {}
        self.query("read_incremental", begin=begin.bound if begin else "earliest", **until)

    def changes(self, begin: Done | None, end: Done | None = None) -> None:
        """The changes after a step, until another."""
        until = {"end": end.bound} if end else {}
        self.query("read_changes", begin=begin.bound if begin else "earliest", **until)

    def timeline(self, *, include_history: bool = False) -> None:
        """The timeline, archived actions too on request."""
        params: dict[str, Any] = {"include_history": True} if include_history else {}
        self.query("list_timeline", **params)

    def slices(self) -> None:
        """The file slices that a snapshot reads."""
        self.query("list_file_slices")

    def info(self) -> None:
        """What the table says of itself."""
        self.query("table_info")

    def state(self) -> None:
        """Rows, timeline and file slices: all that a step can have changed."""
        self.snapshot()
        self.timeline()
        self.slices()

    def _configs(self, configs: Configs | None) -> dict[str, str]:
        return {**self.shape.configs, **(configs or {})}

    def _rows(self, rows: Iterable[Row] | None, schema: Schema | None) -> Rows | None:
        return None if rows is None else rows_of(rows, schema or self.schema)

    def _step(self, draft: Draft) -> Done:
        self.drafts.append(draft)
        return Done(len(self.drafts), self.shape.has_completion_times)


def rows_of(rows: Iterable[Row], schema: Schema) -> Rows:
    """Rows as an input has them, with the columns of a schema."""
    columns = tuple((one.name, one.type) for one in schema.fields)
    return Rows(columns, tuple(tuple(row.get(name) for name, _ in columns) for row in rows))


def only(schema: Schema, names: Sequence[str]) -> Schema:
    """Some columns of a schema, in its order."""
    return Schema(tuple(one for one in schema.fields if one.name in names))
