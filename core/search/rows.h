/* Candidates as lines of a table, comma-separated. */
#pragma once

#include <glib.h>

G_BEGIN_DECLS

typedef struct {
  const char *utc; /* of its middle; NULL: unknown */
  double seconds;  /* of its middle, since the start of the observation */
  guint64 index;   /* its first step */
  gboolean has_dm;
  double dm, dm_low, dm_high; /* pc/cm^3: its own, and those of its group */
  double width;               /* seconds */
  guint64 steps;
  double snr;
  const char *name; /* of the beam or station; NULL: there is only one */
  guint hits;       /* in its group */
} AstroSearchRow;

extern const char astro_search_rows_header[];
char *astro_search_row_to_line(const AstroSearchRow *row);

G_END_DECLS
