/* The formats of simulated voltages. */
#include "config.h"
#include "core/lib/sky/store.h"

/* Scales as in astroconvert: a quarter of full scale for 8 bits, the least distortion of noise for
 * 4 bits, a sixteenth for 16 bits. */
static const AstroStore stores[] = {
  { ASTRO_FORMAT_CI4, 7, 2.95, 1 },        { ASTRO_FORMAT_CI8, 127, 32, 2 },
  { ASTRO_FORMAT_CI16LE, 32767, 2048, 4 }, { ASTRO_FORMAT_CF32LE, 0, 0, 8 },
  { ASTRO_FORMAT_I8, 127, 32, 1 },         { ASTRO_FORMAT_I16LE, 32767, 2048, 2 },
  { ASTRO_FORMAT_F32LE, 0, 0, 4 },
};

const AstroStore *astro_store_get(AstroFormat format)
{
  for (guint i = 0; i < G_N_ELEMENTS(stores); i++)
    if (stores[i].format == format)
      return &stores[i];
  return NULL;
}
