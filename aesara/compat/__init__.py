"""Names, paths and options of Aesara 2.9.4 and Theano for which the package has no use of its own.

The package imports nothing from here, except `aesara` itself, for the options and the names of rules that programs may
set, and the modules at documented paths, which contain nothing but imports.
"""

from aesara.compat import options_without_effect, rule_names
from aesara.compat.other_modules import explain_imports

explain_imports()
