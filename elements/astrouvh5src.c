/**
 * SECTION:element-astrouvh5src
 *
 * Reads visibilities from HDF5 as pyuvdata writes them (uvh5), one integration a buffer, in any
 * order of rows. Baselines that are missing at a time have the count 0, as have flagged values;
 * nsamples become counts of good samples, multiplied by a power of two where they have fractions.
 * Antennas without rows need no place in the stream.
 *
 * A file of several phase centres needs field, the name or number of one. If the array tracked
 * nothing (phase_type drift, cat_type unprojected), the visibilities are phased to what was at its
 * zenith at the middle of the file, and a message of the kind INFO says so. Where the header says
 * that X points east, X and Y change places: in our streams X points north.
 *
 * (u,v,w) are computed from the antennas. If those in the file would make another picture (a source
 * 256 beams from the phase centre moves by more than a tenth of a beam), it is refused, unless uvw
 * says which to believe. UT1 - UTC is that of the header (dut1), or of an IERS file
 * (earth-orientation).
 *
 * Files packed by gzip, lzf or szip are read; bitshuffle and others need a plugin of HDF5
 * (HDF5_PLUGIN_PATH). Several spectral windows (flex_spw) are refused.
 *
 * |[
 * gst-launch-1.0 astrouvh5src location=sky.uvh5 ! astrogridder size=512 cell=10 ! astrofft ! \
 *   astroimage ! astrofitssink location=sky.fits
 * ]|
 */
#include "elements/astrouvh5src.h"

#include "core/lib/sky/earth-file.h"
#include "core/memory/memory.h"
#include "core/memory/pool.h"
#include "core/stream/uvw-meta.h"
#include "core/stream/validity.h"
#include "core/uvh5/uvh5.h"
#include "elements/base/astrofields.h"
#include "elements/base/astrolog.h"
#include "elements/base/astroonce.h"
#include "elements/base/astrooutgoing.h"
#include "elements/base/astrostage.h"
#include "elements/base/astrostamps.h"

typedef struct {
  char *location, *field, *earth_orientation;
  AstroUvh5Uvw uvw;
} Settings;

struct _AstroUvh5Src {
  AstroFileSrc parent;
  Settings settings;
  Settings now; /* copies of the properties, from start to stop */

  AstroUvh5Reader *reader; /* under the object's lock: queries ask for it */
  guint64 not_finite;      /* number of NaN or infinite values so far */
  AstroStamps stamps;
};

G_DEFINE_TYPE(AstroUvh5Src, astro_uvh5_src, ASTRO_TYPE_FILE_SRC)
GST_ELEMENT_REGISTER_DEFINE(astrouvh5src, "astrouvh5src", GST_RANK_NONE, ASTRO_TYPE_UVH5_SRC)

static const AstroField fields[] = {
  ASTRO_TEXT(Settings, location, "location", "File name", "Path of the file to read", NULL),
  ASTRO_TEXT(Settings, field, "field", "Field",
             "Name or number of the phase centre whose rows are read (unset: the only one)", NULL),
  ASTRO_TEXT(Settings, earth_orientation, "earth-orientation", "Earth orientation",
             ASTRO_EARTH_HELP " (unset: the file's own)", NULL),
  ASTRO_ENUM(Settings, uvw, "uvw", "Source of (u,v,w)",
             "Which (u,v,w) to use if the file's own differ from those of its antennas",
             astro_uvh5_uvw_get_type, ASTRO_UVH5_UVW_AUTO),
  { 0 },
};

static gboolean fail(AstroUvh5Src *self, const GError *error)
{
  if (g_error_matches(error, ASTRO_BACKEND_ERROR, ASTRO_BACKEND_ERROR_GIVEN_UP))
    return FALSE;
  if (g_error_matches(error, ASTRO_ROWS_ERROR, ASTRO_ROWS_ERROR_OPEN))
    GST_ELEMENT_ERROR(self, RESOURCE, OPEN_READ, ("%s", error->message), (NULL));
  else if (g_error_matches(error, ASTRO_ROWS_ERROR, ASTRO_ROWS_ERROR_READ))
    GST_ELEMENT_ERROR(self, RESOURCE, READ, ("%s", error->message), (NULL));
  else
    GST_ELEMENT_ERROR(self, STREAM, FORMAT, ("%s", error->message), (NULL));
  return FALSE;
}

