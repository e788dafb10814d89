# Completion of spaa for fish: what a word could be, `spaa __complete` says (cli/complete.h).

function __spaa_complete
    set -l before (commandline -opc)
    set -l word (commandline -ct)
    # The word is without its quotes, as the program would get it.
    set -l plain (string unescape -- $word; or string unescape -- $word\'; or string unescape -- $word\"; or echo -- $word)
    set -l answer ($before[1] __complete (math (count $before) - 1) $before[2..-1] "$plain" 2>/dev/null)
    if test (count $answer) -gt 1
        printf '%s\n' $answer[2..-1]
    else if test "$answer[1]" = dirs
        __fish_complete_directories $word
    else if test "$answer[1]" != none
        __fish_complete_path $word
    end
end

complete -c spaa -f -a '(__spaa_complete)'
