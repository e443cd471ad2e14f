#!/bin/sh
# Kernels at small sizes under compute-sanitizer, one tool after the other, a line for each:
#   sanitize.sh [OPTION...] [TOOL...]      memcheck racecheck synccheck unless said
# First the checks of vector add and rows, then a sample of the kernels of tests/emulator: products, pipelines, reductions,
# scans, atomics, changes of layout, the examples. A tool takes about a minute; OPTIONs are sanitized.py's (--seconds=N).
# Allocations end where tensors end, so that memcheck sees the first byte beyond. All that is said stands in sanitize-TOOL.txt.
cd "$(dirname "$0")" || exit 1
tools='' options=''
for word in "$@"; do
    case $word in
        --*) options="$options $word" ;;
        *) tools="$tools $word" ;;
    esac
done
tkc=$(python3 -c 'import unpack; print(unpack.tool(".", "tkc"))') || exit 1
status=0
for tool in ${tools:-memcheck racecheck synccheck}; do
    log=sanitize-$tool.txt
    # The loader asks the driver for one parameter too many on purpose, which is no error.
    api=
    [ "$tool" = memcheck ] && api="--report-api-errors no"
    sanitizer="compute-sanitizer --tool $tool $api --error-exitcode 9 --print-limit 20"
    verdict=passed
    $sanitizer --target-processes all \
        python3 checks.py --small --exact --only=add --only=rows >"$log" 2>&1 || verdict=FAILED
    # The compiler runs beside it, and is none of the tool's business.
    $sanitizer --target-processes application-only \
        python3 tree/tests/gpu/sanitized.py --tkc="$tkc" $options >>"$log" 2>&1 || verdict=FAILED
    echo "$verdict $tool: $(grep ' cases, .* launches, ' "$log" | tail -1)$(grep -o '[A-Z]* SUMMARY: .*' "$log" | sed 's/^/; /' | tr -d '\n')"
    if [ $verdict = FAILED ]; then
        status=1
        grep -E 'FAILED|^=========' "$log" | head -40
    fi
done
exit $status
