#!/bin/sh
# The correctness checks at small sizes under compute-sanitizer, one tool after the other:
#   sanitize.sh [TOOL...]      memcheck racecheck synccheck unless said
# Allocations end where tensors end (--exact), so that memcheck sees the first byte beyond.
cd "$(dirname "$0")" || exit 1
status=0
for tool in ${*:-memcheck racecheck synccheck}; do
    echo "== compute-sanitizer --tool $tool"
    # The loader asks the driver for one parameter too many on purpose, which is no error.
    api=
    [ "$tool" = memcheck ] && api="--report-api-errors no"
    compute-sanitizer --target-processes all --tool "$tool" $api --error-exitcode 9 --print-limit 20 \
        python3 checks.py --small --exact --only=add --only=rows || status=1
done
exit $status
