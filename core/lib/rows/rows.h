/* Visibilities in files lie in rows, each of one baseline at one time, in any order and with some
 * missing. Arranges rows to the integrations of a stream: which belong together, when, and how long
 * a step of the stream is. */
#pragma once

#include "core/kit/fail.h"
#include "core/stream/observation.h"

G_BEGIN_DECLS

#define ASTRO_ROWS_ERROR astro_rows_error_quark()
typedef enum {
  ASTRO_ROWS_ERROR_OPEN,    /* the file cannot be opened, or is of another kind */
  ASTRO_ROWS_ERROR_FORMAT,  /* the content is wrong: says what was found and expected */
  ASTRO_ROWS_ERROR_READ,    /* reading fails */
  ASTRO_ROWS_ERROR_WRITE,   /* writing fails */
  ASTRO_ROWS_ERROR_MISSING, /* the stream lacks something that such a file needs */
} AstroRowsError;
GQuark astro_rows_error_quark(void);

typedef struct {
  /* Set by the reader of a file after astro_rows_new. */
  guint64 n;
  guint n_stations;
  const char *const *names; /* of the stations, for errors */
  gint32 day;               /* MJD, UTC */
  gint64 *middle_ns;        /* of each row, since 0h of the day */
  gint64 *length_ns;        /* 0: unknown */
  guint *station[2];
  gint64 rounding_ns; /* equal times may differ by this much */
  /* The start of the observation since 0h of the day, if the file has it more exactly than the
   * times of rows; else G_MININT64. */
  gint64 told_start_ns;

  /* Found by astro_rows_arrange. */
  guint64 *order; /* row numbers by time */
  guint64 n_frames;
  guint64 *frame;  /* where each integration begins in the order; n_frames + 1 entries */
  gint64 start_ns; /* of the observation, since 0h of the day */
  gint64 step_ns;  /* from one integration to the next, where there is no pause */
} AstroRows;

/* NULL if there is no memory for so many rows. */
AstroRows *astro_rows_new(guint64 n);
void astro_rows_free(AstroRows *rows);
G_DEFINE_AUTOPTR_CLEANUP_FUNC(AstroRows, astro_rows_free)

/* An error if a baseline occurs twice at one time. *note, to be freed, is a warning; else NULL. */
gboolean astro_rows_arrange(AstroRows *rows, char **note, GError **error);

/* The index of baseline(i,j), j <= i. */
static inline guint64 astro_rows_baseline(const AstroRows *rows, guint64 row)
{
  const guint64 a = rows->station[0][row], b = rows->station[1][row], i = MAX(a, b), j = MIN(a, b);
  return i * (i + 1) / 2 + j;
}
static inline guint64 astro_rows_baselines(const AstroRows *rows)
{
  return (guint64)rows->n_stations * (rows->n_stations + 1) / 2;
}

/* The time of an integration since the observation's start; the length is that of its first row. */
gint64 astro_rows_middle(const AstroRows *rows, guint64 frame);
gint64 astro_rows_length(const AstroRows *rows, guint64 frame);
/* The begin of the first integration, and the end of the last. */
guint64 astro_rows_begin(const AstroRows *rows);
guint64 astro_rows_duration(const AstroRows *rows);

/* Compares the file's (u,v,w), three per row in metres, of the second station minus the first, with
 * those computed from the observation. Returns NULL if both give the same picture, else what would
 * happen to a source, to be freed. axes: of (u,v,w) that do not follow a direction; NULL: those of
 * the phase centre. */
char *astro_rows_compare_uvw(const AstroRows *rows, const AstroObservation *observation,
                             const double *uvw, const double axes[3][3], double wavelength);

G_END_DECLS
