/**
 * SECTION:element-astrocalibrate
 *
 * Calibrates visibilities: it solves the gains of stations against a model of the sky, divides them
 * out, and writes them to a table or takes them from one. A visibility is V_ij = J_i M_ij J_j^H,
 * with M that of the sky and J the gains, which the signal was multiplied by.
 *
 * mode=solve writes gains to the table `location` and passes visibilities on unchanged; mode=apply
 * divides those of a table out; mode=both does both at once, and needs no table. The model is
 * `sky`, written as for astrovissrc, in Jy; where the stream does not say its scale, the gains take
 * it in, and corrected visibilities are in Jy.
 *
 * type=phase, gain (amplitude and phase) and bandpass (the same for each channel) solve each
 * polarisation alone; full solves matrices of 2 x 2; delay solves a phase and a delay. A solution
 * is of `interval` seconds, or of the whole stream for interval=0, and of channel-step channels.
 * The phase of ref-station is 0. Gains whose S/N is below min-snr, stations without data, and what
 * baselines do not determine are flagged: their visibilities go on with a count of 0.
 *
 * Gains are interpolated between the middles of intervals and of groups of channels. Before the
 * first and behind the last interval, and beyond the band, visibilities are flagged: gains are not
 * extrapolated. Only a table of interval=0 holds at all times. Counts are scaled as the weights
 * that corrected amplitudes have, about the mean of all stations. A table is applied once: the
 * observation says which were.
 *
 * The table (FITS, described in doc/conventions.md) also serves astrodelay, for voltages. A message
 * `calibrated` tells of each interval its begin and end (s), iterations, median snr, rms of the
 * residuals, and how many gains are solved, no-data, unconnected, undetermined, not-converged and
 * low-snr; the property stats has their sums.
 *
 * |[
 * gst-launch-1.0 astrovissrc phase-error=40 gain-error=0.1 noise=100 num-buffers=20 ! \
 *   astrocalibrate sky=0,0,1 type=gain interval=60 location=gains.fits ! \
 *   astrofitssink location=calibrated.uvfits
 * ]|
 */
#include "config.h"
#include "elements/astrocalibrate.h"

#include <math.h>

#include "core/calibrate/lookup.h"
#include "core/calibrate/model.h"
#include "core/kit/enum.h"
#include "core/lib/sky/earth-error.h"
#include "elements/astrocalibrate-table.h"
#include "elements/astrocalibrate-told.h"
#include "elements/base/astroearth.h"
#include "elements/base/astromeans.h"
#include "elements/base/astrofields.h"
#include "elements/base/astrosteptimes.h"

typedef enum { MODE_SOLVE, MODE_APPLY, MODE_BOTH } Mode;

/* A buffer that waits for the gains of its steps. */
typedef struct {
  GstBuffer *buffer;
  guint64 first, steps;
  double last; /* the middle of its last step, seconds since the observation's start */
} Held;

struct _AstroCalibrate {
  AstroStage parent;
  /* properties */
  Mode mode;
  AstroGainsType type;
  double interval, min_snr;
  guint channel_step;
  char *sky, *location, *ref_station, *earth_orientation;
  AstroEarthUse earth;

  AstroCalibrateConfig config;
  AstroCalibrateModel *model; /* NULL: not made yet */
  guint reference;
  AstroCalibrateFile file;
  AstroCalibrateTold told;
  GQueue held;
  gboolean open;      /* an interval has begun: */
  gint64 number;      /* which, */
  double begin, end;  /* and what has come of it, seconds */
  gboolean stale;     /* the backend still holds steps that were dropped */
  gboolean is_ending; /* EOS has come */
};

G_DEFINE_TYPE(AstroCalibrate, astro_calibrate, ASTRO_TYPE_STAGE)
GST_ELEMENT_REGISTER_DEFINE(astrocalibrate, "astrocalibrate", GST_RANK_NONE, ASTRO_TYPE_CALIBRATE)

