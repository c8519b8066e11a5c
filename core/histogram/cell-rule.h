/* Which pairs of cells have to be looked into, for walks through two trees by a device: on the host
 * and in CUDA. */
#pragma once

#include "core/histogram/bounds.h"
#include "core/histogram/space-bounds.h"

G_BEGIN_DECLS

typedef struct {
  const double *squares; /* of the edges' chords; not looked at in space */
  guint32 n_edges;
  gboolean in_space;
  gboolean is_near;  /* each pair in the bins is looked at, none is counted with its cells */
  gboolean is_brute; /* all pairs are */
  SpaceReach reach;  /* in space */
} CellRule;

/* Whether no pair of two different cells has to be looked at. All of them then lie in the place
 * edges->first: between the edges, or outside the bins. Else *edges are those that may lie between
 * their pairs. */
ON_BOTH static inline gboolean cells_are_whole(const CellRule *rule, const Cell *a, const Cell *b,
                                               Edges *edges)
{
  if (rule->in_space) {
    const gboolean is_far = !rule->is_brute && !space_may_count(&rule->reach, a, b);
    if (is_far)
      edges->first = edges->last = 0;
    return is_far;
  }
  *edges = narrow(rule->squares, a, b, *edges);
  const gboolean is_in_bins = edges->last > 0 && edges->first < rule->n_edges;
  return edges->first == edges->last && !rule->is_brute && !(rule->is_near && is_in_bins);
}

G_END_DECLS
