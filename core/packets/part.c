/* Copies parts of arrays. */
#include "config.h"
#include "core/packets/part.h"

#include <string.h>

AstroPart astro_part_new(const AstroLayout *whole, guint64 step, guint64 channel, guint64 channels)
{
  AstroPart part = { .whole = *whole };
  for (guint i = 0; i < whole->n_axes; i++) {
    part.n[i] = whole->extents[i];
    if (whole->axes[i] == ASTRO_AXIS_TIME) {
      part.first[i] = step;
      part.n[i] = 1;
    } else if (whole->axes[i] == ASTRO_AXIS_CHANNEL) {
      part.first[i] = channel;
      part.n[i] = channels;
    }
  }
  return part;
}

guint64 astro_part_samples(const AstroPart *part)
{
  guint64 n = 1;
  for (guint i = 0; i < part->whole.n_axes; i++)
    n *= part->n[i];
  return n;
}

/* Goes on to the next index within the part, along the first axes; FALSE: there is none. */
static gboolean next_index(const AstroPart *part, guint axes, guint64 index[ASTRO_MAX_AXES])
{
  for (guint i = axes; i-- > 0;) {
    if (++index[i] < part->n[i])
      return TRUE;
    index[i] = 0;
  }
  return FALSE;
}

/* ---- samples ---- */

/* Samples next to each other in the array: along all axes from *outer on. */
static guint64 run_of(const AstroPart *part, guint *outer)
{
  guint64 run = 1;
  guint i = part->whole.n_axes;
  while (i > 0) {
    i--;
    run *= part->n[i];
    if (part->n[i] != part->whole.extents[i])
      break;
  }
  *outer = i;
  return run;
}

typedef enum { TAKE, PUT, ZERO } Way;

static void walk(const AstroPart *part, gsize bytes, Way way, guint8 *whole, guint8 *own)
{
  guint64 strides[ASTRO_MAX_AXES], index[ASTRO_MAX_AXES] = { 0 };
  guint outer;
  const gsize run = run_of(part, &outer) * bytes;
  astro_layout_strides(&part->whole, strides);
  do {
    guint64 at = 0;
    for (guint i = 0; i < part->whole.n_axes; i++)
      at += (part->first[i] + (i < outer ? index[i] : 0)) * strides[i];
    guint8 *there = whole + at * bytes;
    if (way == ZERO)
      memset(there, 0, run);
    else
      memcpy(way == TAKE ? own : there, way == TAKE ? there : own, run);
    own = own ? own + run : NULL;
  } while (next_index(part, outer, index));
}

void astro_part_take(const AstroPart *part, gsize sample_bytes, const guint8 *whole, guint8 *own)
{
  walk(part, sample_bytes, TAKE, (guint8 *)whole, own);
}

void astro_part_put(const AstroPart *part, gsize sample_bytes, const guint8 *own, guint8 *whole)
{
  walk(part, sample_bytes, PUT, whole, (guint8 *)own);
}

void astro_part_zero(const AstroPart *part, gsize sample_bytes, guint8 *whole)
{
  walk(part, sample_bytes, ZERO, whole, NULL);
}

/* ---- counts ---- */

AstroPartAxes astro_part_counted(const AstroPart *part, const AstroValidityMeta *counts)
{
  AstroValidityAxis axes[ASTRO_MAX_AXES];
  AstroPartAxes counted = 0;
  astro_validity_axes(counts, &part->whole, axes);
  for (guint i = 0; i < part->whole.n_axes; i++)
    counted |= (axes[i].stride > 0 ? 1u : 0) << i;
  return counted;
}

/* The part with single indices along axes that have no counts of their own. */
static AstroPart counted_part(const AstroPart *part, AstroPartAxes axes)
{
  AstroPart counted = *part;
  for (guint i = 0; i < part->whole.n_axes; i++)
    if (!(axes >> i & 1))
      counted.n[i] = 1;
  return counted;
}

guint64 astro_part_n_counts(const AstroPart *part, AstroPartAxes axes)
{
  const AstroPart counted = counted_part(part, axes);
  return astro_part_samples(&counted);
}

AstroLayout astro_part_counts_layout(const AstroLayout *whole, AstroPartAxes axes)
{
  AstroLayout layout = { 0 };
  for (guint i = 0; i < whole->n_axes; i++)
    if (axes >> i & 1) {
      layout.axes[layout.n_axes] = whole->axes[i];
      layout.extents[layout.n_axes++] = whole->extents[i];
    }
  return layout;
}

void astro_part_take_counts(const AstroPart *part, AstroPartAxes axes,
                            const AstroValidityMeta *counts, guint32 *own)
{
  const AstroPart counted = counted_part(part, axes);
  guint64 index[ASTRO_MAX_AXES] = { 0 };
  do {
    guint64 at[ASTRO_MAX_AXES];
    for (guint i = 0; i < ASTRO_MAX_AXES; i++)
      at[i] = part->first[i] + index[i];
    *own++ = astro_validity_at(counts, &part->whole, at);
  } while (next_index(&counted, counted.whole.n_axes, index));
}

/* Strides of an array with extents n along these axes, and 0 along the others. */
static void strides_of(guint n_axes, const guint64 *n, AstroPartAxes axes,
                       guint64 strides[ASTRO_MAX_AXES])
{
  guint64 stride = 1;
  for (guint i = n_axes; i-- > 0;) {
    strides[i] = axes >> i & 1 ? stride : 0;
    stride *= axes >> i & 1 ? n[i] : 1;
  }
}

void astro_part_put_counts(const AstroPart *part, AstroPartAxes own_axes, const guint32 *own,
                           AstroPartAxes axes, guint32 *whole)
{
  const AstroPart counted = counted_part(part, axes);
  const guint n_axes = part->whole.n_axes;
  guint64 from[ASTRO_MAX_AXES], to[ASTRO_MAX_AXES], index[ASTRO_MAX_AXES] = { 0 };
  strides_of(n_axes, part->n, own_axes, from);
  strides_of(n_axes, part->whole.extents, axes, to);
  do {
    guint64 source = 0, target = 0;
    for (guint i = 0; i < n_axes; i++) {
      source += index[i] * from[i];
      target += (part->first[i] + index[i]) * to[i];
    }
    whole[target] = own[source];
  } while (next_index(&counted, n_axes, index));
}
