/* Blocks of whole steps out of a stream of bytes that is cut anywhere, as filesrc and fdsrc send
 * it. */
#pragma once

#include <gst/base/gstadapter.h>
#include "core/stream/stream.h"

G_BEGIN_DECLS

typedef struct {
  guint64 skip; /* bytes before the first sample */
  guint block;  /* bytes of a block; 0: some MiB, or what comes */

  GstAdapter *adapter; /* what waits for more */
  guint64 position;    /* where the bytes begin that come next */
  guint64 end;         /* of the last buffer, as that counts bytes, which may be NONE */
  gboolean is_counted; /* buffers begin at the byte where those before them end */
  gboolean is_begun;   /* since then */
  guint64 drop;        /* bytes, up to the first whole step */
  guint64 next;        /* step */
  gboolean is_discont; /* the next block */
} AstroBytes;

void astro_bytes_init(AstroBytes *bytes);
void astro_bytes_clear(AstroBytes *bytes);

/* Steps count from the first byte after skip, wherever the bytes that come next begin. */
void astro_bytes_seek(AstroBytes *bytes, guint64 position);
/* Another stream, whose source counts its own bytes: steps go on. */
void astro_bytes_begin_stream(AstroBytes *bytes);
/* Other caps: steps go on at the time where those of the stream before end. */
void astro_bytes_follow_rate(AstroBytes *bytes, const AstroStream *before,
                             const AstroStream *stream);

/* Of a block. Where time is the slowest axis, or there is none, whole steps, cut anywhere; else
 * block is one array, and 0: what comes is. */
gsize astro_bytes_of_block(const AstroBytes *bytes, const AstroStream *stream);

/* Of counted bytes, those of a buffer that came already, which are cut off. Takes the buffer; NULL:
 * all of it did. */
GstBuffer *astro_bytes_cut(const AstroBytes *bytes, GstBuffer *buffer, guint64 *again);
/* Of counted bytes, those that did not come before a buffer's. */
guint64 astro_bytes_lost(const AstroBytes *bytes, GstBuffer *buffer);
void astro_bytes_add(AstroBytes *bytes, const AstroStream *stream, GstBuffer *buffer);
/* Those are lost, and so is what they leave of a step or an array: the whole steps before them, or
 * NULL. */
GstBuffer *astro_bytes_lose(AstroBytes *bytes, const AstroStream *stream, guint64 lost);
/* What is marked as a gap holds nothing: the same. Takes the buffer. */
GstBuffer *astro_bytes_add_gap(AstroBytes *bytes, const AstroStream *stream, GstBuffer *buffer);
/* *block: the next, NULL where more has to come. FALSE: what comes is no array. */
gboolean astro_bytes_take(AstroBytes *bytes, const AstroStream *stream, GstBuffer **block,
                          GError **error);
/* The whole steps that there are, before what was said after them; or NULL. */
GstBuffer *astro_bytes_take_whole(AstroBytes *bytes, const AstroStream *stream);
/* At an end: the whole steps that there are, or NULL; left says what is less. */
GstBuffer *astro_bytes_take_rest(AstroBytes *bytes, const AstroStream *stream, GError **left);

G_END_DECLS
