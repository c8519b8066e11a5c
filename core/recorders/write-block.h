/* The block of levels that is filled before a format writes it. */
#pragma once

#include "core/recorders/write-parts.h"

G_BEGIN_DECLS

/* Makes the block that the format has chosen the steps of. */
void astro_record_block_new(AstroRecordWriter *writer);

/* Puts n steps of a buffer, from one on, behind those in the block. levels are in the stream's
 * layout, and so is mask, with a byte for each sample: 0 if it is lost. NULL: none is. */
void astro_record_block_place(AstroRecordWriter *writer, const guint8 *levels, const guint8 *mask,
                              guint64 steps, guint64 from, guint64 n);
/* The same for lost steps. */
void astro_record_block_lose(AstroRecordWriter *writer, guint64 n);

/* Fills mask from the counts of a buffer. 1: something is lost from step `skip` on; 0: nothing is;
 * -1: the counts do not fit the buffer. */
gint astro_record_block_mask(AstroRecordWriter *writer, guint8 *mask,
                             const AstroValidityMeta *counts, guint64 steps, guint64 skip,
                             GError **error);

/* Whether n bytes of the block's validity, from a sample on, are all good. */
gboolean astro_record_block_is_good(const AstroRecordBlock *block, guint64 first, guint64 n);

G_END_DECLS
