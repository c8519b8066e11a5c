/* Packs events and buffers. */
#include "config.h"
#include "core/ranks/item.h"

#include "core/stream/absent.h"
#include "core/stream/grid.h"
#include "core/stream/uvw-meta.h"
#include "core/stream/validity.h"

/* Ranks of one job run on machines of one kind: numbers keep their byte order. A variant of each
 * kind is (number of the kind, contents). */
typedef enum {
  ITEM_STREAM_START,
  ITEM_CAPS,
  ITEM_SEGMENT,
  ITEM_CUSTOM,
  ITEM_GAP,
  ITEM_EOS,
  ITEM_BUFFER,
  N_ITEMS
} ItemKind;

#define SEGMENT_TYPE "(uuddttttttt)"
#define BUFFER_TYPE "(tttttua(sv))"
#define VALIDITY_TYPE "(a(ut)ubau)"
#define GRID_TYPE "(dduuadtttt)"
#define UVW_TYPE "(ttad)"
#define ABSENT_TYPE "(ttay)"

static const char *const contents_types[N_ITEMS] = {
  [ITEM_STREAM_START] = "(su)", [ITEM_CAPS] = "(s)", [ITEM_SEGMENT] = SEGMENT_TYPE,
  [ITEM_CUSTOM] = "(usa(say))", [ITEM_GAP] = "(tt)", [ITEM_EOS] = "()",
  [ITEM_BUFFER] = BUFFER_TYPE,
};

static GBytes *pack(ItemKind kind, GVariant *contents)
{
  g_autoptr(GVariant) item = g_variant_ref_sink(g_variant_new("(yv)", (guint8)kind, contents));
  return g_variant_get_data_as_bytes(item);
}

/* ---- events ---- */

static GVariant *of_stream_start(GstEvent *event)
{
  const char *id;
  GstStreamFlags flags;
  gst_event_parse_stream_start(event, &id);
  gst_event_parse_stream_flags(event, &flags);
  return g_variant_new("(su)", id, flags);
}

static GVariant *of_caps(GstEvent *event)
{
  GstCaps *caps;
  gst_event_parse_caps(event, &caps);
  g_autofree char *text = gst_caps_to_string(caps);
  return g_variant_new("(s)", text);
}

static GVariant *of_segment(GstEvent *event)
{
  const GstSegment *s;
  gst_event_parse_segment(event, &s);
  return g_variant_new(SEGMENT_TYPE, s->flags, s->format, s->rate, s->applied_rate, s->base,
                       s->offset, s->start, s->stop, s->time, s->position, s->duration);
}

/* Moves a field that holds bytes from the structure to the list. */
static gboolean move_bytes(GQuark field, GValue *value, gpointer list)
{
  if (!G_VALUE_HOLDS(value, G_TYPE_BYTES))
    return TRUE;
  gsize n;
  gconstpointer data = g_bytes_get_data(g_value_get_boxed(value), &n);
  g_variant_builder_add(list, "(s@ay)", g_quark_to_string(field),
                        g_variant_new_fixed_array(G_VARIANT_TYPE_BYTE, data, n, 1));
  return FALSE;
}

/* Bytes go beside the text: written in it, they cannot always be read back. */
static GVariant *of_custom(GstEvent *event)
{
  const GstStructure *told = gst_event_get_structure(event);
  GstStructure *rest = told ? gst_structure_copy(told) : gst_structure_new_empty("none");
  GVariantBuilder bytes;
  g_variant_builder_init(&bytes, G_VARIANT_TYPE("a(say)"));
  gst_structure_filter_and_map_in_place(rest, move_bytes, &bytes);
  g_autofree char *text = gst_structure_to_string(rest);
  gst_structure_free(rest);
  return g_variant_new("(usa(say))", GST_EVENT_TYPE(event), text, &bytes);
}

static GVariant *of_gap(GstEvent *event)
{
  GstClockTime time, duration;
  gst_event_parse_gap(event, &time, &duration);
  return g_variant_new("(tt)", time, duration);
}

static GVariant *of_eos(GstEvent *event)
{
  return g_variant_new("()");
}

static const struct {
  GstEventType type;
  ItemKind kind;
  GVariant *(*contents)(GstEvent *event);
} events[] = {
  { GST_EVENT_STREAM_START, ITEM_STREAM_START, of_stream_start },
  { GST_EVENT_CAPS, ITEM_CAPS, of_caps },
  { GST_EVENT_SEGMENT, ITEM_SEGMENT, of_segment },
  { GST_EVENT_CUSTOM_DOWNSTREAM, ITEM_CUSTOM, of_custom },
  { GST_EVENT_CUSTOM_DOWNSTREAM_STICKY, ITEM_CUSTOM, of_custom },
  { GST_EVENT_GAP, ITEM_GAP, of_gap },
  { GST_EVENT_EOS, ITEM_EOS, of_eos },
};

