/* SPDX-License-Identifier: GPL-2.0-or-later */

/*
 * The watchdogs of an ESP32-class chip, as far as a debugger and a program that feeds them see them: two in the timer
 * groups, one in the RTC domain. Each has a configuration register whose bit 31 enables it, a feed register, and a
 * write protection that opens for the key. An enabled watchdog that gets no feed for 300 ms bites.
 */

#ifndef ESP_WATCHDOG_H
#define ESP_WATCHDOG_H

#include <stdbool.h>
#include <stdint.h>

#define ESP_WATCHDOGS		3u

/** Addresses of one watchdog's registers. */
struct esp_watchdog_map {
	uint32_t config;	/* CONFIG0; the stages' values follow it, up to the feed register */
	uint32_t feed;
	uint32_t protect;
};

struct esp_watchdog {
	const struct esp_watchdog_map *map;	/* config 0: there is none */
	uint32_t config;
	uint32_t key;		/* of the write protection */
	uint64_t due_ps;	/* when it bites, if enabled */
};

/** As after power-on: off and locked. */
void esp_watchdog_reset(struct esp_watchdog *watchdog, const struct esp_watchdog_map *map);

/** A register access at time @a now_ps. @returns false if the address is not this watchdog's. */
bool esp_watchdog_read(const struct esp_watchdog *watchdog, uint32_t addr, uint32_t *value);
bool esp_watchdog_write(struct esp_watchdog *watchdog, uint32_t addr, uint32_t value, uint64_t now_ps);

/** When it bites next, UINT64_MAX: never. */
uint64_t esp_watchdog_due(const struct esp_watchdog *watchdog);

#endif
