# shellcheck shell=bash disable=SC2154
# Sourced by ./start and ./test: building one of the presets. REQUIRES: $root is the project's folder.

# What one clone has compiled serves the others, wherever they are: only paths inside of a clone differ between them.
export CCACHE_BASEDIR=$root CCACHE_NOHASHDIR=true

# How many compilers at once: one per core, but none without 1.5 GiB of memory for it.
build_jobs() {
  local by_memory cores
  cores=$(nproc)
  by_memory=$(awk '/^MemTotal:/ { print int($2 / 1572864) }' /proc/meminfo)
  echo $((by_memory < 1 ? 1 : by_memory < cores ? by_memory : cores))
}

# build_preset PRESET [TARGET...]: configures if that has not been done, and builds. Says nothing
# unless it fails; then it shows the compiler's messages. The whole log is build/PRESET.log.
# If $build_notice is set, that text is printed once there is really something to compile.
build_preset() {
  local preset=$1 folder="$root/build/$1" log="$root/build/$1.log"
  shift
  mkdir -p "$root/build"
  if [[ ! -e $folder/build.ninja ]]; then
    if ! (cd "$root" && cmake --preset "$preset") >"$log" 2>&1; then
      cat "$log" >&2
      return 1
    fi
  fi
  if ! ninja -C "$folder" -j "$(build_jobs)" "$@" 2>&1 | tee "$log" |
    awk -v notice="${build_notice:-}" \
      '/^\[[0-9]+\/[0-9]+\] [BL]/ && notice { print notice; fflush(); notice = "" }'; then
    # Everything from the first failure on, without the lines of what went well and the long commands.
    sed -n '/^FAILED: \|error: \|Error/,$p' "$log" |
      grep -v -e '^\[[0-9]*/[0-9]*\] ' -e '^ccache ' >&2 || cat "$log" >&2
    return 1
  fi
}
