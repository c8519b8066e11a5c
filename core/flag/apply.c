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

/* Where the flags and the former count of a count are found. */
typedef struct {
  const guint8 *const *rows;
  const guint32 *had; /* NULL: nothing was lost */
  guint n_axes;
  gboolean is_time[ASTRO_MAX_AXES];
  gsize flag[ASTRO_MAX_AXES]; /* strides in a row of flags */
  AstroValidityAxis count[ASTRO_MAX_AXES];
  guint64 extents[ASTRO_MAX_AXES];
} Sources;

static void find_sources(Sources *sources, const AstroStream *stream, const Counted *counted,
                         const AstroLayout *shape, const AstroValidityMeta *meta)
{
  AstroValidityAxis axes[ASTRO_MAX_AXES];
  if (meta)
    astro_validity_axes(meta, shape, axes);
  sources->n_axes = counted->shape.n_axes;
  for (guint a = 0; a < sources->n_axes; a++) {
    const AstroAxis axis = counted->shape.axes[a];
    sources->extents[a] = counted->shape.extents[a];
    sources->is_time[a] = axis == ASTRO_AXIS_TIME;
    sources->flag[a] = axis == ASTRO_AXIS_TIME || axis == ASTRO_AXIS_POL ? 0
                       : axis == ASTRO_AXIS_CHANNEL                      ? 1
                                                    : astro_flag_channels(stream);
    sources->count[a] = meta ? axes[counted->at[a]] : (AstroValidityAxis){ .group = 1 };
  }
  if (sources->n_axes == 0) { /* one count for the whole buffer */
    sources->n_axes = 1;
    sources->extents[0] = 1;
    sources->count[0].group = 1;
  }
}

/* The counts along the last axis, at a place of the others. */
static void lower_run(const Sources *sources, const guint64 *index, guint32 *counts)
{
  const guint last = sources->n_axes - 1;
  const AstroValidityAxis axis = sources->count[last];
  guint64 t = 0, had = 0;
  gsize at = 0;
  for (guint a = 0; a < last; a++) {
    t += sources->is_time[a] ? index[a] : 0;
    at += index[a] * sources->flag[a];
    had += index[a] / sources->count[a].group * sources->count[a].stride;
  }
  for (guint64 i = 0; i < sources->extents[last]; i++) {
    const guint8 *row = sources->rows[sources->is_time[last] ? i : t];
    if (row[at + i * sources->flag[last]] & ASTRO_FLAG_BAD)
      counts[i] = 0;
    else if (sources->had)
      counts[i] = sources->had[had + (axis.group == 1 ? i : i / axis.group) * axis.stride];
  }
}

void astro_flag_apply(const AstroStream *stream, guint64 steps, const guint8 *const *rows,
                      const AstroValidityMeta *meta, GstBuffer *out)
{
  static const AstroLayout none = { 0 };
  guint64 index[ASTRO_MAX_AXES] = { 0 };
  AstroLayout shape;

  astro_stream_shape(stream, steps, &shape);
  const gboolean any = has_bad(stream, steps, rows);
  const Counted counted = any ? find_counted(&shape, steps, rows, meta) : (Counted){ 0 };
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
  Sources sources = { .rows = rows, .had = meta ? meta->counts : NULL };
  find_sources(&sources, stream, &counted, &shape, meta);
  const guint last = sources.n_axes - 1;
  const guint64 n = astro_layout_samples(&counted.shape);
  for (guint64 i = 0; i < n; i += sources.extents[last]) {
    lower_run(&sources, index, to->counts + i);
    for (guint a = last; a-- > 0 && ++index[a] == sources.extents[a];)
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
