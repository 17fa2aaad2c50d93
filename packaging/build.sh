# shellcheck shell=bash disable=SC2154
# Sourced by ./start and ./test: building one of the presets. REQUIRES: $root is the project's folder.

# How many compilers at once: one per core, but none without 2 GiB of memory for it.
build_jobs() {
  local by_memory cores
  cores=$(nproc)
  by_memory=$(awk '/^MemTotal:/ { print int($2 / 2097152) }' /proc/meminfo)
  echo $((by_memory < 1 ? 1 : by_memory < cores ? by_memory : cores))
}

# build_preset PRESET [TARGET...]: configures if that has not been done, and builds. Says nothing
# unless it fails; then it shows the compiler's messages. The whole log is build/PRESET.log.
# If $build_notice is set, that text is printed once there is really something to compile, and then how far it is:
# on one line of a terminal, elsewhere every so often.
build_preset() {
  local preset=$1 folder="$root/build/$1" log="$root/build/$1.log" terminal=0
  shift
  mkdir -p "$root/build"
  if [[ ! -e $folder/build.ninja ]]; then
    if ! (cd "$root" && cmake --preset "$preset") >"$log" 2>&1; then
      cat "$log" >&2
      return 1
    fi
  fi
  if [[ -t 1 ]]; then terminal=1; fi
  if ! ninja -C "$folder" -j "$(build_jobs)" "$@" 2>&1 | tee "$log" |
    awk -v notice="${build_notice:-}" -v terminal="$terminal" '
      !notice || !match($0, /^\[[0-9]+\/[0-9]+\]/) { next }
      !begun && / (Building|Linking) / { print notice; begun = 1 }
      !begun { next }
      {
        split(substr($0, 2, RLENGTH - 2), of, "/")
        if (terminal) printf "\rBuilt %d of %d", of[1], of[2]
        else if (of[1] - said >= of[2] / 8 || of[1] == of[2]) { print "Built " of[1] " of " of[2]; said = of[1] }
        fflush()
      }
      END { if (begun && terminal) print "" }'; then
    # Everything from the first failure on, without the lines of what went well and the long commands.
    sed -n '/^FAILED: \|error: \|Error/,$p' "$log" |
      grep -v -e '^\[[0-9]*/[0-9]*\] ' -e 'ccache ' >&2 || cat "$log" >&2
    return 1
  fi
}
