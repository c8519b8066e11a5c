# ASTRO_CORE_FOLDER: lets configure run in a tree with a folder named core. After each check autoconf runs "rm -f core",
# to remove a core dump: rm would complain each time, and configure would not clean up at its end.
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
