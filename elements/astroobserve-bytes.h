/* Makes blocks of whole steps from a stream of bytes that is cut anywhere, as filesrc and fdsrc
 * send it. */
#pragma once

#include <gst/base/gstadapter.h>
#include "core/stream/stream.h"

G_BEGIN_DECLS

typedef struct {
  guint64 skip; /* bytes before the first sample */
  guint block;  /* bytes of a block; 0: some MiB, or what comes */

  GstAdapter *adapter; /* bytes that wait for the rest of their block */
  guint64 position;    /* of the next byte in the stream, at a seek or segment */
  guint64 end;         /* of the last buffer, in bytes by its OFFSET; NONE: it has none */
  gboolean is_counted; /* OFFSETs of buffers agreed with their sizes */
  gboolean is_begun;   /* bytes have come since the last seek */
  guint64 drop;        /* bytes still to drop before the first whole step */
  guint64 next;        /* step of the next block */
  gboolean is_discont; /* mark the next block as DISCONT */
} AstroBytes;

void astro_bytes_init(AstroBytes *bytes);
void astro_bytes_clear(AstroBytes *bytes);

/* The next bytes begin at position. Steps count from the first byte after skip, wherever that is.
 */
void astro_bytes_seek(AstroBytes *bytes, guint64 position);
/* Another stream begins, whose source counts bytes afresh: steps go on. */
void astro_bytes_begin_stream(AstroBytes *bytes);
/* Caps changed: steps go on at the time where those of the old rate end. */
void astro_bytes_follow_rate(AstroBytes *bytes, const AstroStream *before,
                             const AstroStream *stream);

/* Bytes in a block: whole steps where time is the slowest axis, or there is no time axis. Otherwise
 * a block is one array, and 0 means that each incoming buffer is one. */
gsize astro_bytes_of_block(const AstroBytes *bytes, const AstroStream *stream);

/* Cuts off bytes that came before, by counted bytes; *again is their number. Takes the buffer, and
 * returns what is left of it, or NULL. */
GstBuffer *astro_bytes_cut(const AstroBytes *bytes, GstBuffer *buffer, guint64 *again);
/* Number of bytes missing before this buffer, by counted bytes. */
guint64 astro_bytes_lost(const AstroBytes *bytes, GstBuffer *buffer);
void astro_bytes_add(AstroBytes *bytes, const AstroStream *stream, GstBuffer *buffer);
/* Skips lost bytes, together with the rest of the step or array that they belong to. Returns the
 * whole steps before them, or NULL. */
GstBuffer *astro_bytes_lose(AstroBytes *bytes, const AstroStream *stream, guint64 lost);
/* Skips a buffer marked as GAP in the same way. Takes the buffer. */
GstBuffer *astro_bytes_add_gap(AstroBytes *bytes, const AstroStream *stream, GstBuffer *buffer);
/* *block: the next block, or NULL where more bytes have to come. FALSE: block does not fit steps.
 */
gboolean astro_bytes_take(AstroBytes *bytes, const AstroStream *stream, GstBuffer **block,
                          GError **error);
/* The whole steps so far, to be sent before an event; or NULL. */
GstBuffer *astro_bytes_take_whole(AstroBytes *bytes, const AstroStream *stream);
/* At an end: the whole steps so far, or NULL; *left reports bytes of an incomplete one. */
GstBuffer *astro_bytes_take_rest(AstroBytes *bytes, const AstroStream *stream, GError **left);

G_END_DECLS
