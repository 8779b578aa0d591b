"""How much may come out of a file: bounds that grow with the bytes that were read, so that few bytes stay little.

Whoever can write into a table can pack much into little. No file of a writer comes near these.
"""

MEBIBYTE = 1024**2


def columns_limit(size: int) -> int:
    """Bytes of columns that a file of `size` bytes may unpack to; DEFLATE alone packs 1032 to one."""
    return 1024 * MEBIBYTE + 1100 * size


def values_limit(size: int) -> int:
    """Bytes that become Python values, which are many times their size."""
    return 16 * MEBIBYTE + 64 * size


def rows_limit(size: int) -> int:
    """Rows that become Python values, or are read at once."""
    return 1_000_000 + 64 * size
