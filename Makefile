# Every target creates what it needs: only git, make and Python 3.11 are assumed.
PYTHON ?= python3.11
VENV := .venv
RUN := $(VENV)/bin/python
READY := $(VENV)/.ready
CLI := $(VENV)/bin/hudi-conformance
# Cases that kill an adapter start it again: without compiled modules each start compiles them all.
export PYTHONDONTWRITEBYTECODE :=
ADAPTERS ?= engine-in-process engine-spark
# What is slow is asked one case of each kind here, and everything by `make soak`.
SMOKE_SAMPLE ?= $(filter engine-spark,$(ADAPTERS))
# Who writes and who reads in build/pages/writers-and-readers.md.
WRITERS ?= model engine-in-process engine-spark apache-hudi-0.15.0 apache-hudi-1.0.2 apache-hudi-1.1.1 apache-hudi-1.2.0
READERS ?= model engine-in-process apache-hudi-0.15.0 apache-hudi-1.0.2 apache-hudi-1.1.1 apache-hudi-1.2.0 hudi-rs daft

# Servers of object stores that tests start: SeaweedFS takes Go some minutes.
STORES ?= azurite-blob weed
SEAWEEDFS := github.com/seaweedfs/seaweedfs/weed@v0.0.0-20261109003541-7506e5f91cd6
AZURITE := azurite@3

.PHONY: env conformance test properties packages changelog templates browser crashes check format golden pages docs pictures specs peers real stores mixed-writers mutation spark4 soak bench clean

conformance: env  ## run the suite against the included engine; build/report/index.html
	$(MEMORY) $(CLI) run $(foreach adapter,$(ADAPTERS),--adapter $(adapter)) $(foreach adapter,$(SMOKE_SAMPLE),--smoke-sample $(adapter)) --jobs 2 --report build/report

# The part of the tests that are slow or start Apache Hudi or Spark, and of those of crashes; `make soak` runs all.
SHARD ?= 1/10
CRASHES ?= 1/6
# The part of TLC's runs that `make specs` carries out: they change with the modules alone; `make soak` carries out all.
RUNS ?= 1/5
# The part of the writing cases whose files did not change that `make golden` puts to the mutants that they name.
KILLS ?= 1/6
# Tables of tests lie in memory where there is enough: their writers sync every file.
MEMORY := $(shell test "$$(df -k --output=avail /dev/shm 2>/dev/null | tail -n 1)" -gt 8000000 2>/dev/null && echo TMPDIR=/dev/shm)
PYTEST := $(MEMORY) $(RUN) -m pytest -n 2 --dist loadgroup

test: env  ## the project's tests; of those that are slow or start Apache Hudi or Spark one part in ten; not what `check` and `properties` run
	$(PYTEST) -m "not crashes and not templates and not browser" --shard $(SHARD) --ignore tests/properties --ignore tests/repository/test_words.py

properties: env  ## each property of the model holds, or is refuted by its counterexample; of the mutants that break one, one in ten
	$(PYTEST) --shard $(SHARD) tests/properties

templates: env  ## the projects that `hudi-conformance new-adapter` writes, built with cargo and Maven; the tutorial, run
	$(PYTEST) -m templates tests/templates tests/repository

packages: env  ## four wheels, the source archive and SBOMs in dist/, reproducible; each wheel in an empty environment of every Python found
	$(MEMORY) $(RUN) tests/packages/run.py

changelog: env  ## the fragments of changelog.d become a section of CHANGELOG.md
	$(VENV)/bin/towncrier build --yes --name hudi-conformance --version "$$($(VENV)/bin/hatchling metadata version)"

browser: env  ## the report in Chromium; needs chromium and chromium-driver
	$(RUN) -m pytest -p no:xdist -m browser tests/conformance/test_report_browser.py

crashes: env  ## a sample of what `make soak` runs whole: kills, faults of the storage, orders of effects, histories
	$(PYTEST) -m crashes --shard $(CRASHES)

check: env  ## format, lint, spelling, strict types, import law, clause lint
	$(VENV)/bin/ruff format --check .
	$(VENV)/bin/ruff check .
	$(VENV)/bin/codespell
	$(RUN) -m pytest -n 0 -q tests/repository/test_words.py
	$(VENV)/bin/mypy
	$(VENV)/bin/lint-imports
	$(CLI) lint

format: env
	$(VENV)/bin/ruff format .
	$(VENV)/bin/ruff check --fix .

golden: env  ## rebuild the model-written golden tables, the index, the generated pages; of unchanged cases that write one in six is put to its mutants
	$(MEMORY) $(CLI) golden build --shard $(KILLS)
	$(RUN) -m hudi_conformance.verification.trace_cases
	$(MAKE) pages

pages: env  ## write the generated pages: references into docs/, what runs measured into build/pages
	$(RUN) -m hudi_conformance.pages
	$(RUN) tests/engine/configuration_page.py
	$(RUN) tests/mutation/run.py page

docs: env  ## the documentation as a site in build/site; strict: a broken link fails
	NO_MKDOCS_2_WARNING=1 $(VENV)/bin/mkdocs build --quiet

# The pictures of the documentation: drawings of golden tables, and the report of a run in Chromium.
pictures: env  ## draw the pictures of the documentation again; needs chromium
	$(RUN) -m hudi_conformance.pages.site.pictures
	$(MEMORY) $(CLI) run --adapter model-in-process --adapter engine-in-process --adapter hudi-rs --jobs 2 --report build/report-pictures
	$(RUN) -m hudi_conformance.pages.site.screenshots build/report-pictures

