# shellcheck shell=bash
# SPDX-License-Identifier: GPL-2.0
#
# The VM's file system: a base image for each kernel, kept in the cache, and behind it a small image
# for each run.  The kernel unpacks several archives in a row, so neither image has to be rewritten
# when the other changes.
#
# Nothing here is compressed: unpacking costs an emulated CPU more than reading.

# shellcheck source=tools/common.sh
[ -n "${krdma_cache:-}" ] || . "$(dirname "${BASH_SOURCE[0]}")/../common.sh"

vm_dir=$topdir/tools/vm

# pack DIR FILE: packs everything below DIR as an archive that the kernel unpacks.
pack()
{
	(cd "$1" && find . -mindepth 1 -print0 | LC_ALL=C sort -z |
		cpio --quiet -0 -o -H newc -R 0:0) >"$2"
}

# add_file ROOT SRC DST: adds SRC, a file or a whole folder, to the image as DST.
add_file()
{
	local root=$1 src=$2 dst=$3

	[ -e "$src" ] || die "$src (to be $dst in the VM) does not exist"
	case $dst in
	*/) dst=$dst${src##*/} ;;
	esac
	mkdir -p "$root$(dirname "$dst")"
	if [ -d "$src" ]; then
		mkdir -p "$root$dst"
		cp -rL "$src/." "$root$dst/"
	else
		cp -L "$src" "$root$dst"
	fi
}

# add_libraries ROOT FILE: adds the shared objects that FILE is linked with, at the paths where its
# loader looks for them.
add_libraries()
{
	local root=$1 file=$2 lib

	while read -r lib; do
		[ -e "$root$lib" ] || add_file "$root" "$lib" "$lib"
	done < <(ldd "$file" 2>/dev/null |
		sed -nE 's/^.* => (\/[^ ]+) .*$/\1/p; s/^[[:space:]]*(\/[^ ]+) \(0x.*$/\1/p')
	if [[ $(ldd "$file" 2>/dev/null) == *'not found'* ]]; then
		die "$file needs $(ldd "$file" | awk '/not found/ && !n++ { print $1 }'), which this machine does not have"
	fi
}

# add_program ROOT PATH: adds a program of this machine, with all that it needs.
add_program()
{
	local root=$1 name=$2 path provider lib

	path=$(command -v -- "$name" || true)
	[ -f "$path" ] ||
		die "there is no program $name on this machine to take into the VM; install it, or give its path"
	path=$(realpath "$path")
	add_file "$root" "$path" "/bin/${name##*/}"
	chmod 755 "$root/bin/${name##*/}"
	add_libraries "$root" "$path"
	# pthread_exit() and pthread_cancel() load libgcc_s by name at run time.
	# (awk reads to the end: with pipefail, a writer that is cut short is a failure.)
	lib=$(ldconfig -p | awk '/libgcc_s\.so\.1 .*x86-64/ && !n++ { print $NF }')
	[ -z "$lib" ] || [ ! -e "$root/lib64" ] || add_file "$root" "$lib" "$lib"

	# A verbs program opens its device's provider by name at run time.
	if [[ $(ldd "$path" 2>/dev/null) == *libibverbs* ]]; then
		for provider in rxe siw; do
			[ -e "/etc/libibverbs.d/$provider.driver" ] ||
				die "$name uses verbs, and the $provider provider is not installed; install ibverbs-providers"
			add_file "$root" "/etc/libibverbs.d/$provider.driver" "/etc/libibverbs.d/"
			for path in /usr/lib/*/libibverbs/"lib$provider"-*.so; do
				add_file "$root" "$path" "$path"
				add_libraries "$root" "$path"
			done
		done
	fi
}

# add_modules ROOT KERNEL: adds the modules of modules.list and those they need.
add_modules()
{
	local root=$1 kernel=$2 release dir file

	release=$(cat "$kernel/release")
	dir=$root/lib/modules/$release
	mkdir -p "$dir"
	# modules.dep: "path: path path ...", complete and ordered already.
	sed -e 's/#.*//' "$vm_dir/modules.list" | awk '
		NR == FNR { if (NF) want[$1] = 1; next }
		{
			path = $1
			sub(/:$/, "", path)
			name = path
			sub(/^.*\//, "", name)
			sub(/\.ko(\.[a-z0-9]+)?$/, "", name)
			gsub(/-/, "_", name)
			if (!(name in want))
				next
			print path
			for (i = 2; i <= NF; i++)
				print $i
		}' - "$kernel/modules/modules.dep" | sort -u |
	while read -r file; do
		mkdir -p "$dir/$(dirname "$file")"
		case $file in
		*.xz) xz -dc "$kernel/modules/$file" >"$dir/${file%.xz}" ;;
		*.zst) zstd -qdc "$kernel/modules/$file" >"$dir/${file%.zst}" ;;
		*.gz) gzip -dc "$kernel/modules/$file" >"$dir/${file%.gz}" ;;
		*) cp "$kernel/modules/$file" "$dir/$file" ;;
		esac
	done
	# Strip what follows the ELF file: its signature.  An emulated processor needs a tenth of a
	# second to check it, and krdma.ko has none either.
	find "$dir" -name '*.ko' -exec strip --strip-debug {} +
	for file in modules.builtin modules.order modules.builtin.modinfo; do
		[ ! -e "$kernel/modules/$file" ] || cp -L "$kernel/modules/$file" "$dir/"
	done
	depmod -b "$root" "$release"
	[ -s "$dir/modules.dep" ] || die "no module of $release could be packed; remove $kernel and run again"
}

