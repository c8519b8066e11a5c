/* The files of astrofitssrc: those that a location names, opened one after another. */
#include "elements/astrofitssrc-parts.h"

#include <glob.h>
#include <math.h>
#include <string.h>

#include "core/fits/open.h"
#include "core/lib/catalogue/columns.h"
#include "core/lib/catalogue/distance.h"
#include "core/lib/files/inputs.h"
#include "elements/base/astrofields.h"
#include "elements/base/astrostage.h"

gboolean astro_fits_src_fail(AstroFitsSrc *self, const GError *error)
{
  if (g_error_matches(error, ASTRO_BACKEND_ERROR, ASTRO_BACKEND_ERROR_GIVEN_UP))
    return FALSE;
  if (g_error_matches(error, ASTRO_FITS_ERROR, ASTRO_FITS_ERROR_OPEN))
    GST_ELEMENT_ERROR(self, RESOURCE, OPEN_READ, ("%s", error->message), (NULL));
  else if (g_error_matches(error, ASTRO_FITS_ERROR, ASTRO_FITS_ERROR_READ))
    GST_ELEMENT_ERROR(self, RESOURCE, READ, ("%s", error->message), (NULL));
  else
    GST_ELEMENT_ERROR(self, STREAM, FORMAT, ("%s", error->message), (NULL));
  return FALSE;
}

void astro_fits_src_forget_files(AstroFitsSrc *self)
{
  GST_OBJECT_LOCK(self);
  g_clear_pointer(&self->reader, astro_fits_reader_close);
  GST_OBJECT_UNLOCK(self);
  g_clear_pointer(&self->files, g_ptr_array_unref);
  gst_clear_caps(&self->wanted);
  gst_clear_caps(&self->first_caps);
  g_clear_pointer(&self->first_observation, astro_observation_unref);
}

static gint by_name(gconstpointer a, gconstpointer b)
{
  return strcmp(*(const char *const *)a, *(const char *const *)b);
}

static gboolean find_list(AstroFitsSrc *self)
{
  g_autoptr(GError) error = NULL;
  self->files = astro_inputs_find(self->now.location, &error);
  if (!self->files)
    GST_ELEMENT_ERROR(self, RESOURCE, NOT_FOUND, ("%s", error->message), (NULL));
  return self->files != NULL;
}

/* A name with commas or pattern characters may also be that of an existing file. */
static gboolean find_names(AstroFitsSrc *self)
{
  glob_t found;
  if (strchr(self->now.location, ',') && !g_file_test(self->now.location, G_FILE_TEST_EXISTS))
    return find_list(self);
  self->files = g_ptr_array_new_with_free_func(g_free);
  if (!strpbrk(self->now.location, "*?[") || g_file_test(self->now.location, G_FILE_TEST_EXISTS)) {
    g_ptr_array_add(self->files, g_strdup(self->now.location));
    return TRUE;
  }
  if (glob(self->now.location, 0, NULL, &found) == 0) {
    for (gsize i = 0; i < found.gl_pathc; i++)
      g_ptr_array_add(self->files, g_strdup(found.gl_pathv[i]));
    globfree(&found);
  }
  g_ptr_array_sort(self->files, by_name);
  if (self->files->len)
    return TRUE;
  GST_ELEMENT_ERROR(self, RESOURCE, NOT_FOUND, ("No file matches %s.", self->now.location), (NULL));
  return FALSE;
}

/* A missing file is reported at the start, as filesrc does. */
static gboolean check_first_file(AstroFitsSrc *self)
{
  g_autoptr(GError) error = NULL;
  return astro_fits_can_be_opened(self->files->pdata[0], &error) ||
         astro_fits_src_fail(self, error);
}

gboolean astro_fits_src_find_files(AstroFitsSrc *self)
{
  return find_names(self) && check_first_file(self);
}

gboolean astro_fits_src_refuse_next(AstroFitsSrc *self, const char *name, const char *found,
                                    const char *expected)
{
  GST_ELEMENT_ERROR(self, STREAM, FORMAT, ("%s: found %s, expected %s", name, found, expected),
                    (NULL));
  return FALSE;
}

/* Turns the time between the starts of two observations into steps. FALSE: it is no whole number of
 * them, or less than 0. */
static gboolean find_shift(const AstroStream *stream, const AstroObservation *first,
                           const AstroObservation *next, guint64 *shift)
{
  const double days = (double)next->start_mjd - first->start_mjd;
  const double seconds = days * 86400 + ((double)next->start_ns - (double)first->start_ns) / 1e9;
  const double steps = seconds * stream->rate_n / stream->rate_d;
  *shift = steps > 0 ? (guint64)(steps + 0.5) : 0;
  return first->has_start == next->has_start && fabs(steps - (double)*shift) < 0.1;
}

