/* Reads FITS files: headers and bytes; table.h reads numbers and tables.
 *
 * Files may come from anyone, and CFITSIO can be crashed by malicious headers (it copies values of
 * keywords into arrays on the stack). So we only write with CFITSIO, and read with this. Nothing
 * here trusts a size before the file has that many bytes. */
#pragma once

#include <glib.h>

G_BEGIN_DECLS

#define ASTRO_FITS_MAX_AXES 16
/* Prefix of the keywords BMAJ, BMIN and BPA for beams that AIPS gives in HISTORY cards. */
#define ASTRO_FITS_AIPS "AIPS "

typedef struct _AstroFitsFile AstroFitsFile;

typedef struct {
  GHashTable *values; /* text of the value by keyword */
  gint bitpix;        /* 8 16 32 64: integers, -32 -64: floats */
  guint n_axes;
  guint64 axes[ASTRO_FITS_MAX_AXES];
  gboolean groups;      /* random groups; the first axis is 0 then */
  guint64 n_parameters; /* PCOUNT */
  guint64 n_groups;     /* GCOUNT */
  guint64 data, bytes;  /* of the data: position in the file, and size without padding */
} AstroFitsHeader;

/* Sets an error about the file's content; like all errors in reading, it starts with the file's
 * name. Always FALSE. */
gboolean astro_fits_wrong(const AstroFitsFile *file, GError **error, const char *format, ...)
    G_GNUC_PRINTF(3, 4);

gboolean astro_fits_is_beginning(gconstpointer bytes, gsize n);

/* Opens text files too; they have no headers. */
AstroFitsFile *astro_fits_file_open(const char *path, GError **error);
/* Opens HDF5 too, which has no headers either. */
AstroFitsFile *astro_fits_file_open_any(const char *path, GError **error);
gboolean astro_fits_file_is_hdf5(const AstroFitsFile *file);
/* Whether it was packed by gzip, so that its name is that of other bytes. */
gboolean astro_fits_file_was_packed(const AstroFitsFile *file);
void astro_fits_file_close(AstroFitsFile *file);
const char *astro_fits_file_name(const AstroFitsFile *file);
guint64 astro_fits_file_bytes(const AstroFitsFile *file);
/* NULL after the last one; 0 is the primary header. */
const AstroFitsHeader *astro_fits_file_header(const AstroFitsFile *file, guint index);
const AstroFitsHeader *astro_fits_file_primary(const AstroFitsFile *file);
gboolean astro_fits_is_binary_table(const AstroFitsHeader *header);
gboolean astro_fits_is_text_table(const AstroFitsHeader *header);
/* The binary table with this EXTNAME and with EXTVER 1 (the default), else the first with this
 * name; NULL if there is none. */
const AstroFitsHeader *astro_fits_file_find_table(const AstroFitsFile *file, const char *name);
gboolean astro_fits_file_read(AstroFitsFile *file, guint64 at, gpointer data, gsize bytes,
                              GError **error);
/* Like astro_fits_file_read, but without a copy if the bytes are in the cache: returns either a
 * pointer that is valid until the next read, or room, which must hold all the bytes. NULL on an
 * error. */
const guint8 *astro_fits_file_look(AstroFitsFile *file, guint64 at, gsize bytes, guint8 *room,
                                   GError **error);

GMappedFile *astro_fits_file_map(const AstroFitsFile *file, GError **error);

/* FALSE if there is no such keyword with a value of that type; the value is then left alone.
 * Numbers are finite. The header owns the strings. */
gboolean astro_fits_get_string(const AstroFitsHeader *header, const char *key, const char **value);
gboolean astro_fits_get_double(const AstroFitsHeader *header, const char *key, double *value);
gboolean astro_fits_get_integer(const AstroFitsHeader *header, const char *key, gint64 *value);
/* For keywords with a number behind them, as in CRVAL4. */
gboolean astro_fits_get_string_n(const AstroFitsHeader *header, const char *key, guint n,
                                 const char **value);
gboolean astro_fits_get_double_n(const AstroFitsHeader *header, const char *key, guint n,
                                 double *value);

G_END_DECLS
