/* Which samples can be packed, into how many bytes, and into what format they are unpacked. */
#include "config.h"
#include "core/packets/bits.h"

#include "core/lib/vdif/vdif.h"

gboolean astro_packet_is_levels(const AstroPacketSamples *samples)
{
  return samples->code == ASTRO_PACKET_OFFSET && samples->bits <= 2;
}

AstroFormat astro_packet_format(const AstroPacketSamples *samples)
{
  const gboolean is_complex = samples->is_complex;
  if (samples->bits < 1 || samples->bits > 32)
    return ASTRO_FORMAT_UNKNOWN;
  if (astro_packet_is_levels(samples))
    return is_complex ? ASTRO_FORMAT_CF32LE : ASTRO_FORMAT_F32LE;
  if (samples->bits <= 8)
    return is_complex ? ASTRO_FORMAT_CI8 : ASTRO_FORMAT_I8;
  if (samples->bits <= 16)
    return is_complex ? ASTRO_FORMAT_CI16LE : ASTRO_FORMAT_I16LE;
  return is_complex ? ASTRO_FORMAT_CF64LE : ASTRO_FORMAT_F64LE;
}

guint64 astro_packet_step_components(const AstroPacketSamples *samples)
{
  guint64 components = samples->is_complex ? 2 : 1;
  for (guint i = 0; i < samples->layout.n_axes; i++) {
    const guint64 extent = samples->layout.extents[i];
    if (samples->layout.axes[i] == ASTRO_AXIS_TIME)
      continue;
    if (extent > ASTRO_PACKET_MAX_BYTES || components * extent > ASTRO_PACKET_MAX_BYTES)
      return 0;
    components *= extent;
  }
  return components;
}

guint astro_packet_word_components(const AstroPacketSamples *samples)
{
  return astro_vdif_word_components(astro_packet_step_components(samples), samples->bits);
}

guint64 astro_packet_components(const AstroPacketSamples *samples)
{
  const gint time = astro_layout_find(&samples->layout, ASTRO_AXIS_TIME);
  const guint64 step = astro_packet_step_components(samples);
  const guint64 steps = time < 0 ? 1 : samples->layout.extents[time];
  const guint64 most = 8 * (guint64)ASTRO_PACKET_MAX_BYTES;
  return samples->layout.n_axes == 0 || steps > most || step * steps > most ? 0 : step * steps;
}

gsize astro_packet_payload_bytes(const AstroPacketSamples *samples)
{
  const guint64 components = astro_packet_components(samples);
  if (components == 0 || samples->bits < 1 || samples->bits > 32)
    return 0;
  if (samples->packing == ASTRO_PACKET_WORDS) {
    const guint n = astro_packet_word_components(samples);
    return n == 0 || components % n ? 0 : components / n * (ASTRO_PACKET_WORD_BITS / 8);
  }
  return components * samples->bits % 8 ? 0 : components * samples->bits / 8;
}

guint64 astro_packet_payload_steps(const AstroPacketSamples *samples, gsize bytes)
{
  const guint64 step = astro_packet_step_components(samples);
  if (step == 0 || samples->bits < 1 || samples->bits > 32 || bytes > ASTRO_PACKET_MAX_BYTES)
    return 0;
  guint64 components = 0;
  if (samples->packing != ASTRO_PACKET_WORDS)
    components = bytes * 8 % samples->bits ? 0 : bytes * 8 / samples->bits;
  else if (bytes % (ASTRO_PACKET_WORD_BITS / 8) == 0)
    components = bytes / (ASTRO_PACKET_WORD_BITS / 8) * astro_packet_word_components(samples);
  return components % step ? 0 : components / step;
}
