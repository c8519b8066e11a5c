/* How long work may go on after a flush, a stop, or an interrupt of the user. */
#include "config.h"
#include "elements/base/astrodeadline.h"

static gint64 get(const gint64 *at)
{
  return __atomic_load_n(at, __ATOMIC_SEQ_CST);
}

static void set(gint64 *at, gint64 value)
{
  __atomic_store_n(at, value, __ATOMIC_SEQ_CST);
}

static gboolean is_late(const AstroDeadline *deadline)
{
  const gint64 interrupted = get(&deadline->interrupted), began = get(&deadline->began);
  const gint64 moment = MAX(interrupted, began) + ASTRO_DEADLINE_MS * (gint64)1000;
  const gint64 end = interrupted + ASTRO_DEADLINE_END_MS * (gint64)1000;
  return g_get_monotonic_time() >= (began > interrupted ? MAX(moment, end) : moment);
}

static gboolean asked(gpointer data)
{
  AstroDeadline *deadline = data;
  if (g_atomic_int_get(&deadline->is_missed))
    return TRUE;
  if (!g_atomic_int_get(&deadline->is_stopped) &&
      !(g_atomic_int_get(&deadline->is_interrupted) && is_late(deadline)))
    return FALSE;
  g_atomic_int_set(&deadline->is_missed, TRUE);
  return TRUE;
}

void astro_deadline_init(AstroDeadline *deadline)
{
  *deadline = (AstroDeadline){ .stop = { asked, deadline } };
}

void astro_deadline_begin_at(AstroDeadline *deadline, gint64 now)
{
  set(&deadline->began, now);
  g_atomic_int_set(&deadline->is_missed, FALSE);
}

void astro_deadline_begin(AstroDeadline *deadline)
{
  astro_deadline_begin_at(deadline, g_get_monotonic_time());
}

void astro_deadline_set_stopped(AstroDeadline *deadline, gboolean is_stopped)
{
  g_atomic_int_set(&deadline->is_stopped, is_stopped);
}

void astro_deadline_interrupt(AstroDeadline *deadline)
{
  if (g_atomic_int_get(&deadline->is_interrupted))
    return;
  set(&deadline->interrupted, g_get_monotonic_time());
  g_atomic_int_set(&deadline->is_interrupted, TRUE);
}

void astro_deadline_clear(AstroDeadline *deadline)
{
  g_atomic_int_set(&deadline->is_interrupted, FALSE);
  g_atomic_int_set(&deadline->is_stopped, FALSE);
}

gboolean astro_deadline_is_missed(AstroDeadline *deadline)
{
  return g_atomic_int_get(&deadline->is_missed);
}

gboolean astro_deadline_is_stopped(AstroDeadline *deadline)
{
  return g_atomic_int_get(&deadline->is_stopped);
}
