/* Counts of what is kept. */
#include "config.h"
#include "core/select/check.h"

/* For an axis of the output's counts: offsets in the input's counts. */
typedef struct {
  guint64 n; /* length in the output; 0: no counts along the axis */
  guint64 *straight, *swapped;
} Counted;

typedef struct {
  AstroSelectAxes axes;
  AstroValidityAxis in[ASTRO_MAX_AXES];
  Counted counted[ASTRO_MAX_AXES];
} Counts;

static gboolean is_pol(const AstroSelectAxes *axes, guint i)
{
  return (gint)i == axes->pol[0] || (gint)i == axes->pol[1];
}

/* Whether counts differ between polarisations while some pairs are reversed, and so have the
 * polarisations exchanged: then all three axes need counts of their own. */
static gboolean is_mixed(const Counts *counts)
{
  gboolean pols = FALSE;
  for (guint i = 0; i < counts->axes.in.n_axes; i++)
    pols |= is_pol(&counts->axes, i) && counts->in[i].stride;
  return counts->axes.has_reversed && pols;
}

static guint64 place(AstroValidityAxis axis, guint64 index)
{
  return index / axis.group * axis.stride;
}

static void count_axis(Counts *counts, guint i, gboolean each)
{
  const AstroSelectAxes *axes = &counts->axes;
  const AstroSelectPick *pick = &axes->pick[i];
  const AstroValidityAxis in = counts->in[i];
  const guint other =
      (gint)i == axes->pol[0] ? (guint)MAX(axes->pol[1], 0) : (guint)MAX(axes->pol[0], 0);
  const AstroValidityAxis swapped = is_pol(axes, i) ? counts->in[other] : in;
  Counted *c = &counts->counted[i];
  const guint64 groups = axes->in.extents[i] / in.group;
  if (!in.stride && !each)
    return;
  each |= pick->n && groups > 1;
  c->n = each ? axes->out.extents[i] : groups;
  c->straight = g_new(guint64, 2 * c->n);
  c->swapped = c->straight + c->n;
  for (guint64 k = 0; k < c->n; k++) {
    const guint64 from = each ? astro_select_from(pick, k) : k * in.group;
    c->straight[k] = place(in, from);
    c->swapped[k] = place(swapped, from);
  }
}

static void fill(const Counts *counts, const AstroValidityMeta *meta, AstroValidityMeta *out,
                 const guint *axis, gboolean is_mixed)
{
  const AstroLayout *shape = &out->shape;
  guint64 index[ASTRO_MAX_AXES] = { 0 };
  for (guint64 k = 0, n = astro_layout_samples(shape); k < n; k++) {
    guint64 straight = 0, swapped = 0;
    gboolean is_reversed = FALSE;
    for (guint i = 0; i < shape->n_axes; i++) {
      const guint which = axis[i];
      straight += counts->counted[which].straight[index[i]];
      swapped += counts->counted[which].swapped[index[i]];
      is_reversed |= is_mixed && (gint)which == counts->axes.baseline &&
                     astro_select_is_reversed(&counts->axes.pick[which], index[i]);
    }
    out->counts[k] = meta->counts[is_reversed ? swapped : straight];
    for (guint i = shape->n_axes; i-- > 0;) {
      if (++index[i] < shape->extents[i])
        break;
      index[i] = 0;
    }
  }
}

void astro_select_validity(const AstroSelectConfig *config, guint64 steps,
                           const AstroValidityMeta *meta, GstBuffer *out)
{
  Counts counts = { 0 };
  AstroLayout shape = { 0 };
  guint axis[ASTRO_MAX_AXES];

  astro_select_axes(config, steps, &counts.axes);
  astro_validity_axes(meta, &counts.axes.in, counts.in);
  const gboolean mixed = is_mixed(&counts);
  for (guint i = 0; i < counts.axes.in.n_axes; i++) {
    count_axis(&counts, i, mixed && (is_pol(&counts.axes, i) || (gint)i == counts.axes.baseline));
    if (!counts.counted[i].n)
      continue;
    axis[shape.n_axes] = i;
    shape.axes[shape.n_axes] = counts.axes.in.axes[i];
    shape.extents[shape.n_axes++] = counts.counted[i].n;
  }
  AstroValidityMeta *kept = astro_buffer_add_validity(out, &shape, meta->full);
  kept->slowest_first = shape.n_axes && axis[0] == 0;
  fill(&counts, meta, kept, axis, mixed);
  for (guint i = 0; i < counts.axes.in.n_axes; i++)
    g_free(counts.counted[i].straight);
}
