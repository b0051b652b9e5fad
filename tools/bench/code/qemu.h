/* SPDX-License-Identifier: GPL-2.0 */
/*
 * QEMU's interface for plugins, as far as it is used here: its own header is in no package.
 */
#ifndef KRDMA_BENCH_QEMU_H
#define KRDMA_BENCH_QEMU_H

#include <stddef.h>
#include <stdint.h>

#define QEMU_PLUGIN_VERSION	2
#define QEMU_PLUGIN_EXPORTED	__attribute__((visibility("default")))

typedef uint64_t qemu_plugin_id_t;
struct qemu_plugin_tb;
struct qemu_info;

/* What a plugin exports. */
extern int qemu_plugin_version QEMU_PLUGIN_EXPORTED;
int qemu_plugin_install(qemu_plugin_id_t id, const struct qemu_info *info, int argc,
			char **argv) QEMU_PLUGIN_EXPORTED;

/* What QEMU calls when it has translated a piece of code, and when the machine executes one. */
typedef void (*qemu_plugin_translated_t)(qemu_plugin_id_t id, struct qemu_plugin_tb *tb);
typedef void (*qemu_plugin_executed_t)(unsigned int cpu, void *data);

void qemu_plugin_register_vcpu_tb_trans_cb(qemu_plugin_id_t id,
					   qemu_plugin_translated_t translated);
void qemu_plugin_register_vcpu_tb_exec_cb(struct qemu_plugin_tb *tb,
					  qemu_plugin_executed_t executed, int registers,
					  void *data);
size_t qemu_plugin_tb_n_insns(const struct qemu_plugin_tb *tb);
uint64_t qemu_plugin_tb_vaddr(const struct qemu_plugin_tb *tb);

#endif
