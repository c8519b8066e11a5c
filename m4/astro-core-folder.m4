# ASTRO_CORE_FOLDER: configure runs where core is a folder of ours. After each check autoconf does "rm -f core", lest a
# program has left a core dump: rm would complain each time, and configure would not clean up behind itself at its end.
AC_DEFUN([ASTRO_CORE_FOLDER], [
rm ()
{
  for astro_name
  do
    shift
    if test "x$astro_name" != xcore || test ! -d core; then
      set dummy "$[@]" "$astro_name"
      shift
    fi
  done
  command rm "$[@]"
}
])
