# shellcheck shell=bash
# SPDX-License-Identifier: GPL-2.0
#
# The tiers: each is a function that prints TAP or KTAP.  Sourced by run-tier, which has
# $topdir and, for what a tier leaves to another one, $results.
# shellcheck disable=SC2154 # those

# Style and documents, and a build under sparse for one stock kernel; "builds" has the
# other kernels, and the analysers.
tier_static()
{
	KRDMA_KERNELS=6.1 "$topdir/tools/testing/static/run"
}

tier_builds()
{
	"$topdir/tools/testing/static/run" build-6.12 build-7.2 build-debug analyse
}

tier_static_selftest()
{
	"$topdir/tools/testing/static/selftest"
}

tier_pure()
{
	"$topdir/tools/testing/pure/run"
}

# Parsers of what peers and other users send, with many inputs.
tier_parsers()
{
	"$topdir/tools/testing/parsers/run"
}

tier_install()
{
	"$topdir/tools/testing/install/run" quick
}

# And the module with them, and the tools by another compiler.
tier_install_whole()
{
	KDIR=$("$topdir/tools/vm/kernel" path "$("$topdir/tools/vm/kernel" default)")/build \
		"$topdir/tools/testing/install/run"
}

# The packages in clean systems of Debian, and what is made of them elsewhere.
tier_packages()
{
	"$topdir/tools/testing/packages/run" debian bookworm
}

tier_packages_13()
{
	"$topdir/tools/testing/packages/run" debian trixie
}

# README and the tutorials, word for word, from a clean system on.
tier_first_hour()
{
	"$topdir/tools/testing/packages/run" hour
}

# The units under systemd, and Secure Boot, in machines that start a whole system.
tier_units()
{
	"$topdir/tools/testing/system/run" units
}

tier_secure_boot()
{
	"$topdir/tools/testing/system/run" secure-boot
}

tier_packages_rpm()
{
	"$topdir/tools/testing/packages/run" dist
	"$topdir/tools/testing/packages/run" rpm
}

tier_setup()
{
	"$topdir/tools/testing/setup/run"
}

# What the test of check-full has it run.
tier_as_told()
{
	cat "$KRDMA_AS_TOLD"
}

# The parts of the harness that need no machine; "harness" has the others.
tier_harness_host()
{
	"$topdir/tools/testing/harness/run" host
}

# Is user-mode Linux a judge?
tier_harness_uml()
{
	"$topdir/tools/testing/harness/run" uml
}

tier_harness()
{
	"$topdir/tools/testing/harness/run" fast
}

# run_debug TIER OPTION... -- COMMAND: in the debug kernel; which of krdma's lines ran
# is kept for the tier "lines".
run_debug()
{
	local lines=$results/gcov/$1
	shift

	rm -rf "$lines"
	"$topdir/tools/vm/run" --kernel debug --quiet --out "$lines" "$@"
}

# e2e_build [TARGET...]: the programs, or these, into $e2e; lanes may want them at the same time.
e2e=$topdir/build/testing/e2e
e2e_threads=$topdir/build/testing/e2e_threads
e2e_build()
{
	with_lock "e2e-$(cksum <<<"$e2e" | cut -d ' ' -f 1)" cached make -s -C "$topdir/tools/testing/e2e" \
		O="$e2e" KSELFTEST="$("$topdir/tools/vm/source")/tools/testing/selftests" "$@" >&2
}

# e2e SERIES [PROGRAM...]: the tests of the running module, in a VM with that kernel; all
# of them, or these.
e2e()
{
	local series=$1 slow=0 limit=1800 run=("$topdir/tools/vm/run" --kernel "$1" --quiet)
	shift

	e2e_build
	if [ "$series" = debug ]; then
		slow=1
		limit=3600
		# The stock kernels have no siw.
		run=(run_debug "$debug_part" --provider both)
	fi
	# The window of the connection manager, for all users together: see limits.rst.
	run+=(--append "syscall.x32=y ib_core.recv_queue_size=8192")
	"${run[@]}" --timeout "$limit" --file "$e2e:/tests" -- \
		"KRDMA_SEED=${KRDMA_SEED:-1} KRDMA_SLOW=$slow sh /tests/run.sh $*"
}

