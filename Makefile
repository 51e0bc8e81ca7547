# Everything runs in a virtual environment of its own (.venv); the only thing needed beforehand is Python 3.11+.
PYTHON ?= python3
VENV := .venv
PYTENSOR_VENV := .venv-pytensor
PYTENSOR_3_VENV := .venv-pytensor-3
JAX_VENV := .venv-jax
NOTEBOOK_VENV := .venv-notebook
LIBRARIES_VENV := .venv-libraries
PYMC4_VENV := .venv-pymc4
THEANO_VENV := .venv-theano
OLDEST_VENV := .venv-oldest
# most modules of what is installed are never imported: the others are compiled when they are
PIP_INSTALL := python -m pip install --quiet --disable-pip-version-check --no-compile
BIN := $(VENV)/bin

.PHONY: help venv environments old-environments demo radon nile diabetes smoother schools autoencoder networks pymc pymc-compare test test-in-workers test-in-main-thread test-jax test-notebook test-pytensor test-pytensor-3 test-libraries test-theano-libraries test-oldest quick levels mutate layers lint types bench bench-ops wheel reference clean
.DEFAULT_GOAL := help

help:
	@echo "make demo    train a small network on handwritten digits (writes digits.png)"
	@echo "make radon   sample a hierarchical model with Hamiltonian Monte Carlo (writes radon.png)"
	@echo "make nile    follow the flow of the Nile with a particle filter (writes nile.png)"
	@echo "make diabetes  fit a Gaussian process to the course of diabetes (writes diabetes.png)"
	@echo "make smoother  fit a Kalman smoother to the flow of the Nile (writes nile_smoothed.png)"
	@echo "make schools   sample the effects of coaching in eight schools (writes eight_schools.png)"
	@echo "make autoencoder  learn to draw handwritten digits (writes autoencoder.png)"
	@echo "make pymc     sample the models of examples/pymc with PyMC and nutpie, in an environment of their own"
	@echo "make pymc-compare  compare PyTensor's modes on these models (writes pymc_models.png)"
	@echo "make networks  train the networks of Theano's tutorials on handwritten digits"
	@echo "make quick   run a few tests of each file, on each change"
	@echo "make test    run the tests"
	@echo "make test-jax  run the tests of graphs compiled by JAX, in an environment of their own"
	@echo "make test-notebook  run a notebook in Jupyter's kernel, in an environment of its own"
	@echo "make test-pytensor  run the tests with PyTensor and PyMC, in an environment of their own"
	@echo "make test-pytensor-3  the same with PyTensor 3, without PyMC"
	@echo "make test-libraries  try aeppl, aehmc, aemcmc, SymPy, PyMC 4, Bambi and others, in environments of their own"
	@echo "make test-theano-libraries  try PyMC 3, Lasagne, theanets, Keras and others, in an environment of their own (Python 3.11 or 3.12)"
	@echo "make test-oldest  run a few tests of each file with the oldest versions of what is needed (Python 3.11 or 3.12)"
	@echo "make levels  run tests of results for the lower levels of processors that this one can run code for"
	@echo "make mutate  plant faults and see whether the tests notice, before a release"
	@echo "make layers  check imports between layers"
	@echo "make lint    ruff"
	@echo "make types   mypy"
	@echo "make bench   print the benchmark table"
	@echo "make bench-ops  measure every row of the op table beside NumPy and list what is slower here"
	@echo "make wheel   build the wheel, install it by itself and try it"
	@echo "make reference  write the reference pages again (docs/reference)"
	@echo "make clean   remove .venv and caches"

$(BIN)/python:
	@$(PYTHON) -c 'import sys; sys.exit(sys.version_info < (3, 11) and "aesara needs Python 3.11 or newer: make PYTHON=/path/to/python3.11")'
	$(PYTHON) -m venv $(VENV)

$(VENV)/demo.stamp: pyproject.toml | $(BIN)/python
	$(BIN)/$(PIP_INSTALL) -e '.[demo]'
	@touch $@

$(VENV)/test.stamp: pyproject.toml | $(BIN)/python
	$(BIN)/$(PIP_INSTALL) -e '.[test]'
	@touch $@ $(VENV)/demo.stamp

venv: $(VENV)/test.stamp

environments: $(foreach venv,$(VENV) $(JAX_VENV) $(NOTEBOOK_VENV) $(PYTENSOR_VENV) $(LIBRARIES_VENV) $(PYMC4_VENV),$(venv)/test.stamp)

