#!/bin/sh
# wait.sh JOB [SECONDS]: waits until a Job has ended, and prints how. Status 0: it is complete;
# 1: it has failed; 2: kubectl does not tell. It asks every 10 seconds, or as many as are said.
#
#     ./wait.sh ffconvert-plan && kubectl apply -f ffconvert.yaml -l 'step in (run, finish)'
#
# kubectl wait knows one condition: --for=condition=Complete of a Job that has failed waits to
# the end of its --timeout.
set -u
conditions='{range .status.conditions[?(@.status=="True")]}{.type}{": "}{.message}{"\n"}{end}'
while all=$(kubectl get "job/$1" -o "jsonpath=$conditions"); do
	if end=$(printf '%s\n' "$all" | grep -E '^(Complete|Failed):'); then
		printf '%s: %s\n' "$1" "$end"
		case $end in Complete:*) exit 0 ;; esac
		exit 1
	fi
	sleep "${2:-10}"
done
exit 2
