/* Reports of a qualification: JSON, and a page in HTML. */
#pragma once

#include "core/machine/machine.h"
#include "graphs/qualify-result.h"

G_BEGIN_DECLS

typedef struct {
  const AstroMachine *machine;
  char *host, *versions; /* what it ran on and with, in words */
  guint32 seed;
  gboolean is_quick;
  double seconds;     /* that it took */
  GPtrArray *results; /* AstroQualifyResult * */
  GPtrArray *worse;   /* char *: what is worse than in an older report; NULL: none was given */
} AstroQualifyReport;

/* Writes NAME.json and NAME.html. */
gboolean astro_qualify_write(const AstroQualifyReport *report, const char *name, GError **error);

/* Lines on what is worse than in the report of that file: requirements that held and do not, and
 * rates that fell by more than a third. NULL, with an error, if it is not such a report. */
GPtrArray *astro_qualify_compare(const GPtrArray *results, const char *path, GError **error);

G_END_DECLS
