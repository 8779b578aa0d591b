"""Rules of keys and paths that readers need to look values up, broken."""

import datetime as dt
from dataclasses import replace

from hudi_model.configuration import Configuration
from hudi_model.files import Record, Value
from hudi_model.keys import UNIX_EPOCH, composed_key, key_text
from hudi_model.partitions import partition_path
from hudi_model.requests import Write
from hudi_model.tables import View

from hudi_conformance.corpus.mutants.registry import Function, mutant

_ENCODED = "hoodie.datasource.write.partitionpath.urlencode"


@mutant("complex-keys-unnamed", "DM-030", "Keys of one field are spelt as the bare value.", "partitions.key_generator")
def _complex_keys_unnamed(original: Function) -> Function:
    def simple(configuration: Configuration) -> str:
        kind: str = original(configuration)
        return "SIMPLE" if kind == "COMPLEX" else kind

    return simple


@mutant("made-keys-come-again", "DM-001", "Every write numbers its new keys alike.", "tagging.key_to_write")
def _made_keys_come_again(original: Function) -> Function:
    def numbered(view: View, write: Write, row: Record, place: int) -> str:
        key: str = original(view, write, row, place)
        return key.removeprefix(write.requested)

    return numbered


@mutant("paths-unencoded", "DM-032", "Values stand in paths as they are.", "partitions.folder")
def _paths_unencoded(original: Function) -> Function:
    def plain(value: Value, kind: str, configuration: Configuration) -> str:
        properties = {**configuration.properties, _ENCODED: "false"}
        found: str = original(value, kind, replace(configuration, properties=properties))
        return found

    return plain


@mutant("nulls-in-keys-unnamed", "DM-002", "A null part of a key is the empty text.", "keys.key_part")
def _nulls_unnamed(original: Function) -> Function:
    return lambda value: "" if value is None else original(value)


@mutant("empty-texts-in-keys-unnamed", "DM-002", "An empty part of a key stays empty.", "keys.key_part")
def _empty_texts_unnamed(original: Function) -> Function:
    return lambda value: value if value == "" else original(value)


@mutant("empty-keys-are-keys", "DM-001", "An empty text is a key like any other.", "keys.composed_key")
def _empty_keys_are_keys(original: Function) -> Function:
    def lenient(record: Record, fields: tuple[str, ...], where: str) -> str:
        if any(record.values.get(name) == "" for name in fields):
            return ",".join(f"{name}:{key_text(record.values.get(name) or '')}" for name in fields)
        key: str = original(record, fields, where)
        return key

    return lenient


@mutant("keys-are-made-anew", "MF-012", "A stored row has the key that its columns give.", "keys.key_of")
def _keys_are_made_anew(_: Function) -> Function:
    def anew(record: Record, configuration: Configuration, where: str) -> str:
        return composed_key(record, configuration.record_key, where)

    return anew


@mutant("backslashes-make-folders", "DM-031", "A backslash in a partition value is a slash.", "partitions.folder")
def _backslashes_make_folders(original: Function) -> Function:
    def parted(value: Value, kind: str, configuration: Configuration) -> str:
        found: str = original(value, kind, configuration)
        return found.replace("\\", "/")

    return parted


@mutant("rows-lead-anywhere", "DM-031 SL-007", "A row's partition may be any path.", "partitions.own_path")
def _rows_lead_anywhere(_: Function) -> Function:
    return partition_path


@mutant("zones-of-partitions-ignored", "DM-033", "All partition folders are of UTC.", "partitions.zone_named")
def _zones_of_partitions_ignored(_: Function) -> Function:
    return lambda _name: dt.timezone.utc


@mutant("first-format-only", "DM-033", "Only the first format of texts counts.", "partitions.read_moment")
def _first_format_only(original: Function) -> Function:
    return lambda text, forms, zone: original(text, list(forms)[:1], zone)


def _without(original: Function, name: str) -> Function:
    def answer(configuration: Configuration, setting: str) -> str:
        found: str = original(configuration, setting)
        return "" if setting == name else found

    return answer


@mutant("scalars-are-seconds", "DM-033", "A scalar counts seconds, whatever its unit.", "partitions.timed")
def _scalars_are_seconds(original: Function) -> Function:
    return _without(original, "timestamp.scalar.time.unit")


@mutant("every-number-counts-milliseconds", "DM-033", "Numbers count milliseconds.", "partitions.moment_of_value")
def _every_number_counts_milliseconds(original: Function) -> Function:
    def answer(value: Value, zone: dt.tzinfo | None, configuration: Configuration) -> dt.datetime:
        found: dt.datetime = original(value, zone, configuration)
        return UNIX_EPOCH + dt.timedelta(milliseconds=value) if isinstance(value, int) else found

    return answer


@mutant("null-is-1970", "DM-033", "Null is the beginning of 1970.", "partitions.moment_of_value")
def _null_is_1970(original: Function) -> Function:
    def answer(value: Value, zone: dt.tzinfo | None, configuration: Configuration) -> dt.datetime:
        found: dt.datetime = original(value, zone, configuration)
        return UNIX_EPOCH if value is None else found

    return answer
