"""Names of Theano and their places here: a row for each module whose name has changed, and for names that have."""

from __future__ import annotations

__all__ = ["MODULES", "NAMES", "THEANO_VERSION"]

#: the last version under this name, by the authors of PyMC, whose names these are, too
THEANO_VERSION = "1.1.2"

#: modules of Theano, without ``theano.``, and the modules that have their names, without ``aesara.``; others have one
#: name here and there
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
    "tensor.shared_randomstreams": ("theano_compat.random_streams",),
    "tensor.signal.downsample": ("tensor.signal.pool",),
}  # fmt: skip

_SOFTMAX = {name: f"theano_compat.adapted:{name}" for name in ("softmax", "logsoftmax")}

#: names of these modules that are another name of another module here: ``module:name``
NAMES: dict[str, dict[str, str]] = {
    "": {
        "Apply": "graph.basic:Apply",
        "Constant": "graph.basic:Constant",
        "Op": "theano_compat.adapted:TheanoOp",
        "OpFromGraph": "compile.builders:OpFromGraph",
        "Param": "compile.io:In",
        "Print": "printing:Print",
        "SharedVariable": "compile.sharedvalue:SharedVariable",
        "Type": "graph.type:Type",
        "__version__": "theano_compat.names:THEANO_VERSION",
        "as_op": "compile.ops:as_op",
        "change_flags": "theano_compat.adapted:change_flags",
        "clone": "theano_compat.adapted:clone",
        "sparse_grad": "sparse.row_gradients:sparse_grad",
    },
    "configparser": {"change_flags": "theano_compat.adapted:change_flags"},
    "gof": {
        "FunctionGraph": "theano_compat.adapted:TheanoFunctionGraph",
        "Op": "theano_compat.adapted:TheanoOp",
    },
    "gof.fg": {"FunctionGraph": "theano_compat.adapted:TheanoFunctionGraph"},
    "gof.graph": {
        "ancestors": "theano_compat.adapted:ancestors",
        "inputs": "theano_compat.adapted:graph_inputs",
        "ops": "theano_compat.adapted:nodes_between",
        "orphans": "theano_compat.adapted:orphans",
        "variables": "theano_compat.adapted:variables",
        "variables_and_orphans": "theano_compat.adapted:variables_and_orphans",
    },
    "gof.op": {"Op": "theano_compat.adapted:TheanoOp"},
    "gof.utils": {"hashtype": "theano_compat.adapted:hashtype"},
    "graph": {"FunctionGraph": "theano_compat.adapted:TheanoFunctionGraph"},
    "graph.fg": {"FunctionGraph": "theano_compat.adapted:TheanoFunctionGraph"},
    "sandbox.rng_mrg": {"MRG_RandomStreams": "sandbox.rng_mrg:MRG_RandomStream"},
    "tensor": {
        "Lop": "gradient:Lop",
        "Rop": "gradient:Rop",
        "Tensor": "tensor.type:TensorType",
        "TensorVariable": "theano_compat.adapted:TheanoTensorVariable",
        "Tri": "tensor.basic:Tri",
        "addbroadcast": "tensor:specify_broadcastable",
        "copy": "tensor:tensor_copy",
        "hashtype": "theano_compat.adapted:hashtype",
        "numeric_grad": "gradient:numeric_grad",
        "patternbroadcast": "theano_compat.adapted:patternbroadcast",
        "to_one_hot": "tensor.extra_ops:to_one_hot",
        "verify_grad": "gradient:verify_grad",
    },
    "tensor.basic": {
        "addbroadcast": "tensor:specify_broadcastable",
        "patternbroadcast": "theano_compat.adapted:patternbroadcast",
    },
    "tensor.var": {"TensorVariable": "theano_compat.adapted:TheanoTensorVariable"},
    "tensor.nnet": _SOFTMAX | {"softmax_graph": "tensor.special:softmax"},
    "tensor.nnet.basic": _SOFTMAX,
    "tensor.nnet.nnet": _SOFTMAX,
    "tensor.signal.downsample": {"max_pool_2d": "theano_compat.adapted:max_pool_2d"},
    "tensor.slinalg": {
        "Solve": "theano_compat.adapted:solve_op",
        "solve_lower_triangular": "theano_compat.adapted:solve_lower_triangular",
        "solve_symmetric": "theano_compat.adapted:solve_symmetric",
        "solve_upper_triangular": "theano_compat.adapted:solve_upper_triangular",
    },
    "tensor.extra_ops": {"to_one_hot": "tensor.extra_ops:to_one_hot"},
    "version": {"version": "theano_compat.names:THEANO_VERSION"},
}
