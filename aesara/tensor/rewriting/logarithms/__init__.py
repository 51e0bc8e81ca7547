"""Exponentials and logarithms that neither overflow nor lose digits.

==================  ==================================================================================
``analysis``        which forms each op has: the table of what is found as a number times an exponential
``scaled``          such a number (`Scaled`), and the search for it
``products``        the forms of exponentials, probabilities, products, powers and choices
``sums``            of sums: of terms, along axes, in products of matrices
``functions``       of functions that leave the range: powers, gamma and hyperbolic functions
``differences``     of differences
``shifting``        the largest exponent taken out of a sum
``logarithm``       logarithms of forms
``rules``           the rules that take them
``along_axes``      rules about logarithms of products along axes
``powers``          rules about logarithms of powers, and sums with softplus
``exponentials``    rules about exponentials and logarithms with one or two terms, one row each
``quotients``       exponentials divided by sums of them
==================  ==================================================================================
"""

from aesara.tensor.rewriting.logarithms import along_axes, exponentials, one_plus_powers, powers, quotients, rules

#: The rules about logarithms, in the order in which they are tried. Those of `exponentials` come before, with other
#: rules about single functions.
RULES = (rules.rules, along_axes.rules, powers.rules, one_plus_powers.rules)

__all__ = ["RULES", "along_axes", "exponentials", "one_plus_powers", "powers", "quotients", "rules"]
