"""Filters as SQL text, translated into the filter grammar; what that does not have is refused, never approximated.

condition     OR of ANDs of [NOT] comparisons, with parentheses
comparison    term = | == | != | <> | < | <= | > | >= literal, or the two the other way round
              term [NOT] IN (literal, ...), term [NOT] BETWEEN literal AND literal, term IS [NOT] NULL
term          column, `column`, function(column, literal ...)
literal       1, -2.5, 1e3, 'text' (a quote is doubled), TRUE, FALSE, NULL, DATE '...', TIMESTAMP '...', X'00FF'
"""

import datetime as dt
import re
from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any, Final, NoReturn

import pyarrow as pa
import pyarrow.types as kinds
from hudi_format.compat import datetime_of

from hudi_spark.errors import HudiError, Reason
from hudi_spark.filters.functions import FUNCTIONS, compared_type
from hudi_spark.filters.grammar import And, Column, Comparison, Filter, Not, Or, no_column

_TOKENS: Final = re.compile(
    r"\s*(?:(?P<number>\d+(?:\.\d*)?(?:[eE][+-]?\d+)?(?!\w)|\.\d+(?:[eE][+-]?\d+)?(?!\w))|(?P<word>[^\W\d]\w*)"
    r"|`(?P<quoted>(?:[^`]|``)+)`|'(?P<text>(?:[^'\\]|'')*)'|(?P<sign><=|>=|<>|!=|==|[=<>(),+-]))"
)
_FLIPPED: Final[Mapping[str, str]] = {"=": "=", "!=": "!=", "<": ">", "<=": ">=", ">": "<", ">=": "<="}
_SIGNS: Final[Mapping[str, str]] = {"==": "=", "<>": "!=", **{one: one for one in _FLIPPED}}
_WORDS: Final = frozenset(
    {"AND", "OR", "NOT", "IN", "IS", "NULL", "BETWEEN", "TRUE", "FALSE", "LIKE", "RLIKE", "ILIKE"}
)
_MAX_DEPTH: Final = 64
_HINT: Final = (
    "SQL filters have AND, OR, NOT, parentheses, = != < <= > >=, [NOT] IN, [NOT] BETWEEN, IS [NOT] NULL, functions of "
    "a column, numbers, 'text', TRUE, FALSE, NULL, DATE '', TIMESTAMP '' and X''; filter the rows read by the rest"
)


@dataclass(frozen=True, slots=True)
class _Token:
    """`kind`: number, word, quoted (a name in backticks), text, sign, or end; `at`: its place in the text."""

    kind: str
    value: str
    at: int

    def is_word(self, *words: str) -> bool:
        return self.kind == "word" and self.value.upper() in words

    def is_sign(self, *signs: str) -> bool:
        return self.kind == "sign" and self.value in signs


@dataclass(frozen=True, slots=True)
class _Literal:
    """A value as it was written; `kind`: number, text, boolean, null, date, timestamp or binary."""

    kind: str
    value: str
    at: int


def parse_sql(text: str, schema: pa.Schema) -> Filter:
    """The filter that SQL text stands for, its values as the columns' types have them.

    Raises:
        HudiError: CONFIG_INVALID for text outside of this part of SQL, an unknown column, a value of another type.

    Clauses: RD-012.

    """
    parser = _Parser(_tokens(text), schema)
    found = parser.either(0)
    parser.end()
    return found


def _tokens(text: str) -> list[_Token]:
    found, at = [], 0
    stop = len(text.rstrip())
    while at < stop:
        match = _TOKENS.match(text, at)
        if match is None:
            _refuse(f"{text[at:].strip():.20} at character {at + 1} is not understood")
        kind = str(match.lastgroup)
        found.append(_Token(kind, match[kind], match.start(kind) + 1))
        at = match.end()
    return [*found, _Token("end", "", stop + 1)]