specs: env  ## TLC over the TLA+ modules, one run in five; the modules beside the model; Apalache where it is found; APALACHE=1 requires it
	$(CLI) specs --shard $(RUNS)

peers: env  ## ask releases of Apache Hudi, hudi-rs and Daft again, also of what others wrote; compare every real table, and write down what that shows
	$(CLI) peers
	$(CLI) peers run --adapter engine-in-process
	$(CLI) writes matrix --sample --record $(foreach name,$(WRITERS),--writer $(name)) $(foreach name,$(READERS),--reader $(name))
	$(CLI) real build
	$(CLI) real compare --record

real: env  ## build a few tables with Apache Hudi and compare what it and the adapters answer
	$(MEMORY) $(CLI) real sample

stores: env  ## fetch a real S3 server by Go and an emulator of Azure by npm into build/stores, and use tables there
	mkdir -p build/stores/bin
	case " $(STORES) " in *" azurite-blob "*) npm install --prefix build/stores --no-save --no-audit --no-fund $(AZURITE);; esac
	# Its go.mod replaces modules, so that `go install` refuses it: another module requires it.
	case " $(STORES) " in *" weed "*) cd build/stores && { test -f go.mod || go mod init stores; } && go get $(SEAWEEDFS) \
	  && CGO_ENABLED=0 go build -o bin/weed $(firstword $(subst @, ,$(SEAWEEDFS)));; esac
	HUDI_CONFORMANCE_REQUIRE_STORES="$(STORES)" $(PYTEST) --shard 1/1 -k "seaweedfs or azure" tests/engine/test_object_storage.py

mixed-writers: env  ## the engine and Apache Hudi take turns writing one table, a few sequences
	$(CLI) mixed-writers check

mutation: env  ## every mutant of the engine's merging, slicing and conflicts, and of the TLA+ modules, hours
	$(RUN) tests/mutation/run.py reach
	$(RUN) tests/mutation/run.py try
	$(RUN) tests/mutation/run.py try --survivors
	$(RUN) tests/mutation/run.py specs --go-on
	$(RUN) tests/mutation/run.py page

# A second environment: Spark 4 before the packages of the first. It needs modules that the embedded Java lacks.
SPARK4 := build/spark4
spark4: env  ## the tests of the engine on Spark, under the newest Spark 4; needs JAVA_HOME with a JDK of 17 or later
	test -n "$(JAVA_HOME)" -a -x "$(JAVA_HOME)/bin/java" || { echo "set JAVA_HOME to a JDK of 17 or later"; exit 2; }
	$(PYTHON) -m venv --clear $(SPARK4)
	$(SPARK4)/bin/pip install --quiet 'pyspark[connect]>=4.1,<5'
	$(RUN) -c "import site; print(site.getsitepackages()[0])" > $(SPARK4)/first
	for path in $$(cat $(SPARK4)/first) $$(awk 1 $$(cat $(SPARK4)/first)/_hudi_*.pth); do echo $$path; done \
	  > $(SPARK4)/lib/$(notdir $(PYTHON))/site-packages/first.pth
	PATH="$(CURDIR)/$(VENV)/bin:$$PATH" $(MEMORY) $(SPARK4)/bin/python -m pytest -n 0 -m "spark and not slow and not peers" -k "not embedded_java" $(SPARK4_TESTS)

SPARK4_TESTS := tests/engine/test_spark.py tests/engine/test_types_spark.py tests/engine/test_writing_spark.py tests/engine/test_datasource.py tests/engine/test_sql.py tests/repository/test_pages.py

soak: env  ## explore scenarios and damage bytes further than the tests have time for; pages below build/pages
	$(MEMORY) $(CLI) golden build
	$(CLI) prove --soak
	$(CLI) run --adapter engine-spark --jobs 2 --report build/report-spark
	$(CLI) specs --soak --page build/pages/specs.md
	$(RUN) tests/fuzz/soak.py --write build/pages/soak-bytes.md
	$(RUN) tests/conformance/crash_soak.py
	$(PYTEST) -m "(peers or spark or slow or crashes) and not templates and not browser"
	HUDI_CONFORMANCE_SOAK=1 $(RUN) -m pytest tests/conformance/test_write_sequences.py
	$(CLI) writes array --whole --writer engine-in-process $(foreach reader,model engine-in-process hudi-rs apache-hudi-1.1.1,--reader $(reader)) --continuing apache-hudi-1.1.1
	$(CLI) mixed-writers soak
	$(CLI) stress soak
	$(RUN) tests/interleavings/soak.py
	$(CLI) interleavings soak

# Hours on a quiet machine; `BENCH="--group reads"` and like measure a part, smaller tables by default.
BENCH ?= --rows 2000000 --slices 10000 --commits 1000 --rounds 5
bench: env  ## the engine beside Apache Hudi, hudi-rs and plain Parquet, in turns; docs/reference/benchmarks.md
	$(RUN) benchmarks/run.py $(BENCH) --write docs/reference/benchmarks.md

env: $(READY)

$(READY): requirements-build.lock requirements.lock pyproject.toml adapter/pyproject.toml engine/pyproject.toml format/pyproject.toml hatch_build.py
	$(PYTHON) -m venv $(VENV)
	$(RUN) -m pip install --quiet --no-compile --disable-pip-version-check --require-hashes -r requirements-build.lock
	$(RUN) -m pip install --quiet --no-compile --disable-pip-version-check --require-hashes --no-build-isolation -r requirements.lock
	$(RUN) -m pip install --quiet --no-compile --disable-pip-version-check --no-deps --no-build-isolation --editable . --editable adapter --editable engine --editable format
	touch $@

clean:
	rm -rf build dist
