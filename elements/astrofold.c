/**
 * SECTION:element-astrofold
 *
 * Folds power: adds it up by the phase of a pulsar, into a profile of bins for each channel,
 * product and station or beam, and sends one every interval (seconds, to the nearest time step).
 * Values are means over the samples in a bin, and their number is the validity.
 *
 * Property period is the pulsar's period in seconds, as it is seen at the telescope; phase 0 is
 * time zero of the stream. Property ephemeris takes a .par file of TEMPO, TEMPO2 or PINT instead:
 * rotation (F0 to F5, or P0 and P1, at PEPOCH), position (RAJ and DECJ, or ELONG and ELAT, with
 * proper motion and parallax), DM, and TZRMJD, which says where phase 0 is (without it: at PEPOCH
 * at the barycentre). Binary pulsars, times in TCB and unknown terms are refused by line. The
 * Earth's place is ERFA's, which is right to 45 us, or that of a kernel of the JPL
 * (planets=de440s.bsp). Phases agree with those of PINT within a microsecond. The telescope is at
 * the centre of the observation's stations. Without earth-orientation, or that of the stream, UT1
 * is taken as UTC: an error of up to 1.4 us.
 *
 * Where dispersion is still in the stream, channels are folded each at its own delay, by dm or that
 * of the ephemeris (for a sub-integration the delays of its middle). After astrodedisperse they
 * are not delayed again. With an ephemeris phases are those that the pulsar had, with the delay of
 * dispersion from infinite frequency taken out; with a period, those at the centre of the band, or
 * at the frequency that astrodedisperse kept.
 *
 * A sample belongs to the bin of the phase at its middle, even if it spans several bins. Of power
 * that is a mean, a sample counts where anything is behind it. A period shorter than two samples is
 * refused. Sub-integrations begin at multiples of their length, counted from time step zero. A
 * stream that ends inside one ends with a shorter one. Sums are in double precision.
 *
 * |[
 * gst-launch-1.0 astroskysrc stations=1 duration=2 pulsar="0,0,50,period=0.1,duty=0.1" ! \
 *   astrochannelizer channels=16 ! astropower integration=64 ! \
 *   astrofold period=0.1 interval=1 bins=64 ! astrofitssink location=profiles.fits
 * ]|
 */
#include "config.h"
#include "elements/astrofold.h"

#include <string.h>

#include "core/fold/fold.h"
#include "core/stream/profile.h"
#include "elements/astrofold-pulsar.h"
#include "elements/base/astroearth.h"
#include "elements/base/astrofields.h"
#include "elements/base/astrointegration.h"

/* Caps depend on these. All are under the object's lock. */
typedef struct {
  guint bins;        /* properties */
  double interval;   /* s */
  double period, dm; /* of the pulsar; period 0: not known yet */
} Profile;

struct _AstroFold {
  AstroStage parent;
  /* properties */
  AstroFoldPulsar set;
  Profile profile;
  char *earth_orientation;

  AstroEarthUse earth;
  AstroFoldPulsar pulsar;    /* as it was set at the start */
  AstroEphemeris *ephemeris; /* that it names; NULL: a fixed period */
  AstroPhases *phases;       /* of the stream and the observation; NULL until a block came */
  guint64 spectra;           /* time steps of a sub-integration */

  gboolean open;  /* part of a sub-integration has come */
  guint64 number; /* of that sub-integration */
  guint64 end;    /* the step after the last one that came of it */
  gboolean stale; /* the backend still holds a sub-integration that was dropped */
  guint32 *lags;  /* of the channels in it */
  guint32 *counts;
  gsize n_counts; /* that it has room for */
};

G_DEFINE_TYPE(AstroFold, astro_fold, ASTRO_TYPE_STAGE)
GST_ELEMENT_REGISTER_DEFINE(astrofold, "astrofold", GST_RANK_NONE, ASTRO_TYPE_FOLD)

/* ---- negotiation ---- */

static const char *const layouts[] = { "channel:pol:phase", "station:channel:pol:phase",
                                       "beam:channel:pol:phase" };
static const char *const lengths[] = { NULL, "stations", "beams" };

