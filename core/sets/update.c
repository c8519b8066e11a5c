/* Writes a stream of visibilities back into a column of a set that exists: calibrated or modelled
 * values, or flags. The rows are found as they were when the set was read. */
#include <math.h>
#include <string.h>

#include "core/kit/units.h"
#include "core/lib/rows/observed.h"
#include "core/sets/reader.h"

#define SAME_RADIANS 1e-9
#define SAME_HERTZ 1e-6 /* of a channel */

struct _AstroSetUpdate {
  AstroSetReader *reader; /* of the same set, open for writing */
  AstroStream stream;
  gboolean is_flags;
  double scale;
  gint64 earlier_ns; /* from the start of the set's observation to that of the stream's */
  guint64 written;   /* integrations */
};

AstroSetUpdate *astro_set_update_new(const char *location, const char *column, GError **error)
{
  const AstroSetOptions options = { .band = -1, .column = column, .uvw = ASTRO_SET_UVW_TABLE };
  AstroSetReader *reader = astro_set_reader_open_to_write(location, &options, error);
  if (!reader)
    return NULL;
  AstroSetUpdate *u = g_new0(AstroSetUpdate, 1);
  u->reader = reader;
  u->is_flags = g_str_equal(column, "FLAG");
  return u;
}

void astro_set_update_discard(AstroSetUpdate *u)
{
  astro_set_reader_close(u->reader);
  g_free(u);
}

/* ---- whether the stream is that of the set ---- */

static gboolean check_stations(const AstroSetUpdate *u, const AstroObservation *o, GError **error)
{
  const AstroObservation *own = u->reader->contents.observation;
  if (own->n_stations != o->n_stations)
    return astro_set_refuse(error, "the stream has %u stations, and the set has rows of %u",
                            o->n_stations, own->n_stations);
  for (guint i = 0; i < own->n_stations; i++)
    if (strcmp(own->names[i], o->names[i]) != 0)
      return astro_set_refuse(error, "station %u of the stream is %s, and that of the set is %s", i,
                              o->names[i], own->names[i]);
  return TRUE;
}

/* Phases about another direction would be written to rows whose UVW and field say this one. */
static gboolean check_centre(const AstroSetUpdate *u, const AstroObservation *o, GError **error)
{
  const AstroObservation *own = u->reader->contents.observation;
  const double ra = remainder(o->phase_ra - own->phase_ra, 2 * G_PI) * cos(own->phase_dec),
               apart = hypot(ra, o->phase_dec - own->phase_dec);
  return u->is_flags || apart <= SAME_RADIANS ||
         astro_set_refuse(error,
                          "the stream's phase centre is %.3g arcsec from that of the set's field, "
                          "expected the same",
                          apart * ASTRO_DEGREES * 3600);
}

static gboolean check_band(const AstroSetUpdate *u, const AstroStream *stream, GError **error)
{
  const AstroStream *own = &u->reader->contents.stream;
  const double channel = own->bandwidth / u->reader->channels;
  if (astro_layout_is_equal(&stream->layout, &own->layout) &&
      fabs(stream->frequency - own->frequency) <= SAME_HERTZ * channel &&
      fabs(stream->bandwidth - own->bandwidth) <= SAME_HERTZ * channel)
    return TRUE;
  g_autoptr(GstCaps) found = astro_stream_to_caps(stream);
  g_autoptr(GstCaps) expected = astro_stream_to_caps(own);
  g_autofree char *found_text = gst_caps_to_string(found),
                  *expected_text = gst_caps_to_string(expected);
  return astro_set_refuse(
      error,
      "the stream has other channels, baselines or products than the set: found "
      "%s, expected %s",
      found_text, expected_text);
}

gboolean astro_set_update_begin(AstroSetUpdate *u, const AstroStream *stream, guint stations,
                                AstroObservation *o, GError **error)
{
  const AstroObservation *own = u->reader->contents.observation;
  if (!astro_rows_check("a Measurement Set", ASTRO_SET_MAX_STATIONS, stream, stations, o, error) ||
      !check_stations(u, o, error) || !check_centre(u, o, error) || !check_band(u, stream, error))
    return FALSE;
  const double jansky = astro_history_jansky(&o->done);
  u->scale = jansky > 0 && own->done.scale > 0 ? jansky : 1;
  u->stream = *stream;
  u->earlier_ns = (o->start_mjd - own->start_mjd) * (gint64)ASTRO_NS_PER_DAY +
                  ((gint64)o->start_ns - (gint64)own->start_ns);
  return TRUE;
}

/* ---- rows ---- */

