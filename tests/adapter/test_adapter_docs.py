"""The pages about the adapter package say what the code does."""

import json
import re
from pathlib import Path

import pytest
from hudi_adapter.arrow_types import arrow_type
from hudi_adapter.logical_types import PRIMITIVES
from hudi_adapter.values import decode_value, encode_value
from hudi_conformance.runner.messages import check_message

DOCS = Path(__file__).resolve().parents[2] / "docs"
ROW = re.compile(r"^\| `([^`]+)` \| `([^`]+)` \| `([^`]+)` \|", re.MULTILINE)
TYPES = ROW.findall((DOCS / "reference" / "logical-types.md").read_text(encoding="utf-8"))
MESSAGE = re.compile(r"^([<>]) (\{.*\})$", re.MULTILINE)


def test_the_table_names_every_type():
    """No type is undocumented."""
    assert {name for name, _, _ in TYPES} >= PRIMITIVES


@pytest.mark.parametrize(("logical", "form", "arrow"), TYPES)
def test_each_row_of_the_table_holds(logical: str, form: str, arrow: str):
    """JSON example and Arrow type are those of the code."""
    parsed = json.loads(form)

    assert encode_value(decode_value(parsed, logical), logical) == parsed
    assert str(arrow_type(logical)).removesuffix(" ('item')") == arrow


def test_the_messages_shown_to_implementers_are_messages():
    """The conversation in the guide follows the schemas."""
    text = (DOCS / "guides" / "implementers.md").read_text(encoding="utf-8")
    conversation = [(side, json.loads(message)) for side, message in MESSAGE.findall(text)]

    for side, message in conversation:
        kind = message["cmd"] if side == ">" else ("answer" if "seq" in message else "started")
        check_message(kind, message)
    assert len(conversation) == 7
