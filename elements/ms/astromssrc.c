/**
 * SECTION:element-astromssrc
 *
 * Reads visibilities from a Measurement Set, as CASA, LOFAR, MeerKAT and ASKAP have them, one
 * integration a buffer. Rows may be in any order, with either antenna first. Baselines that are
 * missing at a time have the count 0, as have flagged values (FLAG); WEIGHT_SPECTRUM, or WEIGHT
 * where the set lacks it, becomes counts of good samples, multiplied by a power of two where
 * weights have fractions. Antennas without rows need no place in the stream.
 *
 * All spectral windows with rows make one band, if they adjoin; else band is the number of one.
 * field is the number or the name of one field of several. column is DATA, CORRECTED_DATA or
 * MODEL_DATA.
 *
 * (u,v,w) are computed from the antennas. UVW decides whether values are those of antenna 1 with
 * antenna 2 or the opposite. If it would make another picture (a source 256 beams from the phase
 * centre moves by more than a tenth of a beam), the set is refused, unless uvw says which to
 * believe. UT1 - UTC and polar motion are those recorded in sets of astromssink, or of an IERS file
 * (earth-orientation).
 *
 * Nothing is written to the set, which other programs may read at the same time. One that another
 * program has locked for writing is an error.
 *
 * |[
 * gst-launch-1.0 astromssrc location=sky.ms ! astrogridder size=512 cell=10 ! astrofft ! \
 *   astroimage ! astrofitssink location=sky.fits
 * ]|
 */
#include "elements/ms/astromssrc.h"

#include "core/lib/sky/earth-file.h"
#include "core/memory/memory.h"
#include "core/memory/pool.h"
#include "core/stream/uvw-meta.h"
#include "core/stream/validity.h"
#include "core/sets/sets.h"
#include "elements/base/astrodeadline.h"
#include "elements/base/astrofields.h"
#include "elements/base/astrolog.h"
#include "elements/base/astroonce.h"
#include "elements/base/astrooutgoing.h"
#include "elements/base/astrostage.h"
#include "elements/base/astrostamps.h"

typedef struct {
  char *location, *column, *field, *earth_orientation;
  gint band;
  AstroSetUvw uvw;
} Settings;

struct _AstroMsSrc {
  GstPushSrc parent;
  Settings settings;
  Settings now; /* copies of the properties, from start to stop */

  AstroSetReader *reader; /* under the object's lock: queries ask for it */
  guint64 not_finite;     /* number of NaN or infinite values so far */
  AstroStamps stamps;
  AstroDeadline deadline;
};

G_DEFINE_TYPE(AstroMsSrc, astro_ms_src, GST_TYPE_PUSH_SRC)
GST_ELEMENT_REGISTER_DEFINE(astromssrc, "astromssrc", GST_RANK_NONE, ASTRO_TYPE_MS_SRC)

static const AstroField fields[] = {
  ASTRO_TEXT(Settings, location, "location", "Set name", "Path of the Measurement Set, a folder",
             NULL),
  ASTRO_TEXT(Settings, column, "column", "Column",
             "Column of values: DATA, CORRECTED_DATA or MODEL_DATA", "DATA"),
  ASTRO_INT(Settings, band, "band", "Spectral window",
            "Number of the spectral window whose rows are read (-1: all that have rows, which must "
            "adjoin)",
            -1, G_MAXINT, -1),
  ASTRO_TEXT(Settings, field, "field", "Field",
             "Number or name of the field whose rows are read (unset: the only one)", NULL),
  ASTRO_TEXT(Settings, earth_orientation, "earth-orientation", "Earth orientation",
             ASTRO_EARTH_HELP " (unset: the set's own)", NULL),
  ASTRO_ENUM(Settings, uvw, "uvw", "Source of (u,v,w)",
             "Which (u,v,w) to use if the set's own differ from those of its antennas",
             astro_set_uvw_get_type, ASTRO_SET_UVW_AUTO),
  { 0 },
};

static gboolean fail(AstroMsSrc *self, const GError *error)
{
  if (g_error_matches(error, ASTRO_BACKEND_ERROR, ASTRO_BACKEND_ERROR_GIVEN_UP))
    return FALSE;
  if (g_error_matches(error, ASTRO_SET_ERROR, ASTRO_SET_ERROR_OPEN) ||
      g_error_matches(error, ASTRO_SET_ERROR, ASTRO_SET_ERROR_LOCKED))
    GST_ELEMENT_ERROR(self, RESOURCE, OPEN_READ, ("%s", error->message), (NULL));
  else if (g_error_matches(error, ASTRO_SET_ERROR, ASTRO_SET_ERROR_READ))
    GST_ELEMENT_ERROR(self, RESOURCE, READ, ("%s", error->message), (NULL));
  else
    GST_ELEMENT_ERROR(self, STREAM, FORMAT, ("%s", error->message), (NULL));
  return FALSE;
}