@dataclass
class _Parser:
    """Walks tokens once, from left to right."""

    tokens: list[_Token]
    schema: pa.Schema
    place: int = field(default=0)

    def either(self, depth: int) -> Filter:
        parts = [self._all(depth)]
        while self._take_word("OR"):
            parts.append(self._all(depth))
        return parts[0] if len(parts) == 1 else Or(tuple(parts))

    def end(self) -> None:
        if self._next.kind != "end":
            self._expected("AND, OR or the end")

    def _all(self, depth: int) -> Filter:
        parts = [self._one(depth)]
        while self._take_word("AND"):
            parts.append(self._one(depth))
        return parts[0] if len(parts) == 1 else And(tuple(parts))

    def _one(self, depth: int) -> Filter:
        if depth > _MAX_DEPTH:
            _refuse(f"a filter nests at most {_MAX_DEPTH} deep")
        if self._take_word("NOT"):
            return Not(self._one(depth + 1))
        if self._take_sign("("):
            found = self.either(depth + 1)
            self._need_sign(")")
            return found
        return self._comparison()

    def _comparison(self) -> Filter:
        first = self._literal()
        if first is not None:
            sign = _FLIPPED[self._sign()]
            column = self._column()
            return Comparison(column, sign, self._form(first, column))
        column = self._column()
        if self._take_word("IS"):
            negated = self._take_word("NOT")
            self._need_word("NULL")
            return Comparison(column, "is_not_null" if negated else "is_null")
        negated = self._take_word("NOT")
        if self._next.is_word("IN", "BETWEEN"):
            found = self._in(column) if self._take_word("IN") else self._between(column)
            return Not(found) if negated else found
        if negated:
            self._expected("IN or BETWEEN")
        sign = self._sign()
        return Comparison(column, sign, self._form(self._need_literal(), column))

    def _in(self, column: Column) -> Filter:
        self._need_sign("(")
        forms = [self._form(self._need_literal(), column)]
        while self._take_sign(","):
            forms.append(self._form(self._need_literal(), column))
        self._need_sign(")")
        return Comparison(column, "in", forms)

    def _between(self, column: Column) -> Filter:
        self._need_word("BETWEEN")
        least = self._form(self._need_literal(), column)
        self._need_word("AND")
        most = self._form(self._need_literal(), column)
        return And((Comparison(column, ">=", least), Comparison(column, "<=", most)))

    def _column(self) -> Column:
        token = self._next
        if token.kind != "quoted" and (token.kind != "word" or token.value.upper() in _WORDS):
            self._expected("a column")
        self.place += 1
        if token.kind == "word" and self._take_sign("("):
            return self._function(token)
        return Column(self._known(token))

    def _function(self, token: _Token) -> Column:
        name = token.value.lower()
        if name not in FUNCTIONS:
            _refuse(f"{token.value} at character {token.at} is no function: {' '.join(sorted(FUNCTIONS))}")
        column = self._column().name
        arguments: list[str | int] = []
        while self._take_sign(","):
            one = self._need_literal()
            whole = one.kind == "number" and one.value.lstrip("-").isdigit()
            if not whole and one.kind != "text":
                _refuse(f"character {one.at}: {name} takes whole numbers and texts after the column")
            arguments.append(int(one.value) if whole else one.value)
        self._need_sign(")")
        return Column(column, name, tuple(arguments))

    def _known(self, token: _Token) -> str:
        name = token.value.replace("``", "`") if token.kind == "quoted" else token.value
        if name not in self.schema.names:
            _refuse(no_column(name, self.schema.names, f" (character {token.at})"))
        return name

    def _literal(self) -> _Literal | None:
        token, following = self._next, self.tokens[min(self.place + 1, len(self.tokens) - 1)]
        if token.is_sign("-", "+") and following.kind == "number":
            self.place += 2
            return _Literal("number", f"{'-' if token.value == '-' else ''}{following.value}", token.at)
        if token.kind in ("number", "text"):
            self.place += 1
            return _Literal(token.kind, token.value.replace("''", "'"), token.at)
        if token.is_word("TRUE", "FALSE", "NULL"):
            self.place += 1
            return _Literal("null" if token.is_word("NULL") else "boolean", token.value.upper(), token.at)
        if token.is_word("DATE", "TIMESTAMP", "X") and following.kind == "text":
            self.place += 2
            kind = "binary" if token.is_word("X") else token.value.lower()
            return _Literal(kind, following.value, token.at)
        return None

    def _need_literal(self) -> _Literal:
        found = self._literal()
        return self._expected("a value") if found is None else found

    def _form(self, literal: _Literal, column: Column) -> Any:
        return _form(literal, column, self.schema)

    def _sign(self) -> str:
        if not self._next.is_sign(*_SIGNS):
            self._expected("a comparison")
        self.place += 1
        return _SIGNS[self.tokens[self.place - 1].value]

    @property
    def _next(self) -> _Token:
        return self.tokens[self.place]

    def _take_word(self, word: str) -> bool:
        taken = self._next.is_word(word)
        self.place += taken
        return taken

    def _take_sign(self, sign: str) -> bool:
        taken = self._next.is_sign(sign)
        self.place += taken
        return taken

    def _need_word(self, word: str) -> None:
        if not self._take_word(word):
            self._expected(word)

    def _need_sign(self, sign: str) -> None:
        if not self._take_sign(sign):
            self._expected(sign)

    def _expected(self, what: str) -> NoReturn:
        found = self._next
        shown = "the end" if found.kind == "end" else repr(found.value)
        _refuse(f"character {found.at}: {shown:.60} stands where {what} is expected")


