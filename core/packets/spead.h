/* Writes headers of SPEAD packets: pointers to items, each with a value or a place in the heap. */
#pragma once

#include <glib.h>

G_BEGIN_DECLS

#define ASTRO_SPEAD_HEADER 8
#define ASTRO_SPEAD_POINTER 8

/* Numbers of items that SPEAD itself defines. */
enum {
  ASTRO_SPEAD_HEAP = 1,
  ASTRO_SPEAD_HEAP_BYTES,
  ASTRO_SPEAD_HEAP_OFFSET,
  ASTRO_SPEAD_PAYLOAD_BYTES,
  ASTRO_SPEAD_DESCRIPTOR,
  ASTRO_SPEAD_CONTROL,
  ASTRO_SPEAD_NAME = 0x10,
  ASTRO_SPEAD_DESCRIPTION,
  ASTRO_SPEAD_SHAPE,
  ASTRO_SPEAD_FORMAT,
  ASTRO_SPEAD_ID,
  ASTRO_SPEAD_DTYPE,
};

typedef struct {
  guint8 *header, *next; /* the header needs room for all pointers */
  guint address, n;      /* bits of an address: 48 or 40 */
  gboolean is_too_large; /* a value did not fit */
} AstroSpeadItemWriter;

AstroSpeadItemWriter astro_spead_begin(guint8 *header, guint address);
void astro_spead_put(AstroSpeadItemWriter *writer, gboolean is_value, guint item, guint64 value);
/* The pointers that each packet of a heap needs. */
void astro_spead_put_heap(AstroSpeadItemWriter *writer, guint64 heap, guint64 heap_bytes,
                          guint64 offset, guint64 payload_bytes);
gsize astro_spead_end(AstroSpeadItemWriter *writer); /* the header's length */

G_END_DECLS
