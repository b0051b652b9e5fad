# shellcheck shell=bash
# SPDX-License-Identifier: GPL-2.0
#
# Fetches packages of any suite, beside the machine's own package system.
#
# Kernels, their headers and compilers come from several suites of the
# distribution.  Each set of suites gets a folder of its own below the cache,
# with its own sources, lists and downloads; the machine's package state is
# neither read nor written, only its mirror and how to reach it are.  Packages
# are unpacked, never installed: no maintainer script runs.
#
# packages_use selects the set that the other functions work on.  Their caller holds the lock
# "packages-SUITE" (with_lock), because a set has one folder.

# Days for which downloaded lists are used.
readonly PACKAGES_LISTS_DAYS=1

# shellcheck source=tools/common.sh
[ -n "${krdma_cache:-}" ] || . "$(dirname "${BASH_SOURCE[0]}")/../common.sh"

packages_keyring=/usr/share/keyrings/debian-archive-keyring.gpg

# packages_host: prints the host's distribution, as os-release names it.
packages_host()
{
	# shellcheck source=/dev/null
	(. /etc/os-release 2>/dev/null && printf '%s\n' "${VERSION_CODENAME:-unknown}")
}

# packages_mirror SUITE: prints the address that offers SUITE, from the machine's own sources: the
# archive for suites and backports, the security archive for security updates.
packages_mirror()
{
	local suite=$1 host found suite_kind=
	host=$(packages_host)
	[[ $suite != *-security ]] || suite_kind=-security

	if [ -n "${KRDMA_MIRROR:-}" ]; then
		# A mirror given by the user has the archive only.  Security updates reach the
		# archive, too, with each point release.
		case $suite in
		*-security) return 1 ;;
		*) printf '%s\n' "$KRDMA_MIRROR"; return 0 ;;
		esac
	fi
	# Codename and origin are known once the machine has its lists.  Before that only the name
	# of the suite in its sources is known.
	# shellcheck disable=SC2016 # apt-get replaces these itself
	found=$(apt-get indextargets --format '$(REPO_URI)|$(CODENAME)|$(RELEASE)|$(ORIGIN)|$(COMPONENT)' \
			'Created-By: Packages' 2>/dev/null |
		awk -F '|' -v host="$host" -v want="$host$suite_kind" '
			$4 != "" && $4 != "Debian" { next }
			$5 != "main" { next }
			{
				name = $2 != "" ? $2 : $3
				if ($2 == "" && name ~ /^(old)*stable(-security)?$/)
					sub(/^(old)*stable/, host, name)
			}
			name == want && !n++ { print $1 }')
	# Without lists there are only the sources as they are written.
	[ -n "$found" ] ||
		found=$(apt-get --print-uris update 2>/dev/null |
			sed -nE "s#^'(.*/)dists/($host|(old)*stable)${suite_kind}/InRelease'.*#\1#p" | awk 'NR == 1')
	[ -n "$found" ] || return 1
	printf '%s\n' "$found"
}

