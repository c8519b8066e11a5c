/* Delays: samples of all inputs together a second, compared with copying as many. */
#include "core/backend/threads.h"
#include "core/delay/delay.h"
#include "core/lib/sky/array.h"
#include "tests/bench/bench.h"
#include <string.h>

#define AHEAD 4096 /* samples put in before the first one comes out */

typedef struct {
  gpointer instance;
  AstroBlock in, out;
  AstroDelayArguments arguments;
} Case;

static void work(gpointer data)
{
  Case *c = data;
  astro_delay_cpu.submit(c->instance, &c->in, 1, &c->out, 1, &c->arguments, NULL, NULL);
  c->arguments.first += c->arguments.steps;
  c->arguments.out_first += c->arguments.out_steps;
}

static void copy_part(gpointer data, guint64 task)
{
  Case *c = data;
  gsize part = MIN(c->in.bytes, c->out.bytes) / 16;
  memcpy((char *)c->out.data + task * part, (char *)c->in.data + task * part, part);
}

static void copy(gpointer data)
{
  astro_parallel(16, 0, copy_part, data);
}

int main(int argc, char **argv)
{
  static const struct {
    const char *layout, *format;
    guint channels, steps;
  } cases[] = {
    { "time:station:pol", "CI8", 0, 32768 },
    { "station:pol:time", "CI8", 0, 32768 },
    { "station:pol:time", "I8", 0, 65536 },
    { "station:pol:time:channel", "CF32LE", 1024, 64 },
    { "station:pol:time:channel", "CI8", 1024, 64 },
    { "channel:time:station:pol", "CI8", 1024, 64 },
  };
  gst_init(&argc, &argv);
  bench_head("astrodelay, 64 stations, 2 pols, 100 MHz, both cores; limit: copying the same bytes");
  for (guint i = 0; i < G_N_ELEMENTS(cases); i++) {
    g_autoptr(AstroObservation) observation = astro_array_new("disc", 64, NULL, NULL);
    AstroDelayConfig config = { 0 };
    g_autofree char *caps_text = g_strdup_printf(
        "application/x-astro-%s,format=%s,layout=%s,stations=64,pols=2,channels=%u,rate=%u/%u,"
        "frequency=1.4e9,bandwidth=1e8",
        cases[i].channels ? "spectra" : "voltages", cases[i].format, cases[i].layout,
        cases[i].channels, cases[i].format[0] == 'C' ? 100000000 : 200000000,
        MAX(cases[i].channels, 1));
    g_autoptr(GstCaps) caps = gst_caps_from_string(caps_text);
    AstroPlace place = { 0 };
    const char *variant;
    double seconds, copy_seconds;
    astro_observation_set_start(observation, "2026-11-20T12:00:00", NULL);
    observation->has_phase_centre = TRUE;
    if (!astro_stream_from_caps(&config.in, caps, NULL))
      return 1;
    config.out = config.in;
    gsize bytes = cases[i].steps * astro_stream_step_bytes(&config.in);
    Case c = { .instance = astro_delay_cpu.create(&config, &place, &variant, NULL),
               .in = { g_malloc0(bytes), bytes },
               .out = { g_malloc0(bytes), bytes },
               .arguments = { .model = astro_delay_model_new(observation, TRUE, 2, NULL, NULL),
                              .steps = AHEAD,
                              .restart = TRUE } };
    /* Voltages come out later than they go in, so the first call has no output. */
    if (!cases[i].channels)
      astro_delay_cpu.submit(c.instance, NULL, 0, NULL, 0, &c.arguments, NULL, NULL);
    c.arguments.restart = FALSE;
    c.arguments.first = AHEAD;
    c.arguments.steps = c.arguments.out_steps = cases[i].steps;
    bench_pair(work, &c, copy, &c, 7, &seconds, &copy_seconds);
    double samples = (double)bytes / astro_format_info(config.in.format)->bytes / 1e6;
    g_autofree char *what = g_strdup_printf("%s %s", cases[i].format, cases[i].layout);
    bench_row(what, samples / seconds, samples / copy_seconds, "Msamp/s", 0);
    astro_delay_cpu.destroy(c.instance);
    astro_delay_model_free(c.arguments.model);
    g_free(c.in.data);
    g_free(c.out.data);
  }
  return 0;
}
