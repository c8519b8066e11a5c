# ASTRO_HARDENING: adds flags that make memory errors harder to exploit, as far as compiler and linker accept them.
# Sanitizers look for the same errors and replace the functions that would be fortified, so they do without.
AC_DEFUN([ASTRO_HARDENING_FLAG], [
  AC_CACHE_CHECK([whether $CC takes $2], [AS_TR_SH([astro_cv_takes_$2])], [
    astro_saved_CFLAGS=$CFLAGS
    CFLAGS="$CFLAGS -Werror $2"
    AC_LINK_IFELSE([AC_LANG_PROGRAM([[#include <string.h>]], [[char text[8]; return strcpy(text, "a")[0] == 'b';]])],
      [AS_TR_SH([astro_cv_takes_$2])=yes], [AS_TR_SH([astro_cv_takes_$2])=no])
    CFLAGS=$astro_saved_CFLAGS])
  AS_IF([test "x$AS_TR_SH([astro_cv_takes_$2])" = xyes], [$1="$$1 $2"; $3])
])

AC_DEFUN([ASTRO_HARDENING], [
  AC_REQUIRE([AC_PROG_CC])
  AC_ARG_ENABLE([hardening],
    [AS_HELP_STRING([--disable-hardening], [without stack protector, fortified functions and read-only relocations])],
    [], [enable_hardening=yes])
  HARDENING_CFLAGS= HARDENING_LDFLAGS=
  AS_IF([test "x$enable_hardening" != xno], [
    ASTRO_HARDENING_FLAG([HARDENING_CFLAGS], [-fstack-protector-strong],
      [AC_DEFINE([ASTRO_STACK_PROTECTOR], [1], [The compiler guards stacks.])])
    ASTRO_HARDENING_FLAG([HARDENING_LDFLAGS], [-Wl,-z,relro,-z,now],
      [AC_DEFINE([ASTRO_RELRO], [1], [What the loader has written is read-only after that.])])
    AC_CACHE_CHECK([whether CFLAGS optimise], [astro_cv_optimise],
      [AC_COMPILE_IFELSE([AC_LANG_PROGRAM([[
#ifndef __OPTIMIZE__
#error it does not
#endif
        ]])], [astro_cv_optimise=yes], [astro_cv_optimise=no])])
    AS_IF([test "x$astro_cv_optimise" = xyes && test "x$enable_sanitizers" = xno],
      [AS_CASE([" $CFLAGS "], [*-fsanitize*], [],
        [ASTRO_HARDENING_FLAG([HARDENING_CFLAGS], [-U_FORTIFY_SOURCE -D_FORTIFY_SOURCE=2],
          [AC_DEFINE([ASTRO_FORTIFIED], [1], [Functions on memory of a known size check it.])])])])])
  AC_SUBST([HARDENING_CFLAGS])
  AC_SUBST([HARDENING_LDFLAGS])
  # nvcc passes options to the linker in another way.
  AC_SUBST([HARDENING_NVCC_LDFLAGS], [$(echo "$HARDENING_LDFLAGS" | sed 's/-Wl,/-Xlinker /g')])
  astro_hardening_summary=${HARDENING_CFLAGS:+yes}
  astro_hardening_summary=${astro_hardening_summary:-no}
])
