"""`python -m recipe_compiler` is `recipe`."""

import sys

from recipe_compiler.commands.exit_code import ExitCode


def main() -> None:
    """Run the command line; an installation that cannot be imported is no verdict."""
    try:
        from recipe_compiler.cli import main as command_line
    except Exception as error:  # whatever a library that does not fit raises when it is imported
        sys.stderr.write(f"this installation of recipe_compiler does not work: {type(error).__name__}: {error}\n")
        sys.exit(ExitCode.OWN_FAULT)
    command_line()


if __name__ == "__main__":
    main()
