# SPDX-License-Identifier: GPL-2.0-or-later
"""Debian suites beside the host's own, through a private apt state.

Mirror, proxy and keyring come from the machine's apt configuration; only the
suite's name is ours.  Nothing of the host's apt state is changed.
"""

import contextlib
import glob
import os
import re
import shutil
import tempfile
from pathlib import Path

from .cache import cache_dir, digest, locked, write_file
from .util import VmError, child_env, run, say, warn

EXPIRED = re.compile(r"is expired|not valid yet|Valid-Until", re.I)
ABSENT = re.compile(r"does not have a Release file")
KEYRING = "/usr/share/keyrings/debian-archive-keyring.gpg"

_no_date_check = set()


def host_release():
    """Code name of the host's Debian release."""
    values = {}
    try:
        with open("/etc/os-release", encoding="utf-8") as lines:
            for line in lines:
                key, _, value = line.strip().partition("=")
                values[key] = value.strip('"')
    except OSError:
        pass
    if values.get("ID") != "debian" or not values.get("VERSION_CODENAME"):
        name = values.get("PRETTY_NAME", "unknown")
        raise VmError(f"this host is not a Debian release ({name}): "
                      "scripts/vm runs on Debian 12 and 13")
    return values["VERSION_CODENAME"]


def source_entries(text):
    """(options, uri, suite, components) of a sources.list in either form."""
    found = []
    if re.search(r"^Types:", text, re.M | re.I):
        for stanza in re.split(r"\n\s*\n", text):
            lines = [line for line in stanza.splitlines()
                     if not line.startswith("#")]
            fields = {}
            key = None
            for line in lines:
                if line[:1] in " \t" and key:
                    fields[key] += "\n" + line.strip()
                elif ":" in line:
                    key, _, value = line.partition(":")
                    key = key.lower()
                    fields[key] = value.strip()
            enabled = fields.get("enabled", "yes").lower()
            if ("deb" not in fields.get("types", "").split()
                    or enabled in ("no", "false")):
                continue
            for uri in fields.get("uris", "").split():
                for suite in fields.get("suites", "").split():
                    found.append((fields.get("signed-by", ""), uri, suite,
                                  fields.get("components", "").split()))
        return found
    for line in text.splitlines():
        match = re.match(r"\s*deb\s+(?:\[([^\]]*)\]\s+)?(\S+)\s+(\S+)\s*(.*)$",
                         line.partition("#")[0])
        if match:
            signed = re.search(r"signed-by=(\S+)", match[1] or "", re.I)
            found.append((signed[1] if signed else "", match[2], match[3],
                          match[4].split()))
    return found


def _source_files():
    parts = "/etc/apt/sources.list.d"
    names = ["/etc/apt/sources.list"]
    names += sorted(glob.glob(parts + "/*.list"))
    names += sorted(glob.glob(parts + "/*.sources"))
    for name in names:
        with contextlib.suppress(OSError):
            yield Path(name).read_text(encoding="utf-8", errors="replace")


def host_mirrors():
    """(uri, keyring) of each source that serves the host's own release.

    Security, backports and third-party sources do not carry the plain name of
    the release together with other suites, so they are not listed.
    """
    release = host_release()
    aliases = {release, "stable", "oldstable", "testing"}
    found = []
    for text in _source_files():
        for signed, uri, suite, components in source_entries(text):
            if suite not in aliases or "main" not in components:
                continue
            key = signed
            if "BEGIN PGP" in key:
                block = "\n".join("" if ln == "." else ln
                                  for ln in key.splitlines())
                file = cache_dir("keys") / (digest(block) + ".asc")
                write_file(file, block.strip() + "\n")
                key = str(file)
            if not key and os.path.exists(KEYRING):
                key = KEYRING
            if (uri, key) not in found:
                found.append((uri, key))
    if not found:
        raise VmError(f"apt has no source for Debian {release} main "
                      "(looked in /etc/apt/sources.list and sources.list.d)")
    return found


def host_options():
    """The host's proxies and date check; mmdebstrap does not read them."""
    out = run(["apt-config", "dump"], "apt-config")
    return re.findall(r'^(Acquire::(?:(?:https?|ftp)::Proxy\S*|'
                      r'Check-Valid-Until) "[^"]+";)', out, re.M)


def skip_date_check(suite):
    """Go on with a mirror that is behind, and say so."""
    warn(f"the Release file of {suite} is out of date on this mirror: going "
         "on without its date check (Acquire::Check-Valid-Until=false)")
    _no_date_check.add(suite)


