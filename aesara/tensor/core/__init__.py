"""The type of tensors, dtypes, conversion of values, operators, and deduction of constant values."""
