"""Bytes that were valid once, and values of every kind the format stores."""

import datetime as dt
from decimal import Decimal

from hypothesis import strategies as st

TEXT = st.text(st.characters(codec="utf-8"), max_size=12)
INSTANTS = st.from_regex(r"20[0-9]{12}([0-9]{3})?", fullmatch=True)
TOKENS = st.builds("{}-{}-{}".format, *[st.integers(0, 10**6)] * 3)
FILE_IDS = st.from_regex(r"[0-9a-f]{8}-[0-9a-f]{4}-[0-9]", fullmatch=True)
LONGS = st.integers(-(2**63), 2**63 - 1)
LOCAL_VALUES = st.datetimes(dt.datetime.fromisoformat("1900-01-01"), dt.datetime.fromisoformat("2200-01-01"))
INSTANT_VALUES = LOCAL_VALUES.map(lambda value: value.replace(tzinfo=dt.timezone.utc))


def decimals(precision: int, scale: int):
    limit = 10**precision - 1
    return st.integers(-limit, limit).map(lambda unscaled: Decimal(unscaled).scaleb(-scale))


@st.composite
def damaged(draw: st.DrawFn, *valid: bytes) -> bytes:
    """One of the valid texts with bytes changed, cut out, doubled, put in, or cut off; or bytes of any kind."""
    data = bytearray(draw(st.sampled_from(valid)))
    for _ in range(draw(st.integers(1, 4))):
        at = draw(st.integers(0, len(data)))
        kind = draw(st.sampled_from(("set", "cut", "insert", "truncate", "double", "number", "replace")))
        if kind == "set" and at < len(data):
            data[at] = draw(st.integers(0, 255))
        elif kind == "cut":
            del data[at : at + draw(st.integers(1, 16))]
        elif kind == "insert":
            data[at:at] = draw(st.binary(max_size=16))
        elif kind == "truncate":
            del data[at:]
        elif kind == "double":
            data[at:at] = data[at : at + 64]
        elif kind == "number":
            width = draw(st.sampled_from((4, 8)))
            number = draw(st.sampled_from((-1, 0, 1, 2**31 - 1, -(2**31), 46)))
            data[at : at + width] = number.to_bytes(width, "big", signed=True)
        elif kind == "replace":
            data = bytearray(draw(st.binary(max_size=64)))
    return bytes(data)
