# Scenes in a real terminal: a film is played, stopped, sought in by keys and mouse; a log that goes on is
# replayed meanwhile; other decisions are taken on a copy.
. "$srcdir/tests/scenes.sh"

bar_says() {
	screen | grep -q -- "$1"
}

# ---- the transport ----

start 80x24 "$FOLLOWING" replay --speed=50 demo.ndjson
ok 'it plays' soon bar_says '▶ 50x .*#[1-9][0-9]*/208'
press ' '
ok 'and stops' soon bar_says 'paused 50x'
press ':seek #90<Enter>'
look 'there it is what a replay without a terminal shows' 80x24 '<Space>:seek #90<Enter>' "$FOLLOWING" replay --speed=50 demo.ndjson
press '...,'
ok 'steps' soon bar_says '#92/208'
press '}'
look 'the next event' 80x24 '<Space>:seek #90<Enter>...,}' "$FOLLOWING" replay --speed=50 demo.ndjson
press 2
look 'the timeline, with what is still to come' 80x24 '<Space>:seek #90<Enter>...,}2' "$FOLLOWING" replay --speed=50 demo.ndjson
press 'a'
ok 'nothing is decided' soon says 'replay: nothing is sent'
# typing is ignored after a refusal, until Esc
press ':'
soon says 'typing ignored'
press '<Esc>'
soon says 'keys are commands again'
press '<<<'
ok 'slower' soon bar_says 'paused 5x'
mouse 0 21 2 M
ok 'a press on the bar goes there' soon bar_says '#[0-9]/208'
mouse 32 21 79 M
ok 'a drag goes on' soon bar_says '#208/208'
mouse 0 21 79 m
mouse 32 21 20 M
press '?'
ok 'without the button nothing moves' soon says 'play and pause'
press 'q'
ok 'still at the end' soon bar_says '#208/208'
resize 100x40
press ':seek 50%<Enter>'
look 'on a taller screen each has its lane' 100x40 '<Space>:seek #90<Enter>...,}2a<wait:800><lt><lt><lt>:end<Enter>:seek 50%<Enter>' "$FOLLOWING" replay --speed=50 demo.ndjson
press ':start<Enter>L:seek #20<Enter>L >>>>>>'
ok 'a loop plays' soon bar_says '▶ .*\[loop\]'
press ' LQ'
ok 'Q ends it, all is well' soon says 'exit code 0'
ok 'and the terminal is as before' soon tty_is_as_before

# ---- a log that goes on ----

head -n 150 demo.ndjson >grows.ndjson
start 80x24 "$FOLLOWING" grows.ndjson
ok 'a log is followed' soon title_says ' followed .* 150 messages'
press 'R:seek #40<Enter>'
ok 'R replays what has come' soon title_says ' replay .* 40 messages'
sed -n '151,180p' demo.ndjson >>grows.ndjson
ok 'what comes meanwhile is told' soon bar_says '#40/150.* 30 newer'
press ':end<Enter>:end<Enter>'
ok 'and taken on demand' soon bar_says '#180/180'
press R
ok 'R goes back to what is live' soon title_says ' live .* 180 messages'
press 'Q'
soon says 'exit code 0'

# ---- what if ----

start 80x24 "$FOLLOWING" replay --as=ann demo.ndjson
soon bar_says '▶ 1x'
press ' :seek #90<Enter>:fork copy<Enter>'
ok 'a fork opens on its copy' soon title_says 'copy/demo.ndjson .* 90 messages'
press 'a'
ok 'where one can decide' soon title_says '1 staged'
press 'Qy'
ok 'and comes back' soon says 'the fork is copy'
press 'Q'
ok 'to a replay that ends as usual' soon says 'exit code 0'
is 'nothing was sent from the log' 0 "$(ls demo.ndjson.replies.ndjson 2>/dev/null | wc -l)"
is 'what was decided is in the copy' 1 "$("$FOLLOWING" show decisions --against=copy demo.ndjson | grep -c ' by ann, staged')"

scenes_end
