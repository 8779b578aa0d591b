"""Apache Hudi 1.1.1 for tests of what both do to one table: asked through its adapter, compared with this engine."""

from pathlib import Path
from typing import Any

import pyarrow as pa
import pyarrow.parquet as pq
from hudi_adapter.rows import arrow_of_rows, read_rows
from hudi_conformance.runner.session import Reply, Session
from hudi_spark import read_arrow

_LIMIT_S = 180.0


class Apache:
    """One process for all tests; what it answers lies below `folder`."""

    def __init__(self, session: Session, folder: Path) -> None:
        self._session, self._folder, self._requests = session, folder, 0

    def request(self, op: str, table: Path, given: pa.Table | None = None, **params: Any) -> Any:
        """The answer to one question: a table of rows, or a value. `given`: the rows of a write."""
        self._requests += 1
        out = self._folder / str(self._requests)
        out.mkdir()
        if given is not None:
            pq.write_table(given, out / "given.parquet")
            params["input"] = str(out / "given.parquet")
        response = self._session.request(op, table, params, out, _LIMIT_S)
        assert isinstance(response, Reply), response
        assert "result" in response.message, response.message
        result = response.message["result"]
        return arrow_of_rows(read_rows(out / result["rows_file"])) if "rows_file" in result else result["value"]

    def upsert(self, table: Path, given: pa.Table, **configs: str) -> None:
        """A write of Apache Hudi."""
        self.request("write", table, given, operation="upsert", configs=configs)

    def both(self, table: Path) -> list[list[str]]:
        """What this engine reads, and what Apache Hudi reads."""
        ours = read_arrow(table)
        theirs = self.request("read_snapshot", table).select(ours.column_names)
        return [texts(ours), texts(theirs)]

    def alike(self, table: Path) -> list[str]:
        """What both read."""
        ours, theirs = self.both(table)
        assert theirs == ours
        return ours


def texts(table: pa.Table) -> list[str]:
    """The rows without their meta fields, sorted."""
    own = [name for name in table.column_names if not name.startswith("_hoodie")]
    return sorted(map(repr, table.select(own).to_pylist()))