static void close_file(AstroUvh5Src *self)
{
  GST_OBJECT_LOCK(self);
  AstroUvh5Reader *reader = g_steal_pointer(&self->reader);
  GST_OBJECT_UNLOCK(self);
  g_clear_pointer(&reader, astro_uvh5_reader_close);
}

static gboolean start(GstBaseSrc *src)
{
  AstroUvh5Src *self = ASTRO_UVH5_SRC(src);
  if (!GST_BASE_SRC_CLASS(astro_uvh5_src_parent_class)->start(src))
    return FALSE;
  astro_fields_clear(fields, &self->now);
  astro_fields_copy(fields, self, &self->now, &self->settings, sizeof self->now);
  self->not_finite = 0;
  self->stamps = (AstroStamps){ 0 };
  if (!astro_field_given(self->now.location)) {
    GST_ELEMENT_ERROR(self, RESOURCE, NOT_FOUND, ("No file name is given."),
                      ("property \"location\" is not set"));
    return FALSE;
  }
  if (g_file_test(self->now.location, G_FILE_TEST_EXISTS))
    return TRUE;
  GST_ELEMENT_ERROR(self, RESOURCE, NOT_FOUND,
                    ("cannot open %s: there is no such file", self->now.location), (NULL));
  return FALSE;
}

static gboolean stop(GstBaseSrc *src)
{
  close_file(ASTRO_UVH5_SRC(src));
  return TRUE;
}

static GstCaps *caps_of(const AstroUvh5Contents *contents)
{
  GstCaps *caps = astro_stream_to_caps(&contents->stream);
  gst_caps_set_simple(caps, "stations", G_TYPE_INT, (gint)contents->stations, NULL);
  return caps;
}

static GstCaps *get_caps(GstBaseSrc *src, GstCaps *filter)
{
  AstroUvh5Src *self = ASTRO_UVH5_SRC(src);
  GST_OBJECT_LOCK(self);
  GstCaps *caps = self->reader ? caps_of(astro_uvh5_reader_contents(self->reader)) : NULL;
  GST_OBJECT_UNLOCK(self);
  if (!caps)
    caps = gst_pad_get_pad_template_caps(GST_BASE_SRC_PAD(src));
  return astro_stage_filter_caps(caps, filter);
}

/* Caps come from the file, so nothing is negotiated until it is open. */
static gboolean negotiate(GstBaseSrc *src)
{
  AstroUvh5Src *self = ASTRO_UVH5_SRC(src);
  if (!self->reader)
    return TRUE;
  const AstroUvh5Contents *contents = astro_uvh5_reader_contents(self->reader);
  if (!GST_BASE_SRC_CLASS(astro_uvh5_src_parent_class)->negotiate(src)) {
    g_autoptr(GstCaps) made = caps_of(contents);
    astro_refused_caps(GST_BASE_SRC_PAD(src), made, "visibilities");
    return FALSE;
  }
  gst_pad_push_event(GST_BASE_SRC_PAD(src), astro_observation_to_event(contents->observation));
  return TRUE;
}

static gboolean query(GstBaseSrc *src, GstQuery *query)
{
  AstroUvh5Src *self = ASTRO_UVH5_SRC(src);
  GstFormat format;
  guint64 duration = 0;
  if (GST_QUERY_TYPE(query) != GST_QUERY_DURATION)
    return GST_BASE_SRC_CLASS(astro_uvh5_src_parent_class)->query(src, query);
  gst_query_parse_duration(query, &format, NULL);
  GST_OBJECT_LOCK(self);
  if (self->reader)
    duration = astro_uvh5_reader_contents(self->reader)->duration_ns;
  GST_OBJECT_UNLOCK(self);
  if (format != GST_FORMAT_TIME || duration == 0)
    return FALSE;
  gst_query_set_duration(query, format, (gint64)duration);
  return TRUE;
}

/* ---- integrations ---- */

static gsize frame_bytes(const AstroUvh5Src *self)
{
  return astro_stream_step_bytes(&astro_uvh5_reader_contents(self->reader)->stream);
}

/* Pools count bytes in 32 bits: larger integrations are allocated one by one. */
static gboolean fits_pool(const AstroUvh5Src *self)
{
  return frame_bytes(self) <= G_MAXUINT;
}

/* Uses the pool that downstream offers, whose memory it reads fastest, or else one of ours. */
static gboolean decide_allocation(GstBaseSrc *src, GstQuery *query)
{
  AstroUvh5Src *self = ASTRO_UVH5_SRC(src);
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
  return GST_BASE_SRC_CLASS(astro_uvh5_src_parent_class)->decide_allocation(src, query);
}

