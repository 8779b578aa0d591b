"""How dates are spelt in keys of indexes, and read from formatted texts."""

import datetime as dt

import pytest
from hudi_model.configuration import Configuration, configure
from hudi_model.files import Value
from hudi_model.indexes import secondary_key
from hudi_model.partitions import date_text, read_moment
from hudi_model.rejection import Reason, Rejection
from model_states import properties


def test_a_date_in_a_secondary_key_is_its_days_since_1970():
    """As tables of Apache Hudi have it: 2024-01-15 is 19737."""
    assert secondary_key(dt.date(2024, 1, 15), "TXN-001") == "19737$TXN-001"


@pytest.mark.parametrize(
    ("text", "pattern", "hour"),
    [
        ("2024-01-15T10:30:00.000Z", "yyyy-MM-dd'T'HH:mm:ss.SSSZ", 10),
        ("2024-01-15T10:30:00+0200", "yyyy-MM-dd'T'HH:mm:ssZ", 8),
        ("2024-01-15 10", "yyyy-MM-dd HH", 10),
    ],
)
def test_a_formatted_moment_is_read_with_its_literals_fractions_and_zone(text: str, pattern: str, hour: int):
    found = read_moment(text, [pattern], None).astimezone(dt.timezone.utc)
    assert (found.date(), found.hour) == (dt.date(2024, 1, 15), hour)


def test_a_text_of_another_format_is_refused():
    with pytest.raises(Rejection) as caught:
        read_moment("15/01/2024", ["yyyy-MM-dd", "yyyyMMdd"], None)

    assert caught.value.reason is Reason.SCHEMA_INCOMPATIBLE


_TIME_BASED = "hoodie.keygen.timebased."


def _settings(**settings: str) -> Configuration:
    stated = {f"{_TIME_BASED}{name.replace('__', '.')}": value for name, value in settings.items()}
    return configure({**properties(), **stated})


@pytest.mark.parametrize(
    ("value", "settings", "text"),
    [
        (1_700_000_000, {"timestamp__type": "UNIX_TIMESTAMP", "timezone": "Asia/Kolkata"}, "2023-11-15 03:43:20"),
        (1_700_000_000_123, {"timestamp__type": "EPOCHMILLISECONDS", "timezone": "GMT-8:00"}, "2023-11-14 14:13:20"),
        (-1, {"timestamp__type": "EPOCHMICROSECONDS"}, "1970-01-01 00:00:00"),
        (19_737, {"timestamp__type": "SCALAR", "timestamp__scalar__time__unit": "days"}, "2024-01-15 00:00:00"),
        (19_737.9, {"timestamp__type": "SCALAR", "timestamp__scalar__time__unit": "DAYS"}, "2024-01-15 00:00:00"),
        (None, {"timestamp__type": "SCALAR"}, "1970-01-01 00:00:01"),
        (None, {"timestamp__type": "DATE_STRING", "timezone": "Asia/Tokyo"}, "1970-01-01 09:00:00"),
        (None, {"timestamp__type": "DATE_STRING", "output__timezone": "GMT-8"}, "1969-12-31 08:00:00"),
        ("2024-01-15 10", {"timestamp__type": "DATE_STRING", "input__timezone": "Asia/Tokyo"}, "2024-01-15 10:00:00"),
        (
            "2024-01-15 10",
            {"timestamp__type": "DATE_STRING", "input__timezone": "Asia/Tokyo", "output__timezone": "UTC"},
            "2024-01-15 01:00:00",
        ),
        ("2024-01-15T10+0200", {"timestamp__type": "MIXED"}, "2024-01-15 10:00:00"),
    ],
)
def test_a_moment_is_spelt_in_the_zone_of_the_output(value: Value, settings: dict[str, str], text: str):
    """Numbers count units since 1970 in UTC; texts are of the input's zone, or of the offset that they state."""
    forms = {"output__dateformat": "yyyy-MM-dd HH:mm:ss", "input__dateformat": "yyyy-MM-dd HH, yyyy-MM-dd'T'HHZ"}

    assert date_text(value, _settings(**forms, **settings)) == text


@pytest.mark.parametrize(
    ("value", "settings", "reason"),
    [
        (1, {"timestamp__type": "FORTNIGHTS"}, Reason.CONFIG_INVALID),
        (1, {"timestamp__type": "UNIX_TIMESTAMP", "timezone": "Moon/North"}, Reason.CONFIG_INVALID),
        ("soon", {"timestamp__type": "UNIX_TIMESTAMP"}, Reason.SCHEMA_INCOMPATIBLE),
        (1, {"timestamp__type": "MIXED"}, Reason.SCHEMA_INCOMPATIBLE),
    ],
)
def test_what_is_no_moment_is_refused(value: Value, settings: dict[str, str], reason: Reason):
    with pytest.raises(Rejection) as caught:
        date_text(value, _settings(output__dateformat="yyyy", input__dateformat="yyyy", **settings))

    assert caught.value.reason is reason
