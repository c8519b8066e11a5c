/**
 * SECTION:element-astroobserve
 *
 * Says what a stream is an observation of: which array looked where, and when. After a file or a
 * socket it turns bytes and caps into a stream that all other elements accept. After a stream that
 * has an observation it changes some of it, for instance the phase centre or the positions.
 * Properties that are not set leave things as they came. With earth-orientation, an IERS file, all
 * elements downstream compute with its UT1 - UTC and polar motion.
 *
 * Delays were computed with a certain phase centre, start and array, so these cannot change once
 * the delays are taken out: astroobserve refuses that downstream of astrodelay and for
 * visibilities. astrophaseshift changes the phase centre of visibilities. Bytes do not tell what
 * was done to them before they were recorded: the properties delays and scale say it. A phase
 * centre below the array's horizon at the start gives a warning. phase-centre may be set while the
 * stream runs: the observation before the next block has it, and elements downstream follow. One
 * that is wrong gives a warning, and the stream keeps the one before.
 *
 * A stream of bytes, as filesrc and fdsrc send it, may be cut anywhere: blocks of whole steps
 * leave, with times counted from the first byte after skip. Where such a source counts its bytes,
 * as both do, bytes that something dropped count as missing and do not shift what follows; repeated
 * bytes are left out. Streams with times of their own pass unchanged if OFFSET and OFFSET_END count
 * their steps, or PTS is that of whole steps since the start, or DURATION is that of the steps.
 * Sources that stamp times of arrival are refused, since these say neither when samples were taken
 * nor what was lost: udpsrc, and fdsrc, tcpclientsrc, shmsrc or appsrc with do-timestamp=true.
 * Without it all but udpsrc are fine, as is filesrc: they lose nothing, so that counting is enough.
 * A step is one sample of each input, one spectrum of each, or one frame of visibilities. In
 * layouts whose slowest axis is not time, block gives the size of one array.
 *
 * |[
 * gst-launch-1.0 filesrc location=voltages.ci8 ! \
 *   "application/x-astro-voltages,format=CI8,layout=time:station:pol,stations=8,pols=2,\
 *   rate=1000000/1,frequency=150e6,bandwidth=1e6" ! \
 *   astroobserve array=positions.txt phase-centre=200,-30 start-time=2026-11-20T12:00:00 \
 *   earth-orientation=finals2000A.all ! \
 *   astrodelay ! astrochannelizer channels=64 ! astrotranspose ! \
 *   astrocorrelator integration=3125 ! astrofitssink location=voltages.uvfits
 * ]|
 */
#include "config.h"
#include "elements/astroobserve.h"

#include <string.h>

#include "core/kit/enum.h"
#include "core/lib/sky/earth-file.h"
#include "core/lib/sky/setup.h"
#include "elements/astroobserve-bytes.h"
#include "elements/base/astrofields.h"
#include "elements/base/astrohorizon.h"
#include "elements/base/astroincoming.h"
#include "elements/base/astrolog.h"
#include "elements/base/astroonce.h"
#include "elements/base/astroreader.h"
#include "elements/base/astrostage.h"
#include "elements/base/astrosteps.h"

typedef enum { BASIS_AS_IT_CAME, BASIS_LINEAR, BASIS_CIRCULAR, BASIS_STOKES } Basis;

ASTRO_STATIC_ENUM_TYPE(basis_get_type, "AstroObserveBasis",
                       { BASIS_AS_IT_CAME, "As it came; linear if no observation came",
                         "upstream" },
                       { BASIS_LINEAR, "X and Y", "linear" },
                       { BASIS_CIRCULAR, "R and L", "circular" },
                       { BASIS_STOKES, "The only product of visibilities is Stokes I", "stokes" })

typedef enum { DELAYS_AS_THEY_CAME, DELAYS_IN, DELAYS_OUT } Delays;

ASTRO_STATIC_ENUM_TYPE(delays_get_type, "AstroObserveDelays",
                       { DELAYS_AS_THEY_CAME,
                         "As it came; if no observation came, in for voltages and spectra, out for "
                         "visibilities",
                         "upstream" },
                       { DELAYS_IN, "Still in the samples, as the stations received them", "in" },
                       { DELAYS_OUT, "Taken out for the phase centre, as by astrodelay", "out" })

