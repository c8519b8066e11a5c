/* Sets a pipeline's clock by name. */
#include "config.h"
#include "graphs/clock.h"
#include <gst/net/gstptpclock.h>
#include <stdio.h>
#include <string.h>

#define PTP "ptp:"
#define MOST_DOMAIN 255 /* IEEE 1588: a byte */
#define MOST_WAIT 86400

static gboolean read_domain(const char *name, guint64 *domain)
{
  return g_str_has_prefix(name, PTP) &&
         g_ascii_string_to_unsigned(name + strlen(PTP), 10, 0, MOST_DOMAIN, domain, NULL);
}

char *astro_clock_check(const char *name)
{
  guint64 domain;
  if (g_str_equal(name, "system") || g_str_equal(name, "realtime") || read_domain(name, &domain))
    return NULL;
  return g_strdup_printf("--clock=%s: expected system, realtime, or ptp: and a domain from 0 to "
                         "%u, as ptp:0",
                         name, MOST_DOMAIN);
}

/* Seconds to wait. FALSE: the environment says something else than a number. */
static gboolean read_wait(guint64 *seconds, char **trouble)
{
  const char *text = g_getenv(ASTRO_CLOCK_WAIT_VARIABLE);
  *seconds = ASTRO_CLOCK_WAIT;
  if (!text || g_ascii_string_to_unsigned(text, 10, 1, MOST_WAIT, seconds, NULL))
    return TRUE;
  *trouble = g_strdup_printf("%s=%s: expected how many seconds to wait for a PTP clock, from 1 to "
                             "%u",
                             ASTRO_CLOCK_WAIT_VARIABLE, text, MOST_WAIT);
  return FALSE;
}

/* gst_ptp_init() waits without end for a helper program that does not answer, and cannot be given
 * up. It runs in a thread of its own, which outlives this wait then. */
typedef struct {
  GMutex lock;
  GCond done;
  gboolean is_done, is_good;
} PtpInit;

static gpointer init_ptp(gpointer data)
{
  PtpInit *init = data;
  const gboolean is_good = gst_ptp_init(GST_PTP_CLOCK_ID_NONE, NULL);
  g_mutex_lock(&init->lock);
  init->is_done = TRUE;
  init->is_good = is_good;
  g_cond_signal(&init->done);
  g_mutex_unlock(&init->lock);
  return NULL;
}

static gboolean init_ptp_within(guint64 seconds)
{
  static PtpInit init;
  const gint64 end = g_get_monotonic_time() + (gint64)seconds * G_USEC_PER_SEC;
  g_thread_unref(g_thread_new("ptp-init", init_ptp, &init));
  g_mutex_lock(&init.lock);
  while (!init.is_done && g_cond_wait_until(&init.done, &init.lock, end))
    ;
  const gboolean is_good = init.is_done && init.is_good;
  g_mutex_unlock(&init.lock);
  return is_good;
}

static GstClock *new_ptp_clock(guint64 domain, gboolean is_quiet, char **trouble)
{
  guint64 seconds, master = 0;
  if (!read_wait(&seconds, trouble))
    return NULL;
  if (!init_ptp_within(seconds)) {
    *trouble = g_strdup_printf("--clock=ptp:%" G_GUINT64_FORMAT
                               ": PTP cannot be used here: GStreamer's gst-ptp-helper is not "
                               "installed, does not answer, or may not open UDP ports 319 and "
                               "320, or there is no network; GST_DEBUG=ptp:5 says more",
                               domain);
    return NULL;
  }
  if (!is_quiet)
    fprintf(stderr,
            "waiting for a PTP master of domain %" G_GUINT64_FORMAT ", at most %" G_GUINT64_FORMAT
            " s\n",
            domain, seconds);
  g_autoptr(GstClock) clock = gst_ptp_clock_new("ptp", (guint)domain);
  if (!clock || !gst_clock_wait_for_sync(clock, seconds * GST_SECOND)) {
    *trouble = g_strdup_printf("--clock=ptp:%" G_GUINT64_FORMAT
                               ": no PTP master gave the time within %" G_GUINT64_FORMAT " s: "
                               "expected one on the network in domain %" G_GUINT64_FORMAT
                               " (%s sets how long to wait)",
                               domain, seconds, domain, ASTRO_CLOCK_WAIT_VARIABLE);
    return NULL;
  }
  g_object_get(clock, "master-clock-id", &master, NULL);
  if (!is_quiet)
    fprintf(stderr, "clock: PTP domain %" G_GUINT64_FORMAT ", master %016" G_GINT64_MODIFIER "x\n",
            domain, master);
  return g_steal_pointer(&clock);
}

static GstClock *new_clock(const char *name, gboolean is_quiet, char **trouble)
{
  guint64 domain;
  if (read_domain(name, &domain))
    return new_ptp_clock(domain, is_quiet, trouble);
  const GstClockType type =
      g_str_equal(name, "realtime") ? GST_CLOCK_TYPE_REALTIME : GST_CLOCK_TYPE_MONOTONIC;
  return gst_object_ref_sink(
      g_object_new(GST_TYPE_SYSTEM_CLOCK, "name", name, "clock-type", type, NULL));
}

char *astro_clock_set(GstElement *pipeline, const char *name, gboolean is_quiet)
{
  char *trouble = NULL;
  g_autoptr(GstClock) clock = new_clock(name, is_quiet, &trouble);
  if (clock)
    gst_pipeline_use_clock(GST_PIPELINE(pipeline), clock);
  return trouble;
}

/* Without this the helper program would print that it lost us. */
void astro_clock_release(void)
{
  if (gst_ptp_is_initialized())
    gst_ptp_deinit();
}
