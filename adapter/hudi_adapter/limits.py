"""How large an answer may be: beyond these limits it is not read."""

MESSAGE_BYTES = 8 << 20
"""Of a line of JSON on stdout."""
MESSAGE_DEPTH = 100
"""Of arrays and objects in each other."""
FILE_BYTES = 32 << 20
"""Of a rows file."""
DECODED_BYTES = 64 << 20
"""Of the same rows when nothing is compressed, and no value stands for several rows."""
VALUES = 1_000_000
"""In all rows and columns; an element of a list counts as one."""
COLUMNS = 10_000
LOG_BYTES = 16 << 20
"""Of stderr that are kept; the rest is read and dropped."""
