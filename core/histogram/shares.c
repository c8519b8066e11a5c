/* Deals a count out to several instances, each with a host thread of its own, since a device's
 * submit waits until it has room for more. */
#include "core/histogram/shares.h"

#include "core/backend/device.h"
#include "core/backend/node.h"
#include "core/histogram/deal.h"
#include "core/kit/fail.h"

#include <string.h>

typedef struct Sharing Sharing;

/* The part of a count that one instance does. */
typedef struct {
  Sharing *sharing;
  guint lane;
  AstroHistogramCall call;
  AstroBlock out[2]; /* those of the first lane are the caller's */
  guint64 done;      /* pairs, under the sharing's lock */
  GError *error;
} Share;

/* A count that was submitted and not yet drained. */
struct Sharing {
  HistogramShares *shares;
  AstroHistogramDeal deal;
  AstroBlock in[2];
  guint n_in, n_out;
  AstroHistogramCall call; /* the caller's */
  GMutex lock;             /* around progress */
  guint64 total;           /* pairs of all processes */
  gboolean failed;
  Share lanes[ASTRO_MOST_DEVICES];
};

struct _HistogramShares {
  const AstroBackend *backend;
  AstroHistogramConfig config;
  guint n, rank, ranks;
  gpointer instances[ASTRO_MOST_DEVICES];
  AstroPlace places[ASTRO_MOST_DEVICES];
  GQueue sharings;
  guint64 pairs; /* counted here so far */
};

/* ---- a count ---- */

static void sharing_free(gpointer data)
{
  Sharing *sharing = data;
  for (guint i = 0; i < sharing->shares->n; i++) {
    g_clear_error(&sharing->lanes[i].error);
    for (guint k = 0; k < sharing->n_out && i > 0; k++)
      g_free(sharing->lanes[i].out[k].data);
  }
  g_mutex_clear(&sharing->lock);
  g_free(sharing);
}

/* Pairs that all instances have counted together. */
static guint64 count_done(const Sharing *sharing)
{
  guint64 done = 0;
  for (guint i = 0; i < sharing->shares->n; i++)
    done += sharing->lanes[i].done;
  return done;
}

static gboolean note(guint64 done, guint64 unused, gpointer data)
{
  Share *share = data;
  Sharing *sharing = share->sharing;
  const guint64 total = sharing->total / sharing->shares->ranks; /* about */
  g_mutex_lock(&sharing->lock);
  share->done = done;
  if (sharing->call.progress &&
      !sharing->call.progress(MIN(count_done(sharing), total), total, sharing->call.data))
    histogram_deal_end(&sharing->deal);
  g_mutex_unlock(&sharing->lock);
  return !g_atomic_int_get(&sharing->deal.ended);
}

static gboolean alloc_outputs(Sharing *sharing, const AstroBlock *out, GError **error)
{
  for (guint i = 0; i < sharing->shares->n; i++)
    for (guint k = 0; k < sharing->n_out; k++) {
      gpointer own = i == 0 ? out[k].data : g_try_malloc(out[k].bytes);
      sharing->lanes[i].out[k] = (AstroBlock){ own, out[k].bytes };
      if (!own)
        return astro_backend_no_memory(
            error,
            "no memory for the counts of %u devices, each %" G_GSIZE_FORMAT
            " bytes: expected fewer devices, regions or bins",
            sharing->shares->n, out[k].bytes);
    }
  return TRUE;
}

static guint64 pairs_of(const AstroPoints *a, const AstroPoints *b, gboolean alone)
{
  return !alone ? a->n * b->n : a->n > 0 ? a->n * (a->n - 1) / 2 : 0;
}

static Sharing *sharing_new(HistogramShares *shares, const AstroBlock *in, guint n_in,
                            const AstroBlock *out, guint n_out, const AstroHistogramCall *call,
                            GError **error)
{
  const AstroPoints *a = in[0].data, *b = in[n_in - 1].data;
  Sharing *sharing = g_new0(Sharing, 1);
  sharing->shares = shares;
  sharing->n_in = n_in;
  sharing->n_out = n_out;
  memcpy(sharing->in, in, n_in * sizeof *in);
  sharing->total = pairs_of(a, b, n_in == 1);
  if (call)
    sharing->call = *call;
  g_mutex_init(&sharing->lock);
  histogram_deal_init(&sharing->deal, a, b, n_in == 1, shares->n, shares->rank, shares->ranks);
  for (guint i = 0; i < shares->n; i++) {
    Share *share = &sharing->lanes[i];
    share->sharing = sharing;
    share->lane = i;
    share->call = (AstroHistogramCall){ note,           share, sharing->call.stop,
                                        &sharing->deal, i,     sharing->call.table };
  }
  if (alloc_outputs(sharing, out, error))
    return sharing;
  sharing_free(sharing);
  return NULL;
}

/* ---- on all places ---- */

/* The error of a failed device; a count that was stopped because of it says less. */
static void take_error(Sharing *sharing, GError **error)
{
  Share *worst = NULL;
  for (guint i = 0; i < sharing->shares->n; i++) {
    Share *share = &sharing->lanes[i];
    if (share->error && (!worst || g_error_matches(worst->error, ASTRO_HISTOGRAM_ERROR,
                                                   ASTRO_HISTOGRAM_ERROR_CANCELLED)))
      worst = share;
  }
  if (worst)
    g_propagate_error(error, g_steal_pointer(&worst->error));
}

static void name_device(const HistogramShares *shares, guint lane, GError **error)
{
  const AstroDevice *device = shares->places[lane].device;
  if (shares->n > 1 && device && error && *error && !strstr((*error)->message, device->name))
    g_prefix_error(error, "%s: ", device->name);
}

