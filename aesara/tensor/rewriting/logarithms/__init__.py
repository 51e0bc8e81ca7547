"""Exponentials and logarithms that neither overflow nor lose digits.

==================  ==================================================================================
``scaled``          a number times an exponential (`Scaled`), and the search for it
``analysis``        the table of the forms of each op
``products``        forms of exponentials, probabilities, products, powers and choices
``sums``            forms of sums: of terms, along axes, in products of matrices
``functions``       forms of powers, gamma and hyperbolic functions
``differences``     forms of differences
``shifting``        sums with the largest exponent factored out
``rules``           rules that replace logarithms by those of forms
``powers``          rules about logarithms of powers, and sums with softplus
``exponentials``    rules about exponentials and logarithms with one or two terms, one row each
``quotients``       exponentials divided by sums of them
==================  ==================================================================================
"""

from aesara.tensor.rewriting.logarithms import exponentials, powers, quotients, rules

#: The rules about logarithms, in the order in which they are tried. The rules in `exponentials` are tried before, with
#: other rules about single functions.
RULES = (rules.rules, powers.rules)

__all__ = ["RULES", "exponentials", "powers", "quotients", "rules"]