typedef struct {
  AstroSetup setup;
  char *telescope;
  Basis basis;
  Delays delays;
  double scale;
  guint64 skip;
  guint block;
} Settings;

/* Copies for queries, which come from other threads. */
typedef struct {
  AstroStream stream;
  gsize step; /* bytes; 0: not a stream of bytes, or it has no rate */
  guint64 skip;
  GstClockTime latency;
} Asked;

struct _AstroObserve {
  GstBaseTransform parent;
  Settings settings;
  Settings now;      /* copies of the properties at the start, and of those set since that may be */
  gint has_settings; /* atomic: phase-centre was set since the last block */
  AstroStream stream;
  gboolean has_stream;
  AstroObservation *came; /* from upstream, or NULL */
  gboolean is_told;       /* the observation was sent for these caps and this upstream one */
  gboolean is_bytes;      /* the input is a stream of bytes */
  AstroBytes bytes;
  AstroSteps steps;   /* refuses a second stream mixed into the first */
  gboolean is_warned; /* that repeated bytes are left out */
  Asked asked;        /* under the object's lock */
};

G_DEFINE_TYPE(AstroObserve, astro_observe, GST_TYPE_BASE_TRANSFORM)
GST_ELEMENT_REGISTER_DEFINE(astroobserve, "astroobserve", GST_RANK_NONE, ASTRO_TYPE_OBSERVE)

static void settings_changed(GObject *object)
{
  g_atomic_int_set(&ASTRO_OBSERVE(object)->has_settings, TRUE);
}

/* Any number may be a latitude or longitude, so a separate flag says whether one was set. */
static const AstroField fields[] = {
  ASTRO_TEXT(Settings, telescope, "telescope", "Telescope",
             "Name of the telescope (unset: as it came)", NULL),
  ASTRO_TEXT(
      Settings, setup.array, "array", "Array",
      "Stations, as many as the caps say: a file of lines x y z [name] in metres, geocentric, or "
      "east north up where latitude and longitude are set or the file begins with a line site "
      "latitude longitude [height]; or disc, vla-like, lofar-like (unset: as they came)",
      NULL),
  ASTRO_DOUBLE(Settings, setup.latitude, "latitude", "Latitude",
               "Degrees north of the array (unset: the preset's own; files are geocentric)", -90,
               90, 0, .told = G_STRUCT_OFFSET(Settings, setup.has_latitude)),
  ASTRO_DOUBLE(Settings, setup.longitude, "longitude", "Longitude",
               "Degrees east of the array (unset: the preset's own; files are geocentric)", -360,
               360, 0, .told = G_STRUCT_OFFSET(Settings, setup.has_longitude)),
  ASTRO_TEXT(
      Settings, setup.phase_centre, "phase-centre", "Phase centre",
      "ra,dec, ICRS, in degrees or as 13:31:08.3,+30:30:33; or zenith, for that of the array "
      "at the start (unset: as it came). May be set while the stream runs, and applies from the "
      "next block on",
      NULL, .when = ASTRO_WHEN_PLAYING, .changed = settings_changed),
  ASTRO_TEXT(Settings, setup.start_time, "start-time", "Start time",
             "UTC of time zero, as 2026-11-20T12:00:00[.fraction] (unset: as it came)", NULL),
  ASTRO_TEXT(Settings, setup.earth_orientation, "earth-orientation", "Earth orientation",
             ASTRO_EARTH_HELP " of all elements downstream (unset: as it came)", NULL),
  ASTRO_ENUM(Settings, basis, "basis", "Basis", "The two polarisations that receivers measure",
             basis_get_type, BASIS_AS_IT_CAME),
  ASTRO_UINT64(Settings, skip, "skip", "Skip",
               "Bytes before the first sample of a stream of bytes, such as a file's header", 0,
               G_MAXINT64, 0),
  ASTRO_UINT(Settings, block, "block", "Block",
             "Bytes in the blocks that a stream of bytes is cut into (0: 4 MiB). Where time is the "
             "slowest axis, whole steps up to this many bytes; otherwise the size of one array (0: "
             "each buffer is one array)",
             0, G_MAXUINT, 0),
  ASTRO_ENUM(
      Settings, delays, "delays", "Delays",
      "Whether delays of the phase centre are still in the samples; depends on whether a file "
      "was recorded before or after astrodelay",
      delays_get_type, DELAYS_AS_THEY_CAME),
  ASTRO_DOUBLE(
      Settings, scale, "scale", "Scale",
      "Steps per root of Jy of voltages and spectra, like astroskysrc's active-scale; "
      "visibilities divided by its square are in Jy (0: as it came; if nothing came, images "
      "are in arbitrary units)",
      0, 1e12, 0),
  { 0 },
};