GBytes *astro_item_of_event(GstEvent *event)
{
  for (guint i = 0; i < G_N_ELEMENTS(events); i++)
    if (GST_EVENT_TYPE(event) == events[i].type)
      return pack(events[i].kind, events[i].contents(event));
  return NULL;
}

static gpointer read_stream_start(GVariant *contents)
{
  const char *id;
  guint flags;
  g_variant_get(contents, "(&su)", &id, &flags);
  GstEvent *event = gst_event_new_stream_start(id);
  gst_event_set_stream_flags(event, flags);
  return event;
}

static gpointer read_caps(GVariant *contents)
{
  const char *text;
  g_variant_get(contents, "(&s)", &text);
  g_autoptr(GstCaps) caps = gst_caps_from_string(text);
  return caps && gst_caps_is_fixed(caps) ? gst_event_new_caps(caps) : NULL;
}

static gpointer read_segment(GVariant *contents)
{
  GstSegment s;
  guint flags, format;
  gst_segment_init(&s, GST_FORMAT_UNDEFINED);
  g_variant_get(contents, SEGMENT_TYPE, &flags, &format, &s.rate, &s.applied_rate, &s.base,
                &s.offset, &s.start, &s.stop, &s.time, &s.position, &s.duration);
  s.flags = flags;
  s.format = format;
  return s.rate != 0 && s.applied_rate != 0 && format != GST_FORMAT_UNDEFINED
             ? gst_event_new_segment(&s)
             : NULL;
}

static gpointer read_custom(GVariant *contents)
{
  g_autoptr(GVariantIter) all = NULL;
  const char *text, *field;
  GVariant *bytes;
  guint type;
  g_variant_get(contents, "(u&sa(say))", &type, &text, &all);
  if (type != GST_EVENT_CUSTOM_DOWNSTREAM && type != GST_EVENT_CUSTOM_DOWNSTREAM_STICKY)
    return NULL;
  GstStructure *told = gst_structure_from_string(text, NULL);
  while (told && g_variant_iter_next(all, "(&s@ay)", &field, &bytes)) {
    g_autoptr(GBytes) moved = g_variant_get_data_as_bytes(bytes);
    gst_structure_set(told, field, G_TYPE_BYTES, moved, NULL);
    g_variant_unref(bytes);
  }
  return told ? gst_event_new_custom(type, told) : NULL;
}

static gpointer read_gap(GVariant *contents)
{
  GstClockTime time, duration;
  g_variant_get(contents, "(tt)", &time, &duration);
  return GST_CLOCK_TIME_IS_VALID(time) ? gst_event_new_gap(time, duration) : NULL;
}

static gpointer read_eos(GVariant *contents)
{
  return gst_event_new_eos();
}

/* ---- metas ---- */

#define NUMBERS(type, data, n)                                                                     \
  g_variant_new_fixed_array(G_VARIANT_TYPE(type), data, n, sizeof *(data))

static GVariant *of_validity(GstMeta *meta, GError **error)
{
  const AstroValidityMeta *validity = (AstroValidityMeta *)meta;
  GVariantBuilder axes;
  if (!validity->counts)
    return NULL;
  g_variant_builder_init(&axes, G_VARIANT_TYPE("a(ut)"));
  for (guint i = 0; i < validity->shape.n_axes; i++)
    g_variant_builder_add(&axes, "(ut)", validity->shape.axes[i], validity->shape.extents[i]);
  return g_variant_new("(a(ut)ub@au)", &axes, validity->full, validity->slowest_first,
                       NUMBERS("u", validity->counts, astro_validity_n_counts(validity)));
}

static gboolean read_validity(GVariant *contents, GstBuffer *buffer)
{
  g_autoptr(GVariantIter) axes = NULL;
  g_autoptr(GVariant) numbers = NULL;
  AstroLayout shape = { 0 };
  guint full, axis;
  guint64 extent;
  gboolean slowest_first;
  gsize n;
  g_variant_get(contents, "(a(ut)ub@au)", &axes, &full, &slowest_first, &numbers);
  while (g_variant_iter_next(axes, "(ut)", &axis, &extent)) {
    if (shape.n_axes == ASTRO_MAX_AXES || axis >= ASTRO_N_AXES)
      return FALSE;
    shape.axes[shape.n_axes] = axis;
    shape.extents[shape.n_axes++] = extent;
  }
  const guint32 *counts = g_variant_get_fixed_array(numbers, &n, sizeof *counts);
  if (astro_layout_samples(&shape) != n)
    return FALSE;
  AstroValidityMeta *meta = astro_buffer_add_validity(buffer, &shape, full);
  meta->slowest_first = slowest_first;
  memcpy(meta->counts, counts, n * sizeof *counts);
  return TRUE;
}

