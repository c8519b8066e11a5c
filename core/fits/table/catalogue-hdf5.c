/* Opens catalogues in HDF5, whose rows a plugin reads. */
#include "core/fits/table/catalogue-reader.h"

#include "core/fits/foreign.h"

#include <string.h>

gboolean catalogue_other_rows(gboolean good, GError **error)
{
  static const AstroFitsError codes[] = { [ASTRO_ROWS_ERROR_OPEN] = ASTRO_FITS_ERROR_OPEN,
                                          [ASTRO_ROWS_ERROR_FORMAT] = ASTRO_FITS_ERROR_FORMAT,
                                          [ASTRO_ROWS_ERROR_READ] = ASTRO_FITS_ERROR_READ };
  if (!good && error && *error && (*error)->domain == ASTRO_ROWS_ERROR &&
      (guint)(*error)->code < G_N_ELEMENTS(codes)) {
    (*error)->code = codes[(*error)->code];
    (*error)->domain = ASTRO_FITS_ERROR;
  }
  return good;
}

/* Cuts GROUP/ off the names of columns; they have to be in one group. */
static gboolean split_folder(CatalogueReader *r, char **folder, GError **error)
{
  for (guint c = 0; c < N_COLUMNS; c++) {
    char *slash = r->columns[c] ? strrchr(r->columns[c], '/') : NULL;
    if (!slash)
      continue;
    const char *first = r->columns[c] + (r->columns[c][0] == '/' && slash > r->columns[c]);
    g_autofree char *found = g_strndup(first, (gsize)(slash - first));
    g_autofree char *name = g_strdup(slash + 1);
    if (*folder && !g_str_equal(*folder, found))
      return astro_fits_wrong(r->file, error,
                              "columns are asked for from %s/ and from %s/, expected one place",
                              *folder, found);
    g_free(*folder);
    *folder = g_steal_pointer(&found);
    g_free(r->columns[c]);
    r->columns[c] = g_steal_pointer(&name);
  }
  return TRUE;
}

static gboolean open_other(CatalogueReader *r, const char *folder, GError **error)
{
  g_autoptr(GPtrArray) columns = g_ptr_array_new_with_free_func(g_free);
  for (guint c = 0; c < N_COLUMNS; c++)
    if (r->columns[c]) {
      char *name = g_strdup(r->columns[c]);
      if (c >= ASTRO_COLUMN_FIRST_WORD)
        catalogue_split_place(name);
      g_ptr_array_add(columns, name);
    }
  g_ptr_array_add(columns, NULL);
  const AstroTableAsked asked = { astro_fits_file_name(r->file), folder,
                                  (const char *const *)columns->pdata, r->where };
  r->table = (AstroFitsTable){ 0 };
  r->other = r->kind->open(&asked, &r->table, &r->name, error);
  r->table.file = r->file;
  r->is_open = r->other != NULL;
  if (r->is_open)
    return catalogue_find_columns(r, error);
  /* A file that HDF5 cannot open at all may be of either kind. */
  if (error && !g_error_matches(*error, ASTRO_ROWS_ERROR, ASTRO_ROWS_ERROR_FORMAT) &&
      (*error)->domain == ASTRO_ROWS_ERROR) {
    g_prefix_error(error,
                   "%s is " ASTRO_HDF5_IS "; as a catalogue: ", astro_fits_file_name(r->file));
    (*error)->code = ASTRO_ROWS_ERROR_OPEN;
  }
  return catalogue_other_rows(FALSE, error);
}

static gpointer open_hdf5(AstroFitsFile *file, const AstroFitsOptions *options,
                          AstroFitsContents *contents, GError **error)
{
  g_autofree char *folder = NULL;
  CatalogueReader *r = catalogue_reader_new(file, options, contents);
  r->kind = astro_table_rows_of_hdf5();
  if (!r->kind)
    astro_fail(error, ASTRO_FITS_ERROR, ASTRO_FITS_ERROR_OPEN,
               "%s is " ASTRO_HDF5_IS "; catalogues in HDF5 are read with the plugin %s, which is "
               "not there: it needs HDF5",
               astro_fits_file_name(file), ASTRO_HDF5_PLUGIN);
  else if (astro_fits_file_was_packed(file))
    astro_fail(error, ASTRO_FITS_ERROR, ASTRO_FITS_ERROR_OPEN,
               "%s is an HDF5 file packed by gzip as a whole: unpack it with gunzip (h5repack -f "
               "GZIP=4 packs the columns in it)",
               astro_fits_file_name(file));
  else if (split_folder(r, &folder, error) && open_other(r, folder, error))
    return r;
  catalogue_close(r);
  return NULL;
}

const AstroFitsReaderKind astro_catalogue_hdf5_reader = {
  .name = "a catalogue (HDF5)",
  .caps = ASTRO_CATALOGUE_CAPS,
  .recognises = astro_fits_file_is_hdf5,
  .open = open_hdf5,
  .next = catalogue_next_table,
  .read = catalogue_read_table,
  .close = catalogue_close,
};
