/* A simulated bad network for tests: packets are lost, late or duplicated, as a seed determines. */
#include "config.h"
#include "core/packets/lossy.h"

#include "core/kit/split-mix.h"

typedef struct {
  gpointer packet;
  guint behind; /* later packets to send first */
  gboolean is_doubled;
} Held;

struct _AstroLossy {
  AstroLossyConfig config;
  AstroLossySend send;
  GDestroyNotify release;
  gpointer user;
  guint64 state;
  GArray *held; /* in order of arrival */
  AstroLossyCounts counts;
};

AstroLossy *astro_lossy_new(const AstroLossyConfig *config, AstroLossySend send,
                            GDestroyNotify release, gpointer user)
{
  AstroLossy *l = g_new0(AstroLossy, 1);
  *l = (AstroLossy){ *config, send, release, user, config->seed, NULL, { 0 } };
  l->held = g_array_new(FALSE, FALSE, sizeof(Held));
  return l;
}

void astro_lossy_reset(AstroLossy *l)
{
  for (guint i = 0; i < l->held->len; i++)
    l->release(g_array_index(l->held, Held, i).packet);
  g_array_set_size(l->held, 0);
}

void astro_lossy_free(AstroLossy *l)
{
  astro_lossy_reset(l);
  g_array_unref(l->held);
  g_free(l);
}

/* Draws a number whatever the fraction is, so that the same packets are lost with and without
 * duplicates. */
static gboolean happens(AstroLossy *l, double fraction)
{
  return (double)(astro_split_mix(&l->state) >> 11) * 0x1p-53 < fraction;
}

static void send(AstroLossy *l, gpointer packet, gboolean is_doubled)
{
  if (is_doubled)
    l->send(l->user, packet, TRUE);
  l->send(l->user, packet, FALSE);
}

/* A packet was sent: sends those that waited only for it. */
static void send_due(AstroLossy *l)
{
  for (guint i = 0; i < l->held->len;) {
    Held *held = &g_array_index(l->held, Held, i);
    if (--held->behind > 0) {
      i++;
      continue;
    }
    const Held due = *held;
    g_array_remove_index(l->held, i);
    send(l, due.packet, due.is_doubled);
  }
}

gboolean astro_lossy_take(AstroLossy *l, gpointer packet)
{
  const gboolean is_lost = happens(l, l->config.loss);
  const gboolean is_doubled = happens(l, l->config.duplicate);
  const gboolean is_reordered = happens(l, l->config.reorder);
  const guint behind = 1 + (guint)(astro_split_mix(&l->state) % ASTRO_LOSSY_REACH);
  l->counts.taken++;
  if (is_lost) {
    l->counts.lost++;
    l->release(packet);
    return FALSE;
  }
  l->counts.doubled += (guint64)is_doubled;
  if (is_reordered) {
    const Held held = { packet, behind, is_doubled };
    l->counts.reordered++;
    g_array_append_val(l->held, held);
    return TRUE;
  }
  send(l, packet, is_doubled);
  send_due(l);
  return TRUE;
}

void astro_lossy_finish(AstroLossy *l)
{
  for (guint i = 0; i < l->held->len; i++) {
    const Held held = g_array_index(l->held, Held, i);
    send(l, held.packet, held.is_doubled);
  }
  g_array_set_size(l->held, 0);
}

AstroLossyCounts astro_lossy_counts(const AstroLossy *l)
{
  return l->counts;
}
