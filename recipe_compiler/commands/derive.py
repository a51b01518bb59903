"""`recipe derive`."""

from recipe_compiler.commands.documents import load_named
from recipe_compiler.commands.exit_code import ExitCode
from recipe_compiler.derive.recipe import derive
from recipe_compiler.derive.show import derivation_latex, derivation_text
from recipe_compiler.display import say
from recipe_compiler.errors import Fault, ModelError, Place
from recipe_compiler.spec.bind import bind
from recipe_compiler.spec.model import Build, Target
from recipe_compiler.spec.places import placed
from recipe_compiler.splitting.show import word_latex, word_sections


def derive_file(file: str, *, latex: bool) -> ExitCode:
    """Print what follows from dynamics, or from a build with everything bound."""
    document = load_named(file)
    if isinstance(document, Target):
        raise ModelError([Fault(Place(file), "document", "found a target, expected dynamics or a build")])
    derivation = derive(bind(document) if isinstance(document, Build) else document)
    say((derivation_latex if latex else derivation_text)(derivation).rstrip())
    if isinstance(document, Build) and document.scheme.split:
        say("")
        with placed(document.source, "scheme"):
            say((word_latex if latex else word_sections)(derivation, document.scheme).rstrip())
    return ExitCode.PROVED