static GVariant *of_grid(GstMeta *meta, GError **error)
{
  const AstroGridMeta *grid = (AstroGridMeta *)meta;
  if (grid->touched) {
    astro_stream_refuse(error, ASTRO_STREAM_ERROR_CAPS,
                        "the grid leaves tiles without visibilities undefined, expected a whole "
                        "one (touched-only=false in its caps)");
    return NULL;
  }
  return g_variant_new("(dduu@adtttt)", grid->w, grid->w_step, grid->plane, grid->planes,
                       NUMBERS("d", grid->weights, grid->n_weights), grid->used, grid->outside,
                       grid->flagged, grid->not_finite);
}

static gboolean read_grid(GVariant *contents, GstBuffer *buffer)
{
  g_autoptr(GVariant) numbers = NULL;
  AstroGridMeta read = { 0 };
  gsize n;
  g_variant_get(contents, "(dduu@adtttt)", &read.w, &read.w_step, &read.plane, &read.planes,
                &numbers, &read.used, &read.outside, &read.flagged, &read.not_finite);
  const double *weights = g_variant_get_fixed_array(numbers, &n, sizeof *weights);
  AstroGridMeta *grid = astro_buffer_add_grid(buffer, (guint)n);
  memcpy(grid->weights, weights, n * sizeof *weights);
  grid->w = read.w;
  grid->w_step = read.w_step;
  grid->plane = read.plane;
  grid->planes = read.planes;
  grid->used = read.used;
  grid->outside = read.outside;
  grid->flagged = read.flagged;
  grid->not_finite = read.not_finite;
  return TRUE;
}

static GVariant *of_uvw(GstMeta *meta, GError **error)
{
  const AstroUvwMeta *uvw = (AstroUvwMeta *)meta;
  return g_variant_new("(tt@ad)", uvw->steps, uvw->baselines,
                       NUMBERS("d", uvw->uvw, 3 * uvw->steps * uvw->baselines));
}

/* Whether there is a number for each of `each` things of a baseline and step. */
static gboolean is_table(gsize n, guint64 steps, guint64 baselines, guint each)
{
  guint64 cells;
  return g_uint64_checked_mul(&cells, steps, baselines) &&
         g_uint64_checked_mul(&cells, cells, each) && cells == n;
}

static gboolean read_uvw(GVariant *contents, GstBuffer *buffer)
{
  g_autoptr(GVariant) numbers = NULL;
  guint64 steps, baselines;
  gsize n;
  g_variant_get(contents, "(tt@ad)", &steps, &baselines, &numbers);
  const double *uvw = g_variant_get_fixed_array(numbers, &n, sizeof *uvw);
  if (!is_table(n, steps, baselines, 3))
    return FALSE;
  memcpy(astro_buffer_add_uvw(buffer, steps, baselines)->uvw, uvw, n * sizeof *uvw);
  return TRUE;
}

static GVariant *of_absent(GstMeta *meta, GError **error)
{
  const AstroAbsentMeta *absent = (AstroAbsentMeta *)meta;
  return g_variant_new("(tt@ay)", absent->steps, absent->baselines,
                       NUMBERS("y", absent->is_absent, absent->steps * absent->baselines));
}

static gboolean read_absent(GVariant *contents, GstBuffer *buffer)
{
  g_autoptr(GVariant) numbers = NULL;
  guint64 steps, baselines;
  gsize n;
  g_variant_get(contents, "(tt@ay)", &steps, &baselines, &numbers);
  const guint8 *is_absent = g_variant_get_fixed_array(numbers, &n, 1);
  if (!is_table(n, steps, baselines, 1))
    return FALSE;
  memcpy(astro_buffer_add_absent(buffer, steps, baselines)->is_absent, is_absent, n);
  return TRUE;
}

/* of: NULL without an error if there is nothing to say. */
static const struct {
  const char *name, *type;
  GType (*api)(void);
  GVariant *(*of)(GstMeta *meta, GError **error);
  gboolean (*read)(GVariant *contents, GstBuffer *buffer);
} metas[] = {
  { "validity", VALIDITY_TYPE, astro_validity_meta_api_get_type, of_validity, read_validity },
  { "grid", GRID_TYPE, astro_grid_meta_api_get_type, of_grid, read_grid },
  { "uvw", UVW_TYPE, astro_uvw_meta_api_get_type, of_uvw, read_uvw },
  { "absent", ABSENT_TYPE, astro_absent_meta_api_get_type, of_absent, read_absent },
};

