/* Writes a stream of visibilities as a Measurement Set. */
#include "core/sets/sets.h"

#include <math.h>

#include "core/kit/units.h"
#include "core/lib/files/part-folder.h"
#include "core/lib/rows/field-name.h"
#include "core/lib/rows/observed.h"
#include "core/stream/track.h"
#include "core/stream/uvw.h"

#define SECONDS_PER_DAY 86400.0
/* Rows are gathered until there are so many bytes of values, since casacore takes some time for
 * each call. */
#define GATHER_BYTES (1u << 20)
/* Rows have channels together, and streams baselines: so many channels of all rows that are
 * gathered are put at a time, so that the lines of memory that they share stay in the cache. */
#define CHANNELS_TOGETHER 16
#define NO_SIGMA (-1.0f) /* as CASA has it for values without a weight */

/* Products in the order of a set, with the pols of both antennas. */
static const guint8 products[4][2] = { { 0, 0 }, { 0, 1 }, { 1, 0 }, { 1, 1 } };

struct _AstroSetWriter {
  AstroPartFolder *folder;
  AstroSetTables *tables;
  AstroStream stream;
  AstroObservation *observation;
  AstroTrack *track;
  guint channels, products;
  guint64 baselines, together; /* rows that are added at once */
  double scale;
  double *station_uvw;   /* of each station */
  AstroRowPlace *places; /* of an integration's rows */
  gint *antenna1, *antenna2;
  double *uvw;
  float *values, *weights, *row_weights, *row_sigmas;
  guint8 *flags;
  double begin, end; /* of what was written */
};

AstroSetWriter *astro_set_writer_new(const char *location, GError **error)
{
  AstroPartFolder *folder = astro_part_folder_create(location, ASTRO_SET_MARK, error);
  if (!folder)
    return NULL;
  AstroSetWriter *w = g_new0(AstroSetWriter, 1);
  w->folder = folder;
  return w;
}

static void free_writer(AstroSetWriter *w)
{
  g_clear_pointer(&w->tables, astro_set_close);
  g_clear_pointer(&w->track, astro_track_free);
  g_clear_pointer(&w->observation, astro_observation_unref);
  gpointer arrays[] = { w->station_uvw, w->antenna1, w->antenna2,    w->uvw,        w->values,
                        w->weights,     w->flags,    w->row_weights, w->row_sigmas, w->places };
  for (guint i = 0; i < G_N_ELEMENTS(arrays); i++)
    g_free(arrays[i]);
  g_free(w);
}

void astro_set_writer_discard(AstroSetWriter *w)
{
  AstroPartFolder *folder = w->folder;
  free_writer(w);
  astro_part_folder_discard(folder);
}

/* ---- what is told once ---- */

static void describe_ours(const AstroSetWriter *w, AstroSetOurs *ours)
{
  const AstroObservation *o = w->observation;
  const AstroEarth *earth = o->earth;
  ours->start_mjd = o->start_mjd;
  ours->start_ns = (gint64)o->start_ns;
  ours->delays_are_in = astro_history_delays(&o->done, w->stream.quantity) == ASTRO_DELAYS_IN;
  if (!earth)
    return;
  ours->earth = g_strdup(earth->name);
  ours->earth_mjd = earth->first_mjd;
  ours->earth_days = earth->n;
  ours->earth_values = g_new(double, 3 * earth->n);
  for (guint i = 0; i < earth->n; i++) {
    ours->earth_values[3 * i] = earth->days[i].pole_x;
    ours->earth_values[3 * i + 1] = earth->days[i].pole_y;
    ours->earth_values[3 * i + 2] = earth->days[i].ut1_utc;
  }
}