static void set_layout(GstStructure *to, const GstStructure *from)
{
  const char *in = gst_structure_get_string(from, "layout");
  if (in) {
    const guint which = strstr(in, "station") ? 1 : strstr(in, "beam") ? 2 : 0;
    gst_structure_set(to, "layout", G_TYPE_STRING, layouts[which], NULL);
    if (lengths[which])
      astro_integration_copy_field(to, from, lengths[which]);
    return;
  }
  GValue list = G_VALUE_INIT;
  g_value_init(&list, GST_TYPE_LIST);
  for (guint i = 0; i < G_N_ELEMENTS(layouts); i++)
    astro_name_append(&list, layouts[i]);
  gst_structure_take_value(to, "layout", &list);
}

static void copy_axes(GstStructure *to, const GstStructure *from)
{
  static const char *const fields[] = { "pols", "products", "frequency", "bandwidth" };
  gint channels;
  for (guint i = 0; i < G_N_ELEMENTS(fields); i++)
    astro_integration_copy_field(to, from, fields[i]);
  astro_integration_set_int(to, "channels",
                            gst_structure_get_int(from, "channels", &channels)
                                ? (guint64)MAX(channels, 0)
                            : gst_structure_has_field(from, "layout") ? 1
                                                                      : 0);
}

static Profile profile_of(AstroFold *self)
{
  Profile now;
  astro_fields_copy_numbers(self, &now, &self->profile, sizeof now);
  return now;
}

static void set_pulsar(AstroFold *self, double period, double dm)
{
  GST_OBJECT_LOCK(self);
  self->profile.period = period;
  self->profile.dm = dm;
  GST_OBJECT_UNLOCK(self);
}

static guint64 steps_of(const Profile *profile, const GstStructure *power)
{
  gint rate_n = 0, rate_d = 1;
  guint steps;
  gst_structure_get_fraction(power, "rate", &rate_n, &rate_d);
  return profile->interval > 0 &&
                 astro_integration_find(0, profile->interval, rate_n, rate_d, &steps, NULL)
             ? steps
             : 0;
}

static GstStructure *to_profile(const Profile *profile, const GstStructure *power)
{
  GstStructure *to = gst_structure_new("application/x-astro-profile", "format", G_TYPE_STRING,
                                       astro_format_name(ASTRO_FORMAT_F32LE), "bins", G_TYPE_INT,
                                       (gint)profile->bins, NULL);
  set_layout(to, power);
  copy_axes(to, power);
  if (gst_structure_has_field(power, "layout") && !gst_structure_has_field(power, "pols"))
    gst_structure_set(to, "pols", G_TYPE_INT, 1, NULL);
  if (profile->period > 0)
    gst_structure_set(to, "period", G_TYPE_DOUBLE, profile->period, "dm", G_TYPE_DOUBLE,
                      profile->dm, NULL);
  astro_integration_convert_rate(to, power, 1, steps_of(profile, power));
  return to;
}

/* Only what is known for certain: power may have its axes in any order. */
static GstStructure *to_power(const GstStructure *profile)
{
  GstStructure *to = gst_structure_new("application/x-astro-power", "format", G_TYPE_STRING,
                                       astro_format_name(ASTRO_FORMAT_F32LE), NULL);
  static const char *const fields[] = { "products", "frequency", "bandwidth", "stations", "beams" };
  for (guint i = 0; i < G_N_ELEMENTS(fields); i++)
    astro_integration_copy_field(to, profile, fields[i]);
  return to;
}

static GstCaps *transform_caps(GstBaseTransform *trans, GstPadDirection direction, GstCaps *caps,
                               GstCaps *filter)
{
  const Profile profile = profile_of(ASTRO_FOLD(trans));
  GstCaps *result = gst_caps_new_empty();
  for (guint i = 0; i < gst_caps_get_size(caps); i++) {
    const GstStructure *from = gst_caps_get_structure(caps, i);
    gst_caps_append_structure(result, direction == GST_PAD_SINK ? to_profile(&profile, from)
                                                                : to_power(from));
  }
  return astro_stage_filter_caps(result, filter);
}

