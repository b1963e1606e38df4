# Two commands on a fresh machine: `make demo` shows a robot walking, `make test` runs all tests.
# Both need python3 (3.11 or newer) with venv and pip. PYTHON=… chooses another interpreter, DEMO="--port 9000" adds options.
PYTHON ?= python3
BIN := .venv/bin
RUNNING := .venv/.running
DEVELOPING := .venv/.developing
PIP := $(BIN)/python -m pip install --quiet --disable-pip-version-check --no-input -c constraints.txt
CODE := src tests benchmarks examples fuzz $(wildcard docs/*.py)
APT := DEBIAN_FRONTEND=noninteractive apt-get install -y -qq --no-install-recommends

# So that the first command does not wait: the bytecode (also where PYTHONDONTWRITEBYTECODE is set) and matplotlib's list of fonts. The commands
# of the README compile no kernels: their motions are short enough for NumPy.
WARM_UP = $(BIN)/python -m compileall -q src/bodymotion; $(BIN)/python -c 'import matplotlib.font_manager' 2>/dev/null || true

.PHONY: demo test accept accept-gpu check bench fuzz examples docs site pictures clean browser drawing

demo: $(RUNNING)
	$(BIN)/bodymotion view examples/biped.wrl examples/biped_walk.seq $(DEMO)

# Modules are compiled once for all processes that the tests start, also where PYTHONDONTWRITEBYTECODE is set.
PYTEST = $(BIN)/python -m compileall -q src/bodymotion && PYTHONDONTWRITEBYTECODE= $(BIN)/python -m pytest -n 2 --dist worksteal

test: $(DEVELOPING) browser drawing
	$(PYTEST) $(TESTS)

# The same tests over all samples and all examples of hypothesis: before an issue is called resolved.
accept: $(DEVELOPING) browser drawing
	ACCEPT=1; export ACCEPT; $(PYTEST) $(TESTS)

# Simulations on a device, by the CPU backend of Warp, in an environment of its own: its packages are large.
accept-gpu:
	$(PYTHON) -m venv build/gpu && build/gpu/bin/python -m pip install --quiet -e ".[gpu]" pytest hypothesis
	build/gpu/bin/python -m pytest -p no:cacheprovider -c /dev/null --rootdir . tests/simulation/warp_acceptance.py

# What we write, read by lerobot itself, in an environment of its own: its requirements do not fit ours.
LEROBOT := .venv/lerobot
accept-lerobot: $(DEVELOPING)
	$(PYTHON) -m venv $(LEROBOT)
	$(LEROBOT)/bin/python -m pip install --quiet torch==2.13.0 "datasets>=4,<5" "huggingface-hub<0.36" "av<16" accelerate deepdiff \
	  draccus==0.10.0 einops jsonlines "packaging<26" pillow termcolor
	$(LEROBOT)/bin/python -m pip install --quiet --no-deps lerobot==0.4.4
	LEROBOT_PYTHON=$(CURDIR)/$(LEROBOT)/bin/python $(BIN)/python -m pytest tests/collection/test_lerobot.py

check: $(DEVELOPING)
	$(BIN)/ruff format --check $(CODE)
	$(BIN)/ruff check $(CODE)
	$(BIN)/mypy

bench: $(DEVELOPING)
	$(BIN)/python -m benchmarks

# For SECONDS each, one after another: make fuzz SECONDS=600 FORMATS="seq wrl". What breaks a reader is kept in tests/fuzz_cases.
SECONDS ?= 60
fuzz: $(DEVELOPING)
	$(BIN)/python -m fuzz --seconds $(SECONDS) $(FORMATS)

examples: $(RUNNING)
	$(BIN)/python examples/make_examples.py

docs: $(RUNNING)
	$(BIN)/python docs/make_rules.py

# The docs with an API reference, as pages below site/.
site: $(RUNNING)
	$(PIP) -e ".[site]"
	$(BIN)/python -m mkdocs build --quiet

pictures: $(DEVELOPING) browser drawing
	for script in rendered plots camera_picture picture report_picture; do $(BIN)/python docs/make_$$script.py || exit 1; done

# Installed when we may, named when not.
browser:
	@command -v chromium >/dev/null || { [ "$$(id -u)" = 0 ] && command -v apt-get >/dev/null \
	  && apt-get update -qq && $(APT) chromium >/dev/null; } \
	  || echo "chromium is not installed: the browser tests skip (Debian: apt-get install chromium)" >&2

# What pictures are drawn with where there is neither a screen nor a graphics card.
DRAW := from bodymotion.rendering.vtk import off_screen_window as w; w(16, 16)
drawing: $(DEVELOPING)
	@$(BIN)/python -c '$(DRAW)' 2>/dev/null || { [ "$$(id -u)" = 0 ] && command -v apt-get >/dev/null \
	  && apt-get update -qq && $(APT) libegl1 libgl1-mesa-dri >/dev/null && $(BIN)/python -c '$(DRAW)'; } \
	  || echo "nothing can draw here: the tests of pictures skip (Debian: apt-get install libegl1 libgl1-mesa-dri)" >&2

.venv/bin/python:
	@$(PYTHON) -c 'import sys; sys.exit(sys.version_info < (3, 11))' \
	  || { echo "bodymotion needs Python 3.11 or newer; make PYTHON=… names another interpreter" >&2; exit 1; }
	@$(PYTHON) -c 'import ensurepip, venv' 2>/dev/null \
	  || { [ "$$(id -u)" = 0 ] && command -v apt-get >/dev/null && apt-get update -qq && $(APT) python3-venv >/dev/null; } \
	  || { echo "Python has no venv (Debian: apt-get install python3-venv)" >&2; exit 1; }
	$(PYTHON) -m venv .venv

$(RUNNING): .venv/bin/python pyproject.toml constraints.txt
	@echo "installing bodymotion and what it needs into .venv ..."
	$(PIP) -e .
	@$(WARM_UP)
	@touch $@

$(DEVELOPING): .venv/bin/python pyproject.toml constraints.txt
	@echo "installing bodymotion and what its tests need into .venv ..."
	$(PIP) -e ".[dev]"
	@$(WARM_UP)
	@touch $(RUNNING) $@

clean:
	rm -rf .venv build dist .pytest_cache .mypy_cache .ruff_cache .hypothesis
