/* The speed of convert, compared with memcpy of as many bytes on as many threads. */
#include "core/backend/threads.h"
#include "core/convert/convert.h"
#include "tests/bench/bench.h"

#include <string.h>

#define BLOCK_BYTES ((gsize)64 << 20)
#define COPY_BYTES ((gsize)1 << 18) /* bytes for one task of the copy */

typedef struct {
  const AstroBackend *backend;
  gpointer instance;
  AstroBlock in, out;
  AstroConvertArguments arguments;
} Conversion;

typedef struct {
  guint8 *out;
  const guint8 *in;
  gsize bytes;
} Copy;

static void run_conversion(gpointer data)
{
  Conversion *conversion = data;
  GError *error = NULL;
  if (!conversion->backend->submit(conversion->instance, &conversion->in, 1, &conversion->out, 1,
                                   &conversion->arguments, NULL, &error))
    g_error("%s", error->message);
}

static void copy_task(gpointer data, guint64 task)
{
  Copy *copy = data;
  gsize first = task * COPY_BYTES;
  memcpy(copy->out + first, copy->in + first, MIN(COPY_BYTES, copy->bytes - first));
}

static void run_copy(gpointer data)
{
  Copy *copy = data;
  astro_parallel((copy->bytes + COPY_BYTES - 1) / COPY_BYTES, 0, copy_task, copy);
}

static void *in, *out; /* large enough for all cases */

/* wanted > 0: the smaller of the two blocks has BLOCK_BYTES; otherwise both together have twice
 * that. */
static void bench(AstroFormat from, AstroFormat to, double scale, guint rounds, double wanted)
{
  const AstroFormatInfo *a = astro_format_info(from), *b = astro_format_info(to);
  guint64 samples =
      wanted > 0 ? BLOCK_BYTES / MIN(a->bytes, b->bytes) : 2 * BLOCK_BYTES / (a->bytes + b->bytes);
  gsize bytes = samples * (a->bytes + b->bytes);
  AstroConvertConfig config = { from, to };
  const char *variant;
  Conversion conversion = {
    .backend = &astro_convert_cpu,
    .instance = astro_convert_cpu.create(&config, &(AstroPlace){ 0 }, &variant, NULL),
    .in = { in, samples * a->bytes },
    .out = { out, samples * b->bytes },
    .arguments = { scale, samples },
  };
  Copy copy = { out, in, bytes / 2 };
  double seconds, copy_seconds;
  bench_pair(run_conversion, &conversion, run_copy, &copy, rounds, &seconds, &copy_seconds);
  astro_convert_cpu.destroy(conversion.instance);
  char *what = g_strdup_printf("%s to %s, scale %g (cpu/%s)", a->name, b->name, scale, variant);
  bench_row(what, bytes * 1e-9 / seconds, bytes * 1e-9 / copy_seconds, "GB/s", wanted);
  g_free(what);
}

/* Fills in components of typical size for the formats; the same bytes are ordinary floats. */
static void fill(void)
{
  guint32 *words = in, state = 1;
  for (gsize i = 0; i < 5 * BLOCK_BYTES / sizeof *words; i++) {
    state = state * 1664525 + 1013904223;
    words[i] = (state >> 4 & 0x0fffffff) | 0x30000000;
  }
}

int main(void)
{
  gsize bytes = 5 * BLOCK_BYTES;
  in = g_aligned_alloc(1, bytes, 4096);
  out = g_aligned_alloc(1, bytes, 4096);
  fill();
  memset(out, 1, bytes);

  printf("bytes read and written; limit: memcpy of as many on as many threads (%u)\n",
         astro_threads());
  bench_head("convert: blocks of 64 MiB and more");
  bench(ASTRO_FORMAT_CI8, ASTRO_FORMAT_CF32LE, 1, 7, 0.7);
  bench(ASTRO_FORMAT_CI8, ASTRO_FORMAT_CF32LE, 0.01, 7, 0.7);
  bench(ASTRO_FORMAT_CF32LE, ASTRO_FORMAT_CI8, 1, 7, 0.7);
  bench(ASTRO_FORMAT_CF32LE, ASTRO_FORMAT_CI8, 100, 7, 0.7);
  bench(ASTRO_FORMAT_CI4, ASTRO_FORMAT_CI8, 1, 7, 0.7);
  bench(ASTRO_FORMAT_CI4, ASTRO_FORMAT_CI8, 16, 7, 0.7);

  bench_head("convert: all pairs, 128 MiB read and written");
  for (AstroFormat from = ASTRO_FORMAT_CI4; from < ASTRO_N_FORMATS; from++)
    for (AstroFormat to = ASTRO_FORMAT_CI4; to < ASTRO_N_FORMATS; to++)
      if (astro_convert_possible(from, to))
        bench(from, to, 3.7, 3, 0);
  g_aligned_free(in);
  g_aligned_free(out);
  return 0;
}
