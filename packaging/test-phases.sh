# shellcheck shell=bash disable=SC2154
# Sourced by ./test: its phases and the count of what passed and failed. REQUIRES: build.sh.

failed_phases=()
failed_programs=()
last_phase_ok=true
tests_passed=0
tests_failed=0
tests_run=false
skip_unchanged=false # programs that passed as they are now are not run again

# phase NAME COMMAND...: runs it, prints its duration, remembers its failure. Never fails itself: the
# other phases have something to say, too.
phase() {
  local name=$1 started=$SECONDS
  shift
  echo "==> $name"
  if "$@"; then
    last_phase_ok=true
    echo "==> $name: ok, $((SECONDS - started)) s"
  else
    last_phase_ok=false
    failed_phases+=("$name")
    echo "==> $name: FAILED, $((SECONDS - started)) s"
  fi
}

# The same, if the phase before it succeeded.
then_phase() {
  if $last_phase_ok; then phase "$@"; else echo "==> $1: not run"; fi
}

# Every source file that git knows or would take; all of them where there is no git.
source_files() {
  { git ls-files -co --exclude-standard -- '*.cpp' '*.hpp' 2>/dev/null ||
    find src tests include bench fuzz examples -name '*.cpp' -o -name '*.hpp' 2>/dev/null; } |
    while IFS= read -r file; do
      if [[ -e $file ]]; then echo "$file"; fi
    done
}

# The client libraries of other languages that tests use, as their lock file has them. Quiet and quick
# when they are there; without npm the tests that want them are skipped.
install_node_packages() {
  if ! command -v npm >/dev/null; then return 0; fi
  if [[ tests/node/node_modules/.package-lock.json -nt tests/node/package-lock.json ]]; then return 0; fi
  (cd tests/node && npm ci --silent --no-audit --no-fund)
}

check_formatting() {
  packaging/check-words || return 1
  local log=build/format.log
  mkdir -p build
  if source_files | xargs -r -P "$(nproc)" -n 20 clang-format --dry-run -Werror >"$log" 2>&1; then
    return 0
  fi
  sed -n 's/^\(.*\): error: code should be clang-formatted.*/\1/p' "$log" | sort -u | head -30
  echo "To mend it: clang-format -i FILE..."
  return 1
}

# What a test program's result depends on, as one hash for each: "NAME KEY". Its own bytes, those of the programs that it
# starts (the environment names them), and, as docs and examples are tested too, every file that is not compiled.
test_keys() {
  local folder=$1 others program
  shift
  others=$({ git ls-files -co --exclude-standard -- . ':!*.cpp' ':!*.hpp' ':!CHANGELOG.md' 2>/dev/null ||
    find docs tests examples -type f; } | sort | xargs -d '\n' -r sha256sum 2>/dev/null | sha256sum)
  ctest --test-dir "$folder" --show-only=json-v1 "$@" 2>/dev/null |
    jq -r '.tests[] | [.name, .command[0]] + ([.properties[] | select(.name == "ENVIRONMENT") | .value[]
             | select(test("_BINARY=|_COUNTER=|_VICTIM=")) | sub("^[^=]*="; "")]) | join(" ")' |
    while read -r program files; do
      # shellcheck disable=SC2086 # several names
      echo "$program $( (echo "$others" && cat $files) 2>/dev/null | sha256sum | cut -c1-40)"
    done
}

