/* Reads HDF5 files within bounds. */
#include "core/lib/hdf5/h5.h"

#include <errno.h>
#include <glib/gstdio.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "core/lib/rows/rows.h"
#include "core/lib/hdf5/lzf.h"

/* No compression packs more than this; what announces more is broken or a trap. */
#define MOST_PACKED 1100
#define MOST_NAMES 10000
#define MOST_TEXT (1 << 20)

static GMutex lock;
static struct {
  H5E_auto2_t function;
  void *data;
} printing;

void astro_h5_begin(void)
{
  static gboolean begun;
  g_mutex_lock(&lock);
  /* At the exit of the process HDF5 would close files that stayed open because they cannot be
   * written (a full disk), and crash. This counts only before all other calls. */
  if (!begun)
    H5dont_atexit();
  begun = TRUE;
  H5Eget_auto2(H5E_DEFAULT, &printing.function, &printing.data);
  H5Eset_auto2(H5E_DEFAULT, NULL, NULL);
  astro_lzf_register();
}

void astro_h5_end(void)
{
  H5Eclear2(H5E_DEFAULT);
  H5Eset_auto2(H5E_DEFAULT, printing.function, printing.data);
  g_mutex_unlock(&lock);
}

/* ---- errors ---- */

gboolean astro_h5_wrong(const AstroH5 *file, GError **error, const char *format, ...)
{
  va_list arguments;
  va_start(arguments, format);
  g_autofree char *text = g_strdup_vprintf(format, arguments);
  va_end(arguments);
  return astro_fail(error, ASTRO_ROWS_ERROR, ASTRO_ROWS_ERROR_FORMAT, "%s: %s", file->name, text);
}

/* The innermost call tells the cause. */
static herr_t keep_cause(unsigned n, const H5E_error2_t *one, void *data)
{
  char **cause = data;
  (void)n;
  g_free(*cause);
  *cause = g_strdup(one->desc);
  return 0;
}

gboolean astro_h5_failed(const AstroH5 *file, const char *doing, GError **error)
{
  g_autofree char *cause = NULL;
  H5Ewalk2(H5E_DEFAULT, H5E_WALK_DOWNWARD, keep_cause, &cause);
  H5Eclear2(H5E_DEFAULT);
  return astro_fail(error, ASTRO_ROWS_ERROR, ASTRO_ROWS_ERROR_READ, "%s: %s failed in HDF5: %s",
                    file->name, doing, cause && *cause ? cause : "no cause is known");
}

/* ---- files ---- */

gboolean astro_h5_open(AstroH5 *file, const char *name, GError **error)
{
  struct stat there;
  *file = (AstroH5){ .id = -1, .name = g_strdup(name) };
  if (g_stat(name, &there) != 0)
    return astro_fail(error, ASTRO_ROWS_ERROR, ASTRO_ROWS_ERROR_OPEN, "cannot open %s: %s", name,
                      g_strerror(errno));
  if (!S_ISREG(there.st_mode))
    return astro_fail(error, ASTRO_ROWS_ERROR, ASTRO_ROWS_ERROR_OPEN,
                      "cannot open %s: it is not a regular file", name);
  if (g_access(name, R_OK) != 0)
    return astro_fail(error, ASTRO_ROWS_ERROR, ASTRO_ROWS_ERROR_OPEN, "cannot open %s: %s", name,
                      g_strerror(errno));
  file->bytes = (guint64)there.st_size;
  if (H5Fis_hdf5(name) <= 0)
    return astro_fail(error, ASTRO_ROWS_ERROR, ASTRO_ROWS_ERROR_OPEN,
                      "%s is not an HDF5 file, or is cut short within its first bytes", name);
  file->id = H5Fopen(name, H5F_ACC_RDONLY, H5P_DEFAULT);
  return file->id >= 0 || astro_h5_failed(file, "opening the file", error);
}

void astro_h5_close(AstroH5 *file)
{
  if (file->id >= 0)
    H5Fclose(file->id);
  file->id = -1;
  g_clear_pointer(&file->name, g_free);
}

/* Each part of a path has to exist before the next may be asked for. */
gboolean astro_h5_has(const AstroH5 *file, const char *path)
{
  g_auto(GStrv) parts = g_strsplit(path, "/", 0);
  g_autoptr(GString) walked = g_string_new(NULL);
  for (guint i = 0; parts[i]; i++) {
    g_string_append_printf(walked, "%s%s", i ? "/" : "", parts[i]);
    if (H5Lexists(file->id, walked->str, H5P_DEFAULT) <= 0)
      return FALSE;
  }
  return H5Oexists_by_name(file->id, path, H5P_DEFAULT) > 0;
}

