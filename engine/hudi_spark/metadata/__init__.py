"""The metadata table as writers keep it: one module an index, updated before an action completes."""

from hudi_spark.metadata.column_stats import StatisticsPlan, statistics_plan
from hudi_spark.metadata.file_groups import metadata_groups
from hudi_spark.metadata.index import FinishedWrite, GroupReading, GroupTask, NewIndex, whole_groups
from hudi_spark.metadata.index_actions import ACTION, create_index, drop_index, refuse_unfit
from hudi_spark.metadata.indexes import KINDS, keeping_of, kind_of, wanted_indexes
from hudi_spark.metadata.layout import (
    BUILDING_KEY,
    INDEXING,
    MetadataLayout,
    index_plan,
    indexes_of,
    list_indexes,
    milliseconds_of,
    planned_indexes,
    read_definitions,
    update_properties,
    write_definitions,
)
from hudi_spark.metadata.recording import Opening, delete_index, first_instant
from hudi_spark.metadata.rollbacks import take_back
from hudi_spark.metadata.updates import drop_metadata_table, update_metadata_table
from hudi_spark.metadata.validation import NOT_STORED, Finding, list_differences, validate_metadata_table

__all__ = [
    "ACTION",
    "BUILDING_KEY",
    "INDEXING",
    "KINDS",
    "NOT_STORED",
    "Finding",
    "FinishedWrite",
    "GroupReading",
    "GroupTask",
    "MetadataLayout",
    "NewIndex",
    "Opening",
    "StatisticsPlan",
    "create_index",
    "delete_index",
    "drop_index",
    "drop_metadata_table",
    "first_instant",
    "index_plan",
    "indexes_of",
    "keeping_of",
    "kind_of",
    "list_differences",
    "list_indexes",
    "metadata_groups",
    "milliseconds_of",
    "planned_indexes",
    "read_definitions",
    "refuse_unfit",
    "statistics_plan",
    "take_back",
    "update_metadata_table",
    "update_properties",
    "validate_metadata_table",
    "wanted_indexes",
    "whole_groups",
    "write_definitions",
]
