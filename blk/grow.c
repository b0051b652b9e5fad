// SPDX-License-Identifier: GPL-2.0
/*
 * The memory of an export that grows while it has clients.
 *
 * Locks: an export's windows_lock, then its clients_lock.
 */
#include <linux/list.h>
#include <linux/lockdep.h>
#include <linux/mutex.h>

#include "export.h"
#include "grow.h"

/* Will a client return, over whichever device, that has no connection now? */
static bool krdma_blk_export_awaits(struct krdma_blk_export *export)
{
	struct krdma_blk_client *client;

	lockdep_assert_held(&export->clients_lock);
	list_for_each_entry(client, &export->clients, node) {
		if (!client->conn_count)
			return true;
	}
	return export->paused;
}

/* A window without clients need not be registered: a failure of that does not stop the growth. */
static void krdma_blk_export_drop_windows(struct krdma_blk_export *export)
{
	struct krdma_blk_window *window, *next;
	LIST_HEAD(unused);
	bool awaits;

	lockdep_assert_held(&export->windows_lock);
	mutex_lock(&export->clients_lock);
	awaits = krdma_blk_export_awaits(export);
	for (unsigned int role = 0; role < KRDMA_BLK_ROLES; role++) {
		list_for_each_entry_safe(window, next, &export->windows[role], node) {
			/* One that joins waits for windows_lock. */
			if (!awaits && !window->users)
				list_move(&window->node, &unused);
		}
	}
	mutex_unlock(&export->clients_lock);
	list_for_each_entry_safe(window, next, &unused, node)
		krdma_blk_window_close(window);
}

static int krdma_blk_export_grow_window(struct krdma_blk_export *export,
					enum krdma_blk_role role,
					struct krdma_blk_window *window,
					const struct krdma_blk_memory *more)
{
	int ret = krdma_blk_window_grow(window, more, export->sessions[role],
					role == KRDMA_BLK_READS);

	/* The window of a device that was removed is not needed. */
	return ret && krdma_blk_window_is_gone(window) ? 0 : ret;
}

/**
 * krdma_blk_serve_grow() - Register what the memory is to grow by
 * @export: the export, enabled; the caller holds its lock
 * @more: from krdma_blk_memory_alloc_more()
 *
 * Clients that are connected notice nothing.  Devices over which no client is connected, nor may
 * return, are not used for the memory any more.  Those that are admitted meanwhile, over a further
 * device, have only the memory of before: so after krdma_blk_serve_pause() this is called again.
 *
 * Context: process context; may sleep.
 * Return: 0, or an error of krdma_blk_window_grow().
 */
int krdma_blk_serve_grow(struct krdma_blk_export *export, const struct krdma_blk_memory *more)
{
	struct krdma_blk_window *window;
	int ret = 0;

	mutex_lock(&export->windows_lock);
	krdma_blk_export_drop_windows(export);
	for (unsigned int role = 0; role < KRDMA_BLK_ROLES; role++) {
		list_for_each_entry(window, &export->windows[role], node) {
			if (!ret)
				ret = krdma_blk_export_grow_window(export, role, window, more);
		}
	}
	mutex_unlock(&export->windows_lock);
	return ret;
}

/**
 * krdma_blk_serve_grow_end() - Let clients access the memory that has grown, or undo that
 * @export: the export; the caller holds its lock
 * @grown: the memory has grown: all krdma_blk_serve_grow() were successful, and the export is
 *	paused; false: nothing has changed
 *
 * Context: process context; may sleep.
 */
void krdma_blk_serve_grow_end(struct krdma_blk_export *export, bool grown)
{
	struct krdma_blk_window *window, *next;

	mutex_lock(&export->windows_lock);
	for (unsigned int role = 0; role < KRDMA_BLK_ROLES; role++) {
		list_for_each_entry_safe(window, next, &export->windows[role], node) {
			if (!grown) {
				krdma_blk_window_grow_undo(window);
			} else if (window->grown.mrs) {
				krdma_blk_window_grow_end(window);
			} else {
				/* Its device was removed. */
				list_del(&window->node);
				krdma_blk_window_close(window);
			}
		}
	}
	mutex_unlock(&export->windows_lock);
}
