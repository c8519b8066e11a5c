/* Groups of hits that have one cause. */
#include "config.h"
#include "core/search/groups.h"

typedef struct {
  AstroSearchCandidate all;
  GArray *hits;
} Group;

struct _AstroSearchGroups {
  guint widest;
  GPtrArray *open; /* of Group */
};

static void free_group(gpointer data)
{
  Group *group = data;
  g_array_unref(group->hits);
  g_free(group);
}

AstroSearchGroups *astro_search_groups_new(guint widest)
{
  AstroSearchGroups *groups = g_new0(AstroSearchGroups, 1);
  groups->widest = widest;
  groups->open = g_ptr_array_new_with_free_func(free_group);
  return groups;
}

void astro_search_groups_free(AstroSearchGroups *groups)
{
  if (!groups)
    return;
  g_ptr_array_unref(groups->open);
  g_free(groups);
}

void astro_search_groups_clear(AstroSearchGroups *groups)
{
  g_ptr_array_set_size(groups->open, 0);
}

static gboolean are_friends(const AstroSearchHit *a, const AstroSearchHit *b)
{
  const guint64 apart = a->begin > b->begin ? a->steps : b->steps;
  return a->dm <= b->dm + ASTRO_SEARCH_FRIENDS && b->dm <= a->dm + ASTRO_SEARCH_FRIENDS &&
         a->begin <= b->end + apart && b->begin <= a->end + apart;
}

/* Whether any hit of the group is a friend. Its extent tells at once of most that none is. */
static gboolean has_friend(const AstroSearchGroups *groups, const Group *group,
                           const AstroSearchHit *hit)
{
  const AstroSearchCandidate *all = &group->all;
  if (all->peak.station != hit->station || all->dm_low > hit->dm + ASTRO_SEARCH_FRIENDS ||
      hit->dm > all->dm_high + ASTRO_SEARCH_FRIENDS || all->begin > hit->end + groups->widest ||
      hit->begin > all->end + groups->widest)
    return FALSE;
  for (guint i = group->hits->len; i-- > 0;)
    if (are_friends(&g_array_index(group->hits, AstroSearchHit, i), hit))
      return TRUE;
  return FALSE;
}

/* Where peaks are equal, that of the lowest dispersion measure stays, whatever came first. */
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
  Group *group = g_new(Group, 1);
  group->all = (AstroSearchCandidate){ *hit, hit->begin, hit->end, hit->dm, hit->dm, 1 };
  group->hits = g_array_new(FALSE, FALSE, sizeof(AstroSearchHit));
  g_array_append_val(group->hits, *hit);
  for (guint i = 0; i < groups->open->len;) {
    const Group *other = groups->open->pdata[i];
    if (has_friend(groups, other, hit)) {
      join(&group->all, &other->all);
      g_array_append_vals(group->hits, other->hits->data, other->hits->len);
      g_ptr_array_remove_index_fast(groups->open, i);
    } else {
      i++;
    }
  }
  g_ptr_array_add(groups->open, group);
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
    const Group *group = groups->open->pdata[i];
    if (settled == G_MAXUINT64 || group->all.end + groups->widest < settled) {
      g_array_append_val(candidates, group->all);
      g_ptr_array_remove_index_fast(groups->open, i);
    } else {
      i++;
    }
  }
  if (candidates->len > before)
    qsort(&g_array_index(candidates, AstroSearchCandidate, before), candidates->len - before,
          sizeof(AstroSearchCandidate), by_time);
}
