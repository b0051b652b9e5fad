// SPDX-License-Identifier: GPL-2.0
/*
 * The kernel's memory, item by item: slab caches, mappings of single pages, and the sums that the
 * kernel itself keeps.
 */
#include <ctype.h>
#include <dirent.h>
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "peer.h"

#define PAGE		4096
/* Items with fewer bytes for a connection are not printed. */
#define LEAST		64

static void add(struct footprint *footprint, const char *kind, const char *name, double bytes)
{
	char full[FOOTPRINT_NAME];
	unsigned int i;

	snprintf(full, sizeof(full), "%s.%.48s", kind, name);
	for (i = 0; i < footprint->count; i++) {
		if (!strcmp(footprint->items[i].name, full)) {
			footprint->items[i].bytes += bytes;
			return;
		}
	}
	if (footprint->count == FOOTPRINT_ITEMS)
		peer_fail("more kinds of memory than there is room for", ENOSPC);
	memcpy(footprint->items[i].name, full, sizeof(full));
	footprint->items[i].bytes = bytes;
	footprint->count++;
}

static void add_slab(struct footprint *footprint, const char *name, double bytes)
{
	add(footprint, "slab", name, bytes);
	add(footprint, "sum", "Caches", bytes);
}

/* "name active objects size per-slab pages : ... : slabdata active slabs shared" */
static void add_slabs(struct footprint *footprint)
{
	FILE *file = peer_proc("/proc/slabinfo");
	char line[512], name[128], *data;
	unsigned long pages, slabs;

	while (fgets(line, sizeof(line), file)) {
		data = strstr(line, "slabdata");
		if (data && sscanf(data, "slabdata %*u %lu", &slabs) == 1 &&
		    sscanf(line, "%127s %*u %*u %*u %*u %lu", name, &pages) == 2)
			add_slab(footprint, name, (double)slabs * (double)pages * PAGE);
	}
	fclose(file);
}

/*
 * "0x...-0x... bytes caller+0x.../0x... pages=N vmalloc ..."; the guard page behind it is no
 * memory.
 */
static void add_mapped(struct footprint *footprint)
{
	FILE *file = peer_proc("/proc/vmallocinfo");
	char line[512], caller[128];
	unsigned long bytes;

	while (fgets(line, sizeof(line), file)) {
		if (!strstr(line, " pages=") ||
		    sscanf(line, "%*s %lu %127s", &bytes, caller) != 2)
			continue;
		caller[strcspn(caller, "+")] = '\0';
		add(footprint, "vmalloc", caller, (double)bytes - PAGE);
	}
	fclose(file);
}

/*
 * krdma's rings are pages that no sum of the kernel contains.  Both programs have theirs mapped, as
 * a whole: "from-to rights offset device inode anon_inode:[krdma-ring]".
 */
static void add_rings(struct footprint *footprint)
{
	struct dirent *entry;
	DIR *processes;

	processes = opendir("/proc");
	if (!processes)
		peer_fail("/proc", errno);
	while ((entry = readdir(processes))) {
		unsigned long from, to;
		char line[512];
		FILE *file;

		if (!isdigit((unsigned char)entry->d_name[0]))
			continue;
		snprintf(line, sizeof(line), "/proc/%.20s/maps", entry->d_name);
		/* The process may have ended. */
		file = fopen(line, "re");
		while (file && fgets(line, sizeof(line), file))
			if (strstr(line, "[krdma-ring]") &&
			    sscanf(line, "%lx-%lx", &from, &to) == 2)
				add(footprint, "sum", "Rings", (double)(to - from));
		if (file)
			fclose(file);
	}
	closedir(processes);
}

static void add_sums(struct footprint *footprint)
{
	static const char *const names[] = {
		"MemFree", "Slab", "VmallocUsed", "Percpu", "PageTables", "KernelStack",
	};
	FILE *file = peer_proc("/proc/meminfo");
	char line[256], name[64];
	unsigned long kilobytes;

	while (fgets(line, sizeof(line), file)) {
		if (sscanf(line, "%63[^:]: %lu", name, &kilobytes) != 2)
			continue;
		for (size_t i = 0; i < sizeof(names) / sizeof(*names); i++)
			if (!strcmp(names[i], name))
				add(footprint, "sum", name, (double)kilobytes * 1024);
	}
	fclose(file);
}

/* The memory that this process has mapped, and the resident part of it. */
static void add_process(struct footprint *footprint)
{
	FILE *file = peer_proc("/proc/self/statm");
	unsigned long size, resident;

	if (fscanf(file, "%lu %lu", &size, &resident) != 2)
		peer_fail("/proc/self/statm", EBADMSG);
	fclose(file);
	add(footprint, "process", "mapped", (double)size * PAGE);
	add(footprint, "process", "resident", (double)resident * PAGE);
}

static double bytes_of(const struct footprint *footprint, const char *name)
{
	for (unsigned int i = 0; i < footprint->count; i++)
		if (!strcmp(footprint->items[i].name, name))
			return footprint->items[i].bytes;
	return 0;
}

void footprint_sums(struct footprint *footprint)
{
	memset(footprint, 0, sizeof(*footprint));
	add_mapped(footprint);
	add_rings(footprint);
	add_sums(footprint);
}

void footprint_take(struct footprint *footprint)
{
	memset(footprint, 0, sizeof(*footprint));
	add_process(footprint);
	add_slabs(footprint);
	add_mapped(footprint);
	add_rings(footprint);
	add_sums(footprint);
	/* Objects that are too large for a cache are counted, but not listed. */
	add(footprint, "slab", "larger", bytes_of(footprint, "sum.Slab") -
	    bytes_of(footprint, "sum.Caches"));
}

double footprint_kernel(const struct footprint *footprint)
{
	static const char *const sums[] = {
		"sum.Slab", "sum.VmallocUsed", "sum.Rings", "sum.Percpu", "sum.PageTables",
		"sum.KernelStack",
	};
	double bytes = 0;

	for (size_t i = 0; i < sizeof(sums) / sizeof(*sums); i++)
		bytes += bytes_of(footprint, sums[i]);
	return bytes;
}

void footprint_print(const struct footprint *before, const struct footprint *after,
		     const char *name, unsigned int count)
{
	char full[160];
	double bytes;

	snprintf(full, sizeof(full), "%s.kernel", name);
	value_print(full, (footprint_kernel(after) - footprint_kernel(before)) / count);
	for (unsigned int i = 0; i < after->count; i++) {
		const char *item = after->items[i].name;

		bytes = (after->items[i].bytes - bytes_of(before, item)) / count;
		if (bytes > -LEAST && bytes < LEAST &&
		    strncmp(item, "process", 7) && strncmp(item, "sum", 3))
			continue;
		snprintf(full, sizeof(full), "%s.%s", name, item);
		value_print(full, bytes);
	}
}
