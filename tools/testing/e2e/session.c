// SPDX-License-Identifier: GPL-2.0
/*
 * Calls of /dev/krdma and other helpers of all test programs.
 */
#include <errno.h>
#include <fcntl.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ioctl.h>
#include <sys/utsname.h>
#include <time.h>
#include <unistd.h>

#include <linux/krdma_limit.h>

#include "session.h"

#define AWAIT_MS	20000

int session_open(int flags)
{
	int session = open(SESSION_PATH, O_RDWR | flags);

	return session < 0 ? -errno : session;
}

int session_request(int session, unsigned long request, void *argument)
{
	return ioctl(session, request, argument) < 0 ? -errno : 0;
}

int session_info(int session, struct krdma_info_args *info)
{
	memset(info, 0, sizeof(*info));
	info->size = sizeof(*info);
	return session_request(session, KRDMA_INFO, info);
}

static int query_device(int session, uint32_t flags, uint32_t id, const char *name,
			struct krdma_device_query_args *device)
{
	memset(device, 0, sizeof(*device));
	device->size = sizeof(*device);
	device->flags = flags;
	device->id = id;
	if (name)
		snprintf(device->name, sizeof(device->name), "%s", name);
	return session_request(session, KRDMA_DEVICE_QUERY, device);
}

int session_device(int session, uint32_t id, struct krdma_device_query_args *device)
{
	return query_device(session, 0, id, NULL, device);
}

int session_next(int session, uint32_t id, struct krdma_device_query_args *device)
{
	return query_device(session, KRDMA_DEVICE_QUERY_NEXT, id, NULL, device);
}

int session_named(int session, const char *name, struct krdma_device_query_args *device)
{
	return query_device(session, KRDMA_DEVICE_QUERY_NAME, 0, name, device);
}

int session_port(int session, uint32_t id, uint32_t port, struct krdma_port_query_args *query)
{
	memset(query, 0, sizeof(*query));
	query->size = sizeof(*query);
	query->device_id = id;
	query->port = port;
	return session_request(session, KRDMA_PORT_QUERY, query);
}

int session_await(int session, const char *name, bool there)
{
	uint64_t deadline = now_ms() + AWAIT_MS;
	struct krdma_device_query_args device;

	while ((session_named(session, name, &device) == 0) != there) {
		if (now_ms() > deadline)
			return -ETIMEDOUT;
		sleep_ms(10);
	}
	return 0;
}

int64_t session_memory(int session)
{
	struct krdma_limit_query_args query = {
		.size = sizeof(query), .limit = KRDMA_LIMIT_MEMORY,
	};

	return session_request(session, KRDMA_LIMIT_QUERY, &query) ? -1 :
		(int64_t)query.session_used;
}

bool kernel_is(const char *release)
{
	struct utsname kernel;

	return !uname(&kernel) && !strncmp(kernel.release, release, strlen(release));
}

uint64_t now_ms(void)
{
	struct timespec now;

	clock_gettime(CLOCK_MONOTONIC, &now);
	return (uint64_t)now.tv_sec * 1000 + now.tv_nsec / 1000000;
}

void sleep_ms(unsigned int ms)
{
	struct timespec span = { .tv_sec = ms / 1000, .tv_nsec = (ms % 1000) * 1000000L };

	nanosleep(&span, NULL);
}

static bool is_set(const char *name)
{
	const char *setting = getenv(name);

	return setting && !strcmp(setting, "1");
}

unsigned int rounds(unsigned int usual, unsigned int slow)
{
	if (is_set("KRDMA_SLOW"))
		return slow;
	return is_set("KRDMA_QUICK") && slow < usual ? slow : usual;
}

unsigned int stride(unsigned int usual, unsigned int long_one)
{
	return is_set("KRDMA_SLOW") || is_set("KRDMA_QUICK") ? long_one : usual;
}

int write_text(const char *path, const char *text)
{
	int fd = open(path, O_WRONLY | O_CLOEXEC);
	int ret;

	if (fd < 0)
		return -errno;
	ret = write(fd, text, strlen(text)) < 0 ? -errno : 0;
	close(fd);
	return ret;
}

int read_line(char *line, unsigned int size, const char *format, ...)
{
	char path[256];
	va_list args;
	FILE *file;
	int ret = 0;

	va_start(args, format);
	vsnprintf(path, sizeof(path), format, args);
	va_end(args);

	file = fopen(path, "re");
	if (!file)
		return -errno;
	if (fgets(line, size, file))
		line[strcspn(line, "\n")] = '\0';
	else
		ret = -EIO;
	fclose(file);
	return ret;
}

#define HUGE_PAGES	"/proc/sys/vm/nr_hugepages"
#define HUGE_TRIES	50

/* Retry: after other tests the free memory may be fragmented. */
int huge_page_get(void)
{
	char line[32];
	int err;

	for (unsigned int i = 0; i < HUGE_TRIES; i++) {
		/* Free the caches, and compact the memory, to get a contiguous range. */
		write_text("/proc/sys/vm/drop_caches", "3");
		write_text("/proc/sys/vm/compact_memory", "1");
		err = write_text(HUGE_PAGES, "1");
		if (!err)
			err = read_line(line, sizeof(line), HUGE_PAGES);
		if (err || strtoul(line, NULL, 10))
			return err;
		sleep_ms(100);
	}
	return -ENOMEM;
}

int huge_page_put(void)
{
	return write_text(HUGE_PAGES, "0");
}
