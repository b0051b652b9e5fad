/* SPDX-License-Identifier: GPL-2.0 */
/*
 * code-begin and code-end: programs that only end.  Their address tells them apart: mark.h.
 */
	.section .note.GNU-stack, "", @progbits
	.text
	.globl _start
_start:
	mov	$60, %eax
	xor	%edi, %edi
	syscall
