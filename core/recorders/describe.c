/* Derives the stream from what headers and settings say. */
#include "config.h"
#include "core/recorders/recording.h"

#define MJD_1970 40587
#define NS_A_DAY (86400 * (gint64)GST_SECOND)
#define BAND_ROUNDING 1e-5
#define MOST_SECONDS 3e9
#define MOST_HERTZ 1e15
#define MOST_STEP_BYTES ((guint64)1 << 30)

void astro_recorder_add_axis(AstroLayout *layout, AstroAxis axis, guint64 extent)
{
  layout->axes[layout->n_axes] = axis;
  layout->extents[layout->n_axes++] = extent;
}

static guint64 extent_of(const AstroRecording *recording, AstroAxis axis)
{
  const gint row = astro_layout_find(&recording->rows, axis),
             inner = astro_layout_find(&recording->inner, axis);
  return (row < 0 ? 1 : recording->rows.extents[row]) *
         (inner < 0 ? 1 : recording->inner.extents[inner]);
}

/* Axes of length 1 have no place of their own; channels of threads and those in them are one axis
 * if they are neighbours. */
static void append(AstroLayout *to, const AstroLayout *from)
{
  for (guint i = 0; i < from->n_axes; i++) {
    if (from->extents[i] == 1)
      continue;
    if (to->n_axes && to->axes[to->n_axes - 1] == from->axes[i])
      to->extents[to->n_axes - 1] *= from->extents[i];
    else
      astro_recorder_add_axis(to, from->axes[i], from->extents[i]);
  }
}

static void insert(AstroLayout *layout, guint at, AstroAxis axis)
{
  for (guint i = layout->n_axes++; i > at; i--) {
    layout->axes[i] = layout->axes[i - 1];
    layout->extents[i] = layout->extents[i - 1];
  }
  layout->axes[at] = axis;
  layout->extents[at] = 1;
}

/* Voltages and spectra have stations and polarisations, and power polarisations and channels: those
 * of length 1 fit anywhere, so they go where stages like them. */
static void complete(AstroLayout *layout, gboolean is_power)
{
  gint pol = astro_layout_find(layout, ASTRO_AXIS_POL);
  const gint station = astro_layout_find(layout, ASTRO_AXIS_STATION);
  if (is_power) {
    if (pol < 0) {
      pol = astro_layout_find(layout, ASTRO_AXIS_BEAM) < 0 ? 1 : 2;
      insert(layout, (guint)pol, ASTRO_AXIS_POL);
    }
    if (astro_layout_find(layout, ASTRO_AXIS_CHANNEL) < 0)
      insert(layout, (guint)pol + 1, ASTRO_AXIS_CHANNEL);
    return;
  }
  if (pol < 0) {
    pol = station < 0 ? (gint)layout->n_axes : station + 1;
    insert(layout, (guint)pol, ASTRO_AXIS_POL);
  }
  if (station < 0)
    insert(layout, (guint)pol, ASTRO_AXIS_STATION);
}

static void choose_layout(AstroRecording *recording)
{
  AstroStream *out = &recording->stream;
  const gboolean has_both = astro_layout_find(&recording->rows, ASTRO_AXIS_CHANNEL) >= 0 &&
                            astro_layout_find(&recording->inner, ASTRO_AXIS_CHANNEL) >= 0;
  const gboolean is_spectra = extent_of(recording, ASTRO_AXIS_CHANNEL) > 1;
  const AstroLayout time = { 1, { ASTRO_AXIS_TIME }, { 0 } };
  out->quantity = recording->packing.is_power ? ASTRO_QUANTITY_POWER
                  : is_spectra                ? ASTRO_QUANTITY_SPECTRA
                                              : ASTRO_QUANTITY_VOLTAGES;
  recording->is_moved =
      recording->n_rows > 1 && (has_both || !is_spectra || recording->packing.is_power);
  out->layout = (AstroLayout){ 0 };
  if (!recording->is_moved)
    append(&out->layout, &recording->rows);
  append(&out->layout, &time);
  if (recording->is_moved)
    append(&out->layout, &recording->rows);
  append(&out->layout, &recording->inner);
  complete(&out->layout, recording->packing.is_power);
}

