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
#include "elements/astrocatsrc.h"
#include "elements/astrocatsrc-points.h"

#include "core/kit/fail.h"
#include "core/backend/module.h"
#include "core/lib/catalogue/columns.h"
#include "core/lib/catalogue/distance.h"
#include "core/lib/catalogue/mask.h"
#include "core/fits/fits.h"
#include "core/histogram/regions.h"
#include "core/memory/memory.h"
#include "core/stream/stream.h"
#include "elements/base/astrodeadline.h"
#include "elements/base/astrofields.h"
#include "elements/base/astrolog.h"
#include "elements/base/astroonce.h"
#include "elements/base/astrooutgoing.h"
#include "elements/base/astrostage.h"

#include <math.h>
#include <string.h>

/* Regions are laid out with random points of their own, a fixed number for each region, so that
 * they depend only on the footprint and their number: two sources with the same footprint agree
 * about them. */
#define POINTS_A_REGION 1000
#define MOST_POINTS (1 << 22) /* with very many regions, which are less equal in area then */
#define REGIONS_SEED 0x7265676f
#define DISTANCES_SEED 0x64697374

typedef struct {
  guint64 points, seed;
  guint catalogues, regions;
  char *footprint;
  double footprint_cell;      /* degrees; 0: chosen from the number of points */
  AstroClustering clustering; /* slope 0: no clustering */
  char *location;
  char *ra_column, *dec_column, *weight_column, *region_column;
  char *distance_column, *redshift_column, *k_column, *g1_column, *g2_column;
  char *bitweight_columns;
  double omega_m, min_distance, max_distance;
  AstroWorkChoice work;
} Settings;

struct _AstroCatSrc {
  GstPushSrc parent;
  Settings settings;

  /* from start to stop */
  Settings now; /* the properties at the start */
  gint length;  /* catalogues, atomic: queries come from any thread; 0: stopped */
  AstroFootprint footprint;
  AstroMask *mask; /* of a footprint that comes from a file */
  AstroRegions *regions;
  AstroCatalogue file; /* with a location: the points of all catalogues in the file */
  GArray *ends;        /* where each of those catalogues ends, in points (guint64) */
  guint next;
  AstroEvenPoints even; /* closed for points that are not */
  AstroDeadline deadline;
};

