# Thin aliases. `make demo` and `make test` do their own set-up; nothing outside .venv is touched
# but the compiled llama.cpp, kept under ~/.cache/graft for the next checkout.

PYTHON ?= python3
BIN := .venv/bin
PROTOS := $(shell find protos -name '*.proto')

.PHONY: demo test test-docker lint types docs bench clean

demo: .venv/ready
	@$(BIN)/graft demo

test: lint types
	$(BIN)/cog -I . --check README.md docs/cli.md docs/settings.md docs/protos.md docs/metrics.md
	$(BIN)/pytest

# In an engine that answers, else in one of its own (Debian, as root), which stays for the next time.
test-docker: .venv/ready
	@docker version > /dev/null 2>&1 || tools/docker_engine.sh start > .venv/engine
	@touch .venv/engine; . .venv/engine; GRAFT_TEST_DOCKER=1 $(BIN)/pytest tests/docker

lint: .venv/ready
	$(BIN)/ruff format --check
	$(BIN)/ruff check
	$(BIN)/lint-imports --no-cache
	$(BIN)/buf lint
	$(BIN)/buf format --diff --exit-code
	$(BIN)/buf breaking --against protos/released.binpb.gz

types: .venv/ready
	$(BIN)/mypy
	$(BIN)/mypy tests bench tools

docs: .venv/ready
	$(BIN)/cog -I . -r README.md docs/cli.md docs/settings.md docs/protos.md docs/metrics.md

bench: .venv/ready
	$(BIN)/python -m bench

clean:
	rm -rf .venv dist build

.venv/ready: pyproject.toml tools/bootstrap.py protos/generate.py $(PROTOS)
	@$(PYTHON) tools/bootstrap.py
	@touch $@
