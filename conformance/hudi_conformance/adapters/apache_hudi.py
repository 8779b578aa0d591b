"""Apache Hudi itself as an adapter: `python -m hudi_conformance.adapters.apache_hudi [--version 1.1.1]`.

One Spark session with one released bundle. Rows go from Spark to Parquet without passing through Python.
A whole write goes through the data source (`apache_hudi_writing`). A write in phases (`begin_write`, `stage_write`,
`commit_write`, `abort_write`; several at once, each with a client of its own: `apache_hudi_phases`) and the table
services (`schedule`, `execute`, `service` with archive, clean, rollback, savepoint, delete_savepoint, restore, upgrade,
downgrade: `apache_hudi_services`) go through its write client. Instants are the release's own: it takes no `now`.
"""

import argparse
import shutil
import tempfile
from collections.abc import Callable, Mapping
from functools import partial
from pathlib import Path
from typing import Any

from hudi_adapter.filters import parse_filter
from hudi_adapter.protocol import (
    Adapter,
    Answer,
    Implementation,
    Operation,
    Request,
    RowsAnswer,
    Unsupported,
    ValueAnswer,
)
from hudi_adapter.rows import Rows
from hudi_adapter.serving import serve

from hudi_conformance.adapters import apache_hudi_services, apache_hudi_writing
from hudi_conformance.adapters.apache_hudi_phases import OpenWrites
from hudi_conformance.adapters.apache_hudi_releases import features_of, newer, too_new
from hudi_conformance.apache import hudi_views, notices
from hudi_conformance.apache.bundles import bundle_jar
from hudi_conformance.apache.java_errors import refusal
from hudi_conformance.apache.session import start_session
from hudi_conformance.apache.spark_filters import spark_condition
from hudi_conformance.runner.case_values import WRITING_OPS


class ApacheHudi:
    """The session, and one method for each op."""

    def __init__(self, version: str) -> None:
        self.version = version
        self._first_session: Any = None
        self._scratch = Path()
        self._open_writes = OpenWrites(version)

    def start(self) -> None:
        """Start Java with the bundle."""
        self._scratch = Path(tempfile.mkdtemp(prefix="hudi-peer-"))
        self._first_session = start_session(bundle_jar(self.version), self._scratch)

    def stop(self) -> None:
        """Stop Java, whatever state it is in, and remove what it left."""
        if self._first_session is not None:
            self._open_writes.close()
            self._first_session.stop()
            shutil.rmtree(self._scratch, ignore_errors=True)

    @property
    def session(self) -> Any:
        """A session of its own for each request: a query may leave settings behind that change the next."""
        return self._first_session.newSession()

    def read_snapshot(self, request: Request) -> Answer:
        """Rows of the latest completed state."""
        return self._read(request, {})

    def read_as_of(self, request: Request) -> Answer:
        """Rows as of an instant."""
        return self._read(request, {"as.of.instant": str(request.params["instant"])})

    def read_optimized(self, request: Request) -> Answer:
        """Rows of base files only."""
        return self._read(request, {"hoodie.datasource.query.type": "read_optimized", **_as_of(request.params)})

    def read_unmerged(self, request: Request) -> Answer:
        """Every row of base files and logs as it was written."""
        return self._read(request, {"hoodie.datasource.merge.type": "skip_merge", **_as_of(request.params)})

    def read_incremental(self, request: Request) -> Answer:
        """Rows changed after `begin` and up to `end`; a range without rows has the table's columns all the same."""
        return self._read(request, _range_options(request.params))

    def read_changes(self, request: Request) -> Answer:
        """The change feed after `begin` and up to `end`; images come as JSON texts and are read back."""
        options = {**_range_options(request.params), "hoodie.datasource.query.incremental.format": "cdc"}
        images = hudi_views.columns_as_ddl(self.session, request.table)
        return self._read(request, options, lambda frame: _with_images(frame, images))

    def list_timeline(self, request: Request) -> Answer:
        """The timeline, archived actions too if requested."""
        whole = bool(request.params.get("include_history", False))
        return ValueAnswer(hudi_views.timeline(self.session, request.table, include_history=whole))

    def list_file_slices(self, request: Request) -> Answer:
        """The slices a snapshot reads."""
        as_of = request.params.get("as_of")
        until = None if as_of is None else str(as_of)
        return ValueAnswer(hudi_views.file_slices(self.session, request.table, until, self.version))

    def table_info(self, request: Request) -> Answer:
        """What the properties say."""
        return ValueAnswer(hudi_views.table_info(self.session, request.table, self.version))

    def create_table(self, request: Request) -> Answer:
        """A new table."""
        if refused := newer(request.params["table_version"], self.version):
            raise refused
        return apache_hudi_writing.create_table(self.session, self.version, request)

    def write(self, request: Request) -> Answer:
        """One write."""
        return apache_hudi_writing.write(self.session, self.version, request)

    def begin_write(self, request: Request) -> Answer:
        """The first phase of a write."""
        return self._open_writes.begin(self.session, request)

    def stage_write(self, request: Request) -> Answer:
        """The second phase."""
        return self._open_writes.stage(self.session, request)

    def commit_write(self, request: Request) -> Answer:
        """The third phase."""
        return self._open_writes.commit(self.session, request)

    def abort_write(self, request: Request) -> Answer:
        """The end of a write that is not wanted any more."""
        return self._open_writes.abort(self.session, request)

    def schedule(self, request: Request) -> Answer:
        """A plan of a table service."""
        return apache_hudi_services.schedule(self.session, self.version, request)

    def execute(self, request: Request) -> Answer:
        """A plan carried out."""
        return apache_hudi_services.execute(self.session, self.version, request)

    def service(self, request: Request) -> Answer:
        """A service that plans and runs in one."""
        return apache_hudi_services.service(self.session, self.version, request)

    def _read(
        self, request: Request, options: Mapping[str, str], prepare: Callable[[Any], Any] = lambda frame: frame
    ) -> Answer:
        configs = {str(key): str(value) for key, value in (request.params.get("configs") or {}).items()}
        options = {**apache_hudi_writing.evolution(request.table), **configs, **options}
        reader = self.session.read.format("hudi").options(**options)
        frame = _selected(prepare(reader.load(str(request.table))), request.params)
        target = request.out_dir / "spark"
        before = notices.log_length(self._scratch)
        if frame.columns:
            frame.coalesce(1).write.parquet(str(target))
            parts = sorted(target.glob("part-*.parquet"))
            if len(parts) != 1:
                raise RuntimeError(f"Spark wrote {len(parts)} files where one was requested")
            rows: str | Rows = str(parts[0].relative_to(request.out_dir))
        else:
            # Spark writes no file without columns.
            rows = Rows((), ((),) * frame.count())
        warnings = notices.corrupt_blocks(notices.log_after(self._scratch, before), request.table)
        return RowsAnswer(rows, warnings)


