# Bash completion for gst-astro: commands, graphs, and the parameters of a graph as name=.

_gst_astro_words() {
  local IFS=$'\n'
  mapfile -t COMPREPLY < <(compgen -W "$1" -- "$2")
}

# The first word after the command that is neither an option nor an option's value. Most shells split words at = and :
# (--clock = ptp : 0).
_gst_astro_graph() {
  local i
  for ((i = 2; i < COMP_CWORD; i++)); do
    case ${COMP_WORDS[i]} in
      --dot | --clock | --keep | --control | --control-token | --watchdog | --machine | --output | --compare)
        ((i++))
        [[ ${COMP_WORDS[i]} != '=' ]] || ((i++))
        [[ ${COMP_WORDS[i + 1]} != ':' ]] || ((i += 2))
        ;;
      -?*) ;;
      *) echo "${COMP_WORDS[i]}"; return ;;
    esac
  done
}

# Names of graphs, after other words that may stand there; files if no name begins like that.
_gst_astro_graphs() {
  _gst_astro_words "$3$("$1" list 2>/dev/null | sed 's/ .*//')" "$2"
  if [[ $2 == */* || ${#COMPREPLY[@]} == 0 ]]; then
    mapfile -t COMPREPLY < <(compgen -f -X '!*.graph' -- "$2"; compgen -d -- "$2")
    compopt -o filenames 2>/dev/null
  fi
}

# The options and parameters (as name=) elsewhere on the line. Most shells split words at a =.
_gst_astro_given() {
  local i
  for ((i = 2; i < ${#COMP_WORDS[@]}; i++)); do
    if ((i == COMP_CWORD)) || [[ ${COMP_WORDS[i - 1]} == '=' ]]; then
      continue
    elif [[ ${COMP_WORDS[i + 1]} == '=' ]]; then
      echo "${COMP_WORDS[i]}="
    else
      echo "${COMP_WORDS[i]/=*/=}"
    fi
  done
}

# The words on the standard input that are not on the line yet.
_gst_astro_left() {
  local given
  given=$(_gst_astro_given)
  grep -Fxv -e "$given"
}

_gst_astro_parameters() {
  "$1" show "$2" </dev/null 2>/dev/null | sed -n '/^Parameters:$/,/^$/s/^  \([A-Za-z][A-Za-z0-9_-]*=\).*/\1/p'
}

_gst_astro() {
  local program=$1 current=$2 previous=$3 command=${COMP_WORDS[1]} graph options=
  COMPREPLY=()
  if ((COMP_CWORD == 1)); then
    _gst_astro_words $'run\nlist\nshow\nprint\ndevices\nplan\nmachine\nqualify\nhelp\n--help\n--version' "$current"
    return
  fi
  if [[ $command == help ]]; then
    case $COMP_CWORD,${COMP_WORDS[2]} in
      2,*) _gst_astro_graphs "$program" "$current" $'run\nlist\nshow\nprint\ndevices\nplan\nmachine\nqualify\n' ;;
      3,run | 3,show | 3,print | 3,plan) _gst_astro_graphs "$program" "$current" ;;
    esac
    return
  fi
  if [[ $previous == --clock || ($previous == '=' && ${COMP_WORDS[COMP_CWORD - 2]} == --clock) ]]; then
    _gst_astro_words $'system\nrealtime\nptp:' "${current#=}"
    return
  fi
  # The value of a parameter and of most options is mostly a file.
  if [[ $current == '=' || $previous == '=' || $previous == --dot || $previous == --keep || $previous == --control-token ||
    $previous == --machine || $previous == --output || $previous == --compare ]]; then
    mapfile -t COMPREPLY < <(compgen -f -- "${current#=}")
    compopt -o filenames 2>/dev/null # blanks in them are quoted
    return
  fi
  case $command in
    run) options=$'--stats\n--machine\n--dot\n--clock\n--keep\n--control\n--control-token\n--watchdog\n--quiet\n--verbose\n--help' ;;
    plan) options=$'--machine\n--help' ;;
    qualify) options=$'--quick\n--output\n--compare\n--quiet\n--help' ;;
    list | show | print | devices | machine) options=--help ;;
    *) return ;;
  esac
  if [[ $current == -* ]]; then
    _gst_astro_words "$(_gst_astro_left <<<"$options")" "$current"
    return
  fi
  [[ ' list devices machine qualify ' != *" $command "* ]] || return
  graph=$(_gst_astro_graph)
  if [[ -z $graph ]]; then
    _gst_astro_graphs "$program" "$current"
  elif [[ $command != show ]]; then
    _gst_astro_words "$(_gst_astro_parameters "$program" "$graph" | _gst_astro_left)" "$current"
    compopt -o nospace 2>/dev/null
  fi
}

complete -F _gst_astro gst-astro
