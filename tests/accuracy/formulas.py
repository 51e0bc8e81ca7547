"""Formulas as they are written in textbooks, and random ones of the same functions."""

from __future__ import annotations

import random
from collections.abc import Callable

import numpy as np

import aesara.tensor as at
from aesara.graph.nodes import Variable
from aesara.tensor.special import ndtr

Formula = Callable[[Variable, Variable], Variable]
ROOT = np.sqrt(2.0)


def logistic(x):
    return at.exp(x) / (1 + at.exp(x))


#: Functions of `x` and `y`; derivatives are by `x`.
WRITTEN: dict[str, Formula] = {
    "log of hyperbolic secants": lambda x, y: at.log(1 / at.cosh(x) + 1 / at.cosh(x - 5)),
    "inverse gamma": lambda x, y: at.log(x ** (-y - 1) * at.exp(-1 / x) / at.gamma(y)),
    "inverse gamma by rate": lambda x, y: at.log(y**2 / at.gamma(2.0) * x**-3 * at.exp(-y / x)),
    "binary": lambda x, y: 3 * at.log(logistic(x)) + 7 * at.log(1 - logistic(x)),
    "binomial": lambda x, y: at.log(logistic(x) ** 3 * (1 - logistic(x)) ** 7),
    "binary, of one probability": lambda x, y: (lambda p: 0.3 * at.log(p) + 0.7 * at.log(1 - p))(logistic(x)),
    "binomial, of one probability": lambda x, y: (lambda p: at.log(p**3 * (1 - p) ** 7))(logistic(x)),
    "log of the rest of a share": lambda x, y: at.log(1 - at.exp(x) / (at.exp(x) + at.exp(y) + at.exp(-x))),
    "softmax of three": lambda x, y: at.exp(x) / (at.exp(x) + at.exp(y) + at.exp(2 * x)),
    "softmax of two": lambda x, y: at.exp(x) / (at.exp(x) + at.exp(y)),
    "log softmax of three": lambda x, y: at.log(at.exp(x) / (at.exp(x) + at.exp(y) + at.exp(0.5 * x))),
    "log of difference of erf": lambda x, y: at.log(at.erf(x + 1) - at.erf(x)),
    "log of difference of erf of two": lambda x, y: at.log(at.erf(x) - at.erf(y)),
    "log of difference of erfc": lambda x, y: at.log(at.erfc(x) - at.erfc(x + 1)),
    "truncated normal": lambda x, y: at.log(
        at.exp(-0.5 * x**2) / np.sqrt(2 * np.pi) / (ndtr(x + 1) - ndtr(x - 1))
    ),
    "truncated normal by erf": lambda x, y: at.log(
        at.exp(-0.5 * x**2) / (0.5 * (at.erf((x + 1) / ROOT) - at.erf((x - 1) / ROOT)))
    ),
    "hurdle": lambda x, y: at.log((1 - at.sigmoid(y)) * at.exp(x) ** 3 * at.exp(-at.exp(x)) / (1 - at.exp(-at.exp(x)))),
    "hurdle in terms": lambda x, y: 3 * x - at.exp(x) - at.log(1 - at.exp(-at.exp(x))),
    "zero-inflated": lambda x, y: at.log(at.sigmoid(y) + (1 - at.sigmoid(y)) * at.exp(-at.exp(x))),
    "zero-inflated constant": lambda x, y: at.log(0.3 + 0.7 * at.exp(-at.exp(x))),
    "zero-inflated rate": lambda x, y: at.log(0.3 + 0.7 * at.exp(-x)),
    "normal hazard": lambda x, y: at.exp(-0.5 * x**2) / np.sqrt(2 * np.pi) / (1 - ndtr(x)),
    "normal hazard by erfc": lambda x, y: at.exp(-0.5 * x**2) / (0.5 * at.erfc(x / ROOT)),
    "log normal hazard": lambda x, y: at.log(at.exp(-0.5 * x**2) / (1 - ndtr(x))),
    "inverse Mills": lambda x, y: at.exp(-0.5 * x**2) / ndtr(x),
    "log cosh": lambda x, y: at.log(at.cosh(x)),
    "log sum of cosh": lambda x, y: at.log(at.cosh(x) + at.cosh(y)),
    "log of sech": lambda x, y: at.log(1 / at.cosh(x)),
    "log of exponentials": lambda x, y: at.log(at.exp(x) + at.exp(-x)),
    "log of three": lambda x, y: at.log(at.exp(x) + at.exp(y) + 1),
    "log of weighted": lambda x, y: at.log(0.3 * at.exp(x) + 0.7 * at.exp(y)),
    "mixture of normals": lambda x, y: at.log(0.3 * at.exp(-0.5 * x**2) + 0.7 * at.exp(-0.5 * (x - 5) ** 2)),
    "mixture of Laplace": lambda x, y: at.log(0.3 * at.exp(-abs(x)) + 0.7 * at.exp(-abs(x - 5) / 2)),
    "mixture of logistic densities": lambda x, y: at.log(
        at.sigmoid(x) * at.sigmoid(-x) + at.sigmoid(x - 5) * at.sigmoid(5 - x)
    ),
    "mixture of Poisson": lambda x, y: at.log(0.3 * at.exp(3 * x - at.exp(x)) + 0.7 * at.exp(3 * y - at.exp(y))),
    "softplus": lambda x, y: at.log(1 + at.exp(x)),
    "softplus of softplus": lambda x, y: at.log(1 + at.log(1 + at.exp(x))),
    "mish": lambda x, y: x * at.tanh(at.log(1 + at.exp(x))),
    "swish": lambda x, y: x / (1 + at.exp(-x)),
    "gelu": lambda x, y: 0.5 * x * (1 + at.erf(x / ROOT)),
    "logit": lambda x, y: at.log(at.sigmoid(x) / (1 - at.sigmoid(x))),
    "log logistic density": lambda x, y: at.log(at.exp(-x) / (1 + at.exp(-x)) ** 2),
    "logistic density": lambda x, y: at.exp(-x) / (1 + at.exp(-x)) ** 2,
    "tanh": lambda x, y: (at.exp(x) - at.exp(-x)) / (at.exp(x) + at.exp(-x)),
    "tanh of quotient": lambda x, y: (1 - at.exp(-2 * x)) / (1 + at.exp(-2 * x)),
    "coth": lambda x, y: at.cosh(x) / at.sinh(x),
    "Jacobian of tanh": lambda x, y: at.log(1 - at.tanh(x) ** 2),
    "Langevin": lambda x, y: at.cosh(x) / at.sinh(x) - 1 / x,
    "Planck": lambda x, y: x**3 / (at.exp(x) - 1),
    "log Planck": lambda x, y: at.log(x**3 / (at.exp(x) - 1)),
    "Bose": lambda x, y: 1 / (at.exp(x) - 1),
    "Fermi": lambda x, y: 1 / (at.exp((x - y) / 2) + 1),
    "Debye": lambda x, y: x**2 * at.exp(x) / (at.exp(x) - 1) ** 2,
    "cloglog": lambda x, y: at.log(1 - at.exp(-at.exp(x))),
    "Gumbel": lambda x, y: at.log(at.exp(-(x + at.exp(-x)))),
    "Gompertz": lambda x, y: at.log(at.exp(x) * at.exp(-2 * (at.exp(x) - 1))),
    "Gompertz survival": lambda x, y: 1 - at.exp(-2 * (at.exp(x) - 1)),
    "Weibull": lambda x, y: at.log(2.5 / 3 * (x / 3) ** 1.5 * at.exp(-((x / 3) ** 2.5))),
    "Weibull by shape": lambda x, y: at.log(y / 3 * (x / 3) ** (y - 1) * at.exp(-((x / 3) ** y))),
    "gamma": lambda x, y: at.log(x ** (y - 1) * at.exp(-x) / at.gamma(y)),
    "gamma by shape": lambda x, y: at.log(y ** (x - 1) * at.exp(-y) / at.gamma(x)),
    "beta": lambda x, y: at.log(x**1.5 * (1 - x) ** 2.5 / 0.02),
    "beta by shape": lambda x, y: at.log(
        0.3 ** (x - 1) * 0.7 ** (y - 1) * at.gamma(x + y) / (at.gamma(x) * at.gamma(y))
    ),
    "Kumaraswamy": lambda x, y: at.log(2 * 3 * x * (1 - x**2) ** 2),
    "log-normal": lambda x, y: at.log(at.exp(-0.5 * at.log(x) ** 2) / (x * np.sqrt(2 * np.pi))),
    "Levy": lambda x, y: at.log(at.exp(-0.5 / x) / x**1.5),
    "inverse Gauss": lambda x, y: at.log(at.sqrt(1 / x**3) * at.exp(-((x - 1) ** 2) / (2 * x))),
    "Student": lambda x, y: at.log((1 + x**2 / 9) ** -5),
    "Cauchy": lambda x, y: at.log(1 / (1 + x**2)),
    "Poisson": lambda x, y: at.log(x**3 * at.exp(-x) / 6),
    "negative binomial": lambda x, y: at.log(at.sigmoid(x) ** 3 * (1 - at.sigmoid(x)) ** 2.5),
    "geometric": lambda x, y: at.log((1 - at.sigmoid(x)) ** 3 * at.sigmoid(x)),
    "ordered logistic": lambda x, y: at.log(at.sigmoid(x) - at.sigmoid(x - 1)),
    "ordered probit": lambda x, y: at.log(ndtr(x) - ndtr(x - 1)),
    "noisy or": lambda x, y: at.log(1 - (1 - at.sigmoid(x)) * (1 - at.sigmoid(y))),
    "skew normal": lambda x, y: at.log(2 * at.exp(-0.5 * x**2) * ndtr(3 * x)),
    "ex-Gauss": lambda x, y: at.log(0.5 * at.exp(0.5 - x) * at.erfc((1 - x) / ROOT)),
    "Voigt wing": lambda x, y: at.exp(x**2) * at.erfc(x),
    "log of tail": lambda x, y: at.log(1 - ndtr(x)),
    "log of erfc": lambda x, y: at.log(1 - at.erf(x)),
    "focal": lambda x, y: -((1 - logistic(x)) ** 2) * at.log(logistic(x)),
    "entropy": lambda x, y: -logistic(x) * at.log(logistic(x)) - (1 - logistic(x)) * at.log(1 - logistic(x)),
    "perplexity": lambda x, y: at.exp(-logistic(x) * at.log(logistic(x))),
    "difference": lambda x, y: (at.exp(x) - at.exp(y)) / (x - y),
    "von Mises": lambda x, y: at.log(at.exp(y * at.cos(x)) / y),
    "Stirling": lambda x, y: at.log(at.gamma(x)),
    "log of beta function": lambda x, y: at.log(at.gamma(x) * at.gamma(3.0) / at.gamma(x + 3.0)),
    "half of exponential": lambda x, y: at.sqrt(at.exp(x)),
    "logsumexp of squares": lambda x, y: at.log(at.exp(x**2) + at.exp(y**2)),
    "hypot of exponentials": lambda x, y: at.sqrt(at.exp(2 * x) + at.exp(2 * y)),
    "log1p of quotient": lambda x, y: at.log1p(at.exp(x) / at.exp(y)),
    "sigmoid of difference": lambda x, y: 1 / (1 + at.exp(y) / at.exp(x)),
    "log of log of softplus": lambda x, y: at.log(at.log(at.softplus(at.expm1(x**2)))),
    "share of powers": lambda x, y: at.exp(x) / (at.exp(x) + at.exp(2 * x - 1) + at.exp(0.5 * x)),
}  # fmt: skip