ASTRO_STATIC_ENUM_TYPE(mode_get_type, "AstroCalibrateMode",
                       { MODE_SOLVE, "Writes gains to the table, and passes visibilities on",
                         "solve" },
                       { MODE_APPLY, "Divides the gains of a table out", "apply" },
                       { MODE_BOTH, "Solves gains and divides them out", "both" })
ASTRO_STATIC_ENUM_TYPE(type_get_type, "AstroCalibrateType",
                       { ASTRO_GAINS_PHASE, "Phases", "phase" },
                       { ASTRO_GAINS_GAIN, "Amplitudes and phases", "gain" },
                       { ASTRO_GAINS_FULL, "Matrices of 2 x 2, with leakage", "full" },
                       { ASTRO_GAINS_DELAY, "Phases and delays", "delay" },
                       { ASTRO_GAINS_BANDPASS, "Amplitudes and phases along the band", "bandpass" })

/* ---- negotiation ---- */

static gboolean solves(const AstroCalibrate *self)
{
  return self->mode != MODE_APPLY;
}

static gboolean applies(const AstroCalibrate *self)
{
  return self->mode != MODE_SOLVE;
}

static void forget_model(AstroCalibrate *self)
{
  g_clear_pointer(&self->model, astro_calibrate_model_free);
  g_clear_pointer(&self->file.stations, g_free);
}

static gboolean configure(AstroStage *stage, gpointer configuration, gboolean *pass_through,
                          GError **error)
{
  AstroCalibrate *self = ASTRO_CALIBRATE(stage);
  const gboolean each = self->type == ASTRO_GAINS_BANDPASS && self->channel_step == 0;
  self->config = (AstroCalibrateConfig){ .in = *astro_stage_in(stage),
                                         .out = *astro_stage_out(stage),
                                         .type = self->type,
                                         .channel_step = each ? 1 : self->channel_step,
                                         .min_snr = self->min_snr };
  *(AstroCalibrateConfig *)configuration = self->config;
  self->stale = FALSE;
  forget_model(self);
  return TRUE;
}

/* ---- the observation ---- */

static gboolean orient(AstroStage *stage, AstroObservation *observation, GError **error)
{
  AstroCalibrate *self = ASTRO_CALIBRATE(stage);
  return astro_earth_use(&self->earth, self, &self->earth_orientation, observation, error);
}

static gboolean observed(AstroStage *stage, GError **error)
{
  forget_model(ASTRO_CALIBRATE(stage));
  return TRUE;
}

static gboolean check_observation(AstroStage *stage, GError **error)
{
  const AstroObservation *o = astro_stage_observation(stage);
  const guint stations = (guint)astro_stream_stations(astro_stage_in(stage));
  if (!o || !o->has_start)
    return astro_stream_refuse(error, ASTRO_STREAM_ERROR_CAPS,
                               "%s: expected astroobserve upstream with array, phase-centre and "
                               "start-time",
                               o ? "the observation has no start"
                                 : "the stream has no observation");
  return o->n_stations == stations ||
         astro_stream_refuse(error, ASTRO_STREAM_ERROR_CAPS,
                             "the observation has %u stations and the caps have %u", o->n_stations,
                             stations);
}

/* The model needs (u,v,w) of the phase centre. */
static gboolean check_model(AstroStage *stage, GError **error)
{
  const AstroObservation *o = astro_stage_observation(stage);
  if (!o->has_phase_centre)
    return astro_stream_refuse(error, ASTRO_STREAM_ERROR_CAPS,
                               "the observation has no phase centre: expected astroobserve "
                               "upstream with phase-centre");
  if (o->uvw_metres > 0)
    return astro_stream_refuse(error, ASTRO_STREAM_ERROR_CAPS,
                               "these visibilities bring (u,v,w) of their own (astrofitssrc "
                               "uvw=file), and the model is predicted for those of the stations: "
                               "expected astrofitssrc uvw=table");
  return astro_history_delays(&o->done, ASTRO_QUANTITY_VISIBILITIES) == ASTRO_DELAYS_OUT ||
         astro_stream_refuse(error, ASTRO_STREAM_ERROR_CAPS,
                             "the delays of the phase centre have not been taken out of these "
                             "visibilities, so that the model does not fit: expected "
                             "astrodelay before or after the channelizer");
}