# run_tests PRESET [ctest options...]: all tests of a preset, two more at once than there are cores, since many wait more than
# they work; the output of failed ones is shown. Each program also writes its cases' results, which are counted afterwards.
run_tests() {
  local folder="build/$1" results="$root/build/$1/results" stamps="build/$1/passed" status=0 keys unchanged=() program key
  shift
  tests_run=true
  # Also the counts of an earlier coverage run, which would be added to.
  find "$folder" -name '*.gcda' -delete
  rm -rf "$results" "$folder/Testing/Temporary/LastTestsFailed.log"
  mkdir -p "$results" "$stamps"
  keys=$(test_keys "$folder" "$@")
  if $skip_unchanged; then
    while read -r program key; do
      if [[ -e $stamps/$key ]]; then unchanged+=("$program"); fi
    done <<<"$keys"
    if [[ ${#unchanged[@]} -gt 0 ]]; then
      echo "Not run again, as they passed like this: ${unchanged[*]}"
      if [[ ${#unchanged[@]} -eq $(wc -l <<<"$keys") ]]; then return 0; fi
      set -- "$@" --exclude-regex "^($(IFS='|' && echo "${unchanged[*]}"))\$"
    fi
  fi
  # The time-out is for tests that hang; one that needs longer sets its own.
  GTEST_OUTPUT="xml:$results/" ctest --test-dir "$folder" --output-on-failure --no-tests=error \
    --parallel "$(($(nproc) + 2))" --timeout "$([[ -n ${TENURE_TEST_LONG:-} ]] && echo 14400 || echo 300)" \
    "$@" || status=$?
  count_results "$folder" "$results"
  while read -r program key; do
    if [[ -e $results/$program.xml ]] && ! grep -qs ":$program\$" "$folder/Testing/Temporary/LastTestsFailed.log"; then
      touch "$stamps/$key"
    fi
  done <<<"$keys"
  return "$status"
}

# The value of an attribute in the root element of a result file, 0 if it is not there.
attribute() {
  sed -n "s/^<testsuites.* $2=\"\([0-9]*\)\".*/\1/p;T;q" "$1" | grep . || echo 0
}

count_results() {
  local folder=$1 results=$2 file cases bad program
  for file in "$results"/*.xml; do
    [[ -e $file ]] || continue
    bad=$(($(attribute "$file" failures) + $(attribute "$file" errors)))
    cases=$(($(attribute "$file" tests) - $(attribute "$file" disabled)))
    cases=$((cases - $(grep -c '<testcase .*result="skipped"' "$file" || true)))
    tests_failed=$((tests_failed + bad))
    tests_passed=$((tests_passed + cases - bad))
  done
  # A program that crashed, hung or leaked has failed, whatever its cases said.
  [[ -e $folder/Testing/Temporary/LastTestsFailed.log ]] || return 0
  while IFS=: read -r _ program; do
    file="$results/$program.xml"
    if [[ ! -e $file || $(attribute "$file" failures) -eq 0 ]]; then
      tests_failed=$((tests_failed + 1))
    fi
    failed_programs+=("$program (${folder#build/})")
  done <"$folder/Testing/Temporary/LastTestsFailed.log"
}

# clang-tidy beside tests that wait more than they work: begin_tidy FOLDER before them, end_tidy shows what it found.
begin_tidy() {
  nice -n 19 packaging/tidy "$1" >build/tidy.log 2>&1 </dev/null &
  tidy=$!
  # Whoever interrupts ./test interrupts it, too.
  trap 'kill "$tidy" 2>/dev/null || true' EXIT
}

end_tidy() {
  local status=0
  wait "$tidy" || status=$?
  trap - EXIT
  cat build/tidy.log
  return "$status"
}

# Line coverage of the program without its tests and without app/, which the api tests run as
# separate processes that are killed before they can write their counts.
report_coverage() {
  gcovr --root "$root" --object-directory build/coverage -j "$(build_jobs)" \
    --filter 'src/' --exclude '.*_test\.cpp' --exclude 'src/app/' --exclude-throw-branches \
    --sort-percentage --fail-under-line 80 build/coverage
}

# The closing lines; ends the run.
summarise() {
  echo
  if [[ ${#failed_programs[@]} -gt 0 ]]; then
    printf 'Failed test: %s\n' "${failed_programs[@]}"
  fi
  if [[ ${#failed_phases[@]} -gt 0 ]]; then
    printf 'Failed phase: %s\n' "${failed_phases[@]}"
  fi
  echo "Duration: $((SECONDS / 60)) min $((SECONDS % 60)) s"
  if $tests_run; then echo "$tests_passed passed, $tests_failed failed"; fi
  if [[ ${#failed_phases[@]} -gt 0 ]]; then exit 1; fi
  exit 0
}
