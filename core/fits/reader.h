/* The reader's side of the table of kinds. */
#pragma once

#include "core/fits/fits.h"
#include "core/fits/table/table.h"

G_BEGIN_DECLS

typedef struct {
  const char *name; /* "UVFITS", or what text would hold */
  const char *caps; /* what it gives */
  gboolean (*recognises)(const AstroFitsFile *file);
  gpointer (*open)(AstroFitsFile *file, const AstroFitsOptions *options,
                   AstroFitsContents *contents, GError **error);
  /* NULL: a frame is one step of the stream. */
  gboolean (*next)(gpointer reader, guint64 *steps, gboolean *end, GError **error);
  gboolean (*read)(gpointer reader, AstroFitsFrame *frame, gboolean *end, GError **error);
  void (*close)(gpointer reader); /* leaves the file open */
} AstroFitsReaderKind;

G_END_DECLS
