# What the scripts share: the project's root, one line for each step, and its log.
# shellcheck shell=bash disable=SC2034

root=$(cd "$(dirname "${BASH_SOURCE[0]}")/.." && pwd)
log_folder=$root/build/log

# People on other systems install these by hand; see scripts/install-packages.
build_packages=(g++ cmake ninja-build libfmt-dev nlohmann-json3-dev libyaml-cpp-dev libcli11-dev
                zlib1g-dev libopenmpi-dev openmpi-bin nodejs npm)
test_packages=(libgtest-dev libbenchmark-dev chromium)

# The comment at the top of a script is its help.
print_help() {
  sed -n '2,/^[^#]/{/^#/{s/^# \{0,1\}//;p}}' "$0"
}

die() {
  echo "$(basename "$0"): $*" >&2
  exit 1
}

# step NAME TEXT COMMAND...: says TEXT, runs COMMAND with its output in build/log/NAME.log, says how
# long it took. When it fails, shows the end of the log and ends the script.
step() {
  local log=$log_folder/$1.log text=$2 begin=$SECONDS
  shift 2
  mkdir -p "$log_folder"
  printf '%s ... ' "$text"
  if "$@" >"$log" 2>&1 </dev/null; then
    printf 'done (%d s)\n' "$((SECONDS - begin))"
  else
    local status=$?
    printf 'FAILED (%d s)\n' "$((SECONDS - begin))"
    echo "---- the end of $log ----"
    tail -n 30 "$log"
    echo "----"
    exit "$status"
  fi
}

# How many compilers at once: one a core, and 1.5 GB of free memory for each.
job_count() {
  local cores memory_kb by_memory
  cores=$(nproc)
  memory_kb=$(sed -n 's/^MemAvailable: *\([0-9]*\) kB/\1/p' /proc/meminfo)
  by_memory=$((${memory_kb:-1500000} / 1500000))
  [ "$by_memory" -ge 1 ] || by_memory=1
  echo $((cores < by_memory ? cores : by_memory))
}