/* The station that a user means by a name, or by a number. */
static gboolean find_reference(AstroCalibrate *self, const AstroObservation *o, GError **error)
{
  g_autofree char *text = astro_fields_copy_text(self, &self->ref_station);
  guint64 number;
  self->reference = 0;
  if (!astro_field_given(text))
    return TRUE;
  for (guint i = 0; i < o->n_stations; i++)
    if (g_strcmp0(o->names[i], text) == 0) {
      self->reference = i;
      return TRUE;
    }
  if (g_ascii_string_to_unsigned(text, 10, 0, o->n_stations - 1, &number, NULL)) {
    self->reference = (guint)number;
    return TRUE;
  }
  return astro_stream_refuse(error, ASTRO_STREAM_ERROR_CAPS,
                             "ref-station=%s is none of the %u stations: expected a name, %s to "
                             "%s, or a number from 0 to %u",
                             text, o->n_stations, o->names[0], o->names[o->n_stations - 1],
                             o->n_stations - 1);
}

static gboolean make_model(AstroCalibrate *self, GError **error)
{
  AstroStage *stage = ASTRO_STAGE(self);
  AstroObservation *o = (AstroObservation *)astro_stage_observation(stage);
  g_autofree char *sky = astro_fields_copy_text(self, &self->sky);
  guint threads;
  if (self->model)
    return TRUE;
  if (!check_model(stage, error) || !find_reference(self, o, error))
    return FALSE;
  g_object_get(self, "threads", &threads, NULL);
  self->model = astro_calibrate_model_new(sky, &self->config.in, o, threads, error);
  if (!self->model)
    return FALSE;
  astro_earth_use_tell(&self->earth, GST_ELEMENT(self), o, &self->config.in,
                       astro_earth_error_of_delays(o), " in the model");
  return TRUE;
}

static gboolean prepare(AstroCalibrate *self, GError **error)
{
  AstroStage *stage = ASTRO_STAGE(self);
  const AstroObservation *o = astro_stage_observation(stage);
  if (!check_observation(stage, error))
    return FALSE;
  if (solves(self) && (!make_model(self, error) ||
                       !astro_calibrate_file_begin(&self->file, &self->config, o, error)))
    return FALSE;
  const guint pols = (guint)astro_stream_extent(&self->config.in, ASTRO_AXIS_POL);
  return !applies(self) || astro_calibrate_file_match(&self->file, o, pols, error);
}

/* Visibilities that are corrected by gains which hold their unknown scale are in Jy. */
static gboolean amend(AstroStage *stage, AstroObservation *observation, GError **error)
{
  AstroCalibrate *self = ASTRO_CALIBRATE(stage);
  if (!applies(self))
    return TRUE;
  if (!prepare(self, error))
    return FALSE;
  if (self->file.gains->to_jansky && observation->done.scale > 0)
    return astro_stream_refuse(error, ASTRO_STREAM_ERROR_CAPS,
                               "the table was solved from visibilities of unknown scale, which its "
                               "gains hold, and this stream says its scale: expected a table that "
                               "was solved from such visibilities");
  if (self->file.gains->to_jansky)
    observation->done.scale = 1;
  if (self->mode == MODE_APPLY)
    return astro_calibrate_history_add(observation, self->file.sum, error);
  /* Gains that are solved again, of corrected visibilities, are those that were left. */
  g_autofree char *solved =
      g_strdup_printf("solved-%s", astro_gains_type_name(self->file.gains->type));
  return astro_calibrate_history_has(observation, solved) ||
         astro_calibrate_history_add(observation, solved, error);
}

