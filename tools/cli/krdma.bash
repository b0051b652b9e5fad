# shellcheck shell=bash
# SPDX-License-Identifier: LGPL-2.1 OR BSD-2-Clause
#
# Completion of krdma's command line, for bash.

# The names of the devices there are: what the tool prints is "1: rxe0: ...".
_krdma_devices()
{
	krdma dev 2> /dev/null | sed -n 's/^[0-9]*: \([^:]*\):.*/\1/p'
}

_krdma()
{
	local current=${COMP_WORDS[COMP_CWORD]} words=() word candidates i

	# What stands before the cursor, without the tool's name and options.
	for ((i = 1; i < COMP_CWORD; i++)); do
		word=${COMP_WORDS[i]}
		[[ $word == -* ]] || words+=("$word")
	done

	if [[ $current == -* ]]; then
		candidates='-d --details -j --json -p --pretty -h --help -V --version'
		case ${words[0]:-} in
		p*)
			candidates+=' -c --count -i --interval -s --size --port -W --timeout
				-q --quiet -I --source -4 --ipv4 -6 --ipv6 --rping --listen
				--max-clients --max-memory --max-size'
			;;
		bl | blk)
			candidates+=' -s --secret -r --read-only -x --exclusive -S --shared -a --allow -K --keep
				-b --block-size -e --export -q --queues -w --hold -f --force'
			;;
		b*)
			candidates+=' -s --size --depth --batch -t --time -n --count -w --warm-up
				--event --poll --plot --port -W --timeout -I --source -4 --ipv4
				-6 --ipv6 --listen -q --quiet
				--max-clients --max-memory --max-size'
			;;
		sel | self | selft | selfte | selftes | selftest)
			candidates+=' --peer --serve --report --addresses --unplug --only --list
				--memory --cycles --seed -t --time -W --timeout --port -I --source
				-4 --ipv4 -6 --ipv6 -q --quiet --max-memory'
			;;
		s*) candidates+=' -i --interval -c --count' ;;
		t*) candidates+=' -i --interval -c --count -b --batch' ;;
		esac
	else
		# Words may be shortened: the first command that fits is meant.
		case ${words[*]} in
		'') candidates='dev info ping bench stat top serve get put monitor doctor blk selftest help' ;;
		h | he | hel | help) candidates='dev info ping bench stat top serve get put monitor doctor blk selftest' ;;
		d | de | dev) candidates='show help' ;;
		i | in | inf | info | monitor | doctor) candidates='help' ;;
		serve* | get* | put*) candidates=$(compgen -f -- "$current") ;;
		sel | self | selft | selfte | selftes | selftest) candidates="$(_krdma_devices) help" ;;
		d*' s' | d*' sh' | d*' sho' | d*' show' | d*' l' | d*' li' | d*' lis' | d*' list')
			candidates=$(_krdma_devices)
			;;
		s | st | sta | stat) candidates='sessions listeners connections queues srqs help' ;;
		bl | blk) candidates='serve end clients evict attach detach list help' ;;
		'bl d'* | 'blk d'*) candidates=$(compgen -G '/dev/krdmab*') ;;
		'bl '* | 'blk '*) candidates='' ;;
		b*' '*) candidates='write read send atomic connect' ;;
		*) candidates='' ;;
		esac
	fi
	mapfile -t COMPREPLY < <(compgen -W "$candidates" -- "$current")
}

complete -F _krdma krdma
