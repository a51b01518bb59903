"""Documents from files, as objects with verbs."""

from os import PathLike

from recipe_compiler.front.build import Build
from recipe_compiler.front.dynamics import Dynamics
from recipe_compiler.front.scheme import Scheme
from recipe_compiler.front.target import Target
from recipe_compiler.report.found_q import with_proved_q
from recipe_compiler.spec import model
from recipe_compiler.spec.load import load as load_document


def load(path: str | PathLike[str], name: str | None = None) -> Dynamics | Target | Scheme | Build:
    """Return the document in a file.

    Parameters
    ----------
    path : path-like
        A YAML file, or a Python file: that is code, and runs as code.
    name : str, optional
        The object to take from a Python file.

    Returns
    -------
    Dynamics, Target, Scheme or Build
        The keys say which.

    Raises
    ------
    SpecError
        The document is malformed; holds every fault found, of the documents it names too.
    ModelError
        It is well formed but means nothing.

    Examples
    --------
    >>> load("specs/dynamics/sghmc.yaml")
    <Dynamics sghmc>
    """
    document = load_document(path, name)
    match document:
        case model.Dynamics():
            return Dynamics.of(document)
        case model.Target():
            return Target.of(document)
        case model.Scheme():
            return Scheme.of(document)
        case model.Build():
            return Build.of(with_proved_q(document))
