"""Locks in DynamoDB, which Amazon's own server for tests keeps."""

from collections.abc import Mapping
from typing import Final

import pytest
from hudi_conformance.interop.lock_servers import Server
from hudi_spark.concurrency.dynamodb_lock import DynamoDbLockProvider, LockTable

TABLE: Final = "hudi_locks"
ACCOUNT: Final[Mapping[str, str]] = {"AWS_ACCESS_KEY_ID": "key", "AWS_SECRET_ACCESS_KEY": "secret"}
DYNAMODB: Final = (pytest.mark.peers, pytest.mark.xdist_group("dynamodb"))
"""The marks of a test that asks the server."""


def dynamodb_options(server: Server, key: str) -> dict[str, str]:
    """The options of a lock."""
    options = {"endpoint_url": server.url, "table": TABLE, "partition_key": key}
    provider = {"hoodie.write.lock.provider": "org.apache.hudi.aws.transaction.lock.DynamoDBBasedLockProvider"}
    return {**provider, **{f"hoodie.write.lock.dynamodb.{name}": value for name, value in options.items()}}


def dynamodb_lock(server: Server, key: str, lease_seconds: float) -> DynamoDbLockProvider:
    """The lock, as one process requests it."""
    return DynamoDbLockProvider(LockTable(TABLE, "us-east-1", server.url), key, lease_seconds)
