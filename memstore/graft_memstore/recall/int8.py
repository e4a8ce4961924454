"""Vectors in a byte per component, and their dot products at the speed of memory."""

import importlib.util
import math
from collections.abc import Callable

import numpy as np
from numpy.typing import NDArray

LEVELS = 127
"""Largest absolute value of a component."""

CERTAIN_DEVIATIONS = 6.0
"""One score in a thousand million is further off than so many deviations."""

FALLBACK_ROWS = 1_024
"""Rows that the fallback widens at once, so that its copy stays in the cache."""

Dots = Callable[[NDArray[np.int8], NDArray[np.int8]], NDArray[np.float32]]
"""Takes a vector and the rows of a matrix, gives their dot products.

Sums of products of bytes stay below 2**24 up to 1,040 components: exact in float32.
"""


def quantise(vectors: NDArray[np.float32]) -> tuple[NDArray[np.int8], NDArray[np.float32]]:
    """Return each row in bytes, by its own largest component, and what its bytes stand for.

    A fixed scale would leave a unit vector of a thousand components four levels to each.
    """
    largest = np.abs(vectors).max(axis=1, keepdims=True)
    steps = np.where(largest > 0, largest, 1.0) / LEVELS
    return np.rint(vectors / steps).astype(np.int8), steps[:, 0].astype(np.float32)


def coarse_error(one_step: float, other_step: float) -> float:
    """Return what the cosine of two unit vectors in bytes is hardly ever off by.

    Rounding a component errs evenly within half a step, so by a variance of step²/12; weighted by
    the components of a unit vector those sum to just that, once for each of the two vectors.
    """
    return CERTAIN_DEVIATIONS * math.sqrt((one_step**2 + other_step**2) / 12)


def numpy_dots(vector: NDArray[np.int8], rows: NDArray[np.int8]) -> NDArray[np.float32]:
    """Return the dot product of *vector* with each row, by numpy alone."""
    products = np.empty(len(rows), dtype=np.float32)
    wide = vector.astype(np.float32)
    for start in range(0, len(rows), FALLBACK_ROWS):
        block = rows[start : start + FALLBACK_ROWS]
        products[start : start + len(block)] = block.astype(np.float32) @ wide
    return products


def fastest_dots() -> Dots:
    """Return numkong's dot products where it has a wheel, else numpy's."""
    if importlib.util.find_spec("numkong") is None:
        return numpy_dots
    from numkong import dot  # noqa: PLC0415 - absent on new Pythons; numpy stands in for it

    def numkong_dots(vector: NDArray[np.int8], rows: NDArray[np.int8]) -> NDArray[np.float32]:
        products = dot(vector[np.newaxis, :], rows, out_dtype="float32")
        return np.asarray(products, dtype=np.float32).reshape(-1)

    return numkong_dots
