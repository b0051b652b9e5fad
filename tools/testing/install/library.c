// SPDX-License-Identifier: GPL-2.0
/*
 * Uses libkrdma as a program outside this tree does, on top of fake_krdma.c.  Prints TAP lines
 * without numbers; the caller counts.
 */
#include <errno.h>
#include <fcntl.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include <krdma.h>

static bool failed;

static void check(bool good, const char *what)
{
	printf("%s library: %s\n", good ? "ok" : "not ok", what);
	failed |= !good;
}

static bool all_zero(const void *mr, size_t size)
{
	const unsigned char *byte = mr;

	while (size--)
		if (*byte++)
			return false;
	return true;
}

static void check_session(struct krdma *session)
{
	struct krdma *other = NULL;
	int fd = krdma_fd(session);

	check(fd >= 0 && fcntl(fd, F_GETFD) == FD_CLOEXEC, "the descriptor is closed on exec");
	check(krdma_fd(NULL) == -EINVAL, "no session has no descriptor");
	check(krdma_open(NULL) == -EINVAL && krdma_open_fd(fd, NULL) == -EINVAL,
	      "opening wants somewhere to put the session");
	check(krdma_open_fd(-1, &other) == -EBADF && !other, "a descriptor that is not open");
	fd = open("/dev/zero", O_RDWR);
	check(krdma_open_fd(fd, &other) == -ENOTTY && !other && fcntl(fd, F_GETFD) >= 0,
	      "a foreign descriptor is refused and stays the caller's");
	close(fd);
	check(krdma_close(NULL) == 0, "closing nothing");
}

static void check_info(struct krdma *session)
{
	struct krdma_info_args info;

	memset(&info, 0xff, sizeof(info));
	check(krdma_info_query(session, &info, sizeof(info)) == 0 && info.abi_version == 1 &&
	      info.features == KRDMA_FEATURE_DEVICES && info.device_count == 2 &&
	      info.max_devices == 64 && !strcmp(info.module_version, "9.8.7"), "info");
	check(krdma_info_query(NULL, &info, sizeof(info)) == -EINVAL, "info without a session");
	check(krdma_info_query(session, NULL, sizeof(info)) == -EINVAL, "info into nothing");
}

static void check_sizes(struct krdma *session)
{
	/* The structure of a program that was compiled with a header newer than the library's. */
	struct {
		struct krdma_info_args info;
		unsigned char more[100];
		unsigned char guard;
	} newer;
	struct krdma_info_args info;

	memset(&newer, 0xa5, sizeof(newer));
	check(krdma_info_query(session, &newer.info, offsetof(typeof(newer), guard)) == 0 &&
	      newer.info.abi_version == 1, "a longer structure on an older module");
	check(all_zero(newer.more, sizeof(newer.more)), "what the module does not know is zero");
	check(newer.guard == 0xa5, "nothing is written behind the structure");

	memset(&info, 0xa5, sizeof(info));
	check(krdma_info_query(session, &info, sizeof(info) - 1) == -EINVAL &&
	      info.size == 0xa5a5a5a5, "a structure that is too short is not touched");
	check(krdma_info_query(session, &info, (size_t)-1) == -EINVAL && info.size == 0xa5a5a5a5,
	      "nor one of an impossible size");
}

static void check_devices(struct krdma *session)
{
	struct krdma_device_query_args device;
	struct krdma_port_query_args port;
	char name[KRDMA_NAME_MAX + 1];
	const size_t size = sizeof(device);

	check(krdma_device_query(session, 7, &device, size) == 0 && device.id == 7 &&
	      !strcmp(device.name, "iw 7") && device.port_count == 2, "a device by its number");
	check(krdma_device_query(session, 2, &device, size) == -ENOENT,
	      "a number without a device");
	check(krdma_device_find(session, "rxe0", &device, size) == 0 && device.id == 1,
	      "a device by its name");
	check(krdma_device_find(session, device.name, &device, size) == 0 && device.id == 1,
	      "by a name inside the structure that is filled in");
	check(krdma_device_find(session, "rxe", &device, size) == -ENOENT,
	      "a name without a device");
	check(krdma_device_find(session, "", &device, size) == -EINVAL &&
	      krdma_device_find(session, NULL, &device, size) == -EINVAL, "no name");
	memset(name, 'x', sizeof(name));
	name[KRDMA_NAME_MAX] = '\0';
	check(krdma_device_find(session, name, &device, size) == -ENAMETOOLONG,
	      "a name that is too long");
	name[KRDMA_NAME_MAX - 1] = '\0';
	check(krdma_device_find(session, name, &device, size) == -ENOENT, "the longest name");

	check(krdma_device_next(session, 0, &device, size) == 0 && device.id == 1 &&
	      krdma_device_next(session, device.id, &device, size) == 0 && device.id == 7 &&
	      krdma_device_next(session, device.id, &device, size) == -ENOENT,
	      "a walk through all devices");
	check(krdma_device_next(session, UINT32_MAX, &device, size) == -ENOENT,
	      "a walk does not begin again after the highest number");

	check(krdma_port_query(session, 7, 2, &port, sizeof(port)) == 0 && port.port == 2 &&
	      port.device_id == 7 && port.state == KRDMA_PORT_ARMED, "a port");
	check(krdma_port_query(session, 7, 3, &port, sizeof(port)) == -ENOENT, "a port too many");
}

static void check_names(void)
{
	check(!strcmp(krdma_transport_name(KRDMA_TRANSPORT_IWARP), "iwarp") &&
	      !strcmp(krdma_port_state_name(KRDMA_PORT_INIT), "init") &&
	      !strcmp(krdma_link_layer_name(KRDMA_LINK_INFINIBAND), "infiniband") &&
	      !strcmp(krdma_device_cap_name(KRDMA_DEVICE_CAP_ODP), "odp") &&
	      !strcmp(krdma_device_cap_name(KRDMA_DEVICE_CAP_READ_LOCAL), "read_local") &&
	      !strcmp(krdma_feature_name(KRDMA_FEATURE_DEVICES), "devices"), "names of values");
	check(!strcmp(krdma_transport_name(99), "unknown") &&
	      !strcmp(krdma_port_state_name(0), "unknown") &&
	      !strcmp(krdma_link_layer_name(99), "unknown") &&
	      !strcmp(krdma_device_cap_name(KRDMA_DEVICE_CAP_IMM | KRDMA_DEVICE_CAP_SRQ),
		      "unknown") &&
	      !strcmp(krdma_feature_name(1ULL << 63), "unknown"), "names of unknown values");
	check(!strcmp(krdma_version(), EXPECTED_VERSION), "version");
}

int main(void)
{
	struct krdma *session = NULL;
	int err = krdma_open(&session);

	check(!err && session, "open");
	if (err)
		return 1;
	check_session(session);
	check_info(session);
	check_sizes(session);
	check_devices(session);
	check_names();
	check(krdma_close(session) == 0, "close");
	setenv("FAKE_KRDMA", "abi2", 1);
	check(krdma_open(&session) == -EPROTONOSUPPORT,
	      "a module with another version of the interface is refused");
	return failed;
}