static GstPad *src_pad(AstroObserve *self)
{
  return GST_BASE_TRANSFORM_SRC_PAD(self);
}

/* ---- the observation ---- */

static gboolean is_set(const Settings *settings)
{
  const AstroSetup *setup = &settings->setup;
  return astro_field_given(setup->array) || astro_field_given(setup->phase_centre) ||
         astro_field_given(setup->start_time) || astro_field_given(setup->earth_orientation) ||
         astro_field_given(settings->telescope) || settings->basis != BASIS_AS_IT_CAME ||
         setup->has_latitude || setup->has_longitude || settings->delays != DELAYS_AS_THEY_CAME ||
         settings->scale > 0;
}

static void replace(char **text, const char *with)
{
  if (with) {
    g_free(*text);
    *text = g_strdup(with);
  }
}

/* If upstream knows about its delays, a property that contradicts it is refused. */
static gboolean amend_history(AstroObserve *self, AstroObservation *observation, GError **error)
{
  static const AstroDelays told[] = {
    [DELAYS_IN] = ASTRO_DELAYS_IN, [DELAYS_OUT] = ASTRO_DELAYS_OUT
  };
  const AstroDelays set = told[self->now.delays];
  AstroHistory *done = &observation->done;
  if (self->now.scale > 0)
    done->scale = self->now.scale;
  if (set != ASTRO_DELAYS_UNTOLD && done->delays != ASTRO_DELAYS_UNTOLD && set != done->delays)
    return astro_stream_refuse(
        error, ASTRO_STREAM_ERROR_CAPS,
        "property delays says that delays are %s, and the stream says that they "
        "are %s: expected delays=upstream, which uses what the stream says",
        set == ASTRO_DELAYS_IN ? "in" : "out", set == ASTRO_DELAYS_IN ? "out" : "in");
  if (set != ASTRO_DELAYS_UNTOLD)
    done->delays = set;
  done->delays = astro_history_delays(done, self->stream.quantity);
  return !self->came ||
         astro_setup_check_used(self->came, observation, self->stream.quantity, error);
}

/* Stokes I is made of products: samples of receivers are never it. */
static gboolean check_basis(const AstroObserve *self, GError **error)
{
  const AstroStream *s = &self->stream;
  const guint64 pols = astro_stream_extent(s, ASTRO_AXIS_POL);
  return self->now.basis != BASIS_STOKES ||
         (s->quantity == ASTRO_QUANTITY_VISIBILITIES && pols == 1) ||
         astro_stream_refuse(error, ASTRO_STREAM_ERROR_CAPS,
                             "property basis is stokes, and the stream is %s of %" G_GUINT64_FORMAT
                             " polarisations: expected visibilities of one, which is I",
                             astro_quantity_name(s->quantity), pols);
}

static AstroObservation *amend(AstroObserve *self, GError **error)
{
  static const char *const bases[] = {
    [BASIS_LINEAR] = "linear", [BASIS_CIRCULAR] = "circular", [BASIS_STOKES] = "stokes"
  };
  const guint stations = (guint)astro_stream_stations(&self->stream);
  g_autoptr(AstroObservation) observation =
      astro_setup_amend(&self->now.setup, self->came, stations, error);

  if (!observation || !check_basis(self, error))
    return NULL;
  if (observation->n_stations != stations) {
    g_autofree char *found =
        self->came || observation->n_stations
            ? g_strdup_printf("%u stations", observation->n_stations)
            : g_strdup("no stations: array is not set and no observation came");
    astro_stream_refuse(error, ASTRO_STREAM_ERROR_CAPS,
                        "the observation has %s, expected %u as in the caps", found, stations);
    return NULL;
  }
  replace(&observation->telescope, astro_field_given(self->now.telescope));
  replace(&observation->basis, bases[self->now.basis]);
  return amend_history(self, observation, error) ? g_steal_pointer(&observation) : NULL;
}

