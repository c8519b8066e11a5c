/* Files that astrocatsrc reads: catalogues, and those whose points give a footprint. */
#include "config.h"
#include "elements/astrocatsrc-parts.h"

#include <string.h>

#include "core/fits/fits.h"
#include "core/lib/catalogue/columns.h"
#include "core/lib/catalogue/distance.h"
#include "elements/base/astrofields.h"
#include "elements/base/astrolog.h"
#include "elements/base/astrostage.h"

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
  const AstroCatSrcSettings *s = &self->now;
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

gboolean astro_cat_src_read_file(AstroCatSrc *self, GError **error)
{
  const AstroCatSrcSettings *s = &self->now;
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

gboolean astro_cat_src_find_footprint(AstroCatSrc *self, GError **error)
{
  const char *text = self->now.footprint ? self->now.footprint : "";
  return g_str_has_prefix(text, FOOTPRINT_OF_FILE)
             ? read_footprint(self, text + strlen(FOOTPRINT_OF_FILE), error)
             : parse_footprint(text, &self->footprint, error);
}
