"""Functions of SymPy that are called without types.

SymPy states none: to work those of these five out from its code takes a checker as long as a tenth of this package.
"""

from typing import Any, cast

import sympy
from sympy.integrals.rationaltools import ratint as of_rational

factor = cast(Any, sympy.factor)
groebner = cast(Any, sympy.groebner)
ratint = cast(Any, of_rational)
reduced = cast(Any, sympy.reduced)
rem = cast(Any, sympy.rem)