static gboolean check_period(double period, const AstroStream *in, GError **error)
{
  const double sample = (double)in->rate_d / in->rate_n;
  return period >= 2 * sample ||
         astro_stream_refuse(error, ASTRO_STREAM_ERROR_CAPS,
                             "the period is %g s and a sample %g s long: expected two samples or "
                             "more in a period; integrate less in astropower",
                             period, sample);
}

static gboolean find_steps(AstroFold *self, const Profile *profile, const AstroStream *in,
                           const AstroStream *out, GError **error)
{
  guint steps;
  if (in->rate_n == 0)
    return astro_stream_refuse(error, ASTRO_STREAM_ERROR_CAPS,
                               "caps have no field \"rate\", which phases need");
  if (!(profile->interval > 0))
    return astro_stream_refuse(error, ASTRO_STREAM_ERROR_CAPS,
                               "property interval is %g, expected seconds above 0",
                               profile->interval);
  if (!check_period(profile->period, in, error) ||
      !astro_integration_find(0, profile->interval, in->rate_n, in->rate_d, &steps, error) ||
      !astro_integration_check(steps, error) ||
      !astro_integration_check_rate(steps, in, out, error))
    return FALSE;
  self->spectra = steps;
  return TRUE;
}

static gboolean configure(AstroStage *stage, gpointer configuration, gboolean *pass_through,
                          GError **error)
{
  AstroFold *self = ASTRO_FOLD(stage);
  const AstroStream *in = astro_stage_in(stage);
  AstroFoldConfig *config = configuration;
  const Profile profile = profile_of(self);

  *config = (AstroFoldConfig){
    .stations = (guint)(astro_stream_extent(in, ASTRO_AXIS_STATION) *
                        astro_stream_extent(in, ASTRO_AXIS_BEAM)),
    .pols = (guint)astro_stream_extent(in, ASTRO_AXIS_POL),
    .channels = (guint)astro_stream_extent(in, ASTRO_AXIS_CHANNEL),
    .layout = in->layout,
    .bins = profile.bins,
  };
  if (astro_layout_find(&in->layout, ASTRO_AXIS_DM) >= 0)
    return astro_stream_refuse(error, ASTRO_STREAM_ERROR_CAPS,
                               "power at %" G_GUINT64_FORMAT
                               " dispersion measures, expected one: set astrodedisperse dm=VALUE",
                               astro_stream_extent(in, ASTRO_AXIS_DM));
  if (!astro_stage_check_extent(stage, ASTRO_AXIS_PHASE, profile.bins, error) ||
      !find_steps(self, &profile, in, astro_stage_out(stage), error))
    return FALSE;
  g_free(self->lags);
  self->lags = g_new0(guint32, config->channels);
  g_clear_pointer(&self->phases, astro_phases_free);
  self->stale = FALSE;
  return TRUE;
}

/* The products of both sides are checked by reading the caps. */
static gboolean set_caps(GstBaseTransform *trans, GstCaps *in, GstCaps *out)
{
  g_autoptr(GError) error = NULL;
  AstroStream stream;
  AstroPowerProducts products;
  AstroProfile profile;
  if ((!astro_stage_is_unlinked(trans, out) &&
       !astro_profile_from_caps(&stream, &profile, out, &error)) ||
      !astro_power_from_caps(&stream, &products, in, &error)) {
    GST_ELEMENT_ERROR(trans, STREAM, WRONG_TYPE, ("%s", error->message), (NULL));
    return FALSE;
  }
  return GST_BASE_TRANSFORM_CLASS(astro_fold_parent_class)->set_caps(trans, in, out);
}

/* ---- the observation ---- */

static gboolean orient(AstroStage *stage, AstroObservation *observation, GError **error)
{
  AstroFold *self = ASTRO_FOLD(stage);
  return !self->ephemeris ||
         astro_earth_use(&self->earth, self, &self->earth_orientation, observation, error);
}

/* The dispersion measure of the caps may depend on the observation, which may come after them. */
static gboolean observed(AstroStage *stage, GError **error)
{
  AstroFold *self = ASTRO_FOLD(stage);
  const double dm =
      astro_fold_pulsar_dm(&self->pulsar, self->ephemeris, astro_stage_observation(stage));
  g_clear_pointer(&self->phases, astro_phases_free);
  if (dm == self->profile.dm)
    return TRUE;
  set_pulsar(self, self->profile.period, dm);
  gst_base_transform_reconfigure_src(GST_BASE_TRANSFORM(stage));
  return TRUE;
}

