/* The integers that become of the numbers in recordings. */
#include "config.h"
#include "core/recorders/levels.h"

#define HIGH 10
#define LOW 3

gint32 astro_recorder_level(AstroRecorderCode code, guint bits, guint32 number)
{
  static const gint32 levels[] = { -HIGH, -LOW, LOW, HIGH }, signs[] = { -HIGH, LOW, -LOW, HIGH };
  const gint64 half = (gint64)1 << (bits - 1);
  switch (code) {
  case ASTRO_RECORDER_LEVELS:
    return bits == 1 ? (number ? 1 : -1) : levels[number & 3];
  case ASTRO_RECORDER_MARK5B:
    return bits == 1 ? (number ? -1 : 1) : signs[number & 3];
  case ASTRO_RECORDER_SIGNS:
    return bits == 1 ? (number ? -1 : 1) : levels[(number & 3) ^ 2];
  case ASTRO_RECORDER_FALLING:
    return levels[3 - (number & 3)];
  case ASTRO_RECORDER_UNSIGNED:
    return (gint32)number;
  case ASTRO_RECORDER_OFFSET:
    return (gint32)((gint64)number - half);
  default:
    return (gint32)((gint64)number < half ? (gint64)number : (gint64)number - 2 * half);
  }
}
