/**
 * SECTION:element-astrocatsrc
 *
 * Catalogues of points on the sky, one a buffer. The points are random, even or clustered, within a
 * band, a cap or the footprint of a catalogue in a file; or they are read from a text file.
 * Coordinates are in degrees. Even points are made by all threads or on a GPU, and are the same to
 * the last bit with any number of threads and with each backend. A catalogue counts as one second
 * of the stream. The element message "astro-mock" gives the slope of clustered points and the range
 * of angles over which it holds.
 *
 * |[
 * gst-launch-1.0 astrocatsrc points=100000 slope=-0.8 footprint=band:0,90,-30,30 ! h.data \
 *   astrocatsrc points=100000 catalogues=10 seed=2 footprint=band:0,90,-30,30 ! h.random \
 *   astrohistogram name=h regions=20 ! astrotpacf ! filesink location=w.f64
 * ]|
 */
#include "config.h"
#include "elements/astrocatsrc-parts.h"

#include "core/backend/module.h"
#include "core/kit/fail.h"
#include "core/lib/catalogue/columns.h"
#include "core/memory/memory.h"
#include "core/stream/stream.h"
#include "elements/base/astrofields.h"
#include "elements/base/astrolog.h"
#include "elements/base/astroonce.h"
#include "elements/base/astrooutgoing.h"
#include "elements/base/astrostage.h"

