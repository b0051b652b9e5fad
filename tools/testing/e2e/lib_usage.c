// SPDX-License-Identifier: GPL-2.0
/*
 * What this process uses.
 */
#include <dirent.h>
#include <malloc.h>

#include "lib_usage.h"
#include "rings.h"
#include "session.h"

struct usage usage_now(void)
{
	struct mallinfo2 info = mallinfo2();
	struct usage usage = { .bytes = info.uordblks + info.hblkhd };
	DIR *entries = opendir("/proc/self/fd");

	while (entries && readdir(entries))
		usage.descriptors++;
	if (entries)
		closedir(entries);
	return usage;
}

struct usage usage_after(const struct usage *before)
{
	struct usage usage = usage_now();
	uint64_t end = now_ms() + PATIENCE_MS;

	while ((usage.descriptors > before->descriptors ||
		usage.bytes > before->bytes + USAGE_SPARE) && now_ms() < end) {
		sleep_ms(10);
		usage = usage_now();
	}
	return usage;
}

bool usage_leaks(void)
{
	return __lsan_do_recoverable_leak_check && __lsan_do_recoverable_leak_check();
}
