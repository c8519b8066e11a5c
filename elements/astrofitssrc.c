/* astrofitssrc: FITS files as streams; the file decides of what. */
#include "elements/astrofitssrc.h"
#include "core/fits/fits.h"
#include "core/memory/memory.h"
#include "core/memory/pool.h"

struct _AstroFitsSrc {
  GstPushSrc parent;
  char *location;

  AstroFitsReader *reader;
  guint64 frames; /* sent */
  guint64 next;   /* the OFFSET that follows the last one without a gap */
};

enum { PROP_0, PROP_LOCATION, N_PROPERTIES };
static GParamSpec *properties[N_PROPERTIES];

GST_DEBUG_CATEGORY_STATIC(fits_src_debug);
#define GST_CAT_DEFAULT fits_src_debug

G_DEFINE_TYPE_WITH_CODE(AstroFitsSrc, astro_fits_src, GST_TYPE_PUSH_SRC,
                        GST_DEBUG_CATEGORY_INIT(fits_src_debug, "astrofitssrc", 0, "FITS source"))
GST_ELEMENT_REGISTER_DEFINE(astrofitssrc, "astrofitssrc", GST_RANK_NONE, ASTRO_TYPE_FITS_SRC)

static gboolean start(GstBaseSrc *src)
{
  AstroFitsSrc *self = ASTRO_FITS_SRC(src);
  g_autoptr(GError) error = NULL;

  if (!self->location || !self->location[0]) {
    GST_ELEMENT_ERROR(self, RESOURCE, NOT_FOUND, ("No file name is given."),
                      ("property \"location\" is not set"));
    return FALSE;
  }
  self->frames = self->next = 0;
  GST_OBJECT_LOCK(self);
  self->reader = astro_fits_reader_open(self->location, &error);
  GST_OBJECT_UNLOCK(self);
  if (self->reader)
    return TRUE;
  if (g_error_matches(error, ASTRO_FITS_ERROR, ASTRO_FITS_ERROR_OPEN))
    GST_ELEMENT_ERROR(self, RESOURCE, OPEN_READ, ("%s", error->message), (NULL));
  else
    GST_ELEMENT_ERROR(self, STREAM, FORMAT, ("%s", error->message), (NULL));
  return FALSE;
}

static gboolean stop(GstBaseSrc *src)
{
  AstroFitsSrc *self = ASTRO_FITS_SRC(src);
  GST_OBJECT_LOCK(self);
  g_clear_pointer(&self->reader, astro_fits_reader_close);
  GST_OBJECT_UNLOCK(self);
  return TRUE;
}

static GstCaps *get_caps(GstBaseSrc *src, GstCaps *filter)
{
  AstroFitsSrc *self = ASTRO_FITS_SRC(src);
  GstCaps *caps;

  GST_OBJECT_LOCK(self);
  caps =
      self->reader ? astro_fits_contents_to_caps(astro_fits_reader_contents(self->reader)) : NULL;
  GST_OBJECT_UNLOCK(self);
  if (!caps)
    caps = gst_pad_get_pad_template_caps(GST_BASE_SRC_PAD(src));
  if (filter) {
    GstCaps *all = caps;
    caps = gst_caps_intersect_full(filter, all, GST_CAPS_INTERSECT_FIRST);
    gst_caps_unref(all);
  }
  return caps;
}

static gboolean negotiate(GstBaseSrc *src)
{
  AstroFitsSrc *self = ASTRO_FITS_SRC(src);
  const AstroFitsContents *contents = astro_fits_reader_contents(self->reader);
  if (!GST_BASE_SRC_CLASS(astro_fits_src_parent_class)->negotiate(src))
    return FALSE;
  if (contents->observation)
    gst_pad_push_event(GST_BASE_SRC_PAD(src), astro_observation_to_event(contents->observation));
  return TRUE;
}

