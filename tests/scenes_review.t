# Scenes in a real terminal: a review, its artifact edited between two turns, and left while a turn runs.
. "$srcdir/tests/scenes.sh"

response() { # iteration, items, acks
	printf 'say {"type":"text","timestamp":1794786742741,"sessionID":"ses_1","part":{"type":"text","text":"{\\"protocol_version\\":\\"1.2\\",\\"iteration\\":%s,\\"status\\":\\"success\\",\\"feedback\\":{\\"confidence\\":{\\"level\\":\\"high\\",\\"justification\\":\\"j\\"},\\"positive_points\\":[],\\"areas_for_improvement\\":[%s],\\"general_summary\\":\\"Fine.\\"}%s}"}}\n' "$@"
}
cat >reviewer <<END
read-input
turns $tmp/count
turn 1
$(response 1 '{\"id\":\"scope-0001\",\"aspect\":\"Scope\",\"description\":\"Which parts?\",\"recommendation\":\"List them.\"}' '')
turn 2
expect The toolbar.
expect-args --session ses_1
$(response 2 '' ',\"applied_feedback_ack\":{\"items\":[{\"id\":\"scope-0001\",\"processing_status\":\"acknowledged\"}]}')
turn 3
say {"type":"step_start","timestamp":1794786742741,"sessionID":"ses_1","part":{}}
stall
END
# Keys are not heard right after the page has come: until it is gone.
leaves_page() {
	press y
	! says 'y send'
}
sure_yes() {
	soon leaves_page
}
printf '# Plan\n' >plan.md
printf '#!/bin/sh\nshift\necho "The toolbar." >>"$1"\n' >editor
chmod +x editor

start 80x24 env EDITOR="$tmp/editor" "$FOLLOWING" review --artifact plan.md -- "$FAKE_AGENT" -f reviewer -- --session '{session}'
ok 'the first turn' soon says 'turn 1 answered in'
ok 'its item' soon says 'Which parts?'
press E
ok 'the artifact is edited' soon says 'plan.md +1 -0 (w)'
press w
ok 'what changed is shown' soon says '+ The toolbar.'
press qa
ok 'a decision' soon says '1 of 1 decided'
press '$'
ok 'what will be run' soon says '--session ses_1'
sure_yes
ok 'the second turn' soon says 'turn 2 answered in'
resize 60x15
ok 'in a small window' soon says 'turn 2 answered'
resize 80x24
ok 'and in the old one' soon says 'nothing is left to decide; $ asks again'
press '$'
ok 'nothing decided: it can be asked again' soon says 'This will be written'
sure_yes
ok 'a turn that goes on' soon says 'turn 3 runs 0:0'
time_passes() { screen | grep -q 'turn 3 runs 0:0[1-9]'; }
ok 'its time passes' soon time_passes
press Q
ok 'is not left by mistake' soon says 'l leaves it running, s stops it'
press s
ok 'but stopped' soon says 'exit code 0'
ok 'and the terminal is as before' soon tty_is_as_before
ok 'where it is kept is told' soon says 'this review is kept in'

# The first turn is a delivery like any other: keys are answered while the process does not read.
echo '{}' >in.json
start 80x24 "$FOLLOWING" review --envelope=in.json --as=ann -- sleep 60
ok 'a file that is no envelope' soon says 'is no input envelope'
cat >in.json <<'END'
{"context": {"feature_id": "f-1", "workflow": "specify", "iteration": 1}, "paths": {"spec": "plan.md"},
 "task": {"action": "validate", "params": {}}}
END
press ":retry<Enter>"
ok 'corrected, it is sent' soon says 'turn 1 runs'
press '?'
ok 'and keys are answered while nobody reads it' soon says 'j k scroll'
kill -TERM "$(cat pid)"
ok 'so are signals' soon says 'exit code 143'

tap_end
