# Stands in for the unit tests where libcheck is missing, so that a run without them says so.
echo '1..0 # SKIP libcheck is missing (Debian: apt-get install check); then run configure again'
