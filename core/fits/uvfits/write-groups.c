/* Writes groups of UVFITS. */
#include "core/fits/uvfits/writer.h"
#include "core/kit/units.h"

#include <math.h>
#include <string.h>

#define MAX_BASELINE_NUMBERS 255 /* stations that 256 a1 + a2 can express */
/* Groups are gathered before they are written: enough to read whole cache lines of the input, where
 * baselines are next to each other, and few enough to stay in the cache. */
#define GATHER_BYTES (256u << 10)
#define GATHER_GROUPS 16
/* DATE is the sum of two floats. The first is a multiple of this step (0.01 s), which a float holds
 * exactly for two days; the second is the rest. Together they are exact to a nanosecond. */
#define DATE_STEPS_PER_DAY 8388608.0

static const AstroUvfitsParameter few_stations[] = {
  UU, VV, WW, DATE, DATE_REST, BASELINE, INTTIM
};
static const AstroUvfitsParameter many_stations[] = { UU,       VV,        WW,
                                                      DATE,     DATE_REST, ANTENNA1,
                                                      ANTENNA2, SUBARRAY,  INTTIM };

void astro_uvfits_init_groups(AstroUvfitsWriter *w)
{
  const guint n_stations = w->contents.observation->n_stations;
  const gboolean many = n_stations > MAX_BASELINE_NUMBERS;
  w->parameters = many ? many_stations : few_stations;
  w->n_parameters = many ? G_N_ELEMENTS(many_stations) : G_N_ELEMENTS(few_stations);
  w->group_floats = w->n_parameters + 3 * (gsize)w->products * w->channels;
  w->gather_groups = CLAMP(GATHER_BYTES / (4 * w->group_floats), 1, GATHER_GROUPS);
  w->gather = g_new(guint32, w->gather_groups * w->group_floats);
  w->track = astro_track_new(w->contents.observation);
  w->uvw = g_new(double, 3 * n_stations);
}

void astro_uvfits_clear_groups(AstroUvfitsWriter *w)
{
  g_free(w->gather);
  g_free(w->uvw);
  g_clear_pointer(&w->track, astro_track_free);
}

/* ---- counts of good samples ---- */

/* Finds the count of a value: its position is the sum of one entry for each of its indices. */
typedef struct {
  const AstroValidityMeta *meta; /* NULL: no counts */
  guint64 *of[ASTRO_MAX_AXES];   /* an entry per index of each axis of the shape */
  AstroLayout shape;             /* axes as in the buffer */
} CountTable;

static void clear_counts(CountTable *table)
{
  for (guint i = 0; i < table->shape.n_axes; i++)
    g_free(table->of[i]);
}

static gboolean make_counts(CountTable *table, const AstroStream *stream,
                            const AstroFitsFrames *frames, GError **error)
{
  AstroValidityAxis axes[ASTRO_MAX_AXES];
  const AstroValidityMeta *meta = frames->validity;

  memset(table, 0, sizeof *table);
  table->meta = meta;
  if (!meta)
    return TRUE;
  astro_stream_shape(stream, frames->frames, &table->shape);
  if (!astro_validity_check(meta, &table->shape, error)) {
    table->shape.n_axes = 0;
    return FALSE;
  }
  astro_validity_axes(meta, &table->shape, axes);
  for (guint i = 0; i < table->shape.n_axes; i++) {
    guint64 extent = table->shape.extents[i];
    table->of[i] = g_new(guint64, extent);
    for (guint64 k = 0; k < extent; k++)
      table->of[i][k] = k / axes[i].group * axes[i].stride;
  }
  return TRUE;
}

/* ---- groups ---- */

static inline guint32 big_endian(float value)
{
  guint32 bits;
  memcpy(&bits, &value, sizeof bits);
  return GUINT32_TO_BE(bits);
}

/* given: (u,v,w) of our baseline, whose sign is opposite to that of the pair; NULL: computed from
 * stations. */
static void put_parameters(const AstroUvfitsWriter *w, guint32 *group, guint i, guint j,
                           const double *given, double days, double seconds)
{
  float values[N_KNOWN_PARAMETERS];
  const double *u1 = &w->uvw[3 * j], *u2 = &w->uvw[3 * i];
  double coarse = floor(days * DATE_STEPS_PER_DAY) / DATE_STEPS_PER_DAY;

  for (guint k = 0; k < 3; k++)
    values[UU + k] = (float)((given ? -given[k] : u1[k] - u2[k]) / ASTRO_LIGHT_SPEED);
  values[DATE] = (float)coarse;
  values[DATE_REST] = (float)(days - values[DATE]);
  values[BASELINE] = 256.0f * (j + 1) + (i + 1);
  values[ANTENNA1] = j + 1;
  values[ANTENNA2] = i + 1;
  values[SUBARRAY] = 1;
  values[INTTIM] = (float)seconds;
  for (guint k = 0; k < w->n_parameters; k++)
    group[k] = big_endian(values[w->parameters[k]]);
}

/* Gets a visibility as a mean, from a sum or a mean, in Jy if the scale is known. FALSE: it is NaN
 * or infinite. */
