/* Sources of visibilities in files of rows. */
#include "elements/base/astrorowsrc.h"

#include <string.h>

#include "core/backend/backend.h"
#include "core/lib/files/inputs.h"
#include "core/lib/rows/rows.h"
#include "core/memory/memory.h"
#include "core/memory/pool.h"
#include "core/stream/absent.h"
#include "core/stream/uvw-meta.h"
#include "core/stream/validity.h"
#include "elements/base/astrolog.h"
#include "elements/base/astroonce.h"
#include "elements/base/astrooutgoing.h"
#include "elements/base/astrostage.h"

#define ROW_SRC(object) ((AstroRowSrc *)(object))

/* A file that astro_row_src_add_file gave. */
typedef struct {
  AstroRowSrc *reader; /* NULL: the source itself */
  char *name;
} Given;

static const AstroRowSrcKind *kind_of(const AstroRowSrc *self)
{
  return ((const AstroRowSrcClass *)G_OBJECT_GET_CLASS(self))->kind;
}

/* These types are final, so that an instance's class has the parent that is meant. */
static gpointer parent_of(gpointer self)
{
  return g_type_class_peek_parent(G_OBJECT_GET_CLASS(self));
}

static gpointer now_of(const AstroRowSrc *self)
{
  return (char *)self + kind_of(self)->now;
}

/* ---- errors ---- */

static gboolean fail(AstroRowSrc *self, const GError *error)
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

gboolean astro_row_src_not_found(AstroRowSrc *self, const char *name, const char *what)
{
  GST_ELEMENT_ERROR(self, RESOURCE, NOT_FOUND, ("cannot open %s: there is no such %s", name, what),
                    (NULL));
  return FALSE;
}

/* ---- files of several kinds ---- */

static void clear_given(gpointer data)
{
  Given *given = data;
  g_clear_object(&given->reader);
  g_free(given->name);
}

void astro_row_src_add_file(AstroRowSrc *self, AstroRowSrc *reader, const char *name)
{
  const Given given = { reader ? g_object_ref(reader) : NULL, g_strdup(name) };
  if (!self->given) {
    self->given = g_array_new(FALSE, FALSE, sizeof(Given));
    g_array_set_clear_func(self->given, clear_given);
  }
  g_array_append_val(self->given, given);
}

static AstroRowSrc *reader_of(AstroRowSrc *self, const Given *given)
{
  return given->reader ? given->reader : self;
}

static void copy_settings(AstroRowSrc *self)
{
  const AstroRowSrcKind *kind = kind_of(self);
  astro_fields_clear(kind->fields, now_of(self));
  astro_fields_copy(kind->fields, self, now_of(self), (char *)self + kind->settings, kind->bytes);
  kind->choose(self);
}

/* Errors are those of this source, since its readers are in no pipeline. */
static gboolean check_given(AstroRowSrc *self)
{
  for (guint i = 0; i < self->given->len; i++) {
    const Given *given = &g_array_index(self->given, Given, i);
    if (given->reader)
      copy_settings(given->reader);
    if (!kind_of(reader_of(self, given))->check(self, given->name))
      return FALSE;
  }
  return TRUE;
}

static AstroRowFiles *open_given(AstroRowSrc *self, GError **error)
{
  g_autofree AstroRowInput *inputs = g_new(AstroRowInput, self->given->len);
  for (guint i = 0; i < self->given->len; i++) {
    const Given *given = &g_array_index(self->given, Given, i);
    AstroRowSrc *reader = reader_of(self, given);
    inputs[i] = (AstroRowInput){ kind_of(reader)->reader, given->name,
                                 (char *)reader + kind_of(reader)->options };
  }
  return astro_row_files_open_inputs(inputs, self->given->len, error);
}

/* ---- start and stop ---- */

static void close_files(AstroRowSrc *self)
{
  GST_OBJECT_LOCK(self);
  AstroRowFiles *files = g_steal_pointer(&self->files);
  GST_OBJECT_UNLOCK(self);
  g_clear_pointer(&files, astro_row_files_close);
}

/* A name without commas or a pattern is left to the check, which says more. */
static gboolean find_names(AstroRowSrc *self, const char *location)
{
  g_autoptr(GError) error = NULL;
  g_clear_pointer(&self->names, g_strfreev);
  if (!strpbrk(location, ",*?[") || g_file_test(location, G_FILE_TEST_EXISTS)) {
    self->names = g_strdupv((char *[]){ (char *)location, NULL });
  } else {
    g_autoptr(GPtrArray) found = astro_inputs_find(location, &error);
    if (!found) {
      GST_ELEMENT_ERROR(self, RESOURCE, NOT_FOUND, ("%s", error->message), (NULL));
      return FALSE;
    }
    g_ptr_array_add(found, NULL);
    self->names = g_strdupv((char **)found->pdata);
  }
  for (guint i = 0; self->names[i]; i++)
    if (!kind_of(self)->check(self, self->names[i]))
      return FALSE;
  return TRUE;
}