/* Whether a file goes on with the stream of those before it. */
static gboolean check_continues(AstroFitsSrc *self, const char *name, AstroFitsReader *reader,
                                guint64 *shift)
{
  const AstroFitsContents *contents = astro_fits_reader_contents(reader);
  const AstroObservation *first = self->first_observation, *next = contents->observation;
  g_autoptr(GstCaps) caps = astro_fits_contents_to_caps(contents);
  if (self->next_file == 0) {
    if (contents->continues) {
      self->first_caps = g_steal_pointer(&caps);
      self->first_observation = astro_observation_ref(contents->observation);
    }
    return TRUE;
  }
  if (!contents->continues && !self->first_caps)
    return TRUE;
  if (!self->first_caps || !gst_caps_is_equal(caps, self->first_caps)) {
    g_autofree char *found = gst_caps_to_string(caps);
    g_autofree char *expected = self->first_caps ? gst_caps_to_string(self->first_caps) : NULL;
    return astro_fits_src_refuse_next(self, name, found,
                                      expected ? expected : "a catalogue, as before");
  }
  if (strcmp(first->telescope, next->telescope) || first->phase_ra != next->phase_ra ||
      first->phase_dec != next->phase_dec)
    return astro_fits_src_refuse_next(self, name,
                                      "another telescope or direction than in the files before",
                                      "the files of one observation");
  return find_shift(&contents->stream, first, next, shift) ||
         astro_fits_src_refuse_next(self, name,
                                    "a start that is no whole number of samples behind the first's",
                                    "the files of one observation, in the order of their names");
}

/* A choice of rows or columns of a catalogue would do nothing to another file. */
static gboolean check_for_catalogue(AstroFitsSrc *self, const char *name, AstroFitsReader *reader)
{
  const AstroFitsSrcSettings *now = &self->now;
  const char *const settings[][2] = {
    { "where", now->where },
    { "weight-column", now->weight_column },
    { "region-column", now->region_column },
    { "distance-column", now->distance_column },
    { "redshift-column", now->redshift_column },
    { "k-column", now->k_column },
    { "g1-column", now->g1_column },
    { "g2-column", now->g2_column },
    { "bitweight-columns", now->bitweight_columns },
  };
  if (astro_fits_src_is_catalogue(reader))
    return TRUE;
  for (guint i = 0; i < G_N_ELEMENTS(settings); i++)
    if (astro_field_given(settings[i][1])) {
      GST_ELEMENT_ERROR(self, LIBRARY, SETTINGS,
                        ("%s: %s=%s is set, but the file holds %s, expected a catalogue: leave it "
                         "out",
                         name, settings[i][0], settings[i][1],
                         astro_quantity_name(astro_fits_reader_contents(reader)->stream.quantity)),
                        (NULL));
      return FALSE;
    }
  return TRUE;
}

gboolean astro_fits_src_open_next_file(AstroFitsSrc *self)
{
  g_autoptr(GError) error = NULL;
  const AstroFitsSrcSettings *now = &self->now;
  AstroFitsOptions options = {
    .columns = { astro_field_given(now->ra_column), astro_field_given(now->dec_column),
                 astro_field_given(now->weight_column), astro_field_given(now->region_column),
                 .k = astro_field_given(now->k_column), .g1 = astro_field_given(now->g1_column),
                 .g2 = astro_field_given(now->g2_column) },
    .where = astro_field_given(now->where),
    .wanted = self->wanted,
    .uvw = now->uvw,
    .band = astro_field_given(now->band),
    .ignore_epoch = now->ignore_epoch,
    .earth_orientation = astro_field_given(now->earth_orientation),
    .has_counts = self->files->len > 1,
  };
  const char *name = self->files->pdata[self->next_file];
  if (!astro_catalogue_choose_bits(now->bitweight_columns, &options.columns, &error) ||
      !astro_catalogue_choose_distance(now->distance_column, now->redshift_column, now->omega_m,
                                       &options.columns, &error))
    return astro_fits_src_fail(self, error);
  guint n;
  g_autofree const char **names = g_new0(const char *, self->files->len + 1);
  for (guint i = self->next_file; i < self->files->len; i++)
    names[i - self->next_file] = self->files->pdata[i];
  AstroFitsReader *reader = astro_fits_reader_open_some(names, &n, &options, &error);
  if (!reader)
    return astro_fits_src_fail(self, error);
  const AstroFitsContents *contents = astro_fits_reader_contents(reader);
  guint64 shift = 0;
  if (self->files->len > n && !astro_fits_src_is_catalogue(reader) && !contents->continues) {
    GST_ELEMENT_ERROR(self, STREAM, FORMAT,
                      ("%s: found %s among %u files, expected catalogues, PSRFITS or UVFITS: other "
                       "files are read one at a time",
                       name, astro_quantity_name(contents->stream.quantity), self->files->len),
                      (NULL));
    astro_fits_reader_close(reader);
    return FALSE;
  }
  if (!check_for_catalogue(self, name, reader) || !check_continues(self, name, reader, &shift)) {
    astro_fits_reader_close(reader);
    return FALSE;
  }
  self->next_file += n;
  GST_OBJECT_LOCK(self);
  g_clear_pointer(&self->reader, astro_fits_reader_close);
  self->reader = reader;
  self->shift = shift;
  GST_OBJECT_UNLOCK(self);
  if (astro_fits_reader_contents(reader)->note)
    GST_ELEMENT_WARNING(self, STREAM, FORMAT, ("%s", astro_fits_reader_contents(reader)->note),
                        (NULL));
  return TRUE;
}
