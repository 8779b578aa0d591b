"""The delete lists of versions 1 and 2: Java arrays in Kryo's form, read without making any class.

array      class, mark, count + 1, then per element class, mark, fields in the order of their names
class      1, name number, and the name when it is new; or the number of a built-in class plus 2; 0 for null
mark       1 new object; 0 null; n + 2 the n-th object again
text       ASCII of 2 to 63 letters with bit 7 set in the last; else count + 1 with bit 7 set in front, modified UTF-8
version 1  HoodieKey[];  version 2  DeleteRecord[] {hoodieKey {partitionPath, recordKey}, orderingVal}
"""

import struct
from collections.abc import Callable, Mapping
from datetime import date, datetime, timedelta, timezone
from decimal import Decimal
from typing import Any, Final

_MODEL: Final = "org.apache.hudi.common.model."
_KEY: Final = f"{_MODEL}HoodieKey"
_RECORD: Final = f"{_MODEL}DeleteRecord"
_ARRAYS: Final[Mapping[int, str]] = {1: f"[L{_KEY};", 2: f"[L{_RECORD};"}

_NULL, _BY_NAME, _FIRST_BUILT_IN = 0, 1, 2
_NEW_OBJECT, _FIRST_OBJECT = 1, 2
_LONGEST_CLASS_NAME: Final = 200
_LONGEST_NUMBER: Final = 4096
_LARGEST_SCALE: Final = 10_000
_EPOCH: Final = datetime(1970, 1, 1, tzinfo=timezone.utc)

# key, partition, ordering value, and the name of its wrapper in version 3
Delete = tuple[str | None, str | None, Any, str | None]


def read_kryo_deletes(payload: bytes, version: int) -> list[Delete]:
    """The deletes of a payload of version 1 or 2; in version 1 none has an ordering value, which is Int 0.

    Raises:
        ValueError: anything that Hudi does not write into such a list.

    Clauses: LF-008.

    """
    reader = _KryoReader(payload)
    deletes = _array(reader, version)
    if reader.left:
        raise ValueError(f"{reader.left} bytes stand after the array")
    return deletes


class _KryoReader:
    """A position in the payload, the class names and the objects met so far."""

    def __init__(self, data: bytes) -> None:
        self._data = data
        self._at = 0
        self._names: list[str] = []
        self._objects: list[Any] = []

    @property
    def left(self) -> int:
        return len(self._data) - self._at

    def take(self, count: int) -> bytes:
        if count > self.left:
            raise ValueError(f"{count} bytes are declared at {self._at}, {self.left} are left")
        self._at += count
        return self._data[self._at - count : self._at]

    def byte(self) -> int:
        return self.take(1)[0]

    def varint(self, most_bytes: int = 5) -> int:
        """An unsigned number of at most `most_bytes`, seven bits a byte; the ninth byte has eight."""
        value = 0
        for index in range(most_bytes):
            byte = self.byte()
            if index == 8:
                return value | byte << 56
            value |= (byte & 0x7F) << 7 * index
            if byte < 0x80:
                return value
        raise ValueError(f"a number at {self._at} does not end")

    def zigzag(self, most_bytes: int = 5) -> int:
        value = self.varint(most_bytes)
        return value >> 1 ^ -(value & 1)

    def class_name(self) -> str | int | None:
        """The name of the next object's class, the number of a built-in one, or None for null."""
        tag = self.varint()
        if tag == _NULL:
            return None
        if tag != _BY_NAME:
            return tag - _FIRST_BUILT_IN
        number = self.varint()
        if number == len(self._names):
            name = self.text() or ""
            if len(name) > _LONGEST_CLASS_NAME:
                raise ValueError("the name of a class does not end")
            self._names.append(name)
        if number >= len(self._names):
            raise ValueError(f"class name {number} was not given")
        return self._names[number]

    def object(self, read: Callable[[], Any], kind: type) -> Any:
        """The next object after its mark: null, an earlier one of the same kind, or what `read` reads."""
        mark = self.varint()
        if mark == _NULL:
            return None
        if mark == _NEW_OBJECT:
            slot = len(self._objects)
            self._objects.append(None)
            self._objects[slot] = read()
            return self._objects[slot]
        number = mark - _FIRST_OBJECT
        if number >= len(self._objects) or not isinstance(self._objects[number], kind):
            raise ValueError(f"object {number} is no {kind.__name__} that came before")
        return self._objects[number]

    def text(self) -> str | None:
        first = self.byte()
        if first < 0x80:
            return self._ascii()
        count = self._text_length(first)
        return None if count == 0 else self._units(count - 1)

    def _ascii(self) -> str:
        begin = self._at - 1
        while self.byte() < 0x80:
            pass
        return (self._data[begin : self._at - 1] + bytes((self._data[self._at - 1] & 0x7F,))).decode("ascii")

    def _text_length(self, first: int) -> int:
        low = first & 0x3F
        return low | self.varint(4) << 6 if first & 0x40 else low

    def _units(self, count: int) -> str:
        """Text of so many UTF-16 units, each in one to three bytes."""
        if count > self.left:
            raise ValueError(f"a text of {count} units is declared at {self._at}, {self.left} bytes are left")
        units = bytearray()
        for _ in range(count):
            units += self._unit().to_bytes(2, "big")
        return units.decode("utf-16-be")

    def _unit(self) -> int:
        first = self.byte()
        if first < 0x80:
            return first
        if first >> 5 == 0b110:
            return (first & 0x1F) << 6 | self.byte() & 0x3F
        if first >> 4 == 0b1110:
            second, third = self.take(2)
            return (first & 0x0F) << 12 | (second & 0x3F) << 6 | third & 0x3F
        raise ValueError(f"a letter at {self._at} does not decode")