old-environments: $(foreach venv,$(THEANO_VENV) $(OLDEST_VENV),$(venv)/test.stamp)

demo: $(VENV)/demo.stamp
	$(BIN)/python examples/digits.py
	@echo "Next: make radon (Hamiltonian Monte Carlo on a hierarchical model)."

radon: $(VENV)/demo.stamp
	$(BIN)/python examples/radon.py

nile: $(VENV)/demo.stamp
	$(BIN)/python examples/particle_filter.py

diabetes: $(VENV)/demo.stamp
	$(BIN)/python examples/gaussian_process.py

smoother: $(VENV)/demo.stamp
	$(BIN)/python examples/kalman_smoother.py

schools: $(VENV)/demo.stamp
	$(BIN)/python examples/eight_schools.py

autoencoder: $(VENV)/demo.stamp
	$(BIN)/python examples/autoencoder.py

networks: $(VENV)/demo.stamp
	$(BIN)/python examples/theano_networks.py

test: test-in-workers test-in-main-thread

test-in-workers: $(VENV)/test.stamp
	$(BIN)/python -m pytest -n auto -m 'not main_thread'

test-in-main-thread: $(VENV)/test.stamp
	$(BIN)/python -m pytest -m main_thread $$(grep -rl --include='test_*.py' 'mark\.main_thread' tests)

$(JAX_VENV)/test.stamp: pyproject.toml
	$(PYTHON) -m venv $(JAX_VENV)
	$(JAX_VENV)/bin/$(PIP_INSTALL) -e '.[test-jax]'
	@touch $@

# XLA may end the process while it compiles, once in some thousands of functions: what has failed is
# tried again.
test-jax: $(JAX_VENV)/test.stamp
	$(JAX_VENV)/bin/python -m pytest -n auto tests/link/jax_mode || $(JAX_VENV)/bin/python -m pytest --last-failed tests/link/jax_mode
	$(JAX_VENV)/bin/python -m pytest tests/test_docs.py tests/compat/test_other_modules.py -k jax

$(NOTEBOOK_VENV)/test.stamp: pyproject.toml
	$(PYTHON) -m venv $(NOTEBOOK_VENV)
	$(NOTEBOOK_VENV)/bin/$(PIP_INSTALL) -e '.[test-notebook]'
	@touch $@

test-notebook: $(NOTEBOOK_VENV)/test.stamp
	$(NOTEBOOK_VENV)/bin/python -m pytest tests/test_notebooks.py

$(PYTENSOR_VENV)/test.stamp: pyproject.toml
	$(PYTHON) -m venv $(PYTENSOR_VENV)
	$(PYTENSOR_VENV)/bin/$(PIP_INSTALL) -e '.[test-pytensor]'
	@touch $@

# chains, and tests side by side, are what uses the cores
pymc pymc-compare test-pytensor test-pytensor-3: export OPENBLAS_NUM_THREADS := 1

pymc: $(PYTENSOR_VENV)/test.stamp
	for model in radon eight_schools gaussian_process ordered_mixture time_series lotka_volterra; do \
	  $(PYTENSOR_VENV)/bin/python -W ignore examples/pymc/$$model.py || exit 1; done

pymc-compare: $(PYTENSOR_VENV)/test.stamp
	$(PYTENSOR_VENV)/bin/python examples/pymc/compare.py

$(PYTENSOR_3_VENV)/test.stamp: pyproject.toml
	$(PYTHON) -m venv $(PYTENSOR_3_VENV)
	$(PYTENSOR_3_VENV)/bin/$(PIP_INSTALL) -e '.[pytensor]' 'pytensor>=3' pytest pytest-xdist
	@touch $@

# no PyMC takes this PyTensor: the tests that need one are left out
test-pytensor-3: $(PYTENSOR_3_VENV)/test.stamp
	$(PYTENSOR_3_VENV)/bin/python -m pytest -n auto tests/pytensor_mode

test-pytensor: $(PYTENSOR_VENV)/test.stamp
	$(PYTENSOR_VENV)/bin/python -m pytest -n auto tests/pytensor_mode

# Libraries of Aesara's time ask for its versions by name: they are installed without what they ask for.
$(LIBRARIES_VENV)/test.stamp: pyproject.toml
	$(PYTHON) -m venv $(LIBRARIES_VENV)
	$(LIBRARIES_VENV)/bin/$(PIP_INSTALL) -e '.[kanren]' pytest polyagamma typing_extensions sympy==1.14.0
	$(LIBRARIES_VENV)/bin/$(PIP_INSTALL) --no-deps aeppl==0.1.5 aehmc==0.0.11 aemcmc==0.0.8 'exoplanet-core==0.2.0; python_version < "3.12"'
	@touch $@

