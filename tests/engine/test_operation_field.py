"""Change logs keep a sixth meta field: what was done to a record."""

from pathlib import Path

import pytest
from engine_tables import COLUMNS, TableBuilder, row
from hudi_spark import HudiError, read_arrow

OPERATION = "_hoodie_operation"


def change_log(path: Path) -> TableBuilder:
    """Two stored rows; an update in both its halves, a delete, and an insert in the log."""
    builder = TableBuilder(path, columns=((OPERATION, ["null", "string"]), *COLUMNS))
    builder.commit(1, [builder.base_file(1, [row(key, 10, "stored", **{OPERATION: "I"}) for key in "ab"])])
    done = [("a", "-U"), ("a", "U"), ("b", "D"), ("c", "I")]
    rows = [row(key, 20, f"log {operation}", **{OPERATION: operation}) for key, operation in done]
    builder.commit(10, [builder.log_file(10, [builder.data(10, rows)])])
    return builder


def test_operations_delete_and_are_visible_on_request(tmp_path: Path):
    """The half of an update that holds what was before loses to the half that follows."""
    change_log(tmp_path)
    found = read_arrow(tmp_path, columns=["id", "note", OPERATION]).to_pylist()
    assert sorted(tuple(one.values()) for one in found) == [("a", "log U", "U"), ("c", "log I", "I")]
    assert OPERATION in read_arrow(tmp_path, meta_columns=True).column_names
    assert OPERATION not in read_arrow(tmp_path).column_names


def test_other_tables_have_no_such_column(tmp_path: Path):
    builder = TableBuilder(tmp_path)
    builder.commit(1, [builder.base_file(1, [row("a", 10)])])
    assert OPERATION not in read_arrow(tmp_path, meta_columns=True).column_names
    with pytest.raises(HudiError, match="no column"):
        read_arrow(tmp_path, columns=[OPERATION])