/* Not opened in start: all counts of a file are looked at, which takes longer than a user waits for
 * a change of state. */
static GstFlowReturn open_file(AstroUvh5Src *self)
{
  g_autoptr(GError) error = NULL;
  if (self->reader)
    return GST_FLOW_OK;
  const AstroUvh5Options options = {
    .uvw = self->now.uvw,
    .field = astro_field_given(self->now.field),
    .earth_orientation = astro_field_given(self->now.earth_orientation),
  };
  AstroUvh5Reader *reader = astro_uvh5_reader_open(self->now.location, &options, &error);
  if (!reader) {
    fail(self, error);
    return GST_FLOW_ERROR;
  }
  GST_OBJECT_LOCK(self);
  self->reader = reader;
  GST_OBJECT_UNLOCK(self);
  const AstroUvh5Contents *contents = astro_uvh5_reader_contents(reader);
  if (contents->note)
    GST_ELEMENT_WARNING(self, STREAM, FORMAT, ("%s", contents->note), (NULL));
  if (contents->told)
    GST_ELEMENT_INFO(self, STREAM, FORMAT, ("%s", contents->told), (NULL));
  return gst_base_src_negotiate(GST_BASE_SRC(self)) ? GST_FLOW_OK : GST_FLOW_NOT_NEGOTIATED;
}

static GstFlowReturn new_buffer(AstroUvh5Src *self, GstBuffer **buffer, GstMapInfo *map)
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

static GstFlowReturn end_of_file(AstroUvh5Src *self)
{
  if (self->not_finite)
    GST_ELEMENT_WARNING(self, STREAM, FORMAT,
                        ("%s: NaN or infinite values were passed on as flagged: %" G_GUINT64_FORMAT,
                         self->now.location, self->not_finite),
                        (NULL));
  self->not_finite = 0;
  return GST_FLOW_EOS;
}

static GstFlowReturn read_frame(AstroUvh5Src *self, GstBuffer **out)
{
  const AstroUvh5Contents *contents = astro_uvh5_reader_contents(self->reader);
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
  AstroUvh5Frame frame = { .data = (float *)map.data,
                           .counts = validity->counts,
                           .uvw = uvw ? uvw->uvw : NULL };
  const gboolean done = astro_uvh5_reader_read(self->reader, &frame, &end, &error);
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

static GstFlowReturn make(AstroFileSrc *src, GstBuffer **out)
{
  AstroUvh5Src *self = ASTRO_UVH5_SRC(src);
  const GstFlowReturn flow = open_file(self);
  return flow == GST_FLOW_OK ? read_frame(self, out) : flow;
}

/* ---- the type ---- */

static void finalize(GObject *object)
{
  astro_fields_clear(fields, &ASTRO_UVH5_SRC(object)->now);
  G_OBJECT_CLASS(astro_uvh5_src_parent_class)->finalize(object);
}

static void astro_uvh5_src_init(AstroUvh5Src *self)
{
  astro_fields_set_defaults(self);
}

static void astro_uvh5_src_class_init(AstroUvh5SrcClass *class)
{
  GObjectClass *object = G_OBJECT_CLASS(class);
  GstElementClass *element = GST_ELEMENT_CLASS(class);
  GstBaseSrcClass *src = GST_BASE_SRC_CLASS(class);
  static GstStaticPadTemplate template =
      GST_STATIC_PAD_TEMPLATE("src", GST_PAD_SRC, GST_PAD_ALWAYS, GST_STATIC_CAPS(ASTRO_UVH5_CAPS));

  astro_fields_install(object, fields, G_STRUCT_OFFSET(AstroUvh5Src, settings));
  object->finalize = finalize;
  gst_element_class_add_static_pad_template(element, &template);
  astro_element_class_say_once(element);
  gst_element_class_set_static_metadata(
      element, "uvh5 file source", "Source/File",
      "Reads visibilities from HDF5 as pyuvdata, HERA and others write them (uvh5), one "
      "integration a buffer, with their observation and counts",
      ASTRO_AUTHOR);
  src->start = start;
  src->stop = stop;
  src->get_caps = get_caps;
  src->negotiate = negotiate;
  src->decide_allocation = decide_allocation;
  src->query = query;
  ASTRO_FILE_SRC_CLASS(class)->make = make;
}
