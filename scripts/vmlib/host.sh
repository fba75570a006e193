#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-or-later
#
# Makes a Debian host ready: checks system, disk, memory and mirror, and
# installs the packages of host-packages that are missing.  A host that has
# them all is left alone, and then no privilege is needed.
set -euo pipefail

here=$(cd "$(dirname "${BASH_SOURCE[0]}")" && pwd)

# Measured: 2 GB of roots, kernels and images, half as much again while they
# are made, and 0.9 GB of packages on an empty Debian.
need_cache_mb=3500
need_root_mb=1200
need_memory_mb=1800

say() {
	echo "host: $*" >&2
}

fail() {
	echo "host: error: $*" >&2
	exit 125
}

usage() {
	cat <<-TEXT
	usage: scripts/vmlib/host.sh [--list] [FILE...]

	Installs what this tree needs on a Debian 12 or 13 host: the packages
	of host-packages, and those of each FILE of the same form.
	  --list  print the packages and install nothing
	TEXT
}

packages() {
	sed -e 's/#.*//' -e '/^[[:space:]]*$/d' "${lists[@]}" | sort -u
}

missing() {
	local name
	while read -r name; do
		dpkg-query -W -f '${db:Status-Status}\n' "$name" 2>/dev/null |
			grep -qx installed || echo "$name"
	done < <(packages)
}

free_mb() {
	local dir=$1
	while [ ! -d "$dir" ]; do
		dir=$(dirname "$dir")
	done
	df -Pm "$dir" | awk 'NR == 2 { print $4 }'
}

check_system() {
	local id=unknown name=unknown
	if [ -r /etc/os-release ]; then
		id=$(sed -n 's/^ID="\?\([a-z]*\).*/\1/p' /etc/os-release)
		name=$(sed -n 's/^PRETTY_NAME="\?\([^"]*\).*/\1/p' \
			/etc/os-release)
	fi
	[ "$id" = debian ] || fail "this is $name; Debian 12 or 13 is needed"
	[ "$(dpkg --print-architecture)" = amd64 ] ||
		fail "only amd64 machines are supported"
}

# Only a first run makes the large things; later ones need little.
check_space() {
	local cache free
	cache=${XDG_CACHE_HOME:-$HOME/.cache}/prefetch
	free=$(free_mb "$cache")
	if [ ! -d "$cache/images" ] && [ "$free" -lt "$need_cache_mb" ]; then
		fail "$cache has $free MB free, $need_cache_mb are needed" \
			"(set XDG_CACHE_HOME to a larger disk)"
	fi
	[ -n "$1" ] || return 0
	free=$(free_mb /)
	[ "$free" -ge "$need_root_mb" ] ||
		fail "/ has $free MB free, $need_root_mb are needed"
}

check_memory() {
	local free
	[ -r /proc/meminfo ] || fail "/proc is not mounted"
	free=$(awk '/^MemAvailable:/ { print int($2 / 1024) }' /proc/meminfo)
	[ "$free" -ge "$need_memory_mb" ] ||
		fail "$free MB of memory are available," \
			"$need_memory_mb are needed"
}

apt() {
	DEBIAN_FRONTEND=noninteractive LC_ALL=C.UTF-8 apt-get -q \
		-o Acquire::Retries=3 -o Acquire::http::Timeout=30 \
		-o Dpkg::Use-Pty=0 "${valid[@]}" "$@"
}

# The package lists; also the proof that the mirror can be reached.
update() {
	local log
	say "reading the package lists of this machine's mirror"
	log=$(apt update --error-on=any 2>&1) && return
	if grep -q -e 'is expired' -e 'not valid yet' <<< "$log"; then
		say "the mirror's Release file is out of date: going on without" \
			"its date check (Acquire::Check-Valid-Until=false)"
		valid=(-o Acquire::Check-Valid-Until=false)
		log=$(apt update --error-on=any 2>&1) && return
	fi
	# A third-party source that fails need not stop us.
	if apt-cache policy mmdebstrap 2>/dev/null | grep -q 'Candidate: [0-9]'
	then
		say "some package sources cannot be read; going on:"
		grep -E '^[EW]:' <<< "$log" | head -n 3 | sed 's/^/host:   /' >&2
		return
	fi
	grep -E '^[EW]:' <<< "$log" | head -n 5 >&2
	fail "the Debian mirror cannot be reached (apt-get update failed)"
}

install() {
	local log
	say "installing: $*"
	if ! log=$(apt install -y --no-install-recommends "$@" 2>&1); then
		tail -n 15 <<< "$log" >&2
		fail "apt-get install failed"
	fi
	sed -n 's/^Fetched \(.*\) in \([0-9a-z ]*s\).*/host: fetched \1 in \2/p' \
		<<< "$log" >&2
}

valid=()
lists=("$here/host-packages")
only_list=
for word in "$@"; do
	case $word in
	--list) only_list=1 ;;
	-h | --help) usage; exit 0 ;;
	-*) fail "unknown option '$word' (see --help)" ;;
	*)
		[ -r "$word" ] || fail "cannot read '$word'"
		lists+=("$word")
		;;
	esac
done
if [ -n "$only_list" ]; then
	packages
	exit 0
fi

check_system
wanted=$(missing)
check_space "$wanted"
check_memory
[ -n "$wanted" ] || exit 0
mapfile -t list <<< "$wanted"
[ "$(id -u)" = 0 ] ||
	fail "not root, and these packages are missing: ${list[*]}"
update
install "${list[@]}"
