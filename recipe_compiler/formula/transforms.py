"""Invertible functions T of one variable: a step may move T(x) in the place of a coordinate x, entry by entry."""

from dataclasses import dataclass
from enum import StrEnum
from fractions import Fraction


class Family(StrEnum):
    """The family of a transform, with its number c."""

    LOG = "log(x)"
    POWER = "x**c"
    EXP = "exp(c*x)"


@dataclass(frozen=True, slots=True)
class Transform:
    """T of one family, on all x of its domain, with its inverse there.

    A step may lead T(x) to a number that is no value of T: the inverse is then not a number, in emitted modules, too.
    """

    family: Family
    number: Fraction = Fraction(1)
    """c, not 0; a logarithm has none."""

    @property
    def onto(self) -> bool:
        """Whether every real number is a value of T."""
        return self.family is Family.LOG

    def says(self, x: str) -> str:
        """Return T(x) as text: `log(x[i])`, `x[i]**(1/2)`, `exp(-2*x[i])`."""
        match self.family:
            case Family.LOG:
                return f"log({x})"
            case Family.POWER:
                c = str(self.number)
                return f"{x}**{c if c.isdecimal() else f'({c})'}"
            case Family.EXP:
                c = "" if self.number == 1 else "-" if self.number == -1 else f"{self.number}*"
                return f"exp({c}{x})"
