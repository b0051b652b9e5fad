// SPDX-License-Identifier: LGPL-2.1 OR BSD-2-Clause
/*
 * krdma dev: RDMA devices, their ports, capabilities and limits.
 */
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include <json-c/json.h>

#include "cli.h"

static const char usage[] =
	"Usage: krdma dev [show [NAME|ID]]\n"
	"\n"
	"Shows the RDMA devices that krdma can use, or the one with the name or number.\n"
	"\n"
	OPTIONS_HELP
	"\n"
	"Manual: krdma-dev(8)\n";

struct device {
	struct krdma_device_query_args is;
	/* is.port_count entries; the first is port 1. */
	struct krdma_port_query_args *ports;
};

/* Text of a name field, which need not have a terminating zero. */
struct name {
	char text[KRDMA_NAME_MAX + 1];
};

static struct name name_of(const char field[KRDMA_NAME_MAX])
{
	struct name name;

	printable(name.text, sizeof(name.text), field, KRDMA_NAME_MAX);
	return name;
}

/* The protocol of a port follows from the transport of the device and the link layer. */
static const char *protocol_name(const struct device *device,
				 const struct krdma_port_query_args *port)
{
	if (device->is.transport != KRDMA_TRANSPORT_IB)
		return krdma_transport_name(device->is.transport);
	if (port->link_layer == KRDMA_LINK_ETHERNET)
		return "roce";
	return krdma_link_layer_name(port->link_layer);
}

static void print_limits_text(const struct krdma_device_query_args *is)
{
	char size[SIZE_TEXT_MAX];

	printf("    max_mr_size %s max_fast_reg_pages %u\n", size_text(size, is->max_mr_size),
	       is->max_fast_reg_pages);
	printf("    max_qp %u max_cqe %u max_send_wr %u max_recv_wr %u max_srq_wr %u\n", is->max_qp,
	       is->max_cqe, is->max_send_wr, is->max_recv_wr, is->max_srq_wr);
	printf("    max_send_sge %u max_recv_sge %u max_read_sge %u\n", is->max_send_sge,
	       is->max_recv_sge, is->max_read_sge);
	printf("    max_read_depth %u max_read_depth_in %u\n", is->max_read_depth,
	       is->max_read_depth_in);
}

static void print_port_text(const struct device *device, const struct krdma_port_query_args *port,
			    const struct options *options)
{
	char size[SIZE_TEXT_MAX];

	printf("    port %u: %s state %s mtu %u", port->port, protocol_name(device, port),
	       krdma_port_state_name(port->state), port->active_mtu);
	if (port->speed_mbps)
		printf(" speed %uMbit/s", port->speed_mbps);
	if (port->netdev_ifindex)
		printf(" netdev %s", name_of(port->netdev_name).text);
	putchar('\n');
	if (!options->details)
		return;
	printf("        link_layer %s max_mtu %u max_msg_size %s gid_count %u",
	       krdma_link_layer_name(port->link_layer), port->max_mtu,
	       size_text(size, port->max_msg_size), port->gid_count);
	if (port->netdev_ifindex)
		printf(" netdev_ifindex %u", port->netdev_ifindex);
	putchar('\n');
}

static void print_text(const struct device *device, const struct options *options)
{
	const struct krdma_device_query_args *is = &device->is;
	char guid[GUID_TEXT_MAX];
	uint32_t i;

	printf("%u: %s: transport %s node_guid %s ports %u caps ", is->id, name_of(is->name).text,
	       krdma_transport_name(is->transport), guid_text(guid, is->node_guid), is->port_count);
	print_flags(is->caps, krdma_device_cap_name);
	putchar('\n');
	if (options->details)
		print_limits_text(is);
	for (i = 0; i < is->port_count; i++)
		print_port_text(device, &device->ports[i], options);
}

static struct json_object *port_json(const struct device *device,
				     const struct krdma_port_query_args *port)
{
	struct json_object *object = json_checked(json_object_new_object());

	json_put_number(object, "port", port->port);
	json_put_text(object, "protocol", protocol_name(device, port));
	json_put_text(object, "state", krdma_port_state_name(port->state));
	json_put_text(object, "link_layer", krdma_link_layer_name(port->link_layer));
	json_put_number(object, "max_mtu", port->max_mtu);
	json_put_number(object, "active_mtu", port->active_mtu);
	json_put_number(object, "max_msg_size", port->max_msg_size);
	json_put_number(object, "gid_count", port->gid_count);
	json_put_number(object, "speed_mbps", port->speed_mbps);
	if (port->netdev_ifindex) {
		json_put_number(object, "netdev_ifindex", port->netdev_ifindex);
		json_put_text(object, "netdev_name", name_of(port->netdev_name).text);
	}
	return object;
}

static struct json_object *device_json(const struct device *device)
{
	const struct krdma_device_query_args *is = &device->is;
	struct json_object *object = json_checked(json_object_new_object());
	struct json_object *ports = json_checked(json_object_new_array());
	char guid[GUID_TEXT_MAX];
	uint32_t i;

