"""S3 as moto plays it, one request at a time, with the conditions that moto does not know."""

import sys
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from hudi_conformance.interop.lock_servers import free_port, running
from object_endpoint import BUCKET, Endpoint

_ONE_AT_A_TIME = """
from moto.server import DomainDispatcherApplication, create_backend_app
from werkzeug.serving import run_simple
from werkzeug.test import Client

moto = DomainDispatcherApplication(create_backend_app)

def conditional(environ, start_response):
    wanted = environ.pop("HTTP_IF_MATCH", None)
    if wanted and environ["REQUEST_METHOD"] == "PUT":
        headers = {{"Host": environ["HTTP_HOST"], "Authorization": environ["HTTP_AUTHORIZATION"]}}
        found = Client(moto).head(environ["PATH_INFO"], headers=headers)
        if found.status_code != 200 or found.headers["ETag"] != wanted:
            start_response("412 Precondition Failed", [("Content-Type", "application/xml")])
            return [b"<Error><Code>PreconditionFailed</Code></Error>"]
    return moto(environ, start_response)

run_simple("127.0.0.1", {port}, conditional, threaded=False)
"""


@contextmanager
def aws(folder: Path) -> Iterator[Endpoint]:
    """What moto plays of S3, one request at a time, with one bucket; it ends with the block.

    moto looks whether a condition holds and then writes: with a thread for each request, as its own command runs it,
    two clients that race both put an object "if absent". It does not know the condition `If-Match`: that is added here.
    """
    folder.mkdir(parents=True, exist_ok=True)
    port = free_port()
    command = [sys.executable, "-c", _ONE_AT_A_TIME.format(port=port)]
    with running(command, folder / "moto.log", port) as server:
        found = Endpoint(server.url)
        found.send("PUT", BUCKET)
        yield found
