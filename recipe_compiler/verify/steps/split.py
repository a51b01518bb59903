"""A dynamics split into the pieces of a word: what claims about a step are about, by both engines."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import lru_cache

import sympy
from sympy import Expr, Symbol

from recipe_compiler import limits
from recipe_compiler.algebra.dynamics import pieces as second
from recipe_compiler.algebra.dynamics.system import System, Vector, drift, gradient, state, system
from recipe_compiler.algebra.scalars.matrices import Rows, add, total
from recipe_compiler.algebra.scalars.rationals import rational
from recipe_compiler.algebra.scalars.symbols import coordinates
from recipe_compiler.derive.recipe import Derivation, Matrix
from recipe_compiler.derive.recipe import Vector as VectorOfTensors
from recipe_compiler.errors import Fault, ModelError
from recipe_compiler.formula.declaration import Block, Declarations
from recipe_compiler.formula.expression import Formula
from recipe_compiler.spec.model import Dynamics, Scheme
from recipe_compiler.spec.words import letters
from recipe_compiler.splitting.pieces import Piece, list_pieces
from recipe_compiler.splitting.split_by import check_letters, list_selections
from recipe_compiler.tensor.scalars import Leaf
from recipe_compiler.tensor.terms import Tensor
from recipe_compiler.verdict import Answer
from recipe_compiler.verify.core.identities import Identity, Question, decide
from recipe_compiler.verify.core.premises import describe_kinks, require_lipschitz
from recipe_compiler.verify.core.scalars import make_leaf, write_out
from recipe_compiler.verify.core.sizes import Sizes
from recipe_compiler.verify.core.subject import Subject, once_at_sizes

NOTHING = Tensor((), ())
"""What the index calculus has left of an identity that it knows to hold."""
ZERO = sympy.Integer(0)


@dataclass(frozen=True, slots=True, eq=False)
class Split:
    """Pieces (f_k, D_k) of a dynamics and a word over them.

    Vectors and matrices over z are in index notation as in `Derivation`, or [n] and [n, n] scalars at fixed sizes.
    """

    subject: Subject
    derivation: Derivation
    scheme: Scheme
    pieces: tuple[Piece, ...]
    """As they are selected, whether they add up or not; a share of Gamma is in every piece that wants it."""

    @property
    def blocks(self) -> tuple[Block, ...]:
        """The blocks of the state."""
        return self.subject.declarations.blocks

    @property
    def numerical(self) -> Mapping[str, str]:
        """The names of numerical flows, by the pieces that they move; all other pieces have exact flows."""
        return dict(self.scheme.flows)

    @property
    def noiseless(self) -> tuple[Piece, ...]:
        """The pieces without noise."""
        return tuple(piece for piece in self.pieces if not piece.is_noisy)

    @property
    def used(self) -> tuple[Piece, ...]:
        """The pieces that have letters in the word."""
        names = {letter.piece for letter in letters(self.scheme.split)}
        return tuple(piece for piece in self.pieces if piece.name in names)

    def z(self, sizes: Sizes) -> tuple[Symbol, ...]:
        """Return the n coordinates of the state at fixed sizes."""
        return state(self.subject.declarations, sizes)

    def drift(self, piece: Piece, sizes: Sizes) -> Vector:
        """Return f_k at fixed sizes, n scalars, by the second engine."""
        return self._derive_piece(piece.name, sizes)[0]

    def diffusion(self, piece: Piece, sizes: Sizes) -> Rows:
        """Return D_k at fixed sizes, n x n scalars, by the second engine."""
        return self._derive_piece(piece.name, sizes)[1]

    @once_at_sizes
    def _derive_piece(self, name: str, sizes: Sizes) -> tuple[Vector, Rows]:
        """Return f_k and D_k of one piece, written out and differentiated entry by entry."""
        piece = next(piece for piece in self.pieces if piece.name == name)
        whole, named = self.subject.system(sizes), {block.name: block for block in self.blocks}
        parts = [self._evaluate_part(part, sizes) for part in piece.parts]
        both = add((whole.D, whole.Q))
        gamma = [[coordinates(named[block], sizes) for block in place] for place in piece.gamma]
        vectors = [second.drift_without_gamma(part) for part in parts]
        vectors += [second.share_of_correction(both, whole.z, row, column) for row, column in gamma]
        f = tuple(total([vector[i] for vector in vectors]) for i in range(len(whole.z)))
        return f, add(tuple(part.D for part in parts))

    @once_at_sizes
    def made(self, sizes: Sizes) -> tuple[Vector, Rows]:
        """Return sum s f_k (n) and sum s D_k (n x n) over the word, s being the shares, by the second engine."""
        named = {piece.name: piece for piece in self.pieces}
        done = [(rational(letter.share), named[letter.piece]) for letter in letters(self.scheme.word)]
        drifts = [[share * x for x in self.drift(piece, sizes)] for share, piece in done]
        noises = [tuple(tuple(share * x for x in row) for row in self.diffusion(piece, sizes)) for share, piece in done]
        return tuple(total(list(entry)) for entry in zip(*drifts, strict=True)), add(tuple(noises))

    @once_at_sizes
    def equation(self, sizes: Sizes) -> tuple[Vector, Rows]:
        """Return f (n) and D (n x n) of the whole recipe at fixed sizes, by the second engine."""
        found = self.subject.system(sizes)
        return drift(found), found.D

    @once_at_sizes
    def form(self, sizes: Sizes) -> Rows:
        """Return Q with zeros where no noiseless piece moves by it, n x n, by the second engine."""
        parts = [self._evaluate_part(part, sizes) for piece in self.noiseless for part in piece.parts]
        slopes = [gradient(part.H, part.z) for part in parts]
        blocks = [self.places(n, sizes) for n in range(len(self.blocks))]
        held = {
            (i, j)
            for rows in blocks
            for columns in blocks
            for part, slope in zip(parts, slopes, strict=True)
            if any(part.Q[i][j] != 0 for i in rows for j in columns) and any(slope[k] != 0 for k in (*rows, *columns))
            for i in rows
            for j in columns
        }
        Q = self.subject.system(sizes).Q
        return tuple(tuple(x if (i, j) in held else ZERO for j, x in enumerate(row)) for i, row in enumerate(Q))

    def places(self, block: int, sizes: Sizes) -> range:
        """Return the places that the coordinates of a block have among all."""
        counts = [len(coordinates(one, sizes)) for one in self.blocks]
        return range(sum(counts[:block]), sum(counts[: block + 1]))

    def _evaluate_part(self, part: Dynamics, sizes: Sizes) -> System:
        """Return the second engine's system for the matrices and the energy of one part of the dynamics."""
        return system(self.subject.declarations, part.H, part.D or (), part.Q or (), sizes)


