"""`python -m recipe_compiler` is `recipe`."""

from recipe_compiler.cli import main

if __name__ == "__main__":
    main()
