"""Schemes stated in Python."""

from collections.abc import Mapping, Sequence

from recipe_compiler.front.document import Document
from recipe_compiler.spec import model
from recipe_compiler.spec.python_nodes import Statement
from recipe_compiler.spec.read_scheme import read_scheme


class Scheme(Document):
    """A step as a word over pieces of (D, Q, H), each moved for its share of the step by its flow, exact or stated.

    Parameters
    ----------
    name : str
        An ASCII identifier.
    split : sequence of str
        The pieces in the order they are done, each with its share of the step: `["B/2", "A/2", "O", "A/2", "B/2"]`. A
        part that is repeated is `{"repeat": 4, "of": ["F/8", "A/4", "F/8"]}`.
    pieces : mapping, optional
        What each piece selects of D, Q and H, as a document has it; left out, pieces follow from the dynamics.
    flows : mapping of str to str, optional
        The flows of pieces that have no exact one, or whose exact one is not wanted: `midpoint`, `generalised`.
    keep : str or int, optional
        After which letter draws are kept: a piece that occurs once, or a place counted from 1; left out, the end.
    claims : mapping, optional
        What is claimed of the word, and decided apart: `order`, `palindrome`, `gradients` (in one step), and
        `"configurational": "exact"`, that theta has its own covariance where U is quadratic.
    title, references : str, sequence of str
        As of `Dynamics`.

    Raises
    ------
    SpecError, ModelError
        As of `Dynamics`.

    Examples
    --------
    >>> oabao = Scheme(name="oabao", split=["O/2", "A/2", "B", "A/2", "O/2"], claims={"order": 2})
    >>> oabao.check().verdict
    <Verdict.PROVED: 'proved'>
    """

    document: model.Scheme

    def __init__(
        self,
        *,
        name: str,
        split: Sequence[object],
        pieces: Mapping[str, object] | None = None,
        flows: Mapping[str, str] | None = None,
        keep: int | str | None = None,
        claims: Mapping[str, object] | None = None,
        title: str = "",
        references: Sequence[str] = (),
    ) -> None:
        s = Statement()
        root = s.document(
            name,
            title,
            references,
            split=split,
            pieces=pieces or None,
            flows=flows or None,
            keep=keep,
            claims=claims or None,
        )
        object.__setattr__(self, "document", s.read(lambda: read_scheme(root, s.file)))