static gboolean start(GstBaseSrc *src)
{
  AstroRowSrc *self = ROW_SRC(src);
  const AstroRowSettings *now = now_of(self);
  if (!GST_BASE_SRC_CLASS(parent_of(self))->start(src))
    return FALSE;
  copy_settings(self);
  self->not_finite = 0;
  self->stamps = (AstroStamps){ 0 };
  if (self->given)
    return check_given(self);
  if (astro_field_given(now->location))
    return find_names(self, now->location);
  GST_ELEMENT_ERROR(self, RESOURCE, NOT_FOUND, ("No file name is given."),
                    ("property \"location\" is not set"));
  return FALSE;
}

static gboolean stop(GstBaseSrc *src)
{
  close_files(ROW_SRC(src));
  return TRUE;
}

/* ---- caps ---- */

static const AstroRowContents *contents_of(const AstroRowSrc *self)
{
  return astro_row_files_contents(self->files);
}

static GstCaps *caps_of(const AstroRowContents *contents)
{
  GstCaps *caps = astro_stream_to_caps(&contents->stream);
  gst_caps_set_simple(caps, "stations", G_TYPE_INT, (gint)contents->stations, NULL);
  return caps;
}

static GstCaps *get_caps(GstBaseSrc *src, GstCaps *filter)
{
  AstroRowSrc *self = ROW_SRC(src);
  GST_OBJECT_LOCK(self);
  GstCaps *caps = self->files ? caps_of(contents_of(self)) : NULL;
  GST_OBJECT_UNLOCK(self);
  if (!caps)
    caps = gst_pad_get_pad_template_caps(GST_BASE_SRC_PAD(src));
  return astro_stage_filter_caps(caps, filter);
}

/* Caps come from the file, so nothing is negotiated until it is open. */
static gboolean negotiate(GstBaseSrc *src)
{
  AstroRowSrc *self = ROW_SRC(src);
  if (!self->files)
    return TRUE;
  const AstroRowContents *contents = contents_of(self);
  if (!GST_BASE_SRC_CLASS(parent_of(self))->negotiate(src)) {
    g_autoptr(GstCaps) made = caps_of(contents);
    astro_refused_caps(GST_BASE_SRC_PAD(src), made, "visibilities");
    return FALSE;
  }
  gst_pad_push_event(GST_BASE_SRC_PAD(src), astro_observation_to_event(contents->observation));
  return TRUE;
}

static gboolean query(GstBaseSrc *src, GstQuery *query)
{
  AstroRowSrc *self = ROW_SRC(src);
  GstFormat format;
  guint64 duration = 0;
  if (GST_QUERY_TYPE(query) != GST_QUERY_DURATION)
    return GST_BASE_SRC_CLASS(parent_of(self))->query(src, query);
  gst_query_parse_duration(query, &format, NULL);
  GST_OBJECT_LOCK(self);
  if (self->files)
    duration = contents_of(self)->duration_ns;
  GST_OBJECT_UNLOCK(self);
  if (format != GST_FORMAT_TIME || duration == 0)
    return FALSE;
  gst_query_set_duration(query, format, (gint64)duration);
  return TRUE;
}

/* ---- buffers ---- */

static gsize frame_bytes(const AstroRowSrc *self)
{
  return astro_stream_step_bytes(&contents_of(self)->stream);
}

/* Pools count bytes in 32 bits: larger integrations are allocated one by one. */
static gboolean fits_pool(const AstroRowSrc *self)
{
  return frame_bytes(self) <= G_MAXUINT;
}

/* Uses the pool that downstream offers, whose memory it reads fastest, or else one of ours. */
static gboolean decide_allocation(GstBaseSrc *src, GstQuery *query)
{
  AstroRowSrc *self = ROW_SRC(src);
  guint offered = 0, min = 0, max = 0;
  g_autoptr(GstBufferPool) pool = NULL;
  if (!self->files || !fits_pool(self)) {
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
  return GST_BASE_SRC_CLASS(parent_of(self))->decide_allocation(src, query);
}

static GstFlowReturn new_buffer(AstroRowSrc *self, GstBuffer **buffer, GstMapInfo *map)
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
                     ((AstroRowSettings *)now_of(self))->location, bytes),
                    (NULL));
  return GST_FLOW_ERROR;
}

/* ---- integrations ---- */

/* Not opened in start: all weights of a file are looked at, which takes longer than a user waits
 * for a change of state. */
