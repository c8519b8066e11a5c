/* Files of visibilities as sources read them, whatever their kind: what is in a file, and its
 * integrations in order of time. */
#pragma once

#include "core/lib/rows/weights.h"
#include "core/stream/observation.h"
#include "core/stream/stream.h"

G_BEGIN_DECLS

typedef struct {
  AstroStream stream;
  guint stations;
  AstroObservation *observation;
  guint64 begin_ns;    /* of the first integration, since the observation's start */
  guint64 duration_ns; /* from the observation's start to the end of the last integration */
  guint64 step_ns;
  char *note; /* a warning; NULL: none */
  char *told; /* what was done to the data, for the user to know; NULL: nothing */
} AstroRowContents;
void astro_row_contents_clear(AstroRowContents *contents);

/* One integration. The caller sets data and counts, with room for all values, uvw if the
 * observation has uvw_metres, and absent or NULL. */
typedef struct {
  float *data;
  guint32 *counts;
  double *uvw;        /* metres, 3 per baseline */
  guint8 *absent;     /* whether a baseline has no row */
  guint32 full;       /* the count of a value without losses */
  guint64 not_finite; /* values with a count that are NaN or infinite: their counts are 0 */
  gint64 start_ns;    /* since the observation's start */
  guint64 duration_ns;
} AstroRowFrame;

/* How a kind of file is read. Errors name the file; they are ASTRO_ROWS_ERROR, or
 * ASTRO_BACKEND_ERROR_GIVEN_UP as the thread was asked to stop. */
typedef struct {
  const char *name; /* for messages: "uvh5 file" */
  gpointer (*open)(const char *location, gconstpointer options, GError **error);
  const AstroRowContents *(*contents)(gpointer reader);
  /* The range of all weights, and the factor and the largest count to be used in place of those
   * that suit this file alone. */
  const AstroWeightRange *(*weights)(gpointer reader);
  void (*scale_weights)(gpointer reader, double scale, guint32 full);
  /* FALSE with *end set after the last integration. */
  gboolean (*read)(gpointer reader, AstroRowFrame *frame, gboolean *end, GError **error);
  void (*close)(gpointer reader);
} AstroRowReaderKind;

G_END_DECLS
