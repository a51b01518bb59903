"""`recipe derive`."""

from recipe_compiler.commands.documents import load_named
from recipe_compiler.commands.exit_code import ExitCode
from recipe_compiler.derive.found_laws import laws_latex, laws_text
from recipe_compiler.derive.recipe import derive
from recipe_compiler.derive.show import compilable, derivation_latex, derivation_text
from recipe_compiler.display import say
from recipe_compiler.spec.bind import dynamics_of
from recipe_compiler.spec.model import Build, Target
from recipe_compiler.spec.places import placed
from recipe_compiler.splitting.reflection import format_reflection
from recipe_compiler.splitting.show import format_word, format_word_as_latex


def derive_file(file: str, *, latex: bool) -> ExitCode:
    """Print what follows from dynamics, or from a build with everything bound; of a target, laws of its blocks."""
    document = load_named(file)
    if isinstance(document, Target):
        say((compilable(document, laws_latex(document)) if latex else laws_text(document)).rstrip())
        return ExitCode.PROVED
    derivation = derive(dynamics_of(document, file, "document"))
    word = isinstance(document, Build) and bool(document.scheme.split or document.scheme.cycle)
    parts = [(derivation_latex(derivation) if latex else derivation_text(derivation, euler=not word)).rstrip()]
    if isinstance(document, Build) and word:
        with placed(document.source, "scheme"):
            written = (format_word_as_latex if latex else format_word)(derivation, document.scheme, document.target)
        parts.append(written.rstrip())
    if isinstance(document, Build) and document.scheme.reflect and not latex:
        parts.append(format_reflection(derivation, document.scheme.reflect))
    shown = "\n\n".join(parts)
    say(compilable(derivation.dynamics, shown).rstrip() if latex else shown)
    return ExitCode.PROVED