# packages_use SUITE: from here on, packages are those of this suite with its
# security updates and its backports.
packages_use()
{
	local name=$1 suite uri

	[ "$(dpkg --print-architecture 2>/dev/null)" = amd64 ] ||
		die "this machine is not amd64, the only architecture that the test kernels are fetched for; use an amd64 machine"
	[ -r "$packages_keyring" ] ||
		die "$packages_keyring is missing, so packages cannot be checked; install the package debian-archive-keyring"

	packages_dir=$krdma_cache/apt/$name
	mkdir -p "$packages_dir"/{lists/partial,archives/partial,state,empty} ||
		die "cannot write to $packages_dir; make it writable or set KRDMA_CACHE to another folder"

	for suite in "$name" "$name-security" "$name-backports"; do
		if uri=$(packages_mirror "$suite"); then
			printf 'deb [signed-by=%s] %s %s main\n' "$packages_keyring" "$uri" "$suite"
		elif [[ $suite != *-security ]]; then
			die "no Debian mirror in this machine's package sources; name one with KRDMA_MIRROR=ADDRESS"
		fi
	done >"$packages_dir/sources.list.new"
	if ! cmp -s "$packages_dir/sources.list.new" "$packages_dir/sources.list"; then
		rm -f "$packages_dir/lists-fetched"
		mv "$packages_dir/sources.list.new" "$packages_dir/sources.list"
	fi
	rm -f "$packages_dir/sources.list.new"

	# Of the machine's configuration only the way to the network is kept:
	# proxies, time limits, certificates.
	{
		apt-config dump |
			sed -nE '/^Acquire::(http|https|ftp|socks|tor|Retries|Force|Check|Max-)[^ ]* "/p'
		cat <<-CONF
		Dir::Etc::parts "$packages_dir/empty";
		Dir::Etc::main "$packages_dir/none";
		Dir::Etc::sourcelist "$packages_dir/sources.list";
		Dir::Etc::sourceparts "$packages_dir/empty";
		Dir::Etc::preferences "$packages_dir/none";
		Dir::Etc::preferencesparts "$packages_dir/empty";
		Dir::State "$packages_dir/state";
		Dir::State::lists "$packages_dir/lists";
		Dir::State::status "$packages_dir/status";
		Dir::Cache "$packages_dir";
		Dir::Cache::archives "$packages_dir/archives";
		APT::Architecture "amd64";
		APT::Architectures { "amd64"; };
		APT::Install-Recommends "false";
		APT::Sandbox::User "root";
		Acquire::Languages "none";
		Acquire::PDiffs "false";
		Acquire::GzipIndexes "true";
		CONF
	} >"$packages_dir/apt.conf"
	packages_present
}

# packages_present [DEPENDENCY...]: packages are resolved as if the machine had nothing but these.
packages_present()
{
	local provided=

	: >"$packages_dir/status"
	[ $# -gt 0 ] || return 0
	printf -v provided '%s (= 9999:1), ' "$@"
	printf '%s\n' 'Package: krdma-present' 'Status: install ok installed' 'Version: 1' \
		'Architecture: amd64' 'Maintainer: nobody' "Provides: ${provided%, }" \
		'Description: taken to be there' >"$packages_dir/status"
}

packages_apt_get()
{
	APT_CONFIG=$packages_dir/apt.conf LC_ALL=C apt-get -q "$@"
}

packages_apt_cache()
{
	APT_CONFIG=$packages_dir/apt.conf LC_ALL=C apt-cache -q "$@"
}

# packages_progress: turns apt's status into a line now and then.
packages_progress()
{
	local kind percent text shown=$SECONDS

	while IFS=: read -r kind _ percent text; do
		case $kind in
		dlstatus | pmstatus) ;;
		*) continue ;;
		esac
		if ((SECONDS - shown >= 5)); then
			step "  ${percent%%.*} % - ${text,}"
			shown=$SECONDS
		fi
	done
}

# packages_get WHAT APT-GET-ARGUMENT...: runs a download and shows its progress; on failure
# packages_reason says why.
packages_get()
{
	local log=$packages_dir/apt.log what=$1 try
	shift

	packages_reason=
	for ((try = 0; try < 200; try++)); do
		if packages_apt_get -oAPT::Status-Fd=3 "$@" 3>&1 >"$log" 2>&1 </dev/null |
		   packages_progress; then
			# apt-get update succeeds even if a list is missing.
			grep -qE '^(W: Failed to fetch|W: Some index files failed|E:)' "$log" || return 0
		fi
		# A killed run leaves its apt-get running: wait for its end.
		grep -q 'Could not get lock' "$log" || break
		((try % 5)) || step "waiting for another download to end (for: $what)"
		sleep 3
	done
	packages_reason=$(sed -n '/^[EW]: *Some index files/d; s/^[EW]: *//p' "$log" | awk 'NR == 1')
	[ -n "$packages_reason" ] || packages_reason="see $log"
	return 1
}

# packages_update: fetches the lists, at most once a day; false, with packages_reason set, if they
# cannot be fetched.
packages_update()
{
	local stamp=$packages_dir/lists-fetched

	[ -z "$(find "$stamp" -mtime "-$PACKAGES_LISTS_DAYS" 2>/dev/null)" ] || return 0
	need_space "$packages_dir" 120 "the package lists"
	step "fetching the package lists of ${packages_dir##*/}"
	packages_get "package lists" update || return 1
	touch "$stamp"
}

