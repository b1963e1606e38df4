# Two commands on a fresh machine: `make demo` shows a robot walking, `make test` runs all tests.
# Both need python3 (3.11 or newer) with venv, and pip. PYTHON=… chooses another interpreter.
PYTHON ?= python3
BIN := .venv/bin
STAMP := .venv/.installed

.PHONY: demo test check bench examples clean

demo: $(STAMP)
	$(BIN)/bodymotion view examples/biped.wrl examples/biped_walk.seq $(DEMO)

test: $(STAMP) browser
	$(BIN)/python -m pytest -n 2 $(TESTS)

check: $(STAMP)
	$(BIN)/ruff format --check src tests benchmarks examples
	$(BIN)/ruff check src tests benchmarks examples
	$(BIN)/mypy

bench: $(STAMP)
	$(BIN)/python -m benchmarks

examples: $(STAMP)
	$(BIN)/python examples/make_examples.py

# The browser tests drive Debian's Chromium: installed when we may, named when not.
.PHONY: browser
browser:
	@command -v chromium >/dev/null || { [ "$$(id -u)" = 0 ] && command -v apt-get >/dev/null \
	  && apt-get update -qq && apt-get install -y -qq --no-install-recommends chromium >/dev/null; } \
	  || echo "chromium is not installed: the browser tests skip (Debian: apt-get install chromium)" >&2

$(STAMP): pyproject.toml constraints.txt
	$(PYTHON) -m venv .venv
	$(BIN)/python -m pip install --quiet --disable-pip-version-check -c constraints.txt -e ".[dev]"
	touch $@

clean:
	rm -rf .venv build dist .pytest_cache .mypy_cache .ruff_cache .hypothesis
