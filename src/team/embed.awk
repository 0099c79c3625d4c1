# Makes schema_text.c: each .sql file as a string, named like the file.
function finish() {
	if (name)
		print "\t\"\";"
}
BEGIN {
	print "/* Made by embed.awk of the .sql files. */"
	print "#include \"team/team_schema.h\""
}
FNR == 1 {
	finish()
	name = FILENAME
	sub(/^.*\//, "", name)
	sub(/\.sql$/, "", name)
	print "\nconst char " name "[] ="
}
{
	gsub(/[\\"]/, "\\\\&")
	print "\t\"" $0 "\\n\""
}
END { finish() }
