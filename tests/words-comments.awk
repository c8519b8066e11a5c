# Lines of sources in; a line for each comment that begins with "Of" or "What" out. Such a comment names a thing and
# makes no sentence: it says neither who does something nor why.

function begins(text) { return text ~ /^(Of|What)([^A-Za-z]|$)/ }
function report() {
  print FILENAME ":" FNR ": a comment begins with \"" (said ~ /^Of/ ? "Of" : "What") "\": a sentence says who does what"
}
# The text behind the last characters that fit the pattern, which ends in a comment's own mark.
function after(pattern,   line, found) {
  line = $0
  for (found = 0; match(line, pattern); found = 1) line = substr(line, RSTART + RLENGTH)
  return found ? line : ""
}
FNR == 1 { opened = was_comment = 0; of_c = FILENAME ~ /\.(c|h|cu|cuh|cc)$/ }
of_c {
  said = after("(^|[^:\"'A-Za-z0-9*/])/[*/][*/]*[<!]?[ \t]*")
  if (begins(said)) report()
  # The first words of a block stand on a line below its opening one; of an element's page, below its name.
  if ($0 ~ /^[ \t]*\/\*\**[ \t]*$/) { opened = 1; next }
  if (opened && $0 !~ /^[ \t]*\*?[ \t]*(SECTION:.*)?$/) {
    said = $0
    sub(/^[ \t]*\*?[ \t]*/, "", said)
    if (begins(said)) report()
    opened = 0
  }
  next
}
{
  said = $0
  is_comment = sub(/^[ \t]*(#+|dnl)[ \t]*/, "", said) || sub(/^[ \t]*[a-z]?("""|''')[ \t]*/, "", said)
  if (is_comment && (!was_comment || $0 ~ /"""|'''/)) { if (begins(said)) report() }
  else if (!is_comment && begins(said = after("[ \t]#[ \t]+"))) report()
  was_comment = is_comment && said != ""
}
