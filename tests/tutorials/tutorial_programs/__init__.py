"""Programs of the kind that tutorials show. Each is a function that calls `show` with what there is to see."""