def _array(reader: _KryoReader, version: int) -> list[Delete]:
    name = reader.class_name()
    if name != _ARRAYS[version]:
        raise ValueError(f"the list is {name!r}, not {_ARRAYS[version]}")
    deletes = reader.object(lambda: _elements(reader, version), list)
    if deletes is None:
        raise ValueError("the list is null")
    return list(deletes)


def _elements(reader: _KryoReader, version: int) -> list[Delete]:
    count = reader.varint() - 1
    if not 0 <= count <= reader.left:
        raise ValueError(f"{count} deletes are declared, {reader.left} bytes are left")
    return [_delete_of_key(reader) if version == 1 else _delete(reader) for _ in range(count)]


def _delete_of_key(reader: _KryoReader) -> Delete:
    partition, key = _key(reader)
    return key, partition, 0, "Int"


def _delete(reader: _KryoReader) -> Delete:
    name = reader.class_name()
    if name != _RECORD:
        raise ValueError(f"a delete is {name!r}")
    delete: Delete = _required(reader.object(lambda: _delete_fields(reader), tuple), "a delete")
    return delete


def _delete_fields(reader: _KryoReader) -> Delete:
    partition, key = _key(reader)
    ordering, kind = _ordering(reader)
    return key, partition, ordering, kind


def _key(reader: _KryoReader) -> tuple[str | None, str | None]:
    """Partition path and record key."""
    name = reader.class_name()
    if name != _KEY:
        raise ValueError(f"a key is {name!r}")
    key: tuple[str | None, str | None] = _required(
        reader.object(lambda: (_string(reader), _string(reader)), tuple), "a key"
    )
    return key


def _string(reader: _KryoReader) -> str | None:
    text: str | None = reader.object(reader.text, str)
    return text


def _required(value: Any, what: str) -> Any:
    if value is None:
        raise ValueError(f"{what} is null")
    return value


def _ordering(reader: _KryoReader) -> tuple[Any, str | None]:
    """The ordering value and the name of its wrapper in version 3."""
    name = reader.class_name()
    if name is None:
        return None, None
    if name in _VALUES:
        kind, read = _VALUES[name]
        return read(reader), kind
    if name not in _OBJECTS:
        raise ValueError(f"an ordering value is of class {name!r}")
    kind, python_type, read = _OBJECTS[name]
    return _required(reader.object(lambda: read(reader), python_type), "an ordering value"), kind