static gboolean read_meta(const char *name, GVariant *contents, GstBuffer *buffer)
{
  for (guint i = 0; i < G_N_ELEMENTS(metas); i++)
    if (g_str_equal(name, metas[i].name))
      return g_variant_is_of_type(contents, G_VARIANT_TYPE(metas[i].type)) &&
             metas[i].read(contents, buffer);
  return FALSE;
}

/* ---- buffers ---- */

/* Flags that belong to the stream; others are about the memory here. */
#define STREAM_FLAGS                                                                               \
  (GST_BUFFER_FLAG_DISCONT | GST_BUFFER_FLAG_GAP | GST_BUFFER_FLAG_RESYNC |                        \
   GST_BUFFER_FLAG_CORRUPTED | GST_BUFFER_FLAG_MARKER | GST_BUFFER_FLAG_DROPPABLE)

GBytes *astro_item_of_buffer(GstBuffer *buffer, GError **error)
{
  GVariantBuilder all;
  g_variant_builder_init(&all, G_VARIANT_TYPE("a(sv)"));
  for (guint i = 0; i < G_N_ELEMENTS(metas); i++) {
    GstMeta *meta = gst_buffer_get_meta(buffer, metas[i].api());
    GError *trouble = NULL;
    GVariant *contents = meta ? metas[i].of(meta, &trouble) : NULL;
    if (contents)
      g_variant_builder_add(&all, "(sv)", metas[i].name, contents);
    if (trouble) {
      g_variant_builder_clear(&all);
      g_propagate_error(error, trouble);
      return NULL;
    }
  }
  return pack(ITEM_BUFFER, g_variant_new(BUFFER_TYPE, GST_BUFFER_PTS(buffer),
                                         GST_BUFFER_DTS(buffer), GST_BUFFER_DURATION(buffer),
                                         GST_BUFFER_OFFSET(buffer), GST_BUFFER_OFFSET_END(buffer),
                                         GST_BUFFER_FLAGS(buffer) & STREAM_FLAGS, &all));
}

/* Takes over samples. */
static gpointer read_buffer(GVariant *contents, GstBuffer *samples)
{
  GstBuffer *buffer = samples ? gst_buffer_make_writable(samples) : gst_buffer_new();
  g_autoptr(GVariantIter) all = NULL;
  const char *name;
  GVariant *meta;
  guint flags;
  gboolean ok = TRUE;
  g_variant_get(contents, BUFFER_TYPE, &GST_BUFFER_PTS(buffer), &GST_BUFFER_DTS(buffer),
                &GST_BUFFER_DURATION(buffer), &GST_BUFFER_OFFSET(buffer),
                &GST_BUFFER_OFFSET_END(buffer), &flags, &all);
  GST_BUFFER_FLAG_SET(buffer, flags & STREAM_FLAGS);
  while (g_variant_iter_next(all, "(&sv)", &name, &meta)) {
    ok = ok && read_meta(name, meta, buffer);
    g_variant_unref(meta);
  }
  if (!ok)
    gst_clear_buffer(&buffer);
  return buffer;
}

static gpointer (*const read_event[N_ITEMS])(GVariant *contents) = {
  [ITEM_STREAM_START] = read_stream_start,
  [ITEM_CAPS] = read_caps,
  [ITEM_SEGMENT] = read_segment,
  [ITEM_CUSTOM] = read_custom,
  [ITEM_GAP] = read_gap,
  [ITEM_EOS] = read_eos,
};

GstMiniObject *astro_item_read(GBytes *item, GstBuffer *samples, GError **error)
{
  g_autoptr(GVariant) whole =
      g_variant_ref_sink(g_variant_new_from_bytes(G_VARIANT_TYPE("(yv)"), item, FALSE));
  g_autoptr(GVariant) contents = NULL;
  gpointer object = NULL;
  guint8 kind = N_ITEMS;
  if (g_variant_is_normal_form(whole))
    g_variant_get(whole, "(yv)", &kind, &contents);
  if (kind < N_ITEMS && g_variant_is_of_type(contents, G_VARIANT_TYPE(contents_types[kind]))) {
    object = kind == ITEM_BUFFER ? read_buffer(contents, g_steal_pointer(&samples))
                                 : read_event[kind](contents);
  }
  gst_clear_buffer(&samples);
  if (!object)
    astro_stream_refuse(error, ASTRO_STREAM_ERROR_CAPS,
                        "damaged data came from another rank, expected an event or a buffer as "
                        "this version of gst-astro sends them: is it the same on all hosts?");
  return object;
}