static const AstroField fields[] = {
  ASTRO_UINT64(AstroCatSrcSettings, points, "points", "Points", "Points in a catalogue", 0,
               G_MAXUINT32, 10000),
  ASTRO_UINT(AstroCatSrcSettings, catalogues, "catalogues", "Catalogues",
             "Number of catalogues, each with random numbers of its own", 1, G_MAXUINT, 1),
  ASTRO_UINT64(AstroCatSrcSettings, seed, "seed", "Seed", "Seed of the random numbers", 0,
               G_MAXUINT64, 1),
  ASTRO_TEXT(AstroCatSrcSettings, footprint, "footprint", "Footprint",
             "band:RA,RA,DEC,DEC or cap:RA,DEC,RADIUS, in degrees, or like:FILE for the area "
             "covered by the points of a FITS table or a text file",
             "band:0,360,-90,90"),
  ASTRO_DOUBLE(AstroCatSrcSettings, footprint_cell, "footprint-cell", "Footprint cell",
               "Size of the cells that make up the footprint of a file, degrees; 0: as fine as "
               "the file's points allow",
               0, 32, 0),
  ASTRO_DOUBLE(AstroCatSrcSettings, clustering.slope, "slope", "Slope",
               "Slope of w(theta) of clustered points, above -2; 0: no clustering", -2, 0, 0),
  ASTRO_DOUBLE(AstroCatSrcSettings, clustering.radius, "cluster-radius", "Cluster radius",
               "Radius of the largest clusters, degrees", 0, 60, 6),
  ASTRO_UINT(AstroCatSrcSettings, clustering.levels, "levels", "Levels",
             "Levels of clusters within clusters", 1, 20, 7),
  ASTRO_UINT(AstroCatSrcSettings, clustering.children, "children", "Children",
             "Clusters in a cluster", 2, 1000, 3),
  ASTRO_UINT(AstroCatSrcSettings, regions, "regions", "Regions",
             "Adds a column of regions to simulated points: compact cells of equal area, "
             "the same for all catalogues with this footprint; 0: none",
             0, 65535, 0),
  ASTRO_TEXT(AstroCatSrcSettings, location, "location", "Location",
             "A text or CSV file, possibly gzipped, to read instead of simulating points; a "
             "repeated heading line begins another catalogue",
             NULL),
  ASTRO_TEXT(AstroCatSrcSettings, ra_column, "ra-column", "Right ascension column",
             "Name or number (from 1) of the file's column", "1"),
  ASTRO_TEXT(AstroCatSrcSettings, dec_column, "dec-column", "Declination column",
             "Name or number (from 1) of the file's column", "2"),
  ASTRO_TEXT(AstroCatSrcSettings, weight_column, "weight-column", "Weight column",
             "Name or number (from 1) of the file's column; NULL or empty: none", NULL),
  ASTRO_TEXT(
      AstroCatSrcSettings, region_column, "region-column", "Region column",
      "Name or number (from 1) of the file's column of whole numbers from 0; NULL or empty: none",
      NULL),
  ASTRO_TEXT(AstroCatSrcSettings, distance_column, "distance-column", "Distance column",
             "Name or number (from 1) of the file's column of comoving distances, in any unit; "
             "NULL or empty: none",
             NULL),
  ASTRO_TEXT(AstroCatSrcSettings, redshift_column, "redshift-column", "Redshift column",
             "Name or number (from 1) of the file's column of redshifts, which become comoving "
             "distances in Mpc/h, by omega-m; NULL or empty: none",
             NULL),
  ASTRO_DOUBLE(AstroCatSrcSettings, omega_m, "omega-m", "Matter density",
               "Matter in units of the critical density, in a flat universe with a cosmological "
               "constant, for distances from redshifts; -1: unset",
               -1, 1, -1),
  ASTRO_TEXT(AstroCatSrcSettings, k_column, "k-column", "Column of a scalar",
             "Name or number (from 1) of the file's column of a scalar, such as the convergence, "
             "for fields of "
             "astrohistogram; NULL or empty: none",
             NULL),
  ASTRO_TEXT(AstroCatSrcSettings, g1_column, "g1-column", "Column of shear g1",
             "Name or number (from 1) of the file's column of the shear stretched from east to "
             "west; NULL or empty: none",
             NULL),
  ASTRO_TEXT(AstroCatSrcSettings, bitweight_columns, "bitweight-columns", "Columns of bits",
             "Names or numbers (from 1) of the columns of integers of 64 bits, one bit for each "
             "realisation that selects a point, separated by commas, for pair weights of "
             "astrohistogram; NULL or empty: none",
             NULL),
  ASTRO_TEXT(AstroCatSrcSettings, g2_column, "g2-column", "Column of shear g2",
             "Name or number (from 1) of the file's column of the shear stretched from north-west "
             "to south-east; NULL or empty: none",
             NULL),
  ASTRO_DOUBLE(AstroCatSrcSettings, min_distance, "min-distance", "Smallest distance",
               "Smallest distance of simulated points, where max-distance is set", 0, 1e50, 0),
  ASTRO_DOUBLE(AstroCatSrcSettings, max_distance, "max-distance", "Largest distance",
               "Adds a column of distances up to this to simulated points: even in volume, and "
               "independent of one another, also for points that are clustered on the sky; 0: none",
               0, 1e50, 0),
  ASTRO_WORK_BACKEND(AstroCatSrcSettings, work.kind,
                     "Backend that makes points that are even over the footprint: the same points "
                     "with each; auto: cpu. Clustered points are made one after another, by the "
                     "CPU"),
  ASTRO_INT(AstroCatSrcSettings, work.device, "device", "Device",
            "Index of the GPU that backend=cuda uses", 0, 63, 0),
  ASTRO_WORK_THREADS(AstroCatSrcSettings, work.threads,
                     "Most CPU threads; 0: as many as the machine has", 1024),
  { 0 },
};

static void get_active(GObject *object, GValue *value);

static const AstroField work_fields[] = {
  ASTRO_WORK_ACTIVE("Backend that makes the points now; none: they are clustered or from a file",
                    get_active),
  { 0 },
};

G_DEFINE_TYPE(AstroCatSrc, astro_cat_src, GST_TYPE_PUSH_SRC)
GST_ELEMENT_REGISTER_DEFINE(astrocatsrc, "astrocatsrc", GST_RANK_NONE, ASTRO_TYPE_CAT_SRC)

static void get_active(GObject *object, GValue *value)
{
  AstroCatSrc *self = ASTRO_CAT_SRC(object);
  GST_OBJECT_LOCK(self);
  const AstroBackend *backend = self->even.backend;
  const char *variant = self->even.variant;
  GST_OBJECT_UNLOCK(self);
  g_value_take_string(value, backend == &astro_uniform_reference
                                 ? g_strdup("reference")
                                 : astro_work_name(backend, variant, "none"));
}

