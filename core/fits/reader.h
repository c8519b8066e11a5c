/* The functions that the reader of each kind of file has. */
#pragma once

#include "core/fits/fits.h"
#include "core/fits/table/table.h"

G_BEGIN_DECLS

typedef struct {
  const char *name; /* "UVFITS", or the word for its content */
  const char *caps; /* the caps it gives */
  gboolean (*recognises)(const AstroFitsFile *file);
  gpointer (*open)(AstroFitsFile *file, const AstroFitsOptions *options,
                   AstroFitsContents *contents, GError **error);
  /* NULL: each frame is one step of the stream. */
  gboolean (*next)(gpointer reader, guint64 *steps, gboolean *end, GError **error);
  gboolean (*read)(gpointer reader, AstroFitsFrame *frame, gboolean *end, GError **error);
  void (*close)(gpointer reader); /* does not close the file */
} AstroFitsReaderKind;

/* Gives the instance that the kind's open made, if the file is of that kind; else NULL. */
gpointer astro_fits_reader_as(AstroFitsReader *reader, const AstroFitsReaderKind *kind);

G_END_DECLS
