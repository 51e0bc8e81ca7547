"""Functions of each element: `Elemwise`, and the functions of one scalar op each."""
