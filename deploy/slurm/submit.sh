#!/bin/bash
# Submits a conversion to Slurm: a job that plans, an array of TASKS jobs that write the
# shards, a job that finishes; each begins when the one before has done its work.
#
#     submit.sh TASKS [OPTION OF SBATCH...] -- FORMAT [FLAG...] SOURCE... OUT
#     submit.sh 40%8 --partition=data -- tar 'shards-<0000..0999>.tar' out/
#
# 40%8: forty tasks, eight at a time. The options go to all three jobs. Prints the numbers
# of the jobs.
set -euo pipefail

fail() {
	echo "submit.sh: $1; usage: submit.sh TASKS [OPTION OF SBATCH...] -- FORMAT [FLAG...] SOURCE... OUT" >&2
	exit 1
}

[[ ${1:-} =~ ^([1-9][0-9]*)(%[1-9][0-9]*)?$ ]] || fail "TASKS is '${1:-}', not a number"
tasks=${BASH_REMATCH[1]} limit=${BASH_REMATCH[2]}
shift
options=(--parsable)
while [ $# -gt 0 ] && [ "$1" != -- ]; do
	options+=("$1")
	shift
done
[ $# -ge 4 ] || fail "FORMAT, SOURCE or OUT is missing after --"
shift
[[ ${*: -1} != -* ]] || fail "the last argument is '${*: -1}', not OUT"

script=$(dirname "$0")/ffconvert.sbatch
export FFCONVERT_TASKS=$tasks # for a task that is submitted again by itself
unset FFCONVERT_TASK          # all tasks would take the same slice

after() { # after JOB: the options of a job that needs another, and goes when that has failed
	chain=(--dependency="afterok:${1%%;*}" --kill-on-invalid-dep=yes)
}

plan=$(sbatch --job-name=ffconvert-plan --output=%x-%j.log "${options[@]}" "$script" plan "$@")
after "$plan"
run=$(sbatch --job-name=ffconvert-run "${options[@]}" "${chain[@]}" --array="0-$((tasks - 1))$limit" "$script" run "${@: -1}")
after "$run"
finish=$(sbatch --job-name=ffconvert-finish --output=%x-%j.log "${options[@]}" "${chain[@]}" "$script" finish "${@: -1}")
printf '%s\n' "plan ${plan%%;*}" "run ${run%%;*}" "finish ${finish%%;*}"
