"""A lock in DynamoDB, in the layout of Amazon's lock client, which Apache Hudi uses.

An item for each lock: `key`, `ownerName`, `leaseDuration` in milliseconds, `recordVersionNumber`, `isReleased`. Whoever
wants a lock that is held watches the record version: one that stays the same for a whole lease is a failed holder's.
The holder writes a new version each third of the lease. No clock is compared with another's.

Clauses: LK-001, LK-002.
"""

import re
import time
import uuid
from collections.abc import Mapping
from contextlib import suppress
from dataclasses import dataclass, field
from typing import Any, Final

import boto3
from botocore.config import Config
from botocore.exceptions import BotoCoreError, ClientError

from hudi_spark.concurrency.heartbeats import parse_process, this_process
from hudi_spark.concurrency.lock_provider import Lease, Renewal, lost, malformed, unavailable

KEY: Final = "key"
_OWNER, _LEASE, _VERSION, _RELEASED = "ownerName", "leaseDuration", "recordVersionNumber", "isReleased"
_FAILURES: Final = (BotoCoreError, ClientError)
_CONDITION: Final = "ConditionalCheckFailedException"
_FEWEST_SECONDS, _MOST_SECONDS = 4.0, 10.0
_MILLISECONDS: Final = re.compile("[0-9]{1,12}")
_HINT: Final = "look at the hoodie.write.lock.dynamodb keys, credentials and network; write again"


@dataclass(frozen=True, slots=True)
class LockTable:
    """The table that holds locks, how it is reached, and how it is made where it is missing; times in seconds."""

    name: str
    region: str
    endpoint: str = ""
    billing: str = "PAY_PER_REQUEST"
    read_capacity: int = 20
    write_capacity: int = 10
    creation_seconds: float = 600
    credentials: Mapping[str, str] = field(default_factory=dict, repr=False)


@dataclass(slots=True)
class DynamoDbLockProvider:
    """One lock of a table of locks."""

    table: LockTable
    key: str
    lease_seconds: float
    leased: bool = True
    _client: Any = field(default=None, repr=False)
    _watched: tuple[str, float] = ("", 0.0)
    _received: bool = False

    @property
    def place(self) -> str:
        """Table and key."""
        return f"dynamodb://{self.table.endpoint or self.table.region}/{self.table.name}/{self.key}"

    @property
    def doubtful(self) -> bool:
        """Whether a holder was found and has not renewed since: its lease may be longer than anybody wants to wait."""
        return bool(self._watched[0]) and not self._received

    def take(self, holder: str, seconds: float) -> Lease | None:
        """The lock.

        Clauses: LK-001, LK-002.
        """
        try:
            client = self._connected(seconds)
            found = client.get_item(TableName=self.table.name, Key=self._key, ConsistentRead=True).get("Item")
            if found is not None and not self._is_free(found):
                return None
            version = str(uuid.uuid4())
            began = time.monotonic()
            if not self._put(client, holder, version, found):
                return None
        except _FAILURES as error:
            raise unavailable(self.place, str(error), _HINT) from None
        return _DynamoDbLease(self, client, holder, version, began)

    def close(self) -> None:
        """Gives back connections."""
        client, self._client = self._client, None
        if client is not None:
            client.close()

    def write(self, client: Any, holder: str, version: str, before: str) -> bool:
        """A new version in place of this holder's own."""
        return self._put(client, holder, version, {_VERSION: {"S": before}})

    def remove(self, client: Any, version: str) -> None:
        """The item goes where it is still this holder's."""
        try:
            client.delete_item(TableName=self.table.name, Key=self._key, **_where(version))
        except ClientError as error:
            if error.response["Error"]["Code"] != _CONDITION:
                raise

    def _is_free(self, item: Mapping[str, Any]) -> bool:
        """Whether a lock was given back, its process has ended, or its version stood still for its whole lease."""
        process = parse_process(str(item.get(_OWNER, {}).get("S", "")).rpartition(" by ")[2])
        if _RELEASED in item or (process is not None and process.has_ended()):
            return True
        version, lease, now = self._text(item, _VERSION), self._text(item, _LEASE), time.monotonic()
        if not _MILLISECONDS.fullmatch(lease):
            raise malformed(self.place, f"its {_LEASE} is {lease[:40]!r}")
        if self._watched[0] != version:
            self._received = bool(self._watched[0])
            self._watched = version, now
        return now - self._watched[1] > int(lease) / 1000

    def _text(self, item: Mapping[str, Any], name: str) -> str:
        """An attribute of an item, no matter who made it."""
        text = item.get(name, {}).get("S")
        if not isinstance(text, str):
            raise malformed(self.place, f"it has no text {name}")
        return text

    def _put(self, client: Any, holder: str, version: str, before: Mapping[str, Any] | None) -> bool:
        item = {
            **self._key,
            _OWNER: {"S": f"{holder} by {this_process()}"},
            _LEASE: {"S": str(int(self.lease_seconds * 1000))},
            _VERSION: {"S": version},
        }
        absent = {"ConditionExpression": "attribute_not_exists(#k)", "ExpressionAttributeNames": {"#k": KEY}}
        try:
            condition = absent if before is None else _where(self._text(before, _VERSION))
            client.put_item(TableName=self.table.name, Item=item, **condition)
        except ClientError as error:
            if error.response["Error"]["Code"] == _CONDITION:
                return False
            raise
        return True

    @property
    def _key(self) -> dict[str, Any]:
        return {KEY: {"S": self.key}}

    def _connected(self, seconds: float) -> Any:
        if self._client is None:
            patience = max(_FEWEST_SECONDS, min(seconds, _MOST_SECONDS))
            config = Config(connect_timeout=patience, read_timeout=patience, retries={"total_max_attempts": 2})
            where = {"endpoint_url": self.table.endpoint} if self.table.endpoint else {}
            arguments = {"region_name": self.table.region, "config": config, **where, **self.table.credentials}
            client: Any = boto3.client("dynamodb", **arguments)
            _make_table(client, self.table)
            self._client = client
        return self._client