/* Sends the observation once, when caps and all else that precedes the first block are known. */
static gboolean tell(AstroObserve *self)
{
  g_autoptr(GError) error = NULL;

  if (self->is_told || !self->has_stream || (!self->came && !is_set(&self->now)))
    return TRUE;
  g_autoptr(AstroObservation) observation = amend(self, &error);
  if (!observation) {
    GST_ELEMENT_ERROR(self, LIBRARY, SETTINGS, ("%s", error->message), (NULL));
    return FALSE;
  }
  self->is_told = TRUE;
  /* Shows a wrong start-time, sign or site. Only the start is checked, as the length is unknown.
   */
  astro_horizon_warn(GST_ELEMENT(self), observation, "another start-time, phase-centre or array");
  gst_pad_push_event(src_pad(self), astro_observation_to_event(observation));
  return TRUE;
}

/* ---- blocks ---- */

static GstFlowReturn refuse(AstroObserve *self, const GError *error)
{
  GST_ELEMENT_ERROR(self, STREAM, FORMAT, ("%s", error->message), (NULL));
  return GST_FLOW_ERROR;
}

static GstFlowReturn push(AstroObserve *self, GstBuffer *block)
{
  return block ? gst_pad_push(src_pad(self), block) : GST_FLOW_OK;
}

static void warn_of_again(AstroObserve *self, guint64 bytes)
{
  if (self->is_warned)
    return;
  self->is_warned = TRUE;
  GST_ELEMENT_WARNING(
      self, STREAM, FORMAT,
      ("%" G_GUINT64_FORMAT " bytes before byte %" G_GUINT64_FORMAT
       " came again, or late, and are left out, as are further ones: each byte counts "
       "once",
       bytes, self->bytes.end),
      (NULL));
}

/* Samples that a queue dropped, or that are marked as GAP, do not shift those that follow. */
static GstFlowReturn take_in(AstroObserve *self, GstBuffer *buffer)
{
  guint64 again;

  buffer = astro_bytes_cut(&self->bytes, buffer, &again);
  if (again) {
    ASTRO_DEBUG(self, "%" G_GUINT64_FORMAT " bytes came again, or late, and are left out", again);
    warn_of_again(self, again);
  }
  if (!buffer)
    return GST_FLOW_OK;
  const gboolean is_gap = GST_BUFFER_FLAG_IS_SET(buffer, GST_BUFFER_FLAG_GAP);
  const guint64 lost = astro_bytes_lost(&self->bytes, buffer);
  if (lost)
    ASTRO_DEBUG(self, "jump: %" G_GUINT64_FORMAT " bytes are missing", lost);
  GstFlowReturn flow =
      push(self, lost ? astro_bytes_lose(&self->bytes, &self->stream, lost) : NULL);

  if (!is_gap) {
    astro_bytes_add(&self->bytes, &self->stream, buffer);
    return flow;
  }
  GstBuffer *before = astro_bytes_add_gap(&self->bytes, &self->stream, buffer);
  if (flow == GST_FLOW_OK)
    return push(self, before);
  gst_clear_buffer(&before);
  return flow;
}

/* Nothing is sent where downstream no longer accepts data. */
static gboolean holds_blocks(AstroObserve *self)
{
  return self->is_bytes && self->has_stream &&
         gst_pad_get_last_flow_return(src_pad(self)) == GST_FLOW_OK;
}

/* Called before an event about what follows. The flow is ignored, as the next block returns it. */
static void send_whole(AstroObserve *self)
{
  if (holds_blocks(self))
    push(self, astro_bytes_take_whole(&self->bytes, &self->stream));
}