static void close_file(AstroMsSrc *self)
{
  GST_OBJECT_LOCK(self);
  AstroSetReader *reader = g_steal_pointer(&self->reader);
  GST_OBJECT_UNLOCK(self);
  g_clear_pointer(&reader, astro_set_reader_close);
}

/* A missing set is reported at the start, as filesrc does. */
static gboolean check_folder(AstroMsSrc *self)
{
  g_autofree char *mark = g_build_filename(self->now.location, ASTRO_SET_MARK, NULL);
  if (g_file_test(mark, G_FILE_TEST_IS_REGULAR))
    return TRUE;
  if (g_file_test(self->now.location, G_FILE_TEST_EXISTS))
    GST_ELEMENT_ERROR(self, RESOURCE, OPEN_READ,
                      ("%s is no Measurement Set: it has no " ASTRO_SET_MARK, self->now.location),
                      (NULL));
  else
    GST_ELEMENT_ERROR(self, RESOURCE, NOT_FOUND,
                      ("cannot open %s: there is no such set", self->now.location), (NULL));
  return FALSE;
}

static gboolean start(GstBaseSrc *src)
{
  AstroMsSrc *self = ASTRO_MS_SRC(src);
  astro_fields_clear(fields, &self->now);
  astro_fields_copy(fields, self, &self->now, &self->settings, sizeof self->now);
  self->not_finite = 0;
  self->stamps = (AstroStamps){ 0 };
  astro_deadline_clear(&self->deadline);
  if (!astro_field_given(self->now.location)) {
    GST_ELEMENT_ERROR(self, RESOURCE, NOT_FOUND, ("No file name is given."),
                      ("property \"location\" is not set"));
    return FALSE;
  }
  return check_folder(self);
}

static gboolean stop(GstBaseSrc *src)
{
  close_file(ASTRO_MS_SRC(src));
  return TRUE;
}

static GstCaps *caps_of(const AstroSetContents *contents)
{
  GstCaps *caps = astro_stream_to_caps(&contents->stream);
  gst_caps_set_simple(caps, "stations", G_TYPE_INT, (gint)contents->stations, NULL);
  return caps;
}

static GstCaps *get_caps(GstBaseSrc *src, GstCaps *filter)
{
  AstroMsSrc *self = ASTRO_MS_SRC(src);
  GST_OBJECT_LOCK(self);
  GstCaps *caps = self->reader ? caps_of(astro_set_reader_contents(self->reader)) : NULL;
  GST_OBJECT_UNLOCK(self);
  if (!caps)
    caps = gst_pad_get_pad_template_caps(GST_BASE_SRC_PAD(src));
  return astro_stage_filter_caps(caps, filter);
}

/* Caps come from the file, so nothing is negotiated until it is open. */
static gboolean negotiate(GstBaseSrc *src)
{
  AstroMsSrc *self = ASTRO_MS_SRC(src);
  if (!self->reader)
    return TRUE;
  const AstroSetContents *contents = astro_set_reader_contents(self->reader);
  if (!GST_BASE_SRC_CLASS(astro_ms_src_parent_class)->negotiate(src)) {
    g_autoptr(GstCaps) made = caps_of(contents);
    astro_refused_caps(GST_BASE_SRC_PAD(src), made, "visibilities");
    return FALSE;
  }
  gst_pad_push_event(GST_BASE_SRC_PAD(src), astro_observation_to_event(contents->observation));
  return TRUE;
}

static gboolean query(GstBaseSrc *src, GstQuery *query)
{
  AstroMsSrc *self = ASTRO_MS_SRC(src);
  GstFormat format;
  guint64 duration = 0;
  if (GST_QUERY_TYPE(query) != GST_QUERY_DURATION)
    return GST_BASE_SRC_CLASS(astro_ms_src_parent_class)->query(src, query);
  gst_query_parse_duration(query, &format, NULL);
  GST_OBJECT_LOCK(self);
  if (self->reader)
    duration = astro_set_reader_contents(self->reader)->duration_ns;
  GST_OBJECT_UNLOCK(self);
  if (format != GST_FORMAT_TIME || duration == 0)
    return FALSE;
  gst_query_set_duration(query, format, (gint64)duration);
  return TRUE;
}

/* ---- integrations ---- */

static gsize frame_bytes(const AstroMsSrc *self)
{
  return astro_stream_step_bytes(&astro_set_reader_contents(self->reader)->stream);
}

