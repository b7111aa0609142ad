"""The cases of the vectors, one module a file. Every expected answer is written by hand from `SPEC.md`."""
