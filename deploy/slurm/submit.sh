#!/bin/bash
# Submits a conversion to Slurm: a job that plans, an array of TASKS jobs that write the
# shards, a job that finishes; each begins when the one before has done its work.
#
#     submit.sh [--index TASKS] TASKS [OPTION OF SBATCH...] -- FORMAT [FLAG...] SOURCE... OUT
#     submit.sh 40%8 --partition=data -- tar 'shards-<0000..0999>.tar' out/
#
# 40%8: forty tasks, eight at a time. With --index as many tasks index the sources before, a
# slice each, and the job that plans puts together what they have found. The options go to all
# jobs. Prints the numbers of the jobs.
set -euo pipefail

fail() {
	echo "submit.sh: $1; usage: submit.sh [--index TASKS] TASKS [OPTION OF SBATCH...] -- FORMAT [FLAG...] SOURCE... OUT" >&2
	exit 1
}

array() { # array TASKS: how many tasks an array has, and how many run at a time
	[[ ${1:-} =~ ^([1-9][0-9]*)(%[1-9][0-9]*)?$ ]] || fail "TASKS is '${1:-}', not a number"
	tasks=${BASH_REMATCH[1]} limit=${BASH_REMATCH[2]}
}

of_index=
if [ "${1:-}" = --index ]; then
	of_index=${2:-}
	array "$of_index"
	shift 2
fi
of_run=${1:-}
array "$of_run"
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
unset FFCONVERT_TASK # all tasks would take the same slice

after() { # after JOB: the options of a job that needs another, and goes when that has failed
	chain=(--dependency="afterok:${1%%;*}" --kill-on-invalid-dep=yes)
}

submit() { # submit STEP ARGUMENT...: one job, after the one before
	job=$(sbatch --job-name="ffconvert-$1" --output=%x-%j.log "${options[@]}" "${chain[@]}" "$script" "$@")
	printf '%s\n' "$1 ${job%%;*}"
	after "$job"
}

submit_array() { # submit_array TASKS STEP ARGUMENT...
	array "$1"
	shift
	export FFCONVERT_TASKS=$tasks # for a task that is submitted again by itself
	job=$(sbatch --job-name="ffconvert-$1" "${options[@]}" "${chain[@]}" --array="0-$((tasks - 1))$limit" "$script" "$@")
	printf '%s\n' "$1 ${job%%;*}"
	after "$job"
}

chain=()
[ -z "$of_index" ] || submit_array "$of_index" index "$@"
submit plan "$@"
submit_array "$of_run" run "${@: -1}"
submit finish "${@: -1}"