/* ---- datasets ---- */

typedef struct {
  hid_t id, type;
  H5T_class_t class;
  gsize width; /* bytes of a value in the file */
  guint64 n;   /* 0: it has no values */
} Dataset;

static void close_dataset(Dataset *set)
{
  if (set->type >= 0)
    H5Tclose(set->type);
  if (set->id >= 0)
    H5Dclose(set->id);
}

/* FALSE without an error if there is none. */
static gboolean open_dataset(const AstroH5 *file, const char *path, Dataset *set)
{
  *set = (Dataset){ .id = -1, .type = -1 };
  if (!astro_h5_has(file, path) || (set->id = H5Dopen2(file->id, path, H5P_DEFAULT)) < 0)
    return FALSE;
  const hid_t space = H5Dget_space(set->id);
  const hssize_t points =
      H5Sget_simple_extent_type(space) == H5S_NULL ? 0 : H5Sget_simple_extent_npoints(space);
  H5Sclose(space);
  set->type = H5Dget_type(set->id);
  set->class = H5Tget_class(set->type);
  set->width = H5Tget_size(set->type);
  set->n = (guint64)MAX(points, 0);
  if (set->type >= 0 && points >= 0)
    return TRUE;
  close_dataset(set);
  return FALSE;
}

/* Numbers of 8 bytes, whatever their width in the file. */
static gpointer read_numbers(const AstroH5 *file, const char *path, H5T_class_t class, hid_t type,
                             guint64 n, guint64 *found, GError **error)
{
  const char *kind = class == H5T_FLOAT ? "numbers" : "whole numbers";
  g_autofree guint8 *data = NULL;
  Dataset set;
  if (!open_dataset(file, path, &set)) {
    astro_h5_wrong(file, error, "there is no dataset %s, which uvh5 has", path);
    return NULL;
  }
  const gboolean is_number = set.class == class || (class == H5T_FLOAT && set.class == H5T_INTEGER);
  if (!is_number || set.n == 0 || (n && set.n != n))
    astro_h5_wrong(file, error,
                   "%s has %" G_GUINT64_FORMAT " %s, expected %s%" G_GUINT64_FORMAT " %s", path,
                   set.n, is_number ? "values" : "values of another type", n ? "" : "at least ",
                   MAX(n, 1), kind);
  else if (set.n > (file->bytes + 1) * MOST_PACKED / set.width)
    astro_h5_wrong(file, error,
                   "%s announces %" G_GUINT64_FORMAT
                   " values, more than a file of %" G_GUINT64_FORMAT " bytes can hold",
                   path, set.n, file->bytes);
  else if (!(data = g_try_malloc(set.n * 8)))
    astro_h5_wrong(file, error, "there is no memory for the %" G_GUINT64_FORMAT " values of %s",
                   set.n, path);
  else if (H5Dread(set.id, type, H5S_ALL, H5S_ALL, H5P_DEFAULT, data) < 0) {
    astro_h5_failed(file, path, error);
    g_clear_pointer(&data, g_free);
  }
  if (found)
    *found = set.n;
  close_dataset(&set);
  return g_steal_pointer(&data);
}

double *astro_h5_doubles(const AstroH5 *file, const char *path, guint64 n, guint64 *found,
                         GError **error)
{
  return read_numbers(file, path, H5T_FLOAT, H5T_NATIVE_DOUBLE, n, found, error);
}

gint64 *astro_h5_integers(const AstroH5 *file, const char *path, guint64 n, guint64 *found,
                          GError **error)
{
  return read_numbers(file, path, H5T_INTEGER, H5T_NATIVE_INT64, n, found, error);
}

/* Texts of one length in the file, filled up with zeros or spaces. */
static char **read_fixed(const Dataset *set)
{
  g_autofree char *all = g_try_malloc(set->n * set->width + 1);
  const hid_t type = H5Tcopy(set->type);
  char **texts = NULL;
  if (all && H5Dread(set->id, type, H5S_ALL, H5S_ALL, H5P_DEFAULT, all) >= 0) {
    texts = g_new0(char *, set->n + 1);
    for (guint64 i = 0; i < set->n; i++) {
      g_autofree char *one = g_strndup(all + i * set->width, set->width);
      texts[i] = g_utf8_make_valid(g_strchomp(one), -1);
    }
  }
  H5Tclose(type);
  return texts;
}