$(PYMC4_VENV)/test.stamp: pyproject.toml
	$(PYTHON) -m venv $(PYMC4_VENV)
	$(PYMC4_VENV)/bin/$(PIP_INSTALL) -e . pytest pandas h5py cloudpickle fastprogress typing_extensions 'cachetools<6' 'arviz<0.22' 'matplotlib<3.11'
	$(PYMC4_VENV)/bin/$(PIP_INSTALL) --no-deps aeppl==0.0.38 pymc==4.4.0 bambi==0.9.2 formulae==0.3.4 calibr8==6.6.1 murefi==5.2.0
	@touch $@

# These are as old as Theano, and so are the versions that they need: NumPy 1.26 is there for Python 3.11 and 3.12.
$(THEANO_VENV)/test.stamp: pyproject.toml
	$(PYTHON) -m venv $(THEANO_VENV)
	$(THEANO_VENV)/bin/$(PIP_INSTALL) -e . pytest 'setuptools<80' wheel 'numpy<2' 'scipy<1.12' 'pandas<3' 'arviz<0.13' 'matplotlib<3.9' 'cachetools<5' dill fastprogress patsy semver typing_extensions deprecat pyyaml six
	$(THEANO_VENV)/bin/$(PIP_INSTALL) --no-deps --no-build-isolation pymc3==3.11.5 lasagne==0.1 theano-lstm==0.0.15 theanets==0.7.3 downhill==0.4.0 pymc3-hmm==0.2.5 celerite2==0.3.0 keras==2.3.1 keras-applications==1.0.8 keras-preprocessing==1.1.2
	@touch $@

test-theano-libraries: $(THEANO_VENV)/test.stamp
	$(THEANO_VENV)/bin/python -m pytest -W ignore tests/libraries/test_theano_libraries.py tests/libraries/test_pymc3_extensions.py tests/libraries/test_keras.py

test-libraries: $(LIBRARIES_VENV)/test.stamp $(PYMC4_VENV)/test.stamp
	$(LIBRARIES_VENV)/bin/python -m pytest -W ignore tests/libraries/test_sampling_libraries.py tests/libraries/test_sympy.py tests/libraries/test_exoplanet_core.py
	$(PYMC4_VENV)/bin/python -m pytest -W ignore tests/libraries/test_pymc4.py tests/libraries/test_bambi.py tests/libraries/test_murefi.py tests/libraries/test_pandas.py

$(OLDEST_VENV)/test.stamp: pyproject.toml
	$(PYTHON) -m venv $(OLDEST_VENV)
	$(OLDEST_VENV)/bin/$(PIP_INSTALL) -e '.[test]' numpy==1.26.0 scipy==1.11.1 llvmlite==0.45.0
	@touch $@

test-oldest: $(OLDEST_VENV)/test.stamp
	$(OLDEST_VENV)/bin/python -m pytest -n auto --quick -m 'not main_thread'

levels: $(VENV)/test.stamp
	$(BIN)/python -m tools.levels -n auto

quick: $(VENV)/test.stamp
	$(BIN)/python -m pytest -n auto --quick -m 'not main_thread'

mutate: $(VENV)/test.stamp
	$(BIN)/python -m tools.mutate

layers: $(VENV)/test.stamp
	$(BIN)/python -m pytest tests/test_layers.py

lint: $(VENV)/test.stamp
	$(BIN)/ruff check .

types: $(VENV)/test.stamp
	$(BIN)/mypy

bench: $(VENV)/demo.stamp
	$(BIN)/python benchmarks/run.py

bench-ops: $(VENV)/test.stamp
	$(BIN)/python benchmarks/optable.py

wheel: $(VENV)/test.stamp
	.ci/wheel $(BIN)/python

reference: $(VENV)/test.stamp
	$(BIN)/python -m tools.reference

clean:
	rm -rf $(VENV) $(JAX_VENV) $(NOTEBOOK_VENV) $(PYTENSOR_VENV) $(PYTENSOR_3_VENV) $(LIBRARIES_VENV) $(PYMC4_VENV) $(THEANO_VENV) $(OLDEST_VENV) .pytest_cache .ruff_cache .mypy_cache .hypothesis build dist
