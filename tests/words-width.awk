# Lines of sources and pages in; a line for each that is longer than .editorconfig (config) allows out. Characters are
# counted, of UTF-8 too: run it with LC_ALL=C. Rows of tables, declarations in graphs, commands of scripts and what
# has no blank to break it at may be longer.

function pattern(glob,   text) { # of .editorconfig: *, **, {a,b}
  text = glob
  gsub(/\./, "\\.", text)
  gsub(/\*+/, ".*", text)
  gsub(/\{/, "(", text)
  gsub(/\}/, ")", text)
  gsub(/,/, "|", text)
  return (glob ~ /\// ? "^" : "(^|/)") text "$"
}
BEGIN {
  while ((getline line < config) > 0) {
    if (line ~ /^\[.*\]$/) section[++n] = pattern(substr(line, 2, length(line) - 2))
    else if (n && line ~ /^max_line_length *=/) { sub(/^[^=]*= */, "", line); most[n] = line }
  }
  if (!n) print config ": no sections"
}
FNR == 1 {
  name = FILENAME
  sub(/^\.\//, "", name)
  width = 0
  for (i = 1; i <= n; i++) if (i in most && name ~ section[i]) width = most[i] + 0
  is_page = name ~ /\.md$/
  is_graph = name ~ /\.graph$/
  is_script = name !~ /\.(c|h|cu|cuh|cc|py|md|graph)$|^NEWS$/
}
length($0) > width && width {
  text = $0
  gsub(/[\200-\277]/, "", text)
  if (length(text) <= width || is_page && /^\|/ || is_graph && /^@/ || is_script && !/^[ \t]*#/) next
  # Where could it be broken: at a blank behind the first word, within the width.
  lead = match(text, /^[ \t]*([-*>#\/]+[ \t]+|[0-9]+\.[ \t]+)?[^ \t]+/) ? RLENGTH : 0
  if (substr(text, lead + 1, width - lead + 1) !~ /[ \t]/) next
  print FILENAME ":" FNR ": " length(text) " characters, " width " fit"
}
