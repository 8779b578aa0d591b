"""A table whose timeline is lost, rebuilt from the names of its files."""

import pytest
from hudi_model.effects import perform
from hudi_model.queries import read_snapshot
from hudi_model.rejection import Reason, Rejection
from hudi_model.tables import Table
from hudi_model_tools.recovery import recover, unknown
from hypothesis import given
from hypothesis import strategies as st
from model_states import SCHEMA, at, base, data, deletes, log, properties, rows

ONE, TWO = ("a", 1, "one"), ("a", 2, "two")


def lost(version: int = 9) -> Table:
    """A base file and a log of a later write, and no timeline."""
    later = log(1 if version < 8 else 2, data(2, TWO))
    return Table(properties(version), None, (), (base(1, ONE),), (later,))


@pytest.mark.parametrize("version", [6, 8, 9])
def test_a_rebuilt_table_answers_again(version: int) -> None:
    """Before, it was refused; in version 6 the log's block records the second write."""
    bare = lost(version)
    with pytest.raises(Rejection) as refused:
        read_snapshot(bare)
    assert refused.value.reason is Reason.TIMELINE_FILE_CORRUPT
    assert rows(read_snapshot(perform(bare, recover(bare, SCHEMA)))) == [TWO]


@given(st.integers(2, 12), st.sampled_from([6, 9]))
def test_while_it_is_rebuilt_a_table_shows_nothing_wrong(cut: int, version: int) -> None:
    """The newest write is put first, and what is older counts."""
    bare = lost(version)
    stopped = perform(bare, recover(bare, SCHEMA)[:cut])
    assert rows(read_snapshot(stopped)) == [TWO]
    assert rows(read_snapshot(perform(stopped, recover(stopped, SCHEMA)))) == [TWO]


def test_a_delete_in_a_log_is_found_too() -> None:
    """A block of tombstones records a write like any other."""
    bare = Table(properties(6), None, (), (base(1, ONE),), (log(1, deletes(2, ("a", 0))),))
    assert rows(read_snapshot(perform(bare, recover(bare, SCHEMA)))) == []


def test_a_write_that_never_completed_comes_to_light() -> None:
    """Names do not tell, and the list of what is unknown says so."""
    bare = Table(properties(), None, (), (base(1, ONE), base(2, TWO, file_id="f2")), ())
    assert rows(read_snapshot(perform(bare, recover(bare, SCHEMA)))) == [ONE, TWO]
    assert any("which writes had completed" in one for one in unknown())
    assert at(2) in {one.entry.requested for one in recover(bare, SCHEMA) if hasattr(one, "entry")}
