/* SPDX-License-Identifier: GPL-2.0 */
/*
 * Functions of faulty.c (__wrap_) and the functions that they replace (__real_).  The linker
 * resolves both names (--wrap).
 */
#ifndef KRDMA_TESTING_FAULTY_H
#define KRDMA_TESTING_FAULTY_H

#include <stddef.h>
#include <stdint.h>
#include <sys/socket.h>

#include "krdma.h"

int __real_far_run(int fd, const struct sockaddr_storage *address, uint64_t max_memory);
int __wrap_far_run(int fd, const struct sockaddr_storage *address, uint64_t max_memory);
int __real_raise(int number);
int __wrap_raise(int number);
int __real_krdma_ring_post(struct krdma_ring *ring, const struct krdma_sqe *entries,
			   size_t count, size_t *accepted);
int __wrap_krdma_ring_post(struct krdma_ring *ring, const struct krdma_sqe *entries,
			   size_t count, size_t *accepted);
int __real_krdma_srq_post(struct krdma_srq *srq, const struct krdma_sqe *entries, size_t count,
			  size_t *accepted);
int __wrap_krdma_srq_post(struct krdma_srq *srq, const struct krdma_sqe *entries, size_t count,
			  size_t *accepted);
int __real_krdma_ring_wait(struct krdma_ring *ring, struct krdma_cqe *cqes, size_t room,
			   size_t least, uint64_t deadline, size_t *taken);
int __wrap_krdma_ring_wait(struct krdma_ring *ring, struct krdma_cqe *cqes, size_t room,
			   size_t least, uint64_t deadline, size_t *taken);
int __real_krdma_mr_register(struct krdma *session, uint32_t device_id, void *data,
			     size_t length, uint32_t access, struct krdma_mr **mr);
int __wrap_krdma_mr_register(struct krdma *session, uint32_t device_id, void *data,
			     size_t length, uint32_t access, struct krdma_mr **mr);
int __real_krdma_mr_deregister(struct krdma_mr *mr, uint32_t flags);
int __wrap_krdma_mr_deregister(struct krdma_mr *mr, uint32_t flags);
int __real_krdma_conn_private_data(struct krdma_conn *conn, void *data, size_t *length);
int __wrap_krdma_conn_private_data(struct krdma_conn *conn, void *data, size_t *length);
int __real_krdma_conn_disconnect(struct krdma_conn *conn, uint32_t flags);
int __wrap_krdma_conn_disconnect(struct krdma_conn *conn, uint32_t flags);

#endif /* KRDMA_TESTING_FAULTY_H */