static const AstroField fields[] = {
  ASTRO_UINT64(Settings, points, "points", "Points", "Points in a catalogue", 0, G_MAXUINT32,
               10000),
  ASTRO_UINT(Settings, catalogues, "catalogues", "Catalogues",
             "Number of catalogues, each with random numbers of its own", 1, G_MAXUINT, 1),
  ASTRO_UINT64(Settings, seed, "seed", "Seed", "Seed of the random numbers", 0, G_MAXUINT64, 1),
  ASTRO_TEXT(Settings, footprint, "footprint", "Footprint",
             "band:RA,RA,DEC,DEC or cap:RA,DEC,RADIUS, in degrees, or like:FILE for the area "
             "covered by the points of a FITS table or a text file",
             "band:0,360,-90,90"),
  ASTRO_DOUBLE(Settings, footprint_cell, "footprint-cell", "Footprint cell",
               "Size of the cells that make up the footprint of a file, degrees; 0: as fine as "
               "the file's points allow",
               0, 32, 0),
  ASTRO_DOUBLE(Settings, clustering.slope, "slope", "Slope",
               "Slope of w(theta) of clustered points, above -2; 0: no clustering", -2, 0, 0),
  ASTRO_DOUBLE(Settings, clustering.radius, "cluster-radius", "Cluster radius",
               "Radius of the largest clusters, degrees", 0, 60, 6),
  ASTRO_UINT(Settings, clustering.levels, "levels", "Levels", "Levels of clusters within clusters",
             1, 20, 7),
  ASTRO_UINT(Settings, clustering.children, "children", "Children", "Clusters in a cluster", 2,
             1000, 3),
  ASTRO_UINT(Settings, regions, "regions", "Regions",
             "Adds a column of regions to simulated points: compact cells of equal area, "
             "the same for all catalogues with this footprint; 0: none",
             0, 65535, 0),
  ASTRO_TEXT(Settings, location, "location", "Location",
             "A text or CSV file, possibly gzipped, to read instead of simulating points; a "
             "repeated heading line begins another catalogue",
             NULL),
  ASTRO_TEXT(Settings, ra_column, "ra-column", "Right ascension column",
             "Name or number (from 1) of the file's column", "1"),
  ASTRO_TEXT(Settings, dec_column, "dec-column", "Declination column",
             "Name or number (from 1) of the file's column", "2"),
  ASTRO_TEXT(Settings, weight_column, "weight-column", "Weight column",
             "Name or number (from 1) of the file's column; NULL or empty: none", NULL),
  ASTRO_TEXT(
      Settings, region_column, "region-column", "Region column",
      "Name or number (from 1) of the file's column of whole numbers from 0; NULL or empty: none",
      NULL),
  ASTRO_TEXT(Settings, distance_column, "distance-column", "Distance column",
             "Name or number (from 1) of the file's column of comoving distances, in any unit; "
             "NULL or empty: none",
             NULL),
  ASTRO_TEXT(Settings, redshift_column, "redshift-column", "Redshift column",
             "Name or number (from 1) of the file's column of redshifts, which become comoving "
             "distances in Mpc/h, by omega-m; NULL or empty: none",
             NULL),
  ASTRO_DOUBLE(Settings, omega_m, "omega-m", "Matter density",
               "Matter in units of the critical density, in a flat universe with a cosmological "
               "constant, for distances from redshifts; -1: unset",
               -1, 1, -1),
  ASTRO_TEXT(Settings, k_column, "k-column", "Column of a scalar",
             "Name or number (from 1) of the file's column of a scalar, such as the convergence, "
             "for fields of "
             "astrohistogram; NULL or empty: none",
             NULL),
  ASTRO_TEXT(Settings, g1_column, "g1-column", "Column of shear g1",
             "Name or number (from 1) of the file's column of the shear stretched from east to "
             "west; NULL or empty: none",
             NULL),
  ASTRO_TEXT(Settings, bitweight_columns, "bitweight-columns", "Columns of bits",
             "Names or numbers (from 1) of the columns of integers of 64 bits, one bit for each "
             "realisation that selects a point, separated by commas, for pair weights of "
             "astrohistogram; NULL or empty: none",
             NULL),
  ASTRO_TEXT(Settings, g2_column, "g2-column", "Column of shear g2",
             "Name or number (from 1) of the file's column of the shear stretched from north-west "
             "to south-east; NULL or empty: none",
             NULL),
  ASTRO_DOUBLE(Settings, min_distance, "min-distance", "Smallest distance",
               "Smallest distance of simulated points, where max-distance is set", 0, 1e50, 0),
  ASTRO_DOUBLE(Settings, max_distance, "max-distance", "Largest distance",
               "Adds a column of distances up to this to simulated points: even in volume, and "
               "independent of one another, also for points that are clustered on the sky; 0: none",
               0, 1e50, 0),
  ASTRO_WORK_BACKEND(Settings, work.kind,
                     "Backend that makes points that are even over the footprint: the same points "
                     "with each; auto: cpu. Clustered points are made one after another, by the "
                     "CPU"),
  ASTRO_INT(Settings, work.device, "device", "Device", "Index of the GPU that backend=cuda uses", 0,
            63, 0),
  ASTRO_WORK_THREADS(Settings, work.threads, "Most CPU threads; 0: as many as the machine has",
                     1024),
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

#define FOOTPRINT_OF_FILE "like:"

/* Reads all catalogues of a FITS or text file into one. */
static gboolean read_any(const char *path, const AstroCatalogueColumns *columns,
                         AstroCatalogue *catalogue, GError **error)
{
  AstroColumnPlaces places;
  AstroFitsOptions options = { .columns = { columns->ra, columns->dec } };
  g_autoptr(AstroFitsReader) reader = astro_fits_reader_open(path, &options, error);
  if (!reader || !astro_column_places(&places, "ra:dec", error))
    return FALSE;
  if (astro_fits_reader_contents(reader)->stream.quantity != ASTRO_QUANTITY_CATALOGUE) {
    g_set_error(error, ASTRO_CATALOGUE_ERROR, ASTRO_CATALOGUE_ERROR_FOOTPRINT,
                "%s is not a catalogue", path);
    return FALSE;
  }
  gboolean end = FALSE;
  guint64 n;
  while (astro_fits_reader_next(reader, &n, &end, error)) {
    g_autofree double *data = g_try_new(double, MAX(2 * n, 1));
    AstroFitsFrame frame = { .data = data };
    if (!data) {
      astro_catalogue_no_memory(error, n);
      break;
    }
    if (!astro_fits_reader_read(reader, &frame, &end, error) ||
        !astro_catalogue_append(catalogue, &places, data, n, error))
      break;
  }
  return end;
}

static gboolean read_footprint(AstroCatSrc *self, const char *path, GError **error)
{
  const Settings *s = &self->now;
  AstroCatalogueColumns columns = { .ra = s->ra_column, .dec = s->dec_column };
  AstroCatalogue catalogue = { 0 };
  if (read_any(path, &columns, &catalogue, error))
    self->mask = astro_mask_new(catalogue.ra, catalogue.dec, catalogue.n, s->footprint_cell, error);
  astro_catalogue_clear(&catalogue);
  if (!self->mask)
    return FALSE;
  self->footprint = (AstroFootprint){ .shape = ASTRO_FOOTPRINT_MASK, .mask = self->mask };
  ASTRO_INFO(self, "footprint of %s: %g square degrees in cells of %g degrees", path,
             astro_mask_area(self->mask), astro_mask_cell(self->mask));
  return TRUE;
}

/* "band:ra,ra,dec,dec" or "cap:ra,dec,radius" */
static gboolean parse_footprint(const char *text, AstroFootprint *footprint, GError **error)
{
  static const struct {
    const char *prefix;
    AstroFootprintShape shape;
    guint n;
  } shapes[] = { { "band:", ASTRO_FOOTPRINT_BAND, 4 }, { "cap:", ASTRO_FOOTPRINT_CAP, 3 } };
  for (guint s = 0; s < G_N_ELEMENTS(shapes); s++) {
    if (!g_str_has_prefix(text, shapes[s].prefix))
      continue;
    g_auto(GStrv) parts = g_strsplit(text + strlen(shapes[s].prefix), ",", -1);
    double v[4] = { 0 };
    guint n = 0;
    for (; n < 4 && parts[n]; n++) {
      char *end;
      v[n] = g_ascii_strtod(parts[n], &end);
      if (end == parts[n] || *end)
        break;
    }
    if (n != shapes[s].n || parts[n])
      break;
    *footprint = shapes[s].shape == ASTRO_FOOTPRINT_BAND
                     ? (AstroFootprint){ .shape = ASTRO_FOOTPRINT_BAND,
                                         .ra_min = v[0],
                                         .ra_max = v[1],
                                         .dec_min = v[2],
                                         .dec_max = v[3] }
                     : (AstroFootprint){
                         .shape = ASTRO_FOOTPRINT_CAP, .ra = v[0], .dec = v[1], .radius = v[2]
                       };
    return astro_footprint_check(footprint, error);
  }
  g_set_error(error, ASTRO_CATALOGUE_ERROR, ASTRO_CATALOGUE_ERROR_FOOTPRINT,
              "footprint \"%s\": expected band:RA,RA,DEC,DEC or cap:RA,DEC,RADIUS, in degrees, or "
              "like:FILE",
              text);
  return FALSE;
}

static gboolean read_file(AstroCatSrc *self, GError **error)
{
  const Settings *s = &self->now;
  AstroCatalogueColumns columns = { s->ra_column,
                                    s->dec_column,
                                    astro_field_given(s->weight_column),
                                    astro_field_given(s->region_column),
                                    .k = astro_field_given(s->k_column),
                                    .g1 = astro_field_given(s->g1_column),
                                    .g2 = astro_field_given(s->g2_column) };
  if (!astro_catalogue_choose_bits(s->bitweight_columns, &columns, error) ||
      !astro_catalogue_choose_distance(s->distance_column, s->redshift_column, s->omega_m, &columns,
                                       error))
    return FALSE;
  self->ends = g_array_new(FALSE, FALSE, sizeof(guint64));
  if (!astro_fits_read_text(s->location, &columns, &self->file, self->ends, error))
    return FALSE;
  if (self->file.note)
    GST_ELEMENT_WARNING(self, STREAM, FORMAT, ("%s", self->file.note), (NULL));
  return TRUE;
}

static AstroRegions *lay_out_regions(const AstroFootprint *footprint, guint n_regions,
                                     GError **error)
{
  AstroCatalogue sample;
  AstroRandom random;
  astro_random_init(&random, REGIONS_SEED, n_regions);
  if (!astro_catalogue_uniform(footprint, MIN((guint64)n_regions * POINTS_A_REGION, MOST_POINTS),
                               &random, &sample, error))
    return NULL;
  AstroRegions *regions =
      astro_regions_new(sample.ra, sample.dec, sample.n, n_regions, NULL, error);
  astro_catalogue_clear(&sample);
  return regions;
}

/* Posts what a correlation function should find: the slope, and between which angles (arcmin). */
static void tell_mock(AstroCatSrc *self)
{
  const AstroClustering *c = &self->now.clustering;
  double smallest = c->radius / pow(c->children, (c->levels - 1) / (2 + c->slope));
  GstStructure *s =
      gst_structure_new("astro-mock", "slope", G_TYPE_DOUBLE, c->slope, "from", G_TYPE_DOUBLE,
                        60 * smallest, "to", G_TYPE_DOUBLE, 60 * c->radius, NULL);
  gst_element_post_message(GST_ELEMENT(self), gst_message_new_element(GST_OBJECT(self), s));
}

static gboolean choose_backend(AstroCatSrc *self, GError **error)
{
  const Settings *s = &self->now;
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

static guint n_catalogues(const Settings *s)
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
  const Settings *s = &self->now;
  if (s->location)
    return read_file(self, error);
  if (s->max_distance > 0 && s->min_distance >= s->max_distance)
    return astro_fail(error, ASTRO_CATALOGUE_ERROR, ASTRO_CATALOGUE_ERROR_MODEL,
                      "distances from min-distance=%g to max-distance=%g, expected the second to "
                      "be the larger one",
                      s->min_distance, s->max_distance);
  const char *footprint = s->footprint ? s->footprint : "";
  gboolean found = g_str_has_prefix(footprint, FOOTPRINT_OF_FILE)
                       ? read_footprint(self, footprint + strlen(FOOTPRINT_OF_FILE), error)
                       : parse_footprint(footprint, &self->footprint, error);
  if (!found || !choose_backend(self, error))
    return FALSE;
  if (s->clustering.slope != 0)
    tell_mock(self);
  if (s->regions > 0)
    self->regions = lay_out_regions(&self->footprint, s->regions, error);
  return s->regions == 0 || self->regions;
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

static gboolean refuse_size(guint64 points, guint columns, GError **error)
{
  g_set_error(error, ASTRO_CATALOGUE_ERROR, ASTRO_CATALOGUE_ERROR_MODEL,
              "%" G_GUINT64_FORMAT " points of %u columns do not fit in memory", points, columns);
  return FALSE;
}

/* Random numbers of their own, so that the places are the same with and without distances. */
static void add_distances(AstroCatSrc *self, AstroCatalogue *catalogue)
{
  const Settings *s = &self->now;
  AstroRandom random;
  astro_random_init(&random, s->seed ^ DISTANCES_SEED, self->next);
  for (guint64 i = 0; i < catalogue->n; i++)
    catalogue->distance[i] = astro_random_distance(&random, s->min_distance, s->max_distance);
}

static gboolean add_clusters(AstroCatSrc *self, AstroCatalogue *catalogue, AstroRandom *random,
                             GError **error)
{
  AstroCatalogue made;
  if (!astro_catalogue_clustered(&self->footprint, &self->now.clustering, catalogue->n, random,
                                 &made, error))
    return FALSE;
  memcpy(catalogue->ra, made.ra, made.n * sizeof(double));
  memcpy(catalogue->dec, made.dec, made.n * sizeof(double));
  astro_catalogue_clear(&made);
  return TRUE;
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
    refuse_size(catalogue->n, n, error);
    return NULL;
  }
  for (guint c = 0; c < ASTRO_CATALOGUE_COLUMNS; c++) {
    const double *column = *astro_catalogue_column(&from, c);
    if (column)
      at += gst_buffer_fill(buffer, at, column, bytes);
  }
  return buffer;
}

/* The host adds places that are clustered, and columns, to a buffer of simulated points. */
static gboolean finish_mock(AstroCatSrc *self, GstBuffer *buffer, AstroCatalogue *catalogue,
                            AstroRandom *random, GError **error)
{
  const gboolean has_clusters = self->now.clustering.slope != 0;
  GstMapInfo map;
  if (catalogue->n == 0 || !(has_clusters || catalogue->region || catalogue->distance))
    return TRUE;
  if (!gst_buffer_map(buffer, &map, GST_MAP_READWRITE))
    return astro_catalogue_no_memory(error, catalogue->n);
  guint64 at = 0;
  for (guint c = 0; c < ASTRO_CATALOGUE_COLUMNS; c++)
    if (*astro_catalogue_column(catalogue, c))
      *astro_catalogue_column(catalogue, c) = (double *)(gpointer)map.data + at++ * catalogue->n;
  const gboolean good = !has_clusters || add_clusters(self, catalogue, random, error);
  if (good && catalogue->distance)
    add_distances(self, catalogue);
  for (guint64 i = 0; i < catalogue->n && good && catalogue->region && !astro_is_given_up(); i++)
    catalogue->region[i] = astro_regions_find(self->regions, catalogue->ra[i], catalogue->dec[i]);
  gst_buffer_unmap(buffer, &map);
  return good;
}

/* A view of a catalogue with these columns, whose values are not there yet. */
static AstroCatalogue empty_mock(const AstroCatSrc *self)
{
  static double there;
  return (AstroCatalogue){ .n = self->now.points,
                           .ra = &there,
                           .dec = &there,
                           .region = self->regions ? &there : NULL,
                           .distance = self->now.max_distance > 0 ? &there : NULL };
}

static GstBuffer *make_mock(AstroCatSrc *self, GError **error)
{
  AstroCatalogue catalogue = empty_mock(self);
  AstroRandom random;
  const guint n_columns = (guint)__builtin_popcount(astro_catalogue_column_set(&catalogue));
  GstBuffer *buffer =
      astro_buffer_new(catalogue.n * n_columns * sizeof(double), self->even.place.device);
  if (!buffer) {
    refuse_size(catalogue.n, n_columns, error);
    return NULL;
  }
  astro_random_init(&random, self->now.seed, self->next);
  if ((!self->even.backend ||
       astro_even_points_make(&self->even, &buffer, catalogue.n, &random, error)) &&
      finish_mock(self, buffer, &catalogue, &random, error))
    return buffer;
  gst_buffer_unref(buffer);
  return NULL;
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
  *buffer = make_mock(self, &error);
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
                                       : empty_mock(self);
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
