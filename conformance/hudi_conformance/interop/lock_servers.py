"""Servers of locks for histories and tests: a process on a port; the ZooKeeper in pyspark's jars."""

import os
import signal
import socket
import subprocess
import time
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from dataclasses import dataclass
from pathlib import Path

from hudi_adapter.java import java_home

_SERVER = "org.apache.zookeeper.server.quorum.QuorumPeerMain"


@dataclass(slots=True)
class Server:
    """A server on this computer that can be stopped and let go on."""

    port: int
    process: "subprocess.Popen[bytes]"

    @property
    def url(self) -> str:
        """Where it listens."""
        return f"http://127.0.0.1:{self.port}"

    @contextmanager
    def silent(self) -> Iterator[None]:
        """Inside, it takes connections and answers nothing."""
        self.process.send_signal(signal.SIGSTOP)
        # The signal is on its way: until the process has stopped it may answer once more.
        os.waitid(os.P_PID, self.process.pid, os.WSTOPPED)
        try:
            yield
        finally:
            self.process.send_signal(signal.SIGCONT)


@contextmanager
def zookeeper(folder: Path) -> Iterator[Server]:
    """The real server under the embedded Java; it ends with the block. Sessions end within two ticks of 100 ms."""
    folder.mkdir(parents=True, exist_ok=True)
    port = free_port()
    settings = {"dataDir": folder, "clientPort": port, "clientPortAddress": "127.0.0.1", "tickTime": 100}
    settings |= {"admin.enableServer": "false", "maxClientCnxns": 0, "maxSessionTimeout": 60000}
    config = folder / "zoo.cfg"
    config.write_text("".join(f"{key}={value}\n" for key, value in settings.items()))
    command = [str(java_home() / "bin" / "java"), "-Xmx128m", "-cp", f"{spark_jars()}/*", _SERVER, str(config)]
    with running(command, folder / "log", port) as server:
        # A session that is requested before the server serves is answered by nobody.
        while b"Mode" not in _response(port, b"srvr"):
            time.sleep(0.05)
        yield server


def _response(port: int, words: bytes) -> bytes:
    with (
        socket.create_connection(("127.0.0.1", port), timeout=1) as connection,
        suppress(TimeoutError, ConnectionError),
    ):
        connection.sendall(words)
        return connection.recv(4096)
    return b""


def spark_jars() -> Path:
    """The folder of Spark's jars, with those of ZooKeeper and Py4J."""
    import pyspark  # noqa: PLC0415 - pyspark is optional

    return Path(pyspark.__file__).parent / "jars"


@contextmanager
def running(command: list[str], log: Path, port: int) -> Iterator[Server]:
    """A server, once it listens to its port; it ends with the block."""
    with log.open("wb") as output:
        process = subprocess.Popen(command, stdout=output, stderr=subprocess.STDOUT, env={**os.environ})
        try:
            _wait(port, process, log)
            yield Server(port, process)
        finally:
            process.kill()
            process.wait()


def _wait(port: int, process: "subprocess.Popen[bytes]", log: Path) -> None:
    deadline = time.monotonic() + 60
    while time.monotonic() < deadline:
        with socket.socket() as connection:
            if connection.connect_ex(("127.0.0.1", port)) == 0:
                return
        assert process.poll() is None, log.read_text()
        time.sleep(0.05)
    raise AssertionError(log.read_text())


def free_port() -> int:
    """A port that nobody listens on now."""
    with socket.socket() as listening:
        listening.bind(("127.0.0.1", 0))
        port: int = listening.getsockname()[1]
        return port
