"""Logistic regression with a ridge, each coefficient held to the sign that it can have."""

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

Floats = NDArray[np.float64]
STEPS = 1_500
"""Steps of the accelerated descent; more change no figure that is printed."""
BIAS_RIDGE = 1e-6


@dataclass(frozen=True, slots=True, kw_only=True)
class Fitted:
    """Weights, one a column, and the bias."""

    weights: Floats
    bias: float

    def probabilities(self, columns: Floats) -> Floats:
        """Return the probability of each row."""
        logits = np.clip(columns @ self.weights + self.bias, -30.0, 30.0)
        return np.asarray(1.0 / (1.0 + np.exp(-logits)))


def fit(columns: Floats, right: Floats, counts: Floats, signs: Floats, ridge: float) -> Fitted:
    """Fit rows that count *counts*; *columns* have unit variance.

    A weight stays on the side of zero that its column's sign names (0: either), since a column that
    speaks the other way only fits what these data happen to hold. Projected gradient descent with
    Nesterov's momentum (Beck and Teboulle 2009, FISTA).
    """
    rows = np.c_[columns, np.ones(len(columns))]
    penalty = np.full(rows.shape[1], ridge)
    penalty[-1] = BIAS_RIDGE
    sides = np.append(signs, 0.0)
    steepest = 0.25 * np.linalg.eigvalsh((rows.T * counts) @ rows)[-1] + ridge
    solution = ahead = np.zeros(rows.shape[1])
    momentum = 1.0
    for _ in range(STEPS):
        chances = 1.0 / (1.0 + np.exp(-np.clip(rows @ ahead, -30.0, 30.0)))
        slope = rows.T @ (counts * (chances - right)) + penalty * ahead
        stepped = ahead - slope / steepest
        stepped = np.where(stepped * sides < 0.0, 0.0, stepped)
        faster = (1.0 + np.sqrt(1.0 + 4.0 * momentum**2)) / 2.0
        ahead = stepped + (momentum - 1.0) / faster * (stepped - solution)
        solution, momentum = stepped, faster
    return Fitted(weights=solution[:-1], bias=float(solution[-1]))