/* Pools count bytes in 32 bits: larger integrations are allocated one by one. */
static gboolean fits_pool(const AstroMsSrc *self)
{
  return frame_bytes(self) <= G_MAXUINT;
}

/* Uses the pool that downstream offers, whose memory it reads fastest, or else one of ours. */
static gboolean decide_allocation(GstBaseSrc *src, GstQuery *query)
{
  AstroMsSrc *self = ASTRO_MS_SRC(src);
  guint offered = 0, min = 0, max = 0;
  g_autoptr(GstBufferPool) pool = NULL;
  if (!self->reader || !fits_pool(self)) {
    while (gst_query_get_n_allocation_pools(query) > 0)
      gst_query_remove_nth_allocation_pool(query, 0);
    return TRUE;
  }
  const guint bytes = (guint)frame_bytes(self);
  if (gst_query_get_n_allocation_pools(query) > 0) {
    gst_query_parse_nth_allocation_pool(query, 0, &pool, &offered, &min, &max);
    gst_query_set_nth_allocation_pool(query, 0, pool, MAX(bytes, offered), min, max);
  } else {
    pool = astro_buffer_pool_new(NULL);
    gst_query_add_allocation_pool(query, pool, bytes, ASTRO_POOL_DEPTH, 0);
  }
  return GST_BASE_SRC_CLASS(astro_ms_src_parent_class)->decide_allocation(src, query);
}

/* Not opened in start: all weights of a set are looked at, which takes longer than a user waits for
 * a change of state. */
static GstFlowReturn open_file(AstroMsSrc *self)
{
  g_autoptr(GError) error = NULL;
  if (self->reader)
    return GST_FLOW_OK;
  const AstroSetOptions options = {
    .uvw = self->now.uvw,
    .column = astro_field_given(self->now.column),
    .field = astro_field_given(self->now.field),
    .band = self->now.band,
    .earth_orientation = astro_field_given(self->now.earth_orientation),
  };
  AstroSetReader *reader = astro_set_reader_open(self->now.location, &options, &error);
  if (!reader) {
    fail(self, error);
    return GST_FLOW_ERROR;
  }
  GST_OBJECT_LOCK(self);
  self->reader = reader;
  GST_OBJECT_UNLOCK(self);
  const AstroSetContents *contents = astro_set_reader_contents(reader);
  if (contents->note)
    GST_ELEMENT_WARNING(self, STREAM, FORMAT, ("%s", contents->note), (NULL));
  return gst_base_src_negotiate(GST_BASE_SRC(self)) ? GST_FLOW_OK : GST_FLOW_NOT_NEGOTIATED;
}

static GstFlowReturn new_buffer(AstroMsSrc *self, GstBuffer **buffer, GstMapInfo *map)
{
  g_autoptr(GstBufferPool) pool = gst_base_src_get_buffer_pool(GST_BASE_SRC(self));
  const gsize bytes = frame_bytes(self);
  GstFlowReturn flow = GST_FLOW_OK;
  *buffer = NULL;
  if (pool && fits_pool(self))
    flow = gst_buffer_pool_acquire_buffer(pool, buffer, NULL);
  else
    *buffer = astro_buffer_new(bytes, NULL);
  if (flow == GST_FLOW_FLUSHING)
    return flow;
  if (*buffer)
    gst_buffer_set_size(*buffer, (gssize)bytes);
  if (*buffer && gst_buffer_map(*buffer, map, GST_MAP_WRITE))
    return GST_FLOW_OK;
  gst_clear_buffer(buffer);
  GST_ELEMENT_ERROR(self, RESOURCE, NO_SPACE_LEFT,
                    ("%s: an integration of %" G_GSIZE_FORMAT " bytes does not fit in memory",
                     self->now.location, bytes),
                    (NULL));
  return GST_FLOW_ERROR;
}

static GstFlowReturn end_of_file(AstroMsSrc *self)
{
  if (self->not_finite)
    GST_ELEMENT_WARNING(self, STREAM, FORMAT,
                        ("%s: NaN or infinite values were passed on as flagged: %" G_GUINT64_FORMAT,
                         self->now.location, self->not_finite),
                        (NULL));
  self->not_finite = 0;
  return GST_FLOW_EOS;
}

