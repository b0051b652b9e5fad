# shellcheck shell=bash
# SPDX-License-Identifier: LGPL-2.1 OR BSD-2-Clause
#
# Completion of krdma's command line, for bash.  The tool says what to offer, from its own
# tables.  Words and answers are data here: nothing expands or evaluates them, which
# "compgen -W" does.

_krdma()
{
	local answer word quoted

	COMPREPLY=()
	mapfile -t answer < <(krdma completion -- "${COMP_WORDS[@]:1:COMP_CWORD}" 2> /dev/null)
	case ${answer[0]-} in
	files)
		# bash itself offers them, and quotes what must be quoted.
		compopt -o default
		;;
	words)
		for word in "${answer[@]:1}"; do
			printf -v quoted %q "$word"
			COMPREPLY+=("$quoted")
		done
		;;
	esac
}

complete -F _krdma krdma
