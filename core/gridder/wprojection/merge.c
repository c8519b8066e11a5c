/* Waiting records are sorted by the columns of the grid that their footprints begin in, and those
 * with the same taps in the same cells are added up. Groups of columns are separate tasks; the
 * order of sums depends on the records alone. */
#include "config.h"
#include "core/backend/threads.h"
#include "core/gridder/wprojection/records.h"

#include <string.h>

/* An entry while they are sorted: first cell in v; first cell in u, from the window's left; set;
 * index of the record. */
#define INDEX_BITS 22
#define SHIFT_BITS 4
#define ENTRY(v, shift, set, index)                                                                \
  ((((guint64)(v) << SHIFT_BITS | (guint64)(shift)) << SET_BITS | (guint64)(set)) << INDEX_BITS |  \
   (guint64)(index))
#define ENTRY_INDEX(entry) ((guint)((entry) & ((1u << INDEX_BITS) - 1)))
#define ENTRY_PLACE(entry) ((entry) >> INDEX_BITS)
#define ENTRY_SET(entry) ((guint)((entry) >> INDEX_BITS & ((1u << SET_BITS) - 1)))
#define ENTRY_SHIFT(entry) ((guint)((entry) >> (INDEX_BITS + SET_BITS) & ((1u << SHIFT_BITS) - 1)))
#define ENTRY_V(entry) ((guint)((entry) >> (INDEX_BITS + SET_BITS + SHIFT_BITS)))

/* A wider window takes more columns, so that more records are summed in registers before the grid
 * is touched, but also works on more zeros. */
static void choose_windows(AstroWProjection *self)
{
  guint64 n[MAX_CLASSES] = { 0 };
  for (guint64 i = 0; i < self->n; i++)
    n[KEY_CLASS(self->keys[i])]++;
  for (guint i = 0; i < self->n_classes; i++) {
    SupportClass *class = &self->classes[i];
    guint narrow = class->stride - ASTRO_TAPS_PADDING;
    double size = self->config.size;
    double in_reach = (double)n[i] * (narrow - class->support + 1) * class->support;
    /* A wide window suits few records. Most lie in the middle of the grid, so that four within
     * reach of a row there are far fewer on average. */
    gboolean few = in_reach < size * size / 16;
    class->window = few && class->stride <= self->config.size ? class->stride : narrow;
    class->columns = class->window - class->support + 1;
    class->groups = (self->config.size + class->columns - 1) / class->columns;
    class->first_group = i ? class[-1].first_group + class[-1].groups : 0;
  }
}

static guint group_of(const AstroWProjection *self, guint64 key)
{
  const SupportClass *class = &self->classes[KEY_CLASS(key)];
  return class->first_group + KEY_U(key) / class->columns;
}

/* Puts the entries of each group together, in the order of records. */
static void group_entries(Flush *flush)
{
  const AstroWProjection *self = flush->self;
  guint64 sum = 0;

  for (guint64 i = 0; i < self->n; i++)
    flush->groups[group_of(self, self->keys[i])].n++;
  for (guint i = 0; i < flush->n_groups; i++) {
    flush->groups[i].first = sum;
    sum += flush->groups[i].n;
    flush->groups[i].n = 0;
  }
  for (guint64 i = 0; i < self->n; i++) {
    guint64 key = self->keys[i];
    const SupportClass *class = &self->classes[KEY_CLASS(key)];
    guint column = KEY_U(key) / class->columns;
    Group *group = &flush->groups[class->first_group + column];
    self->entries[group->first + group->n++] =
        ENTRY(KEY_V(key), KEY_U(key) - group_left(self, class, column), KEY_SET(key), i);
  }
}

/* Sorts by place, and by index within a place, eight bits at a time from INDEX_BITS on. Returns
 * which of the two arrays has the result. */
static guint64 *sort_entries(guint64 *entries, guint64 *scratch, guint64 n)
{
  guint64 different = 0;
  for (guint64 i = 1; i < n; i++)
    different |= entries[i] ^ entries[0];
  for (guint bit = INDEX_BITS; bit < 64; bit += 8) {
    guint64 counts[256] = { 0 }, sum = 0;
    if (!(different >> bit & 255))
      continue;
    for (guint64 i = 0; i < n; i++)
      counts[entries[i] >> bit & 255]++;
    for (guint i = 0; i < 256; i++) {
      guint64 here = counts[i];
      counts[i] = sum;
      sum += here;
    }
    for (guint64 i = 0; i < n; i++)
      scratch[counts[entries[i] >> bit & 255]++] = entries[i];
    guint64 *sorted = scratch;
    scratch = entries;
    entries = sorted;
  }
  return entries;
}

/* Where the set's taps would be if the footprint began in row 0 of the grid and at the window's
 * left. */
static gconstpointer taps_of(const AstroWProjection *self, guint64 entry)
{
  const AstroTaps *taps = self->config.taps;
  const guint sets = taps->oversampling * taps->oversampling, set = ENTRY_SET(entry);
  const AstroTapsPlane *plane = &taps->planes[set / sets];
  gssize offset = (gssize)((set % sets) * plane->set) -
                  (gssize)((gsize)ENTRY_V(entry) * plane->stride + ENTRY_SHIFT(entry));
  gssize each = 2 * (taps->is_double ? sizeof(double) : sizeof(float));
  return (gconstpointer)((gssize)plane->taps + offset * each);
}

static void add_up(const AstroWProjection *self, guint8 *sum, const guint8 *value)
{
  for (guint i = 0; i < 2 * self->config.products; i++)
    if (self->config.taps->is_double)
      ((double *)sum)[i] += ((const double *)value)[i];
    else
      ((float *)sum)[i] += ((const float *)value)[i];
}

static void merge_group(gpointer data, guint64 index)
{
  const Flush *flush = data;
  const AstroWProjection *self = flush->self;
  Group *group = &flush->groups[index];
  guint64 *entries = self->entries + group->first;
  guint64 n = group->n, left = 0;

  if (n == 0)
    return;
  const guint64 *sorted = sort_entries(entries, (guint64 *)self->taps + group->first, n);
  if (sorted != entries)
    memcpy(entries, sorted, n * sizeof *entries);
  guint8 *sum = self->sums + group->first * self->value_bytes;
  for (guint64 i = 0; i < n; i++) {
    const guint8 *value = self->values + ENTRY_INDEX(entries[i]) * self->value_bytes;
    if (i && ENTRY_PLACE(entries[i]) == ENTRY_PLACE(entries[i - 1])) {
      add_up(self, sum, value);
      continue;
    }
    sum = self->sums + (group->first + left) * self->value_bytes;
    memcpy(sum, value, self->value_bytes);
    self->first_rows[group->first + left] = ENTRY_V(entries[i]);
    self->taps[group->first + left] = taps_of(self, entries[i]);
    left++;
  }
  group->n = left;
}

void astro_wprojection_merge(Flush *flush)
{
  AstroWProjection *self = flush->self;
  choose_windows(self);
  const SupportClass *last = &self->classes[self->n_classes - 1];
  flush->n_groups = last->first_group + last->groups;
  flush->groups = g_new0(Group, flush->n_groups);
  group_entries(flush);
  astro_parallel(flush->n_groups, self->config.threads, merge_group, flush);
  if (astro_is_given_up()) /* groups that were not merged are undefined */
    return;
  for (guint i = 0; i < flush->n_groups; i++)
    self->counts.spread += flush->groups[i].n;
}