static void set_even(AstroCatSrc *self, const AstroEvenPoints *even)
{
  GST_OBJECT_LOCK(self);
  const gboolean is_new = self->even.backend != even->backend;
  self->even = *even;
  GST_OBJECT_UNLOCK(self);
  if (is_new)
    g_object_notify(G_OBJECT(self), "active-backend");
}

static gboolean fail(AstroCatSrc *self, GError *error)
{
  GST_ELEMENT_ERROR(self, RESOURCE, SETTINGS, ("%s", error->message), (NULL));
  g_error_free(error);
  return FALSE;
}

static gboolean choose_backend(AstroCatSrc *self, GError **error)
{
  const AstroCatSrcSettings *s = &self->now;
  AstroEvenPoints even = { 0 };
  g_autofree char *why = NULL;
  if (s->clustering.slope != 0)
    return !astro_backend_is_device(s->work.kind) ||
           astro_backend_refuse(error,
                                "backend=%s makes even points, and slope=%g asks for clustered "
                                "ones: expected slope=0, or another backend",
                                astro_backend_kind_name(s->work.kind), s->clustering.slope);
  if (!astro_work_check("uniform", astro_uniform_backends, &s->work, error) ||
      !astro_even_points_open(&even, &self->footprint, &s->work, &why, error))
    return FALSE;
  set_even(self, &even);
  astro_work_log(self, even.backend, even.variant, even.place.device, s->work.threads, why);
  return TRUE;
}

static guint n_catalogues(const AstroCatSrcSettings *s)
{
  return s->location ? 1 : s->catalogues;
}

static gboolean astro_cat_src_stop(GstBaseSrc *base)
{
  AstroCatSrc *self = ASTRO_CAT_SRC(base);
  g_atomic_int_set(&self->length, 0);
  AstroEvenPoints even = self->even;
  set_even(self, &(AstroEvenPoints){ 0 });
  astro_even_points_close(&even);
  g_clear_pointer(&self->regions, astro_regions_free);
  g_clear_pointer(&self->mask, astro_mask_free);
  astro_catalogue_clear(&self->file);
  astro_fields_clear(fields, &self->now);
  g_clear_pointer(&self->ends, g_array_unref);
  return TRUE;
}

/* Reads the file, or gets ready what simulated catalogues are made with. */
static gboolean prepare(AstroCatSrc *self, GError **error)
{
  const AstroCatSrcSettings *s = &self->now;
  if (s->location)
    return astro_cat_src_read_file(self, error);
  if (s->max_distance > 0 && s->min_distance >= s->max_distance)
    return astro_fail(error, ASTRO_CATALOGUE_ERROR, ASTRO_CATALOGUE_ERROR_MODEL,
                      "distances from min-distance=%g to max-distance=%g, expected the second to "
                      "be the larger one",
                      s->min_distance, s->max_distance);
  if (!astro_cat_src_find_footprint(self, error) || !choose_backend(self, error))
    return FALSE;
  if (s->clustering.slope != 0)
    astro_cat_src_tell_mock(self);
  return astro_cat_src_lay_out_regions(self, error);
}

static gboolean astro_cat_src_start(GstBaseSrc *base)
{
  AstroCatSrc *self = ASTRO_CAT_SRC(base);
  GError *error = NULL;
  astro_fields_copy(fields, self, &self->now, &self->settings, sizeof self->now);
  self->next = 0;
  astro_deadline_clear(&self->deadline);
  if (prepare(self, &error)) {
    g_atomic_int_set(&self->length,
                     (gint)(self->ends ? self->ends->len : n_catalogues(&self->now)));
    return TRUE;
  }
  astro_cat_src_stop(base);
  return fail(self, error);
}

