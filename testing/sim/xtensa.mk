# SPDX-License-Identifier: GPL-2.0-or-later
#
# The Xtensa core and the programs that run on it; part of Makefile.sim. Without the cross compiler there are no programs.
#
#     make -f testing/sim/Makefile.sim xtensa_progs      # build/sim/xtensa-*.elf

XTENSA_PREFIX ?= xtensa-lx106-elf-
XTENSA_FOUND := $(shell command -v $(XTENSA_PREFIX)gcc)
XTENSA_OBJS := $(addprefix $(BUILD)/, xtensa_cpu.o xtensa_insn.o)
XTENSA_FLAGS := -std=gnu11 -O2 -g -ffreestanding -fno-builtin -fno-tree-loop-distribute-patterns -nostdlib \
	-fdebug-prefix-map=$(SRC)=. -Wall -Wextra -Wshadow -Werror \
	-Wl,-T,programs/xtensa.ld,--build-id=none
XTENSA_COMMON := $(addprefix $(SRC)/programs/, xtensa.ld xtensa_work.h xtensa_timer.h xtensa_encode.h xtensa_profile.c) \
	$(SRC)/xtensa.mk

# Name of the program, its sources, where code and data are. Compiled from here: no path of this machine gets into it.
define XTENSA_PROGRAM
XTENSA_PROGS += $$(BUILD)/$(1).elf
$$(BUILD)/$(1).elf: $$(addprefix $$(SRC)/programs/, $(2)) $$(XTENSA_COMMON)
	@mkdir -p $$(BUILD)
	cd $$(SRC) && $$(XTENSA_PREFIX)gcc $$(XTENSA_FLAGS) -Wl,--defsym=CODE=$(3),--defsym=DATA=$(4) \
		-o $$(abspath $$@) $$(addprefix programs/, $(2))
endef

XTENSA_PROFILE := xtensa_start.S xtensa_profile.c
XTENSA_SECOND := xtensa_start.S xtensa_second.c
XTENSA_WATCHDOG := xtensa_interrupt.S xtensa_start.S xtensa_watchdog.c
XTENSA_IDLE := xtensa_interrupt.S xtensa_start.S xtensa_idle.c
$(eval $(call XTENSA_PROGRAM,xtensa-profile,$(XTENSA_PROFILE),0x40080000,0x3ffb0000))
$(eval $(call XTENSA_PROGRAM,xtensa-profile-s2,$(XTENSA_PROFILE),0x40028000,0x3ffb8000))
$(eval $(call XTENSA_PROGRAM,xtensa-profile-s3,$(XTENSA_PROFILE),0x40378000,0x3fc88000))
$(eval $(call XTENSA_PROGRAM,xtensa-profile-rt600,$(XTENSA_PROFILE),0x24020000,0x24000000))
$(eval $(call XTENSA_PROGRAM,xtensa-second,$(XTENSA_SECOND),0x40090000,0x3ffc0000))
$(eval $(call XTENSA_PROGRAM,xtensa-second-s3,$(XTENSA_SECOND),0x40388000,0x3fc98000))
$(eval $(call XTENSA_PROGRAM,xtensa-watchdog,$(XTENSA_WATCHDOG),0x40080000,0x3ffb0000))
$(eval $(call XTENSA_PROGRAM,xtensa-idle,$(XTENSA_IDLE),0x40080000,0x3ffb0000))
$(eval $(call XTENSA_PROGRAM,xtensa-spin,xtensa_spin.S,0x40080000,0x3ffb0000))
$(eval $(call XTENSA_PROGRAM,xtensa-windowed,xtensa_windowed.S,0x40080000,0x3ffb0000))
$(eval $(call XTENSA_PROGRAM,xtensa-insns,xtensa_insns.S,0x40080000,0x3ffb0000))

xtensa_progs: $(XTENSA_PROGS)

all: $(BUILD)/xtensa_trace $(if $(XTENSA_FOUND),xtensa_progs)

$(BUILD)/xtensa_trace: $(addprefix $(BUILD)/, xtensa_trace.o elf_image.o sim_buffer.o) $(XTENSA_OBJS)
	$(CC) $(CFLAGS) -o $@ $^

.PHONY: xtensa_progs
