/* Figures as JSON, a line each: what was achieved beside its limit, the energy that GPUs took since
 * the figure before, their clocks now, the driver and the commit. $ASTRO_BENCH_JSON is the file to
 * which lines are added; make bench-gpu sets it and makes one list of all lines. */
#pragma once

#include "core/machine/nvml.h"

#include <math.h>
#include <stdio.h>

#define BENCH_MOST_GPUS 16

typedef struct {
  AstroNvml *nvml; /* NULL: there is none */
  guint n;
  double joules[BENCH_MOST_GPUS]; /* at the figure before; negative: not counted */
  gint64 time;
  const char *table;
} BenchRecorder;

static inline void bench_mark(BenchRecorder *recorder)
{
  recorder->time = g_get_monotonic_time();
  for (guint i = 0; i < recorder->n; i++)
    if (!astro_nvml_energy(recorder->nvml, i, &recorder->joules[i]))
      recorder->joules[i] = -1;
}

static inline BenchRecorder *bench_recorder(void)
{
  static BenchRecorder recorder;
  if (recorder.time == 0) {
    recorder.nvml = astro_nvml_open(NULL);
    recorder.n = recorder.nvml ? MIN(astro_nvml_count(recorder.nvml), BENCH_MOST_GPUS) : 0;
    bench_mark(&recorder);
  }
  return &recorder;
}

static inline void bench_add_text(GString *line, const char *name, const char *text)
{
  g_string_append_printf(line, "\"%s\":\"", name);
  for (const char *c = text ? text : ""; *c; c++) {
    if (*c == '"' || *c == '\\')
      g_string_append_c(line, '\\');
    if ((guchar)*c >= ' ')
      g_string_append_c(line, *c);
  }
  g_string_append_c(line, '"');
}

/* null: there is none. */
static inline void bench_add_number(GString *line, const char *name, double number)
{
  char text[G_ASCII_DTOSTR_BUF_SIZE];
  g_string_append_printf(line, "\"%s\":%s", name,
                         isfinite(number) ? g_ascii_formatd(text, sizeof text, "%.6g", number)
                                          : "null");
}

static inline void bench_add_gpu(GString *line, const BenchRecorder *recorder, guint gpu)
{
  guint multiprocessors, memory;
  double now;
  const gboolean counts =
      recorder->joules[gpu] >= 0 && astro_nvml_energy(recorder->nvml, gpu, &now);
  g_autofree char *name = astro_nvml_name(recorder->nvml, gpu);
  astro_nvml_clocks(recorder->nvml, gpu, &multiprocessors, &memory);
  g_string_append(line, gpu > 0 ? ",{" : "{");
  bench_add_text(line, "device", name);
  g_string_append_c(line, ',');
  bench_add_number(line, "joules", counts ? now - recorder->joules[gpu] : NAN);
  g_string_append_printf(line, ",\"clock-mhz\":%u,\"memory-clock-mhz\":%u}", multiprocessors,
                         memory);
}

static inline char *bench_line(const BenchRecorder *recorder, const char *what, double achieved,
                               double limit, const char *unit, double wanted)
{
  const struct {
    const char *name;
    double number;
  } numbers[] = {
    { "achieved", achieved },
    { "limit", limit },
    { "ratio", achieved / limit },
    { "asked", wanted > 0 ? wanted : NAN },
    { "seconds", (double)(g_get_monotonic_time() - recorder->time) * 1e-6 },
  };
  g_autofree char *driver = recorder->nvml ? astro_nvml_driver(recorder->nvml) : NULL;
  const char *const texts[][2] = { { "table", recorder->table },
                                   { "figure", what },
                                   { "unit", unit },
                                   { "driver", driver },
                                   { "commit", g_getenv("ASTRO_COMMIT") } };
  GString *line = g_string_new("{");
  for (guint i = 0; i < G_N_ELEMENTS(texts); i++) {
    bench_add_text(line, texts[i][0], texts[i][1]);
    g_string_append_c(line, ',');
  }
  for (guint i = 0; i < G_N_ELEMENTS(numbers); i++) {
    bench_add_number(line, numbers[i].name, numbers[i].number);
    g_string_append_c(line, ',');
  }
  g_string_append(line, "\"gpus\":[");
  for (guint i = 0; i < recorder->n; i++)
    bench_add_gpu(line, recorder, i);
  g_string_append(line, "]}\n");
  return g_string_free(line, FALSE);
}

static inline void bench_record(const char *what, double achieved, double limit, const char *unit,
                                double wanted)
{
  const char *path = g_getenv("ASTRO_BENCH_JSON");
  if (!path || !*path)
    return;
  BenchRecorder *recorder = bench_recorder();
  g_autofree char *line = bench_line(recorder, what, achieved, limit, unit, wanted);
  FILE *file = fopen(path, "a");
  if (!file || fputs(line, file) < 0 || fclose(file) != 0)
    g_error("%s: the figure %s cannot be written", path, what);
  bench_mark(recorder);
}

/* The figures that follow are of this table, and their energy counts from here. */
static inline void bench_record_table(const char *title)
{
  const char *path = g_getenv("ASTRO_BENCH_JSON");
  if (!path || !*path)
    return;
  bench_recorder()->table = g_intern_string(title);
  bench_mark(bench_recorder());
}
