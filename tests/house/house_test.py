#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""The rules of the house that no compiler checks: who may include whom, heads of files, sizes, names of this machine."""
import pathlib
import re
import subprocess
import sys
import unittest

ROOT = pathlib.Path(__file__).resolve().parents[2]

# Folder -> the folders (and, below, the libraries) that it may include. Everyone may include its own folder and include/.
MAY_INCLUDE = {
    "include/burst": set(),
    "src/core": set(),
    "src/slurm": set(),
    "src/programs": {"core", "slurm"},
    "src/net": set(),
    "src/auth": set(),
    "src/providers": {"auth"},
    "src/system": {"core", "slurm", "programs", "net", "auth", "providers"},
    "tools": {"programs", "system", "cli.h"},
}
LIBRARIES = {
    "curl/": {"src/net"},
    "openssl/": {"src/auth"},
    "spdlog/": {"src/system"},
    "CLI/": {"tools"},
    "yaml-cpp/": {"src/auth"},
    "pugixml.hpp": {"src/providers", "src/auth"},
    "nlohmann/json.hpp": {"src/core", "src/slurm", "src/auth", "src/providers"},
}
# The world comes in through Services: these words stand in src/system only.
WORLD = re.compile(r"\b(system_clock::now|steady_clock::now|sleep_for\(|sleep_until\(|getenv|setenv|popen|system\(|fork\(|execv\w*)")


def sources(folder):
    return sorted(p for ending in ("*.h", "*.cpp") for p in (ROOT / folder).rglob(ending))


def code(path):
    """The text without comments and string literals."""
    text = path.read_text()
    text = re.sub(r"//[^\n]*", "", text)
    return re.sub(r'"(\\.|[^"\\\n])*"', '""', text)


class House(unittest.TestCase):
    def test_dependencies_run_one_way(self):
        wrong = []
        for folder, allowed in MAY_INCLUDE.items():
            own = folder.split("/")[-1]
            for path in sources(folder):
                for name in re.findall(r'^#include "([^"]+)"', path.read_text(), re.M):
                    top = name.split("/")[0]
                    if top not in allowed | {own, "burst"}:
                        wrong.append(f"{path.relative_to(ROOT)} includes {name}")
                    if own == "providers" and top == "providers" and path.parent.name != "providers":
                        # Beside the folders stands what several providers share.
                        if name.count("/") > 1 and name.split("/")[1] != path.parent.name:
                            wrong.append(f"{path.relative_to(ROOT)} includes another provider: {name}")
        self.assertEqual(wrong, [])

    def test_libraries_stay_in_their_folders(self):
        wrong = []
        for folder in MAY_INCLUDE:
            for path in sources(folder):
                for name in re.findall(r"^#include <([^>]+)>", path.read_text(), re.M):
                    for library, folders in LIBRARIES.items():
                        if name.startswith(library) and folder not in folders:
                            wrong.append(f"{path.relative_to(ROOT)} includes <{name}>")
        self.assertEqual(wrong, [])

    def test_the_world_comes_in_through_services(self):
        wrong = []
        for folder in MAY_INCLUDE:
            if folder == "src/system":
                continue
            for path in sources(folder):
                for match in WORLD.finditer(code(path)):
                    before = code(path)[: match.start()]
                    if match.group(1).startswith("sleep_for") and (before.endswith((".", "->")) or "void " in before[-8:]):
                        continue  # Clock::sleep_for
                    wrong.append(f"{path.relative_to(ROOT)}: {match.group(1)}")
        self.assertEqual(wrong, [])

    def test_no_shell_runs_a_program(self):
        """Programs are started by posix_spawn with a list of arguments: nothing in a name or a message is ever a command."""
        shell = re.compile(r"\b(popen|system|wordexp|execlp?|execvp)\s*\(|\"(/usr)?(/bin/)?(ba|da|k|z)?sh\"|\bsh -c\b")
        wrong = []
        for folder in MAY_INCLUDE:
            for path in sources(folder):
                text = re.sub(r"//[^\n]*", "", path.read_text())
                wrong += [f"{path.relative_to(ROOT)}: {match.group(0)}" for match in shell.finditer(text)]
        self.assertEqual(wrong, [])
        starts = [str(path.relative_to(ROOT)) for folder in MAY_INCLUDE for path in sources(folder)
                  if re.search(r"\b(posix_spawnp?|v?fork)\s*\(", code(path))]
        self.assertEqual(starts, ["src/system/spawn_processes.cpp"])

    def test_no_request_goes_without_tls_verification(self):
        """libcurl verifies by default: the options that end that are never set to anything but on."""
        wrong = []
        for path in sources("src"):
            for match in re.finditer(r"CURLOPT_(?:PROXY_)?SSL_VERIFY(?:PEER|HOST|STATUS)[^;]*", code(path)):
                if not re.search(r",\s*[12]L\)?$", match.group(0).strip()):
                    wrong.append(f"{path.relative_to(ROOT)}: {match.group(0)}")
        self.assertEqual(wrong, [])

    def test_headers_hold_no_heavy_include(self):
        heavy = re.compile(r"^#include <(nlohmann/json\.hpp|spdlog/|CLI/|regex|iostream)", re.M)
        wrong = [str(p.relative_to(ROOT)) for f in MAY_INCLUDE for p in sources(f)
                 if p.suffix == ".h" and heavy.search(p.read_text())]
        self.assertEqual(wrong, [])

    def test_every_source_begins_with_its_licence_and_one_sentence(self):
        wrong = []
        for folder in ["include", "src", "tools"]:
            for path in sources(folder):
                lines = path.read_text().split("\n")
                if lines[0] != "// SPDX-License-Identifier: Apache-2.0" or not lines[1].startswith("// "):
                    wrong.append(str(path.relative_to(ROOT)))
        for folder in ["tests", "bench"]:
            for path in sources(folder):
                if not path.read_text().startswith("// SPDX-License-Identifier: Apache-2.0\n"):
                    wrong.append(str(path.relative_to(ROOT)))
        self.assertEqual(wrong, [])

    def test_files_stay_small(self):
        longest = 420
        wrong = [f"{p.relative_to(ROOT)}: {len(p.read_text().splitlines())} lines"
                 for f in ["include", "src", "tools"] for p in sources(f) if len(p.read_text().splitlines()) > longest]
        self.assertEqual(wrong, [])
        mains = ["resume", "suspend", "change_state", "generate_conf"]
        self.assertEqual([m for m in mains if len((ROOT / f"tools/{m}.cpp").read_text().splitlines()) > 40], [])

    def test_sources_are_formatted(self):
        files = [str(p) for f in ["include", "src", "tools", "tests", "bench"] for p in sources(f)]
        result = subprocess.run(["clang-format-14", "--dry-run", "-Werror", *files], capture_output=True, text=True, cwd=ROOT)
        self.assertEqual(result.returncode, 0, result.stderr[:2000])

    def test_no_file_names_a_place_of_one_machine(self):
        tracked = subprocess.run(["git", "ls-files"], capture_output=True, text=True, cwd=ROOT).stdout.split()
        pattern = re.compile(r"(?<![\w/.])/(root|work)/|" + re.escape(str(ROOT) + "/"))
        wrong = []
        for name in tracked:
            path = ROOT / name
            if path.suffix in {".py", ".md", ".cpp", ".h", ".sh", ".json", ".txt", ""} and path.is_file():
                text = path.read_text(errors="replace")
                if pattern.search(text) and path != pathlib.Path(__file__).resolve():
                    wrong.append(name)
        self.assertEqual(wrong, [])


if __name__ == "__main__":
    unittest.main(argv=[sys.argv[0], "-v"])