static void describe(const AstroSetWriter *w, AstroSetAbout *about)
{
  const AstroObservation *o = w->observation;
  const AstroStream *s = &w->stream;
  const gint first = g_str_equal(o->basis, "circular") ? ASTRO_SET_RR
                     : g_str_equal(o->basis, "stokes") ? ASTRO_SET_STOKES_I
                                                       : ASTRO_SET_XX;
  about->telescope = g_strdup(o->telescope);
  about->n_antennas = o->n_stations;
  about->antennas = g_strdupv(o->names);
  about->positions = g_memdup2(o->positions, 3 * o->n_stations * sizeof(double));
  about->n_fields = about->n_bands = about->n_setups = 1;
  about->fields = g_new0(AstroSetField, 1);
  about->fields->name = astro_field_name(o);
  about->fields->ra = o->phase_ra;
  about->fields->dec = o->phase_dec;
  about->bands = g_new0(AstroSetBand, 1);
  about->bands->n_channels = w->channels;
  about->bands->frequencies = g_new(double, w->channels);
  about->bands->widths = g_new(double, w->channels);
  for (guint c = 0; c < w->channels; c++) {
    about->bands->frequencies[c] =
        astro_channel_frequency(s->frequency, s->bandwidth, w->channels, c);
    about->bands->widths[c] = s->bandwidth / w->channels;
  }
  about->setups = g_new0(AstroSetSetup, 1);
  about->setups->n_products = w->products;
  about->setups->products = g_new(gint, w->products);
  for (guint p = 0; p < w->products; p++)
    about->setups->products[p] = first + (gint)p;
  about->unit = g_strdup(astro_history_jansky(&o->done) > 0 ? "Jy" : "");
  describe_ours(w, &about->ours);
}

static void allocate(AstroSetWriter *w)
{
  const guint64 cells = (guint64)w->channels * w->products;
  w->together = CLAMP(GATHER_BYTES / (8 * cells), 1, w->baselines);
  w->station_uvw = g_new(double, 3 * w->observation->n_stations);
  w->antenna1 = g_new(gint, w->together);
  w->antenna2 = g_new(gint, w->together);
  w->uvw = g_new(double, 3 * w->together);
  w->values = g_new(float, 2 * w->together * cells);
  w->weights = g_new(float, w->together *cells);
  w->flags = g_new(guint8, w->together * cells);
  w->places = g_new(AstroRowPlace, w->baselines);
  w->row_weights = g_new(float, w->together * w->products);
  w->row_sigmas = g_new(float, w->together * w->products);
}

gboolean astro_set_writer_begin(AstroSetWriter *w, const AstroStream *stream, guint stations,
                                AstroObservation *observation, GError **error)
{
  AstroSetAbout about = { 0 };
  if (!astro_rows_check("a Measurement Set", ASTRO_SET_MAX_STATIONS, stream, stations, observation,
                        error))
    return FALSE;
  const guint pols = (guint)astro_stream_extent(stream, ASTRO_AXIS_POL);
  const double jansky = astro_history_jansky(&observation->done);
  w->stream = *stream;
  w->observation = astro_observation_ref(observation);
  w->track = astro_track_new(observation);
  w->channels = (guint)astro_stream_extent(stream, ASTRO_AXIS_CHANNEL);
  w->products = pols * pols;
  w->baselines = astro_stream_extent(stream, ASTRO_AXIS_BASELINE);
  w->scale = jansky > 0 ? jansky : 1;
  allocate(w);
  describe(w, &about);
  w->tables = astro_set_create(astro_part_folder_path(w->folder), &about, error);
  astro_set_about_clear(&about);
  return w->tables != NULL;
}

/* ---- rows ---- */

/* The weight of a row is the mean of those of its channels that have one. */
static void weigh_row(AstroSetWriter *w, guint64 row)
{
  for (guint p = 0; p < w->products; p++) {
    double sum = 0;
    guint n = 0;
    for (guint c = 0; c < w->channels; c++) {
      const float weight = w->weights[(row * w->channels + c) * w->products + p];
      sum += weight;
      n += weight > 0;
    }
    const float weight = n ? (float)(sum / n) : 0;
    w->row_weights[row * w->products + p] = weight;
    w->row_sigmas[row * w->products + p] = weight > 0 ? 1 / sqrtf(weight) : NO_SIGMA;
  }
}

static void put_row(AstroSetWriter *w, const AstroRowValues *values, guint64 frame,
                    guint64 baseline, guint64 row, guint first, guint end, AstroRowTally *tally)
{
  guint64 at = (row * w->channels + first) * w->products;
  for (guint c = first; c < end; c++)
    for (guint p = 0; p < w->products; p++, at++) {
      float value[3];
      astro_row_value(values, frame, c, baseline, products[p], value, tally);
      w->values[2 * at] = value[0];
      w->values[2 * at + 1] = value[1];
      w->weights[at] = value[2];
      w->flags[at] = !(value[2] > 0);
    }
}

