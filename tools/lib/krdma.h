/* SPDX-License-Identifier: LGPL-2.1 OR BSD-2-Clause */
/*
 * libkrdma: RDMA through /dev/krdma, with nothing else linked in.
 *
 * A thin layer over the interface in <linux/krdma.h>, whose structures it
 * fills in as they are.
 *
 * Unless a function says otherwise:
 *  - it returns 0, or a negative errno that means what <linux/krdma.h> says;
 *  - any thread may call it at any time, also for the same session;
 *  - a signal does not interrupt it;
 *  - a structure comes with the size that the caller was compiled with.  The
 *    library clears the whole of it first, so that what an older module or
 *    library does not know reads as zero.  What it holds after an error is
 *    undefined.
 */
#ifndef KRDMA_H
#define KRDMA_H

#include <stddef.h>
#include <stdint.h>

#include <linux/krdma.h>

#ifdef __cplusplus
extern "C" {
#endif

/* The device whose every opening is a session. */
#define KRDMA_DEVICE_PATH "/dev/krdma"

/* A session: one opening of the device, and what is made through it. */
struct krdma;

/**
 * krdma_open() - open a session
 * @session: where to put it; untouched on an error
 *
 * The session's file descriptor is closed on exec.
 *
 * Errors: those of open(2) for KRDMA_DEVICE_PATH, above all ENOENT (the module
 * is not loaded) and EACCES (the caller may not use it); ENOTTY (what was
 * opened is not krdma); EPROTONOSUPPORT (the module speaks another version of
 * the interface); ENOMEM.
 */
int krdma_open(struct krdma **session);

/**
 * krdma_open_fd() - make a session of a file descriptor of the device
 * @fd: the descriptor, for example received from another process through a
 *	socket
 * @session: where to put the session; untouched on an error
 *
 * From then on @fd belongs to the session and krdma_close() closes it; after an
 * error it still belongs to the caller.  Its close-on-exec flag stays as it is.
 *
 * Errors: EBADF; ENOTTY (the descriptor is not krdma's); EPROTONOSUPPORT;
 * ENOMEM.
 */
int krdma_open_fd(int fd, struct krdma **session);

/**
 * krdma_close() - close a session and release everything made through it
 * @session: the session, or NULL, which does nothing
 *
 * The session must not be in use by another thread, or used ever again.  Other
 * copies of its descriptor (after a fork or a transfer) are not affected.
 *
 * Errors: none today; whatever it returns, the session is gone.
 */
int krdma_close(struct krdma *session);

/**
 * krdma_fd() - the file descriptor of a session
 * @session: the session
 *
 * It remains the session's: do not close it.
 *
 * Return: the descriptor, or -EINVAL if @session is NULL.
 */
int krdma_fd(const struct krdma *session);

/**
 * krdma_info_get() - what the module is and can do
 * @session: the session
 * @info: filled in
 * @size: sizeof(*info)
 */
int krdma_info_get(struct krdma *session, struct krdma_info *info, size_t size);

/**
 * krdma_device_get() - one RDMA device by its number
 * @session: the session
 * @id: the number, never 0
 * @device: filled in
 * @size: sizeof(*device)
 *
 * Errors: ENOENT (the session can see no such device).
 */
int krdma_device_get(struct krdma *session, uint32_t id, struct krdma_device_query *device,
		     size_t size);

/**
 * krdma_device_find() - one RDMA device by its name
 * @session: the session
 * @name: the name
 * @device: filled in
 * @size: sizeof(*device)
 *
 * Errors: ENOENT (the session can see no such device); EINVAL (an empty name);
 * ENAMETOOLONG (no device can have this name).
 */
int krdma_device_find(struct krdma *session, const char *name, struct krdma_device_query *device,
		      size_t size);

/**
 * krdma_device_next() - walk through the RDMA devices
 * @session: the session
 * @after: the number of the device before; 0 to begin
 * @device: filled in with the device that has the next higher number
 * @size: sizeof(*device)
 *
 * Devices may come and go during the walk; each that stays is met once.
 *
 * Errors: ENOENT (there are no more).
 */
int krdma_device_next(struct krdma *session, uint32_t after, struct krdma_device_query *device,
		      size_t size);

/**
 * krdma_port_get() - one port of an RDMA device
 * @session: the session
 * @device_id: the device's number
 * @number: the port's number, from 1 to the device's port_count
 * @port: filled in
 * @size: sizeof(*port)
 *
 * Errors: ENOENT (no such device, or it has no such port).
 */
int krdma_port_get(struct krdma *session, uint32_t device_id, uint32_t number,
		   struct krdma_port_query *port, size_t size);

/*
 * Values as short lower-case names: "ib", "active", "ethernet", "atomic",
 * "devices".  They take one value, for capabilities and features one bit, and
 * answer "unknown" to what this version of the library does not know, never
 * NULL.  The text is constant.
 */
const char *krdma_transport_name(uint32_t transport);
const char *krdma_port_state_name(uint32_t state);
const char *krdma_link_layer_name(uint32_t link_layer);
const char *krdma_device_cap_name(uint64_t cap);
const char *krdma_feature_name(uint64_t feature);

/**
 * krdma_version() - the version of the library, such as "0.1.0"
 */
const char *krdma_version(void);

#ifdef __cplusplus
}
#endif

#endif /* KRDMA_H */