UNARY = {
    "exp": at.exp, "log": at.log, "log1p": at.log1p, "expm1": at.expm1, "sigmoid": at.sigmoid,
    "cosh": at.cosh, "sinh": at.sinh, "tanh": at.tanh, "erf": at.erf, "erfc": at.erfc, "ndtr": ndtr,
    "gamma": at.gamma, "sqrt": at.sqrt, "neg": at.neg, "softplus": at.softplus,
}  # fmt: skip
#: The functions that overflow, underflow or come near to a limit; the others are made of them.
INNER = ("exp", "exp", "exp", "cosh", "sinh", "tanh", "sigmoid", "erf", "erfc", "ndtr", "gamma", "expm1")
OUTER = ("log", "log", "log", "log", "sqrt", "log1p", "neg", "softplus", "exp", "square")
CONSTANTS = (1, 1, 1, 2, 0.5, 3, 0.3, 9)


class Writer:
    """Writes a random formula and what it is called."""

    def __init__(self, seed: int, x: Variable, y: Variable):
        self.random = random.Random(seed)
        self.x, self.y = x, y

    def argument(self) -> tuple[str, Variable]:
        x, y = self.x, self.y
        return self.random.choice([
            ("x", x), ("x", x), ("x", x), ("-x", -x), ("(x - 5)", x - 5), ("2*x", 2 * x), ("x/2", x / 2),
            ("x**2", x**2), ("-x**2", -(x**2)), ("-0.5*x**2", -0.5 * x**2), ("y", y), ("-y", -y), ("(x - y)", x - y),
            ("(x + 1)", x + 1), ("1/x", 1 / x), ("-exp(x)", -at.exp(x)), ("log(x)", at.log(x)), ("(x*y)", x * y),
        ])  # fmt: skip

    def inner(self) -> tuple[str, Variable]:
        """A function that leaves the range."""
        name, x = self.argument()
        kind = self.random.choice(INNER)
        return f"{kind}({name})", UNARY[kind](x)

    def expression(self, depth: int) -> tuple[str, Variable]:
        kind = self.random.random()
        if depth == 0 or kind < 0.1:
            return self.inner() if self.random.random() < 0.8 else self.argument()
        if kind < 0.3:
            name, x = self.expression(depth - 1)
            op = self.random.choice(OUTER)
            return f"{op}({name})", at.square(x) if op == "square" else UNARY[op](x)
        one, x = self.expression(depth - 1)
        if kind < 0.5:
            c = self.random.choice(CONSTANTS)
            op = self.random.choice(
                ["{1} + {0}", "{1} - {0}", "{0} - {1}", "{1}/{0}", "{1}*{0}", "{0}**{1}", "{0}/{1}"]
            )
            return f"({op.format(one, c)})", eval(op.format("x", c), {"x": x})
        other, z = self.expression(depth - 1)
        op = self.random.choice(["+", "+", "-", "*", "*", "/", "/"])
        return f"({one} {op} {other})", eval(f"x {op} z", {"x": x, "z": z})

    def formula(self) -> tuple[str, Variable]:
        name, x = self.expression(self.random.choice([2, 3, 3]))
        if self.random.random() < 0.5:
            return f"log({name})", at.log(x)
        return name, x


def random_formula(seed: int, x: Variable, y: Variable) -> tuple[str, Variable]:
    return Writer(seed, x, y).formula()
