import pickle

import pytest
from hudi_adapter import reasons as protocol
from hudi_spark import HudiError, UnsupportedFeature
from hudi_spark.errors import Reason, from_text, to_text

ERROR = HudiError("LOG_CONTENT_CORRUPT", "LF-013", "no record", "north/.f1.log", 12, "restore it")


@pytest.mark.parametrize("error", [ERROR, UnsupportedFeature("log-hfile", "north/.f1.log")])
def test_an_error_survives_the_way_from_a_task_to_the_driver(error: HudiError | UnsupportedFeature):
    """As text in a stack trace, and pickled."""
    trace = f"Traceback:\n  RuntimeError: {to_text(error)}\n\tat org.apache.spark.Task"
    for copy in (from_text(trace), pickle.loads(pickle.dumps(error))):  # noqa: S301 - pickled one line above
        assert type(copy) is type(error)
        assert str(copy) == str(error)


def test_other_text_holds_no_error():
    assert from_text("java.lang.OutOfMemoryError") is None


def test_the_text_of_an_error_names_everything_that_helps():
    for part in ("LOG_CONTENT_CORRUPT", "LF-013", "no record", "north/.f1.log", "12", "restore it"):
        assert part in str(ERROR)


def test_an_error_about_a_path_that_is_no_text_can_be_printed():
    error = HudiError("NOT_A_TABLE", "SL-001", "no table", "north/\udcff.f1.log")
    error.table = "/rides/\ud800"

    assert str(error).encode() == rb"NOT_A_TABLE in /rides/\ud800/north/\udcff.f1.log: no table (SL-001)"


def test_the_reasons_are_those_of_the_protocol():
    """The engine has its own list, as production does not import the protocol."""
    assert [(one.name, one.value) for one in Reason] == [(one.name, one.value) for one in protocol.Reason]
