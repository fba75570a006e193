# SPDX-License-Identifier: GPL-2.0-or-later
# shellcheck shell=bash
#
# Sourced first by the commands of scripts/: a bare Debian has no Python, and
# all else happens in there.

need_python() {
	local vmlib word
	[ ! -x /usr/bin/python3 ] || return 0
	vmlib=$(dirname "${BASH_SOURCE[0]}")
	for word in "$@"; do
		case $word in
		-h | --help)
			echo "This system has no Python, in which the help is" \
				"written."
			echo "$vmlib/host.sh installs it, with all else that" \
				"this tree needs (--list: what that is)."
			exit 0
			;;
		esac
	done
	echo "[   0.0 s] checking disk, memory and mirror; installing packages" >&2
	"$vmlib/host.sh"
}
