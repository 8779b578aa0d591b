"""What an exception of Apache Hudi says, in the protocol's reasons, where its text is clear."""

import re

from hudi_adapter.protocol import Rejected, Unsupported
from hudi_adapter.reasons import Reason

# In order; the first whose pattern is found anywhere in the chain of causes.
_SIGNS: tuple[tuple[str, Reason], ...] = (
    ("HoodieWriteConflictException|HoodieEarlyConflictDetectionException", Reason.WRITE_CONFLICT),
    ("HoodieClusteringUpdateException", Reason.WRITE_CONFLICT),
    ("HoodieKeyException", Reason.KEY_MISSING),
    ("HoodieLockException", Reason.LOCK_UNAVAILABLE),
    ("HoodieIncrementalPathNotFoundException", Reason.RANGE_NOT_RETAINED),
    ("TableNotFoundException", Reason.NOT_A_TABLE),
    ("PATH_NOT_FOUND", Reason.NOT_A_TABLE),
    ("Unknown (?:table )?versionCode|Unsupported table version code", Reason.TABLE_VERSION_UNSUPPORTED),
    ("No enum constant .*HoodieTableVersion", Reason.TABLE_VERSION_UNSUPPORTED),
    ("hoodie.properties.*[Cc]hecksum|[Cc]hecksum.*hoodie.properties", Reason.CHECKSUM_MISMATCH),
    ("hoodie.properties file seems invalid", Reason.CHECKSUM_MISMATCH),  # what validateChecksum's caller throws
    ("No enum constant org.apache.hudi.common.model.HoodieTableType", Reason.PROPERTIES_INVALID),
    ("Could not load Hoodie properties", Reason.NOT_A_TABLE),  # neither the file nor its backup
    ("property .* missing", Reason.PROPERTIES_INVALID),
    ("Unsupported query instant time|DateTimeParseException|Unparse?able date", Reason.INSTANT_MALFORMED),
    ("Failed to parse instant|Invalid action|unknown action", Reason.INSTANT_MALFORMED),
    ("[Uu]nable to read commit metadata|Failed to parse.*commit metadata", Reason.TIMELINE_FILE_CORRUPT),
    ("HoodieIOException: (?:Failed|Unable) to (?:fetch|read).*(?:instant|commit)", Reason.TIMELINE_FILE_CORRUPT),
    ("Error deserializing manifest entries", Reason.TIMELINE_FILE_CORRUPT),
    (r"Failed to read footer for parquet \S+/history/", Reason.TIMELINE_FILE_CORRUPT),
    ("is not a Parquet file|Could not read footer", Reason.BASE_FILE_CORRUPT),
    ("can not read class org.apache.parquet.format", Reason.BASE_FILE_CORRUPT),
    (r"FileNotFoundException.*\.parquet|\.parquet.*does not exist", Reason.BASE_FILE_MISSING),
    ("Cleaner cleaned up the timestamp of interest", Reason.RANGE_NOT_RETAINED),
    ("Can not get the previous version of the base file|Fail to parse HoodieWriteStat", Reason.RANGE_NOT_RETAINED),
    (r"FileNotFoundException.*\.cdc|\.cdc.*does not exist", Reason.LOG_FILE_MISSING),
    ("It isn't a CDC hudi table|when meta fields are disabled", Reason.CONFIG_INVALID),
    ("Exception when reading log file", Reason.LOG_CONTENT_CORRUPT),
    ("AvroRuntimeException|AvroTypeException|EOFException|Malformed data", Reason.LOG_CONTENT_CORRUPT),
    ("HoodieRecordMerger|Missing hoodie.payload.record.schema", Reason.MERGER_UNKNOWN),  # the second: a statement's
    ("No enum constant .*PartialUpdateMode", Reason.PROPERTIES_INVALID),
)
# What a write or a service says of a setting that it does not take; a reader that says so speaks of a table.
_SETTING_SIGNS: tuple[tuple[str, Reason], ...] = (
    (
        r"No enum constant org\.apache\.hudi\.common\.model\.(?:WriteConcurrencyMode|\w*Clean\w*Policy)",
        Reason.CONFIG_INVALID,
    ),
    (r"is not supported with non-blocking|Non-blocking concurrency control requires", Reason.CONFIG_INVALID),
    (
        r"MissingSchemaFieldException|Cannot find column ID for column path|cannot find col id for given column",
        Reason.SCHEMA_INCOMPATIBLE,
    ),
    (r"Compaction is not supported on a CopyOnWrite table", Reason.CONFIG_INVALID),
    (r"Consistent hashing bucket index does not work with COW table", Reason.CONFIG_INVALID),
    (r"NumberFormatException: For input string|Config conflict\(key", Reason.CONFIG_INVALID),
    (r"Either of inline \w+ \(\S+ or schedule inline", Reason.CONFIG_INVALID),
    (r"record merge strategy ID [^\n]*conflict with each other", Reason.CONFIG_INVALID),
    (r"Configured record merge mode [^\n]*is inconsistent with", Reason.CONFIG_INVALID),
    (
        r"Failed to savepoint[\s\S]*FileAlreadyExistsException|Failed to create file \S*\.savepoint\.",
        Reason.CONFIG_INVALID,
    ),
    (r"Could not savepoint non-existing|No savepoint for instantTime", Reason.INSTANT_NOT_FOUND),
    (r"/\d+(?:\.\w+)?\.inflight does not exist", Reason.WRITE_CONFLICT),  # what was to complete was undone meanwhile
)
_LIMIT = 4000


def refusal(text: str, *, writes: bool = False) -> Rejected | Unsupported | None:
    """The refusal that an exception's full text amounts to; None when it says nothing we know.

    `writes`: who was asked would write, and may have been given what is impossible.
    """
    if re.search(r"Illegal Parquet type: INT(?:32|64) \(TIME", text):
        return Unsupported("time")  # Spark 3.5 has no type for a time of day
    if re.search(r"No valid (?:\w+ )?merger implementation set", text):
        return Unsupported("merge-custom")  # it has none but its own, whatever id the table names
    if re.search(r"1\.x release only supports table version greater than version 6", text):
        return Unsupported("upgrade-from-before-6")  # by way of a release before 1.0, it says
    if "_hoodie.record.key.gen.partition.id not found" in text:
        return Unsupported("generated-keys")  # its data source makes them, not the client that writes here
    for pattern, reason in (*_SIGNS, *(_SETTING_SIGNS if writes else ())):
        if re.search(pattern, text):
            return Rejected(reason, first_line(text), native=text[:_LIMIT])
    return None


def first_line(text: str) -> str:
    """The first line of a text that is not blank."""
    return next((line.strip() for line in text.splitlines() if line.strip()), "")
