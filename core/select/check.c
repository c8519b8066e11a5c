/* Checks configurations and blocks of the select stage, and finds what is kept. */
#include "config.h"
#include "core/select/check.h"

#include <string.h>

static gboolean check_pick(const AstroSelectConfig *config, guint i, GError **error)
{
  const AstroSelectPick *pick = &config->pick[i];
  const AstroAxis axis = config->in.layout.axes[i];
  const guint64 extent = config->in.layout.extents[i];
  if (pick->n && extent == 0)
    return astro_backend_refuse(error,
                                "axis %s has no fixed length, so parts of it cannot be selected",
                                astro_axis_name(axis));
  for (guint64 k = 0; k < pick->n; k++)
    if (astro_select_from(pick, k) >= extent)
      return astro_backend_refuse(error,
                                  "%s %" G_GUINT64_FORMAT " is to be kept of %" G_GUINT64_FORMAT
                                  ", expected an index below that",
                                  astro_axis_name(axis), astro_select_from(pick, k), extent);
  return TRUE;
}

static gboolean can_conjugate(AstroFormat format)
{
  return format == ASTRO_FORMAT_CF32LE || format == ASTRO_FORMAT_CF64LE ||
         format == ASTRO_FORMAT_CI32LE;
}

gboolean astro_select_shape(gconstpointer data, GError **error)
{
  const AstroSelectConfig *config = data;
  AstroSelectAxes axes;
  for (guint i = 0; i < config->in.layout.n_axes; i++)
    if (!check_pick(config, i, error))
      return FALSE;
  astro_select_axes(config, 1, &axes);
  return !axes.has_reversed || can_conjugate(config->in.format) ||
         astro_backend_refuse(error,
                              "visibilities in %s cannot be conjugated, as reordering stations "
                              "requires: expected CF32LE, CF64LE or CI32LE",
                              astro_format_name(config->in.format));
}

gboolean astro_select_check(const AstroSelectConfig *config, const AstroBlock *in, guint n_in,
                            const AstroBlock *out, guint n_out,
                            const AstroSelectArguments *arguments, GError **error)
{
  const gsize sample = astro_stream_sample_bytes(&config->in);
  AstroSelectAxes axes;
  if (n_in != 1 || n_out != 1 || !arguments || arguments->steps == 0)
    return astro_backend_refuse(
        error, "select: expected one block in, one block out and at least one step");
  astro_select_axes(config, arguments->steps, &axes);
  const gsize from = astro_layout_samples(&axes.in) * sample,
              to = astro_layout_samples(&axes.out) * sample;
  return (in->bytes >= from && out->bytes >= to) ||
         astro_backend_refuse(error,
                              "select: blocks of %" G_GSIZE_FORMAT " and %" G_GSIZE_FORMAT
                              " bytes, expected %" G_GSIZE_FORMAT " and %" G_GSIZE_FORMAT,
                              in->bytes, out->bytes, from, to);
}

void astro_select_axes(const AstroSelectConfig *config, guint64 steps, AstroSelectAxes *axes)
{
  guint pols = 0;
  memset(axes, 0, sizeof *axes);
  astro_stream_shape(&config->in, steps, &axes->in);
  axes->out = axes->in;
  axes->baseline = axes->pol[0] = axes->pol[1] = -1;
  /* In layouts without time, frames put it in front of all axes. */
  const guint frames = axes->in.n_axes - config->in.layout.n_axes;
  for (guint i = frames; i < axes->in.n_axes; i++) {
    const AstroSelectPick *pick = &config->pick[i - frames];
    axes->pick[i] = *pick;
    if (pick->n)
      axes->out.extents[i] = pick->n;
    if (axes->in.axes[i] == ASTRO_AXIS_BASELINE)
      axes->baseline = (gint)i;
    else if (axes->in.axes[i] == ASTRO_AXIS_POL)
      axes->pol[pols++] = (gint)i;
  }
  for (guint64 k = 0; axes->baseline >= 0 && k < axes->pick[axes->baseline].n; k++)
    axes->has_reversed |= astro_select_is_reversed(&axes->pick[axes->baseline], k);
}

