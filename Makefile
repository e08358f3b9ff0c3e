# The verbs:
#   demo      compile, install what scoring needs, score the bundled example
#   build     compile the kernels that changed
#   quick     the most telling tests, in less than a minute: rules, vectors, reading, scoring
#   test      all tests; some of them: ARGS="tests/test_vectors.py -k repeat"
#   fix       repair and format the code, as far as ruff can
#   check     ruff, mypy, the stubs of the kernels, the import contract
#   ci        what CI does: sdist, wheel, clean environment, checks, tests
#   sanitize  tests of the kernels under the address and undefined-behaviour sanitizers
#   lowest    the tests with the lowest versions of what is needed
#   parity    exported models beside transformers with the same weights
#   fuzz      tests that change inputs at random, for long: N=100000 changes of each kind of text
#   attack    attacks by class, tries and survivals, in some 10 minutes: ARGS="--kills 500"
#   bench     times beside peers; the JSON stays in build/
#   count     instructions of the row functions against the baseline (valgrind); UPDATE=1 writes it
#   annotate  the C++ that Cython makes of a kernel, as a page in build/: K=match
#   dist      sdist, and the wheel from it, in OUT=dist
#   clean     remove all that the verbs made
#
# Each verb installs what it needs into $(VENV), once: the source tree, editable, with the kernels
# compiled in place, or WHEEL=FILE; and the groups of pyproject.toml that it uses.
PYTHON ?= python3
VENV ?= .venv
TESTS ?= test
OUT ?= dist
bin := $(VENV)/bin
install := $(bin)/pip install -q --disable-pip-version-check
setup := $(bin)/python setup.py -q
pytest := $(bin)/pytest -q -rs -n auto --dist worksteal
for-tests := $(VENV)/.group-$(TESTS)

.PHONY: help demo build quick test fix check ci sanitize lowest parity fuzz attack bench count \
	annotate dist clean
.NOTPARALLEL:

help:
	@sed -n 's/^#   //p' Makefile

demo: build
	$(bin)/odqa-fast demo

build: $(VENV)/.product
	$(if $(WHEEL),,$(setup) build_ext --inplace)

quick: build $(for-tests)
	ODQA_FAST_EXAMPLES=20 $(pytest) tests/test_*.py tests/oracles tests/stats \
		tests/differential/*_vectors.py tests/io/test_io_*.py tests/cli/test_score.py $(ARGS)

test: build $(for-tests)
	$(pytest) $(ARGS)

fix: $(VENV)/.group-lint
	$(bin)/ruff check --fix .
	$(bin)/ruff format .

check: build $(for-tests) $(VENV)/.group-lint
	$(bin)/ruff check .
	$(bin)/ruff format --check .
	$(bin)/mypy
	$(bin)/python -P -m mypy.stubtest odqa_fast._kernels --ignore-disjoint-bases \
		--allowlist odqa_fast/_kernels/stubtest.allow --mypy-config-file pyproject.toml
	$(bin)/lint-imports

ci:
	.ci/run

# Compiled into a copy of the package, so that neither the source tree nor $(VENV) changes. The tests
# of how long something takes are left out: everything takes longer here.
sanitize: build $(for-tests) $(VENV)/.group-kernels
	rm -rf build/sanitize
	ODQA_FAST_BUILD=sanitize $(setup) build --build-lib build/sanitize/lib
	PYTHONPATH=$(CURDIR)/build/sanitize/lib ODQA_FAST_EXPECT_FOLDER=sanitize \
	LD_PRELOAD="$$(gcc -print-file-name=libasan.so) $$(gcc -print-file-name=libubsan.so)" \
	ASAN_OPTIONS=detect_leaks=0 UBSAN_OPTIONS=halt_on_error=1 PYTHONMALLOC=malloc \
	ARROW_DEFAULT_MEMORY_POOL=system ODQA_FAST_EXAMPLES=40 \
	$(pytest) -k "not time" tests/differential tests/test_vectors.py tests/test_api.py \
		tests/test_installed.py

lowest: VENV = .venv-lowest
lowest:
	PIP_CONSTRAINT=$(CURDIR)/tests/lowest.txt $(MAKE) test VENV=$(VENV)

parity:
	$(MAKE) test VENV=.venv-parity TESTS=parity ARGS="tests/parity $(ARGS)"

fuzz: build $(for-tests)
	ODQA_FAST_FUZZ=$(or $(N),100000) $(bin)/pytest -q tests/safety/test_fuzz.py \
		tests/safety/test_flipped.py tests/safety/test_odd_models.py \
		tests/safety/test_odd_bodies.py tests/safety/test_keeping.py

attack: build $(for-tests)
	$(bin)/python benchmarks/attack.py $(ARGS)

bench: build $(for-tests)
	mkdir -p build
	$(bin)/pytest -q -s benchmarks -p no:randomly --benchmark-json=build/benchmarks.json $(ARGS)

count: build $(for-tests)
	$(bin)/python benchmarks/count.py $(if $(UPDATE),--update)

annotate: $(VENV)/.group-kernels
	mkdir -p build
	$(bin)/cython -3 --cplus -a src/kernels/$(K).pyx -o build/$(K).cpp

dist: $(VENV)/.group-dist
	$(bin)/python -m build --outdir $(OUT)

clean:
	rm -rf build dist *.egg-info .venv .venv-lowest .venv-parity odqa_fast/_kernels/*.so

$(VENV)/.venv:
	$(PYTHON) -m venv --upgrade-deps $(VENV)
	touch $@

$(VENV)/.group-%: pyproject.toml | $(VENV)/.venv
	$(install) --group $*
	touch $@

ifdef WHEEL
$(VENV)/.product: $(WHEEL) | $(VENV)/.venv
	$(install) '$(WHEEL)[protocol]'
	touch $@
else
# Without warnings: setuptools has one of every editable install.
$(VENV)/.product: pyproject.toml $(VENV)/.group-kernels
	PYTHONWARNINGS=ignore ODQA_FAST_BUILD=none $(install) --no-build-isolation -e '.[protocol]'
	touch $@
endif