/* ---- blocks out ---- */

static gboolean find_times(AstroCalibrate *self, GstBuffer *in, guint64 first, guint64 t,
                           guint64 steps, GstClockTime times[2], GError **error)
{
  return astro_stage_step_times(ASTRO_STAGE(self), in, first, t, steps, times, error);
}

static double middle_of(const GstClockTime times[2])
{
  return ((double)times[0] + (double)(times[1] - times[0]) / 2) / GST_SECOND;
}

/* Looks the gains of a block's steps up. */
static AstroGainsAt *look_up(AstroCalibrate *self, GstBuffer *in, guint64 first, guint64 steps,
                             GError **error)
{
  AstroStage *stage = ASTRO_STAGE(self);
  const AstroStream *stream = &self->config.in;
  const AstroCalibrateTable table = { self->file.gains, astro_stage_observation(stage),
                                      self->file.stations };
  const guint64 row =
      astro_stream_extent(stream, ASTRO_AXIS_CHANNEL) * astro_stream_stations(stream);
  g_autofree AstroGainsAt *gains = g_try_new(AstroGainsAt, steps * row);
  guint64 unknown = 0;
  if (!gains) {
    astro_backend_no_memory(error, "no memory for the gains of %" G_GUINT64_FORMAT " steps", steps);
    return NULL;
  }
  for (guint64 t = 0; t < steps; t++) {
    GstClockTime times[2];
    if (!find_times(self, in, first, t, steps, times, error))
      return NULL;
    unknown += astro_calibrate_lookup(&table, stream, middle_of(times), gains + t * row);
  }
  astro_calibrate_told_apply(&self->told, GST_ELEMENT(self),
                             steps * row * astro_stream_extent(stream, ASTRO_AXIS_POL), unknown);
  return g_steal_pointer(&gains);
}

static guint32 *add_counts(AstroCalibrate *self, GstBuffer *in, GstBuffer *out, guint64 steps)
{
  const AstroValidityMeta *came = astro_buffer_get_validity(in);
  AstroLayout shape;
  if (!self->file.is_scaled) {
    self->file.count_scale =
        astro_calibrate_count_scale(self->file.gains, came ? came->full : 0, &self->file.full);
    self->file.is_scaled = TRUE;
  }
  astro_stream_shape(&self->config.out, steps, &shape);
  return astro_buffer_add_validity(out, &shape, self->file.full)->counts;
}

static gboolean emit_corrected(AstroCalibrate *self, GstBuffer *in, guint64 first, guint64 steps,
                               GError **error)
{
  AstroStage *stage = ASTRO_STAGE(self);
  const gsize bytes = steps * astro_stream_step_bytes(&self->config.out);
  g_autofree AstroGainsAt *gains = look_up(self, in, first, steps, error);
  g_autoptr(GstBuffer) out = gains ? astro_stage_new_buffer(stage, bytes, error) : NULL;
  if (!out)
    return FALSE;
  /* Before the counts: the input's are among the metas. */
  gst_buffer_copy_into(out, in, GST_BUFFER_COPY_TIMESTAMPS | GST_BUFFER_COPY_META, 0, -1);
  const AstroCalibrateArguments arguments = { .work = ASTRO_CALIBRATE_APPLY,
                                              .steps = steps,
                                              .validity = astro_buffer_get_validity(in),
                                              .gains = gains,
                                              .counts = add_counts(self, in, out, steps),
                                              .count_scale = self->file.count_scale };
  return astro_stage_submit(stage, in, out, &arguments, error) &&
         astro_stage_emit_part(stage, out, 0, bytes, first, steps, error);
}

static gboolean is_gap(GstBuffer *buffer)
{
  return GST_BUFFER_FLAG_IS_SET(buffer, GST_BUFFER_FLAG_GAP);
}