def _form(literal: _Literal, column: Column, schema: pa.Schema) -> Any:
    """A literal as the filter grammar writes values of the compared type."""
    if literal.kind == "null":
        return None
    kind = compared_type(column, schema)
    if kinds.is_dictionary(kind):
        kind = kind.value_type
    number = kinds.is_integer(kind) or kinds.is_floating(kind) or kinds.is_decimal(kind)
    binary = kinds.is_binary(kind) or kinds.is_large_binary(kind) or kinds.is_fixed_size_binary(kind)
    timed = kinds.is_timestamp(kind)
    taken = {
        "number": number,
        "boolean": kinds.is_boolean(kind),
        "text": not number and not binary and not kinds.is_boolean(kind) and not kinds.is_nested(kind),
        "date": kinds.is_date(kind),
        "timestamp": timed,
        "binary": binary,
    }
    if not taken[literal.kind]:
        _refuse(f"character {literal.at}: {literal.value!r:.60} is no value for {column.name}, which is {kind}")
    if literal.kind == "boolean":
        return literal.value == "TRUE"
    if kinds.is_integer(kind) and literal.value.lstrip("-").isdigit():
        return int(literal.value)
    if kinds.is_integer(kind):
        _refuse(f"character {literal.at}: {literal.value} is no whole number, as {column.name} is {kind}")
    return _timestamp(literal, column, kind) if timed else literal.value


def _timestamp(literal: _Literal, column: Column, kind: pa.TimestampType) -> str:
    try:
        moment = datetime_of(literal.value)
    except ValueError:
        _refuse(
            f"character {literal.at}: {literal.value!r:.60} is no time: '2025-01-31 12:00:00', an instant with zone"
        )
    if (moment.tzinfo is None) != (kind.tz is None):
        wrong = "needs a time zone: '2025-01-31 12:00:00Z'" if kind.tz else "takes no time zone"
        _refuse(f"character {literal.at}: {column.name}, which is {kind}, {wrong}")
    if moment.tzinfo is None:
        return moment.isoformat("T", "microseconds")
    return moment.astimezone(dt.timezone.utc).replace(tzinfo=None).isoformat("T", "microseconds") + "Z"


def _refuse(message: str) -> NoReturn:
    raise HudiError(Reason.CONFIG_INVALID, "RD-012", f"the filter cannot be used: {message}", hint=_HINT)
