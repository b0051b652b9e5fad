// SPDX-License-Identifier: GPL-2.0
/*
 * libkrdma's files without a connection: checksums, peers that a server admits, files that are
 * read.
 */
#include <arpa/inet.h>
#include <errno.h>
#include <fcntl.h>
#include <netinet/in.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "file_test.h"
#include "nets.h"

/* The program's function, which prints and counts results. */
static void (*result)(bool holds, const char *name);

/* Expected by test_proofs(). */
#define CLIENT_PROOF	"2f7160a5f5aa74533a267639676d183fe532dff4ef3dd497fa1af3f3e37f3e99"
#define SERVER_PROOF	"87db592a666164de36d3b8f23476ba3a80ef5d33362b64383d5fd2abeeab6c69"

/*
 * Checksums
 */

static bool is_hex(const unsigned char digest[SHA256_SIZE], const char *expected)
{
	char text[2 * SHA256_SIZE + 1];

	for (size_t i = 0; i < SHA256_SIZE; i++)
		sprintf(text + 2 * i, "%02x", digest[i]);
	return !strcmp(text, expected);
}

static bool is_sha256(const char *message, size_t times, size_t some, const char *expected)
{
	unsigned char digest[SHA256_SIZE];
	struct sha256 sha;

	sha256_init(&sha);
	for (size_t i = 0; i < times; i++) {
		for (size_t at = 0; at < strlen(message); at += some) {
			size_t left = strlen(message) - at;

			sha256_add(&sha, message + at, left < some ? left : some);
		}
	}
	sha256_end(&sha, digest);
	return is_hex(digest, expected);
}

static void test_sha256(void)
{
	static const char long_one[] = "abcdbcdecdefdefgefghfghighijhijkijkljklmklmnlmnomnopnopq";
	unsigned char key[131], digest[SHA256_SIZE];

	/* FIPS 180-4 and its examples. */
	result(is_sha256("", 1, 1,
			 "e3b0c44298fc1c149afbf4c8996fb92427ae41e4649b934ca495991b7852b855") &&
	       is_sha256("abc", 1, 3,
			 "ba7816bf8f01cfea414140de5dae2223b00361a396177a9cb410ff61f20015ad") &&
	       is_sha256(long_one, 1, 7,
			 "248d6a61d20638b8e5c026930c3e6039a33ce45964ff2167f6ecedd419db06c1") &&
	       is_sha256("aaaaaaaaaa", 100000, 10,
			 "cdc76e5c9914fb9281a1c7e284d73e67f1809a48a497200e046d39ccc7112cd0"),
	       "SHA-256 is that of FIPS 180-4");
	/* RFC 4231, cases 1, 2 and 6. */
	memset(key, 0x0b, 20);
	sha256_hmac(key, 20, "Hi There", 8, digest);
	result(is_hex(digest,
		      "b0344c61d8db38535ca8afceaf0bf12b881dc200c9833da726e9376c2e32cff7"),
	       "HMAC is that of RFC 4231");
	sha256_hmac("Jefe", 4, "what do ya want for nothing?", 28, digest);
	result(is_hex(digest,
		      "5bdcc146bf60754e6a042426089575c75a003f089d2739839dec58b964ec3843"),
	       "with a short key");
	memset(key, 0xaa, sizeof(key));
	sha256_hmac(key, sizeof(key), "Test Using Larger Than Block-Size Key - Hash Key First", 54,
		    digest);
	result(is_hex(digest,
		      "60e431591ee0b67f0d8a26aacbf5b77f8e0bc6213728c5140546040f0ee37f54"),
	       "and a long one");
}

/*
 * Peers that a server admits
 */

static struct sockaddr_storage address_of(const char *text, uint32_t scope)
{
	struct sockaddr_storage address = { 0 };
	struct sockaddr_in6 *in6 = (struct sockaddr_in6 *)&address;

	if (inet_pton(AF_INET, text, &((struct sockaddr_in *)&address)->sin_addr) == 1) {
		address.ss_family = AF_INET;
	} else if (inet_pton(AF_INET6, text, &in6->sin6_addr) == 1) {
		address.ss_family = AF_INET6;
		in6->sin6_scope_id = scope;
	} else {
		abort();
	}
	return address;
}

static bool allows(const char *list, const char *text)
{
	struct sockaddr_storage address = address_of(text, 0);
	struct nets nets;

	return !nets_parse(list, &nets) && nets_have(&nets, &address);
}

static bool is_list(const char *list)
{
	struct nets nets;

	return !nets_parse(list, &nets);
}

static bool same_peer(const char *a, uint32_t a_scope, const char *b, uint32_t b_scope)
{
	struct sockaddr_storage one = address_of(a, a_scope), other = address_of(b, b_scope);

	return nets_same_peer(&one, &other);
}

