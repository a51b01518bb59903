"""The hash of a tensor is kept: equal ones have one, and another process computes its own."""

import pickle

import pytest


@pytest.mark.parametrize("text", ["theta.T @ A @ r", "1/(1 + exp(theta.T @ A @ r))", "2*theta.T @ inv(S) @ r/3"])
def test_a_hash_is_that_of_equal_tensors_and_is_not_sent_along(read, text: str) -> None:
    made, again = read(text), read(text)
    sent = pickle.dumps(made)
    assert hash(made) == hash(again) == hash(pickle.loads(sent))
    assert pickle.dumps(made) == sent
