/* Plans the tree of sums. */
#include "config.h"
#include "core/dedisperse/plan.h"

#include <string.h>

#define LINE ASTRO_DEDISPERSE_LINE
/* Rows of a group and a chunk, some MB, are read from the second cache mostly. Shorter chunks would
 * read channels, which lie far apart, in shorter pieces, which costs more. */
#define CHUNK 1024
#define GROUP 128 /* trials */
/* A node is made if its rows are fewer than this part of the trials. */
#define SHARED 0.5

typedef struct {
  guint channels, n_dms;
  const guint32 *delays; /* [dm][channel], of the trials of a group */
  GArray *bands;         /* AstroDedisperseBand */
} Planner;

static guint32 delay_of(const Planner *planner, guint dm, guint channel)
{
  return planner->delays[(gsize)dm * planner->channels + channel];
}

/* ---- patterns ---- */

/* Two trials share a row of a node if they share those of its halves, at the same distance. */
typedef struct {
  guint32 left, right, distance;
} Pattern;

static guint hash_pattern(gconstpointer key)
{
  const Pattern *p = key;
  guint hash = p->left * 0x9e3779b1u;
  hash = (hash ^ p->right) * 0x85ebca6bu;
  hash = (hash ^ (hash >> 13) ^ p->distance) * 0xc2b2ae35u;
  return hash ^ (hash >> 16);
}

static gboolean is_same_pattern(gconstpointer a, gconstpointer b)
{
  return memcmp(a, b, sizeof(Pattern)) == 0;
}

/* Numbers the patterns of a node in the order in which trials have them. */
static void find_patterns(const Planner *planner, AstroDedisperseNode *node)
{
  const guint n_dms = planner->n_dms;
  g_autoptr(GHashTable) known = g_hash_table_new(hash_pattern, is_same_pattern);
  g_autofree Pattern *patterns = g_new(Pattern, n_dms);
  for (guint d = 0; d < n_dms; d++) {
    Pattern *pattern = &patterns[node->n];
    gpointer number;
    *pattern = (Pattern){ node->left->pattern[d], node->right->pattern[d],
                          delay_of(planner, d, node->left->begin) -
                              delay_of(planner, d, node->right->begin) };
    if (!g_hash_table_lookup_extended(known, pattern, NULL, &number)) {
      number = GUINT_TO_POINTER(node->n++);
      g_hash_table_insert(known, pattern, number);
    }
    node->pattern[d] = GPOINTER_TO_UINT(number);
  }
}

static void free_node(AstroDedisperseNode *node)
{
  if (!node)
    return;
  free_node(node->left);
  free_node(node->right);
  g_free(node->sums);
  g_free(node->pattern);
  g_free(node->low);
  g_free(node);
}

static void add_band(const Planner *planner, AstroDedisperseNode *node)
{
  const AstroDedisperseBand band = { node, NULL };
  if (node)
    g_array_append_val(planner->bands, band);
}

/* The node of the channels; NULL if they became bands. */
static AstroDedisperseNode *make_node(const Planner *planner, guint begin, guint end)
{
  AstroDedisperseNode *left = NULL, *right = NULL;
  if (end - begin > 1) {
    guint half = 1;
    while (2 * half < end - begin)
      half *= 2;
    left = make_node(planner, begin, begin + half);
    const guint at = planner->bands->len;
    right = make_node(planner, begin + half, end);
    if (!left || !right) {
      /* Bands stay in the order of their channels. */
      const AstroDedisperseBand band = { left, NULL };
      if (left)
        g_array_insert_val(planner->bands, at, band);
      add_band(planner, right);
      return NULL;
    }
  }
  AstroDedisperseNode *node = g_new0(AstroDedisperseNode, 1);
  *node = (AstroDedisperseNode){ .begin = begin, .end = end, .left = left, .right = right };
  node->pattern = g_new0(guint32, planner->n_dms);
  if (!left) {
    node->n = 1;
    return node;
  }
  find_patterns(planner, node);
  if (node->n < SHARED * planner->n_dms)
    return node;
  node->left = node->right = NULL;
  free_node(node);
  add_band(planner, left);
  add_band(planner, right);
  return NULL;
}