static GstCaps *caps_of(const AstroCatalogue *catalogue)
{
  const guint set = astro_catalogue_column_set(catalogue);
  g_autoptr(GString) columns = g_string_new(NULL);
  for (guint c = 0; c < ASTRO_CATALOGUE_COLUMNS; c++)
    if (set & 1u << c)
      g_string_append_printf(columns, "%s%s", columns->len ? ":" : "",
                             astro_catalogue_column_name(c));
  return gst_caps_new_simple(astro_quantity_media_type(ASTRO_QUANTITY_CATALOGUE), "format",
                             G_TYPE_STRING, "F64LE", "layout", G_TYPE_STRING, "column:point",
                             "columns", G_TYPE_STRING, columns->str, NULL);
}

static GstBuffer *buffer_of(const AstroCatalogue *catalogue, GError **error)
{
  AstroCatalogue from = *catalogue;
  gsize bytes = catalogue->n * sizeof(double), at = 0;
  const guint n = (guint)__builtin_popcount(astro_catalogue_column_set(catalogue));
  GstBuffer *buffer = astro_buffer_new(n * bytes, NULL);
  if (!buffer) {
    astro_cat_src_refuse_size(catalogue->n, n, error);
    return NULL;
  }
  for (guint c = 0; c < ASTRO_CATALOGUE_COLUMNS; c++) {
    const double *column = *astro_catalogue_column(&from, c);
    if (column)
      at += gst_buffer_fill(buffer, at, column, bytes);
  }
  return buffer;
}

/* GstBaseSrc would send caps even to a peer that does not accept them. */
static gboolean agree(AstroCatSrc *self, GstCaps *caps)
{
  GstPad *src = GST_BASE_SRC_PAD(self);
  g_autoptr(GstCaps) accepted = gst_pad_peer_query_caps(src, NULL);
  if (gst_caps_can_intersect(caps, accepted) && gst_base_src_set_caps(GST_BASE_SRC(self), caps)) {
    astro_log_caps(self, NULL, caps);
    return TRUE;
  }
  astro_refused_caps(src, caps, "catalogues");
  return FALSE;
}

/* A catalogue that was given up half made is dropped. */
static GstFlowReturn make(AstroCatSrc *self, GstBuffer **buffer)
{
  GError *error = NULL;
  astro_deadline_begin(&self->deadline);
  const AstroStop *before = astro_stop_set(&self->deadline.stop);
  *buffer = astro_cat_src_make_mock(self, &error);
  astro_stop_set(before);
  if (!*buffer) {
    fail(self, error);
    return GST_FLOW_ERROR;
  }
  if (!astro_deadline_is_missed(&self->deadline))
    return GST_FLOW_OK;
  gst_clear_buffer(buffer);
  return astro_deadline_is_stopped(&self->deadline) ? GST_FLOW_FLUSHING : GST_FLOW_EOS;
}

static GstFlowReturn copy_part(AstroCatSrc *self, const AstroCatalogue *part, GstBuffer **buffer)
{
  GError *error = NULL;
  *buffer = buffer_of(part, &error);
  if (*buffer)
    return GST_FLOW_OK;
  fail(self, error);
  return GST_FLOW_ERROR;
}

static GstFlowReturn astro_cat_src_create(GstPushSrc *push, GstBuffer **buffer)
{
  AstroCatSrc *self = ASTRO_CAT_SRC(push);
  if (self->next >= (guint)g_atomic_int_get(&self->length))
    return GST_FLOW_EOS;
  const AstroCatalogue catalogue = self->now.location
                                       ? astro_catalogue_part(&self->file, self->ends, self->next)
                                       : astro_cat_src_empty_mock(self);
  g_autoptr(GstCaps) caps = caps_of(&catalogue);
  if (!agree(self, caps))
    return GST_FLOW_NOT_NEGOTIATED;
  const GstFlowReturn flow =
      self->now.location ? copy_part(self, &catalogue, buffer) : make(self, buffer);
  if (flow != GST_FLOW_OK)
    return flow;
  GST_BUFFER_OFFSET(*buffer) = self->next;
  GST_BUFFER_OFFSET_END(*buffer) = self->next + 1;
  GST_BUFFER_PTS(*buffer) = self->next * GST_SECOND;
  GST_BUFFER_DURATION(*buffer) = GST_SECOND;
  self->next++;
  return GST_FLOW_OK;
}

