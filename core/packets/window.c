/* Keeps blocks open for packets that are out of order, and counts lost ones. */
#include "config.h"
#include "core/packets/window.h"

#include <string.h>

typedef struct {
  guint64 first;
  guint8 *came;
  gpointer data;
} Block;

struct _AstroWindow {
  AstroWindowConfig config;
  AstroWindowFunctions functions;
  gpointer user;

  /* A ring of consecutive blocks, without gaps. */
  Block *blocks;
  guint n_blocks, begin, n_open;
  gboolean is_begun, is_after_gap, is_after_start;
  guint64 next;        /* first packet of the next block to be opened */
  guint64 least, most; /* lowest and highest packet received since the start */
  guint64 far_first;   /* first of a run of far packets */
  guint far_packets;
  AstroWindowCounts *counts;
};

AstroWindow *astro_window_new(const AstroWindowConfig *config,
                              const AstroWindowFunctions *functions, gpointer user)
{
  AstroWindow *w = g_new0(AstroWindow, 1);
  w->config = *config;
  w->functions = *functions;
  w->user = user;
  /* All that the window reaches into, wherever it begins, and the block of the newest packet. */
  w->n_blocks = (config->window + config->block - 1) / config->block + 2;
  w->blocks = g_new0(Block, w->n_blocks);
  for (guint i = 0; i < w->n_blocks; i++)
    w->blocks[i].came = g_malloc0((gsize)config->n_streams * config->block);
  w->counts = g_new0(AstroWindowCounts, config->n_streams);
  return w;
}

void astro_window_reset(AstroWindow *w)
{
  for (; w->n_open > 0; w->n_open--, w->begin = (w->begin + 1) % w->n_blocks)
    w->functions.drop(w->user, w->blocks[w->begin].data);
  w->is_begun = FALSE;
  w->far_packets = 0;
}

void astro_window_free(AstroWindow *w)
{
  astro_window_reset(w);
  for (guint i = 0; i < w->n_blocks; i++)
    g_free(w->blocks[i].came);
  g_free(w->blocks);
  g_free(w->counts);
  g_free(w);
}

/* Counts the packets that are missing from a block. Those before the first packet received and
 * after the last do not count, since they may not have been sent. */
static guint64 count_lost(AstroWindow *w, const Block *block)
{
  guint64 lost = 0;
  for (guint stream = 0; stream < w->config.n_streams; stream++)
    for (guint i = 0; i < w->config.block; i++) {
      const guint64 number = block->first + i;
      if (block->came[(gsize)stream * w->config.block + i] || number < w->least || number > w->most)
        continue;
      w->counts[stream].lost++;
      lost++;
    }
  return lost;
}

static void close_first(AstroWindow *w)
{
  Block *block = &w->blocks[w->begin];
  const AstroWindowBlock told = { block->first,    block->came,       count_lost(w, block),
                                  w->is_after_gap, w->is_after_start, block->data };
  w->is_after_gap = w->is_after_start = FALSE;
  w->begin = (w->begin + 1) % w->n_blocks;
  w->n_open--;
  w->functions.close(w->user, &told);
}

static gboolean open_next(AstroWindow *w)
{
  if (w->n_open == w->n_blocks)
    close_first(w);
  Block *block = &w->blocks[(w->begin + w->n_open) % w->n_blocks];
  gpointer data = w->functions.open(w->user, w->next);
  if (!data)
    return FALSE;
  block->first = w->next;
  block->data = data;
  memset(block->came, 0, (gsize)w->config.n_streams * w->config.block);
  w->next += w->config.block;
  w->n_open++;
  return TRUE;
}

static void begin_at(AstroWindow *w, guint64 number)
{
  w->next = number - number % w->config.block;
  w->least = w->most = number;
  w->is_begun = w->is_after_start = TRUE;
}