/* ---- rows ---- */

/* Extends a row of a node to those of the trials or parents that take it, which begin between low
 * and high. */
static void extend(AstroDedisperseNode *node, guint row, guint32 low, guint32 high)
{
  AstroDedisperseSum *sum = &node->sums[row];
  if (sum->more == G_MAXUINT32) { /* nobody has taken it yet */
    node->low[row] = low;
    sum->more = high - low;
    return;
  }
  const guint32 highest = MAX(node->low[row] + sum->more, high);
  node->low[row] = MIN(node->low[row], low);
  sum->more = highest - node->low[row];
}

static void begin_rows(AstroDedisperseNode *node)
{
  node->low = g_new0(guint32, node->n);
  node->sums = g_new0(AstroDedisperseSum, node->n);
  for (guint row = 0; row < node->n; row++)
    node->sums[row].more = G_MAXUINT32;
}

/* Which steps the rows of a node have, and those below it. Delays fall from channel to channel. */
static void spread_rows(const Planner *planner, AstroDedisperseNode *node)
{
  if (!node->left)
    return;
  begin_rows(node->left);
  begin_rows(node->right);
  for (guint d = 0; d < planner->n_dms; d++) {
    const guint row = node->pattern[d];
    const guint32 distance =
        delay_of(planner, d, node->left->begin) - delay_of(planner, d, node->right->begin);
    const guint32 low = node->low[row], high = low + node->sums[row].more;
    extend(node->left, node->left->pattern[d], low, high);
    extend(node->right, node->right->pattern[d], low - distance, high - distance);
  }
  spread_rows(planner, node->left);
  spread_rows(planner, node->right);
}

static void find_rows(const Planner *planner, AstroDedisperseBand *band)
{
  AstroDedisperseNode *root = band->root;
  begin_rows(root);
  for (guint d = 0; d < planner->n_dms; d++) {
    const guint32 delay = delay_of(planner, d, root->begin);
    extend(root, root->pattern[d], delay, delay);
  }
  spread_rows(planner, root);
}

static gsize row_size(const AstroDedisperseNode *node, guint row, guint chunk)
{
  return ((gsize)node->sums[row].more + chunk + LINE - 1) / LINE * LINE;
}

/* Numbers of the rows of a node, and of those at work at once for it. */
static gsize size_of(const AstroDedisperseNode *node, guint chunk)
{
  gsize size = 0;
  for (guint row = 0; node->left && row < node->n; row++)
    size += row_size(node, row, chunk);
  return size;
}

static gsize scratch_of(const AstroDedisperseNode *node, guint chunk)
{
  if (!node->left)
    return 0;
  const gsize left = scratch_of(node->left, chunk),
              right = size_of(node->left, chunk) + scratch_of(node->right, chunk);
  return size_of(node, chunk) + MAX(left, right);
}

/* Where a row begins that a trial or parent takes from that delay on: in the channel itself, or
 * among the rows of the node. */
static guint32 place_of(const AstroDedisperseNode *node, guint row, guint32 delay)
{
  return node->left ? node->sums[row].to + (delay - node->low[row]) : delay;
}

static void place_rows(const Planner *planner, AstroDedispersePlan *plan, AstroDedisperseNode *node)
{
  if (!node->left)
    return;
  for (guint row = 0; row < node->n; row++) {
    node->sums[row].to = (guint32)node->size;
    node->size += row_size(node, row, plan->chunk);
    plan->additions += 1 + (double)node->sums[row].more / plan->chunk;
  }
  place_rows(planner, plan, node->left);
  place_rows(planner, plan, node->right);
  for (guint d = 0; d < planner->n_dms; d++) {
    const guint row = node->pattern[d];
    const guint32 distance =
        delay_of(planner, d, node->left->begin) - delay_of(planner, d, node->right->begin);
    AstroDedisperseSum *sum = &node->sums[row];
    sum->a = place_of(node->left, node->left->pattern[d], node->low[row]);
    sum->b = place_of(node->right, node->right->pattern[d], node->low[row] - distance);
  }
}

