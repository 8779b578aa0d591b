"""Where the files of a table lie: a local file system, or an object store."""

from hudi_format.storage.interface import FileStatus, Storage
from hudi_format.storage.local import LocalStorage
from hudi_format.storage.object_store import ObjectStorage
from hudi_format.storage.opening import is_local, open_storage
from hudi_format.storage.read_only import ReadOnlyStorage
from hudi_format.storage.threads import in_threads

__all__ = [
    "FileStatus",
    "LocalStorage",
    "ObjectStorage",
    "ReadOnlyStorage",
    "Storage",
    "in_threads",
    "is_local",
    "open_storage",
]
