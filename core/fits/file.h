/* Reading FITS: headers and bytes; table.h has numbers and tables.
 *
 * Files may come from anyone, and CFITSIO falls over headers that were made to hurt it (it copies
 * values of keywords into arrays on the stack). So it writes for us, and this reads. Nothing here
 * trusts a size before the file has that many bytes. */
#pragma once

#include <glib.h>

G_BEGIN_DECLS

#define ASTRO_FITS_MAX_AXES 16
/* Before BMAJ, BMIN and BPA: the keys of what AIPS says of them in its history. */
#define ASTRO_FITS_AIPS "AIPS "

typedef struct _AstroFitsFile AstroFitsFile;

typedef struct {
  GHashTable *values; /* keyword to the text of its value */
  gint bitpix;        /* 8 16 32 64: integers, -32 -64: floats */
  guint n_axes;
  guint64 axes[ASTRO_FITS_MAX_AXES];
  gboolean groups;      /* random groups; the first axis is 0 then */
  guint64 n_parameters; /* PCOUNT */
  guint64 n_groups;     /* GCOUNT */
  guint64 data, bytes;  /* where the data are in the file; as the header tells, padding apart */
} AstroFitsHeader;

/* Sets an error of the file's content, begun with its name as all errors are that come from reading
 * it; always FALSE. */
gboolean astro_fits_wrong(const AstroFitsFile *file, GError **error, const char *format, ...)
    G_GNUC_PRINTF(3, 4);

gboolean astro_fits_is_beginning(gconstpointer bytes, gsize n);

/* Takes text too, which has no headers. */
AstroFitsFile *astro_fits_file_open(const char *path, GError **error);
void astro_fits_file_close(AstroFitsFile *file);
const char *astro_fits_file_name(const AstroFitsFile *file);
guint64 astro_fits_file_bytes(const AstroFitsFile *file);
/* NULL behind the last one; 0 is the primary one. */
const AstroFitsHeader *astro_fits_file_header(const AstroFitsFile *file, guint index);
const AstroFitsHeader *astro_fits_file_primary(const AstroFitsFile *file);
gboolean astro_fits_is_binary_table(const AstroFitsHeader *header);
gboolean astro_fits_is_text_table(const AstroFitsHeader *header);
/* The binary table of that EXTNAME and EXTVER 1, which it is where it does not say, else the first
 * of that name; NULL where there is none. */
const AstroFitsHeader *astro_fits_file_find_table(const AstroFitsFile *file, const char *name);
gboolean astro_fits_file_read(AstroFitsFile *file, guint64 at, gpointer data, gsize bytes,
                              GError **error);
/* The same without a copy where the file keeps them: room, which takes them all where it does not,
 * or a place that is good up to the next read. NULL is an error. */
const guint8 *astro_fits_file_look(AstroFitsFile *file, guint64 at, gsize bytes, guint8 *room,
                                   GError **error);

GMappedFile *astro_fits_file_map(const AstroFitsFile *file, GError **error);

/* FALSE where there is no such keyword with a value of that type: the value stays. Numbers are
 * finite. Strings stay the header's. */
gboolean astro_fits_get_string(const AstroFitsHeader *header, const char *key, const char **value);
gboolean astro_fits_get_double(const AstroFitsHeader *header, const char *key, double *value);
gboolean astro_fits_get_integer(const AstroFitsHeader *header, const char *key, gint64 *value);
/* key with the number behind it, as in CRVAL4. */
gboolean astro_fits_get_string_n(const AstroFitsHeader *header, const char *key, guint n,
                                 const char **value);
gboolean astro_fits_get_double_n(const AstroFitsHeader *header, const char *key, guint n,
                                 double *value);

G_END_DECLS
