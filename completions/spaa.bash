# Completion of spaa for bash 3.2 and later: what a word could be, `spaa __complete` says (cli/complete.h).

_spaa() {
    local line=$COMP_LINE words=() i at=0 quote= word rest cur also= value
    # bash takes words apart at : and =, too; where no blank stands between them, they are one.
    for ((i = 0; i < ${#COMP_WORDS[@]}; i++)); do
        word=${COMP_WORDS[i]}
        rest=${line#"${line%%[![:blank:]]*}"}
        if ((i == 0)) || [[ $rest != "$line" ]]; then
            words+=("$word")
        else
            words[${#words[@]} - 1]+=$word
        fi
        [[ $word ]] && line=${rest#"$word"}
        ((i == COMP_CWORD)) && at=$((${#words[@]} - 1))
    done
    # Without quotes, as the program would get them.
    for ((i = 0; i < ${#words[@]}; i++)); do
        word=${words[i]}
        case $word in
        [\'\"]*)
            ((i == at)) && quote=${word:0:1}
            word=${word#[\'\"]}
            word=${word%[\'\"]}
            ;;
        *) word=${word//\\/} ;;
        esac
        words[i]=$word
    done
    cur=${words[at]}
    # What stands before the last : or = bash keeps, for it is another word to it.
    rest=
    [[ ! $quote && $cur == *[:=]* ]] && rest=${cur%"${cur##*[:=]}"}
    COMPREPLY=()
    while IFS= read -r line; do
        value=${line%%$'\t'*}
        if [[ ! $also ]]; then
            also=$value
        elif [[ $quote ]]; then
            COMPREPLY+=("$value")
        else
            printf -v value %q "${value#"$rest"}"
            COMPREPLY+=("${value//\\,/,}") # a list is readable without
        fi
    done < <("${COMP_WORDS[0]}" __complete $((at - 1)) "${words[@]:1}" 2>/dev/null)
    # Of label: and NAME=, more is to come.
    [[ ${#COMPREPLY[@]} == 1 && $value == *[:=] ]] && compopt -o nospace 2>/dev/null
    ((${#COMPREPLY[@]})) || case $also in
    dirs) compopt -o dirnames 2>/dev/null ;;
    none) compopt +o default 2>/dev/null ;;
    esac
}
complete -o default -F _spaa spaa
