"""The fitted gate that comes with the program; ``bench/gate/fit.py`` writes its file."""

import hashlib
import json
from importlib import resources

from graft_memstore.gate import Coefficient, GateModel

MODEL_FILE = "gate_model.json"


def parse_gate_model(text: str) -> GateModel:
    """Read a fitted gate from JSON."""
    told = json.loads(text)
    return GateModel(
        bias=float(told["bias"]),
        coefficients={
            name: Coefficient(weight=each["weight"], low=each["low"], high=each["high"])
            for name, each in told["coefficients"].items()
        },
        strong=float(told["strong"]),
        weak=float(told["weak"]),
    )


_TEXT = resources.files("graft_memstore").joinpath(MODEL_FILE).read_text("utf-8")

GATE_MODEL = parse_gate_model(_TEXT)
"""It never changes while the program runs."""
GATE_DIGEST = hashlib.sha256(_TEXT.encode()).hexdigest()
"""Tells it from one that was fitted anew."""