static char **read_variable(const Dataset *set)
{
  g_autofree char **all = g_try_new0(char *, set->n);
  const hid_t space = H5Dget_space(set->id), type = H5Tcopy(set->type);
  char **texts = NULL;
  if (all && H5Dread(set->id, type, H5S_ALL, H5S_ALL, H5P_DEFAULT, all) >= 0) {
    texts = g_new0(char *, set->n + 1);
    for (guint64 i = 0; i < set->n; i++)
      texts[i] = g_utf8_make_valid(all[i] ? all[i] : "", -1);
    H5Dvlen_reclaim(type, space, H5P_DEFAULT, all);
  }
  H5Tclose(type);
  H5Sclose(space);
  return texts;
}

char **astro_h5_texts(const AstroH5 *file, const char *path, guint64 n, GError **error)
{
  char **texts = NULL;
  Dataset set;
  if (!open_dataset(file, path, &set)) {
    astro_h5_wrong(file, error, "there is no dataset %s, which uvh5 has", path);
    return NULL;
  }
  if (set.class != H5T_STRING || (n && set.n != n) || set.width > MOST_TEXT ||
      set.n > (file->bytes + 1) * MOST_PACKED / MAX(set.width, 1))
    astro_h5_wrong(file, error,
                   "%s has %" G_GUINT64_FORMAT " %s, expected %" G_GUINT64_FORMAT " texts", path,
                   set.n, set.class == H5T_STRING ? "texts" : "values", n);
  else if (!(texts = H5Tis_variable_str(set.type) > 0 ? read_variable(&set) : read_fixed(&set)))
    astro_h5_failed(file, path, error);
  close_dataset(&set);
  return texts;
}

/* ---- single values ---- */

static gboolean read_single(const AstroH5 *file, const char *path, H5T_class_t class, hid_t type,
                            gpointer value)
{
  Dataset set;
  if (!open_dataset(file, path, &set))
    return FALSE;
  const gboolean done = set.n == 1 &&
                        (set.class == class || (class == H5T_FLOAT && set.class == H5T_INTEGER)) &&
                        H5Dread(set.id, type, H5S_ALL, H5S_ALL, H5P_DEFAULT, value) >= 0;
  close_dataset(&set);
  return done;
}

gboolean astro_h5_double(const AstroH5 *file, const char *path, double *value)
{
  return read_single(file, path, H5T_FLOAT, H5T_NATIVE_DOUBLE, value);
}

gboolean astro_h5_integer(const AstroH5 *file, const char *path, gint64 *value)
{
  return read_single(file, path, H5T_INTEGER, H5T_NATIVE_INT64, value);
}

char *astro_h5_text(const AstroH5 *file, const char *path)
{
  g_auto(GStrv) texts = astro_h5_has(file, path) ? astro_h5_texts(file, path, 1, NULL) : NULL;
  return texts ? g_strdup(texts[0]) : NULL;
}

gboolean astro_h5_is_true(const AstroH5 *file, const char *path)
{
  Dataset set;
  guint8 value = 0;
  if (!open_dataset(file, path, &set))
    return FALSE;
  if (set.n == 1 && set.width == 1)
    H5Dread(set.id, set.type, H5S_ALL, H5S_ALL, H5P_DEFAULT, &value);
  close_dataset(&set);
  return value != 0;
}

static herr_t add_name(hid_t group, const char *name, const H5L_info_t *info, void *data)
{
  GPtrArray *names = data;
  (void)group;
  (void)info;
  g_ptr_array_add(names, g_strdup(name));
  return names->len >= MOST_NAMES;
}

char **astro_h5_names(const AstroH5 *file, const char *path)
{
  GPtrArray *names = g_ptr_array_new();
  hsize_t at = 0;
  const hid_t group = astro_h5_has(file, path) ? H5Gopen2(file->id, path, H5P_DEFAULT) : -1;
  if (group >= 0) {
    H5Literate(group, H5_INDEX_NAME, H5_ITER_INC, &at, add_name, names);
    H5Gclose(group);
  }
  g_ptr_array_add(names, NULL);
  char **all = (char **)g_ptr_array_free(names, FALSE);
  if (group < 0)
    g_clear_pointer(&all, g_strfreev);
  return all;
}