static void put_rows(AstroSetWriter *w, const AstroRowValues *values, guint64 frame,
                     const AstroRowPlace *places, guint64 n, AstroRowTally *tally)
{
  for (guint first = 0; first < w->channels; first += CHANNELS_TOGETHER)
    for (guint64 row = 0; row < n; row++)
      put_row(w, values, frame, places[row].baseline, row, first,
              MIN(first + CHANNELS_TOGETHER, w->channels), tally);
  for (guint64 row = 0; row < n; row++)
    weigh_row(w, row);
}

/* given: (u,v,w) of our baseline (i,j), whose sign is opposite to that of the row. */
static void put_place(AstroSetWriter *w, guint i, guint j, const double *given, guint64 row)
{
  w->antenna1[row] = (gint)j;
  w->antenna2[row] = (gint)i;
  for (guint k = 0; k < 3; k++)
    w->uvw[3 * row + k] = given ? -given[k] : w->station_uvw[3 * j + k] - w->station_uvw[3 * i + k];
}

static double seconds_of(const AstroSetWriter *w, gint64 ns)
{
  return w->observation->start_mjd * SECONDS_PER_DAY +
         ((double)w->observation->start_ns + (double)ns) / ASTRO_NS_PER_SECOND;
}

static gboolean put_frame(AstroSetWriter *w, const AstroRowFrames *frames,
                          const AstroRowValues *values, guint64 index, AstroRowTally *tally,
                          GError **error)
{
  const guint64 all = (guint64)frames->duration_ns;
  const gint64 begin = (gint64)gst_util_uint64_scale(all, index, frames->frames);
  const gint64 end = (gint64)gst_util_uint64_scale(all, index + 1, frames->frames);
  const gint64 middle = frames->start_ns + begin + (end - begin) / 2;
  const double *given = frames->uvw ? frames->uvw + 3 * index * w->baselines : NULL;
  double axes[3][3];
  if (!astro_uvw_check_time(w->observation, middle, error))
    return FALSE;
  astro_track_axes(w->track, middle, axes);
  astro_uvw_along(w->observation, axes, w->station_uvw);
  const guint64 all_rows = astro_row_values_places(values, index, frames->absent, w->places);
  for (guint64 first = 0; first < all_rows; first += w->together) {
    const guint64 n = MIN(w->together, all_rows - first);
    for (guint64 row = 0; row < n; row++) {
      const AstroRowPlace *place = &w->places[first + row];
      put_place(w, place->i, place->j, given ? given + 3 * place->baseline : NULL, row);
    }
    put_rows(w, values, index, &w->places[first], n, tally);
    const AstroSetRows rows = {
      .n = (guint)n,
      .antenna1 = w->antenna1,
      .antenna2 = w->antenna2,
      .uvw = w->uvw,
      .middle = seconds_of(w, middle),
      .length = (double)(end - begin) / ASTRO_NS_PER_SECOND,
      .values = w->values,
      .flags = w->flags,
      .weights = w->weights,
      .row_weights = w->row_weights,
      .row_sigmas = w->row_sigmas,
    };
    if (!astro_set_add_rows(w->tables, &rows, error))
      return FALSE;
  }
  return TRUE;
}

gboolean astro_set_writer_write(AstroSetWriter *w, const AstroRowFrames *frames,
                                AstroRowTally *tally, GError **error)
{
  AstroRowValues values;
  AstroRowTally here = { 0 };
  gboolean done = TRUE;
  if (!astro_row_values_begin(&values, &w->stream, frames->data, frames->frames, frames->validity,
                              w->scale, error))
    return FALSE;
  for (guint64 k = 0; k < frames->frames && done; k++)
    done = put_frame(w, frames, &values, k, &here, error);
  astro_row_values_end(&values);
  astro_row_tally_add(tally, &here);
  w->begin = w->end > 0 ? w->begin : seconds_of(w, frames->start_ns);
  w->end = seconds_of(w, frames->start_ns + frames->duration_ns);
  return done;
}

gboolean astro_set_writer_finish(AstroSetWriter *w, GError **error)
{
  AstroPartFolder *folder = w->folder;
  const gboolean is_whole = astro_set_complete(w->tables, w->begin, w->end, error);
  free_writer(w);
  if (is_whole)
    return astro_part_folder_commit(folder, error);
  astro_part_folder_discard(folder);
  return FALSE;
}