static GstFlowReturn open_files(AstroRowSrc *self)
{
  g_autoptr(GError) error = NULL;
  if (self->files)
    return GST_FLOW_OK;
  AstroRowFiles *files =
      self->given ? open_given(self, &error)
                  : astro_row_files_open(kind_of(self)->reader, (const char *const *)self->names,
                                         (char *)self + kind_of(self)->options, &error);
  if (!files) {
    fail(self, error);
    return GST_FLOW_ERROR;
  }
  GST_OBJECT_LOCK(self);
  self->files = files;
  GST_OBJECT_UNLOCK(self);
  const AstroRowContents *contents = contents_of(self);
  if (contents->note)
    GST_ELEMENT_WARNING(self, STREAM, FORMAT, ("%s", contents->note), (NULL));
  if (contents->told)
    GST_ELEMENT_INFO(self, STREAM, FORMAT, ("%s", contents->told), (NULL));
  return gst_base_src_negotiate(GST_BASE_SRC(self)) ? GST_FLOW_OK : GST_FLOW_NOT_NEGOTIATED;
}

static GstFlowReturn end_of_files(AstroRowSrc *self)
{
  if (self->not_finite)
    GST_ELEMENT_WARNING(self, STREAM, FORMAT,
                        ("%s: NaN or infinite values were passed on as flagged: %" G_GUINT64_FORMAT,
                         ((AstroRowSettings *)now_of(self))->location, self->not_finite),
                        (NULL));
  self->not_finite = 0;
  return GST_FLOW_EOS;
}

static GstFlowReturn read_frame(AstroRowSrc *self, GstBuffer **out)
{
  const AstroRowContents *contents = contents_of(self);
  const guint64 baselines = astro_stream_extent(&contents->stream, ASTRO_AXIS_BASELINE);
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
    uvw = astro_buffer_add_uvw(buffer, 1, baselines);
  g_autofree guint8 *absent = g_new(guint8, baselines);
  AstroRowFrame frame = { .data = (float *)map.data,
                          .counts = validity->counts,
                          .uvw = uvw ? uvw->uvw : NULL,
                          .absent = absent };
  const gboolean done = astro_row_files_read(self->files, &frame, &end, &error);
  gst_buffer_unmap(buffer, &map);
  if (!done) {
    gst_buffer_unref(buffer);
    if (end)
      return end_of_files(self);
    fail(self, error);
    return GST_FLOW_ERROR;
  }
  if (memchr(absent, TRUE, baselines))
    memcpy(astro_buffer_add_absent(buffer, 1, baselines)->is_absent, absent, baselines);
  validity->full = frame.full;
  self->not_finite += frame.not_finite;
  astro_stamps_put(&self->stamps, buffer, frame.start_ns, frame.duration_ns, contents->step_ns);
  astro_log_block(self, "out", buffer);
  *out = buffer;
  return GST_FLOW_OK;
}

static GstFlowReturn make(AstroFileSrc *src, GstBuffer **out)
{
  AstroRowSrc *self = ROW_SRC(src);
  const GstFlowReturn flow = open_files(self);
  return flow == GST_FLOW_OK ? read_frame(self, out) : flow;
}

/* ---- the type ---- */

static void finalize(GObject *object)
{
  AstroRowSrc *self = ROW_SRC(object);
  astro_fields_clear(kind_of(self)->fields, now_of(self));
  g_strfreev(self->names);
  g_clear_pointer(&self->given, g_array_unref);
  G_OBJECT_CLASS(parent_of(self))->finalize(object);
}

void astro_row_src_init(AstroRowSrc *self)
{
  astro_fields_set_defaults(self);
}

void astro_row_src_install(AstroRowSrcClass *class, const AstroRowSrcKind *kind,
                           const char *caps_text)
{
  GObjectClass *object = G_OBJECT_CLASS(class);
  GstElementClass *element = GST_ELEMENT_CLASS(class);
  GstBaseSrcClass *src = GST_BASE_SRC_CLASS(class);
  g_autoptr(GstCaps) caps = gst_caps_from_string(caps_text);

  class->kind = kind;
  astro_fields_install(object, kind->fields, (gssize)kind->settings);
  object->finalize = finalize;
  gst_element_class_add_pad_template(
      element, gst_pad_template_new("src", GST_PAD_SRC, GST_PAD_ALWAYS, caps));
  astro_element_class_say_once(element);
  src->start = start;
  src->stop = stop;
  src->get_caps = get_caps;
  src->negotiate = negotiate;
  src->decide_allocation = decide_allocation;
  src->query = query;
  ASTRO_FILE_SRC_CLASS(class)->make = make;
}
