/* HDF5 for visibilities (uvh5) and catalogues: opening, reading datasets whole within bounds,
 * errors in words.
 *
 * The library is built without thread safety in Debian, so that all calls lie between
 * astro_h5_begin and astro_h5_end, which also keep it from printing its own errors. */
#pragma once

#include <glib.h>
#include <hdf5.h>

G_BEGIN_DECLS

void astro_h5_begin(void);
void astro_h5_end(void);

typedef struct {
  hid_t id;
  char *name;
  guint64 bytes; /* of the file */
} AstroH5;

/* All functions below are called between begin and end. */
gboolean astro_h5_open(AstroH5 *file, const char *name, GError **error);
void astro_h5_close(AstroH5 *file);

/* Sets ASTRO_ROWS_ERROR_FORMAT with the file's name in front, and is FALSE. */
gboolean astro_h5_wrong(const AstroH5 *file, GError **error, const char *format, ...)
    G_GNUC_PRINTF(3, 4);
/* The same for a call of the library that failed: with its own words. */
gboolean astro_h5_failed(const AstroH5 *file, const char *doing, GError **error);

gboolean astro_h5_has(const AstroH5 *file, const char *path);

/* Whole datasets. n: how many values are expected, 0: any; *found is their number. An error if the
 * dataset is missing, has other values, or more than a file of that length can hold. To be freed
 * with g_free. */
double *astro_h5_doubles(const AstroH5 *file, const char *path, guint64 n, guint64 *found,
                         GError **error);
gint64 *astro_h5_integers(const AstroH5 *file, const char *path, guint64 n, guint64 *found,
                          GError **error);
char **astro_h5_texts(const AstroH5 *file, const char *path, guint64 n, GError **error);

/* A single value; FALSE without an error if it is not there, empty, or of another kind. */
gboolean astro_h5_double(const AstroH5 *file, const char *path, double *value);
gboolean astro_h5_integer(const AstroH5 *file, const char *path, gint64 *value);
char *astro_h5_text(const AstroH5 *file, const char *path);
/* A truth value, as h5py writes it. */
gboolean astro_h5_is_true(const AstroH5 *file, const char *path);

/* Names of what is in a group. NULL: there is no such group. */
char **astro_h5_names(const AstroH5 *file, const char *path);

G_END_DECLS
