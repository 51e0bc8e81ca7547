"""Printing of graphs, as trees, formulas and pictures, and of values at run time."""

from functools import partial as _partial

from aesara.configdefaults import config
from aesara.printing.describe import hex_digest, min_informative_str, position_independent_str, var_descriptor
from aesara.printing.explain import Explanation, explain
from aesara.printing.formula import (
    ConstantPrinter,
    DefaultPrinter,
    FunctionPrinter,
    IgnorePrinter,
    LeafPrinter,
    OperatorPrinter,
    PatternPrinter,
    PPrinter,
    Printer,
    PrinterState,
    constant_printer,
    default_printer,
    leaf_printer,
    pp,
    pprint,
    set_precedence,
)
from aesara.printing.identifiers import char_from_number
from aesara.printing.loops import loop_remarks
from aesara.printing.notebook import html_of
from aesara.printing.operations import register_package_operations
from aesara.printing.picture import drawing_facts as _drawing_facts
from aesara.printing.picture import pydotprint
from aesara.printing.print_op import Print
from aesara.printing.rewrite_trace import RewriteStep, RewriteTrace, rewrite_profile, rewrite_trace
from aesara.printing.short_formula import short_formula
from aesara.printing.tree import debugprint, get_node_by_id, op_debug_information

register_package_operations(pprint)

__all__ = [
    "ConstantPrinter",
    "DefaultPrinter",
    "Explanation",
    "FunctionPrinter",
    "IgnorePrinter",
    "LeafPrinter",
    "OperatorPrinter",
    "PPrinter",
    "PatternPrinter",
    "Print",
    "Printer",
    "PrinterState",
    "RewriteStep",
    "RewriteTrace",
    "char_from_number",
    "config",
    "constant_printer",
    "debugprint",
    "default_printer",
    "explain",
    "get_node_by_id",
    "hex_digest",
    "leaf_printer",
    "min_informative_str",
    "op_debug_information",
    "position_independent_str",
    "pp",
    "pprint",
    "pydotprint",
    "rewrite_profile",
    "rewrite_trace",
    "set_precedence",
    "var_descriptor",
]

__getattr__ = _partial(_drawing_facts, __name__)
