#!/bin/sh
# Runs in workerd's place and becomes it: leaves the process id where the host, its guard and the next start find it.
echo $$ > "$NEXTSTATE_RUN_FOLDER/workerd.pid"
exec "$NEXTSTATE_WORKERD" "$@"
