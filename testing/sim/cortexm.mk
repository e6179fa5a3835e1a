# SPDX-License-Identifier: GPL-2.0-or-later
#
# The Cortex-M cores and the programs that run on them; part of Makefile.sim.
#
#     make -f testing/sim/Makefile.sim cortexm_progs      # build/sim/cm-*.elf; clang, lld

CORTEXM_OBJS := $(addprefix $(BUILD)/, cortexm_core.o cortexm_exception.o cortexm_special.o cortexm_scs.o cortexm_debug.o \
	cortexm_mtb.o cortexm_insn.o cortexm_soc.o)
CORTEXM_FOUND := $(shell command -v $(CLANG))
CORTEXM_FLAGS := -std=gnu11 -g -ffreestanding -fno-builtin -fno-pic -nostdlib -mfloat-abi=soft -fdebug-compilation-dir=. \
	-Wall -Wextra -Wshadow -Werror -fuse-ld=lld -Wl,-T,programs/cortexm.ld,--build-id=none
CORTEXM_COMMON := $(addprefix $(SRC)/programs/, cortexm.ld cortexm.h cortexm_start.S cortexm_runtime.c) $(SRC)/cortexm.mk

# Name, sources, architecture, optimisation, addresses of code and data. Compiled from here, as the Xtensa ones.
define CORTEXM_PROGRAM
CORTEXM_PROGS += $$(BUILD)/$(1).elf
$$(BUILD)/$(1).elf: $$(addprefix $$(SRC)/programs/, $(2)) $$(CORTEXM_COMMON)
	@mkdir -p $$(BUILD)
	cd $$(SRC) && $$(CLANG) --target=$(3) $$(CORTEXM_FLAGS) $(4) -Wl,--defsym=CODE=$(5),--defsym=DATA=$(6),--defsym=DATA_SIZE=$(7) \
		-o $$(abspath $$@) programs/cortexm_start.S programs/cortexm_runtime.c $$(addprefix programs/, $(2))
endef

CORTEXM_NAMES := work isr faults lockup
CORTEXM_LEVELS := O0 O1 O2 Os
CORTEXM_M0 := thumbv6m-none-eabi
CORTEXM_M33 := thumbv8m.main-none-eabi

# m0: RAM that a Kinetis KL25 and a micro:bit both have. m33q: where qemu's mps2-an505 begins.
$(foreach name,$(CORTEXM_NAMES),$(foreach level,$(CORTEXM_LEVELS), \
	$(eval $(call CORTEXM_PROGRAM,cm-$(name)-m0-$(level),cortexm_$(name).c,$(CORTEXM_M0),-$(level),0,0x20000000,0x3000)) \
	$(eval $(call CORTEXM_PROGRAM,cm-$(name)-m33-$(level),cortexm_$(name).c,$(CORTEXM_M33),-$(level),0,0x20000000,0x8000)) \
	$(eval $(call CORTEXM_PROGRAM,cm-$(name)-m33q-$(level),cortexm_$(name).c,$(CORTEXM_M33),-$(level),0x10000000,0x38000000,0x8000))))

# What a buffer holds of a program: testing/bench/mtb_density.py.
$(foreach level,$(CORTEXM_LEVELS), \
	$(eval $(call CORTEXM_PROGRAM,cm-density-m0-$(level),cortexm_density.c,$(CORTEXM_M0),-$(level),0,0x20000000,0x3000)))

cortexm_progs: $(CORTEXM_PROGS)

all: $(BUILD)/cortexm_trace $(if $(CORTEXM_FOUND),cortexm_progs)

$(BUILD)/cortexm_trace: $(addprefix $(BUILD)/, cortexm_trace.o elf_image.o sim_buffer.o mem_ap.o sim_clock.o) $(CORTEXM_OBJS)
	$(CC) $(CFLAGS) -o $@ $^ $(LIBS)

.PHONY: cortexm_progs
