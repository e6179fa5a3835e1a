# SPDX-License-Identifier: GPL-2.0-or-later
#
# The simulated probe; part of Makefile.sim. The core comes from xtensa.mk.
#
#     make -f testing/sim/Makefile.sim probe      # build/sim/probe_sim

PROBE_OBJS := $(addprefix $(BUILD)/, probe_sim.o probe.o probe_control.o probe_faults.o jlink_server.o bitbang_server.o \
	jtag_chain.o sim_clock.o xdm.o xdm_tap.o xdm_apb.o dap_jtag.o mem_ap.o xtensa_soc.o xtensa_verify.o \
	esp_watchdog.o pc_counts.o elf_image.o sim_buffer.o dap_swd.o)

all: probe

probe: $(BUILD)/probe_sim

$(BUILD)/probe_sim: $(PROBE_OBJS) $(XTENSA_OBJS) $(CORTEXM_OBJS)
	$(CC) $(CFLAGS) -o $@ $^ $(LIBS)

.PHONY: probe