/* A gap may have another format than its output, which all zeros suit. */
static gboolean emit_gap(AstroCalibrate *self, GstBuffer *in, guint64 first, guint64 steps,
                         GError **error)
{
  AstroStage *stage = ASTRO_STAGE(self);
  const gsize bytes = steps * astro_stream_step_bytes(&self->config.out);
  g_autoptr(GstBuffer) out = astro_stage_new_buffer(stage, bytes, error);
  if (!out)
    return FALSE;
  gst_buffer_memset(out, 0, 0, bytes);
  gst_buffer_copy_into(out, in, GST_BUFFER_COPY_TIMESTAMPS | GST_BUFFER_COPY_META, 0, -1);
  GST_BUFFER_FLAG_SET(out, GST_BUFFER_FLAG_GAP);
  return astro_stage_emit_part(stage, out, 0, bytes, first, steps, error);
}

static gboolean emit(AstroCalibrate *self, GstBuffer *in, guint64 first, guint64 steps,
                     GError **error)
{
  return is_gap(in) ? emit_gap(self, in, first, steps, error)
                    : emit_corrected(self, in, first, steps, error);
}

static void free_held(gpointer data)
{
  Held *held = data;
  gst_buffer_unref(held->buffer);
  g_free(held);
}

/* Emits what waits, up to a time: gains are interpolated as far as the middle of the last interval
 * that was solved. */
static gboolean emit_until(AstroCalibrate *self, double seconds, GError **error)
{
  gboolean good = TRUE;
  while (good && self->held.head && ((Held *)self->held.head->data)->last <= seconds) {
    Held *held = g_queue_pop_head(&self->held);
    good = emit(self, held->buffer, held->first, held->steps, error);
    free_held(held);
  }
  return good;
}

/* ---- intervals ---- */

static gboolean solve(AstroCalibrate *self, GError **error)
{
  AstroStage *stage = ASTRO_STAGE(self);
  const gsize n = astro_gains_row(self->file.gains);
  g_autofree complex double *gains = g_new(complex double, n);
  g_autofree float *snr = g_new(float, n);
  g_autofree double *delays = g_new(double, n);
  AstroCalibrateSolved solved = { .gains = gains, .snr = snr, .delays = delays };
  const AstroCalibrateArguments arguments = { .work = ASTRO_CALIBRATE_SOLVE,
                                              .reference = self->reference };
  self->open = FALSE;
  astro_stage_result(stage)->own = &solved;
  const gboolean ok = astro_stage_submit(stage, NULL, NULL, &arguments, error);
  astro_stage_result(stage)->own = NULL;
  if (!ok)
    return FALSE;
  astro_gains_add(self->file.gains, self->begin, self->end, gains, snr, delays);
  self->file.gains->is_constant = self->interval == 0 && self->file.gains->intervals->len == 1;
  astro_calibrate_told_add(&self->told, GST_ELEMENT(self), &solved, n, self->begin, self->end);
  return TRUE;
}

static gboolean add_steps(AstroCalibrate *self, GstBuffer *in, guint64 first, guint64 steps,
                          GError **error)
{
  const AstroCalibrateArguments forget = { .work = ASTRO_CALIBRATE_FORGET };
  const AstroCalibrateArguments arguments = {
    .work = ASTRO_CALIBRATE_ADD,
    .steps = steps,
    .validity = astro_buffer_get_validity(in),
    .model = astro_calibrate_model_values(self->model),
  };
  (void)first;
  if (self->stale && !astro_stage_submit(ASTRO_STAGE(self), NULL, NULL, &forget, error))
    return FALSE;
  self->stale = FALSE;
  return astro_stage_submit(ASTRO_STAGE(self), in, NULL, &arguments, error);
}