def _source_line(uri, key, suite):
    option = f" [signed-by={key}]" if key else ""
    return f"deb{option} {uri} {suite} main"


class SuiteGone(VmError):
    """No mirror of the host has this suite."""


class Suite:
    """One Debian suite: package lists, queries and downloads."""

    _known = {}

    def __new__(cls, name):
        """One object a name, so that lists are read once in a run."""
        if name not in cls._known:
            self = super().__new__(cls)
            self.name = name
            self.dir = cache_dir("apt", name)
            self._line = None
            cls._known[name] = self
        return cls._known[name]

    def _options(self):
        options = {
            "Dir::Etc::sourcelist": self.dir / "sources.list",
            "Dir::Etc::sourceparts": "-",
            "Dir::Etc::preferences": "-",
            "Dir::Etc::preferencesparts": "-",
            "Dir::State::lists": self.dir / "lists",
            "Dir::State::status": self.dir / "status",
            "Dir::Cache": self.dir / "cache",
            "Dir::Cache::srcpkgcache": "",
            "APT::Architecture": "amd64",
            "APT::Architectures": "amd64",
            "APT::Sandbox::User": "root",
            "Acquire::Languages": "none",
            "Acquire::GzipIndexes": "true",
            "Acquire::Retries": "3",
        }
        if self.name in _no_date_check:
            options["Acquire::Check-Valid-Until"] = "false"
        return [word for key, value in options.items()
                for word in ("-o", f"{key}={value}")]

    def _apt(self, program, *words, what, cwd=None):
        return run([program, *self._options(), *words], what, cwd=cwd)

    def update(self):
        """Fetch the package lists from the first mirror that has the suite."""
        with locked(f"apt-{self.name}"):
            self._update()

    def _update(self):
        for folder in ("lists/partial", "cache/archives/partial"):
            (self.dir / folder).mkdir(parents=True, exist_ok=True)
        (self.dir / "status").touch()
        errors = []
        for uri, key in host_mirrors():
            line = _source_line(uri, key, self.name)
            write_file(self.dir / "sources.list", line + "\n")
            what = f"reading the package lists of {self.name}"
            for _ in range(2):
                try:
                    self._apt("apt-get", "update", "--error-on=any",
                              what=what)
                    self._line = line
                    return
                except VmError as err:
                    if (self.name in _no_date_check
                            or not EXPIRED.search(str(err))):
                        errors.append(str(err))
                        break
                    skip_date_check(self.name)
        kind = SuiteGone if all(ABSENT.search(e) for e in errors) else VmError
        raise kind("\n".join(errors))

    def ready(self):
        """Package lists of this run; fetched once."""
        if self._line is None:
            say(f"package lists of Debian {self.name}")
            self.update()
        return self

    def source(self):
        """(sources.list line, apt options) for a root of this suite."""
        self.ready()
        options = host_options() + ['Acquire::Retries "3";']
        if self.name in _no_date_check:
            options.append('Acquire::Check-Valid-Until "false";')
        return self._line, options

    def names(self, pattern):
        """Names of the packages that match a regular expression."""
        self.ready()
        out = self._apt("apt-cache", "pkgnames", what="apt-cache")
        rule = re.compile(pattern)
        return sorted(n for n in out.split() if rule.fullmatch(n))

    def field(self, package, field):
        """A field of the newest version of a package, '' if absent."""
        self.ready()
        out = self._apt("apt-cache", "show", "--no-all-versions", package,
                        what=f"looking up {package}")
        match = re.search(rf"^{field}: (.*)$", out, re.M)
        return match[1] if match else ""

    @contextlib.contextmanager
    def download(self, packages):
        """Fetch packages; yields their .deb files, gone afterwards."""
        self.ready()
        temp = Path(tempfile.mkdtemp(prefix=".deb-", dir=self.dir))
        try:
            self._apt("apt-get", "download", *packages, cwd=temp,
                      what=f"downloading {' '.join(packages)}")
            yield sorted(temp.glob("*.deb"))
        finally:
            shutil.rmtree(temp, ignore_errors=True)


def unpack(deb, place):
    """Unpack a package, keeping a merged /usr merged.

    dpkg -x would replace the link /lib by a folder.
    """
    place.mkdir(parents=True, exist_ok=True)
    run(["bash", "-c", 'set -o pipefail; dpkg-deb --fsys-tarfile "$1" '
         '| tar -x --keep-directory-symlink -C "$2" -f -', "unpack",
         deb, place], f"unpacking {deb.name}", env=child_env())
