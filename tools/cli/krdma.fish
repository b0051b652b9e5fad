# SPDX-License-Identifier: LGPL-2.1 OR BSD-2-Clause
#
# Completion of krdma's command line, for fish.  The tool says what to offer, from its own
# tables.  Words and answers are data here: nothing evaluates them.

function __krdma_answer
    set -l before (commandline -opc)
    set -l current (commandline -ct)
    set -e before[1]
    command krdma completion -- $before "$current" 2>/dev/null
end

function __krdma_offers_files
    set -l answer (__krdma_answer)
    test "$answer[1]" = files
end

function __krdma_words
    set -l answer (__krdma_answer)
    test "$answer[1]" = words
    and printf '%s\n' $answer[2..-1]
end

complete -c krdma -f -a '(__krdma_words)'
complete -c krdma -n __krdma_offers_files -F
