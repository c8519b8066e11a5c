/* Names of files with the time in them. */
#include "config.h"
#include "core/lib/files/utc-name.h"

#include <erfa.h>
#include <gio/gio.h>
#include <string.h>

#define MJD_ZERO 2400000.5
#define NS_A_SECOND G_GUINT64_CONSTANT(1000000000)
#define LETTERS "YmdHMSjfi"
#define WHOLE_TIME "-%Y%m%dT%H%M%S.%f"

gboolean astro_utc_name_check(const char *pattern, GError **error)
{
  for (const char *at = strchr(pattern, '%'); at; at = strchr(at + 2, '%'))
    if (!at[1] || !strchr(LETTERS "%", at[1])) {
      g_set_error(error, G_IO_ERROR, G_IO_ERROR_INVALID_FILENAME,
                  "the name %s has %%%.1s, expected %%Y %%m %%d %%H %%M %%S %%j %%f %%i or %%%%",
                  pattern, at + 1);
      return FALSE;
    }
  return TRUE;
}

gboolean astro_utc_name_is_pattern(const char *pattern)
{
  for (const char *at = strchr(pattern, '%'); at && at[1]; at = strchr(at + 2, '%'))
    if (at[1] != '%')
      return TRUE;
  return FALSE;
}

char *astro_utc_name_complete(const char *name)
{
  if (astro_utc_name_is_pattern(name))
    return g_strdup(name);
  const char *slash = strrchr(name, '/');
  const char *file = slash ? slash + 1 : name;
  const char *dot = *file ? strrchr(file + 1, '.') : NULL;
  const gsize before = dot ? (gsize)(dot - name) : strlen(name);
  return g_strdup_printf("%.*s%s%s", (int)before, name, WHOLE_TIME, name + before);
}

typedef struct {
  int year, month, day, day_of_year;
  guint64 second, ns; /* of the day, of the second */
  guint number;
} Time;

static void append(GString *name, char letter, const Time *t)
{
  switch (letter) {
  case 'Y':
    g_string_append_printf(name, "%04d", t->year);
    break;
  case 'm':
    g_string_append_printf(name, "%02d", t->month);
    break;
  case 'd':
    g_string_append_printf(name, "%02d", t->day);
    break;
  case 'j':
    g_string_append_printf(name, "%03d", t->day_of_year);
    break;
  case 'H':
    g_string_append_printf(name, "%02" G_GUINT64_FORMAT, t->second / 3600);
    break;
  case 'M':
    g_string_append_printf(name, "%02" G_GUINT64_FORMAT, t->second / 60 % 60);
    break;
  case 'S':
    g_string_append_printf(name, "%02" G_GUINT64_FORMAT, t->second % 60);
    break;
  case 'f':
    g_string_append_printf(name, "%06" G_GUINT64_FORMAT, t->ns / 1000);
    break;
  case 'i':
    g_string_append_printf(name, "%05u", t->number);
    break;
  default:
    g_string_append_c(name, letter);
  }
}

char *astro_utc_name(const char *pattern, gint32 mjd, guint64 ns, guint number)
{
  const gint32 days = (gint32)(ns / (86400 * NS_A_SECOND));
  Time t = { .second = ns / NS_A_SECOND % 86400, .ns = ns % NS_A_SECOND, .number = number };
  double fraction, zero, first;
  eraJd2cal(MJD_ZERO, mjd + days, &t.year, &t.month, &t.day, &fraction);
  eraCal2jd(t.year, 1, 1, &zero, &first);
  t.day_of_year = (int)(mjd + days - first) + 1;
  GString *name = g_string_new(NULL);
  for (const char *at = pattern; *at; at++)
    if (*at == '%' && at[1])
      append(name, *++at, &t);
    else
      g_string_append_c(name, *at);
  return g_string_free(name, FALSE);
}
