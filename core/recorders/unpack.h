/* Unpacks the components of samples from bytes. */
#pragma once

#include "core/recorders/levels.h"
#include "core/stream/stream.h"

G_BEGIN_DECLS

/* How components are packed. With word_components, each little-endian word of 32 bits holds that
 * many, from its least significant bit on, and its other bits are unused; otherwise there are no
 * gaps, and high_first says from which end a byte is filled. Numbers of 16 and 32 bits are
 * little-endian. */
typedef struct {
  guint bits; /* of a component: 1 to 16, or 32 for floats */
  gboolean is_complex;
  AstroRecorderCode code;
  gboolean high_first;
  guint word_components; /* 0: no gaps */
  gboolean is_power;     /* numbers become floats */
} AstroRecorderPacking;

/* F32LE for power, or I8 for up to 8 bits, I16LE for up to 16, F32LE for floats, or their complex
 * counterparts; ASTRO_FORMAT_UNKNOWN for others. */
AstroFormat astro_recorder_format(const AstroRecorderPacking *packing);
gsize astro_recorder_component_bytes(const AstroRecorderPacking *packing); /* unpacked */
/* Whether the file has the components as they come out. */
gboolean astro_recorder_is_plain(const AstroRecorderPacking *packing);

/* The byte, or the first byte of the word, in which a component begins; how many components begin
 * before it in that byte or word; and the bytes that hold so many components. */
guint64 astro_recorder_byte_of(const AstroRecorderPacking *packing, guint64 component);
guint64 astro_recorder_before(const AstroRecorderPacking *packing, guint64 component);
guint64 astro_recorder_bytes(const AstroRecorderPacking *packing, guint64 components);

/* Unpacks n components of those that are packed from `in` on, from number `first` on. The first
 * function is the formula. */
void astro_recorder_unpack_reference(const AstroRecorderPacking *packing, const guint8 *in,
                                     guint64 first, guint64 n, gpointer out);
void astro_recorder_unpack(const AstroRecorderPacking *packing, const guint8 *in, guint64 first,
                           guint64 n, gpointer out);

G_END_DECLS
