"""Names of Theano and their places here: a row for each module whose name has changed, and for names that have."""

from __future__ import annotations

__all__ = ["MODULES", "NAMES", "THEANO_VERSION"]

#: The last version of Theano-PyMC, whose names are supported too.
THEANO_VERSION = "1.1.2"

#: Modules of Theano, without ``theano.``, and the modules with their names, without ``aesara.``. Other modules have the
#: same name in both.
MODULES: dict[str, tuple[str, ...]] = {
    "": ("",),
    "compat": (),
    "compile": ("compile", "compile.mode", "compile.sharedvalue", "compile.io", "compile.builders", "compile.ops"),
    "compile.function": ("compile.function",),
    "compile.function_module": ("compile.function.types",),
    "compile.pfunc": ("compile.function.pfunc",),
    "gof": (
        "graph", "graph.basic", "graph.op", "graph.type", "graph.fg", "graph.features", "graph.opt", "graph.optdb",
        "graph.utils", "graph.null_type", "graph.destroyhandler", "link.basic", "link.utils",
    ),
    "gof.destroyhandler": ("graph.destroyhandler",),
    "gof.fg": ("graph.fg",),
    "gof.graph": ("graph.basic",),
    "gof.link": ("link.basic", "link.utils"),
    "gof.null_type": ("graph.null_type",),
    "gof.op": ("graph.op", "graph.utils"),
    "gof.opt": ("graph.opt", "graph.rewriting.basic"),
    "gof.optdb": ("graph.optdb",),
    "gof.sched": ("graph.sched",),
    "gof.toolbox": ("graph.features",),
    "gof.type": ("graph.type",),
    "gof.utils": ("graph.utils",),
    "gof.vm": ("link.vm",),
    "sandbox.fourier": ("tensor.fourier",),
    "sandbox.linalg": ("tensor.nlinalg", "tensor.slinalg"),
    "sandbox.linalg.ops": ("tensor.nlinalg", "tensor.slinalg"),
    "sandbox.neighbours": ("tensor.nnet.neighbours",),
    "sandbox.solve": ("tensor.slinalg",),
    "scan_module": ("scan",),
    "scan_module.scan": ("scan.basic",),
    "scan_module.scan_op": ("scan.op",),
    "scan_module.scan_utils": ("scan.utils",),
    "scan_module.scan_views": ("scan.views",),
    "sparse": ("sparse", "sparse.type", "sparse.sharedvar"),
    "tensor": (
        "tensor", "tensor.basic", "tensor.math", "tensor.elemwise", "tensor.subtensor", "tensor.type", "tensor.var",
        "tensor.extra_ops", "tensor.shape", "tensor.sharedvar", "tensor.sort",
    ),
    "tensor.basic": (
        "tensor", "tensor.basic", "tensor.math", "tensor.type", "tensor.var", "tensor.shape", "tensor.elemwise",
    ),
    "tensor.nnet": ("tensor.nnet", "tensor.nnet.basic", "tensor.nnet.batchnorm", "tensor.special", "tensor.math"),
    "tensor.nnet.bn": ("tensor.nnet.batchnorm",),
    "tensor.nnet.nnet": ("tensor.nnet.basic", "tensor.nnet", "tensor.special", "tensor.math"),
    "tensor.nnet.sigm": ("tensor.nnet.sigm", "tensor.math"),
    "tensor.opt": ("tensor.basic_opt", "tensor.math_opt", "tensor.subtensor_opt"),
    "tensor.raw_random": ("tensor.random.basic",),
    "tensor.shared_randomstreams": ("compat.theano.random_streams",),
    "tensor.signal.downsample": ("tensor.signal.pool",),
}  # fmt: skip

_SOFTMAX = {name: f"compat.theano.adapted:{name}" for name in ("softmax", "logsoftmax")}

#: Names of these modules that have another name in another module here: ``module:name``.
NAMES: dict[str, dict[str, str]] = {
    "": {
        "Apply": "graph.basic:Apply",
        "Constant": "graph.basic:Constant",
        "Op": "compat.theano.adapted:TheanoOp",
        "OpFromGraph": "compile.builders:OpFromGraph",
        "Param": "compile.io:In",
        "Print": "printing:Print",
        "SharedVariable": "compile.sharedvalue:SharedVariable",
        "Type": "graph.type:Type",
        "__version__": "compat.theano.names:THEANO_VERSION",
        "as_op": "compile.ops:as_op",
        "change_flags": "compat.theano.adapted:change_flags",
        "clone": "compat.theano.adapted:clone",
        "sparse_grad": "sparse.row_gradients:sparse_grad",
    },
    "configparser": {"change_flags": "compat.theano.adapted:change_flags"},
    "gof": {
        "FunctionGraph": "compat.theano.adapted:TheanoFunctionGraph",
        "Op": "compat.theano.adapted:TheanoOp",
    },
    "gof.fg": {"FunctionGraph": "compat.theano.adapted:TheanoFunctionGraph"},
    "gof.graph": {
        "ancestors": "compat.theano.adapted:ancestors",
        "inputs": "compat.theano.adapted:graph_inputs",
        "ops": "compat.theano.adapted:nodes_between",
        "orphans": "compat.theano.adapted:orphans",
        "variables": "compat.theano.adapted:variables",
        "variables_and_orphans": "compat.theano.adapted:variables_and_orphans",
    },
    "gof.op": {"Op": "compat.theano.adapted:TheanoOp"},
    "gof.utils": {"hashtype": "compat.theano.adapted:hashtype"},
    "graph": {"FunctionGraph": "compat.theano.adapted:TheanoFunctionGraph"},
    "graph.fg": {"FunctionGraph": "compat.theano.adapted:TheanoFunctionGraph"},
    "sandbox.rng_mrg": {"MRG_RandomStreams": "sandbox.rng_mrg:MRG_RandomStream"},
    "tensor": {
        "Lop": "gradient:Lop",
        "Rop": "gradient:Rop",
        "Tensor": "tensor.type:TensorType",
        "TensorVariable": "compat.theano.adapted:TheanoTensorVariable",
        "Tri": "tensor.basic:Tri",
        "addbroadcast": "tensor:specify_broadcastable",
        "copy": "tensor:tensor_copy",
        "hashtype": "compat.theano.adapted:hashtype",
        "numeric_grad": "gradient:numeric_grad",
        "patternbroadcast": "compat.theano.adapted:patternbroadcast",
        "to_one_hot": "tensor.extra_ops:to_one_hot",
        "verify_grad": "gradient:verify_grad",
    },
    "tensor.basic": {
        "addbroadcast": "tensor:specify_broadcastable",
        "patternbroadcast": "compat.theano.adapted:patternbroadcast",
    },
    "tensor.var": {"TensorVariable": "compat.theano.adapted:TheanoTensorVariable"},
    "tensor.nnet": _SOFTMAX | {"softmax_graph": "tensor.special:softmax"},
    "tensor.nnet.basic": _SOFTMAX,
    "tensor.nnet.nnet": _SOFTMAX,
    "tensor.signal.downsample": {"max_pool_2d": "compat.theano.adapted:max_pool_2d"},
    "tensor.slinalg": {
        "Solve": "compat.theano.adapted:solve_op",
        "solve_lower_triangular": "compat.theano.adapted:solve_lower_triangular",
        "solve_symmetric": "compat.theano.adapted:solve_symmetric",
        "solve_upper_triangular": "compat.theano.adapted:solve_upper_triangular",
    },
    "tensor.extra_ops": {"to_one_hot": "tensor.extra_ops:to_one_hot"},
    "version": {"version": "compat.theano.names:THEANO_VERSION"},
}
