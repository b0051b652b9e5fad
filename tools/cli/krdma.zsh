#compdef krdma
# SPDX-License-Identifier: LGPL-2.1 OR BSD-2-Clause
#
# Completion of krdma's command line, for zsh.  The tool says what to offer, from its own
# tables.  Words and answers are data here: nothing expands or evaluates them, which
# "_call_program" does.

local -a before answer

before=("${(@)words[2,CURRENT-1]}")
(( CURRENT > 2 )) || before=()
answer=("${(@f)$(command krdma completion -- "${(@)before}" "$PREFIX" 2> /dev/null)}")
case ${answer[1]-} in
files)
	# The value of an option in the same word.
	[[ $PREFIX != --*=* ]] || compset -P '*='
	_files
	;;
words)
	shift answer
	compadd -a -- answer
	;;
*)
	return 1
	;;
esac