static void test_addresses(void)
{
	char many[33 * 10 + 1] = "";

	result(allows("10.0.0.0/24", "10.0.0.255") && !allows("10.0.0.0/24", "10.0.1.0") &&
	       allows("10.0.0.0/23", "10.0.1.0") && allows("0.0.0.0/0", "1.2.3.4") &&
	       !allows("0.0.0.0/0", "::1") && allows("10.0.0.1", "10.0.0.1") &&
	       !allows("10.0.0.1", "10.0.0.2"), "networks of IPv4");
	result(allows("fd00::/8", "fd12::1") && !allows("fd00::/8", "fe00::1") &&
	       allows("fd00::/7", "fc00::1") && allows("::/0", "fd00::1") &&
	       !allows("fd00::1", "fd00::2"), "and of IPv6");
	result(allows("10.0.0.0/8", "::ffff:10.1.2.3") && !allows("::/0", "::ffff:10.1.2.3"),
	       "an IPv4 address in IPv6's clothes is one");
	result(allows(" 1.1.1.1,2.2.2.2 fd00::/8\n", "2.2.2.2") &&
	       allows("1.1.1.1, 2.2.2.2,fd00::/8", "fd00::1"), "lists");
	for (int i = 0; i < 33; i++)
		strcat(many, "10.0.0.0/8");
	result(!is_list("") && !is_list(" ,") && !is_list("10.0.0.0/33") && !is_list("::/129") &&
	       !is_list("10.0.0.0/") && !is_list("10.0.0.0/-1") && !is_list("10.0.0.0/8x") &&
	       !is_list("host") && !is_list("10.0.0") && !is_list("1.1.1.1,x") && !is_list(many),
	       "what is none is refused");
	result(same_peer("10.0.0.1", 0, "10.0.0.1", 0) &&
	       !same_peer("10.0.0.1", 0, "10.0.0.2", 0) &&
	       same_peer("10.0.0.1", 0, "::ffff:10.0.0.1", 0) &&
	       same_peer("fd00:0:0:1::1", 0, "fd00:0:0:1::2", 0) &&
	       !same_peer("fd00:0:0:1::1", 0, "fd00:0:0:2::1", 0) &&
	       !same_peer("10.0.0.1", 0, "fd00::1", 0), "a peer is an address, or a network");
	result(same_peer("fe80::1", 2, "fe80::1", 2) && !same_peer("fe80::1", 2, "fe80::2", 2) &&
	       !same_peer("fe80::1", 2, "fe80::1", 3), "but not that of a link");
}

static void test_proofs(void)
{
	unsigned char server[SECRET_NONCE], client[SECRET_NONCE], one[SHA256_SIZE];
	unsigned char other[SHA256_SIZE];
	static const unsigned char large[KRDMA_FILE_SECRET_MAX + 1];
	struct secret *secret;

	memset(server, 1, sizeof(server));
	memset(client, 2, sizeof(client));
	result(secret_set(&secret, "0123456789abcde", 15) == -EINVAL &&
	       secret_set(&secret, NULL, 1) == -EINVAL &&
	       secret_set(&secret, large, sizeof(large)) == -EINVAL &&
	       !secret_set(&secret, NULL, 0) && !secret, "a secret is long enough");
	if (secret_set(&secret, "0123456789abcdef", 16))
		abort();
	/*
	 * The expected proofs were made by another program, which follows the first comment of
	 * file_admit.c.
	 */
	file_proof(secret, 'c', server, client, one);
	result(is_hex(one, CLIENT_PROOF), "a client's proof");
	file_proof(secret, 's', server, client, other);
	result(is_hex(other, SERVER_PROOF), "is not a server's");
	secret_free(secret);
}

/*
 * Files that are read
 */

static void begin_file(void)
{
	make_file("empty", "begun");
}

static void test_sources(void)
{
	struct file_source source;
	uint64_t length = 0;
	bool hole = false;
	char byte = 'x';
	int fd, growing;

	fd = file_open_regular(AT_FDCWD, "/proc/self/limits", true);
	result(fd >= 0 && !file_source_open(&source, fd) && source.length > 100 &&
	       !file_source_read(&source, 0, &byte, 1) && byte == 'L' &&
	       !file_source_unchanged(&source), "a file of /proc has what can be read");
	file_source_close(&source);
	result(file_open_regular(AT_FDCWD, "/dev/null", true) == -EOPNOTSUPP &&
	       file_open_regular(AT_FDCWD, "/", true) == -EISDIR &&
	       file_open_regular(AT_FDCWD, "/nothing", true) == -ENOENT,
	       "what is no file is not opened");
	if (symlink("/proc/self/limits", path_of("link")))
		abort();
	result(file_open_regular(AT_FDCWD, path_of("link"), false) == -EACCES,
	       "nor is a link followed");

	make_file("grows", "");
	growing = open(path_of("grows"), O_WRONLY | O_CLOEXEC);
	if (ftruncate(growing, 1 << 20))
		abort();
	fd = file_open_regular(AT_FDCWD, path_of("grows"), true);
	result(fd >= 0 && !file_source_open(&source, fd) && source.length == 1 << 20,
	       "a hole is a file");
	if (pwrite(growing, "x", 1, 3 << 20) != 1)
		abort();
	result(!file_source_extent(&source, 4096, 65536, &length, &hole) && hole &&
	       length == (1 << 20) - 4096, "that ends where it did, also when it grows");
	result(file_source_unchanged(&source) == -ESTALE, "which is noticed");
	file_source_close(&source);
	close(growing);

	make_file("empty", "");
	fd = file_open_regular(AT_FDCWD, path_of("empty"), true);
	result(fd >= 0 && !file_source_open(&source, fd) && !source.length, "an empty file is one");
	file_source_close(&source);
	fd = file_open_regular(AT_FDCWD, path_of("empty"), true);
	meanwhile = begin_file;
	result(fd >= 0 && file_source_open(&source, fd) == -ESTALE,
	       "one that another program begins is not taken for one of /proc");
	unlink(path_of("empty"));
}

