# ASTRO_INTROSPECTION: --enable-introspection=auto|yes|no. The typelib, through which Python and other languages use
# libgstastro-1.0, needs g-ir-scanner; a test of it needs Python's gi.
AC_DEFUN([ASTRO_INTROSPECTION], [
  AC_ARG_ENABLE([introspection],
    [AS_HELP_STRING([--disable-introspection], [without the typelib GstAstro-1.0, which needs gobject-introspection])],
    [], [enable_introspection=auto])
  astro_introspection_summary=no
  AS_IF([test "x$enable_introspection" != xno],
    [AC_PATH_PROG([G_IR_SCANNER], [g-ir-scanner])
     AC_PATH_PROG([G_IR_COMPILER], [g-ir-compiler])
     AS_IF([test -z "$G_IR_SCANNER" || test -z "$G_IR_COMPILER"],
       [astro_introspection_summary="no: g-ir-scanner is missing (gobject-introspection)"],
       [test "x$enable_sanitizers" != xno],
       [astro_introspection_summary="no: the scanner is not built with a sanitizer"],
       [test "x$enable_shared" = xno],
       [astro_introspection_summary="no: it needs a shared library"],
       [PKG_CHECK_EXISTS([gobject-introspection-1.0 >= 1.70],
         [girdir=$($PKG_CONFIG --variable=girdir gobject-introspection-1.0)
          AS_IF([test -e "$girdir/GstBase-1.0.gir"], [astro_introspection_summary=yes],
            [astro_introspection_summary="no: $girdir/GstBase-1.0.gir is missing (libgstreamer1.0-dev)"])],
         [astro_introspection_summary="no: gobject-introspection-1.0 is missing (libgirepository1.0-dev)"])])
     AS_IF([test "x$enable_introspection" = xyes && test "x$astro_introspection_summary" != xyes],
       [AC_MSG_ERROR([--enable-introspection: $astro_introspection_summary])])])
  AM_CONDITIONAL([INTROSPECTION], [test "x$astro_introspection_summary" = xyes])
  # The first Python on PATH may not be the one that has gi.
  AC_CACHE_CHECK([for a Python with gi], [astro_cv_python_gi],
    [astro_cv_python_gi=no
     for astro_python in python3 /usr/bin/python3; do
       $astro_python -c 'import gi' >/dev/null 2>&1 && { astro_cv_python_gi=$astro_python; break; }
     done])
  AC_SUBST([PYTHON_GI], [$astro_cv_python_gi])
  AC_ARG_WITH([python-dir],
    [AS_HELP_STRING([--with-python-dir=DIR], [where Python modules are installed; by default where Python looks below the prefix])],
    [pythondir=$withval],
    [astro_python=$astro_cv_python_gi
     test "x$astro_python" != xno || astro_python=python3
     # Debian keeps the modules of packages apart from those of its users.
     pythondir=$($astro_python -c 'import sys, sysconfig
name = sysconfig.get_path("purelib").rsplit("/", 1)[[1]]
short = name == "dist-packages" and "'"$prefix"'" == "/usr"
print("${prefix}/lib/python3" + ("" if short else ".%d" % sys.version_info[[1]]) + "/" + name)' 2>/dev/null) ||
       pythondir='${prefix}/lib/python3/dist-packages'])
  AC_SUBST([pythondir])
])
