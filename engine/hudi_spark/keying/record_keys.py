"""Record keys of incoming rows: made of key fields, or generated.

Clauses: DM-001, DM-002, DM-030.
"""

from functools import reduce
from typing import Final

import pyarrow as pa
import pyarrow.compute as pc
import pyarrow.types as kinds
from hudi_adapter.reasons import Reason

from hudi_spark.errors import HudiError
from hudi_spark.flows.flow import TaskIdentity
from hudi_spark.keying.kinds import GeneratorKind
from hudi_spark.merging.fields import column_of, field_values
from hudi_spark.merging.keys import KeyRule
from hudi_spark.options.resolving import Options
from hudi_spark.state.configuration import TableConfiguration

_BARE_OPTION: Final = "hoodie.write.complex.keygen.new.encoding"
_FIRST_NAMED_VERSION: Final = 9


def made_keys(rule: KeyRule, rows: pa.Table) -> pa.ChunkedArray:
    """The keys of rows by a rule.

    Raises:
        HudiError: KEY_MISSING when rows lack a key field, or some have nothing in all of them.

    Clauses: DM-001, DM-002.

    """
    absent = [name for name in rule.fields if column_of(name, rows.schema) is None]
    if absent:
        raise _missing(f"the rows have no column {', '.join(absent)}, which the record key is made of")
    without = pc.sum(reduce(pc.and_, (_is_nothing(field_values(rows, name)) for name in rule.fields))).as_py()
    if without:
        named = ", ".join(rule.fields)
        raise _missing(f"{without} of {len(rows)} rows have no value in {named}, which the record key is made of")
    return rule.keys(rows)


def brought_keys(keys: pa.ChunkedArray) -> pa.ChunkedArray:
    """The keys that rows of a table with generated keys got when they were first written.

    Raises:
        HudiError: KEY_MISSING when some have none.

    Clauses: DM-001.

    """
    without = pc.sum(_is_nothing(keys)).as_py()
    if without:
        raise _missing(f"{without} of {len(keys)} rows have no _hoodie_record_key: each got one with its first write")
    return keys


def _is_nothing(column: pa.ChunkedArray) -> pa.ChunkedArray:
    """Where a value is null or an empty text."""
    kind = column.type
    if kinds.is_string(kind) or kinds.is_large_string(kind) or kinds.is_binary(kind):
        return pc.equal(pc.fill_null(pc.binary_length(column), 0), 0)
    return pc.is_null(column)


def generated_keys(rows: int, identity: TaskIdentity, instant: str) -> pa.ChunkedArray:
    """Keys of rows without key fields: `<instant>_<number of the part>_<row in the part>`.

    Clauses: DM-030.
    """
    numbers = pa.array(range(rows), pa.int64()).cast(pa.string())
    return pa.chunked_array([pc.binary_join_element_wise(f"{instant}_{identity.partition}_", numbers, "")])


def names_parts(
    kind: GeneratorKind, configuration: TableConfiguration, options: Options, existing: str | None = None
) -> bool:
    """Whether keys are written `field:value`: those of several fields are, and some complex ones of a single field.

    A complex generator of one field keeps to what the table has: `existing` is any key of it. In an empty table the
    option decides, and without it the table version: Apache Hudi writes the bare value into tables of versions 6 and 8
    (0.15.0, 1.0.2) and `field:value` into those of version 9. A table without meta fields has no key to look at, so
    that its version alone decides.

    Clauses: DM-002, DM-030.
    """
    fields = configuration.record_key
    if kind != "COMPLEX" or len(fields) != 1:
        return len(fields) > 1 or kind == "GLOBAL_DELETE"
    if existing is not None:
        return is_named(existing, fields[0])
    told = configuration.version < _FIRST_NAMED_VERSION and configuration.populates_meta_fields
    if told and options.given(_BARE_OPTION):
        return not options.flag(_BARE_OPTION)
    return configuration.version >= _FIRST_NAMED_VERSION


def is_named(key: str, field: str) -> bool:
    """Whether a stored key of a single field is written `field:value`.

    Clauses: DM-002.
    """
    return key.startswith(f"{field}:")


def _missing(message: str) -> HudiError:
    hint = "fill the field or filter such rows out; a table without record key fields generates its keys"
    return HudiError(Reason.KEY_MISSING, "DM-001", message, hint=hint)
