/* The simulator: samples of all stations together that it makes in a second, compared with copying
 * as many. */
#include "core/backend/threads.h"
#include "core/lib/sky/voltages.h"
#include "tests/bench/bench.h"
#include "tests/observe.h"
#include <string.h>

#define STEPS 65536

typedef struct {
  AstroVoltages *voltages;
  guint64 next;
  gpointer block, other;
  gsize bytes;
} Case;

static void make(gpointer data)
{
  Case *c = data;
  astro_voltages_fill(c->voltages, c->next, STEPS, c->block);
  c->next += STEPS;
}

static void copy_part(gpointer data, guint64 task)
{
  Case *c = data;
  gsize part = c->bytes / 16;
  memcpy((char *)c->other + task * part, (char *)c->block + task * part, part);
}

static void copy(gpointer data)
{
  astro_parallel(16, 0, copy_part, data);
}

int main(int argc, char **argv)
{
  static const struct {
    guint stations, pols, sources;
    AstroFormat format;
    const char *words; /* behind each source */
  } cases[] = { { 8, 1, 3, ASTRO_FORMAT_CI8 },
                { 8, 2, 3, ASTRO_FORMAT_CI8 },
                { 64, 2, 3, ASTRO_FORMAT_CI8 },
                { 64, 2, 0, ASTRO_FORMAT_CI8 },
                { 32, 2, 30, ASTRO_FORMAT_CI8 },
                { 8, 2, 3, ASTRO_FORMAT_I8 },
                { 64, 2, 3, ASTRO_FORMAT_I8 },
                { 8, 2, 3, ASTRO_FORMAT_CI8, ",q=0.5,rm=10" },
                { 64, 2, 3, ASTRO_FORMAT_CI8, ",q=0.5,line=1.4e9:1e6:1" } };
  gst_init(&argc, &argv);
  bench_head("astroskysrc, time:station:pol, 100 MHz, both cores; limit: copying the same bytes");
  for (guint i = 0; i < G_N_ELEMENTS(cases); i++) {
    AstroObservation *observation = test_observe("disc", cases[i].stations);
    double copy_seconds, make_seconds;
    GString *text = g_string_new("");
    for (guint s = 0; s < cases[i].sources; s++)
      g_string_append_printf(text, "%g,%g,1%s;", 0.01 * s, 0.003 * s * s / (1 + s),
                             cases[i].words ? cases[i].words : "");
    AstroSky *sky = astro_sky_new(text->str, NULL);
    astro_sky_resolve(sky, observation, NULL);
    const AstroFormatInfo *format = astro_format_info(cases[i].format);
    AstroVoltagesConfig config = {
      .observation = observation,
      .sky = sky,
      .noise = 10,
      .stream = { .quantity = ASTRO_QUANTITY_VOLTAGES,
                  .format = cases[i].format,
                  .rate_n = format->is_complex ? 100000000 : 200000000,
                  .rate_d = 1,
                  .frequency = 1.4e9,
                  .bandwidth = 100e6 },
    };
    astro_layout_parse(&config.stream.layout, "time:station:pol", ASTRO_QUANTITY_VOLTAGES, NULL);
    config.stream.layout.extents[1] = cases[i].stations;
    config.stream.layout.extents[2] = cases[i].pols;
    gsize samples = (gsize)STEPS * cases[i].stations * cases[i].pols;
    Case c = { .voltages = astro_voltages_new(&config, NULL), .bytes = format->bytes * samples };
    c.block = g_malloc0(c.bytes);
    c.other = g_malloc0(c.bytes);
    bench_pair(make, &c, copy, &c, 5, &make_seconds, &copy_seconds);
    g_autofree char *what =
        g_strdup_printf("%s, %u stations, %u pols, %u sources%s", format->name, cases[i].stations,
                        cases[i].pols, cases[i].sources, cases[i].words ? cases[i].words : "");
    bench_row(what, samples / make_seconds / 1e6, samples / copy_seconds / 1e6, "Msamp/s", 0);
    astro_voltages_free(c.voltages);
    astro_sky_free(sky);
    astro_observation_unref(observation);
    g_free(c.block);
    g_free(c.other);
    g_string_free(text, TRUE);
  }
  return 0;
}
