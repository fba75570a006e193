#!/usr/bin/python3
# SPDX-License-Identifier: GPL-2.0-or-later
"""The library's interface: headers, symbol map, symbols and documentation.

usage: test_interface.py HEADER_FOLDER UAPI_FOLDER LIBRARY CC...

What the headers declare, what the map exports and what the library has must be
the same, and everything must be documented in kernel-doc form: each function
with each argument and what it returns, each struct with each member.
"""
import pathlib
import re
import subprocess
import sys
import tempfile

HEADERS = ('prefetchnl.h', 'prefetchnl-cores.h', 'prefetchnl-events.h',
           'prefetchnl-names.h')

failures = []


def expect(ok, text):
    """Notes a failure."""
    if not ok:
        failures.append(text)


def without_comments(text):
    """The text with its comments taken out."""
    return re.sub(r'/\*.*?\*/', '', text, flags=re.S)


def doc_comments(text):
    """The kernel-doc comments: "struct name", "name()"... -> text."""
    found = {}
    for body in re.findall(r'/\*\*\s(.*?)\*/', text, flags=re.S):
        body = re.sub(r'^ \* ?', '', body, flags=re.M)
        match = re.match(r'\s*(?:\* )?(typedef \w+|'
                         r'(?:struct |enum )?\w+(?:\(\))?)', body)
        if match:
            found[match.group(1)] = body
    return found


def functions(text):
    """Declared functions: name -> names of arguments."""
    found = {}
    code = without_comments(text)
    code = re.sub(r'^#.*$', '', code, flags=re.M)
    pattern = r'^[a-z][\w \*]*?\b(pfnl_\w+)\(([^;{]*)\);'
    for name, arguments in re.findall(pattern, code, flags=re.M | re.S):
        names = [re.search(r'(\w+)$', part.strip()).group(1)
                 for part in arguments.split(',')]
        found[name] = [] if names == ['void'] else names
    return found


def structs(text):
    """Defined structs and enums: "struct name" -> names of members."""
    found = {}
    code = without_comments(text)
    pattern = r'^((?:struct|enum) pfnl_\w+) \{(.*?)^\};'
    for name, body in re.findall(pattern, code, flags=re.M | re.S):
        members = re.findall(r'(\w+)(?:\[\w+\])?(?:;|,$| = \d+,)', body,
                             flags=re.M)
        found[name] = members
    return found


def check_docs(text, docs):
    """Everything is documented, in full."""
    for name, arguments in functions(text).items():
        doc = docs.get(f'{name}()', '')
        expect(doc, f'{name}() has no kernel-doc comment')
        for argument in arguments:
            expect(f'@{argument}:' in doc,
                   f'{name}(): argument {argument} is not documented')
        returns = re.search(rf'^void {name}\(', text, flags=re.M) is None
        expect(not returns or 'Return:' in doc,
               f'{name}(): what it returns is not documented')
    for name, members in structs(text).items():
        doc = docs.get(name, '')
        expect(doc, f'{name} has no kernel-doc comment')
        for member in members:
            # "reserved" is explained once for all.
            expect(f'@{member}:' in doc or f'@u.{member}:' in doc
                   or member == 'reserved',
                   f'{name}: {member} is not documented')
    for name in re.findall(r'^typedef .*?\(\*(\w+)\)', text, flags=re.M):
        expect(f'typedef {name}' in docs,
               f'typedef {name} has no kernel-doc comment')
    for name in re.findall(r'^#define (PFNL_\w+)', text, flags=re.M):
        expect(name in docs, f'{name} has no kernel-doc comment')


def exported(library):
    """The symbols of the library with their versions."""
    out = subprocess.run(['nm', '-D', '--defined-only', library], check=True,
                         capture_output=True, text=True).stdout
    found = set()
    for line in out.splitlines():
        name, _, version = line.split()[-1].partition('@')
        if name.startswith('PREFETCHNL_'):
            continue
        expect('PREFETCHNL_' in version, f'{name} has no version')
        found.add(name)
    return found


def check_compiles(headers, uapi, compiler):
    """The headers suit strict C99 and C++."""
    with tempfile.TemporaryDirectory() as folder:
        source = pathlib.Path(folder, 'one.c')
        source.write_text('#include <prefetchnl.h>\nint main(void)\n{\n'
                          '\tstruct pfnl_setting_request q = '
                          'PFNL_SETTING_REQUEST_INIT;\n'
                          '\treturn (int)q.pid;\n}\n', encoding='ascii')
        flags = ['-fsyntax-only', '-Wall', '-Wextra', '-Werror', '-I', headers,
                 '-isystem', uapi]
        for language in (['-std=c99', '-pedantic'], ['-x', 'c++']):
            run = subprocess.run(compiler + language + flags + [str(source)],
                                 capture_output=True, text=True, check=False)
            if language[0] == '-x' and 'cc1plus' in run.stderr:
                print('no C++ compiler here: skipped for C++')
                continue
            expect(run.returncode == 0,
                   f'headers with {" ".join(language)}:\n{run.stderr}')


def main():
    """Runs all checks."""
    headers, uapi, library, *compiler = sys.argv[1:]
    text = ''.join(pathlib.Path(headers, name).read_text(encoding='ascii')
                   for name in HEADERS)
    declared = set(functions(text))
    mapped = set(re.findall(r'^\t(pfnl_\w+);', pathlib.Path(
        headers, 'prefetchnl.map').read_text(encoding='ascii'), flags=re.M))
    expect(len(declared) > 30, f'only {len(declared)} functions were found')
    expect(declared == mapped,
           f'headers and map differ: {sorted(declared ^ mapped)}')
    symbols = exported(library)
    expect(symbols == mapped,
           f'library and map differ: {sorted(symbols ^ mapped)}')
    check_docs(text, doc_comments(text))
    check_compiles(headers, uapi, compiler)
    for failure in failures:
        print(failure)
    print(f'{len(declared)} functions, {len(structs(text))} structs and '
          f'enums, {len(failures)} failures')
    return 1 if failures else 0


if __name__ == '__main__':
    sys.exit(main())
