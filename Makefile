# SPDX-License-Identifier: GPL-2.0-or-later
#
# The front door. `make help` lists the targets; the work is in contrib/ and testing/.

.DEFAULT_GOAL := all
.SUFFIXES:
.DELETE_ON_ERROR:

O ?= build
PREFIX ?= /usr/local
SECONDS ?= 60
SNAPSHOTS ?= ../shared/data/opencsd
JOBS ?= $(shell nproc)

export OPENOCD_TARBALL OPENOCD_URL OPENOCD_SRC DEPS GROUP STRICT JOBS WERROR O
export SNAPSHOTS := $(abspath $(SNAPSHOTS))

LIB := $(MAKE) --no-print-directory -j$(JOBS) -f contrib/itrace.mk

# ── build ─────────────────────────────────────────────────────────────────────────────

# Everything that the two programs are made of. Folders count, too: a file that was
# removed changes its folder.
inputs = $(shell find $(wildcard $(1)) ! -name '*~' ! -name '.*' 2>/dev/null)
LIB_INPUTS := $(call inputs,src-overlay/src/itrace) contrib/itrace.mk
OPENOCD_INPUTS := $(call inputs,src-overlay tcl patches) configure.ac.diff \
	contrib/apply-series contrib/sync-overlay contrib/build-openocd contrib/get-openocd

# which OpenOCD this folder was built from
BASE_FILE := $(O)/openocd/base
BASE := $(or $(OPENOCD_SRC),release $(OPENOCD_TARBALL))
ifneq ($(strip $(BASE)),$(strip $(file <$(BASE_FILE))))
$(shell mkdir -p $(dir $(BASE_FILE)))
$(file >$(BASE_FILE),$(BASE))
endif

.PHONY: all itrace help
all: $(O)/bin/itrace $(O)/bin/openocd
itrace: $(O)/bin/itrace

$(O)/bin/itrace: $(LIB_INPUTS) $(call inputs,contrib/itrace)
	@missing=$$(contrib/install-deps --required cli); if [ -n "$$missing" ]; then \
		echo "Building itrace needs packages that are not here: $$missing" >&2; \
		echo "contrib/install-deps cli  installs them" >&2; exit 1; fi
	@mkdir -p $(@D)
	@echo "itrace:"
	@$(LIB) -s VARIANT=plain O=$(O)/plain cli
	@cp -f $(O)/plain/itrace $@
	@missing=$$(contrib/install-deps --missing cli); if [ -n "$$missing" ]; then \
		echo "  built without: $$missing (symbols or disassembly will be missing)"; fi
	@echo "  $@"

# The scripts lie where OpenOCD looks for them beside its program.
$(O)/bin/openocd: $(OPENOCD_INPUTS) $(BASE_FILE)
	@echo "openocd:"
	@contrib/build-openocd $(O)/openocd
	@mkdir -p $(@D) $(O)/share/openocd
	@ln -sfn ../../openocd/src/tcl $(O)/share/openocd/scripts
	@cp -f $(O)/openocd/b/src/openocd $@
	@echo "  $@"

help:
	@echo "make               OpenOCD with trace decode, and itrace, in $(O)/bin"
	@echo "                   JOBS=1: one process at a time, not as many as processors (-j1 does not do it)"
	@echo "make itrace        only the standalone decoder: a few seconds"
	@echo "make demo          from nothing to a decoded trace and a profile"
	@echo "make check         every test; GROUP=decode one part, STRICT=1: a skip is a failure"
	@echo "make check-long    the same with the full matrices"
	@echo "make bench         speed beside OpenCSD"
	@echo "make bench-profile speed of profiling beside stock OpenOCD"
	@echo "make fuzz SECONDS=60"
	@echo "make check-bases BASES=\"dir ...\"   on other OpenOCD trees"
	@echo "make install PREFIX=/usr/local"

# ── install ───────────────────────────────────────────────────────────────────────────

.PHONY: install
install: all
	$(MAKE) -C $(O)/openocd/b install prefix=$(abspath $(PREFIX))
	install -D -m 755 $(O)/bin/itrace $(DESTDIR)$(abspath $(PREFIX))/bin/itrace
	install -D -m 644 -t $(DESTDIR)$(abspath $(PREFIX))/share/doc/openocd-itrace \
		$(wildcard README.md ARCHITECTURE.md CHANGELOG.md COPYING)

# ── demo, tests, measurements ─────────────────────────────────────────────────────────

.PHONY: demo check check-long bench bench-profile fuzz check-bases

demo:
	@contrib/install-deps demo
	@if [ -x testing/demo/run ]; then $(MAKE) --no-print-directory all && testing/demo/run; \
		else echo "demo: not in this version"; exit 1; fi

check:
	@contrib/install-deps check
	@testing/run-check

check-long:
	@contrib/install-deps check
	@LONG=1 testing/run-check

bench:
	@contrib/install-deps bench
	@$(MAKE) --no-print-directory itrace
	@testing/bench/run

bench-profile:
	@contrib/install-deps build bench
	@$(MAKE) --no-print-directory $(O)/bin/openocd
	@testing/bench/profile

fuzz:
	@contrib/install-deps check
	@SECONDS_EACH=$(SECONDS) testing/fuzz/run

check-bases:
	@[ -n "$(BASES)" ] || { echo 'usage: make check-bases BASES="dir ..."'; exit 2; }
	@contrib/install-deps check
	@testing/run-bases $(BASES)

.PHONY: clean
clean:
	rm -rf $(O)