static gboolean query(GstBaseSrc *src, GstQuery *query)
{
  AstroFitsSrc *self = ASTRO_FITS_SRC(src);
  GstFormat format;
  guint64 duration = 0;

  if (GST_QUERY_TYPE(query) != GST_QUERY_DURATION)
    return GST_BASE_SRC_CLASS(astro_fits_src_parent_class)->query(src, query);
  gst_query_parse_duration(query, &format, NULL);
  GST_OBJECT_LOCK(self);
  if (self->reader)
    duration = astro_fits_reader_contents(self->reader)->duration_ns;
  GST_OBJECT_UNLOCK(self);
  if (format != GST_FORMAT_TIME || duration == 0)
    return FALSE;
  gst_query_set_duration(query, format, duration);
  return TRUE;
}

/* A pool that downstream offers knows what memory it reads fastest; else ours. */
static gboolean decide_allocation(GstBaseSrc *src, GstQuery *query)
{
  AstroFitsSrc *self = ASTRO_FITS_SRC(src);
  const AstroStream *stream = &astro_fits_reader_contents(self->reader)->stream;
  guint bytes = MIN(astro_stream_step_bytes(stream), G_MAXUINT), offered = 0, min = 0, max = 0;
  g_autoptr(GstBufferPool) pool = NULL;

  if (gst_query_get_n_allocation_pools(query) > 0) {
    gst_query_parse_nth_allocation_pool(query, 0, &pool, &offered, &min, &max);
    gst_query_set_nth_allocation_pool(query, 0, pool, MAX(bytes, offered), min, max);
  } else {
    pool = astro_buffer_pool_new(NULL);
    gst_query_add_allocation_pool(query, pool, bytes, ASTRO_POOL_DEPTH, 0);
  }
  return GST_BASE_SRC_CLASS(astro_fits_src_parent_class)->decide_allocation(src, query);
}

static GstFlowReturn new_buffer(AstroFitsSrc *self, gsize bytes, GstBuffer **buffer)
{
  g_autoptr(GstBufferPool) pool = gst_base_src_get_buffer_pool(GST_BASE_SRC(self));
  GstFlowReturn flow = GST_FLOW_OK;
  *buffer = NULL;
  if (pool && bytes <= G_MAXUINT) {
    flow = gst_buffer_pool_acquire_buffer(pool, buffer, NULL);
    if (*buffer)
      gst_buffer_set_size(*buffer, bytes);
  } else { /* pools count bytes in 32 bits */
    GstMemory *memory = astro_memory_new(bytes, NULL);
    if (!memory)
      return GST_FLOW_ERROR;
    *buffer = gst_buffer_new();
    gst_buffer_append_memory(*buffer, memory);
  }
  return flow;
}

static void stamp(AstroFitsSrc *self, GstBuffer *buffer, const AstroFitsFrame *frame)
{
  gint64 begin = MAX(frame->start_ns, 0);
  guint64 offset =
      frame->duration_ns ? gst_util_uint64_scale_round(begin, 1, frame->duration_ns) : self->frames;
  GST_BUFFER_PTS(buffer) = begin;
  GST_BUFFER_DURATION(buffer) = frame->duration_ns ? frame->duration_ns : GST_CLOCK_TIME_NONE;
  GST_BUFFER_OFFSET(buffer) = offset;
  GST_BUFFER_OFFSET_END(buffer) = offset + 1;
  if (self->frames == 0 || offset != self->next)
    GST_BUFFER_FLAG_SET(buffer, GST_BUFFER_FLAG_DISCONT);
  self->next = offset + 1;
  self->frames++;
}

