/* The window of the latest samples of all inputs. */
#include "config.h"
#include "core/delay/instance.h"

#include <string.h>

static gsize row_bytes(const AstroDelayInstance *instance)
{
  return instance->window.capacity * instance->in_format->bytes;
}

static guint8 *window_at(const AstroDelayInstance *instance, guint input, gint64 sample)
{
  return instance->window.samples + input * row_bytes(instance) +
         (gsize)(sample - instance->window.start) * instance->in_format->bytes;
}

const guint8 *astro_delay_window_at(const AstroDelayInstance *instance, guint input, gint64 sample)
{
  return window_at(instance, input, sample);
}

/* Makes room for length samples and keeps those from sample keep on. */
static gboolean make_room(AstroDelayInstance *instance, gint64 keep, gsize length, GError **error)
{
  AstroDelayWindow *window = &instance->window, old = *window;
  const guint inputs = instance->stations * instance->pols;
  const gsize sample = instance->in_format->bytes;
  gsize dropped = (gsize)CLAMP(keep - window->start, 0, (gint64)window->length), bytes;
  if (length > window->capacity) {
    gsize capacity = length + length / 4;
    if (!g_size_checked_mul(&bytes, capacity, sample * inputs) ||
        !(window->samples = g_try_malloc(bytes))) {
      window->samples = old.samples;
      return astro_backend_no_memory(
          error, "no memory for %" G_GSIZE_FORMAT " samples of %u inputs", capacity, inputs);
    }
    window->capacity = capacity;
  }
  window->start += (gint64)dropped;
  window->length -= dropped;
  for (guint input = 0; window->length && input < inputs; input++)
    memmove(window_at(instance, input, window->start),
            old.samples + (input * old.capacity + dropped) * sample, window->length * sample);
  if (window->samples != old.samples)
    g_free(old.samples);
  return TRUE;
}

gboolean astro_delay_window_append(AstroDelayInstance *instance, const guint8 *in, gsize n,
                                   gint64 keep, GError **error)
{
  AstroDelayWindow *window = &instance->window;
  gsize kept = window->length - (gsize)CLAMP(keep - window->start, 0, (gint64)window->length);
  if (!make_room(instance, keep, kept + n, error))
    return FALSE;
  gint64 at = window->start + (gint64)window->length;
  window->length += n;
  if (in && n > 0) {
    AstroDelayRows from = { .data = (guint8 *)in };
    const AstroDelayRows to = {
      window_at(instance, 0, at),
      { .time = 1, .station = instance->pols * window->capacity, .pol = window->capacity }
    };
    astro_delay_strides(&instance->config.in, n, &from.strides);
    astro_delay_move(&instance->config.in, n, &to, &from, instance->threads);
  }
  for (guint input = 0; !in && input < instance->stations * instance->pols; input++)
    memset(window_at(instance, input, at), 0, n * instance->in_format->bytes);
  return TRUE;
}