/*
 * Lists
 */

/* The list of a link, with a kernel that cannot confine lookups: it is not followed. */
static int list_link(const char *target)
{
	struct stat status = { 0 };
	struct file_root root;
	int fd = -1, err;

	err = symlink(target, path_of("way")) ? -errno :
	      file_root_open(&root, path_of(""), KRDMA_FILE_READ);
	if (err)
		return err;
	root.beneath = false;
	err = file_list_create(&root, "way", false, NULL, &status, &fd);
	file_root_close(&root);
	unlink(path_of("way"));
	if (!err)
		close(fd);
	return err || !status.st_mode ? err : -EEXIST;
}

/* The list of the tests' folder, with an entry "name error" for each that has an error. */
static int list(char errors[256], size_t *count)
{
	struct krdma_file_entry *entries;
	static char bytes[65536];
	struct file_root root;
	struct stat status;
	ssize_t length;
	int fd, err;

	err = file_root_open(&root, path_of(""), KRDMA_FILE_READ);
	if (err)
		return err;
	err = file_list_create(&root, "", true, NULL, &status, &fd);
	file_root_close(&root);
	if (err)
		return err;
	length = pread(fd, bytes, sizeof(bytes), 0);
	close(fd);
	if (length < 0)
		return -errno;
	err = file_list_decode(bytes, (size_t)length, true, &entries, count);
	if (err)
		return err;
	*errors = '\0';
	for (size_t i = 0; i < *count; i++) {
		if (entries[i].error)
			snprintf(errors + strlen(errors), 256 - strlen(errors), "%s %d ",
				 entries[i].name, -entries[i].error);
	}
	krdma_file_list_free(entries);
	return 0;
}

/* A list that is not complete says so. */
static void test_lists(void)
{
	char errors[256], wanted[64];
	size_t count = 0;

	if (mkdir(path_of("folder"), 0755) || mkdir(path_of("vanishes"), 0755))
		abort();
	make_file("folder/a", "");
	make_file("folder/b", "");
	result(!list(errors, &count) && count == 4 && !*errors, "a list has everything");
	fail_open = "folder";
	fail_open_error = EMFILE;
	snprintf(wanted, sizeof(wanted), "folder %d ", EMFILE);
	result(!list(errors, &count) && count == 3 && !strcmp(errors, wanted),
	       "also what cannot be opened");
	fail_open_error = EACCES;
	snprintf(wanted, sizeof(wanted), "folder %d ", EACCES);
	result(!list(errors, &count) && count == 3 && !strcmp(errors, wanted),
	       "or may not be read");
	fail_open_error = ENOENT;
	result(!list(errors, &count) && count == 2 && !*errors, "but for what has vanished");
	fail_open = "";
	fail_open_error = EACCES;
	result(list(errors, &count) == -EACCES, "the folder itself has to be read");
	fail_open = NULL;
	rmdir(path_of("vanishes"));
	/* ".", ".." and "folder", then the end; ".", "..", and no more. */
	fail_readdir = 7;
	snprintf(wanted, sizeof(wanted), "folder %d ", EIO);
	result(!list(errors, &count) && count == 3 && !strcmp(errors, wanted),
	       "a folder that cannot be read to its end");
	fail_readdir = 2;
	result(list(errors, &count) == -EIO, "nor is half a list one");
	fail_readdir = 0;
	result(list_link("/nothing") == -ENOENT && list_link("/etc/passwd") == -ENOENT &&
	       list_link("/etc/passwd/x") == -ENOENT && list_link("way") == -ENOENT,
	       "of a link out of the folder nothing is listed, nor what is there");
	unlink(path_of("folder/a"));
	unlink(path_of("folder/b"));
}

void test_others(void (*tell)(bool holds, const char *name))
{
	result = tell;
	test_sha256();
	test_addresses();
	test_proofs();
	test_sources();
	unlink(path_of("link"));
	unlink(path_of("grows"));
	test_lists();
}
