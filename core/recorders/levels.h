/* The integers that become of the numbers in recordings.
 *
 *   code            bits  number: integer
 *   signed          1-32  two's complement
 *   unsigned        1-16  the number
 *   offset          3-32  number - 2^(bits - 1), so that 0 is the most negative
 *   levels          1     0: -1, 1: 1
 *   levels          2     0: -10, 1: -3, 2: 3, 3: 10
 *   mark 5b         1     0: 1, 1: -1
 *   mark 5b         2     0: -10, 1: 3, 2: -3, 3: 10 (the low bit is the sign, the high the
 *                         magnitude)
 *   falling         2     0: 10, 1: 3, 2: -3, 3: -10 (GUPPI, as Breakthrough Listen describes it
 *                         and blimpy reads it, which has 40 and 12)
 *   signs           1     0: 1, 1: -1
 *   signs           2     0: 3, 1: 10, 2: -10, 3: -3 (two's complement of the level's rank)
 *
 * 10/3 is 3.3333: VDIF's specification has 3.3359 for the ratio of the high level to the low one,
 * baseband 3.3165. VDIF has levels for 1 and 2 bits and offset above; the unsigned bytes of
 * digitisers for amateurs are offset too. */
#pragma once

#include <glib.h>

G_BEGIN_DECLS

typedef enum {
  ASTRO_RECORDER_SIGNED,
  ASTRO_RECORDER_OFFSET,
  ASTRO_RECORDER_LEVELS,
  ASTRO_RECORDER_MARK5B,
  ASTRO_RECORDER_UNSIGNED,
  ASTRO_RECORDER_FALLING,
  ASTRO_RECORDER_SIGNS,
  ASTRO_RECORDER_FLOAT, /* 32 bits, IEEE, little-endian: copied */
} AstroRecorderCode;

gint32 astro_recorder_level(AstroRecorderCode code, guint bits, guint32 number);

G_END_DECLS