static GstFlowReturn create(GstPushSrc *src, GstBuffer **out)
{
  AstroFitsSrc *self = ASTRO_FITS_SRC(src);
  const AstroStream *stream = &astro_fits_reader_contents(self->reader)->stream;
  g_autoptr(GError) error = NULL;
  AstroFitsFrame frame = { 0 };
  AstroLayout shape;
  GstMapInfo map;
  gboolean end;
  GstBuffer *buffer;
  GstFlowReturn flow = new_buffer(self, astro_stream_step_bytes(stream), &buffer);

  if (flow == GST_FLOW_FLUSHING)
    return flow;
  if (!buffer || !gst_buffer_map(buffer, &map, GST_MAP_WRITE)) {
    gst_clear_buffer(&buffer);
    GST_ELEMENT_ERROR(self, RESOURCE, NO_SPACE_LEFT,
                      ("%s: an integration of %" G_GSIZE_FORMAT " bytes is more than memory holds",
                       self->location, astro_stream_step_bytes(stream)),
                      (NULL));
    return GST_FLOW_ERROR;
  }
  astro_stream_shape(stream, 1, &shape);
  AstroValidityMeta *validity = astro_buffer_add_validity(buffer, &shape, 0);
  frame.data = map.data;
  frame.counts = validity->counts;
  gboolean done = astro_fits_reader_read(self->reader, &frame, &end, &error);
  gst_buffer_unmap(buffer, &map);
  if (done) {
    validity->full = frame.full;
    stamp(self, buffer, &frame);
    *out = buffer;
    return GST_FLOW_OK;
  }
  gst_buffer_unref(buffer);
  if (end)
    return GST_FLOW_EOS;
  GST_ELEMENT_ERROR(self, RESOURCE, READ, ("%s", error->message), (NULL));
  return GST_FLOW_ERROR;
}

static void set_property(GObject *object, guint id, const GValue *value, GParamSpec *spec)
{
  AstroFitsSrc *self = ASTRO_FITS_SRC(object);
  if (id != PROP_LOCATION) {
    G_OBJECT_WARN_INVALID_PROPERTY_ID(object, id, spec);
    return;
  }
  GST_OBJECT_LOCK(self);
  g_free(self->location);
  self->location = g_value_dup_string(value);
  GST_OBJECT_UNLOCK(self);
}

static void get_property(GObject *object, guint id, GValue *value, GParamSpec *spec)
{
  AstroFitsSrc *self = ASTRO_FITS_SRC(object);
  if (id != PROP_LOCATION) {
    G_OBJECT_WARN_INVALID_PROPERTY_ID(object, id, spec);
    return;
  }
  GST_OBJECT_LOCK(self);
  g_value_set_string(value, self->location);
  GST_OBJECT_UNLOCK(self);
}

static void finalize(GObject *object)
{
  AstroFitsSrc *self = ASTRO_FITS_SRC(object);
  g_free(self->location);
  G_OBJECT_CLASS(astro_fits_src_parent_class)->finalize(object);
}

static void astro_fits_src_init(AstroFitsSrc *self)
{
  gst_base_src_set_format(GST_BASE_SRC(self), GST_FORMAT_TIME);
}

static void add_template(GstElementClass *class)
{
  g_autofree char *text = astro_fits_reader_caps();
  g_autoptr(GstCaps) caps = gst_caps_from_string(text);
  gst_element_class_add_pad_template(
      class, gst_pad_template_new("src", GST_PAD_SRC, GST_PAD_ALWAYS, caps));
}

static void astro_fits_src_class_init(AstroFitsSrcClass *class)
{
  GObjectClass *object = G_OBJECT_CLASS(class);
  GstElementClass *element = GST_ELEMENT_CLASS(class);
  GstBaseSrcClass *src = GST_BASE_SRC_CLASS(class);

  object->set_property = set_property;
  object->get_property = get_property;
  object->finalize = finalize;
  properties[PROP_LOCATION] =
      g_param_spec_string("location", "File name", "Name of the FITS file to read (a path)", NULL,
                          G_PARAM_READWRITE | G_PARAM_STATIC_STRINGS | GST_PARAM_MUTABLE_READY);
  g_object_class_install_properties(object, N_PROPERTIES, properties);

  add_template(element);
  gst_element_class_set_static_metadata(
      element, "FITS file source", "Source/File",
      "Reads UVFITS as visibilities, one integration a buffer, with their observation",
      "gst-astro maintainers");
  src->start = start;
  src->stop = stop;
  src->get_caps = get_caps;
  src->negotiate = negotiate;
  src->decide_allocation = decide_allocation;
  src->query = query;
  GST_PUSH_SRC_CLASS(class)->create = create;
}
