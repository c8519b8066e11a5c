/* Shared by the parts of the reader of blocks: arrays of the file, and the contents of a block. */
#pragma once

#include "core/fits/blocks/blocks.h"

G_BEGIN_DECLS

typedef struct {
  AstroFitsFile *file;
  AstroStream stream;
  AstroFitsWords words;
  GArray *blocks; /* indices of the blocks' headers */
  guint next;
} AstroBlocksReader;

gboolean astro_blocks_is_named(const AstroFitsHeader *header, const char *name);
/* The array `name` that belongs to the block whose header has index begin; NULL: there is none. */
const AstroFitsHeader *astro_blocks_find_with(const AstroBlocksReader *r, guint begin,
                                              const char *name);
/* Whether an array holds such numbers and is complete. */
gboolean astro_blocks_check_array(const AstroBlocksReader *r, const AstroFitsHeader *header,
                                  const char *name, const AstroFitsWords *words, GError **error);
/* Reads an array that was checked. */
gboolean astro_blocks_read_into(const AstroBlocksReader *r, const AstroFitsHeader *header,
                                const AstroFitsWords *words, gpointer data, GError **error);
/* To be freed; a 0 byte is added at the end. NULL on an error. */
gpointer astro_blocks_read_array(const AstroBlocksReader *r, const AstroFitsHeader *header,
                                 const char *name, const AstroFitsWords *words, GError **error);
/* -1: missing. */
gint64 astro_blocks_number(const AstroFitsHeader *header, const char *key);
/* FALSE and an error if an integer is missing or out of range. */
gboolean astro_blocks_get_number(const AstroBlocksReader *r, const AstroFitsHeader *header,
                                 const char *key, gint64 least, gint64 most, gint64 *value,
                                 GError **error);

/* Read what belongs to the block whose header has that index, and add it to the buffer. samples:
 * the block's shape. */
gboolean astro_blocks_read_counts(const AstroBlocksReader *r, guint block,
                                  const AstroLayout *samples, GstBuffer *buffer, GError **error);
gboolean astro_blocks_read_grid(const AstroBlocksReader *r, guint block, GstBuffer *buffer,
                                GError **error);
/* *told: a new event, or NULL. bytes: size of the histogram. */
gboolean astro_blocks_read_summary(const AstroBlocksReader *r, guint block, guint64 bytes,
                                   GstEvent **told, GError **error);

G_END_DECLS
