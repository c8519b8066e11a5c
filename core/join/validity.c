/* Counts of a block, from those of its pieces. */
#include "config.h"
#include "core/join/check.h"

#include <string.h>

typedef struct {
  const AstroJoinArguments *arguments;
  const AstroJoinCounts *counts;
  guint n;
  AstroJoinAxes axes;
  AstroLayout shape;           /* of the counts */
  guint which[ASTRO_MAX_AXES]; /* for each of its axes, the axis of the block */
} Join;

static gboolean is_whole(const Join *join)
{
  for (guint i = 0; i < join->n; i++)
    if (join->counts[i].meta || join->counts[i].is_lost)
      return FALSE;
  return TRUE;
}

static guint32 find_full(const Join *join)
{
  guint32 full = 0;
  for (guint i = 0; i < join->n; i++)
    if (join->counts[i].meta)
      full = MAX(full, join->counts[i].meta->full);
  return MAX(full, 1);
}

/* Whether every piece has exactly the steps of the block. */
static gboolean is_uncut(const Join *join)
{
  for (guint i = 0; i < join->n; i++)
    if (join->arguments->pieces[i].steps != join->arguments->steps ||
        join->arguments->pieces[i].n != join->arguments->steps)
      return FALSE;
  return TRUE;
}

/* If all streams have the same counts, and none along the joined axis, they are also those of the
 * block. */
static const AstroValidityMeta *find_shared(const Join *join)
{
  const AstroValidityMeta *first = join->counts[0].meta;
  if (!first || !is_uncut(join))
    return NULL;
  for (guint i = 0; i < first->shape.n_axes; i++)
    if (first->shape.axes[i] == join->axes.shape.axes[join->axes.axis])
      return NULL;
  for (guint i = 1; i < join->n; i++) {
    const AstroValidityMeta *other = join->counts[i].meta;
    if (!other || other->full != first->full ||
        !astro_layout_is_equal(&other->shape, &first->shape) ||
        memcmp(other->counts, first->counts,
               astro_validity_n_counts(first) * sizeof *first->counts) != 0)
      return NULL;
  }
  return first;
}

/* The number of groups along an axis of the counts: as in the pieces if they agree; 0: no counts
 * along it. */
static guint64 find_groups(const Join *join, guint axis)
{
  const guint64 extent = join->axes.shape.extents[axis];
  const gboolean is_cut =
      (gint)axis == join->axes.axis || ((gint)axis == join->axes.time && !is_uncut(join));
  guint64 groups = 0;
  if (is_cut)
    return extent;
  for (guint i = 0; i < join->n; i++) {
    AstroValidityAxis axes[ASTRO_MAX_AXES];
    AstroLayout shape;
    if (!join->counts[i].meta)
      continue;
    astro_join_piece_shape(&join->axes, &join->arguments->pieces[i], &shape);
    astro_validity_axes(join->counts[i].meta, &shape, axes);
    const guint64 found = axes[axis].stride ? extent / axes[axis].group : 0;
    if (found && groups && found != groups)
      return extent;
    groups = MAX(groups, found);
  }
  return groups;
}

static void find_shape(Join *join)
{
  for (guint i = 0; i < join->axes.shape.n_axes; i++) {
    const guint64 groups = find_groups(join, i);
    if (!groups)
      continue;
    join->which[join->shape.n_axes] = i;
    join->shape.axes[join->shape.n_axes] = join->axes.shape.axes[i];
    join->shape.extents[join->shape.n_axes++] = groups;
  }
}

/* Along one axis of the counts: the range of a piece in the block, and offsets in its own counts.
 */
typedef struct {
  guint64 first, n;
  guint64 *from;
} Along;

static Along walk(const Join *join, guint number, guint axis)
{
  const AstroJoinPiece *piece = &join->arguments->pieces[number];
  const AstroValidityMeta *meta = join->counts[number].meta;
  const guint which = join->which[axis];
  const guint64 group = join->axes.shape.extents[which] / join->shape.extents[axis];
  AstroValidityAxis axes[ASTRO_MAX_AXES] = { 0 };
  AstroLayout shape;
  guint64 to, from, n;
  astro_join_piece_range(&join->axes, piece, which, &to, &from, &n);
  Along along = { to / group, n / group, g_new0(guint64, n / group) };
  if (!meta)
    return along;
  astro_join_piece_shape(&join->axes, piece, &shape);
  astro_validity_axes(meta, &shape, axes);
  for (guint64 k = 0; k < along.n; k++)
    along.from[k] = (from + k * group) / axes[which].group * axes[which].stride;
  return along;
}

static void put_piece(const Join *join, guint number, AstroValidityMeta *out)
{
  const AstroValidityMeta *meta = join->counts[number].meta;
  const guint32 otherwise = join->counts[number].is_lost ? 0 : out->full;
  guint64 strides[ASTRO_MAX_AXES], index[ASTRO_MAX_AXES] = { 0 }, n = 1;
  Along along[ASTRO_MAX_AXES];
  astro_layout_strides(&join->shape, strides);
  for (guint i = 0; i < join->shape.n_axes; i++) {
    along[i] = walk(join, number, i);
    n *= along[i].n;
  }
  for (guint64 k = 0; k < n; k++) {
    guint64 to = 0, from = 0;
    for (guint i = 0; i < join->shape.n_axes; i++) {
      to += (along[i].first + index[i]) * strides[i];
      from += along[i].from[index[i]];
    }
    out->counts[to] = meta && !join->counts[number].is_lost ? meta->counts[from] : otherwise;
    for (guint i = join->shape.n_axes; i-- > 0;) {
      if (++index[i] < along[i].n)
        break;
      index[i] = 0;
    }
  }
  for (guint i = 0; i < join->shape.n_axes; i++)
    g_free(along[i].from);
}

void astro_join_validity(const AstroJoinConfig *config, const AstroJoinArguments *arguments,
                         const AstroJoinCounts *counts, guint n_pieces, GstBuffer *out)
{
  Join join = { .arguments = arguments, .counts = counts, .n = n_pieces };
  astro_join_axes(config, arguments->steps, &join.axes);
  if (is_whole(&join))
    return;
  const AstroValidityMeta *shared = find_shared(&join);
  if (shared) {
    AstroValidityMeta *copy = astro_buffer_add_validity(out, &shared->shape, shared->full);
    copy->slowest_first = shared->slowest_first;
    memcpy(copy->counts, shared->counts, astro_validity_n_counts(shared) * sizeof *copy->counts);
    return;
  }
  find_shape(&join);
  AstroValidityMeta *meta = astro_buffer_add_validity(out, &join.shape, find_full(&join));
  meta->slowest_first = join.shape.n_axes && join.which[0] == 0;
  for (guint i = 0; i < n_pieces; i++)
    put_piece(&join, i, meta);
}
