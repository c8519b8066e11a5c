/* Several files of visibilities as one stream: they are read one after the other in order of time,
 * and weights of all are counts by one factor. The observation has the stations of all files; the
 * baselines that a file lacks have the count 0. */
#pragma once

#include "core/lib/rows/reader.h"

G_BEGIN_DECLS

typedef struct _AstroRowFiles AstroRowFiles;

/* A file, and how it is read. */
typedef struct {
  const AstroRowReaderKind *kind;
  const char *name;
  gconstpointer options;
} AstroRowInput;

/* Files of any kinds, one at least. Those that cannot be one stream are an error. */
AstroRowFiles *astro_row_files_open_inputs(const AstroRowInput *inputs, guint n, GError **error);
/* Files of one kind: their names, up to a NULL. */
AstroRowFiles *astro_row_files_open(const AstroRowReaderKind *kind, const char *const *names,
                                    gconstpointer options, GError **error);
const AstroRowContents *astro_row_files_contents(const AstroRowFiles *files);
/* FALSE with *end set after the last integration of the last file. */
gboolean astro_row_files_read(AstroRowFiles *files, AstroRowFrame *frame, gboolean *end,
                              GError **error);
void astro_row_files_close(AstroRowFiles *files);
G_DEFINE_AUTOPTR_CLEANUP_FUNC(AstroRowFiles, astro_row_files_close)

G_END_DECLS