def _as_of(params: Mapping[str, Any]) -> dict[str, str]:
    return {} if params.get("as_of") is None else {"as.of.instant": str(params["as_of"])}


def _range_options(params: Mapping[str, Any]) -> dict[str, str]:
    begin = str(params.get("begin", ""))
    options = {
        "hoodie.datasource.query.type": "incremental",
        "hoodie.datasource.read.begin.instanttime": "000" if begin in {"0", "earliest"} else begin,
    }
    if params.get("end") is not None:
        options["hoodie.datasource.read.end.instanttime"] = str(params["end"])
    return options


def _with_images(frame: Any, columns: str) -> Any:
    from pyspark.sql.functions import from_json, when  # noqa: PLC0415  only with a session

    # An image that a log leaves empty comes as the text `null`.
    images = {name: when(frame[name] != "null", from_json(frame[name], columns)) for name in ("before", "after")}
    return frame.select(frame["op"], *(images[name].alias(name) for name in images))


def _selected(frame: Any, params: Mapping[str, Any]) -> Any:
    if params.get("filter") is not None:
        frame = frame.where(spark_condition(frame, parse_filter(params["filter"])))
    columns = params.get("columns")
    with_meta = bool(params.get("meta_columns", False))
    names = [name for name in frame.columns if with_meta or not name.startswith("_hoodie_")]
    if columns is not None:
        selected = [name for name in names if name in hudi_views.META_FIELDS] + list(columns)
        names = list(dict.fromkeys(selected))
    return frame.select(*(f"`{name}`" for name in names))


def _guarded(operation: Callable[[Request], Answer], version: str, request: Request) -> Answer:
    from py4j.protocol import Py4JJavaError  # noqa: PLC0415  only with a session
    from pyspark.errors import PySparkException  # noqa: PLC0415

    if "now" in request.params:
        # The clock of releases is that of the machine.
        raise Unsupported("clock")
    try:
        return operation(request)
    except (Py4JJavaError, PySparkException) as error:
        trace = text_of(error)
        causes = [line for line in trace.splitlines() if line.strip() and not line.startswith("\t")]
        found = too_new(request.table, version) or refusal(trace, writes=request.op in WRITING_OPS)
        raise found or RuntimeError(" <- ".join(causes)) from error


def text_of(error: Exception) -> str:
    """The messages of an exception and of all its causes, one a line, without the stack frames."""
    java = getattr(error, "java_exception", None)
    if java is None:
        java = getattr(error, "_origin", None)
    lines = []
    while java is not None:
        lines.append(str(java.toString()))
        java = java.getCause()
    return "\n".join(lines) or str(error)


def adapter(version: str) -> Adapter:
    """The adapter of one released bundle."""
    return adapter_of(ApacheHudi(version))


def adapter_of(peer: ApacheHudi) -> Adapter:
    """The adapter that answers with a session."""
    names = [
        "read_snapshot",
        "read_as_of",
        "read_optimized",
        "read_unmerged",
        "read_incremental",
        "read_changes",
        "list_timeline",
        "list_file_slices",
        "create_table",
        "write",
        "begin_write",
        "stage_write",
        "commit_write",
        "abort_write",
        "schedule",
        "execute",
        "service",
    ]
    # Before 1.0 a table names no merge mode.
    if not peer.version.startswith("0."):
        names.append("table_info")
    operations: dict[str, Operation] = {name: partial(_guarded, getattr(peer, name), peer.version) for name in names}
    who = Implementation("apache-hudi", peer.version, "java")
    return Adapter(who, features_of(peer.version), operations, peer.start, peer.stop)


def main() -> None:
    """Serve until the stop command."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--version", default="1.1.1")
    serve(adapter(parser.parse_args().version))


if __name__ == "__main__":
    main()
