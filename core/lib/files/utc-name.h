/* Names of files with the time in them, for recordings that go on in another file.
 *
 * In a pattern %Y %m %d %H %M %S are year to second of a UTC time, %j is the day of the year, %f
 * the microsecond in six digits, %i the number of the file in five digits from 0, and %% is a
 * percent sign. */
#pragma once

#include <glib.h>

G_BEGIN_DECLS

/* An error names the letter that is not known. */
gboolean astro_utc_name_check(const char *pattern, GError **error);
/* Whether different times may give different names. */
gboolean astro_utc_name_is_pattern(const char *pattern);
/* The pattern itself if it is one; else -%Y%m%dT%H%M%S.%f stands before the ending of the name, as
 * in night-20261120T120000.000000.dada. */
char *astro_utc_name_complete(const char *name);
/* mjd and ns: a UTC day and the nanoseconds into it. The pattern has been checked. */
char *astro_utc_name(const char *pattern, gint32 mjd, guint64 ns, guint number);

G_END_DECLS