# e2e_without DRIVER: of the programs in the standard input, those that tools/testing/e2e/drivers does
# not leave out for it.
e2e_without()
{
	awk -v driver="$1" '
		NR == FNR {
			if ($0 !~ /^#/ && ($1 == driver || $1 == "*"))
				out[$2]
			next
		}
		{
			name = $0
			sub(/\.[0-9x]+$/, "", name)
		}
		!(name in out)' "$topdir/tools/testing/e2e/drivers" -
}

# e2e_programs DRIVER: the 64-bit programs without those that are left out.  The 32-bit ones are there
# for the layouts, which the stock kernels show.
e2e_programs()
{
	grep '\.64$' "$e2e/programs" | e2e_without "$1"
}

# e2e_debug PART OF: one of so many parts of the programs, which take about equally long.
e2e_debug()
{
	local debug_part=e2e_debug_$1
	# How many seconds a program takes, of those that take longest.
	local seconds="charge 268 bystander 262 listener 173 abi 111 unplug 106 ring 85 many 68 kinds 58
		operations 57 fuzz 57 owner 54 exit 43 fail_nth 42 module 41 lanes 41 hostile 37 conn 36
		refusals 35 lib_thin 30 threads 29 reach 29 trunks 26"

	e2e_build
	# Each program goes to the part that has least, the longest first.
	# shellcheck disable=SC2046 # a list of words
	e2e debug $(printf '%s\n' iwarp.64 $(e2e_programs debug) |
		awk -v known="$seconds" '
			BEGIN {
				words = split(known, word, /[ \t\n]+/)
				for (i = 1; i < words; i += 2)
					takes[word[i] ".64"] = word[i + 1]
			}
			{ print ($1 in takes ? takes[$1] : 12), $1 }' | LC_ALL=C sort -k 1,1nr -k 2 |
		awk -v part="$1" -v of="$2" '
			{
				least = 1
				for (i = 2; i <= of; i++)
					if (sum[i] < sum[least])
						least = i
				sum[least] += $1
				if (least == part)
					print $2
			}')
}

# Natively under the checkers, on one processor, what can run there.
tier_e2e_uml()
{
	local dir

	e2e_build
	dir=$("$topdir/tools/vm/kernel" build uml KRDMA_KUNIT=y KRDMA_TESTS=y)
	"$topdir/tools/vm/run" --kernel uml --provider both --quiet --timeout 2400 \
		--module "$dir/krdma.ko" --file "$e2e:/tests" -- \
		"KRDMA_SEED=${KRDMA_SEED:-1} KRDMA_SLOW=1 sh /tests/run.sh" \
		"$(e2e_programs uml | tr '\n' ' ')"
}

tier_e2e_6_1()
{
	e2e 6.1
}

tier_e2e_6_12()
{
	e2e 6.12
}

tier_e2e_7_2()
{
	e2e 7.2
}

# e2e_driver DRIVER: over a device that behaves like those of the driver; not the programs that
# tools/testing/e2e/drivers leaves out.
e2e_driver()
{
	local dir programs

	e2e_build
	dir=$("$topdir/tools/vm/kernel" build 6.1 KRDMA_TESTS=y)
	programs=$(e2e_programs "$1" | tr '\n' ' ')
	"$topdir/tools/vm/run" --kernel 6.1 --provider "fake:$1" --quiet --timeout 1800 \
		--module "$dir/krdma.ko" --file "$e2e:/tests" -- \
		"KRDMA_SEED=${KRDMA_SEED:-1} sh /tests/run.sh $programs"
}

# e2e_iommu DRIVER PROGRAM...: the same, behind an IOMMU that translates.
e2e_iommu()
{
	local dir driver=$1

	shift
	e2e_build
	dir=$("$topdir/tools/vm/kernel" build 6.1 KRDMA_TESTS=y)
	"$topdir/tools/vm/run" --kernel 6.1 --provider "fake:$driver" --iommu --quiet \
		--module "$dir/krdma.ko" --file "$e2e:/tests" -- \
		"echo '# behind an IOMMU'; sh /tests/run.sh $*"
}

tier_e2e_mlx5()
{
	e2e_driver mlx5
}

tier_e2e_mlx4()
{
	e2e_driver mlx4
}

tier_e2e_irdma()
{
	e2e_driver irdma
	e2e_iommu irdma mr.64 pass.64 lanes.64 lane_window.64
}

tier_e2e_bnxt_re()
{
	e2e_driver bnxt_re
}

# nodes SERIES PROGRAM: on two machines, of which the second one serves.
nodes()
{
	e2e_build
	echo "# Linux $1"
	"$topdir/tools/vm/run" --kernel "$1" --nodes 2 --quiet --timeout 1500 --file "$e2e:/tests" \
		-- sh /tests/run.sh "$2" | sed -u -e 's/^\[1\] //' -e 's/^\[2\]/# machine 2:/'
}

# A cable that is pulled.  Much of it is waiting.
tier_nodes()
{
	nodes 6.1 apart.64
	nodes 7.2 apart.64
}

# What is lost, and who notices: a table of reliability.rst.  Nearly all of it is waiting.
tier_losses()
{
	nodes 6.1 losses.64
}

tier_losses_7_2()
{
	nodes 7.2 losses.64
}

# 10,000 lanes between two programs, on one machine and on two.
tier_lane_scale()
{
	e2e_build
	"$topdir/tools/vm/run" --kernel 6.1 --mem 2048 --quiet --timeout 900 --file "$e2e:/tests" \
		-- sh /tests/run.sh lane_scale.64
	nodes 6.1 lane_scale.64
}

# The upper layers of libkrdma: how they hold with a kernel is shown by the lower ones.
# And what takes long, and is the device's affair more than the kernel's.
tier_library()
{
	e2e_build
	"$topdir/tools/vm/run" --kernel 6.1 --quiet --timeout 2400 --file "$e2e:/tests" -- \
		sh /tests/run.sh lib_hub.64 lib_hub_version.64 lib_hub_flow.64 lib_hub_end.64 \
		lib_hub_name.64 lib_hub_secret.64 \
		lib_simple.64 lib_simple_ends.64 lib_message.64 lib_rpma.64 lib_file.64 lib_file_many.64 \
		lib_file_admit.64 lib_file_end.64 lib_file_name.64 lib_file_hostile.64 \
		lib_file_streams.64 lib_file_slow.64 search.64
}

# hostile PROGRAM [PART OF]: a side of file transfers, a neighbour in the same folders, or a peer of
# a hub, that does what it should not, 100,000 times; or one of OF parts of that, each with a seed
# of its own.
hostile()
{
	local part=${2:-1} of=${3:-1} seed=${KRDMA_SEED:-1}

	e2e_build
	"$topdir/tools/vm/run" --kernel 6.1 --quiet --timeout 3600 --file "$e2e:/tests" -- \
		"KRDMA_ACTIONS=$((100000 / of)) KRDMA_SEED=$((seed + part - 1)) sh /tests/run.sh $1"
}

# Each visit takes connections, and each connection several hundred thousand instructions.
tier_files_client_1()
{
	hostile lib_bad_client.64 1 2
}

tier_files_client_2()
{
	hostile lib_bad_client.64 2 2
}

tier_files_server_1()
{
	hostile lib_bad_server.64 1 2
}

tier_files_server_2()
{
	hostile lib_bad_server.64 2 2
}

tier_files_neighbour()
{
	hostile lib_bad_neighbour.64
}

tier_hostile_hub()
{
	hostile lib_bad_hub.64
}

# Fewer of the same with the address sanitizer, which is slow.
e2e_memory=$topdir/build/testing/e2e_memory
tier_files_memory()
{
	local programs=(lib_bad_client.64 lib_bad_server.64 lib_bad_neighbour.64 lib_bad_hub.64)

	cached make -s -C "$topdir/tools/testing/e2e" O="$e2e_memory" MEMORY=1 \
		KSELFTEST="$("$topdir/tools/vm/source")/tools/testing/selftests" \
		"${programs[@]/#/$e2e_memory/}" "$e2e_memory/run.sh" >&2
	# The first program for its libraries, which are those of all.
	"$topdir/tools/vm/run" --kernel 6.1 --quiet --timeout 3600 --mem 2048 \
		--program "$e2e_memory/${programs[0]}" --file "$e2e_memory:/tests" -- \
		"KRDMA_ACTIONS=5000 KRDMA_SEED=${KRDMA_SEED:-1} sh /tests/run.sh ${programs[*]}"
}

# The emulator is killed while files are transferred.
tier_power()
{
	"$topdir/tools/testing/power/run"
}

# tool_build: the tool's tests into $tool.
tool=$topdir/build/testing/tool
tool_build()
{
	cached make -s -C "$topdir/tools/testing/tool" O="$tool" >&2
	# For a machine without libraries.
	cached make -s -C "$topdir/tools/examples" TREE="$topdir" O="$tool" LDFLAGS=-static >&2
	cp "$topdir"/tools/testing/tool/*.sh "$topdir/tools/testing/tap.sh" \
		"$topdir/tools/testing/e2e/run.sh" "$topdir/Documentation/howto/confine.rst" "$tool/"
}

# The tool's own parts that need no kernel.
tier_tool_pure()
{
	with_lock "tool-$(cksum <<<"$tool" | cut -d ' ' -f 1)" tool_build
	"$tool/pure_test"
}

# The stock kernels have no siw.
tier_tool_iwarp()
{
	with_lock "tool-$(cksum <<<"$tool" | cut -d ' ' -f 1)" tool_build
	"$topdir/tools/vm/run" --kernel uml --provider both --quiet --timeout 900 \
		--file "$tool:/tests" -- sh /tests/run.sh selftest_iwarp.sh
}

# tool SCRIPT...: the tool as people use it, on one machine.
tool()
{
	with_lock "tool-$(cksum <<<"$tool" | cut -d ' ' -f 1)" tool_build
	rm -rf "$tool/left"
	"$topdir/tools/vm/run" --kernel 6.1 --quiet --timeout 3600 --out "$tool/left" \
		--program rping --program strace --file "$tool:/tests" -- sh /tests/run.sh "$@"
}

tier_tool()
{
	tool ping.sh lanes.sh bench.sh rping.sh strangers.sh stat.sh examples.sh copy.sh tree.sh monitor.sh \
		doctor.sh trace.sh selftest.sh \
		syscalls.sh signed.sh
}

# And between two, and whether all its JSON is what it should be.
tier_tool_apart()
{
	with_lock "tool-$(cksum <<<"$tool" | cut -d ' ' -f 1)" tool_build
	rm -rf "$tool/apart"
	"$topdir/tools/vm/run" --kernel 7.2 --nodes 2 --quiet --timeout 900 --out "$tool/apart" \
		--file "$tool:/tests" -- sh /tests/run.sh apart.sh copy_apart.sh |
		sed -u -e 's/^\[1\] //' -e 's/^\[2\]/# machine 2:/'
	"$topdir/tools/testing/tool/schemas" tool "$tool/left" "$tool/apart/1"
}

# python_build: the Python package, as its wheel installs it, with all that Python needs, and its
# tests, into $python.
python=$topdir/build/testing/python
python_build()
{
	local site=$python/root/usr/lib/python3/dist-packages py=/usr/bin/python3

	"$topdir/tools/deps" install python
	cached make -s -C "$topdir" tools python PYTHON_OUTPUT=build/testing/python/wheel >&2
	rm -rf "$python/root" "$python/tests"
	mkdir -p "$python/tests" "$site"
	"$topdir/tools/testing/python/collect" "$python/root" "$topdir"/tools/testing/python/*.py \
		"$topdir"/tools/python/krdma/*.py "$topdir"/tools/python/examples/*.py
	$py -m pip -q --disable-pip-version-check install --no-index --no-deps --no-compile \
		--root-user-action=ignore --target "$site" "$python"/wheel/krdma-*.whl >&2
	$py -m compileall -q --invalidation-mode unchecked-hash "$site/krdma"
	cp "$topdir"/build/tools/libkrdma.so.0 "$python/root/usr/lib/"
	cp "$topdir"/tools/testing/python/*.py "$topdir"/tools/python/examples/*.py \
		"$topdir/tools/testing/e2e/run.sh" "$tool/kv" "$python/tests/"
}

# The suite wants the examples of C beside those of Python.
tier_python()
{
	with_lock "tool-$(cksum <<<"$tool" | cut -d ' ' -f 1)" tool_build
	with_lock "tools-$(cksum <<<"$topdir" | cut -d ' ' -f 1)" python_build
	"$topdir/tools/vm/run" --kernel 6.1 --quiet --timeout 600 \
		--file "$python/root/usr:/usr" --file "$python/root/lib:/lib" \
		--file "$python/root/lib64:/lib64" --file "$python/tests:/tests" -- \
		sh /tests/run.sh suite.py lanes.py strangers.py pretended.py
}

# The commands of README, the tutorials and the how-to pages, between two machines.
tier_pages()
{
	local pages

	mapfile -t pages < <(grep -lE '^    (one|two)# ' "$topdir/README.rst" "$topdir"/Documentation/*/*.rst)
	with_lock "tool-$(cksum <<<"$tool" | cut -d ' ' -f 1)" tool_build
	example_modules 6.1 "$("$topdir/tools/vm/kernel" build 6.1)" "$tool"
	mkdir -p "$tool/build/tools"
	make -s -C "$topdir" static >&2
	cp "$topdir/README.rst" "$tool/"
	cp "$topdir/build/tools/krdma.static" "$tool/build/tools/"
	"$topdir/tools/docs/sessions" "${pages[@]}" >"$tool/pages"
	"$topdir/tools/vm/run" --kernel 6.1 --nodes 2 --quiet --timeout 900 --file "$tool:/tests" \
		-- sh /tests/pages.sh | sed -u -e 's/^\[1\] //' -e 's/^\[2\]/# machine 2:/'
}

# What the tiers "stock" and "stock-e2e" run, one a line: a program of each kind, which are the library,
# the tool, the block device and hostile peers; and the end-to-end programs, the last of which unloads
# the module.  tools/testing/mutants/run counts the planted faults that these notice.
stock_runs()
{
	printf '%s.64\n' lib_simple lib_message lib_file lib_rpma lib_file_hostile lib_file_many \
		lib_file_streams lib_file_admit lib_file_slow lib_hub lib_hub_version lib_hub_flow \
		lib_hub_end lib_hub_name lib_hub_secret lib_bad_client lib_bad_server lib_bad_neighbour
	printf '%s.sh\n' ping stat examples one own hostile peers
}

stock_e2e_runs()
{
	e2e_without check <"$e2e/programs"
}

# race_runs: the programs of the tier "race".
race_runs()
{
	printf '%s.64\n' races races_end
}

# stock_boot FOLDER OPTION... -- PROGRAM...: one boot of a stock kernel for what "make check" has to show
# there; the programs are in FOLDER.  What is left out here, and the other rounds, check-full has.
stock_boot()
{
	local folder=$1 options=()

	shift
	while [ "$1" != -- ]; do
		options+=("$1")
		shift
	done
	shift
	"$topdir/tools/vm/run" --kernel 6.1 --quiet --timeout 3600 --file "$folder:/tests" \
		--append "syscall.x32=y ib_core.recv_queue_size=8192" "${options[@]}" -- \
		"KRDMA_SEED=${KRDMA_SEED:-1} KRDMA_QUICK=1 KRDMA_ACTIONS=400 KRDMA_ROUNDS=1" \
		"KRDMA_SECONDS=1 sh /tests/run.sh" "$@"
}

tier_stock()
{
	local stock=$topdir/build/testing/stock peer=$topdir/build/testing/peer blk file
	local -a runs library

	mapfile -t runs < <(stock_runs)
	mapfile -t library < <(printf '%s\n' "${runs[@]}" | grep '\.64$')
	e2e_build "${library[@]/#/$e2e/}"
	with_lock "tool-$(cksum <<<"$tool" | cut -d ' ' -f 1)" tool_build
	blk=$(blk_build 6.1)
	cached make -s -C "$topdir/tools/testing/peer" O="$peer" >&2
	rm -rf "$stock"
	mkdir -p "$stock"
	ln "${library[@]/#/$e2e/}" "$stock/"
	cp "$blk"/* "$stock/" 2>/dev/null || :
	# One folder for all: apart.sh takes two machines.
	for file in "$tool"/*; do
		case ${file##*/} in
		run.sh | apart.sh) continue ;;
		esac
		[ ! -f "$stock/${file##*/}" ] || cmp "$file" "$stock/${file##*/}" >&2 ||
			die "two programs of the tests are named ${file##*/}"
	done
	cp "$tool"/* "$stock/" 2>/dev/null || :
	cp "$peer"/server "$peer"/peer "$stock/"
	cp "$topdir/tools/testing/peer/run.sh" "$stock/peers"
	printf '#!/bin/sh\nexec sh /tests/peers 1 250\n' >"$stock/peers.sh"
	# With this it writes a quarter of the data.
	mv "$stock/one.sh" "$stock/one"
	printf '#!/bin/sh\nKRDMA_SLOW=1 exec sh /tests/one\n' >"$stock/one.sh"
	chmod 755 "$stock/peers.sh" "$stock/one.sh"
	stock_boot "$stock" --program rping --program mkfs.ext4 --program e2fsck --program blkdiscard \
		--program fio --program "$peer/peer" --module "$blk/krdma.ko" \
		--file "$("$topdir/tools/vm/source")/drivers/infiniband/core:/tests/source" -- "${runs[@]}"
}

tier_stock_e2e()
{
	local folder=$topdir/build/testing/stock-e2e dir program
	local -a runs

	e2e_build listed
	dir=$("$topdir/tools/vm/kernel" build 6.1 KRDMA_TESTS=y)
	mapfile -t runs < <(stock_e2e_runs)
	rm -rf "$folder"
	mkdir -p "$folder"
	ln "$e2e/run.sh" "$e2e/fuzz.corpus" "$folder/"
	for program in "${runs[@]}"; do
		[[ $program == skip-* ]] || ln "$e2e/$program" "$folder/"
	done
	stock_boot "$folder" --module "$dir/krdma.ko" -- "${runs[@]}"
}

# Programs that never heard of krdma, on one machine with it and on another.
interop()
{
	local series=$1 nodes out=$topdir/build/testing/interop

	with_lock "interop-$(cksum <<<"$out" | cut -d ' ' -f 1)" \
		cached make -s -C "$topdir/tools/testing/interop" O="$out" >&2
	cp "$topdir"/tools/testing/interop/*.sh "$topdir/tools/testing/tap.sh" \
		"$topdir/tools/testing/tool/peer.sh" "$out/"
	for nodes in 1 2; do
		echo "# Linux $series, $nodes machine(s)"
		"$topdir/tools/vm/run" --kernel "$series" --nodes "$nodes" --quiet \
			--timeout 900 --program rping --program rdma_client \
			--program rdma_server --program ucmatose \
			--program "$out/rpma_memory" --program "$out/rpma_message" \
			--program "$out/verbs" --file "$out:/tests" -- sh /tests/run.sh |
			sed -u -e 's/^\[1\] //' -e 's/^\[2\]/# machine 2:/'
	done
}

tier_interop()
{
	interop 6.1
	"$topdir/tools/pcap" | sed -u 's/^/# /'
	"$topdir/tools/testing/interop/capture" "$topdir/build/pcap/krdma.pcap"
}

tier_interop_6_12()
{
	interop 6.12
}

tier_interop_7_2()
{
	interop 7.2
}

# peer SERIES ACTIONS WORDS OPTION...: hostile peers beside honest ones, on one machine
# with that kernel, always the same ones.
peer()
{
	local series=$1 actions=$2 words=$3
	shift 3

	"$topdir/tools/fuzz/peer" --kernel "$series" --seed 1 --actions "$actions" \
		--words "$words" "$@"
}

# And whether anything comes out of a kernel that marks what it frees.
tier_peer()
{
	peer 6.1 2500 300
	peer 6.1 1500 1 --pin 1
	e2e_build
	"$topdir/tools/vm/run" --kernel 6.1 --quiet --timeout 600 --file "$e2e:/tests" \
		--append "slub_debug=P page_poison=1 init_on_alloc=0 init_on_free=0" -- \
		sh /tests/run.sh poison.64
}

tier_peer_debug()
{
	peer debug 200 16
}

# What an operation takes in instructions, against the record.
tier_cost()
{
	"$topdir/tools/testing/cost/run"
}

tier_harness_debug()
{
	"$topdir/tools/testing/harness/run" debug
}

# test_variables SERIES: what the modules are built with, into $variables: all that is
# built for the kernel, for what is left out would be removed.
test_variables()
{
	variables=(KRDMA_TESTS=y)
	case $1 in
	debug | kcsan | uml) variables+=(KRDMA_KUNIT=y) ;;
	esac
}

# kunit WORDS...: the suites in user-mode Linux, natively, on one processor, in virtual time; once for
# each argument, which is the WORDS of run.sh, in one machine.
kunit()
{
	local dir words command='result=0'

	dir=$("$topdir/tools/vm/kernel" build uml KRDMA_KUNIT=y KRDMA_TESTS=y)
	for words; do
		command+="; sh /run.sh /krdma_kunit.ko $words || result=1"
	done
	"$topdir/tools/vm/run" --kernel uml --quiet --timeout 1800 --module "$dir/krdma.ko" \
		--file "$topdir/kunit/run.sh:/run.sh" --file "$dir/krdma_kunit.ko:/krdma_kunit.ko" \
		--file "$topdir/kunit/personality.expected:/personality.expected" \
		-- "$command; exit \$result"
}

# personalities: a "-p" and the name of each driver that fake devices can behave like.  mana
# has no queue pairs for the kernel: a case of its own shows that.
personalities()
{
	sed -n 's/^\t\t\.name = "\(.*\)",$/-p \1/p' "$topdir/kunit/personality.c" | grep -v ' mana$'
}

# personalities_part PART OF: every OF-th of them, from PART on.
personalities_part()
{
	personalities | awk -v part="$1" -v of="$2" 'NR % of == part % of'
}

# And once over a driver that differs much from the default device, where drivers matter most: the
# other drivers, suites and the slow cases are for check-full.
tier_kunit()
{
	kunit '' '-q -p mlx5 krdma_data krdma_srq krdma_conn_end krdma_mr krdma_fault'
}

# Every suite that uses a device, over each driver.
tier_kunit_personalities_1()
{
	kunit "$(personalities_part 1 2 | tr '\n' ' ')"
}

tier_kunit_personalities_2()
{
	kunit "$(personalities_part 2 2 | tr '\n' ' ')"
}

# The same on two processors.
tier_kunit_debug()
{
	local dir

	dir=$("$topdir/tools/vm/kernel" build debug KRDMA_KUNIT=y KRDMA_TESTS=y)
	run_debug kunit_debug --module "$dir/krdma.ko" \
		--file "$topdir/kunit/run.sh:/run.sh" --file "$dir/krdma_kunit.ko:/krdma_kunit.ko" \
		-- sh /run.sh /krdma_kunit.ko
}

tier_e2e_debug_1()
{
	e2e_debug 1 7
}

tier_e2e_debug_2()
{
	e2e_debug 2 7
}

tier_e2e_debug_3()
{
	e2e_debug 3 7
}

tier_e2e_debug_4()
{
	e2e_debug 4 7
}

tier_e2e_debug_5()
{
	e2e_debug 5 7
}

tier_e2e_debug_6()
{
	e2e_debug 6 7
}

tier_e2e_debug_7()
{
	e2e_debug 7 7
}

# example_modules SERIES DIR OUT: the modules of tools/examples, built for the kernel as a user builds
# them, with the symbols of the krdma.ko in DIR; into OUT.
example_modules()
{
	local series=$1 dir=$2 out=$3

	rm -rf "$out/module"
	cp -r "$topdir/tools/examples/module" "$out/module"
	"$topdir/tools/vm/kernel" make "$series" "$out/module" KRDMA="$topdir" \
		KBUILD_EXTRA_SYMBOLS="$dir/Module.symvers" modules >"$out/module/log" 2>&1 || {
		cat "$out/module/log" >&2
		die "the modules of tools/examples do not build for kernel $series"
	}
	cp "$out/module/"*.ko "$out/"
}

# core_build SERIES: the tests of the core's own interface; prints the folder of krdma.ko.
core_build()
{
	local series=$1 dir out=$topdir/build/testing/core/$1
	local variables

	test_variables "$series"
	dir=$("$topdir/tools/vm/kernel" build "$series" "${variables[@]}")
	cached make -s -C "$topdir/tools/testing/core" O="$out" \
		KSELFTEST="$("$topdir/tools/vm/source")/tools/testing/selftests" >&2
	cp "$dir/krdma_echo.ko" "$dir/krdma_ping.ko" "$dir/krdma_core_test.ko" "$out/"
	example_modules "$series" "$dir" "$out"
	echo "$dir"
}

# core_run SERIES DIR PROVIDER SECONDS RUN...: over real devices, or fake ones, with what core_build
# has built; a storm of SECONDS; RUN is the way to a VM.  $core_quick may be 1.
core_run()
{
	local series=$1 dir=$2 provider=$3 seconds=$4
	shift 4

	"$@" --provider "$provider" --module "$dir/krdma.ko" \
		--file "$topdir/build/testing/core/$series:/core" \
		-- "KRDMA_STORM=$seconds KRDMA_QUICK=${core_quick:-} sh /core/run.sh"
}

# core SERIES PROVIDER SECONDS RUN...: both.
core()
{
	local series=$1 dir
	shift

	dir=$(core_build "$series")
	core_run "$series" "$dir" "$@"
}

tier_core_6_1()
{
	core 6.1 rxe 10 "$topdir/tools/vm/run" --kernel 6.1 --quiet --timeout 1800
}

tier_core_6_12()
{
	core 6.12 rxe 10 "$topdir/tools/vm/run" --kernel 6.12 --quiet --timeout 1800
}

tier_core_7_2()
{
	core 7.2 rxe 10 "$topdir/tools/vm/run" --kernel 7.2 --quiet --timeout 1800
}

# Natively, over rxe and siw; not the storm, whose threads want processors of their own.
tier_core_uml()
{
	local core_quick=1

	core uml both 0 "$topdir/tools/vm/run" --kernel uml --quiet --timeout 2400
}

# And all of it.
tier_core_uml_whole()
{
	core uml both 0 "$topdir/tools/vm/run" --kernel uml --quiet --timeout 2400
}

# core_personalities DRIVER...: natively, over devices that behave like those of each driver, each
# in a machine of its own.
core_personalities()
{
	local driver dir failed=0

	dir=$(core_build uml)
	for driver; do
		[ "$driver" != -p ] || continue
		echo "# $driver"
		# What is known of its errors is about iWARP.
		[ "$driver" != erdma ] || driver+=:iwarp
		core_run uml "$dir" "fake:$driver" 0 "$topdir/tools/vm/run" --kernel uml --quiet \
			--timeout 2400 || failed=1
	done
	return $failed
}

tier_core_personalities_1()
{
	# shellcheck disable=SC2046 # a list of words
	core_personalities $(personalities_part 1 2)
}

tier_core_personalities_2()
{
	# shellcheck disable=SC2046 # a list of words
	core_personalities $(personalities_part 2 2)
}

tier_core_debug()
{
	core debug both 60 run_debug core_debug
}

# blk_build SERIES: krdma_blk and its tests; prints their folder.
blk_build()
{
	local series=$1 dir out=$topdir/build/testing/blk/$1
	local variables

	test_variables "$series"
	dir=$("$topdir/tools/vm/kernel" build "$series" "${variables[@]}")
	mkdir -p "$out"
	cached make -s -C "$topdir/tools/testing/blk" O="$out" >&2
	cp "$dir/krdma.ko" "$dir/krdma_blk.ko" "$dir/krdma_core_test.ko" \
		"$topdir/tools/testing/tap.sh" "$topdir"/tools/testing/blk/*.sh \
		"$topdir/tools/testing/storm/disturb.sh" "$out/"
	# It needs kprobes, which the kernels with all the checkers do not have.
	! [ -e "$dir/krdma_blk_test.ko" ] || cp "$dir/krdma_blk_test.ko" "$out/"
	echo "$out"
}

# blk SERIES COMMAND...: on one machine with that kernel.
blk()
{
	local series=$1 out
	shift

	out=$(blk_build "$series")
	"$topdir/tools/vm/run" --kernel "$series" --quiet --timeout 900 --program mkfs.ext4 \
		--program e2fsck --program blkdiscard --program fio --module "$out/krdma.ko" \
		--out "$out/left" --file "$out:/tests" \
		--file "$("$topdir/tools/vm/source")/drivers/infiniband/core:/tests/source" -- "$@"
}

# blk_series SERIES: what differs between kernels.
blk_series()
{
	echo "# Linux $1"
	blk "$1" "KRDMA_ROUNDS=10 sh /tests/one.sh && sh /tests/own.sh &&
		sh /tests/zero.sh && sh /tests/grow.sh && sh /tests/store.sh"
}

tier_blk_6_1()
{
	blk_series 6.1
}

tier_blk_6_12()
{
	blk_series 6.12
}

tier_blk_7_2()
{
	blk_series 7.2
	"$topdir/tools/testing/tool/schemas" blk "$topdir/build/testing/blk/7.2/left"
}

tier_blk_hostile()
{
	blk 6.1 "sh /tests/hostile.sh && KRDMA_ROUNDS=20 sh /tests/own.sh"
	blk 6.1 "sh /tests/limit.sh && sh /tests/poll.sh && sh /tests/refused.sh"
}

tier_blk_late()
{
	blk 6.1 "sh /tests/attach.sh && sh /tests/suspend.sh && sh /tests/late.sh"
}

# blk_nodes SERIES SCRIPT: two machines with a cable that is pulled; the second one serves.
blk_nodes()
{
	local series=$1 out tc
	shift

	tc=$(PATH=$PATH:/usr/sbin:/sbin command -v tc)
	out=$(blk_build "$series")
	"$topdir/tools/vm/run" --kernel "$series" --nodes 2 --quiet --timeout 900 --program fio \
		--program "$tc" --module "$out/krdma.ko" --file "$out:/tests" -- sh "/tests/$1" |
		sed -u -e 's/^\[1\] //' -e 's/^\[2\]/# machine 2:/'
}

tier_blk_apart()
{
	blk_nodes 6.1 apart.sh
}

# And a machine that swaps there.
tier_blk_swap()
{
	blk_nodes 6.1 swap.sh
}

# Two exports as a mirror of md.
tier_blk_mirror()
{
	local out name kernel program run=("$topdir/tools/vm/run" --kernel 6.1 --quiet --timeout 900)

	kernel=$("$topdir/tools/vm/kernel" path 6.1)
	out=$(blk_build 6.1)
	rm -rf "$out/modules"
	mkdir "$out/modules"
	# In the order in which they depend on each other.  No other test needs them.
	for name in md-mod raid1 libcrc32c xfs; do
		find "$kernel/" -name "$name.ko" -exec cp {} "$out/modules/" \;
	done
	for program in mdadm mkfs.ext4 e2fsck mkfs.xfs xfs_repair fio; do
		run+=(--program "$program")
	done
	"${run[@]}" --module "$out/krdma.ko" --file "$out:/tests" \
		--file "$("$topdir/tools/vm/source")/drivers/infiniband/core:/tests/source" -- \
		sh /tests/mirror.sh
}

# blk_storm SERIES SECONDS NODES STORM...: so long each, on one machine, or on two of which the second
# one serves.
blk_storm()
{
	local series=$1 seconds=$2 nodes=$3 out name program run
	shift 3

	out=$(blk_build "$series")
	echo "# Linux $series"
	run=("$topdir/tools/vm/run" --kernel "$series" --nodes "$nodes" --quiet --module "$out/krdma.ko"
		--timeout $((900 + $# * (seconds * 4 + 120))) --file "$out:/tests")
	# In the order in which they depend on each other.
	for name in libcrc32c xfs; do
		while read -r program; do
			run+=(--file "$program:/tests/modules/")
		done < <(find "$("$topdir/tools/vm/kernel" path "$series")/" -name "$name.ko")
	done
	for program in fio mkfs.ext4 e2fsck mkfs.xfs xfs_repair tc; do
		run+=(--program "$(PATH=$PATH:/usr/sbin:/sbin command -v "$program")")
	done
	"${run[@]}" -- "KRDMA_SECONDS=$seconds KRDMA_SEED=${KRDMA_SEED:-1} sh /tests/storm.sh $*" |
		sed -u -e 's/^\[1\] //' -e 's/^\[2\]/# machine 2:/'
}

# A few seconds of each; a minute shows more.
tier_blk_storm()
{
	blk_storm 6.1 10 1 stop unplug provider link address mtu hotplug clock memory
}

tier_blk_storm_apart()
{
	blk_storm 6.1 10 2 cut lossy
}

tier_blk_storm_debug()
{
	blk_storm debug 10 1 failing
}

tier_blk_debug()
{
	blk debug "export KRDMA_SLOW=1 && sh /tests/one.sh && sh /tests/own.sh"
	blk debug "export KRDMA_SLOW=1 && sh /tests/hostile.sh && sh /tests/faults.sh"
}

# storm_build SERIES: its module in $storm_module, the rest in $storm.
storm=$topdir/build/testing/storm
storm_build()
{
	local variables

	test_variables "$1"
	storm_module=$("$topdir/tools/vm/kernel" build "$1" "${variables[@]}")/krdma.ko
	cached make -s -C "$topdir/tools/testing/storm" O="$storm" >&2
}

# storm SERIES SECONDS SCENARIO...: on one machine with that kernel.
storm()
{
	local series=$1 seconds=$2
	shift 2

	storm_build "$series"
	echo "# Linux $series"
	"$topdir/tools/vm/run" --kernel "$series" --quiet --timeout 1200 --module "$storm_module" \
		--file "$storm:/storm" -- "KRDMA_STORM=$seconds KRDMA_SEED=${KRDMA_SEED:-1} sh /storm/run.sh $*"
}

# A few seconds of each; "make soak" has more of them, and for as long as one likes.
tier_storm()
{
	storm 6.1 2 kill stop unplug provider link address mtu hotplug clock descriptors memlock
	storm 6.12 2 kill link
	storm 7.2 2 provider address
}

tier_storm_debug()
{
	storm debug 2 failing
}

tier_lines_selftest()
{
	"$topdir/tools/testing/lines/selftest"
}

# What the debug kernel's runs before it have counted.
tier_lines()
{
	"$topdir/tools/testing/lines/run" --build "$topdir/build/debug" --counts "$results/gcov" \
		kunit_debug e2e_debug_1 e2e_debug_2 e2e_debug_3 e2e_debug_4 e2e_debug_5 e2e_debug_6 \
		e2e_debug_7 core_debug peer_debug
}

# Last: it looks at what all the others have run.
tier_coverage()
{
	"$topdir/tools/testing/static/coverage" --ran "$results/ran"
}

# Threads that are delayed where they can meet, with the two seeds with which the planted faults are
# tried; and with eight.
tier_race()
{
	# shellcheck disable=SC2046 # a list of words
	"$topdir/tools/testing/race/run" --seeds "1 2" $(race_runs)
}

tier_race_full()
{
	"$topdir/tools/testing/race/run" --seeds "1 2 3 4 5 6 7 8" races.64 \
		races_end.64 many.64
}

# Data races: each is a complaint in the kernel's log, or of the program.  The kernel is
# the one that looks for them in krdma's modules.
tier_harness_races()
{
	"$topdir/tools/testing/harness/run" races
}

tier_kunit_races()
{
	local dir variables

	test_variables kcsan
	dir=$("$topdir/tools/vm/kernel" build kcsan "${variables[@]}")
	"$topdir/tools/vm/run" --kernel kcsan --quiet --module "$dir/krdma.ko" \
		--file "$topdir/kunit/run.sh:/run.sh" --file "$dir/krdma_kunit.ko:/krdma_kunit.ko" \
		-- sh /run.sh /krdma_kunit.ko
}

tier_core_races()
{
	core kcsan both 60 "$topdir/tools/vm/run" --kernel kcsan --quiet --timeout 1800
}

# Not what one thread does once: layouts, refusals, one failing allocation after the other.
# programs_races PROGRAM...: end-to-end programs in the kernel that looks for data races.
programs_races()
{
	local dir variables

	e2e_build
	test_variables kcsan
	dir=$("$topdir/tools/vm/kernel" build kcsan "${variables[@]}")
	"$topdir/tools/vm/run" --kernel kcsan --quiet --timeout 3600 --provider both \
		--module "$dir/krdma.ko" --file "$e2e:/tests" -- \
		"KRDMA_SEED=${KRDMA_SEED:-1} KRDMA_SLOW=1 sh /tests/run.sh $*"
}
tier_e2e_races()
{
	programs_races threads.64 iwarp.64 conn.64 listener.64 events.64 ring.64 operations.64 \
		srq.64 pass.64 uring.64 mr.64 reach.64 owner.64 limits.64 cgroup.64 load.64 \
		lib_thin.64 lib_memory.64 unplug.64 rename.64 netns.64 fd.64 hostile.64 exit.64 \
		fuzz.64 module.64
}
tier_lane_races()
{
	programs_races lanes.64 trunks.64 lane_early.64 lane_memory.64 lane_names.64 lane_srq.64 \
		lane_window.64 many.64 crowd.64
}

tier_storm_races()
{
	storm kcsan 20 kill unplug address failing
}

# Threads that share an object of the library's, and those of hubs and file servers.  Of files only
# the hostile ends: the others look at megabytes, and under the sanitizer that takes longer than their
# peers wait.
tier_library_races()
{
	local programs=(threads lib_thin lib_memory lib_simple lib_simple_ends lib_message lib_rpma
		lib_file_slow lib_hub lib_hub_version lib_hub_flow lib_hub_end lib_hub_name lib_hub_secret
		lib_bad_hub lib_bad_client lib_bad_server)

	programs=("${programs[@]/%/.64}")
	cached make -s -C "$topdir/tools/testing/e2e" O="$e2e_threads" THREADS=1 \
		KSELFTEST="$("$topdir/tools/vm/source")/tools/testing/selftests" \
		"${programs[@]/#/$e2e_threads/}" "$e2e_threads/run.sh" >&2
	# The first program for its libraries, which are those of all.
	"$topdir/tools/vm/run" --kernel 6.1 --quiet --timeout 3600 --mem 2048 \
		--program "$e2e_threads/${programs[0]}" --file "$e2e_threads:/tests" -- \
		"KRDMA_SLOW=1 KRDMA_ACTIONS=400 sh /tests/run.sh ${programs[*]}"
}
