"""Means, variances, quantiles, covariances and histograms."""
