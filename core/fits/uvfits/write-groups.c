/* Writes groups of UVFITS. */
#include "core/fits/uvfits/writer.h"
#include "core/kit/units.h"
#include "core/lib/rows/values.h"

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
  w->places = g_new(AstroRowPlace, w->baselines);
}

void astro_uvfits_clear_groups(AstroUvfitsWriter *w)
{
  g_free(w->gather);
  g_free(w->uvw);
  g_free(w->places);
  g_clear_pointer(&w->track, astro_track_free);
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

/* Fills in the values of n groups of one frame. */
static void put_values(const AstroUvfitsWriter *w, const AstroRowValues *values, guint64 frame,
                       const AstroRowPlace *places, guint n, AstroFitsTally *tally)
{
  AstroFitsTally here = { 0 };
  for (guint c = 0; c < w->channels; c++)
    for (guint b = 0; b < n; b++) {
      guint32 *out = w->gather + b * w->group_floats + w->n_parameters + 3 * (gsize)w->products * c;
      for (guint s = 0; s < w->products; s++, out += 3) {
        float value[3];
        astro_row_value(values, frame, c, places[b].baseline, astro_row_products[s].pols, value,
                        &here);
        for (guint k = 0; k < 3; k++)
          out[k] = big_endian(value[k]);
      }
    }
  astro_row_tally_add(tally, &here);
}

static gboolean put_frame(AstroUvfitsWriter *w, const AstroFitsFrames *frames,
                          const AstroRowValues *values, guint64 index, AstroFitsTally *tally,
                          GError **error)
{
  /* Half nanoseconds are dropped here in the same way as by the reader. */
  gint64 begin = gst_util_uint64_scale(frames->duration_ns, index, frames->frames);
  gint64 end = gst_util_uint64_scale(frames->duration_ns, index + 1, frames->frames);
  gint64 middle = frames->start_ns + begin + (end - begin) / 2;
  double days = (w->contents.observation->start_ns + (double)middle) / ASTRO_NS_PER_DAY;
  const double *uvw = frames->uvw ? frames->uvw + 3 * index * w->baselines : NULL;
  double axes[3][3];

  if (!astro_uvw_check_time(w->contents.observation, middle, error))
    return FALSE;
  /* a track, since nutation took longer than everything else for a short frame of few baselines */
  astro_track_axes(w->track, middle, axes);
  astro_uvw_along(w->contents.observation, axes, w->uvw);
  const guint64 groups = astro_row_values_places(values, index, frames->absent, w->places);
  for (guint64 first = 0; first < groups; first += w->gather_groups) {
    const AstroRowPlace *places = w->places + first;
    guint n = MIN(w->gather_groups, groups - first);
    for (guint b = 0; b < n; b++)
      put_parameters(w, w->gather + b * w->group_floats, places[b].i, places[b].j,
                     uvw ? uvw + 3 * places[b].baseline : NULL, days, (end - begin) * 1e-9);
    put_values(w, values, index, places, n, tally);
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
  AstroRowValues values;
  gboolean done = TRUE;
  if (!astro_row_values_begin(&values, &w->contents.stream, frames->data, frames->frames,
                              frames->validity, w->jansky, error))
    return FALSE;
  for (guint64 k = 0; k < frames->frames && done; k++)
    done = put_frame(w, frames, &values, k, tally, error);
  astro_row_values_end(&values);
  return done;
}