	json_put_number(object, "id", is->id);
	json_put_text(object, "name", name_of(is->name).text);
	json_put_text(object, "transport", krdma_transport_name(is->transport));
	json_put_text(object, "node_guid", guid_text(guid, is->node_guid));
	json_put_flags(object, "caps", is->caps, krdma_device_cap_name);
	json_put_number(object, "max_mr_size", is->max_mr_size);
	json_put_number(object, "max_fast_reg_pages", is->max_fast_reg_pages);
	json_put_number(object, "max_qp", is->max_qp);
	json_put_number(object, "max_cqe", is->max_cqe);
	json_put_number(object, "max_send_wr", is->max_send_wr);
	json_put_number(object, "max_recv_wr", is->max_recv_wr);
	json_put_number(object, "max_srq_wr", is->max_srq_wr);
	json_put_number(object, "max_send_sge", is->max_send_sge);
	json_put_number(object, "max_recv_sge", is->max_recv_sge);
	json_put_number(object, "max_read_sge", is->max_read_sge);
	json_put_number(object, "max_read_depth", is->max_read_depth);
	json_put_number(object, "max_read_depth_in", is->max_read_depth_in);
	for (i = 0; i < is->port_count; i++)
		json_append(ports, port_json(device, &device->ports[i]));
	json_put(object, "ports", ports);
	return object;
}

/* Print as text if @array is NULL, or else add to @array. */
static void show_device(const struct device *device, struct json_object *array,
			const struct options *options)
{
	if (array)
		json_append(array, device_json(device));
	else
		print_text(device, options);
}

static int query_ports(struct krdma *session, struct device *device)
{
	uint32_t i;
	int err;

	device->ports = calloc(device->is.port_count, sizeof(*device->ports));
	if (!device->ports && device->is.port_count)
		return -ENOMEM;
	for (i = 0; i < device->is.port_count; i++) {
		err = krdma_port_query(session, device->is.id, i + 1, &device->ports[i],
				       sizeof(device->ports[i]));
		if (err) {
			free(device->ports);
			return err;
		}
	}
	return 0;
}

static bool is_gone(int err)
{
	return err == -ENOENT || err == -ENODEV;
}

static void explain_no_devices(void)
{
	complain("there is no RDMA device here\n"
		 "rxe makes one of any network interface; for eth0, as root:\n"
		 "rdma link add rxe0 type rxe netdev eth0");
}

/* Returns -ENOENT if there is no device. */
static int show_all(struct krdma *session, struct json_object *array,
		    const struct options *options)
{
	struct device device = { 0 };
	bool any = false;
	int err;

	for (;;) {
		err = krdma_device_next(session, device.is.id, &device.is, sizeof(device.is));
		if (err == -ENOENT)
			return any ? 0 : -ENOENT;
		if (err)
			return err;
		err = query_ports(session, &device);
		/* The device has been removed since it was found. */
		if (is_gone(err))
			continue;
		if (err)
			return err;
		show_device(&device, array, options);
		free(device.ports);
		any = true;
	}
}

/* A device may be named like a number, so names come first. */
static int find_device(struct krdma *session, const char *word, struct krdma_device_query_args *is)
{
	unsigned long id;
	char *end;
	int err = krdma_device_find(session, word, is, sizeof(*is));

	if (err != -ENOENT || *word < '0' || *word > '9')
		return err;
	errno = 0;
	id = strtoul(word, &end, 10);
	if (*end || errno || !id || id > UINT32_MAX)
		return err;
	return krdma_device_query(session, (uint32_t)id, is, sizeof(*is));
}

static int show_one(struct krdma *session, const char *word, struct json_object *array,
		    const struct options *options)
{
	struct device device;
	int err = find_device(session, word, &device.is);

	if (!err)
		err = query_ports(session, &device);
	if (err)
		return err;
	show_device(&device, array, options);
	free(device.ports);
	return 0;
}

static int show(struct krdma *session, const char *word, const struct options *options)
{
	struct json_object *array = NULL;
	int err;

	if (options->json)
		array = json_checked(json_object_new_array());
	if (word)
		err = show_one(session, word, array, options);
	else
		err = show_all(session, array, options);

	if (!word && err == -ENOENT) {
		/* JSON gets an empty list.  In text, explain why there is no device. */
		if (!array)
			explain_no_devices();
		err = 0;
	} else if (word && (is_gone(err) || err == -EINVAL || err == -ENAMETOOLONG)) {
		complain("there is no RDMA device '%s' here; 'krdma dev' lists all",
			 word);
	} else if (err) {
		complain_request("query the RDMA devices", err);
	}

	if (array && !err)
		json_print(array, options);
	else
		json_object_put(array);
	return err ? EXIT_FAILED : EXIT_OK;
}

static int cmd_show(int argc, char **argv, struct options *options)
{
	int first = options_parse(argc, argv, options, WITH_ARGUMENTS);
	struct krdma *session;
	int status;

	if (first < 0)
		return EXIT_USAGE;
	if (options->help) {
		fputs(usage, stdout);
		return EXIT_OK;
	}
	if (first + 1 < argc)
		return usage_error("'%s' is a second device; 'krdma dev show' takes one or none",
				   argv[first + 1]);
	if (open_session(&session))
		return EXIT_FAILED;
	status = show(session, first < argc ? argv[first] : NULL, options);
	krdma_close(session);
	return status;
}

static int cmd_dev_help(int argc, char **argv, struct options *options)
{
	(void)argc;
	(void)argv;
	(void)options;
	fputs(usage, stdout);
	return EXIT_OK;
}

static const struct command commands[] = {
	{ "show", cmd_show },
	{ "list", cmd_show },
	{ "help", cmd_dev_help },
	{ NULL, NULL },
};

int cmd_dev(int argc, char **argv, struct options *options)
{
	const struct command *command;
	int first = options_parse(argc, argv, options, BEFORE_COMMAND);

	if (first < 0)
		return EXIT_USAGE;
	if (options->help || first == argc)
		return cmd_show(1, argv, options);
	command = command_find(commands, argv[first]);
	if (!command)
		return usage_error("'%s' is not a verb of dev; did you mean 'krdma dev show %s'?",
				   argv[first], argv[first]);
	return command->run(argc - first, argv + first, options);
}
