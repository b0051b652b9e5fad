/* SPDX-License-Identifier: GPL-2.0 */
/*
 * Tracepoints: /sys/kernel/tracing/events/krdma/.
 */
#undef TRACE_SYSTEM
#define TRACE_SYSTEM krdma

#if !defined(_KRDMA_TRACE_H) || defined(TRACE_HEADER_MULTI_READ)
#define _KRDMA_TRACE_H

#include <linux/krdma.h>
#include <linux/tracepoint.h>

DECLARE_EVENT_CLASS(krdma_device_class,
		    TP_PROTO(u32 id, const char *name),
		    TP_ARGS(id, name),
		    TP_STRUCT__entry(__field(u32, id)
				     __array(char, name, KRDMA_NAME_MAX)),
		    TP_fast_assign(__entry->id = id;
				   strscpy_pad(__entry->name, name, KRDMA_NAME_MAX);),
		    TP_printk("id=%u name=%s", __entry->id, __entry->name)
);

/* A device can be found and used. */
DEFINE_EVENT(krdma_device_class, krdma_device_add,
	     TP_PROTO(u32 id, const char *name),
	     TP_ARGS(id, name)
);

/* A device is gone, and nobody uses it any more. */
DEFINE_EVENT(krdma_device_class, krdma_device_remove,
	     TP_PROTO(u32 id, const char *name),
	     TP_ARGS(id, name)
);

/* A request on a file descriptor has been answered. */
TRACE_EVENT(krdma_ioctl,
	    TP_PROTO(unsigned int cmd, long ret),
	    TP_ARGS(cmd, ret),
	    TP_STRUCT__entry(__field(unsigned int, cmd)
			     __field(long, ret)),
	    TP_fast_assign(__entry->cmd = cmd;
			   __entry->ret = ret;),
	    TP_printk("cmd=%#x (%s) ret=%ld", __entry->cmd,
		      __print_symbolic(__entry->cmd,
				       { KRDMA_INFO, "INFO" },
				       { KRDMA_DEVICE_QUERY, "DEVICE_QUERY" },
				       { KRDMA_PORT_QUERY, "PORT_QUERY" }),
		      __entry->ret)
);

#endif /* _KRDMA_TRACE_H */

#undef TRACE_INCLUDE_PATH
#define TRACE_INCLUDE_PATH .
#undef TRACE_INCLUDE_FILE
#define TRACE_INCLUDE_FILE trace

#include <trace/define_trace.h>
