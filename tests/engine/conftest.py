import sys
from collections.abc import Iterator
from typing import Any

import pytest
from apache_peer import Apache
from dynamodb_locks import ACCOUNT
from hudi_conformance.apache.dynamodb_local import missing_dynamodb_local
from hudi_conformance.interop.dynamodb_server import dynamodb
from hudi_conformance.interop.lock_servers import Server
from hudi_conformance.interop.peers.running import missing_bundle, peers_required
from hudi_conformance.runner.resources import suite_root
from hudi_conformance.runner.session import Session


@pytest.fixture(scope="session")
def spark() -> Iterator[Any]:
    """One small Spark session on the embedded Java for all tests that need one."""
    from hudi_spark_adapter.executors import local_session  # noqa: PLC0415 - pyspark only where a test requests it

    session = local_session("engine tests")
    session.sparkContext.setLogLevel("ERROR")
    yield session
    session.stop()


@pytest.fixture(scope="session")
def apache_bundle() -> None:
    """The bundle of Apache Hudi 1.1.1 is here, or the test is skipped."""
    why = missing_bundle(suite_root(), "apache-hudi-1.1.1")
    if why and not peers_required():
        pytest.skip(f"Apache Hudi is not asked: {why}")
    assert not why, why


@pytest.fixture(scope="session")
def apache(apache_bundle: None, tmp_path_factory: pytest.TempPathFactory) -> Iterator[Apache]:
    """Apache Hudi 1.1.1 in a process of its own."""
    command = (sys.executable, "-m", "hudi_conformance.adapters.apache_hudi", "--version", "1.1.1")
    folder = tmp_path_factory.mktemp("apache-hudi")
    with Session(command, folder / "log") as session:
        yield Apache(session, folder)


@pytest.fixture(scope="session")
def dynamodb_local(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Server]:
    """Amazon's own server of DynamoDB for tests."""
    why = missing_dynamodb_local()
    if why and not peers_required():
        pytest.skip(f"DynamoDB is not asked: {why}")
    assert not why, why
    with dynamodb(tmp_path_factory.mktemp("dynamodb")) as server:
        yield server


@pytest.fixture(scope="module")
def dynamodb_server(dynamodb_local: Server) -> Iterator[Server]:
    """The server, and an account that it takes."""
    with pytest.MonkeyPatch.context() as patched:
        for name, value in ACCOUNT.items():
            patched.setenv(name, value)
        yield dynamodb_local