@dataclass(slots=True)
class _DynamoDbLease:
    provider: DynamoDbLockProvider
    client: Any
    holder: str
    version: str
    renewed: float
    _renewal: Renewal = field(init=False, repr=False)

    def __post_init__(self) -> None:
        self._renewal = Renewal(self._renew, self.provider.lease_seconds / 3)

    def confirm(self) -> None:
        """By this computer's own clock, against which the lease runs for everybody who watches it."""
        if self._renewal.failed or time.monotonic() - self.renewed >= self.provider.lease_seconds:
            raise lost(self.provider.place, "the lease ended")

    def release(self) -> None:
        self._renewal.stop()
        try:
            self.provider.remove(self.client, self.version)
        except _FAILURES:
            # The lease ends by itself.
            return

    def _renew(self) -> bool:
        version, began = str(uuid.uuid4()), time.monotonic()
        try:
            if not self.provider.write(self.client, self.holder, version, self.version):
                return False
        except _FAILURES:
            # Asked again: the lease still runs for a while.
            return True
        self.version, self.renewed = version, began
        return True


def _where(version: str) -> dict[str, Any]:
    names = {"#k": KEY, "#v": _VERSION}
    condition = "attribute_exists(#k) AND #v = :v"
    values = {":v": {"S": version}}
    substitutions = {"ExpressionAttributeNames": names, "ExpressionAttributeValues": values}
    return {"ConditionExpression": condition, **substitutions}


def _make_table(client: Any, table: LockTable) -> None:
    """The table of locks, where it is missing."""
    try:
        client.describe_table(TableName=table.name)
    except client.exceptions.ResourceNotFoundException:
        capacity = {"ReadCapacityUnits": table.read_capacity, "WriteCapacityUnits": table.write_capacity}
        provisioned = {"ProvisionedThroughput": capacity} if table.billing == "PROVISIONED" else {}
        with suppress(client.exceptions.ResourceInUseException):
            client.create_table(
                TableName=table.name,
                KeySchema=[{"AttributeName": KEY, "KeyType": "HASH"}],
                AttributeDefinitions=[{"AttributeName": KEY, "AttributeType": "S"}],
                BillingMode=table.billing,
                **provisioned,
            )
        pause = 2
        waiter = {"Delay": pause, "MaxAttempts": max(1, int(table.creation_seconds / pause))}
        client.get_waiter("table_exists").wait(TableName=table.name, WaiterConfig=waiter)