/* The blocks between the open ones and the current packets were sent, but nothing of them came. */
static void skip_to(AstroWindow *w, guint64 number)
{
  const guint64 next = number - number % w->config.block;
  w->most = number;
  while (w->n_open > 0)
    close_first(w);
  for (guint stream = 0; stream < w->config.n_streams; stream++)
    w->counts[stream].lost += next - w->next;
  w->is_after_gap |= next > w->next;
  w->next = next;
}

/* Farther ahead than all blocks that may be open at once; a shorter gap gives empty blocks. */
static gboolean is_far_ahead(const AstroWindow *w, guint64 number)
{
  return number > w->most && number - w->most > (guint64)w->n_blocks * w->config.block;
}

/* A packet up to two windows behind the blocks that may be open is late; one farther behind comes
 * from a sender that has restarted. */
static gboolean is_far_behind(const AstroWindow *w, guint64 number)
{
  const guint64 reach = 2 * (guint64)w->config.window + (guint64)w->n_blocks * w->config.block;
  return number < w->most && w->most - number > reach;
}

/* TRUE: this far packet completes a run, and the window has moved to it. */
static gboolean has_moved(AstroWindow *w, guint64 number)
{
  const guint64 apart = w->far_packets == 0     ? 0
                        : number > w->far_first ? number - w->far_first
                                                : w->far_first - number;
  if (w->far_packets == 0 ||
      apart > (guint64)w->config.window + w->config.block + ASTRO_WINDOW_RUN) {
    w->far_first = number;
    w->far_packets = 0;
  }
  if (++w->far_packets < ASTRO_WINDOW_RUN)
    return FALSE;
  w->far_packets = 0;
  if (number > w->most) {
    skip_to(w, number);
  } else {
    astro_window_finish(w);
    begin_at(w, number);
  }
  return TRUE;
}

/* Opens blocks up to the packet's, and closes those a window or more behind the newest packet. */
static gboolean advance(AstroWindow *w, guint64 number)
{
  w->most = MAX(w->most, number);
  while (w->next <= number)
    if (!open_next(w))
      return FALSE;
  while (w->n_open > 0 && w->blocks[w->begin].first + w->config.block + w->config.window <= w->most)
    close_first(w);
  return TRUE;
}

static AstroWindowAnswer put(AstroWindow *w, guint stream, guint64 number, AstroWindowPlace *place)
{
  const guint64 first = w->blocks[w->begin].first;
  if (w->n_open == 0 || number < first) {
    w->counts[stream].late++;
    return ASTRO_WINDOW_LATE;
  }
  const guint64 at = (number - first) / w->config.block;
  Block *block = &w->blocks[(w->begin + at) % w->n_blocks];
  const guint packet = (guint)(number % w->config.block);
  guint8 *came = &block->came[(gsize)stream * w->config.block + packet];
  if (*came) {
    w->counts[stream].duplicate++;
    return ASTRO_WINDOW_DUPLICATE;
  }
  *came = 1;
  w->least = MIN(w->least, number);
  w->counts[stream].packets++;
  *place = (AstroWindowPlace){ block->data, packet };
  return ASTRO_WINDOW_PLACED;
}

AstroWindowAnswer astro_window_take(AstroWindow *w, guint stream, guint64 number,
                                    AstroWindowPlace *place)
{
  if (!w->is_begun)
    begin_at(w, number);
  if (!is_far_ahead(w, number) && !is_far_behind(w, number)) {
    w->far_packets = 0;
  } else if (!has_moved(w, number)) {
    w->counts[stream].far++;
    return ASTRO_WINDOW_FAR;
  }
  if (!advance(w, number))
    return ASTRO_WINDOW_FAILED;
  return put(w, stream, number, place);
}

void astro_window_finish(AstroWindow *w)
{
  while (w->n_open > 0)
    close_first(w);
  w->is_begun = FALSE;
  w->far_packets = 0;
}

AstroWindowCounts astro_window_counts(const AstroWindow *w, guint stream)
{
  return w->counts[stream];
}
