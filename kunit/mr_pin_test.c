// SPDX-License-Identifier: GPL-2.0
/* What is pinned of a process's memory, and how.  The pages are those of a file of the test. */
#include <kunit/test.h>
#include <linux/anon_inodes.h>
#include <linux/atomic.h>
#include <linux/err.h>
#include <linux/file.h>
#include <linux/fs.h>
#include <linux/mm.h>
#include <linux/mman.h>
#include <linux/module.h>
#include <linux/sched.h>
#include <rdma/ib_verbs.h>

#include "objects.h"
#include "stage.h"

/**
 * struct book - a file, of which each page is the same one
 * @page: the page
 * @pages: how many the file has
 * @faults: how many were asked for
 * @flags: of the first one's fault
 */
struct book {
	struct page *page;
	unsigned int pages;
	int faults;
	unsigned int flags;
};

static vm_fault_t book_fault(struct vm_fault *vmf)
{
	struct book *book = vmf->vma->vm_file->private_data;

	if (!book->faults++)
		book->flags = vmf->flags;
	if (vmf->pgoff >= book->pages)
		return VM_FAULT_SIGBUS;
	get_page(book->page);
	vmf->page = book->page;
	return 0;
}

static const struct vm_operations_struct book_vm_ops = {
	.fault = book_fault,
};

static int book_mmap(struct file *file, struct vm_area_struct *vma)
{
	vma->vm_ops = &book_vm_ops;
	return 0;
}

static const struct file_operations book_fops = {
	.owner = THIS_MODULE,
	.mmap = book_mmap,
};

static void book_put(void *page)
{
	put_page(page);
}

static struct book *book_new(struct kunit *test, unsigned int pages)
{
	struct book *book = kunit_kzalloc(test, sizeof(*book), GFP_KERNEL);

	KUNIT_ASSERT_NOT_NULL(test, book);
	book->pages = pages;
	book->page = alloc_page(GFP_KERNEL | __GFP_ZERO);
	KUNIT_ASSERT_NOT_NULL(test, book->page);
	KUNIT_ASSERT_EQ(test, 0, kunit_add_action_or_reset(test, book_put, book->page));
	return book;
}

static unsigned long book_map(struct kunit *test, struct book *book, unsigned int pages,
			      unsigned long prot, unsigned long flags)
{
	struct file *file = anon_inode_getfile("krdma_book", &book_fops, book, O_RDWR);
	unsigned long address;

	KUNIT_ASSERT_NOT_ERR_OR_NULL(test, file);
	address = kunit_vm_mmap(test, file, 0, pages * PAGE_SIZE, prot, flags, 0);
	fput(file);
	KUNIT_ASSERT_NE(test, 0, address);
	return address;
}

/* Before the test ends: the file is of this module. */
static void book_unmap(unsigned long address, unsigned int pages)
{
	vm_munmap(address, pages * PAGE_SIZE);
	flush_delayed_fput();
}

static void be_mlx4(struct fake_device *fake)
{
	fake->ib.ops.driver_id = RDMA_DRIVER_MLX4;
}

static void be_mlx5(struct fake_device *fake)
{
	fake->ib.ops.driver_id = RDMA_DRIVER_MLX5;
}

static void device_put(void *dev)
{
	krdma_device_put(dev);
}

static struct krdma_device *pin_device(struct kunit *test)
{
	struct krdma_device *dev = krdma_device_get_by_name(&init_net, STAGE_DEVICE);

	KUNIT_ASSERT_NOT_NULL(test, dev);
	KUNIT_ASSERT_EQ(test, 0, kunit_add_action_or_reset(test, device_put, dev));
	return dev;
}

/* Whether the first page was to be written when memory was registered for reading. */
static bool asked_for_writing(struct kunit *test, struct stage *stage, unsigned long prot)
{
	struct book *book = book_new(test, 1);
	unsigned long address = book_map(test, book, 1, prot, MAP_PRIVATE);
	struct krdma_mr *mr;

	mr = krdma_mr_register_user(stage->session, pin_device(test), address, PAGE_SIZE,
				    KRDMA_ACCESS_REMOTE_READ);
	KUNIT_ASSERT_NOT_ERR_OR_NULL(test, mr);
	KUNIT_EXPECT_EQ(test, 0, krdma_mr_deregister(mr));
	book_unmap(address, 1);
	KUNIT_EXPECT_LT(test, 0, book->faults);
	return book->flags & FAULT_FLAG_WRITE;
}

/*
 * krdma brings pages in as the driver pins them.  mlx4 pins those for writing that the process may
 * write to.  It would wait for the program whose pages they are if they could only be read.
 */
static void test_mlx4_finds_pages_to_write(struct kunit *test)
{
	struct stage *stage = stage_new(test, be_mlx4);

	KUNIT_EXPECT_TRUE(test, asked_for_writing(test, stage, PROT_READ | PROT_WRITE));
	KUNIT_EXPECT_FALSE(test, asked_for_writing(test, stage, PROT_READ));
}

static void test_others_find_pages_to_read(struct kunit *test)
{
	struct stage *stage = stage_new(test, be_mlx5);

	KUNIT_EXPECT_FALSE(test, asked_for_writing(test, stage, PROT_READ | PROT_WRITE));
	KUNIT_EXPECT_FALSE(test, asked_for_writing(test, stage, PROT_READ));
}

