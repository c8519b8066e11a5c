# Reads lines of "file:number:#include ..."; prints a line for each include in the wrong direction. order: the file with
# the order of shared rooms and the includes that are not mended yet; whole: 1 if all sources are given.

# The room of a file. Each element is a room of its own, and rooms within a stage count as the stage's.
function room(path,   part, n) {
  n = split(path, part, "/")
  if (n < 3 && part[1] != "elements") return part[1] == "graphs" ? "graphs" : ""
  if (part[1] == "elements" && n == 2) { sub(/[-.].*/, "", part[2]); return "elements/" part[2] }
  return part[1] "/" part[2] (part[2] == "lib" ? "/" part[3] : "")
}
function stage(of) { sub(/^(core|gpu|opencl)\//, "", of); return of }
function is_stage(of) { return of ~ /^core\// ? !(of in level) && of !~ /^core\/lib\// : of ~ /^(gpu|opencl)\// && of !~ /^(gpu|opencl)\/(runtime|lib\/)/ }
# The reason why a room must not include another; "": it may.
function wrong(from, to) {
  if (from ~ /^core\// && to !~ /^core\//) return "the core knows no elements, devices or graphs"
  if (from ~ /^gpu\// && to !~ /^(core|gpu)\//) return "the CUDA module knows the core alone"
  if (from ~ /^opencl\// && to !~ /^(core|opencl)\//) return "the OpenCL module knows the core alone"
  if (from ~ /^elements\// && to ~ /^(gpu|opencl|graphs)/ || from == "graphs" && to ~ /^(gpu|opencl|elements)/)
    return "elements and graphs know the core alone"
  if (is_stage(to) && !is_stage(from) && from !~ /^(elements|graphs)/) return "a room that stages share includes a stage"
  if (is_stage(to) && is_stage(from) && stage(from) != stage(to)) return "a stage includes another one"
  if (from ~ /^elements\// && to ~ /^elements\// && to != "elements/base" && from != "elements/plugin")
    return "elements share what is in elements/base alone"
  if (from in level && to in level && level[to] > level[from]) return "it stands below it in tests/rooms.order"
  return ""
}
BEGIN {
  while ((getline line < order) > 0)
    if (line ~ /^- /) { split(line, known, " "); still[known[2], known[3]] }
    else if (line ~ /^core/) level[line] = ++levels
}
{
  split($0, at, ":")
  from = room(at[1])
  if (match($0, /<gst\//) && from ~ /^(gpu|opencl)\//) print at[1] ":" at[2] ": GStreamer is for what the core says of it"
  if (!match($0, /"[^"]*"/)) next
  path = substr($0, RSTART + 1, RLENGTH - 2)
  to = room(path)
  if (from ~ /^core\/lib\// && !(from in level) && !(from in told)) {
    told[from]
    print at[1] ": tests/rooms.order lacks " from
  }
  if (to == "" || from == "" || from == to) next
  if ((at[1], path) in still) { delete still[at[1], path]; next }
  if (why = wrong(from, to)) print at[1] ":" at[2] ": " path ": " why
  if (!((from, to) in arrow)) { arrow[from, to]; n_out[from]++; into[to] = into[to] " " from; rooms[from]; rooms[to] }
}
# Rooms that include no others are removed until only those are left that include each other in a circle.
END {
  if (whole)
    for (pair in still) { split(pair, known, SUBSEP); print "mended, and still in tests/rooms.order: " known[1] " " known[2] }
  do {
    taken = 0
    for (r in rooms)
      if (!n_out[r]) {
        n = split(into[r], those, " ")
        for (i = 1; i <= n; i++) n_out[those[i]]--
        delete rooms[r]
        taken = 1
      }
  } while (taken)
  for (r in rooms) circle = circle " " r
  if (circle != "") print "these rooms, or some of them, include each other in a circle:" circle
}