static void place_band(const Planner *planner, AstroDedispersePlan *plan, AstroDedisperseBand *band)
{
  place_rows(planner, plan, band->root);
  band->from = g_new(guint32, planner->n_dms);
  for (guint d = 0; d < planner->n_dms; d++)
    band->from[d] =
        place_of(band->root, band->root->pattern[d], delay_of(planner, d, band->root->begin));
}

/* Only what was needed to make the plan. */
static void drop_patterns(AstroDedisperseNode *node)
{
  if (!node)
    return;
  g_clear_pointer(&node->pattern, g_free);
  g_clear_pointer(&node->low, g_free);
  drop_patterns(node->left);
  drop_patterns(node->right);
}

static void plan_group(AstroDedispersePlan *plan, const AstroDedisperseConfig *config,
                       const guint32 *delays, AstroDedisperseGroup *group)
{
  g_autoptr(GArray) bands = g_array_new(FALSE, FALSE, sizeof(AstroDedisperseBand));
  const Planner planner = { config->channels, group->n_dms,
                            delays + (gsize)group->first * config->channels, bands };
  gsize before = 0;
  add_band(&planner, make_node(&planner, 0, config->channels));
  group->n_bands = bands->len;
  group->bands = g_memdup2(bands->data, bands->len * sizeof(AstroDedisperseBand));
  plan->additions += (double)group->n_dms * (group->n_bands - 1);
  for (guint i = 0; i < group->n_bands; i++) {
    AstroDedisperseBand *band = &group->bands[i];
    find_rows(&planner, band);
    place_band(&planner, plan, band);
    drop_patterns(band->root);
    /* The rows of bands that are taken together follow each other. A line may be read beyond the
     * last row. */
    if (i % ASTRO_DEDISPERSE_BANDS == 0)
      before = 0;
    plan->scratch = MAX(plan->scratch, before + scratch_of(band->root, plan->chunk) + LINE);
    before += band->root->size;
  }
}

AstroDedispersePlan *astro_dedisperse_plan_new(const AstroDedisperseConfig *config, GError **error)
{
  g_autofree guint32 *delays = astro_dedisperse_delays(config);
  if (!delays) {
    astro_backend_no_memory(error, "no memory for the delays of %u channels at %u trials",
                            config->channels, config->n_dms);
    return NULL;
  }
  AstroDedispersePlan *plan = g_new0(AstroDedispersePlan, 1);
  plan->chunk = CHUNK;
  plan->most_dms = MIN(GROUP, config->n_dms);
  plan->n_groups = (config->n_dms + GROUP - 1) / GROUP;
  plan->groups = g_new0(AstroDedisperseGroup, plan->n_groups);
  for (guint i = 0; i < plan->n_groups; i++) {
    plan->groups[i].first = i * GROUP;
    plan->groups[i].n_dms = MIN(GROUP, config->n_dms - i * GROUP);
    plan_group(plan, config, delays, &plan->groups[i]);
  }
  return plan;
}

static void clear_group(AstroDedisperseGroup *group)
{
  for (guint i = 0; i < group->n_bands; i++) {
    free_node(group->bands[i].root);
    g_free(group->bands[i].from);
  }
  g_free(group->bands);
}

void astro_dedisperse_plan_free(AstroDedispersePlan *plan)
{
  for (guint i = 0; plan && i < plan->n_groups; i++)
    clear_group(&plan->groups[i]);
  if (plan)
    g_free(plan->groups);
  g_free(plan);
}
