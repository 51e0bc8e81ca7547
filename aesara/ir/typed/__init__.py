"""Functions in a typed subset of Python, translated to LLVM IR: the code of the runtime and of random draws.

===============  ================================================================
module           contents
===============  ================================================================
``types``        types of parameters and values, structures
``function``     the decorator `typed_function`; C functions, constant arrays
``operations``   operations that Python has no syntax for
``translate``    translation of a function; ``values``: of its expressions
===============  ================================================================
"""
