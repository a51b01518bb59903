# Short names for what CONTRIBUTING.md describes; everything also works without `just`.

# what CI runs, in a clean environment
check:
    .ci/run

# the default tests, in the environment at hand
test *args:
    python -m pytest {{args}}

# all that the default tests leave out: what takes long, and long statistics
slow:
    python -m pytest -m slow

lint:
    ruff check
    ruff format --check
    ty check

format:
    ruff check --fix
    ruff format

# accept what changed in golden texts and in generated/
accept:
    python -m pytest --update-golden