/* A phase centre that the stream cannot have must not end an observation. */
static void take_settings(AstroObserve *self)
{
  char **used = &self->now.setup.phase_centre, *before = *used;
  g_autoptr(GError) error = NULL;

  if (!g_atomic_int_compare_and_exchange(&self->has_settings, TRUE, FALSE))
    return;
  *used = astro_fields_copy_text(self, &self->settings.setup.phase_centre);
  g_autoptr(AstroObservation) observation = amend(self, &error);
  if (observation) {
    g_free(before);
    send_whole(self);
    self->is_told = FALSE;
    return;
  }
  astro_fields_put_back(self, &self->settings.setup.phase_centre, *used, before);
  GST_ELEMENT_WARNING(self, LIBRARY, SETTINGS,
                      ("%s. The stream goes on with the value before", error->message), (NULL));
  g_free(*used);
  *used = before;
}

static GstFlowReturn generate_output(GstBaseTransform *trans, GstBuffer **out)
{
  AstroObserve *self = ASTRO_OBSERVE(trans);
  g_autoptr(GError) error = NULL;

  if (trans->queued_buf)
    take_settings(self);
  if (trans->queued_buf && !tell(self)) {
    gst_clear_buffer(&trans->queued_buf);
    return GST_FLOW_ERROR;
  }
  if (trans->queued_buf && !astro_stream_check_counts(&self->stream, trans->queued_buf, &error)) {
    gst_clear_buffer(&trans->queued_buf);
    return refuse(self, error);
  }
  if (!self->is_bytes) {
    if (trans->queued_buf &&
        !astro_check_times_of_samples(GST_BASE_TRANSFORM_SINK_PAD(trans), &self->stream,
                                      trans->queued_buf, &error)) {
      gst_clear_buffer(&trans->queued_buf);
      return refuse(self, error);
    }
    return GST_BASE_TRANSFORM_CLASS(astro_observe_parent_class)->generate_output(trans, out);
  }
  if (trans->queued_buf) {
    if (!astro_steps_check_alone(&self->steps, &error)) {
      gst_clear_buffer(&trans->queued_buf);
      return refuse(self, error);
    }
    const GstFlowReturn flow = take_in(self, g_steal_pointer(&trans->queued_buf));
    if (flow != GST_FLOW_OK)
      return flow;
  }
  return astro_bytes_take(&self->bytes, &self->stream, out, &error) ? GST_FLOW_OK
                                                                    : refuse(self, error);
}

/* Called at an end. Upstream pushes nothing more, so errors have to be posted here. */
static void send_rest(AstroObserve *self)
{
  g_autoptr(GError) left = NULL;

  if (!holds_blocks(self))
    return;
  const GstFlowReturn flow = push(self, astro_bytes_take_rest(&self->bytes, &self->stream, &left));
  if (astro_flow_is_lost(flow))
    GST_ELEMENT_FLOW_ERROR(self, flow);
  if (left && flow == GST_FLOW_OK)
    GST_ELEMENT_WARNING(self, STREAM, FORMAT, ("%s", left->message), (NULL));
}

/* Updates the answers to queries. Latency: less than a block is held back. */
static void tell_queries(AstroObserve *self)
{
  Asked asked = { .stream = self->stream, .skip = self->bytes.skip };

  if (self->is_bytes && self->has_stream && self->stream.rate_n > 0) {
    const guint64 block = astro_bytes_of_block(&self->bytes, &self->stream);
    asked.step = astro_stream_step_bytes(&self->stream);
    asked.latency = astro_stream_time(&self->stream, block / asked.step);
  }
  GST_OBJECT_LOCK(self);
  const gboolean is_new = asked.latency != self->asked.latency;
  self->asked = asked;
  GST_OBJECT_UNLOCK(self);
  if (is_new)
    gst_element_post_message(GST_ELEMENT(self), gst_message_new_latency(GST_OBJECT(self)));
}

static GstEvent *segment_event(AstroObserve *self, GstEvent *event)
{
  const GstSegment *segment;
  GstSegment time;

  gst_event_parse_segment(event, &segment);
  if (!astro_segment_is_known(GST_BASE_TRANSFORM_SINK_PAD(self), segment)) {
    send_rest(self);
    self->is_bytes = segment->format == GST_FORMAT_BYTES;
    astro_bytes_seek(&self->bytes, segment->start);
    tell_queries(self);
  }
  if (!self->is_bytes)
    return event;
  gst_segment_init(&time, GST_FORMAT_TIME);
  GstEvent *replaced = gst_event_new_segment(&time);
  gst_event_set_seqnum(replaced, gst_event_get_seqnum(event));
  gst_event_unref(event);
  return replaced;
}

