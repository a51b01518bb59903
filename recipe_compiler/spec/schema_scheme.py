"""What may stand under the keys of a scheme, and of the words of a build."""

from typing import Annotated, Literal

from recipe_compiler.spec.fields import (
    SOME,
    CountOrZero,
    FilePath,
    KeepField,
    Name,
    OrderNumber,
    Pairs,
    SchemeName,
    Summands,
    Truth,
    WordField,
    left_out,
    one_or_many,
)
from recipe_compiler.spec.schema import Document, Part


class SelectionEntry(Part):
    """Places of D and Q, and summands of H, that belong to a piece."""

    D: Annotated[Pairs, "all, or pairs of blocks"] = ()
    Q: Annotated[Pairs, "all, or pairs of blocks, each with the one across the diagonal"] = ()
    H: Annotated[Summands, "all, or names of summands: a function in it, or its blocks"] = None
    Gamma: Annotated[Pairs, "places whose d(D+Q)_ab/dz_b belongs here"] = ()


Pieces = dict[Name, Annotated[list[SelectionEntry], one_or_many, SOME]]
"""What each letter of a word selects."""


Flows = Annotated[
    dict[Name, Literal["midpoint", "generalised", "reflected"]],
    "numerical flows of pieces that have no exact one, or whose exact one is not wanted",
]


class WordEntry(Part):
    """A word that is stated, named or of a document, with what its letters select and how they move."""

    name: SchemeName | None = None
    use: Annotated[FilePath | None, "a document of a scheme, relative to this file"] = None
    split: Annotated[WordField | None, "pieces with their shares: [B/2, A/2, O, A/2, B/2]"] = None
    pieces: Pieces = {}
    flows: Flows = {}


class WordClaimsEntry(Part):
    """What the author of a scheme states of its word; each is decided apart."""

    order: Annotated[OrderNumber | None, "weak order, for every dynamics"] = None
    palindrome: Annotated[Truth, "the word is its own reverse"] = False
    gradients: Annotated[CountOrZero | None, "evaluations of the gradient in one step"] = None
    configurational: Annotated[
        Literal["exact"] | None, "for quadratic U: the covariance of theta is that of exp(-U)"
    ] = None


class SchemeDocument(Document):
    """A step as a word: pieces in the order they are done, each with its share of the step."""

    split: Annotated[WordField, "pieces with their shares: [B/2, A/2, O, A/2, B/2]"]
    pieces: Annotated[Pieces, "left out: those that follow from the dynamics"] = {}
    flows: Flows = {}
    keep: Annotated[KeepField | None, "after which letter draws are kept: O, or 2"] = None
    claims: Annotated[WordClaimsEntry, left_out] = WordClaimsEntry()