/* Adds one step of a block, and solves the interval before it if that has ended. */
static gboolean add_step(AstroCalibrate *self, GstBuffer *in, guint64 first, guint64 steps,
                         guint64 t, double *middle, GError **error)
{
  GstClockTime times[2];
  if (!find_times(self, in, first, t, steps, times, error))
    return FALSE;
  *middle = middle_of(times);
  const gint64 number = self->interval > 0 ? (gint64)floor(*middle / self->interval) : 0;
  if (self->open && self->number != number && !solve(self, error))
    return FALSE;
  if (is_gap(in))
    return TRUE;
  if (!astro_calibrate_model_predict(self->model, 1, 0, times[0], times[1], error))
    return FALSE;
  if (!self->open)
    self->begin = (double)times[0] / GST_SECOND;
  self->open = TRUE;
  self->number = number;
  self->end = (double)times[1] / GST_SECOND;
  if (steps == 1)
    return add_steps(self, in, first, 1, error);
  g_autoptr(GstBuffer) rest = astro_buffer_from_step(in, &self->config.in, steps, t);
  g_autoptr(GstBuffer) one = rest
                                 ? gst_buffer_copy_region(rest, GST_BUFFER_COPY_ALL, 0,
                                                          astro_stream_step_bytes(&self->config.in))
                                 : NULL;
  return one ? add_steps(self, one, first + t, 1, error)
             : astro_backend_no_memory(error, "no memory for a step of a block");
}

static gboolean feed_solving(AstroCalibrate *self, GstBuffer *in, guint64 first, guint64 steps,
                             GError **error)
{
  double middle = 0;
  for (guint64 t = 0; t < steps; t++)
    if (!add_step(self, in, first, steps, t, &middle, error))
      return FALSE;
  if (self->mode == MODE_SOLVE)
    return astro_stage_emit_part(ASTRO_STAGE(self), in, 0, gst_buffer_get_size(in), first, steps,
                                 error);
  Held *held = g_new(Held, 1);
  *held = (Held){ gst_buffer_ref(in), first, steps, middle };
  g_queue_push_tail(&self->held, held);
  const GArray *intervals = self->file.gains->intervals;
  if (!intervals->len)
    return TRUE;
  const AstroGainsInterval *last =
      &g_array_index(intervals, AstroGainsInterval, intervals->len - 1);
  return emit_until(self, (last->begin + last->end) / 2, error);
}

static void forget_blocks(AstroCalibrate *self)
{
  g_queue_clear_full(&self->held, free_held);
  self->open = FALSE;
  self->stale = TRUE;
}

static gboolean feed(AstroStage *stage, GstBuffer *in, guint64 first, guint64 steps, GError **error)
{
  AstroCalibrate *self = ASTRO_CALIBRATE(stage);
  if (!prepare(self, error))
    return FALSE;
  if (!solves(self))
    return emit(self, in, first, steps, error);
  const gboolean ok = feed_solving(self, in, first, steps, error);
  if (!ok)
    forget_blocks(self);
  return ok;
}

/* ---- the end ---- */

static void write_table(AstroCalibrate *self)
{
  g_autoptr(GError) error = NULL;
  gboolean written;
  const gboolean wanted = self->file.file != NULL;
  if (!astro_calibrate_file_write(&self->file, &written, &error))
    GST_ELEMENT_ERROR(self, RESOURCE, WRITE, ("location: %s", error->message), (NULL));
  else if (wanted && !written)
    GST_ELEMENT_WARNING(self, STREAM, FORMAT,
                        ("no visibilities came, and so no table of gains was written"), (NULL));
}

static gboolean finish(AstroStage *stage, GError **error)
{
  AstroCalibrate *self = ASTRO_CALIBRATE(stage);
  if ((self->open && !solve(self, error)) || !emit_until(self, G_MAXDOUBLE, error))
    return FALSE;
  if (self->is_ending && solves(self))
    write_table(self);
  return TRUE;
}

static void reset(AstroStage *stage)
{
  forget_blocks(ASTRO_CALIBRATE(stage));
  ASTRO_CALIBRATE(stage)->is_ending = FALSE;
}