packages_die_lists()
{
	die "could not download the package lists of ${packages_dir##*/} from the package mirror: $packages_reason; check the network and run again"
}

# packages_need_lists: calls packages_update, and ends the script if that fails.
packages_need_lists()
{
	packages_update || packages_die_lists
}

# packages_names REGEX [PREFIX]: prints the names on offer that match as a whole, in the order of
# their versions.  PREFIX makes it fast.
packages_names()
{
	packages_apt_cache pkgnames "${2:-}" | grep -xE "$1" | sort -V || :
}

# packages_version PACKAGE: prints the version that would be fetched.
packages_version()
{
	packages_apt_cache policy "$1" | sed -n 's/^ *Candidate: *//p'
}

# packages_depends PACKAGE: prints its dependencies, one name a line, with alternatives.
packages_depends()
{
	packages_apt_cache depends --important --no-recommends --no-suggests "$1" |
		sed -nE 's/^ *\|?(Pre)?Depends: <?([^ >:]+).*/\2/p'
}

# packages_closure REGEX PACKAGE...: prints these packages and those of their dependencies whose
# names match.  The other dependencies are taken as installed (packages_present).
packages_closure()
{
	local regex=$1 name
	local -a queue rest=()
	local -A seen=()
	shift

	queue=("$@")
	while [ ${#queue[@]} -gt 0 ]; do
		name=${queue[0]}
		queue=("${queue[@]:1}")
		[ -z "${seen[$name]:-}" ] || continue
		seen[$name]=1
		# An unsigned image is an alternative of a signed one, and conflicts with it.
		[[ $name != *-unsigned ]] || continue
		if [[ ! $name =~ ^($regex)$ ]]; then
			rest+=("$name")
			continue
		fi
		printf '%s\n' "$name"
		mapfile -t -O "${#queue[@]}" queue < <(packages_depends "$name")
	done
	packages_present "${rest[@]}"
}

# packages_download WHAT PACKAGE...: downloads these packages and all dependencies that are not
# present; prints the files.  If it fails, the next attempt uses what has arrived.
packages_download()
{
	local what=$1 list size
	shift

	list=$(packages_apt_get -s install "$@" 2>&1) ||
		die "could not choose the packages of $what: $(sed -n 's/^E: *//p' <<<"$list" | tail -n 1); run again later: the package mirror may be between two updates"
	size=$(packages_apt_get -y --print-uris install "$@" |
		awk '/^\x27/ { sum += $3 } END { print int((sum + 1048575) / 1048576) }')
	need_space "$packages_dir" $((size + 50)) "the download of $what"
	[ "$size" = 0 ] || step "downloading $what ($size MiB)"
	packages_get "$what" -y --download-only install "$@" ||
		die "could not download $what from the package mirror: $packages_reason; check the network and run again (what has arrived is kept)"

	sed -nE 's/^Inst ([^ ]+) .*/\1/p' <<<"$list" | while read -r name; do
		# The file's name contains the version, with ":" written as "%3a".
		find "$packages_dir/archives" -maxdepth 1 -name "${name}_*.deb" -print -quit
	done
}

# packages_unpack DEB DIR [TAR-OPTION...]: unpacks its files, without documentation.
packages_unpack()
{
	local deb=$1 dir=$2
	shift 2

	dpkg-deb --fsys-tarfile "$deb" |
		tar -x -C "$dir" --no-same-owner --keep-directory-symlink \
			--exclude=./usr/share/{bug,doc,doc-base,info,lintian,locale,man} "$@" ||
		die "could not unpack ${deb##*/} into $dir; is the disk full? Free some space and run again"
}

# packages_forget: removes the downloads, once unpacked, and apt's own caches.
packages_forget()
{
	find "$packages_dir/archives" -maxdepth 1 -name '*.deb' -delete
	rm -f "$packages_dir"/*.bin
}
