"""The vectors."""

import pytest
from olpick.conformance.adapters import Decoder, Selector
from olpick.conformance.answers import NotAskedError
from olpick.conformance.vectors import Vector, disagreements, vectors

VECTORS = vectors()


@pytest.mark.parametrize("vector", VECTORS, ids=[vector.id for vector in VECTORS])
def test_vector(decoder: Decoder, vector: Vector) -> None:
    """The answer is the one that the vector states; another may do where the specification is open."""
    select = decoder.select if isinstance(decoder, Selector) else None
    try:
        differ = disagreements(vector, decoder.decode, select)
    except NotAskedError:
        pytest.skip("it cannot be asked")
    if differ and vector.result == "acceptable":
        pytest.skip(f"another reading of {vector.requirement}: {differ}")
    assert differ == [], vector.comment
