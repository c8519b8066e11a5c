/* What the reader of blocks shares with itself: arrays of the file, and what goes with a block. */
#pragma once

#include "core/fits/blocks/blocks.h"

G_BEGIN_DECLS

typedef struct {
  AstroFitsFile *file;
  AstroStream stream;
  AstroFitsWords words;
  GArray *blocks; /* numbers of their headers */
  guint next;
} AstroBlocksReader;

gboolean astro_blocks_is_named(const AstroFitsHeader *header, const char *name);
/* What goes with the block that header begin is of; NULL: there is none. */
const AstroFitsHeader *astro_blocks_find_with(const AstroBlocksReader *r, guint begin,
                                              const char *name);
/* Whether an array holds such numbers, and all of them are there. */
gboolean astro_blocks_check_array(const AstroBlocksReader *r, const AstroFitsHeader *header,
                                  const char *name, const AstroFitsWords *words, GError **error);
/* An array that was checked. */
gboolean astro_blocks_read_into(const AstroBlocksReader *r, const AstroFitsHeader *header,
                                const AstroFitsWords *words, gpointer data, GError **error);
/* To be freed; a letter more than there is, 0. NULL is an error. */
gpointer astro_blocks_read_array(const AstroBlocksReader *r, const AstroFitsHeader *header,
                                 const char *name, const AstroFitsWords *words, GError **error);
/* -1: it is missing. */
gint64 astro_blocks_number(const AstroFitsHeader *header, const char *key);
/* FALSE and an error where a whole number is missing or lies outside. */
gboolean astro_blocks_get_number(const AstroBlocksReader *r, const AstroFitsHeader *header,
                                 const char *key, gint64 least, gint64 most, gint64 *value,
                                 GError **error);

/* What goes with the block whose header has that number, added to its buffer. samples: its shape.
 */
gboolean astro_blocks_read_counts(const AstroBlocksReader *r, guint block,
                                  const AstroLayout *samples, GstBuffer *buffer, GError **error);
gboolean astro_blocks_read_grid(const AstroBlocksReader *r, guint block, GstBuffer *buffer,
                                GError **error);
/* *told: a new event, or NULL. bytes: of the histogram. */
gboolean astro_blocks_read_summary(const AstroBlocksReader *r, guint block, guint64 bytes,
                                   GstEvent **told, GError **error);

G_END_DECLS
