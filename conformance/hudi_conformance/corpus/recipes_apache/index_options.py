"""Options of Apache Hudi for tables with indexes, shared by recipes of the corpus and of real tables."""

from typing import Final

from hudi_conformance.corpus.recipes_apache.writer import payload

STATISTICS: Final = {
    "hoodie.metadata.index.column.stats.enable": "true",
    "hoodie.metadata.index.partition.stats.enable": "true",
}
BLOOM: Final = {"hoodie.metadata.index.bloom.filter.enable": "true"}
RECORDS: Final = {"hoodie.metadata.record.index.enable": "true"}
# Without these a write of 1.1 takes away what was created by SQL.
CREATED: Final = {
    **RECORDS,
    "hoodie.metadata.index.secondary.enable": "true",
    "hoodie.metadata.index.expression.enable": "true",
}
LOCKED: Final = {
    "hoodie.write.lock.provider": "org.apache.hudi.client.transaction.lock.InProcessLockProvider",
    "hoodie.write.concurrency.mode": "optimistic_concurrency_control",
}
# Indexes of records lose keys where versions are compared by their ordering values.
LATEST_WINS: Final = {
    "hoodie.record.merge.mode": "COMMIT_TIME_ORDERING",
    **payload("OverwriteWithLatestAvroPayload"),
}
