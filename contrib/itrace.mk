# SPDX-License-Identifier: GPL-2.0-or-later
#
# The decode core, the report library, the standalone program and everything under
# testing/ that links with them, built straight with the compiler and without OpenOCD:
#
#     make -f contrib/itrace.mk VARIANT=plain|asan|fuzz O=build/plain TARGET…
#
# Sources are found by directory listing. Objects and programs are under $(O).

VARIANT ?= plain
O ?= build/$(VARIANT)
CC := $(if $(filter default undefined,$(origin CC)),gcc,$(CC))
CLANG ?= clang
S := src-overlay/src

CORE_SRC := $(wildcard $(S)/itrace/*.c)
REPORT_SRC := $(wildcard $(S)/itrace/report/*.c)

WARN := -Wall -Wextra -Wshadow -Wcast-align -Wundef -Wsign-compare -Wstrict-prototypes -Werror
# what OpenOCD's build asks for beyond, of what it compiles
OPENOCD_WARN := -Wformat-security -Wbad-function-cast -Wredundant-decls -Wpointer-arith

# elfutils and capstone: used where they are, done without where not (ELFUTILS=no, CAPSTONE=no)
ELFUTILS ?= $(if $(shell pkg-config --exists libelf libdw && echo yes),yes,no)
CAPSTONE ?= $(if $(shell pkg-config --exists capstone && echo yes),yes,no)
LIBS :=
REPORT_DEFS := -D_GNU_SOURCE -Wno-unused-parameter
ifeq ($(ELFUTILS),yes)
REPORT_DEFS += -DHAVE_ELFUTILS=1 $(shell pkg-config --cflags libelf libdw)
LIBS += $(shell pkg-config --libs libelf libdw)
endif
ifeq ($(CAPSTONE),yes)
REPORT_DEFS += -DHAVE_CAPSTONE=1 $(shell pkg-config --cflags capstone)
LIBS += $(shell pkg-config --libs capstone)
endif

# LLVM's disassembler in place of capstone, when asked for: it knows newer instructions (LLVM=yes, LLVM_CONFIG=llvm-config-14)
LLVM ?= no
LLVM_CONFIG ?= llvm-config
ifeq ($(LLVM),yes)
REPORT_DEFS += -DHAVE_LLVM_DISASSEMBLER=1 -I$(shell $(LLVM_CONFIG) --includedir)
LIBS += $(shell $(LLVM_CONFIG) --ldflags --libs)
endif

ifeq ($(VARIANT),plain)
OPT := -O2 -g
else ifeq ($(VARIANT),asan)
OPT := -O1 -g -fno-omit-frame-pointer -fsanitize=address,undefined -fno-sanitize-recover=all
else ifeq ($(VARIANT),fuzz)
CC := $(CLANG)
OPT := -O1 -g -fno-omit-frame-pointer -fsanitize=fuzzer-no-link,address,undefined -fno-sanitize-recover=all
# gcc's and clang's opinions differ; gcc's is the one that counts
WARN += -Wno-unknown-warning-option
else
$(error VARIANT=$(VARIANT) is not plain, asan or fuzz)
endif

CPPFLAGS += -I$(S)
CORE_CFLAGS := -std=c11 $(WARN) $(OPENOCD_WARN) $(OPT) $(CFLAGS)
REPORT_CFLAGS := -std=gnu11 $(WARN) $(OPENOCD_WARN) $(OPT) $(REPORT_DEFS) $(CFLAGS)
# tests may include "bytes.h" as the core does, or <itrace/bytes.h>
TEST_CFLAGS := -std=gnu11 $(WARN) $(OPT) $(REPORT_DEFS) -I$(S)/itrace -I$(S)/itrace/report -Itesting $(CFLAGS)

CORE_OBJ := $(CORE_SRC:%.c=$(O)/obj/%.o)
REPORT_OBJ := $(REPORT_SRC:%.c=$(O)/obj/%.o)
CORE_LIB := $(O)/libitrace.a
REPORT_LIB := $(O)/libitrace_report.a

.SUFFIXES:
.SECONDARY:
.DELETE_ON_ERROR:
.PHONY: lib cli unit property fuzz

cli: $(O)/itrace
lib: $(CORE_LIB) $(REPORT_LIB)

# Objects are made anew when the command that makes them changes.
FLAGS_FILE := $(O)/flags
FLAGS_TEXT := $(CC) $(CORE_CFLAGS) $(REPORT_CFLAGS) $(TEST_CFLAGS) $(LIBS)
ifneq ($(FLAGS_TEXT),$(file <$(FLAGS_FILE)))
$(shell mkdir -p $(O))
$(file >$(FLAGS_FILE),$(FLAGS_TEXT))
endif

# Only what a test needs of the report library is linked, so that a test of the core
# is built without it.
define compile
@mkdir -p $(@D)
$(CC) $(CPPFLAGS) $(1) -MMD -MP -c -o $@ $<
endef

$(CORE_OBJ): $(O)/obj/%.o: %.c $(FLAGS_FILE)
	$(call compile,$(CORE_CFLAGS))
$(REPORT_OBJ): $(O)/obj/%.o: %.c $(FLAGS_FILE)
	$(call compile,$(REPORT_CFLAGS))
$(O)/obj/contrib/%.o: contrib/%.c $(FLAGS_FILE)
	$(call compile,$(REPORT_CFLAGS))
$(O)/obj/testing/%.o: testing/%.c $(FLAGS_FILE)
	$(call compile,$(TEST_CFLAGS))

# the list of objects counts, too: a source that went away must leave the archive
$(O)/libitrace.a: $(CORE_OBJ) $(S)/itrace
	@rm -f $@
	ar rcs $@ $(CORE_OBJ)
$(O)/libitrace_report.a: $(REPORT_OBJ) $(S)/itrace/report
	@rm -f $@
	ar rcs $@ $(REPORT_OBJ)

$(O)/itrace: $(O)/obj/contrib/itrace/itrace.o $(REPORT_LIB) $(CORE_LIB)
	$(CC) $(OPT) $(LDFLAGS) -o $@ $^ $(LIBS) $(EXTRA_LIBS)

# Programs under testing/: one source each. TEST_LIBS says what it is linked with.
TEST_SRC := $(wildcard testing/unit/test_*.c) $(wildcard testing/property/*.c)
FUZZ_SRC := $(wildcard testing/fuzz/fuzz_*.c)

# the report library is linked where one of its headers is included
includes = $(shell sed -n 's/^\#include [<"]\(.*\/\)*\([^>"]*\)[>"].*/\2/p' $(1))
uses_report = $(filter $(notdir $(wildcard $(S)/itrace/report/*.h)),$(call includes,$(1)))
define test_rule
$$(O)/$(1:.c=): $$(O)/obj/$(1:.c=.o) $(if $(call uses_report,$(1)),$$(REPORT_LIB)) $$(CORE_LIB) $(2)
	@mkdir -p $$(@D)
	$$(CC) $$(OPT) $(3) $$(LDFLAGS) -o $$@ $$^ $(if $(call uses_report,$(1)),$$(LIBS)) $(4) -lm
endef
$(foreach source,$(TEST_SRC),$(eval $(call test_rule,$(source),,,-lcmocka)))
# Without clang's libFuzzer (VARIANT=asan) a driver of our own feeds the fuzz targets.
ifeq ($(VARIANT),fuzz)
$(foreach source,$(FUZZ_SRC),$(eval $(call test_rule,$(source),,-fsanitize=fuzzer,)))
else
$(foreach source,$(FUZZ_SRC),$(eval $(call test_rule,$(source),$$(O)/obj/testing/fuzz/standalone.o,,)))
endif

unit: $(patsubst %.c,$(O)/%,$(filter testing/unit/%,$(TEST_SRC)))
property: $(patsubst %.c,$(O)/%,$(filter testing/property/%,$(TEST_SRC)))
fuzz: $(patsubst %.c,$(O)/%,$(FUZZ_SRC))

-include $(shell find $(O)/obj -name '*.d' 2>/dev/null)