/* A flush revokes what came before, and so what was solved of it. */
static gboolean sink_event(GstBaseTransform *trans, GstEvent *event)
{
  AstroCalibrate *self = ASTRO_CALIBRATE(trans);
  if (GST_EVENT_TYPE(event) == GST_EVENT_EOS)
    self->is_ending = TRUE;
  if (GST_EVENT_TYPE(event) == GST_EVENT_FLUSH_STOP && solves(self)) {
    g_clear_pointer(&self->file.gains, astro_gains_free);
    g_clear_pointer(&self->file.stations, g_free);
  }
  return GST_BASE_TRANSFORM_CLASS(astro_calibrate_parent_class)->sink_event(trans, event);
}

static void tell_stats(AstroStage *stage, GstStructure *stats)
{
  astro_calibrate_told_fill(&ASTRO_CALIBRATE(stage)->told, GST_ELEMENT(stage), stats);
}

/* ---- states and properties ---- */

static gboolean check_settings(AstroCalibrate *self, const char *sky, const char *location,
                               GError **error)
{
  if (!location && self->mode != MODE_BOTH)
    return astro_stream_refuse(error, ASTRO_STREAM_ERROR_CAPS,
                               "mode=%s without location, expected the name of a table of gains%s",
                               solves(self) ? "solve" : "apply",
                               solves(self) ? " to write" : ", as mode=solve writes it");
  if (!solves(self))
    return TRUE;
  if (!sky)
    return astro_stream_refuse(error, ASTRO_STREAM_ERROR_CAPS,
                               "mode=%s without sky, expected the sources that were observed, as "
                               "l,m,flux;... or a file of lines ra dec flux",
                               self->mode == MODE_SOLVE ? "solve" : "both");
  g_autoptr(AstroSky) read = astro_sky_new(sky, error);
  if (read && read->n == 0)
    return astro_stream_refuse(error, ASTRO_STREAM_ERROR_CAPS,
                               "sky has no sources, expected those that were observed");
  return read != NULL;
}

static gboolean start(AstroStage *stage)
{
  AstroCalibrate *self = ASTRO_CALIBRATE(stage);
  g_autofree char *sky = astro_fields_copy_text(self, &self->sky),
                  *location = astro_fields_copy_text(self, &self->location);
  g_autoptr(GError) error = NULL;
  const char *name = astro_field_given(location);
  astro_calibrate_file_clear(&self->file);
  self->is_ending = FALSE;
  GST_OBJECT_LOCK(self);
  self->told = (AstroCalibrateTold){ 0 };
  GST_OBJECT_UNLOCK(self);
  if (!check_settings(self, astro_field_given(sky), name, &error)) {
    GST_ELEMENT_ERROR(self, LIBRARY, SETTINGS, ("%s", error->message), (NULL));
    return FALSE;
  }
  if (astro_calibrate_file_open(&self->file, name, solves(self), &error))
    return ASTRO_STAGE_CLASS(astro_calibrate_parent_class)->start(stage);
  if (solves(self))
    GST_ELEMENT_ERROR(self, RESOURCE, OPEN_WRITE, ("location: %s", error->message), (NULL));
  else
    GST_ELEMENT_ERROR(self, RESOURCE, OPEN_READ, ("location: %s", error->message), (NULL));
  return FALSE;
}

static gboolean stop(GstBaseTransform *trans)
{
  AstroCalibrate *self = ASTRO_CALIBRATE(trans);
  const gboolean ok = GST_BASE_TRANSFORM_CLASS(astro_calibrate_parent_class)->stop(trans);
  forget_model(self);
  if (solves(self) && self->file.gains && self->file.gains->intervals->len)
    write_table(self); /* of a run that was stopped before its end */
  astro_calibrate_file_clear(&self->file);
  self->earth = (AstroEarthUse){ 0 };
  return ok;
}