static gboolean find_phases(AstroFold *self, GError **error)
{
  AstroStage *stage = ASTRO_STAGE(self);
  if (!self->phases)
    self->phases = astro_fold_pulsar_phases(&self->pulsar, astro_stage_in(stage),
                                            astro_stage_observation(stage), error);
  return self->phases != NULL;
}

/* ---- work ---- */

/* Gives a profile its counts. One without any good sample is a GAP. */
static void add_counts(AstroStage *stage, GstBuffer *out)
{
  const AstroFold *self = ASTRO_FOLD(stage);
  const AstroStream *stream = astro_stage_out(stage);
  AstroLayout shape = { 0 };
  guint64 n = 1, lost = 0;

  for (guint i = 0; i < stream->layout.n_axes; i++)
    if (stream->layout.axes[i] != ASTRO_AXIS_POL) {
      shape.axes[shape.n_axes] = stream->layout.axes[i];
      shape.extents[shape.n_axes] = stream->layout.extents[i];
      n *= shape.extents[shape.n_axes++];
    }
  while (lost < n && !self->counts[lost])
    lost++;
  const guint64 bins = astro_stream_extent(stream, ASTRO_AXIS_PHASE);
  const guint32 full = (guint32)((self->spectra + bins - 1) / bins);
  AstroValidityMeta *meta = astro_buffer_add_validity(out, &shape, full);
  meta->slowest_first = TRUE;
  memcpy(meta->counts, self->counts, n * sizeof *meta->counts);
  if (lost == n)
    GST_BUFFER_FLAG_SET(out, GST_BUFFER_FLAG_GAP);
}

/* The sub-integration that the stream's end cut short has its length. */
static void end_early(AstroStage *stage, GstBuffer *out)
{
  const AstroFold *self = ASTRO_FOLD(stage);
  GST_BUFFER_DURATION(out) = astro_stage_time_in(stage, self->end) -
                             astro_stage_time_in(stage, self->number * self->spectra);
}

static gboolean make_room(AstroFold *self, gsize n)
{
  if (n <= self->n_counts)
    return TRUE;
  g_free(self->counts);
  self->counts = g_try_new(guint32, n);
  self->n_counts = self->counts ? n : 0;
  return self->counts != NULL;
}

/* Adds a part of a block (in is NULL: nothing), and sends the profile if it ends. */
static gboolean add(AstroStage *stage, GstBuffer *in, AstroFoldArguments *arguments,
                    gboolean is_cut, GError **error)
{
  AstroFold *self = ASTRO_FOLD(stage);
  const gsize bytes = astro_stream_step_bytes(astro_stage_out(stage));
  g_autoptr(GstBuffer) out = NULL;

  arguments->begin = self->stale;
  arguments->lags = self->lags;
  if (arguments->end) {
    if (!make_room(self, bytes / sizeof(float)))
      return astro_backend_no_memory(error, "no memory for the counts of a profile");
    astro_stage_result(stage)->counts = self->counts;
    out = astro_stage_new_buffer(stage, bytes, error);
    if (!out)
      return FALSE;
  }
  if ((in || out) && !astro_stage_submit(stage, in, out, arguments, error))
    return FALSE;
  self->stale = self->stale && !in && !out;
  if (!out)
    return TRUE;
  add_counts(stage, out);
  self->open = FALSE;
  GstBuffer *sent = g_steal_pointer(&out);
  astro_stage_emit(stage, sent, self->number, 1);
  if (is_cut)
    end_early(stage, sent);
  return TRUE;
}

static gboolean end_profile(AstroStage *stage, gboolean is_cut, GError **error)
{
  AstroFoldArguments arguments = { .end = TRUE };
  return !ASTRO_FOLD(stage)->open || add(stage, NULL, &arguments, is_cut, error);
}