static gpointer submit_share(gpointer data)
{
  Share *share = data;
  Sharing *sharing = share->sharing;
  const HistogramShares *shares = sharing->shares;
  AstroDevice *device = shares->places[share->lane].device;
  AstroNodeCores near = { 0 };
  if (device)
    astro_node_cores_enter(&near, device);
  if (!shares->backend->submit(shares->instances[share->lane], sharing->in, sharing->n_in,
                               share->out, sharing->n_out, &share->call, NULL, &share->error)) {
    histogram_deal_end(&sharing->deal);
    name_device(shares, share->lane, &share->error);
  }
  astro_node_cores_leave(&near);
  return NULL;
}

gboolean histogram_shares_submit(HistogramShares *shares, const AstroBlock *in, guint n_in,
                                 const AstroBlock *out, guint n_out, const AstroHistogramCall *call,
                                 GError **error)
{
  GThread *threads[ASTRO_MOST_DEVICES];
  if (shares->n == 1 && shares->ranks == 1) {
    shares->pairs += pairs_of(in[0].data, in[n_in - 1].data, n_in == 1);
    return shares->backend->submit(shares->instances[0], in, n_in, out, n_out, call, NULL, error);
  }
  Sharing *sharing = sharing_new(shares, in, n_in, out, n_out, call, error);
  if (!sharing)
    return FALSE;
  /* Until the drain, as devices that did not fail still write their outputs. */
  g_queue_push_tail(&shares->sharings, sharing);
  for (guint i = 1; i < shares->n; i++)
    threads[i] = g_thread_try_new("astro-share", submit_share, &sharing->lanes[i], NULL);
  submit_share(&sharing->lanes[0]);
  for (guint i = 1; i < shares->n; i++)
    if (threads[i])
      g_thread_join(threads[i]);
    else
      submit_share(&sharing->lanes[i]);
  for (guint i = 0; i < shares->n; i++)
    sharing->failed |= sharing->lanes[i].error != NULL;
  if (sharing->failed)
    take_error(sharing, error);
  return !sharing->failed;
}

/* Two places that count the same pairs, or none that counts some, are a mistake of the backend. */
static gboolean check_whole(const Sharing *sharing, GError **error)
{
  const guint64 done = count_done(sharing);
  return done == sharing->total || sharing->shares->ranks > 1 ||
         astro_fail(error, ASTRO_HISTOGRAM_ERROR, ASTRO_HISTOGRAM_ERROR_POINTS,
                    "%u devices counted %" G_GUINT64_FORMAT " pairs together, expected "
                    "%" G_GUINT64_FORMAT ": this is a mistake in the program, please report it",
                    sharing->shares->n, done, sharing->total);
}

static void add_up(const Sharing *sharing)
{
  const AstroBlock *to = sharing->lanes[0].out;
  const gsize values = astro_histogram_values(&sharing->shares->config),
              sums = astro_histogram_sums(&sharing->shares->config);
  for (guint i = 1; i < sharing->shares->n; i++) {
    const AstroBlock *from = sharing->lanes[i].out;
    for (gsize k = 0; k < values; k++)
      ((guint64 *)to[0].data)[k] += ((const guint64 *)from[0].data)[k];
    for (gsize k = 0; k < sums && sharing->n_out > 1; k++)
      ((double *)to[1].data)[k] += ((const double *)from[1].data)[k];
  }
}

gboolean histogram_shares_drain(HistogramShares *shares, GError **error)
{
  gboolean ok = TRUE;
  for (guint i = 0; i < shares->n && shares->backend->drain; i++)
    if (!shares->backend->drain(shares->instances[i], NULL, ok ? error : NULL)) {
      if (ok)
        name_device(shares, i, error);
      ok = FALSE;
    }
  for (Sharing *sharing; (sharing = g_queue_pop_head(&shares->sharings));) {
    ok = ok && (sharing->failed || check_whole(sharing, error));
    if (ok && !sharing->failed)
      add_up(sharing);
    shares->pairs += count_done(sharing);
    sharing_free(sharing);
  }
  return ok;
}

/* ---- instances ---- */

HistogramShares *histogram_shares_new(const AstroBackend *backend,
                                      const AstroHistogramConfig *config, const AstroPlace *places,
                                      guint n, const char **variant, GError **error)
{
  g_assert(n >= 1 && n <= ASTRO_MOST_DEVICES);
  g_autoptr(HistogramShares) shares = g_new0(HistogramShares, 1);
  shares->backend = backend;
  shares->config = *config;
  shares->n = n;
  shares->ranks = 1;
  g_queue_init(&shares->sharings);
  for (guint i = 0; i < n; i++) {
    shares->places[i] = places[i];
    shares->instances[i] = backend->create(config, &places[i], variant, error);
    if (!shares->instances[i]) {
      name_device(shares, i, error);
      return NULL;
    }
  }
  return g_steal_pointer(&shares);
}

void histogram_shares_deal(HistogramShares *shares, guint rank, guint ranks)
{
  g_assert(rank < ranks);
  shares->rank = rank;
  shares->ranks = ranks;
}

/* Instances first: a device may be at work on what was submitted. */
void histogram_shares_free(HistogramShares *shares)
{
  if (!shares)
    return;
  for (guint i = 0; i < shares->n; i++)
    if (shares->instances[i])
      shares->backend->destroy(shares->instances[i]);
  g_queue_clear_full(&shares->sharings, sharing_free);
  g_free(shares);
}

guint64 histogram_shares_pairs(const HistogramShares *shares)
{
  return shares->pairs;
}