/* A range that ends in the midst leaves none of its pages pinned, and none charged. */
static void pins_all_or_none(struct kunit *test, struct stage *stage, bool lanes)
{
	struct book *book = book_new(test, 2);
	struct krdma_device *dev = pin_device(test);
	unsigned long address;
	struct krdma_mr *mr;

	address = book_map(test, book, 3, PROT_READ | PROT_WRITE, MAP_SHARED);
	for (unsigned int pages = 3; pages > 1; pages--) {
		mr = (lanes ? krdma_mr_register_user_for_lanes : krdma_mr_register_user)
			(stage->session, dev, address, pages * PAGE_SIZE,
			 KRDMA_ACCESS_LOCAL_WRITE);
		KUNIT_EXPECT_EQ(test, pages == 3 ? -EFAULT : 0, PTR_ERR_OR_ZERO(mr));
		KUNIT_EXPECT_EQ(test, pages == 2, folio_maybe_dma_pinned(page_folio(book->page)));
		KUNIT_EXPECT_EQ(test, pages == 2 ? 2 : 0, atomic64_read(&current->mm->pinned_vm));
		if (!IS_ERR(mr))
			KUNIT_EXPECT_EQ(test, 0, krdma_mr_deregister(mr));
		KUNIT_EXPECT_FALSE(test, folio_maybe_dma_pinned(page_folio(book->page)));
		KUNIT_EXPECT_EQ(test, 0, atomic64_read(&current->mm->pinned_vm));
	}
	book_unmap(address, 3);
}

static void test_all_pages_or_none(struct kunit *test)
{
	struct stage *stage = stage_new(test, be_mlx5);

	pins_all_or_none(test, stage, false);
	pins_all_or_none(test, stage, true);
}

/* A page of a process, which krdma pins: for lanes it always does. */
static struct krdma_mr *pin_page(struct kunit *test, struct stage *stage, unsigned long address,
				 u32 access)
{
	struct krdma_mr *mr;

	mr = krdma_mr_register_user_for_lanes(stage->session, pin_device(test), address, PAGE_SIZE,
					      access);
	KUNIT_ASSERT_NOT_ERR_OR_NULL(test, mr);
	return mr;
}

/* A page that was written back while the device could write to it has to be written back again. */
static void test_written_pages_are_dirty(struct kunit *test)
{
	struct stage *stage = stage_new(test, NULL);
	struct book *book = book_new(test, 1);
	struct folio *folio = page_folio(book->page);
	unsigned long address;
	struct krdma_mr *mr;

	address = book_map(test, book, 1, PROT_READ | PROT_WRITE, MAP_SHARED);
	mr = pin_page(test, stage, address, KRDMA_ACCESS_LOCAL_WRITE);
	folio_test_clear_dirty(folio);
	KUNIT_EXPECT_EQ(test, 0, krdma_mr_deregister(mr));
	KUNIT_EXPECT_TRUE(test, folio_test_dirty(folio));

	mr = pin_page(test, stage, address, KRDMA_ACCESS_REMOTE_READ);
	folio_test_clear_dirty(folio);
	KUNIT_EXPECT_EQ(test, 0, krdma_mr_deregister(mr));
	KUNIT_EXPECT_FALSE(test, folio_test_dirty(folio));
	book_unmap(address, 1);
}

/*
 * siw uses memory after its deregistration.  Pages that a peer has reached stay pinned until no
 * peer is connected.
 */
static void test_siw_keeps_pages_of_a_peer(struct kunit *test)
{
	struct stage *stage = stage_new(test, fake_device_read_like_siw);
	struct book *book = book_new(test, 1);
	struct folio *folio = page_folio(book->page);
	unsigned long address;

	stage_listen(stage);
	stage_connect(stage);
	address = book_map(test, book, 1, PROT_READ | PROT_WRITE, MAP_SHARED);
	KUNIT_EXPECT_EQ(test, 0, krdma_mr_deregister(pin_page(test, stage, address,
							      KRDMA_ACCESS_LOCAL_WRITE)));
	KUNIT_EXPECT_FALSE(test, folio_maybe_dma_pinned(folio));
	KUNIT_EXPECT_EQ(test, 0, krdma_mr_deregister(pin_page(test, stage, address,
							      KRDMA_ACCESS_REMOTE_READ)));
	KUNIT_EXPECT_TRUE(test, folio_maybe_dma_pinned(folio));
	stage_close(stage);
	KUNIT_EXPECT_FALSE(test, folio_maybe_dma_pinned(folio));
	book_unmap(address, 1);
}

static struct kunit_case mr_pin_cases[] = {
	KUNIT_CASE(test_mlx4_finds_pages_to_write),
	KUNIT_CASE(test_others_find_pages_to_read),
	KUNIT_CASE(test_all_pages_or_none),
	KUNIT_CASE(test_written_pages_are_dirty),
	KUNIT_CASE(test_siw_keeps_pages_of_a_peer),
	{}
};

static int mr_pin_init(struct kunit *test)
{
	test_needs_fast_reg(test);
	return test_objects_init(test);
}

static struct kunit_suite mr_pin_suite = {
	.name = "krdma_mr_pin",
	.init = mr_pin_init,
	.test_cases = mr_pin_cases,
};

kunit_test_suite(mr_pin_suite);
