/* Groups of hits that have one cause. */
#include "config.h"
#include "core/search/groups.h"

struct _AstroSearchGroups {
  guint widest;
  GArray *open; /* of AstroSearchCandidate */
};

AstroSearchGroups *astro_search_groups_new(guint widest)
{
  AstroSearchGroups *groups = g_new0(AstroSearchGroups, 1);
  groups->widest = widest;
  groups->open = g_array_new(FALSE, FALSE, sizeof(AstroSearchCandidate));
  return groups;
}

void astro_search_groups_free(AstroSearchGroups *groups)
{
  if (!groups)
    return;
  g_array_unref(groups->open);
  g_free(groups);
}

void astro_search_groups_clear(AstroSearchGroups *groups)
{
  g_array_set_size(groups->open, 0);
}

static gboolean are_friends(const AstroSearchCandidate *a, const AstroSearchCandidate *b)
{
  const AstroSearchCandidate *later = a->begin > b->begin ? a : b;
  const guint64 apart = later->peak.steps;
  return a->peak.station == b->peak.station && a->dm_low <= b->dm_high + ASTRO_SEARCH_FRIENDS &&
         b->dm_low <= a->dm_high + ASTRO_SEARCH_FRIENDS && a->begin <= b->end + apart &&
         b->begin <= a->end + apart;
}

/* Of equal peaks that of the lowest dispersion measure stays, whatever came first. */
static gboolean is_higher(const AstroSearchHit *a, const AstroSearchHit *b)
{
  return a->snr != b->snr ? a->snr > b->snr : a->dm < b->dm;
}

static void join(AstroSearchCandidate *group, const AstroSearchCandidate *other)
{
  if (is_higher(&other->peak, &group->peak))
    group->peak = other->peak;
  group->begin = MIN(group->begin, other->begin);
  group->end = MAX(group->end, other->end);
  group->dm_low = MIN(group->dm_low, other->dm_low);
  group->dm_high = MAX(group->dm_high, other->dm_high);
  group->n += other->n;
}

void astro_search_groups_add(AstroSearchGroups *groups, const AstroSearchHit *hit)
{
  AstroSearchCandidate one = { *hit, hit->begin, hit->end, hit->dm, hit->dm, 1 };
  /* A group that has grown may be a friend of one that was looked at before. */
  for (guint i = 0; i < groups->open->len;) {
    const AstroSearchCandidate *group = &g_array_index(groups->open, AstroSearchCandidate, i);
    if (are_friends(group, &one)) {
      join(&one, group);
      g_array_remove_index_fast(groups->open, i);
      i = 0;
    } else {
      i++;
    }
  }
  g_array_append_val(groups->open, one);
}

static int by_time(gconstpointer a, gconstpointer b)
{
  const AstroSearchHit *x = &((const AstroSearchCandidate *)a)->peak,
                       *y = &((const AstroSearchCandidate *)b)->peak;
  if (x->first != y->first)
    return x->first < y->first ? -1 : 1;
  if (x->station != y->station)
    return x->station < y->station ? -1 : 1;
  return x->dm < y->dm ? -1 : x->dm > y->dm;
}

void astro_search_groups_take(AstroSearchGroups *groups, guint64 settled, GArray *candidates)
{
  const guint before = candidates->len;
  for (guint i = 0; i < groups->open->len;) {
    const AstroSearchCandidate *group = &g_array_index(groups->open, AstroSearchCandidate, i);
    if (settled == G_MAXUINT64 || group->end + groups->widest < settled) {
      g_array_append_val(candidates, *group);
      g_array_remove_index_fast(groups->open, i);
    } else {
      i++;
    }
  }
  if (candidates->len > before)
    qsort(&g_array_index(candidates, AstroSearchCandidate, before), candidates->len - before,
          sizeof(AstroSearchCandidate), by_time);
}
