"""Examples of rules about exponentials, logarithms and the logistic function."""

LIMIT = "the logistic function has limits where the quotient is that of two infinite numbers"
TERMS = "one is added to the sum of the other terms"
PROBABILITY = "what a logit is taken of is a probability"

ROWS = {
    "local_exp_over_1_plus_exp": {"limits": LIMIT},
    "local_log1p": {"regroups": TERMS},
    "local_log1p_minus_one": {"regroups": TERMS},
    "local_sigmoid_logit": {"assumes_finite": PROBABILITY},
    "sigmoid_of_logit": {"assumes_finite": PROBABILITY},
}
EXAMPLES: dict[str, list] = {}