static GstFlowReturn read_frame(AstroMsSrc *self, GstBuffer **out)
{
  const AstroSetContents *contents = astro_set_reader_contents(self->reader);
  g_autoptr(GError) error = NULL;
  AstroUvwMeta *uvw = NULL;
  AstroLayout shape;
  GstMapInfo map;
  GstBuffer *buffer;
  gboolean end;
  const GstFlowReturn flow = new_buffer(self, &buffer, &map);
  if (flow != GST_FLOW_OK)
    return flow;
  astro_stream_shape(&contents->stream, 1, &shape);
  AstroValidityMeta *validity = astro_buffer_add_validity(buffer, &shape, 0);
  if (contents->observation->uvw_metres > 0)
    uvw = astro_buffer_add_uvw(buffer, 1,
                               astro_stream_extent(&contents->stream, ASTRO_AXIS_BASELINE));
  AstroSetFrame frame = { .data = (float *)map.data,
                          .counts = validity->counts,
                          .uvw = uvw ? uvw->uvw : NULL };
  const gboolean done = astro_set_reader_read(self->reader, &frame, &end, &error);
  gst_buffer_unmap(buffer, &map);
  if (!done) {
    gst_buffer_unref(buffer);
    if (end)
      return end_of_file(self);
    fail(self, error);
    return GST_FLOW_ERROR;
  }
  validity->full = frame.full;
  self->not_finite += frame.not_finite;
  astro_stamps_put(&self->stamps, buffer, frame.start_ns, frame.duration_ns, contents->step_ns);
  astro_log_block(self, "out", buffer);
  *out = buffer;
  return GST_FLOW_OK;
}

static GstFlowReturn create(GstPushSrc *src, GstBuffer **out)
{
  AstroMsSrc *self = ASTRO_MS_SRC(src);
  astro_deadline_begin(&self->deadline);
  const AstroStop *before = astro_stop_set(&self->deadline.stop);
  GstFlowReturn flow = open_file(self);
  if (flow == GST_FLOW_OK)
    flow = read_frame(self, out);
  astro_stop_set(before);
  if (flow == GST_FLOW_OK || !astro_deadline_is_missed(&self->deadline))
    return flow;
  return astro_deadline_is_stopped(&self->deadline) ? GST_FLOW_FLUSHING : GST_FLOW_EOS;
}

static gboolean unlock(GstBaseSrc *src)
{
  astro_deadline_set_stopped(&ASTRO_MS_SRC(src)->deadline, TRUE);
  return TRUE;
}

static gboolean unlock_stop(GstBaseSrc *src)
{
  astro_deadline_set_stopped(&ASTRO_MS_SRC(src)->deadline, FALSE);
  return TRUE;
}

static gboolean event(GstBaseSrc *src, GstEvent *event)
{
  if (gst_event_has_name(event, ASTRO_INTERRUPT_EVENT))
    astro_deadline_interrupt(&ASTRO_MS_SRC(src)->deadline);
  return GST_BASE_SRC_CLASS(astro_ms_src_parent_class)->event(src, event);
}

/* ---- the type ---- */

static void finalize(GObject *object)
{
  astro_fields_clear(fields, &ASTRO_MS_SRC(object)->now);
  G_OBJECT_CLASS(astro_ms_src_parent_class)->finalize(object);
}

static void astro_ms_src_init(AstroMsSrc *self)
{
  astro_fields_set_defaults(self);
  astro_deadline_init(&self->deadline);
  gst_base_src_set_format(GST_BASE_SRC(self), GST_FORMAT_TIME);
}

static void astro_ms_src_class_init(AstroMsSrcClass *class)
{
  GObjectClass *object = G_OBJECT_CLASS(class);
  GstElementClass *element = GST_ELEMENT_CLASS(class);
  GstBaseSrcClass *src = GST_BASE_SRC_CLASS(class);
  static GstStaticPadTemplate template = GST_STATIC_PAD_TEMPLATE(
      "src", GST_PAD_SRC, GST_PAD_ALWAYS, GST_STATIC_CAPS(ASTRO_SET_SOURCE_CAPS));

  astro_fields_install(object, fields, G_STRUCT_OFFSET(AstroMsSrc, settings));
  object->finalize = finalize;
  gst_element_class_add_static_pad_template(element, &template);
  astro_element_class_say_once(element);
  gst_element_class_set_static_metadata(
      element, "Measurement Set source", "Source/File",
      "Reads visibilities from Measurement Sets of CASA, LOFAR, MeerKAT, ASKAP and others, one "
      "integration a buffer, with their observation and counts",
      ASTRO_AUTHOR);
  src->start = start;
  src->stop = stop;
  src->unlock = unlock;
  src->unlock_stop = unlock_stop;
  src->event = event;
  src->get_caps = get_caps;
  src->negotiate = negotiate;
  src->decide_allocation = decide_allocation;
  src->query = query;
  GST_PUSH_SRC_CLASS(class)->create = create;
}
