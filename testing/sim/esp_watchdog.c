// SPDX-License-Identifier: GPL-2.0-or-later

#include "esp_watchdog.h"

#define ENABLE			(1u << 31)
#define KEY			0x50d83aa1u
#define PATIENCE_PS		300000000000u	/* 300 ms */

void esp_watchdog_reset(struct esp_watchdog *watchdog, const struct esp_watchdog_map *map)
{
	*watchdog = (struct esp_watchdog){ .map = map };
}

bool esp_watchdog_read(const struct esp_watchdog *watchdog, uint32_t addr, uint32_t *value)
{
	const struct esp_watchdog_map *map = watchdog->map;

	if (!map->config || addr < map->config || (addr > map->feed && addr != map->protect))
		return false;
	*value = addr == map->config ? watchdog->config : addr == map->protect ? watchdog->key : 0;
	return true;
}

bool esp_watchdog_write(struct esp_watchdog *watchdog, uint32_t addr, uint32_t value, uint64_t now_ps)
{
	const struct esp_watchdog_map *map = watchdog->map;

	if (!map->config || addr < map->config || (addr > map->feed && addr != map->protect))
		return false;
	if (addr == map->protect) {
		watchdog->key = value;
		return true;
	}
	if (watchdog->key != KEY)
		return true;
	if (addr == map->config)
		watchdog->config = value;
	if (addr == map->config || addr == map->feed)
		watchdog->due_ps = now_ps + PATIENCE_PS;
	return true;
}

uint64_t esp_watchdog_due(const struct esp_watchdog *watchdog)
{
	return watchdog->config & ENABLE ? watchdog->due_ps : UINT64_MAX;
}