@lru_cache(maxsize=limits.SUBJECTS)
def split_of(subject: Subject, scheme: Scheme) -> Split:
    """Return the pieces of a subject, computed once however many claims are about them.

    Raises:
        ModelError: a selection, or a letter of the word, names something that does not exist; or there is no recipe.
    """
    derivation = subject.derivation
    if derivation is None:
        raise ModelError(
            [Fault(subject.place("D"), "scheme", "found no D, expected it: pieces are parts of D, Q and H")]
        )
    selections = list_selections(derivation, scheme)
    check_letters(scheme, tuple(selections))
    return Split(subject, derivation, scheme, list_pieces(derivation, selections, shared=True))


def write_vector(split: Split, f: VectorOfTensors, sizes: Sizes, leaf: Leaf | None = None) -> tuple[Expr, ...]:
    """Return a vector over z from index notation, written out at fixed sizes: [n]."""
    leaf = leaf or make_leaf(split.subject.declarations, sizes)
    return tuple(x for entry in f for x in write_out(entry, sizes, leaf))


def write_matrix(split: Split, M: Matrix, sizes: Sizes, leaf: Leaf | None = None) -> Rows:
    """Return a matrix over z from index notation, written out at fixed sizes: n x n scalars."""
    return rows_of(split.blocks, M, sizes, leaf or make_leaf(split.subject.declarations, sizes))


def rows_of(blocks: tuple[Block, ...], M: Matrix, sizes: Sizes, leaf: Leaf) -> Rows:
    """Return a matrix over some blocks, written out at fixed sizes."""
    counts = [len(coordinates(block, sizes)) for block in blocks]
    found: list[tuple[Expr, ...]] = []
    for height, line in zip(counts, M, strict=True):
        flat = [write_out(entry, sizes, leaf) for entry in line]
        found += [
            tuple(x for part, width in zip(flat, counts, strict=True) for x in part[i * width : (i + 1) * width])
            for i in range(height)
        ]
    return tuple(found)


def decide_identities(
    split: Split,
    identities: Sequence[Identity],
    known: Declarations | None = None,
    sizes: tuple[Sizes, ...] | None = None,
    also: tuple[Formula, ...] = (),
) -> Answer:
    """Return the answer for identities about pieces, by both engines, weakly across the kinks of D, Q and H.

    Args:
        split: the pieces.
        identities: about them.
        known: what is declared, where that is more than the document declares.
        sizes: those that the second engine looks at; None for those of the subject.
        also: formulas that they are about beside D, Q and H.
    """
    declarations, formulas = known or split.subject.declarations, (*split.subject.formulas, *also)
    kinks = require_lipschitz(formulas, declarations)
    question = Question(
        tuple(identities),
        declarations,
        split.subject.sizes if sizes is None else sizes,
        kinks,
        split.subject.contradiction,
        describe_kinks(kinks.kinks),
        formulas,
    )
    return decide(question)
