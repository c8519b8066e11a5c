/* Catalogues that astrocatsrc simulates. */
#include "config.h"
#include "elements/astrocatsrc-parts.h"

#include <math.h>
#include <string.h>

#include "core/lib/catalogue/columns.h"
#include "core/lib/catalogue/distance.h"
#include "core/memory/memory.h"

/* Regions are laid out with random points of their own, a fixed number for each region, so that
 * they depend only on the footprint and their number: two sources with the same footprint agree
 * about them. */
#define POINTS_A_REGION 1000
#define MOST_POINTS (1 << 22) /* with very many regions, which are less equal in area then */
#define REGIONS_SEED 0x7265676f
#define DISTANCES_SEED 0x64697374

gboolean astro_cat_src_lay_out_regions(AstroCatSrc *self, GError **error)
{
  const guint n_regions = self->now.regions;
  AstroCatalogue sample;
  AstroRandom random;
  if (n_regions == 0)
    return TRUE;
  astro_random_init(&random, REGIONS_SEED, n_regions);
  if (!astro_catalogue_uniform(&self->footprint,
                               MIN((guint64)n_regions * POINTS_A_REGION, MOST_POINTS), &random,
                               &sample, error))
    return FALSE;
  self->regions = astro_regions_new(sample.ra, sample.dec, sample.n, n_regions, NULL, error);
  astro_catalogue_clear(&sample);
  return self->regions != NULL;
}

void astro_cat_src_tell_mock(AstroCatSrc *self)
{
  const AstroClustering *c = &self->now.clustering;
  double smallest = c->radius / pow(c->children, (c->levels - 1) / (2 + c->slope));
  GstStructure *s =
      gst_structure_new("astro-mock", "slope", G_TYPE_DOUBLE, c->slope, "from", G_TYPE_DOUBLE,
                        60 * smallest, "to", G_TYPE_DOUBLE, 60 * c->radius, NULL);
  gst_element_post_message(GST_ELEMENT(self), gst_message_new_element(GST_OBJECT(self), s));
}

gboolean astro_cat_src_refuse_size(guint64 points, guint columns, GError **error)
{
  g_set_error(error, ASTRO_CATALOGUE_ERROR, ASTRO_CATALOGUE_ERROR_MODEL,
              "%" G_GUINT64_FORMAT " points of %u columns do not fit in memory", points, columns);
  return FALSE;
}

/* Random numbers of their own, so that the places are the same with and without distances. */
static void add_distances(AstroCatSrc *self, AstroCatalogue *catalogue)
{
  const AstroCatSrcSettings *s = &self->now;
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

AstroCatalogue astro_cat_src_empty_mock(const AstroCatSrc *self)
{
  static double there;
  return (AstroCatalogue){ .n = self->now.points,
                           .ra = &there,
                           .dec = &there,
                           .region = self->regions ? &there : NULL,
                           .distance = self->now.max_distance > 0 ? &there : NULL };
}

GstBuffer *astro_cat_src_make_mock(AstroCatSrc *self, GError **error)
{
  AstroCatalogue catalogue = astro_cat_src_empty_mock(self);
  AstroRandom random;
  const guint n_columns = (guint)__builtin_popcount(astro_catalogue_column_set(&catalogue));
  GstBuffer *buffer =
      astro_buffer_new(catalogue.n * n_columns * sizeof(double), self->even.place.device);
  if (!buffer) {
    astro_cat_src_refuse_size(catalogue.n, n_columns, error);
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