/* ---- events and queries ---- */

/* Blocks held so far belong to the previous observation, so they are sent first. */
static gboolean observation_event(AstroObserve *self, GstEvent *event)
{
  g_autoptr(GError) error = NULL;
  AstroObservation *came = astro_observation_from_event(event, &error);

  gst_event_unref(event);
  if (!came) {
    GST_ELEMENT_ERROR(self, STREAM, FORMAT, ("%s", error->message), (NULL));
    return FALSE;
  }
  send_whole(self);
  g_clear_pointer(&self->came, astro_observation_unref);
  self->came = came;
  self->is_told = FALSE;
  return tell(self);
}

static gboolean has_caps(AstroObserve *self, GstEvent *event)
{
  g_autoptr(GstCaps) before = gst_pad_get_current_caps(GST_BASE_TRANSFORM_SINK_PAD(self));
  GstCaps *caps;

  gst_event_parse_caps(event, &caps);
  return before && gst_caps_is_equal(before, caps);
}

static void forget(AstroObserve *self)
{
  send_rest(self);
  astro_bytes_begin_stream(&self->bytes);
  g_clear_pointer(&self->came, astro_observation_unref);
  self->is_told = FALSE;
}

static gboolean sink_event(GstBaseTransform *trans, GstEvent *event)
{
  AstroObserve *self = ASTRO_OBSERVE(trans);

  if (astro_event_is_observation(event))
    return observation_event(self, event);
  switch (GST_EVENT_TYPE(event)) {
  case GST_EVENT_STREAM_START: /* another stream may have no observation */
    if (astro_steps_take_event(&self->steps, GST_BASE_TRANSFORM_SINK_PAD(trans), event))
      forget(self);
    break;
  case GST_EVENT_SEGMENT:
    astro_steps_take_event(&self->steps, GST_BASE_TRANSFORM_SINK_PAD(trans), event);
    event = segment_event(self, event);
    break;
  case GST_EVENT_CAPS:
    if (!has_caps(self, event))
      send_rest(self);
    break;
  case GST_EVENT_EOS:
  case GST_EVENT_SEGMENT_DONE:
    send_rest(self);
    break;
  case GST_EVENT_GAP:
    send_whole(self);
    tell(self);
    break;
  case GST_EVENT_FLUSH_STOP:
    astro_steps_reset(&self->steps);
    astro_bytes_seek(&self->bytes, 0);
    break;
  default:
    break;
  }
  return GST_BASE_TRANSFORM_CLASS(astro_observe_parent_class)->sink_event(trans, event);
}

/* The source of a stream of bytes knows their number but not the duration. */
static gboolean answer_duration(AstroObserve *self, const Asked *asked, GstQuery *query)
{
  GstFormat format;
  gint64 bytes;

  gst_query_parse_duration(query, &format, NULL);
  if (format != GST_FORMAT_TIME || asked->step == 0 ||
      !gst_pad_peer_query_duration(GST_BASE_TRANSFORM_SINK_PAD(self), GST_FORMAT_BYTES, &bytes))
    return FALSE;
  const guint64 left = (guint64)bytes > asked->skip ? (guint64)bytes - asked->skip : 0;
  gst_query_set_duration(query, format,
                         (gint64)astro_stream_time(&asked->stream, left / asked->step));
  return TRUE;
}

static gboolean query(GstBaseTransform *trans, GstPadDirection direction, GstQuery *query)
{
  AstroObserve *self = ASTRO_OBSERVE(trans);
  const gboolean is_from_below = direction == GST_PAD_SRC;

  GST_OBJECT_LOCK(self);
  const Asked asked = self->asked;
  GST_OBJECT_UNLOCK(self);
  if (is_from_below && GST_QUERY_TYPE(query) == GST_QUERY_DURATION &&
      answer_duration(self, &asked, query))
    return TRUE;
  if (!astro_transform_query(trans, direction, query))
    return FALSE;
  if (is_from_below && GST_QUERY_TYPE(query) == GST_QUERY_LATENCY)
    astro_query_add_latency(query, asked.latency);
  return TRUE;
}

