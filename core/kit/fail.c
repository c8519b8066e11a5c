/* Sets an error and returns FALSE. */
#include "core/kit/fail.h"

gboolean astro_fail(GError **error, GQuark domain, gint code, const char *format, ...)
{
  va_list arguments;
  va_start(arguments, format);
  if (error)
    *error = g_error_new_valist(domain, code, format, arguments);
  va_end(arguments);
  return FALSE;
}