/* Headers may tell anything. */
static gboolean check_span(const AstroRecording *recording, GError **error)
{
  const double seconds = (double)recording->steps / recording->rate;
  return seconds < MOST_SECONDS ||
         astro_recorder_fail(error, FORMAT,
                             "%s: from its first to its last sample the recording takes %g s, "
                             "which is no recording",
                             astro_recording_file(recording, 0)->name, seconds);
}

static gboolean check_size(const AstroRecording *recording, GError **error)
{
  guint64 samples = recording->n_rows;
  for (guint i = 0; i < recording->inner.n_axes; i++) {
    if (recording->inner.extents[i] > MOST_STEP_BYTES ||
        samples * recording->inner.extents[i] > MOST_STEP_BYTES)
      samples = MOST_STEP_BYTES;
    else
      samples *= recording->inner.extents[i];
  }
  return samples < MOST_STEP_BYTES / 8 ||
         astro_recorder_fail(error, FORMAT,
                             "%s: one step of time has more than %" G_GUINT64_FORMAT
                             " samples, which is no recording",
                             astro_recording_file(recording, 0)->name, MOST_STEP_BYTES / 8);
}

/* A single channel has the width that its rate carries; several may lie apart. */
static void choose_band(AstroRecording *recording)
{
  AstroStream *out = &recording->stream;
  out->frequency = recording->frequency;
  out->bandwidth = ABS(recording->bandwidth);
  recording->is_turned = recording->bandwidth < 0;
  if (out->bandwidth == 0 && out->quantity == ASTRO_QUANTITY_VOLTAGES)
    out->bandwidth = recording->rate / (recording->packing.is_complex ? 1 : 2);
}

/* The rate of a channel carries its width; more is possible, as of filter banks that oversample. */
static gboolean check_channels(const AstroRecording *recording, GError **error)
{
  const double carried = recording->rate / (recording->packing.is_complex ? 1 : 2);
  const double width = ABS(recording->bandwidth) / (double)extent_of(recording, ASTRO_AXIS_CHANNEL);
  return recording->packing.is_power || width <= carried * (1 + BAND_ROUNDING) ||
         astro_recorder_fail(error, FORMAT,
                             "%s: a channel of the bandwidth is %g Hz wide, but the rate carries "
                             "only %g Hz: set force if rate and bandwidth are right",
                             astro_recording_file(recording, 0)->name, width, carried);
}

static gboolean settle_band(AstroRecording *recording, GError **error)
{
  const AstroRecorderSettings *settings = recording->settings;
  const char *name = astro_recording_file(recording, 0)->name;
  double width;
  g_autofree char *frequency = g_strdup_printf("%s: the header's frequency", name);
  g_autofree char *bandwidth = g_strdup_printf("%s: the header's bandwidth", name);
  if (!astro_recording_agree(recording, "frequency", frequency, recording->frequency,
                             settings->frequency, &recording->frequency, error) ||
      !astro_recording_agree(recording, "bandwidth", bandwidth, ABS(recording->bandwidth),
                             settings->bandwidth, &width, error))
    return FALSE;
  recording->bandwidth = recording->bandwidth < 0 ? -width : width;
  return (recording->frequency >= 0 && recording->frequency < MOST_HERTZ && width < MOST_HERTZ) ||
         astro_recorder_fail(error, FORMAT,
                             "%s: a band of %g Hz around %g Hz, expected frequencies from 0 to %g",
                             name, width, recording->frequency, MOST_HERTZ);
}

