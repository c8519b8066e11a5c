# Pages in Markdown in; a line for each dead link and each command that cannot be typed out. list: a file with the
# names of all files. Commands are those of fenced blocks, and `code` that begins with ./bootstrap, ./gst-astro or an
# example. A block has to be shell, and the targets, graphs, parameters, options, elements, examples and tests that a
# command names have to be there.

# Those of a plugin that not every build has may be in a folder of their own.
function is_element(name) { return "elements/" name ".c" in have || "elements/ms/" name ".c" in have || "elements/mpi/" name ".c" in have }
function fault(line, what) { print FILENAME ":" line ": " what }
# A path from a page's own folder, without . and ..
function resolve(page, path,   part, n, i, out) {
  sub(/[^\/]*$/, "", page)
  n = split(page path, part, "/")
  for (i = 1; i <= n; i++)
    if (part[i] == ".." && out ~ /\//) sub(/\/[^\/]*$/, "", out)
    else if (part[i] == "..") out = ""
    else if (part[i] != "." && part[i] != "") out = out (out == "" ? "" : "/") part[i]
  return out
}
# As GitHub makes anchors of headings.
function anchor(heading) {
  heading = tolower(heading)
  gsub(/[^a-z0-9 _-]/, "", heading)
  gsub(/ /, "-", heading)
  return heading
}
function read_anchors(page,   line, fenced) {
  read[page]
  while ((getline line < page) > 0) {
    if (line ~ /^```/) fenced = !fenced
    else if (!fenced && sub(/^#+ +/, "", line)) anchors[page, anchor(line)]
  }
  close(page)
}
function link(target,   at, page, name) {
  if (target ~ /^[a-z]+:/) {
    if (target !~ /^https?:\/\/[A-Za-z0-9-]+(\.[A-Za-z0-9-]+)+(:[0-9]+)?(\/[^ ]*)?$/)
      fault(FNR, "a link to " target ", which is no address")
    return
  }
  name = target
  sub(/^[^#]*#?/, "", name)
  sub(/#.*/, "", target)
  page = target == "" ? here : resolve(here, target)
  if (!(page in have)) { fault(FNR, "a link to " target ": there is no " page); return }
  if (name == "") return
  if (!(page in read)) read_anchors(page)
  if (!((page, name) in anchors)) fault(FNR, "a link to " page "#" name ": it has no such heading")
}

# ---- commands ----

function is_target(name,   i, line) {
  if (!n_rules) {
    split("all check clean dist distcheck distclean install installcheck uninstall", own, " ")
    for (i in own) rule[own[i]]
    for (file in have) {
      if (file !~ /(^|\/)(Makefile\.am|[a-z]*\.mk)$/) continue
      while ((getline line < file) > 0)
        if (match(line, /^[a-z-]+:/)) {
          rule[substr(line, 1, RLENGTH - 1)]
          n_rules++
        }
      close(file)
    }
  }
  return name in rule
}
# The commands and options that the manual page has.
function read_manual(   line, section) {
  while ((getline line < "graphs/gst-astro.1") > 0) {
    gsub(/\\/, "", line)
    if (line ~ /^\.SH/) section = substr(line, 5)
    else if (section == "COMMANDS" && line ~ /^\.B [a-z]+$/) command[substr(line, 4)]
    else if (section == "OPTIONS" && line ~ /^\.BI?R? /)
      while (match(line, /--[a-z]+/)) {
        option[substr(line, RSTART, RLENGTH)]
        line = substr(line, RSTART + RLENGTH)
      }
  }
  close("graphs/gst-astro.1")
  manual = 1
}
function has_parameter(graph, name,   line, found) {
  while ((getline line < graph) > 0) if (index(line, "@" name " ") == 1) found = 1
  close(graph)
  return found
}
function is_placeholder(word) { return word ~ /^[A-Z"'$<\[-]/ || word ~ /[|*]/ || word == "" }
function gst_astro(line, n, word,   i, graph, name) {
  if (!manual) read_manual()
  for (i = 2; i <= n; i++)
    if (match(word[i], /^--[a-z]+/) && !(substr(word[i], 1, RLENGTH) in option))
      fault(line, "gst-astro has no option " word[i])
  if (n < 2 || is_placeholder(word[2])) return
  if (!(word[2] in command)) {
    fault(line, "gst-astro has no command " word[2])
    return
  }
  if (word[2] !~ /^(run|show|print)$/ || n < 3 || is_placeholder(word[3])) return
  graph = word[3] ~ /[\/.]/ ? word[3] : "graphs/" word[3] ".graph"
  if (!(graph in have)) {
    fault(line, "there is no graph " word[3])
    return
  }
  for (i = 4; i <= n; i++)
    if (match(word[i], /^[a-z0-9-]+=/)) {
      name = substr(word[i], 1, RLENGTH - 1)
      if (name !~ /^-/ && !has_parameter(graph, name)) fault(line, "the graph " word[3] " has no parameter " name)
    } else if (word[i] !~ /^[->]/ && word[i - 1] !~ /^(--dot|>)$/ && !is_placeholder(word[i]))
      fault(line, "gst-astro takes parameters as name=value, and not " word[i])
}
# A command without its quoted words and comment.
function check_command(line, text,   n, word, i) {
  sub(/(^|[ \t])#.*/, "", text)
  gsub(/"[^"]*"|'[^']*'/, "\"\"", text)
  gsub(/^[ \t]+|[ \t]+$/, "", text)
  n = split(text, word, /[ \t]+/)
  if (!n) return
  if (word[1] ~ /^(\.\/)?bootstrap$/) {
    for (i = 2; i <= n; i++)
      if (!is_placeholder(word[i]) && !is_target(word[i])) fault(line, "bootstrap has no target " word[i])
  } else if (word[1] ~ /^(\.\/)?gst-astro$/) gst_astro(line, n, word)
  else if (word[1] ~ /^examples\// && !(word[1] in have)) fault(line, "there is no " word[1])
  for (i = 1; i <= n; i++) {
    if (match(word[i], /^astro[a-z]+/) && RLENGTH == length(word[i]) && !is_element(word[i]))
      fault(line, "there is no element " word[i])
    if (word[i] ~ /^TESTS=/ && !((substr(word[i], 7) ".c") in have) && !(substr(word[i], 7) in have))
      fault(line, "there is no test " substr(word[i], 7))
  }
}
function check_block(   shell, i, text, first) {
  for (i = 1; i <= lines && (block[i] ~ /^[ \t]*(#.*)?$/); i++);
  if (language != "sh" && (language != "" || block[i] !~ /^(\.\/|gst-|make |examples\/|export |autoreconf|srcdir=)/)) return
  shell = "bash -n >/dev/null 2>&1"
  for (i = 1; i <= lines; i++) print block[i] | shell
  if (close(shell)) fault(began, "this block is no shell")
  for (i = 1; i <= lines; i++) {
    if (text == "") first = began + i
    text = text block[i]
    if (sub(/\\$/, " ", text)) continue
    n_commands = split(text, commands, /[|;&]+/)
    for (c = 1; c <= n_commands; c++) check_command(first, commands[c])
    text = ""
  }
}
BEGIN {
  while ((getline file < list) > 0) {
    have[file]
    for (folder = file; sub(/\/[^\/]*$/, "", folder);) have[folder]
  }
}
FNR == 1 { fenced = 0; here = FILENAME; sub(/^\.\//, "", here) }
/^```/ {
  if (fenced) check_block()
  fenced = !fenced
  language = substr($0, 4)
  began = FNR
  lines = 0
  next
}
fenced { block[++lines] = $0; next }
{
  # Code that is a command.
  rest = $0
  while (match(rest, /`[^`]+`/)) {
    code = substr(rest, RSTART + 1, RLENGTH - 2)
    rest = substr(rest, RSTART + RLENGTH)
    if (code ~ /^(\.\/bootstrap|\.\/gst-astro|examples\/[a-z]+\.|gst-inspect-1\.0)/ || code ~ /^astro[a-z]+$/)
      check_command(FNR, code)
  }
  text = $0
  while (match(text, /\]\([^)]*\)/)) {
    target = substr(text, RSTART + 2, RLENGTH - 3)
    text = substr(text, 1, RSTART - 1) " " substr(text, RSTART + RLENGTH)
    sub(/\[[^\[\]]* /, " ", text) # with the words of the link
    link(target)
  }
  # Pages that are named without a link, from the top or from here.
  while (match(text, /[A-Za-z0-9_.\/*-]+\.md/)) {
    name = substr(text, RSTART, RLENGTH)
    text = substr(text, RSTART + RLENGTH)
    if (name !~ /\*/ && !(name in have) && !(resolve(here, name) in have)) fault(FNR, "there is no page " name)
  }
}
# Elements in the first column of a table of them.
/^\| *astro[a-z]+[ ,|]/ {
  split($0, cell, "|")
  n = split(cell[2], word, /[ ,]+/)
  for (i = 1; i <= n; i++) if (word[i] != "" && !is_element(word[i])) fault(FNR, "there is no element " word[i])
}
