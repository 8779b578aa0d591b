"""DynamoDBLocal as a server of locks for histories and tests.

Its own command listens to the whole network and reports its start to Amazon. Here Py4J asks its classes for the same
server, which only this computer reaches and which reports nothing.
"""

from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

from hudi_adapter.java import java_home

from hudi_conformance.apache.dynamodb_local import dynamodb_local
from hudi_conformance.interop.lock_servers import Server, free_port, running, spark_jars


@contextmanager
def dynamodb(folder: Path) -> Iterator[Server]:
    """The server under the embedded Java, with what it stores in memory; it ends with the block.

    Raises:
        BundleUnavailableError: it could not be fetched.

    """
    files, gate = dynamodb_local(), free_port()
    folder.mkdir(parents=True, exist_ok=True)
    (py4j,) = spark_jars().glob("py4j-*.jar")
    options = ("-Xmx128m", "-XX:+UseSerialGC", "-XX:TieredStopAtLevel=1", f"-Dsqlite4java.library.path={files}")
    classes = ("-cp", f"{files}/*:{py4j}", "py4j.GatewayServer", str(gate))
    with running([str(java_home() / "bin" / "java"), *options, *classes], folder / "log", gate) as server:
        yield Server(_listening(gate), server.process)


def _listening(gate: int) -> int:
    """The port of a server made through the gate, which is shut then."""
    from py4j.java_gateway import GatewayParameters, JavaGateway  # noqa: PLC0415 - comes with pyspark, which is optional

    gateway: Any = JavaGateway(gateway_parameters=GatewayParameters(port=gate))
    local, java = gateway.jvm.com.amazonaws.services.dynamodbv2.local.server, gateway.jvm.java
    # In memory, in no folder, one database for all, without delays.
    requests = local.LocalDynamoDBRequestHandler(0, True, None, True, False)
    web = gateway.jvm.org.eclipse.jetty.server.Server(java.net.InetSocketAddress("127.0.0.1", 0))
    web.setHandler(local.LocalDynamoDBServerHandler(requests, None))
    web.start()
    port: int = web.getURI().getPort()
    gateway.shutdown()
    return port
