#!/usr/bin/env bash
# The demonstration behind `make demo`: makes the calls, runs the example, shows what it found.
set -eu
cd "$(dirname "$0")/.."

COUNT=${COUNT:-1000000}
OUT=build/demo
CALLS=$OUT/calls-$COUNT.csv
ALERTS=$OUT/alerts.csv

mkdir -p "$OUT"

if [ ! -e "$CALLS" ]; then
  echo "demo: making $COUNT calls in $CALLS"
  # Under another name first: a file that stands at its place is complete.
  .venv/bin/python -m examples.data.calls --count "$COUNT" --out "$CALLS.part"
  mv "$CALLS.part" "$CALLS"
fi

echo "demo: anabranch explain examples/mobility_fraud.py"
.venv/bin/anabranch explain examples/mobility_fraud.py --calls "$CALLS" --out "$ALERTS"

echo
echo "demo: anabranch run examples/mobility_fraud.py --calls $CALLS --out $ALERTS --engine spark      (in channels)"
.venv/bin/anabranch run examples/mobility_fraud.py --calls "$CALLS" --out "$ALERTS" --engine spark

.venv/bin/python tools/show_csv.py "$ALERTS"

echo
echo "demo: the same with --engine sequential, one tuple after the other"
.venv/bin/anabranch run examples/mobility_fraud.py --calls "$CALLS" --out "$OUT/expected.csv" --engine sequential

if cmp "$ALERTS" "$OUT/expected.csv"; then
  echo "demo: both wrote the same file, byte for byte"
else
  echo "demo: the files differ, which must never happen" >&2
  exit 1
fi

echo
echo "next: . .venv/bin/activate"
echo "      anabranch examples                                what else there is"