static const AstroField fields[] = {
  ASTRO_TEXT(AstroCalibrate, sky, "sky", "Sky",
             "The model: l,m,flux;l,m,flux (direction cosines east and north, Jy), or a file of "
             "lines ra dec flux, with all that astrovissrc takes",
             NULL),
  ASTRO_ENUM(AstroCalibrate, mode, "mode", "Mode", "Whether gains are solved, applied, or both",
             mode_get_type, MODE_BOTH),
  ASTRO_ENUM(AstroCalibrate, type, "type", "Type", "The gains that are solved", type_get_type,
             ASTRO_GAINS_GAIN),
  ASTRO_DOUBLE(AstroCalibrate, interval, "interval", "Interval",
               "Seconds of a solution (0: the whole stream)", 0, 1e9, 60),
  ASTRO_UINT(AstroCalibrate, channel_step, "channel-step", "Channel step",
             "Channels of a solution (0: all, and for bandpass 1; for delay always all)", 0,
             G_MAXINT, 0),
  ASTRO_TEXT(AstroCalibrate, location, "location", "File name",
             "Table of gains (FITS) to write, renamed from NAME.part when complete, or, for "
             "mode=apply, to read (unset: none)",
             NULL),
  ASTRO_TEXT(AstroCalibrate, ref_station, "ref-station", "Reference station",
             "Name or number of the station whose phase is 0 (unset: the first)", NULL),
  ASTRO_DOUBLE(AstroCalibrate, min_snr, "min-snr", "Least S/N", "Gains of a lower S/N are flagged",
               0, 1e6, 3),
  ASTRO_EARTH_FIELD(AstroCalibrate, earth_orientation),
  { 0 },
};

static void finalize(GObject *object)
{
  AstroCalibrate *self = ASTRO_CALIBRATE(object);
  g_queue_clear_full(&self->held, free_held);
  forget_model(self);
  astro_calibrate_file_clear(&self->file);
  G_OBJECT_CLASS(astro_calibrate_parent_class)->finalize(object);
}

static void astro_calibrate_class_init(AstroCalibrateClass *klass)
{
  static const AstroQuantity quantities[] = { ASTRO_QUANTITY_VISIBILITIES, ASTRO_QUANTITY_UNKNOWN };
  GObjectClass *object = G_OBJECT_CLASS(klass);
  GstBaseTransformClass *trans = GST_BASE_TRANSFORM_CLASS(klass);
  AstroStageClass *stage = ASTRO_STAGE_CLASS(klass);

  astro_fields_install(object, fields, 0);
  object->finalize = finalize;
  trans->transform_caps = astro_means_transform_caps;
  trans->fixate_caps = astro_stage_fixate_same;
  trans->sink_event = sink_event;
  trans->stop = stop;
  stage->stage = "calibrate";
  stage->backends = astro_calibrate_backends;
  stage->start = start;
  stage->configure = configure;
  stage->orient = orient;
  stage->observed = observed;
  stage->amend = amend;
  stage->feed = feed;
  stage->finish = finish;
  stage->reset = reset;
  stage->tell_stats = tell_stats;
  stage->adds_counts = TRUE;
  astro_stage_class_add_pads(stage, quantities, quantities);
  gst_element_class_set_static_metadata(
      GST_ELEMENT_CLASS(klass), "Calibrate", "Filter/Effect",
      "Solves the gains of stations against a sky, and divides them out of visibilities",
      ASTRO_AUTHOR);
  gst_element_class_add_static_metadata(
      GST_ELEMENT_CLASS(klass), "takes",
      "visibilities CF32LE CF64LE, or sums CI32LE with their counts: channel:baseline:pol:pol");
  gst_element_class_add_static_metadata(
      GST_ELEMENT_CLASS(klass), "gives",
      "visibilities CF32LE CF64LE: channel:baseline:pol:pol, with counts of good samples");
}

static void astro_calibrate_init(AstroCalibrate *self)
{
  astro_fields_set_defaults(self);
  g_queue_init(&self->held);
}