make_base()
{
	local kernel=$1 image=$2 root applet
	[ ! -s "$image" ] || return 0

	step "packing a file system for $(cat "$kernel/release")"
	need_space "$(dirname "$image")" 100 "the VM's file system"
	need_space "${TMPDIR:-/tmp}" 100 "the VM's file system, while it is packed,"
	root=$(mktemp -d "${TMPDIR:-/tmp}/krdma-image.XXXXXX")
	mkdir -p "$root"/{bin,sbin,dev,proc,sys,etc,root,tmp,run,vm,usr/bin,usr/sbin}
	cp /bin/busybox "$root/bin/busybox"
	for applet in $(/bin/busybox --list); do
		[ "$applet" = busybox ] || ln -s busybox "$root/bin/$applet"
	done
	ln -s ../bin/modprobe "$root/sbin/modprobe"
	# Not the shell of busybox: it runs its own applets before it looks for a program of that
	# name, and so hides the programs that were added.
	rm -f "$root/bin/sh" "$root/bin/ip"
	add_program "$root" dash
	ln -s dash "$root/bin/sh"
	add_program "$root" ip
	add_program "$root" rdma
	add_file "$root" "$vm_dir/guest/init" /init
	chmod 755 "$root/init"
	printf 'root:x:0:0:root:/:/bin/sh\nnobody:x:65534:65534:nobody:/:/bin/sh\n' >"$root/etc/passwd"
	printf 'root:x:0:\nnogroup:x:65534:\n' >"$root/etc/group"
	printf '127.0.0.1 localhost\n' >"$root/etc/hosts"
	printf '10.77.0.%d node%d\n' 1 1 2 2 3 3 4 4 >>"$root/etc/hosts"
	add_modules "$root" "$kernel"
	pack "$root" "$image.$$"
	mv "$image.$$" "$image"
	rm -rf "$root"
}

# base_image_key KERNEL: prints a hash of all that an image of it is made of.  Kernels of the same
# release need not be able to load each other's modules.
base_image_key()
{
	local kernel=$1 inputs

	inputs=("$vm_dir/guest/init" "$vm_dir/modules.list" "$vm_dir/initramfs.sh"
		"$kernel/modules/modules.dep" "$kernel/vmlinuz" /bin/busybox)
	# Kernels that are built here have patched modules.
	[ ! -e "$kernel/patched" ] || inputs+=("$kernel/patched")
	cat "${inputs[@]}" | sha256sum | cut -c1-12
}

# base_image KERNEL: prints the path of the kernel's base image.
base_image()
{
	local kernel=$1 image

	image=$krdma_cache/images/$(cat "$kernel/release")-$(base_image_key "$kernel").cpio
	[ -s "$image" ] || with_lock "image-$(cat "$kernel/release")" make_base "$kernel" "$image" >&2
	echo "$image"
}

# unpack_kernel FILE UNPACKED: unpacks the kernel in the boot image FILE, whose header says where it
# is.  Fails if the program that unpacks it is not installed here.
unpack_kernel()
{
	local file=$1 to=$2 sectors offset length unpack end=4

	[ ! -s "$to" ] || return 0
	need_space "$(dirname "$to")" 200 "the unpacked kernel"
	sectors=$(od -An -j 497 -N 1 -t u1 "$file")
	read -r offset length < <(od -An -j 584 -N 8 -t u4 "$file")
	offset=$(((sectors + 1) * 512 + offset))
	case $(od -An -j "$offset" -N 4 -t x1 "$file" | tr -d ' ') in
	fd377a58) unpack=xz ;;
	28b52ffd) unpack=zstd ;;
	# Its own last four bytes are the size.
	1f8b*) unpack=gzip end=0 ;;
	*) return 1 ;;
	esac
	command -v "$unpack" >/dev/null || return 1
	# The last four bytes are the size of the unpacked kernel, which is no part of the other formats.
	dd if="$file" iflag=skip_bytes,count_bytes skip="$offset" count=$((length - end)) bs=1M status=none |
		"$unpack" -dc >"$to.$$" || {
		rm -f "$to.$$"
		return 1
	}
	mv "$to.$$" "$to"
}

# boot_image KERNEL: prints the path of what the emulator boots: the unpacked kernel if that has an
# entry for it (CONFIG_PVH).  Otherwise an emulated processor takes a third of a boot to unpack it.
boot_image()
{
	local kernel=$1 image

	image=$krdma_cache/images/$(cat "$kernel/release")-$(cksum <"$kernel/vmlinuz" | cut -d ' ' -f 1).vmlinux
	if grep -qx CONFIG_PVH=y "$kernel/config" && { [ -s "$image" ] ||
		with_lock "image-$(cat "$kernel/release")" unpack_kernel "$kernel/vmlinuz" "$image" >&2; }; then
		echo "$image"
	else
		echo "$kernel/vmlinuz"
	fi
}
