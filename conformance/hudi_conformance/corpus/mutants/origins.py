"""Rules of what files leave out, broken."""

from urllib.parse import unquote

from hudi_model.configuration import Configuration
from hudi_model.files import Damaged, Field, Schema, Value
from hudi_model.origins import PathValues
from hudi_model.partitions import DEFAULT_PARTITION, ENCODED

from hudi_conformance.corpus.mutants.registry import Function, mutant


@mutant("dropped-columns-are-null", "DM-022", "Dropped partition columns are null.", "origins.path_values")
def _dropped_columns_are_null(original: Function) -> Function:
    def nulls(partition: str, columns: Schema, configuration: Configuration) -> PathValues:
        found: PathValues = original(partition, columns, configuration)
        return found if isinstance(found, Damaged) else dict.fromkeys(found)

    return nulls


@mutant("dropped-columns-are-text", "DM-022", "Dropped partition columns are text.", "origins.path_columns")
def _dropped_columns_are_text(original: Function) -> Function:
    return lambda configuration, _: original(configuration, None)


@mutant("dropped-columns-encoded", "DM-022 DM-032", "Values of paths stay encoded.", "origins.path_value")
def _dropped_columns_encoded(original: Function) -> Function:
    def encoded(folder: str, column: Field, configuration: Configuration) -> Value:
        decoded: Value = original(folder, column, configuration)
        kept = configuration.properties.get(ENCODED) == "true" and isinstance(decoded, str)
        return folder.removeprefix(f"{column.name}=") if kept else decoded

    return encoded


@mutant("dropped-columns-decoded-twice", "DM-022 DM-032", "Values of paths are decoded twice.", "origins.path_value")
def _dropped_columns_decoded_twice(original: Function) -> Function:
    return lambda folder, column, configuration: original(unquote(folder), column, configuration)


@mutant("default-partition-is-text", "DM-022", "The default partition is a text.", "origins.path_value")
def _default_partition_is_text(original: Function) -> Function:
    def text(folder: str, column: Field, configuration: Configuration) -> Value:
        found: Value = original(folder, column, configuration)
        return DEFAULT_PARTITION if found is None else found

    return text


@mutant("named-folders-are-one-each", "DM-022", "Each column has one folder in hive style.", "origins.path_folders")
def _named_folders_are_one_each(_: Function) -> Function:
    return lambda partition, names, _configuration: partition.split("/") if names[1:] else [partition]


@mutant("slashed-days-are-cut", "DM-022", "A column has the first folder of its path alone.", "origins.path_folders")
def _slashed_days_are_cut(original: Function) -> Function:
    return lambda partition, names, stated: (
        original(partition, names, stated) if names[1:] else partition.split("/")[:1]
    )


@mutant("moments-of-paths-encoded", "DM-022", "Moments in paths are decoded only where all is.", "origins.is_encoded")
def _moments_of_paths_encoded(_: Function) -> Function:
    return lambda _column, configuration: configuration.properties.get(ENCODED) == "true"
