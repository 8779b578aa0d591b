"""The one error: it says where, why, by which rule and what to do, and travels between processes."""

import errno
import os
import pickle

import pytest
from hudi_format.errors import FormatError, Reason, UnsupportedFormat, refusing


def test_the_message_names_reason_file_offset_clause_and_what_to_do():
    error = FormatError(Reason.LOG_CONTENT_CORRUPT, "LF-013", "p/.f.log.1", 12, "no Avro", "roll back")
    assert str(error) == "LOG_CONTENT_CORRUPT in p/.f.log.1 at byte 12: no Avro (LF-013); roll back"


def test_without_an_offset_the_message_names_the_file_alone():
    assert str(FormatError(Reason.NOT_A_TABLE, "SL-001", "x", None, "m", "h")) == "NOT_A_TABLE in x: m (SL-001); h"


@pytest.mark.parametrize(
    "error", [FormatError(Reason.NOT_A_TABLE, "SL-001", "f", 3, "m", "h"), UnsupportedFormat("log-hfile", "f")]
)
def test_errors_survive_the_way_back_from_a_task(error: Exception):
    again = pickle.loads(pickle.dumps(error))  # noqa: S301 - what executors do with what a task raised
    assert (type(again), again.args, str(again), vars(again)) == (type(error), error.args, str(error), vars(error))


def test_a_librarys_complaint_becomes_one_line():
    with pytest.raises(FormatError) as caught, refusing(Reason.BASE_FILE_CORRUPT, "BF-004", "f", None, "no Parquet"):
        raise ValueError("two\n  lines")
    assert caught.value.message == "no Parquet: ValueError two lines"


def test_a_programming_error_that_is_no_bad_input_is_not_hidden():
    with pytest.raises(KeyboardInterrupt), refusing(Reason.BASE_FILE_CORRUPT, "BF-004", "f", None, "x"):
        raise KeyboardInterrupt


@pytest.mark.parametrize("code", [errno.EIO, errno.EMFILE, errno.EACCES])
def test_what_the_system_answers_is_no_damage(code: int):
    """A read that fails leaves the file as sound as it was."""
    with pytest.raises(OSError, match=os.strerror(code)), refusing(Reason.BASE_FILE_CORRUPT, "BF-004", "f", None, "x"):
        raise OSError(code, os.strerror(code))
    with pytest.raises(FormatError), refusing(Reason.BASE_FILE_CORRUPT, "BF-004", "f", None, "x"):
        raise OSError("Deserializing page header failed.")