static gboolean settle_start(AstroRecording *recording, GError **error)
{
  if (!recording->has_given_start)
    return TRUE;
  if (recording->has_start && !recording->settings->force &&
      recording->given_start != recording->start_ns) {
    g_autoptr(AstroObservation) told = astro_observation_new(0);
    told->has_start = TRUE;
    told->start_mjd = (gint32)(recording->start_ns / NS_A_DAY + MJD_1970);
    told->start_ns = (guint64)(recording->start_ns % NS_A_DAY);
    g_autofree char *start = astro_observation_tell_time(told, 0);
    return astro_recorder_fail(error, SETTINGS,
                               "%s begins at %s, but start-time=%s is set: leave it out, or set "
                               "force if the header is wrong",
                               astro_recording_file(recording, 0)->name, start,
                               recording->settings->start_time);
  }
  recording->has_start = TRUE;
  recording->start_ns = recording->given_start;
  return TRUE;
}

/* For formats that do not look at pols themselves. */
static gboolean check_pols(const AstroRecording *recording, GError **error)
{
  const guint set = recording->settings->pols;
  const guint64 told = extent_of(recording, ASTRO_AXIS_POL);
  return set == 0 || set == told || recording->settings->force ||
         astro_recorder_fail(error, SETTINGS,
                             "%s has %" G_GUINT64_FORMAT " polarisations, but pols=%u is set: "
                             "leave it out",
                             astro_recording_file(recording, 0)->name, told, set);
}

gboolean astro_recording_describe(AstroRecording *recording, GError **error)
{
  AstroStream *out = &recording->stream;
  const char *name = astro_recording_file(recording, 0)->name;
  recording->n_rows = (guint)astro_layout_samples(&recording->rows);
  recording->inner_components =
      astro_layout_samples(&recording->inner) * (recording->packing.is_complex ? 2 : 1);
  out->format = astro_recorder_format(&recording->packing);
  if (out->format == ASTRO_FORMAT_UNKNOWN)
    return astro_recorder_fail(error, FORMAT,
                               "%s: found samples of %u bits, expected 1 to 16, or floats of 32",
                               name, recording->packing.bits);
  if (!check_pols(recording, error) || !check_size(recording, error) ||
      !check_span(recording, error) || !settle_band(recording, error) ||
      !settle_start(recording, error))
    return FALSE;
  out->rate_n = recording->rate_n;
  out->rate_d = recording->rate_d;
  out->has_counts = TRUE;
  choose_layout(recording);
  choose_band(recording);
  if (!recording->settings->force && !check_channels(recording, error))
    return FALSE;
  recording->seen = (AstroRecorderPlace){ 0, 0 };
  return TRUE;
}

static void add_beams(const AstroRecording *recording, AstroObservation *observation)
{
  for (guint i = 0; recording->beams && i < recording->beams->len; i++) {
    const AstroRecorderBeam *beam = &g_array_index(recording->beams, AstroRecorderBeam, i);
    g_autofree char *name = g_strdup_printf("%d", beam->number);
    astro_observation_add_beam(observation, name, ASTRO_BEAM_TIED,
                               beam->has_centre ? ASTRO_BEAM_RADEC : ASTRO_BEAM_UNTOLD,
                               beam->has_centre ? beam->ra * G_PI / 180 : 0,
                               beam->has_centre ? beam->dec * G_PI / 180 : 0, NULL);
  }
}

AstroObservation *astro_recording_make_observation(const AstroRecording *recording)
{
  AstroObservation *observation = astro_observation_new(0);
  g_free(observation->telescope);
  observation->telescope =
      g_strdup(recording->telescope ? recording->telescope : ASTRO_TELESCOPE_UNKNOWN);
  if (recording->basis) {
    g_free(observation->basis);
    observation->basis = g_strdup(recording->basis);
  }
  observation->has_phase_centre = recording->has_centre;
  observation->phase_ra = recording->ra * G_PI / 180;
  observation->phase_dec = recording->dec * G_PI / 180;
  add_beams(recording, observation);
  observation->has_start = recording->has_start;
  if (recording->has_start) {
    const gint64 day = recording->start_ns / NS_A_DAY - (recording->start_ns % NS_A_DAY < 0);
    observation->start_mjd = (gint32)(day + MJD_1970);
    observation->start_ns = (guint64)(recording->start_ns - day * NS_A_DAY);
  }
  return observation;
}
