"""The suite: `pytest --pyargs olpick.conformance`."""
