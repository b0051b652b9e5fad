/* SPDX-License-Identifier: GPL-2.0 */
/*
 * Calls of /dev/krdma and other helpers of all test programs.  Calls return 0, or a file
 * descriptor if they open one, or a negative errno, so that a test can name the errno it expects.
 */
#ifndef KRDMA_E2E_SESSION_H
#define KRDMA_E2E_SESSION_H

#include <stdbool.h>
#include <stdint.h>

#include <linux/krdma.h>

#define SESSION_PATH	"/dev/krdma"

/* The device that the machine under test is booted with. */
#define BOOT_DEVICE	"rxe0"

/* "1": krdma pins memory itself; "0": only if the device's driver cannot. */
#define FORCE_PIN	"/sys/module/krdma/parameters/force_pin"

int session_open(int flags);
int session_request(int session, unsigned long request, void *argument);

int session_info(int session, struct krdma_info_args *info);
int session_device(int session, uint32_t id, struct krdma_device_query_args *device);
int session_next(int session, uint32_t id, struct krdma_device_query_args *device);
int session_named(int session, const char *name, struct krdma_device_query_args *device);
int session_port(int session, uint32_t id, uint32_t port, struct krdma_port_query_args *query);

/* Wait until a device of that name exists, or does not exist; 0 or -ETIMEDOUT. */
int session_await(int session, const char *name, bool there);

/* The bytes of memory of the session that are charged; -1: not known. */
int64_t session_memory(int session);

/* Does the kernel's release begin with @release? */
bool kernel_is(const char *release);

uint64_t now_ms(void);
void sleep_ms(unsigned int ms);

/*
 * Rounds of a stress test, or a limit in time.  When KRDMA_SLOW=1 says that the kernel is slow, it
 * is @slow.  When KRDMA_QUICK=1 says that the test has little time, it is the smaller one: few
 * rounds, and the limits of a kernel that is not slow.
 */
unsigned int rounds(unsigned int usual, unsigned int slow);

/* The step of a sweep: @long_one on a slow kernel, and if the test has little time. */
unsigned int stride(unsigned int usual, unsigned int long_one);

/* Write @text to a file of the kernel: 0 or -errno. */
int write_text(const char *path, const char *text);

/* Reserve one huge page in the pool, or release it: 0 or -errno. */
int huge_page_get(void);
int huge_page_put(void);

/* The first line of a file without its newline; -errno if it cannot be read. */
int read_line(char *line, unsigned int size, const char *format, ...)
	__attribute__((format(printf, 3, 4)));

#endif
