"""Decimals of Avro bytes, read exactly and only as long as decimals get.

The Avro library turns any number of bytes into digits, which takes minutes for a megabyte, and rounds to the
precision of the schema, which changes values silently. Its hook for logical types of other names takes the place.
"""

from decimal import Context, Decimal
from typing import Any, Final

from fastavro.read import LOGICAL_READERS

LOGICAL_TYPE: Final = "hudi-exact-decimal"
# 38 digits take 16 bytes; some writers keep leading bytes of the sign.
MAXIMUM_BYTES: Final = 64

_EXACT = Context(prec=200)


def _read_decimal(data: bytes, writer_schema: Any = None, _: Any = None) -> Decimal:
    if len(data) > MAXIMUM_BYTES:
        raise ValueError(f"a decimal of {len(data)} bytes")
    unscaled = int.from_bytes(data, "big", signed=True)
    return Decimal(unscaled).scaleb(-int(writer_schema.get("scale", 0)), _EXACT)


LOGICAL_READERS[f"bytes-{LOGICAL_TYPE}"] = _read_decimal
LOGICAL_READERS[f"fixed-{LOGICAL_TYPE}"] = _read_decimal
