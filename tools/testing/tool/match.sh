# shellcheck shell=dash
# SPDX-License-Identifier: GPL-2.0
#
# How output of a command is compared with what a document shows of it.

# pattern TEXT: an extended regular expression for a line of a document.
pattern()
{
	printf '%s' "$1" | sed -e 's/[][\\.*^$+?(){}|/]/\\&/g' -e 's/\\\.\\\.\\\./.*/g' -e 's/  */ +/g' -e 's/^/^/' -e 's/$/$/'
}

# lacks WANTED SAID: print a line of the file WANTED that is not in the file SAID.
lacks()
{
	local line

	while IFS= read -r line; do
		grep -qE -- "$(pattern "$line")" "$2" || printf '%s\n' "$line"
	done <"$1" | head -n 1
}
