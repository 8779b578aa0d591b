"""`python -m hudi_spark_adapter`: the adapter of the engine."""

import sys
from importlib.abc import MetaPathFinder

_IN_PROCESS = "--in-process"


class _WithoutPandas(MetaPathFinder):
    """No pandas in this process: pyarrow imports it at the first list that it converts, and nothing here uses it.

    That takes a fifth of a second, in each process that a case ends and the suite starts again.
    """

    def find_spec(self, fullname: str, path: object = None, target: object = None) -> None:
        """Refuses one package; others are found as ever."""
        del path, target
        if fullname == "pandas":
            raise ModuleNotFoundError("the adapter works without pandas", name=fullname)


if __name__ == "__main__":
    if _IN_PROCESS in sys.argv:
        sys.meta_path.insert(0, _WithoutPandas())
    from hudi_spark_adapter.adapter import main

    main()
