"""CRC-32C (Castagnoli), which Python's library lacks."""

_POLYNOMIAL = 0x82F63B78
_WORD = 0xFFFFFFFF


def crc32c(data: bytes) -> int:
    """The CRC-32C of the bytes."""
    value = _WORD
    for byte in data:
        value = value >> 8 ^ _TABLE[(value ^ byte) & 0xFF]
    return value ^ _WORD


def _table_entry(byte: int) -> int:
    value = byte
    for _ in range(8):
        value = value >> 1 ^ (_POLYNOMIAL if value & 1 else 0)
    return value


_TABLE = tuple(_table_entry(byte) for byte in range(256))
