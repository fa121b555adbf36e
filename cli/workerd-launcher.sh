#!/bin/sh
# Runs in workerd's place and becomes it: leaves the process id where the host, its guard and the next start find it.
# Ctrl-C reaches every process of the terminal at once; workerd leaves it to the host, which ends it in order.
trap '' INT
[ -z "$NEXTSTATE_RUN_FOLDER" ] || echo $$ > "$NEXTSTATE_RUN_FOLDER/workerd.pid"
exec "$NEXTSTATE_WORKERD" "$@"
