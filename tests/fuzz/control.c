/* Requests to the control of a run: a method, a path and a body, from any bytes. */
#include "graphs/control-parts.h"

#include <stdlib.h>
#include <string.h>

static AstroRunState now;

static AstroRunTold tell(gpointer data)
{
  return (AstroRunTold){ now, 1, 1, 0 };
}

static void start(gpointer data)
{
  now = ASTRO_RUN_PLAYS;
}

static void stop(gpointer data)
{
  now = ASTRO_RUN_RESTS;
}

static AstroControlState *begin(void)
{
  static AstroControlled controlled = { NULL, "fuzz", NULL, tell, start, stop };
  static AstroControlState state = { &controlled, NULL, NULL, NULL };
  if (!state.counts) {
    gst_init(NULL, NULL);
    controlled.pipeline = gst_object_ref_sink(
        gst_parse_launch("fakesrc name=a ! queue name=q ! identity name=i ! fakesink", NULL));
    state.counts = astro_counts_new(controlled.pipeline);
    state.usage = astro_usage_new("/nowhere");
    state.glimpse = astro_glimpse_new();
  }
  return &state;
}

/* The first byte says how a request comes; a line is its path, and the rest its body. */
int LLVMFuzzerTestOneInput(const guint8 *data, gsize size)
{
  static const char *const methods[] = { "GET", "PUT", "POST", "HEAD", "DELETE" };
  const AstroControlState *state = begin();
  if (size < 2 || size > ASTRO_CONTROL_MOST_BODY)
    return 0;
  const char *line = (const char *)data + 1;
  const char *end = memchr(line, '\n', size - 1);
  const gsize n = end ? (gsize)(end - line) : size - 1;
  g_autofree char *path = g_strndup(line, n);
  now = data[0] & 64 ? ASTRO_RUN_RESTS : ASTRO_RUN_PLAYS;
  const AstroAsked asked = { methods[data[0] % G_N_ELEMENTS(methods)], path,
                             end ? end + 1 : line + n, size - 1 - n - (end != NULL),
                             (data[0] & 128) != 0 };
  const AstroAnswer answer = astro_control_answer(state, &asked);
  if (answer.status < 200 || answer.status > 503 || answer.text->len == 0 ||
      !g_utf8_validate(answer.text->str, (gssize)answer.text->len, NULL))
    abort();
  g_string_free(answer.text, TRUE);
  return 0;
}