/* Channels lag as they do in the middle of the sub-integration. */
static gboolean begin_profile(AstroStage *stage, guint64 number, GError **error)
{
  AstroFold *self = ASTRO_FOLD(stage);
  const AstroStream *in = astro_stage_in(stage);
  const double middle = ((double)number + 0.5) * (double)self->spectra * in->rate_d / in->rate_n;
  self->open = TRUE;
  self->number = number;
  return astro_fold_pulsar_lags(self->phases, in, astro_stage_observation(stage),
                                (double)astro_stage_epoch(stage) / GST_SECOND + middle, self->lags,
                                error);
}

static gboolean find_turns(AstroStage *stage, guint64 first, guint64 steps, guint32 *phases,
                           GError **error)
{
  const AstroStream *in = astro_stage_in(stage);
  const AstroPhaseSteps axis = { (double)astro_stage_epoch(stage) / GST_SECOND, in->rate_n,
                                 in->rate_d };
  g_autofree double *turns = g_new(double, steps);
  if (!astro_phases_of_steps(ASTRO_FOLD(stage)->phases, &axis, first, steps, turns, error))
    return FALSE;
  for (guint64 t = 0; t < steps; t++)
    phases[t] = astro_fold_phase(turns[t]);
  return TRUE;
}

/* Divides a block at the ends of sub-integrations. */
static gboolean feed(AstroStage *stage, GstBuffer *in, guint64 first, guint64 steps, GError **error)
{
  AstroFold *self = ASTRO_FOLD(stage);
  const gboolean gap = GST_BUFFER_FLAG_IS_SET(in, GST_BUFFER_FLAG_GAP);
  AstroGoodSamples good = { 0 };
  g_autofree guint32 *phases = g_new(guint32, steps);

  if (!find_phases(self, error) || !find_turns(stage, first, steps, phases, error))
    return FALSE;
  if (!gap)
    astro_integration_mark_good(&good, in, astro_stage_in(stage), steps);
  g_autofree guint8 *valid = good.valid;
  for (guint64 from = 0, to; from < steps; from = to) {
    const guint64 number = (first + from) / self->spectra;
    to = MIN(steps, (number + 1) * self->spectra - first);
    /* Lost steps took the rest of the open sub-integration with them. */
    if (self->open && number != self->number && !end_profile(stage, FALSE, error))
      return FALSE;
    if (!self->open && !begin_profile(stage, number, error))
      return FALSE;
    AstroFoldArguments arguments = { .steps = gap ? 0 : steps,
                                     .from = gap ? 0 : from,
                                     .to = gap ? 0 : to,
                                     .phases = phases,
                                     .valid = valid,
                                     .valid_time = good.time,
                                     .valid_channel = good.channel,
                                     .valid_station = good.station,
                                     .end = (first + to) % self->spectra == 0 };
    self->end = first + to;
    if (!add(stage, gap ? NULL : in, &arguments, FALSE, error))
      return FALSE;
  }
  return TRUE;
}

static gboolean finish(AstroStage *stage, GError **error)
{
  return end_profile(stage, TRUE, error);
}

static void reset(AstroStage *stage)
{
  AstroFold *self = ASTRO_FOLD(stage);
  self->open = FALSE;
  self->stale = TRUE;
}

static guint64 latency_steps(AstroStage *stage)
{
  return ASTRO_FOLD(stage)->spectra;
}

/* ---- states and properties ---- */

static void clear_pulsar(AstroFold *self)
{
  g_free(self->pulsar.ephemeris);
  g_free(self->pulsar.planets);
  self->pulsar = (AstroFoldPulsar){ 0 };
  set_pulsar(self, 0, self->profile.dm);
  g_clear_pointer(&self->ephemeris, astro_ephemeris_free);
  g_clear_pointer(&self->phases, astro_phases_free);
}

static gboolean start(AstroStage *stage)
{
  AstroFold *self = ASTRO_FOLD(stage);
  g_autoptr(GError) error = NULL;
  clear_pulsar(self);
  self->pulsar = (AstroFoldPulsar){
    .period = self->set.period,
    .ephemeris = astro_fields_copy_text(self, &self->set.ephemeris),
    .planets = astro_fields_copy_text(self, &self->set.planets),
    .dm = self->set.dm,
  };
  self->earth = (AstroEarthUse){ 0 };
  if (!astro_fold_pulsar_read(&self->pulsar, &self->ephemeris, &error)) {
    GST_ELEMENT_ERROR(self, LIBRARY, SETTINGS, ("%s", error->message), (NULL));
    return FALSE;
  }
  set_pulsar(self, astro_fold_pulsar_period(&self->pulsar, self->ephemeris),
             astro_fold_pulsar_dm(&self->pulsar, self->ephemeris, NULL));
  g_autofree char *warning = astro_fold_pulsar_warning(&self->pulsar, self->ephemeris);
  if (warning)
    GST_ELEMENT_WARNING(self, LIBRARY, SETTINGS, ("%s", warning), (NULL));
  return ASTRO_STAGE_CLASS(astro_fold_parent_class)->start(stage);
}