/* The integration of the set at that time. */
static gboolean find_frame(const AstroSetUpdate *u, gint64 middle, guint64 *frame, GError **error)
{
  const AstroRows *rows = u->reader->rows;
  guint64 low = 0, high = rows->n_frames;
  const gint64 slack = rows->step_ns / 4;
  while (low < high) {
    const guint64 at = (low + high) / 2;
    if (astro_rows_middle(rows, at) < middle - slack)
      low = at + 1;
    else
      high = at;
  }
  *frame = low;
  if (low < rows->n_frames && astro_rows_middle(rows, low) <= middle + slack)
    return TRUE;
  return astro_set_refuse(error,
                          "the set has no integration at %.6f s after its start, where the stream "
                          "has one: expected the times of the set",
                          (double)middle / ASTRO_NS_PER_SECOND);
}

/* Where the stream has no good value, the set keeps its own. */
static void put_values(const AstroSetUpdate *u, const AstroSetWindow *w, guint64 row,
                       const AstroRowValues *values, guint64 frame, AstroRowTally *tally)
{
  const AstroSetReader *r = u->reader;
  const guint products = r->setup->n_products;
  const guint64 baseline = astro_rows_baseline(r->rows, row);
  const gboolean exchanged = r->rows->station[0][row] > r->rows->station[1][row];
  for (guint c = 0; c < w->channels; c++)
    for (guint p = 0; p < ASTRO_ROW_PRODUCTS; p++) {
      if (r->place[p] < 0)
        continue;
      const guint8 *pols = astro_row_products[p].pols;
      const guint8 of[2] = { pols[exchanged], pols[!exchanged] };
      const guint64 at =
          (guint64)(w->upside_down ? w->channels - 1 - c : c) * products + (guint)r->place[p];
      float value[3];
      astro_row_value(values, frame, w->first + c, baseline, of, value, tally);
      r->flags[at] = !(value[2] > 0);
      if (!(value[2] > 0))
        continue;
      r->values[2 * at] = value[0];
      r->values[2 * at + 1] = exchanged != r->conjugated ? -value[1] : value[1];
    }
}

static gboolean put_row(AstroSetUpdate *u, const AstroSetWindow *w, guint64 row,
                        const AstroRowValues *values, guint64 frame, AstroRowTally *tally,
                        GError **error)
{
  AstroSetReader *r = u->reader;
  const guint64 place = w->row[row];
  if (place == ASTRO_SET_NO_ROW)
    return TRUE;
  if (!astro_set_read_rows(r->tables, r->column, place, 1, w->channels, r->setup->n_products,
                           u->is_flags ? NULL : r->values, NULL, NULL, error))
    return FALSE;
  put_values(u, w, row, values, frame, tally);
  return astro_set_put_row(r->tables, r->column, place, w->channels, r->setup->n_products,
                           u->is_flags ? NULL : r->values, u->is_flags ? r->flags : NULL, error);
}

static gboolean put_frame(AstroSetUpdate *u, const AstroRowFrames *frames,
                          const AstroRowValues *values, guint64 index, AstroRowTally *tally,
                          GError **error)
{
  const AstroSetReader *r = u->reader;
  const guint64 all = (guint64)frames->duration_ns;
  const gint64 begin = (gint64)gst_util_uint64_scale(all, index, frames->frames),
               end = (gint64)gst_util_uint64_scale(all, index + 1, frames->frames);
  guint64 at;
  if (!find_frame(u, u->earlier_ns + frames->start_ns + begin + (end - begin) / 2, &at, error))
    return FALSE;
  for (guint64 k = r->rows->frame[at]; k < r->rows->frame[at + 1]; k++)
    for (guint i = 0; i < r->n_windows; i++)
      if (!put_row(u, &r->windows[i], r->rows->order[k], values, index, tally, error))
        return FALSE;
  u->written++;
  return TRUE;
}

gboolean astro_set_update_write(AstroSetUpdate *u, const AstroRowFrames *frames,
                                AstroRowTally *tally, GError **error)
{
  AstroRowValues values;
  AstroRowTally here = { 0 };
  gboolean done = TRUE;
  if (!astro_row_values_begin(&values, &u->stream, frames->data, frames->frames, frames->validity,
                              u->scale, error))
    return FALSE;
  for (guint64 k = 0; k < frames->frames && done; k++)
    done = put_frame(u, frames, &values, k, &here, error);
  astro_row_values_end(&values);
  astro_row_tally_add(tally, &here);
  return done;
}

gboolean astro_set_update_finish(AstroSetUpdate *u, GError **error)
{
  const gboolean done = astro_set_flush(u->reader->tables, error);
  astro_set_update_discard(u);
  return done;
}
