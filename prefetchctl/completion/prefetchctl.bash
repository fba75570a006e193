# SPDX-License-Identifier: GPL-2.0-or-later
# bash completion of prefetchctl; the names are those of this machine, or all
# that are known while the module is not loaded.

_prefetchctl_names()
{
	local names

	names=$(prefetchctl info 2>/dev/null |
		sed -n '/^Prefetchers:/,/^[^ P]/s/^  \([a-z][a-z0-9_]*\) .*/\1/p')
	if [[ -n $names ]]; then
		printf '%s\n' "$names" l1 l2 all
	else
		prefetchctl help names 2>/dev/null |
			sed -n 's/^  \([a-z][a-z0-9_]*\) .*/\1/p'
	fi
}

_prefetchctl_commands()
{
	prefetchctl help 2>/dev/null |
		sed -n 's/^  \([a-z][a-z]*\) .*/\1/p' | grep -v '^prefetchctl$'
}

_prefetchctl_pids()
{
	local path

	if [[ $1 == clear ]]; then
		prefetchctl list 2>/dev/null | sed -n 's/^ *\([0-9][0-9]*\) .*/\1/p'
		return
	fi
	for path in /proc/[0-9]*; do
		printf '%s\n' "${path#/proc/}"
	done
}

_prefetchctl()
{
	local cur=${COMP_WORDS[COMP_CWORD]} line=${COMP_LINE:0:COMP_POINT}
	local word=${line##*[[:space:]]} command='' offers='' i name
	local states='off on default'

	for ((i = 1; i < COMP_CWORD; i++)); do
		case ${COMP_WORDS[i]} in
		--) return ;;
		-*) ;;
		*)
			command=${COMP_WORDS[i]}
			break
			;;
		esac
	done
	COMPREPLY=()
	# "=" splits words: what stands before it decides.
	case $word in
	pid=* | tree=*)
		[[ $cur == = ]] && cur=''
		mapfile -t COMPREPLY < <(compgen -W "$(_prefetchctl_pids "$command")" -- "$cur")
		return
		;;
	inherit=*)
		[[ $cur == = ]] && cur=''
		mapfile -t COMPREPLY < <(compgen -W 'on off' -- "$cur")
		return
		;;
	*=*)
		[[ $cur == = ]] && cur=''
		mapfile -t COMPREPLY < <(compgen -W "$states" -- "$cur")
		return
		;;
	esac
	case $command in
	'')
		offers="$(_prefetchctl_commands) --json --help --version"
		;;
	set)
		offers='pid= tid= tree= self default inherit='
		;;&
	run)
		offers='inherit= --'
		;;&
	set | run)
		for name in $(_prefetchctl_names); do
			offers+=" $name="
		done
		;;
	get)
		offers='pid= tid= self default --json'
		;;
	clear)
		offers='pid= tid= tree= self default all --json'
		;;
	cores)
		offers='--verify --json'
		;;
	info)
		offers="$(_prefetchctl_names) --report --json"
		;;
	exec | disable | enable)
		offers=$(_prefetchctl_names)
		;;
	batch)
		mapfile -t COMPREPLY < <(compgen -f -- "$cur"; compgen -W '-k -' -- "$cur")
		return
		;;
	help)
		offers="$(_prefetchctl_commands) names"
		;;
	*)
		offers='--json'
		;;
	esac
	mapfile -t COMPREPLY < <(compgen -W "$offers" -- "$cur")
	if [[ ${#COMPREPLY[@]} -eq 1 && ${COMPREPLY[0]} == *= ]]; then
		compopt -o nospace
	fi
}

complete -F _prefetchctl prefetchctl