static gboolean unlock(GstBaseSrc *base)
{
  astro_deadline_set_stopped(&ASTRO_CAT_SRC(base)->deadline, TRUE);
  return TRUE;
}

static gboolean unlock_stop(GstBaseSrc *base)
{
  astro_deadline_set_stopped(&ASTRO_CAT_SRC(base)->deadline, FALSE);
  return TRUE;
}

static gboolean event(GstBaseSrc *base, GstEvent *event)
{
  if (gst_event_has_name(event, ASTRO_INTERRUPT_EVENT))
    astro_deadline_interrupt(&ASTRO_CAT_SRC(base)->deadline);
  return GST_BASE_SRC_CLASS(astro_cat_src_parent_class)->event(base, event);
}

/* Caps are set with the first catalogue, because they name its columns. */
static gboolean astro_cat_src_negotiate(GstBaseSrc *base)
{
  return TRUE;
}

/* Catalogues in the stream; num-buffers may ask for fewer. */
static guint catalogues_to_come(AstroCatSrc *self)
{
  const guint running = (guint)g_atomic_int_get(&self->length);
  gint most;
  GST_OBJECT_LOCK(self);
  const guint all = running ? running : n_catalogues(&self->settings);
  GST_OBJECT_UNLOCK(self);
  g_object_get(self, "num-buffers", &most, NULL);
  return most >= 0 ? MIN(all, (guint)most) : all;
}

static gboolean astro_cat_src_query(GstBaseSrc *base, GstQuery *query)
{
  AstroCatSrc *self = ASTRO_CAT_SRC(base);
  GstFormat format;
  if (GST_QUERY_TYPE(query) != GST_QUERY_DURATION)
    return GST_BASE_SRC_CLASS(astro_cat_src_parent_class)->query(base, query);
  gst_query_parse_duration(query, &format, NULL);
  if (format != GST_FORMAT_TIME)
    return FALSE;
  gst_query_set_duration(query, format, catalogues_to_come(self) * GST_SECOND);
  return TRUE;
}

static void astro_cat_src_init(AstroCatSrc *self)
{
  astro_deadline_init(&self->deadline);
  astro_fields_set_defaults(self);
  gst_base_src_set_format(GST_BASE_SRC(self), GST_FORMAT_TIME);
}

static void astro_cat_src_class_init(AstroCatSrcClass *klass)
{
  GstElementClass *element = GST_ELEMENT_CLASS(klass);
  GstBaseSrcClass *base = GST_BASE_SRC_CLASS(klass);
  astro_fields_install(G_OBJECT_CLASS(klass), fields, G_STRUCT_OFFSET(AstroCatSrc, settings));
  astro_fields_install(G_OBJECT_CLASS(klass), work_fields, 0);
  base->start = astro_cat_src_start;
  base->stop = astro_cat_src_stop;
  base->negotiate = astro_cat_src_negotiate;
  base->query = astro_cat_src_query;
  base->unlock = unlock;
  base->unlock_stop = unlock_stop;
  base->event = event;
  GST_PUSH_SRC_CLASS(klass)->create = astro_cat_src_create;
  g_autoptr(GstCaps) caps =
      gst_caps_new_empty_simple(astro_quantity_media_type(ASTRO_QUANTITY_CATALOGUE));
  gst_element_class_add_pad_template(
      element, gst_pad_template_new("src", GST_PAD_SRC, GST_PAD_ALWAYS, caps));
  astro_element_class_say_once(element);
  gst_element_class_set_static_metadata(element, "Catalogue source", "Source/Catalogue",
                                        "Makes or reads catalogues of points on the sky",
                                        ASTRO_AUTHOR);
  gst_element_class_add_static_metadata(
      element, "gives", "catalogues F64LE: column:point with columns ra, dec and those of a file");
}
