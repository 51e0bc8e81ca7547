"""The type of tensors, and what everything else needs: dtypes, conversion of values, operators, known values."""
