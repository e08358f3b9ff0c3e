# The verbs: demo, test, build, check, lowest, parity, bench, count, sanitize, fuzz, attack, annotate,
# dist, ci.
#
# Everything happens in $(VENV). INSTALL is what is put there: the source tree, editable, or a wheel.
PYTHON ?= python3
VENV ?= .venv
INSTALL ?= -e .
GROUP ?= dev
bin := $(VENV)/bin
stamp := $(VENV)/.installed

.PHONY: demo test build check lowest parity bench count sanitize fuzz attack annotate dist ci clean

demo: $(stamp)
	$(bin)/odqa-fast demo

test: $(stamp)
	$(bin)/pytest -q -rs -n auto --dist worksteal $(ARGS)

build: $(stamp)
	$(bin)/python setup.py -q build_ext --inplace

check: $(stamp)
	$(bin)/ruff check .
	$(bin)/ruff format --check .
	$(bin)/mypy
	$(bin)/python -P -m mypy.stubtest odqa_fast._kernels --ignore-disjoint-bases \
		--allowlist odqa_fast/_kernels/stubtest.allow --mypy-config-file pyproject.toml
	$(bin)/lint-imports

# The tests with the lowest versions of what is needed, in an environment of their own.
lowest: VENV = .venv-lowest
lowest:
	PIP_CONSTRAINT=$(CURDIR)/tests/lowest.txt $(MAKE) test VENV=$(VENV) GROUP=test

# Exported models beside transformers with the same weights, in an environment of their own.
parity:
	$(MAKE) test VENV=.venv-parity GROUP=parity ARGS="tests/parity $(ARGS)"

# Timings beside peers; the JSON stays in build/.
bench: $(stamp)
	mkdir -p build
	$(bin)/pytest -q -s benchmarks -p no:randomly --benchmark-json=build/benchmarks.json $(ARGS)

# Instructions of the row functions against the baseline (valgrind); UPDATE=1 writes a new one.
count: $(stamp)
	$(bin)/python benchmarks/count.py $(if $(UPDATE),--update)

# The tests of the compiled core under the address and undefined-behaviour sanitizers.
sanitize: $(stamp)
	ODQA_FAST_BUILD=sanitize $(bin)/python setup.py -q build_ext --inplace --force
	LD_PRELOAD="$$(gcc -print-file-name=libasan.so) $$(gcc -print-file-name=libubsan.so)" \
	ASAN_OPTIONS=detect_leaks=0 UBSAN_OPTIONS=halt_on_error=1 PYTHONMALLOC=malloc \
	ARROW_DEFAULT_MEMORY_POOL=system \
	$(bin)/pytest -q tests/differential tests/test_vectors.py tests/test_api.py; \
	status=$$?; $(bin)/python setup.py -q build_ext --inplace --force; exit $$status

# The tests that change inputs at random, for long: N=100000 changes of each kind of text.
fuzz: $(stamp)
	ODQA_FAST_FUZZ=$(or $(N),100000) $(bin)/pytest -q tests/safety/test_fuzz.py \
		tests/safety/test_flipped.py tests/safety/test_odd_models.py \
		tests/safety/test_odd_bodies.py tests/safety/test_keeping.py

# Attacks by class, tries and survivals, within some 10 minutes: make attack ARGS="--kills 500".
attack: $(stamp)
	$(bin)/python benchmarks/attack.py $(ARGS)

# The C++ that Cython makes of a kernel, as a page: make annotate K=match
annotate: $(stamp)
	mkdir -p build && $(bin)/cython -3 --cplus -a src/kernels/$(K).pyx -o build/$(K).cpp

dist: $(stamp)
	$(bin)/python -m build

ci:
	.ci/run

clean:
	rm -rf build dist *.egg-info .venv odqa_fast/_kernels/*.so

$(stamp): pyproject.toml setup.py $(wildcard src/*/*.hpp src/kernels/*.pyx odqa_fast/_kernels/*.pxd)
	test -d $(VENV) || $(PYTHON) -m venv $(VENV)
	$(bin)/pip install -q --disable-pip-version-check --upgrade pip
	$(bin)/pip install -q --disable-pip-version-check $(INSTALL) --group $(GROUP)
	touch $@
