/* A file that is read at any place, through a window if it is read in small pieces. */
#pragma once

#include "core/recorders/recorders.h"

G_BEGIN_DECLS

typedef struct {
  char *name;
  int fd;
  guint64 size;
  guint8 *window;
  gsize window_bytes, window_room;
  guint64 window_at;
} AstroRecorderFile;

AstroRecorderFile *astro_recorder_file_open(const char *name, GError **error);
void astro_recorder_file_close(AstroRecorderFile *file);

/* The n bytes at a place, or those up to the end: *got of them, valid until the next call. NULL:
 * the file cannot be read. */
const guint8 *astro_recorder_file_bytes(AstroRecorderFile *file, guint64 at, gsize n, gsize *got,
                                        GError **error);
/* Reads exactly n bytes, past the window. */
gboolean astro_recorder_file_read(AstroRecorderFile *file, guint64 at, gpointer to, gsize n,
                                  GError **error);

#define astro_recorder_fail(error, code, ...)                                                      \
  astro_fail(error, ASTRO_RECORDER_ERROR, ASTRO_RECORDER_ERROR_##code, __VA_ARGS__)

G_END_DECLS