def _boolean(reader: _KryoReader) -> bool:
    value = reader.byte()
    if value > 1:
        raise ValueError(f"a boolean is {value}")
    return value == 1


def _fixed(form: str) -> Callable[[_KryoReader], Any]:
    packed = struct.Struct(form)
    return lambda reader: packed.unpack(reader.take(packed.size))[0]


def _decimal(reader: _KryoReader) -> Decimal:
    length = reader.varint() - 1
    if not 1 <= length <= _LONGEST_NUMBER:
        raise ValueError(f"a decimal has {length} bytes")
    unscaled = int.from_bytes(reader.take(length), "big", signed=True)
    scale = reader.zigzag()
    if abs(scale) > _LARGEST_SCALE:
        raise ValueError(f"a decimal has {scale} digits of fraction")
    sign, digits, _ = Decimal(unscaled).as_tuple()
    return Decimal((sign, digits, -scale))


def _instant_of_milliseconds(reader: _KryoReader) -> datetime:
    return _EPOCH + timedelta(milliseconds=_signed(reader.varint(9)))


def _instant(reader: _KryoReader) -> datetime:
    seconds, nanoseconds = _signed(reader.varint(9)), reader.varint()
    return _EPOCH + timedelta(seconds=seconds, microseconds=nanoseconds // 1000)


def _sql_date(reader: _KryoReader) -> date:
    return _instant_of_milliseconds(reader).date()


def _local_date(reader: _KryoReader) -> date:
    year, month, day = reader.varint(), reader.byte(), reader.byte()
    return date(year, month, day)


def _utf8(reader: _KryoReader) -> str:
    length = reader.varint() - 1
    if length < 0:
        raise ValueError("a text is null")
    return reader.take(length).decode()


def _utf8_by_fields(reader: _KryoReader) -> str:
    """The form before 0.13: bytes, hash, length, and the text if Java had made it already."""
    raw = _required(reader.object(lambda: reader.take(max(reader.varint() - 1, 0)), bytes), "a text")
    reader.zigzag()
    length = reader.zigzag()
    if not 0 <= length <= len(raw):
        raise ValueError(f"a text of {length} bytes lies in {len(raw)}")
    _string(reader)
    return bytes(raw[:length]).decode()


def _signed(value: int) -> int:
    return value - (1 << 64) if value >> 63 else value


# Classes by number or name: the wrapper of version 3, and how the value is read. Numbers have no mark, objects have.
_VALUES: Final[Mapping[str | int, tuple[str, Callable[[_KryoReader], Any]]]] = {
    0: ("Int", lambda reader: reader.zigzag()),
    2: ("Float", _fixed(">f")),
    3: ("Boolean", _boolean),
    4: ("Int", _fixed(">b")),
    6: ("Int", _fixed(">h")),
    7: ("Long", lambda reader: reader.zigzag(9)),
    8: ("Double", _fixed(">d")),
}
_UTF8: Final = ("String", str, _utf8)
_OBJECTS: Final[Mapping[str | int, tuple[str, type, Callable[[_KryoReader], Any]]]] = {
    1: ("String", str, lambda reader: _required(reader.text(), "a text")),
    # Registered after the classes of the release: 10 in 0.12, 27 in 0.13, 28 in 0.15.
    10: _UTF8,
    27: _UTF8,
    28: _UTF8,
    "org.apache.avro.util.Utf8": ("String", str, _utf8_by_fields),
    "java.math.BigDecimal": ("Decimal", Decimal, _decimal),
    "java.sql.Date": ("Date", date, _sql_date),
    "java.sql.Timestamp": ("TimestampMicros", datetime, _instant_of_milliseconds),
    "java.time.Instant": ("TimestampMicros", datetime, _instant),
    "java.time.LocalDate": ("Date", date, _local_date),
}
