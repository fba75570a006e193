# SPDX-License-Identifier: GPL-2.0-or-later
# fish completion of prefetchctl; the names are those of this machine, or all
# that are known while the module is not loaded.

function __prefetchctl_names
	set -l found (prefetchctl info 2>/dev/null |
		sed -n '/^Prefetchers:/,/^[^ P]/s/^  \([a-z][a-z0-9_]*\) .*/\1/p')
	if test -n "$found"
		printf '%s\n' $found l1 l2 all
	else
		prefetchctl help names 2>/dev/null |
			sed -n 's/^  \([a-z][a-z0-9_]*\) .*/\1/p'
	end
end

function __prefetchctl_states
	for name in (__prefetchctl_names)
		printf '%s\n' $name=off $name=on $name=default
	end
end

function __prefetchctl_commands
	prefetchctl help 2>/dev/null |
		sed -n 's/^  \([a-z][a-z]*\)  *\(.*\)$/\1\t\2/p' |
		string match -v -r '^prefetchctl\t'
end

function __prefetchctl_pids
	for path in /proc/[0-9]*
		printf 'pid=%s\t%s\n' (basename $path) (cat $path/comm 2>/dev/null)
	end
end

complete -c prefetchctl -f
complete -c prefetchctl -s j -l json -d 'Print JSON'
complete -c prefetchctl -s h -l help -d 'Show help'
complete -c prefetchctl -s V -l version -d 'Show the version'
complete -c prefetchctl -n __fish_use_subcommand -a '(__prefetchctl_commands)'
complete -c prefetchctl -n '__fish_seen_subcommand_from set run' \
	-a '(__prefetchctl_states) inherit=on inherit=off'
complete -c prefetchctl -n '__fish_seen_subcommand_from set get clear' \
	-a '(__prefetchctl_pids) self default'
complete -c prefetchctl -n '__fish_seen_subcommand_from clear' -a all
complete -c prefetchctl -n '__fish_seen_subcommand_from cores' \
	-s v -l verify -d 'Read the registers back'
complete -c prefetchctl -n '__fish_seen_subcommand_from info' \
	-s r -l report -d 'One block for a bug report'
complete -c prefetchctl -n '__fish_seen_subcommand_from info exec disable enable' \
	-a '(__prefetchctl_names)'
complete -c prefetchctl -n '__fish_seen_subcommand_from batch' \
	-s k -l keep-going -d 'Go on after a failure'
complete -c prefetchctl -n '__fish_seen_subcommand_from batch' -F
complete -c prefetchctl -n '__fish_seen_subcommand_from help' \
	-a '(__prefetchctl_commands) names'