static gboolean set_caps(GstBaseTransform *trans, GstCaps *in, GstCaps *out)
{
  AstroObserve *self = ASTRO_OBSERVE(trans);
  const AstroStream before = self->stream;
  g_autoptr(GError) error = NULL;

  astro_log_caps(self, in, out);
  self->is_told = FALSE;
  self->has_stream = astro_stream_from_caps(&self->stream, in, &error) &&
                     astro_stream_check_sums(&self->stream, &error);
  if (!self->has_stream) {
    GST_ELEMENT_ERROR(self, STREAM, FORMAT, ("%s", error->message), (NULL));
    return FALSE;
  }
  astro_bytes_follow_rate(&self->bytes, &before, &self->stream);
  tell_queries(self);
  return TRUE;
}

/* ---- states and properties ---- */

static gboolean start(GstBaseTransform *trans)
{
  AstroObserve *self = ASTRO_OBSERVE(trans);
  g_atomic_int_set(&self->has_settings, FALSE);
  astro_fields_clear(fields, &self->now);
  astro_fields_copy(fields, self, &self->now, &self->settings, sizeof self->now);
  self->is_warned = FALSE;
  self->bytes.skip = self->now.skip;
  self->bytes.block = self->now.block;
  return TRUE;
}

static gboolean stop(GstBaseTransform *trans)
{
  AstroObserve *self = ASTRO_OBSERVE(trans);
  g_clear_pointer(&self->came, astro_observation_unref);
  astro_bytes_seek(&self->bytes, 0);
  astro_steps_reset(&self->steps);
  memset(&self->stream, 0, sizeof self->stream);
  self->has_stream = self->is_told = self->is_bytes = FALSE;
  tell_queries(self);
  return TRUE;
}

static GstStateChangeReturn change_state(GstElement *element, GstStateChange change)
{
  return astro_transform_change_state(element, change, astro_observe_parent_class, start);
}

static void finalize(GObject *object)
{
  AstroObserve *self = ASTRO_OBSERVE(object);
  astro_fields_clear(fields, &self->now);
  astro_bytes_clear(&self->bytes);
  G_OBJECT_CLASS(astro_observe_parent_class)->finalize(object);
}

static void astro_observe_class_init(AstroObserveClass *klass)
{
  GObjectClass *object = G_OBJECT_CLASS(klass);
  GstElementClass *element = GST_ELEMENT_CLASS(klass);
  GstBaseTransformClass *transform = GST_BASE_TRANSFORM_CLASS(klass);
  g_autoptr(GstCaps) caps =
      gst_caps_from_string("application/x-astro-voltages; application/x-astro-spectra; "
                           "application/x-astro-visibilities");

  astro_fields_install(object, fields, G_STRUCT_OFFSET(AstroObserve, settings));
  object->finalize = finalize;
  element->change_state = change_state;
  transform->passthrough_on_same_caps = TRUE;
  transform->stop = stop;
  transform->set_caps = set_caps;
  transform->sink_event = sink_event;
  transform->query = query;
  transform->submit_input_buffer = astro_transform_submit;
  transform->generate_output = generate_output;
  gst_element_class_add_pad_template(
      element, gst_pad_template_new("sink", GST_PAD_SINK, GST_PAD_ALWAYS, caps));
  gst_element_class_add_pad_template(
      element, gst_pad_template_new("src", GST_PAD_SRC, GST_PAD_ALWAYS, caps));
  astro_element_class_say_once(element);
  gst_element_class_set_static_metadata(
      element, "Observation", "Filter/Metadata",
      "Says which array looked where and when; cuts a stream of bytes into blocks", ASTRO_AUTHOR);
  gst_element_class_add_static_metadata(
      element, "takes", "voltages, spectra and visibilities in any format, also as bytes");
  gst_element_class_add_static_metadata(element, "gives", "the same, with their observation");
}

static void astro_observe_init(AstroObserve *self)
{
  astro_fields_set_defaults(self);
  astro_bytes_init(&self->bytes);
}
