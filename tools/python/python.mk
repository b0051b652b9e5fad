# SPDX-License-Identifier: LGPL-2.1 OR BSD-2-Clause
#
# The Python package krdma, as a wheel.  Included by the Makefile at the top.
#
# Not the interpreter of PATH: only the distribution's has the distribution's setuptools.

PYTHON        ?= /usr/bin/python3
PYTHON_OUTPUT ?= build/python
PYTHON_FILES  := $(wildcard tools/python/krdma/*.py tools/python/krdma/py.typed)
PYTHON_WHEEL  := $(PYTHON_OUTPUT)/krdma-$(KRDMA_VERSION)-py3-none-any.whl

.PHONY: python
python: $(PYTHON_WHEEL)
	@echo '$(PYTHON_WHEEL)'

# A copy is built: setuptools leaves files beside the sources.  Without a network.
$(PYTHON_WHEEL): $(PYTHON_FILES) tools/python/setup.py krdma/version.h
	@$(PYTHON) -c 'import importlib.util, sys; sys.exit(not all(map( \
		importlib.util.find_spec, ("pip", "setuptools", "wheel"))))' || { \
		echo "make: cannot build a wheel: $(PYTHON) has no pip, setuptools or wheel;" \
			"on Debian: tools/deps install python" >&2; exit 1; }
	$(Q)rm -rf '$(PYTHON_OUTPUT)/source'
	$(Q)mkdir -p '$(PYTHON_OUTPUT)/source/krdma'
	$(Q)cp $(PYTHON_FILES) '$(PYTHON_OUTPUT)/source/krdma/'
	$(Q)cp tools/python/setup.py '$(PYTHON_OUTPUT)/source/'
	$(Q)KRDMA_VERSION='$(KRDMA_VERSION)' $(PYTHON) -m pip -q --disable-pip-version-check wheel \
		--no-build-isolation --no-deps --no-index -w '$(PYTHON_OUTPUT)' \
		'./$(PYTHON_OUTPUT)/source'
