"""How dates are spelt in keys of indexes, and read from formatted texts."""

import datetime as dt

import pytest
from hudi_model.indexes import secondary_key
from hudi_model.partitions import read_moment
from hudi_model.rejection import Unsupported


def test_a_date_in_a_secondary_key_is_its_days_since_1970():
    """As tables of Apache Hudi have it: 2024-01-15 is 19737."""
    assert secondary_key(dt.date(2024, 1, 15), "TXN-001") == "19737$TXN-001"


@pytest.mark.parametrize(
    ("text", "pattern", "hour"),
    [
        ("2024-01-15T10:30:00.000Z", "%Y-%m-%d'T'%H:%M:%S.SSSZ", 10),
        ("2024-01-15T10:30:00+0200", "%Y-%m-%d'T'%H:%M:%SZ", 8),
        ("2024-01-15 10", "%Y-%m-%d %H", 10),
    ],
)
def test_a_formatted_moment_is_read_with_its_literals_fractions_and_zone(text: str, pattern: str, hour: int):
    found = read_moment(text, pattern).astimezone(dt.UTC)
    assert (found.date(), found.hour) == (dt.date(2024, 1, 15), hour)


def test_other_formats_are_reported_as_not_built():
    with pytest.raises(Unsupported):
        read_moment("15/01/2024", "%Y-%m-%d")
