// SPDX-License-Identifier: LGPL-2.1 OR BSD-2-Clause
/*
 * The buffers for file data.
 */
#include "file_internal.h"

#include <errno.h>

/* Below this size, use fewer buffers instead of smaller ones. */
#define SLOT_SMALL	65536u

/* The least bytes of a window, so that it serves the next small file too. */
#define WINDOW_LEAST	65536u

uint32_t file_window_slots(uint32_t wanted, unsigned int streams)
{
	const uint32_t slots = 2 * streams;

	if (wanted || slots <= FILE_SLOTS_DEFAULT)
		return wanted ? wanted : FILE_SLOTS_DEFAULT;
	return slots < FILE_SLOTS_MAX ? slots : FILE_SLOTS_MAX;
}

/* Whether a smaller allocation may succeed after this error. */
static bool is_short(int err)
{
	return err == -ENOMEM || err == -EPERM || err == -EDQUOT || err == -EAGAIN;
}

/* Buffers of a file of @length bytes: no more and no longer than it needs. */
static void measure(uint64_t length, uint32_t *size, uint32_t *count)
{
	if (!*size)
		*size = FILE_SLOT_DEFAULT;
	if (!*count)
		*count = FILE_SLOTS_DEFAULT;
	if (*size > FILE_SLOT_MAX)
		*size = FILE_SLOT_MAX;
	if (length < *size)
		*size = (uint32_t)length;
	if (*count > FILE_SLOTS_MAX)
		*count = FILE_SLOTS_MAX;
	*size = (*size + FILE_SLOT_MIN - 1) / FILE_SLOT_MIN * FILE_SLOT_MIN;
	if (!*size)
		*size = FILE_SLOT_MIN;
	if (length <= (uint64_t)*size * (*count - 1))
		*count = (uint32_t)((length + *size - 1) / *size);
	if (!*count)
		*count = 1;
}

int file_window_create(struct file_window *window, struct krdma *session, uint32_t device,
		       uint32_t access, uint32_t slot_size, uint32_t slot_count,
		       uint64_t length)
{
	uint32_t size = slot_size, count = slot_count;
	uint64_t least = WINDOW_LEAST, room;
	int err;

	measure(length, &size, &count);
	if (window->mr && window->access == access && (uint64_t)size * count <= window->room) {
		window->slot_size = size;
		window->slot_count = count;
		return 0;
	}
	file_window_destroy(window);
	for (;;) {
		room = (uint64_t)size * count;
		if (room < least)
			room = least;
		err = krdma_mr_alloc(session, device, (size_t)room, access, &window->mr);
		if (!err) {
			window->access = access;
			window->room = room;
			window->slot_size = size;
			window->slot_count = count;
			return 0;
		}
		if (!is_short(err))
			return err;
		if (least)
			least = 0;
		else if (size > SLOT_SMALL)
			size = size / 2 / FILE_SLOT_MIN * FILE_SLOT_MIN;
		else if (count > 2)
			count /= 2;
		else if (size > FILE_SLOT_MIN)
			size = FILE_SLOT_MIN;
		else
			return err;
	}
}

/* No transfer uses the window any more, but a work request may still be in flight. */
void file_window_destroy(struct file_window *window)
{
	krdma_mr_deregister(window->mr, KRDMA_DEREGISTER_LATER);
	window->mr = NULL;
}

unsigned char *file_window_slot(const struct file_window *window, uint32_t slot)
{
	return (unsigned char *)krdma_mr_data(window->mr) +
	       (size_t)slot * window->slot_size;
}
