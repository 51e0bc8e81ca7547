"""Draws from a posterior, by whatever version of PyMC is there."""


def sampled(pm, model, draws=400, **options):
    """What `pm.sample` returns for one chain, with the same draws in each run."""
    with model:
        return pm.sample(
            draws, tune=300, chains=1, cores=1, progressbar=False, random_seed=3, compute_convergence_checks=False,
            **options,
        )  # fmt: skip
