"""Names that an emitted module had to change."""

import pytest

from recipe_compiler.errors import CompilerError
from recipe_compiler.run.load_module import users_name


def test_a_declared_name_is_itself_and_others_lose_underscores() -> None:
    assert users_name("c", {"c", "c_"}) == "c"
    assert users_name("c_", {"c", "c_"}) == "c_"
    assert users_name("eps__", {"eps"}) == "eps"


def test_a_name_nobody_declared_is_a_bug() -> None:
    with pytest.raises(CompilerError, match="`q_`"):
        users_name("q_", {"c"})