void astro_select_swap(const AstroSelectAxes *axes, const guint64 strides[ASTRO_MAX_AXES],
                       guint64 swapped[ASTRO_MAX_AXES])
{
  memcpy(swapped, strides, ASTRO_MAX_AXES * sizeof *swapped);
  if (axes->pol[0] < 0 || axes->pol[1] < 0)
    return;
  swapped[axes->pol[0]] = strides[axes->pol[1]];
  swapped[axes->pol[1]] = strides[axes->pol[0]];
}

void astro_select_conjugate(AstroFormat format, gpointer out, gconstpointer in)
{
  if (format == ASTRO_FORMAT_CF64LE) {
    double value[2];
    memcpy(value, in, sizeof value);
    value[1] = -value[1];
    memcpy(out, value, sizeof value);
  } else if (format == ASTRO_FORMAT_CF32LE) {
    float value[2];
    memcpy(value, in, sizeof value);
    value[1] = -value[1];
    memcpy(out, value, sizeof value);
  } else {
    gint32 value[2];
    memcpy(value, in, sizeof value);
    value[1] = value[1] == G_MININT32 ? G_MAXINT32 : -value[1];
    memcpy(out, value, sizeof value);
  }
}

gboolean astro_select_find_part(const AstroSelectConfig *config, guint64 steps, gsize *offset,
                                gsize *bytes)
{
  gsize inner = astro_stream_sample_bytes(&config->in);
  AstroSelectAxes axes;
  gint cut = -1;

  astro_select_axes(config, steps, &axes);
  for (guint i = 0; i < axes.in.n_axes; i++)
    if (axes.pick[i].n) {
      if (cut >= 0)
        return FALSE;
      cut = (gint)i;
    } else if (cut < 0 && axes.in.extents[i] > 1) {
      break; /* the kept values would be in several places */
    }
  for (guint i = 0; cut < 0 && i < axes.in.n_axes; i++)
    if (axes.pick[i].n)
      return FALSE;
  *offset = 0;
  *bytes = astro_layout_samples(&axes.out) * inner;
  if (cut < 0)
    return TRUE;
  const AstroSelectPick *pick = &axes.pick[cut];
  for (guint64 k = 1; k < pick->n; k++)
    if (pick->index[k] != pick->index[k - 1] + 1)
      return FALSE;
  for (guint i = (guint)cut + 1; i < axes.in.n_axes; i++)
    inner *= axes.in.extents[i];
  *offset = astro_select_from(pick, 0) * inner;
  return !astro_select_is_reversed(pick, 0);
}

/* The distance of the indices that are kept; 0: it varies. */
static guint64 find_stride(const AstroSelectPick *pick)
{
  const guint64 stride = pick->n > 1 ? pick->index[1] - pick->index[0] : 1;
  for (guint64 k = 0; k < pick->n; k++)
    if (astro_select_is_reversed(pick, k) || pick->index[k] != pick->index[0] + k * stride)
      return 0;
  return pick->n > 1 && pick->index[1] < pick->index[0] ? 0 : stride;
}

gboolean astro_select_find_box(const AstroSelectConfig *config, guint64 steps, AstroBox *box,
                               gsize *bytes)
{
  AstroSelectAxes axes;
  astro_select_axes(config, steps, &axes);
  *box = (AstroBox){ .n_axes = axes.in.n_axes, .bytes = astro_stream_sample_bytes(&config->in) };
  astro_layout_strides(&axes.in, box->from_step);
  astro_layout_strides(&axes.out, box->to_step);
  for (guint i = 0; i < box->n_axes; i++) {
    const guint64 stride = find_stride(&axes.pick[i]);
    if (!stride)
      return FALSE;
    box->n[i] = axes.out.extents[i];
    box->to_step[i] *= box->bytes;
    box->from_step[i] *= box->bytes;
    box->from += astro_select_from(&axes.pick[i], 0) * box->from_step[i];
    box->from_step[i] *= stride;
  }
  *bytes = astro_layout_samples(&axes.out) * box->bytes;
  astro_box_simplify(box);
  return TRUE;
}