static gboolean get_mean(const AstroUvfitsWriter *w, gconstpointer data, guint64 at, guint32 count,
                         float value[2])
{
  if (w->contents.stream.format == ASTRO_FORMAT_CF32LE) {
    memcpy(value, (const float *)data + 2 * at, 2 * sizeof *value);
    value[0] = (float)(value[0] * w->jansky);
    value[1] = (float)(value[1] * w->jansky);
    return isfinite(value[0]) && isfinite(value[1]);
  }
  const gint32 *sum = (const gint32 *)data + 2 * at;
  double scale = w->jansky / MAX(count, 1);
  value[0] = (float)(sum[0] * scale);
  value[1] = (float)(sum[1] * scale);
  return TRUE;
}

static void add_to_tally(AstroFitsTally *tally, const AstroFitsTally *more)
{
  tally->values += more->values;
  tally->flagged += more->flagged;
  tally->not_finite += more->not_finite;
  tally->most = MAX(tally->most, more->most);
  if (more->most)
    tally->least = tally->least ? MIN(tally->least, more->least) : more->least;
}

/* Fills in the values of n groups of one frame, from baseline `first` on. */
static void put_values(const AstroUvfitsWriter *w, gconstpointer frame, const CountTable *counts,
                       guint64 frame_index, guint64 first, guint n, AstroFitsTally *tally)
{
  AstroFitsTally here = { .values = (guint64)w->channels * n * w->products, .least = G_MAXUINT32 };
  guint lead = counts->shape.n_axes == 5; /* there is a time axis before the others */
  guint64 in_time = counts->meta && lead ? counts->of[0][frame_index] : 0;

  for (guint c = 0; c < w->channels; c++)
    for (guint b = 0; b < n; b++) {
      guint64 at = ((guint64)c * w->baselines + first + b) * w->products;
      guint32 *out = w->gather + b * w->group_floats + w->n_parameters + 3 * (gsize)w->products * c;
      guint64 counted =
          counts->meta ? in_time + counts->of[lead][c] + counts->of[lead + 1][first + b] : 0;
      for (guint s = 0; s < w->products; s++, out += 3) {
        const guint8 *pols = astro_row_products[s].pols;
        guint32 count = 1;
        float value[2];
        if (counts->meta)
          count =
              counts->meta
                  ->counts[counted + counts->of[lead + 2][pols[1]] + counts->of[lead + 3][pols[0]]];
        gboolean finite = get_mean(w, frame, at + pols[1] * w->pols + pols[0], count, value);
        gboolean valid = finite && count > 0;
        here.not_finite += !finite && count > 0;
        here.flagged += !valid;
        here.least = valid ? MIN(here.least, count) : here.least;
        here.most = valid ? MAX(here.most, count) : here.most;
        out[0] = big_endian(valid ? value[0] : 0);
        out[1] = big_endian(valid ? -value[1] : 0);
        out[2] = big_endian(valid ? count : 0);
      }
    }
  add_to_tally(tally, &here);
}

static gboolean put_frame(AstroUvfitsWriter *w, const AstroFitsFrames *frames,
                          const CountTable *counts, guint64 index, AstroFitsTally *tally,
                          GError **error)
{
  const guint8 *frame =
      (const guint8 *)frames->data + index * astro_stream_step_bytes(&w->contents.stream);
  /* Half nanoseconds are dropped here in the same way as by the reader. */
  gint64 begin = gst_util_uint64_scale(frames->duration_ns, index, frames->frames);
  gint64 end = gst_util_uint64_scale(frames->duration_ns, index + 1, frames->frames);
  gint64 middle = frames->start_ns + begin + (end - begin) / 2;
  double days = (w->contents.observation->start_ns + (double)middle) / ASTRO_NS_PER_DAY;
  const double *uvw = frames->uvw ? frames->uvw + 3 * index * w->baselines : NULL;
  double axes[3][3];
  guint i = 0, j = 0;

  if (!astro_uvw_check_time(w->contents.observation, middle, error))
    return FALSE;
  /* a track, since nutation took longer than everything else for a short frame of few baselines */
  astro_track_axes(w->track, middle, axes);
  astro_uvw_along(w->contents.observation, axes, w->uvw);
  for (guint64 first = 0; first < w->baselines; first += w->gather_groups) {
    guint n = MIN(w->gather_groups, w->baselines - first);
    for (guint b = 0; b < n; b++) {
      put_parameters(w, w->gather + b * w->group_floats, i, j, uvw ? uvw + 3 * (first + b) : NULL,
                     days, (end - begin) * 1e-9);
      if (++j > i) {
        i++;
        j = 0;
      }
    }
    put_values(w, frame, counts, index, first, n, tally);
    if (!astro_part_file_write(w->file, w->gather, n * w->group_floats * sizeof *w->gather, error))
      return FALSE;
    w->groups += n;
  }
  return TRUE;
}

gboolean astro_uvfits_write_groups(gpointer writer, const AstroFitsFrames *frames,
                                   AstroFitsTally *tally, GError **error)
{
  AstroUvfitsWriter *w = writer;
  CountTable counts;
  gboolean done = TRUE;
  if (!make_counts(&counts, &w->contents.stream, frames, error))
    return FALSE;
  for (guint64 k = 0; k < frames->frames && done; k++)
    done = put_frame(w, frames, &counts, k, tally, error);
  clear_counts(&counts);
  return done;
}
