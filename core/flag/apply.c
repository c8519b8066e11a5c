/* Lowers counts, and counts what was flagged. */
#include "config.h"
#include "core/flag/apply.h"

#include <string.h>

static gboolean has_bad(const AstroStream *stream, guint64 steps, const guint8 *const *rows)
{
  const gsize n = astro_flag_units(stream) * astro_flag_channels(stream);
  for (guint64 t = 0; t < steps; t++)
    for (gsize i = 0; (t == 0 || rows[t] != rows[t - 1]) && i < n; i++)
      if (rows[t][i] & ASTRO_FLAG_BAD)
        return TRUE;
  return FALSE;
}

static gboolean is_counted(const AstroValidityMeta *meta, AstroAxis axis)
{
  return meta && astro_layout_find(&meta->shape, axis) >= 0;
}

/* The axes that counts need: those of flags, and those of the counts that came. A time axis only
 * where steps differ. */
typedef struct {
  AstroLayout shape;
  guint at[ASTRO_MAX_AXES]; /* the axis of the stream's shape */
} Counted;

static Counted find_counted(const AstroLayout *shape, guint64 steps, const guint8 *const *rows,
                            const AstroValidityMeta *meta)
{
  gboolean differ = is_counted(meta, ASTRO_AXIS_TIME);
  Counted counted = { 0 };
  for (guint64 t = 1; !differ && t < steps; t++)
    differ = rows[t] != rows[0];
  for (guint i = 0; i < shape->n_axes; i++) {
    const AstroAxis axis = shape->axes[i];
    if ((axis == ASTRO_AXIS_TIME && !differ) || (axis == ASTRO_AXIS_POL && !is_counted(meta, axis)))
      continue;
    counted.at[counted.shape.n_axes] = i;
    counted.shape.axes[counted.shape.n_axes] = axis;
    counted.shape.extents[counted.shape.n_axes++] = shape->extents[i];
  }
  return counted;
}

void astro_flag_apply(const AstroStream *stream, guint64 steps, const guint8 *const *rows,
                      const AstroValidityMeta *meta, GstBuffer *out)
{
  static const AstroLayout none = { 0 };
  const guint channels = astro_flag_channels(stream);
  AstroValidityAxis axes[ASTRO_MAX_AXES] = { { 0 } };
  guint64 index[ASTRO_MAX_AXES] = { 0 };
  AstroLayout shape;

  astro_stream_shape(stream, steps, &shape);
  const gboolean any = has_bad(stream, steps, rows);
  const Counted counted = any ? find_counted(&shape, steps, rows, meta) : (Counted){ 0 };
  if (meta)
    astro_validity_axes(meta, &shape, axes);
  AstroValidityMeta *to = astro_buffer_add_validity(out,
                                                    any    ? &counted.shape
                                                    : meta ? &meta->shape
                                                           : &none,
                                                    meta ? meta->full : 1);
  if (!any) {
    to->slowest_first = meta && meta->slowest_first;
    if (meta)
      memcpy(to->counts, meta->counts, astro_validity_n_counts(meta) * sizeof *to->counts);
    return;
  }
  to->slowest_first = counted.at[0] == 0;
  for (guint64 i = 0, n = astro_layout_samples(&counted.shape); i < n; i++) {
    guint64 t = 0, c = 0, u = 0, had = 0;
    for (guint a = 0; a < counted.shape.n_axes; a++) {
      const AstroValidityAxis *from = &axes[counted.at[a]];
      switch (counted.shape.axes[a]) {
      case ASTRO_AXIS_TIME:
        t = index[a];
        break;
      case ASTRO_AXIS_CHANNEL:
        c = index[a];
        break;
      case ASTRO_AXIS_POL:
        break;
      default:
        u = index[a];
      }
      if (meta)
        had += index[a] / from->group * from->stride;
    }
    if (rows[t][u * channels + c] & ASTRO_FLAG_BAD)
      to->counts[i] = 0;
    else if (meta)
      to->counts[i] = meta->counts[had];
    for (guint a = counted.shape.n_axes; a-- > 0 && ++index[a] == counted.shape.extents[a];)
      index[a] = 0;
  }
}

void astro_flag_tally(AstroFlagTally *tally, const guint8 *flags, guint64 rows, guint64 units,
                      guint channels)
{
  for (guint64 line = 0; line < rows * units; line++, flags += channels)
    for (guint c = 0; c < channels; c++) {
      const guint bad = (flags[c] & ASTRO_FLAG_BAD) != 0;
      tally->judged += flags[c] & ASTRO_FLAG_JUDGED;
      tally->coarse += flags[c] == ASTRO_FLAG_COARSE;
      tally->flagged += bad;
      tally->channels[c] += bad;
    }
}
