"""The adapter: it answers the questions of the suite, and says `unsupported` to what it has no function for."""

from hudi_adapter import Adapter, Implementation, Request, Unsupported, ValueAnswer, serve

from timeline import TABLE_VERSIONS, list_instants


def list_timeline(request: Request) -> ValueAnswer:
    """The actions of a table's timeline."""
    if request.params.get("include_history"):
        raise Unsupported("history")
    return ValueAnswer(list_instants(request.table))


ADAPTER = Adapter(
    Implementation("template-adapter", "0.1.0"),
    features=tuple(f"table-version-{version}" for version in TABLE_VERSIONS),
    operations={"list_timeline": list_timeline},
)

if __name__ == "__main__":
    serve(ADAPTER)
