"""A counterexample shows what a step changed, not the whole state again."""

import pytest
from hudi_conformance.verification.tla.values import difference, members
from hypothesis import given
from hypothesis import strategies as st

VALUES = st.recursive(
    st.integers().map(str) | st.sampled_from(['"a"', '"b, {c"', "TRUE"]),
    lambda inner: (
        st.lists(inner, min_size=1).map(lambda parts: "{" + ", ".join(parts) + "}")
        | st.lists(inner, min_size=1).map(lambda parts: "<<" + ", ".join(parts) + ">>")
        | st.lists(inner, min_size=1).map(
            lambda parts: "[" + ", ".join(f"f{number} |-> {part}" for number, part in enumerate(parts)) + "]"
        )
    ),
)


@pytest.mark.slow
@given(st.lists(VALUES))
def test_members_are_what_the_set_was_made_of(values: list[str]):
    assert members("{" + ", ".join(values) + "}") == values


@pytest.mark.parametrize(
    ("before", "after", "shown"),
    [
        (None, "3", "3"),
        ("2", "3", "3"),
        ("{}", "{[a |-> 1, b |-> {2}]}", "gains [a |-> 1, b |-> {2}]"),
        ("{1, 2}", "{2, 3}", "gains 3 and loses 1"),
        ('[p |-> "x", q |-> 1]', '[p |-> "x", q |-> 2]', "[.. q |-> 2]"),
        ("<<>>", "<<1>>", "<<1>>"),
    ],
)
def test_only_the_change_is_shown(before: str | None, after: str, shown: str):
    assert difference(before, after) == shown
