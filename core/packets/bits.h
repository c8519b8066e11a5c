/* Where the components of a payload are, and the values that their numbers stand for. */
#pragma once

#include "core/packets/packets.h"

G_BEGIN_DECLS

#define ASTRO_PACKET_WORD_BITS 32

/* Components in a time step: all axes except time, and both parts of complex samples. 0: more than
 * can be addressed. */
guint64 astro_packet_step_components(const AstroPacketSamples *samples);
/* Components in a word of ASTRO_PACKET_WORDS. 0: there is no agreed way to pack them. */
guint astro_packet_word_components(const AstroPacketSamples *samples);
guint64 astro_packet_components(const AstroPacketSamples *samples);

/* Whether the numbers stand for VDIF's levels; and the value of a number. */
gboolean astro_packet_is_levels(const AstroPacketSamples *samples);
double astro_packet_value(const AstroPacketSamples *samples, guint32 number);

G_END_DECLS
