# Sourced by scripts/quickstart and scripts/test: a virtual environment with nli-faith in it.
#
# PYTHON          which Python makes it (default: the first that is new enough of those listed in find_python)
# NLI_FAITH_VENV  where it lies (default: .venv)

say() {
    echo "$(basename "$0"): $*" >&2
}

is_new_enough() {
    "$1" -c 'import sys; sys.exit(sys.version_info < (3, 11))' >/dev/null 2>&1
}

# Prints the name of a Python that is new enough, or ends the script with a sentence.
find_python() {
    local candidates=(python3 python3.13 python3.12 python3.11 python) candidate
    if [ -n "${PYTHON:-}" ]; then
        candidates=("$PYTHON")
    fi
    for candidate in "${candidates[@]}"; do
        if is_new_enough "$candidate"; then
            echo "$candidate"
            return
        fi
    done
    for candidate in "${candidates[@]}"; do
        if command -v "$candidate" >/dev/null 2>&1; then
            say "nli-faith needs Python 3.11 or newer, but $candidate is $("$candidate" --version 2>&1 || echo 'not usable')." \
                "Install a newer Python, or name one: PYTHON=/path/to/python $0"
            exit 1
        fi
    done
    say "no Python was found (looked for: ${candidates[*]})." \
        "Install Python 3.11 or newer, or name one: PYTHON=/path/to/python $0"
    exit 1
}

# prepare_environment [EXTRA]: installs nli-faith from this checkout, with the versions of scripts/constraints.txt.
# Does nothing when that was done already and no file has changed since. Sets `bin`, the folder of its commands.
prepare_environment() {
    local extra="${1:-}" folder="${NLI_FAITH_VENV:-.venv}" stamp python
    bin="$folder/bin"
    for stamp in "$folder/installed-test" "$folder/installed-$extra"; do
        if [ -f "$stamp" ] && [ -z "$(find pyproject.toml scripts/constraints.txt nli_faith models -type f \
            -not -name '*.pyc' -newer "$stamp" -print -quit)" ]; then
            return
        fi
    done
    if ! [ -e "$folder" ]; then
        python="$(find_python)"
        say "making a virtual environment in $folder with $("$python" --version)"
        "$python" -m venv "$folder"
    elif ! is_new_enough "$bin/python" || ! "$bin/python" -m pip --version >/dev/null 2>&1; then
        # Never emptied from here: NLI_FAITH_VENV might name a folder that holds something else.
        say "$folder is there, but is no environment with pip and Python 3.11 or newer." \
            "Remove it, or name another place: NLI_FAITH_VENV=/path/to/folder $0"
        exit 1
    fi
    say "installing nli-faith and what it needs (minutes the first time: torch is large)"
    touch "$folder/begun" # files that change while pip works count as changed
    "$bin/python" -m pip install --quiet --disable-pip-version-check -c scripts/constraints.txt ".${extra:+[$extra]}"
    mv "$folder/begun" "$folder/installed-$extra"
}