static const AstroField fields[] = {
  ASTRO_DOUBLE(AstroFold, set.period, "period", "Period",
               "Period of the pulsar at the telescope in seconds; 0: by the ephemeris", 0, 1e6, 0),
  ASTRO_TEXT(AstroFold, set.ephemeris, "ephemeris", "Ephemeris",
             "A .par file of TEMPO, TEMPO2 or PINT, of a pulsar without companion", NULL),
  ASTRO_TEXT(AstroFold, set.planets, "planets", "Planets",
             "Kernel of the JPL for the Earth's place, such as de440s.bsp (unset: ERFA's, right to "
             "45 us)",
             NULL),
  ASTRO_DOUBLE(AstroFold, set.dm, "dm", "Dispersion measure",
               "By which channels are folded at their own delays, in pc/cm^3; -1: that of the "
               "ephemeris, or 0; not used where dispersion was taken out already",
               -1, 1e5, -1),
  ASTRO_UINT(AstroFold, profile.bins, "bins", "Bins", "Bins of phase in a profile", 2,
             ASTRO_FOLD_MOST_BINS, 128),
  ASTRO_DOUBLE(AstroFold, profile.interval, "interval", "Interval",
               "Duration of a sub-integration in seconds: the nearest whole number of time steps",
               0, 1e9, 10),
  ASTRO_EARTH_FIELD(AstroFold, earth_orientation),
  { 0 },
};

static void finalize(GObject *object)
{
  AstroFold *self = ASTRO_FOLD(object);
  clear_pulsar(self);
  g_free(self->counts);
  g_free(self->lags);
  G_OBJECT_CLASS(astro_fold_parent_class)->finalize(object);
}

static void astro_fold_class_init(AstroFoldClass *klass)
{
  static const AstroQuantity power[] = { ASTRO_QUANTITY_POWER, ASTRO_QUANTITY_UNKNOWN };
  static const AstroQuantity profile[] = { ASTRO_QUANTITY_PROFILE, ASTRO_QUANTITY_UNKNOWN };
  GObjectClass *object = G_OBJECT_CLASS(klass);
  GstBaseTransformClass *trans = GST_BASE_TRANSFORM_CLASS(klass);
  AstroStageClass *stage = ASTRO_STAGE_CLASS(klass);

  astro_fields_install(object, fields, 0);
  object->finalize = finalize;
  trans->transform_caps = transform_caps;
  trans->fixate_caps = astro_stage_fixate_preferred;
  trans->set_caps = set_caps;
  stage->stage = "fold";
  stage->backends = astro_fold_backends;
  stage->tell_work = astro_fold_work;
  stage->start = start;
  stage->configure = configure;
  stage->orient = orient;
  stage->observed = observed;
  stage->feed = feed;
  stage->finish = finish;
  stage->reset = reset;
  stage->latency_steps = latency_steps;
  stage->adds_counts = TRUE;
  astro_stage_class_add_pads(stage, power, profile);
  gst_element_class_set_static_metadata(GST_ELEMENT_CLASS(klass), "Fold", "Filter/Analyzer",
                                        "Folds power by the phase of a pulsar", ASTRO_AUTHOR);
  gst_element_class_add_static_metadata(
      GST_ELEMENT_CLASS(klass), "takes",
      "power F32LE: time, channel, station or beam, and pol in any order");
  gst_element_class_add_static_metadata(GST_ELEMENT_CLASS(klass), "gives",
                                        "profile F32LE: station:channel:pol:phase");
}

static void astro_fold_init(AstroFold *self)
{
  astro_fields_set_defaults(self);
}
