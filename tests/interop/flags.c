/* flags make PLANES SEED: writes planes of simulated visibilities with interference,
 * [row][channel], for AOFlagger; another seed makes another noise. flags compare PLANES FLAGS
 * SECONDS: flags them as astroflag does, at the threshold that has as many false alarms in noise as
 * AOFlagger had, and fails if it then finds less of any kind of interference. */
#include "core/flag/flag.h"
#include "tests/core/flag/flag.h"

#include <stdio.h>

#define ROWS 128
#define CHANNELS 256
#define NOISE 60   /* planes of noise, */
#define EACH 6     /* and of each kind of interference */
#define WORSE 0.01 /* of the values: what counting leaves open */

/* Amplitudes beside a noise of unit power, in planes of each kind: steady tones, tones now and
 * then, a band that drifts, pulses over the whole band, and single values. */
static double no_rfi(guint t, guint c)
{
  return 0;
}

static double steady(guint t, guint c)
{
  return c % 40 == 11 ? 1.2 : 0;
}

static double now_and_then(guint t, guint c)
{
  return c % 32 == 5 && t / 8 % 4 == 1 ? 2.5 : 0;
}

static double drifting(guint t, guint c)
{
  const guint middle = 40 + t;
  return c + 3 >= middle && c <= middle + 3 ? 3 : 0;
}

static double pulses(guint t, guint c)
{
  return t % 31 == 7 ? 1.5 : 0;
}

static double single(guint t, guint c)
{
  return t % 16 == 3 && c % 16 == 9 ? 5 : 0;
}

static const struct {
  const char *name;
  double (*amplitude)(guint t, guint c);
} kinds[] = { { "noise", no_rfi },       { "steady tones", steady },
              { "tones", now_and_then }, { "a drifting band", drifting },
              { "pulses", pulses },      { "single values", single } };

#define PLANES (NOISE + EACH * (G_N_ELEMENTS(kinds) - 1))
#define VALUES ((gsize)ROWS * CHANNELS)

/* Noise is first. */
static guint kind_of(guint plane)
{
  return plane < NOISE ? 0 : 1 + (plane - NOISE) / EACH;
}

static int make(const char *path, guint32 seed)
{
  g_autoptr(GRand) rand = g_rand_new_with_seed(seed);
  FILE *out = fopen(path, "wb");
  for (guint p = 0; out && p < PLANES; p++)
    for (guint t = 0; t < ROWS; t++)
      for (guint c = 0; c < CHANNELS; c++) {
        const double amplitude = kinds[kind_of(p)].amplitude(t, c),
                     phase = g_rand_double_range(rand, 0, 2 * G_PI);
        float value[2];
        test_flag_noise(rand, value);
        value[0] += (float)(amplitude * cos(phase));
        value[1] += (float)(amplitude * sin(phase));
        if (fwrite(value, sizeof value, 1, out) != 1)
          return 1;
      }
  return !out || fclose(out) != 0;
}

/* The same values as a block of a stream: a plane is a baseline. */
static float *to_stream(const float *planes)
{
  float *stream = g_new(float, 2 * VALUES * PLANES);
  for (gsize p = 0; p < PLANES; p++)
    for (gsize i = 0; i < VALUES; i++)
      memcpy(stream + 2 * (i * PLANES + p), planes + 2 * (p * VALUES + i), 2 * sizeof(float));
  return stream;
}

/* Flags of [row][plane][channel], and the seconds that they took. */
static guint8 *flag(const float *stream, double threshold, double *seconds)
{
  g_autofree char *layout =
      g_strdup_printf("channel=%u:baseline=%u:pol=1:pol=1", CHANNELS, (guint)PLANES);
  AstroFlagConfig config = test_flag_config(ASTRO_FLAG_THRESHOLD, ASTRO_QUANTITY_VISIBILITIES,
                                            ASTRO_FORMAT_CF32LE, layout);
  config.threshold = threshold;
  config.block = ROWS;
  gpointer instance = test_flag_new(&astro_flag_cpu, &config, 0);
  const gint64 start = g_get_monotonic_time();
  guint8 *flags = test_flag_block(&astro_flag_cpu, instance, &config, stream, ROWS, NULL);
  *seconds = (double)(g_get_monotonic_time() - start) / G_USEC_PER_SEC;
  astro_flag_cpu.destroy(instance);
  return flags;
}

/* Parts of the values of a kind that are flagged: of those with interference, and of the others. */
typedef struct {
  double hit, other;
} Found;

static Found count(const guint8 *flags, guint kind, gboolean is_ours)
{
  gsize n[2] = { 0 }, bad[2] = { 0 };
  for (guint p = 0; p < PLANES; p++)
    for (guint t = 0; t < ROWS && kind_of(p) == kind; t++)
      for (guint c = 0; c < CHANNELS; c++) {
        const gboolean is_hit = kinds[kind].amplitude(t, c) > 0;
        n[is_hit]++;
        bad[is_hit] += is_ours ? flags[((gsize)t * PLANES + p) * CHANNELS + c] >> 1 & 1
                               : flags[(p * VALUES) + (gsize)t * CHANNELS + c];
      }
  return (Found){ n[1] ? (double)bad[1] / (double)n[1] : 0, (double)bad[0] / (double)n[0] };
}

/* False alarms fall as the threshold rises. */
static guint8 *flag_as_often(const float *stream, double false_alarms, double *threshold,
                             double *seconds)
{
  double low = 2, high = 12;
  for (guint i = 0; i < 12; i++) {
    *threshold = (low + high) / 2;
    guint8 *flags = flag(stream, *threshold, seconds);
    if (count(flags, 0, TRUE).other > false_alarms)
      low = *threshold;
    else
      high = *threshold;
    test_free(flags);
  }
  *threshold = high;
  return flag(stream, high, seconds);
}

static int compare(const char *planes, const char *flags, double their_seconds)
{
  g_autofree char *values = NULL, *theirs = NULL;
  gsize bytes, n;
  double threshold, seconds;
  int worse = 0;
  if (!g_file_get_contents(planes, &values, &bytes, NULL) ||
      !g_file_get_contents(flags, &theirs, &n, NULL) || n != PLANES * VALUES)
    return 1;
  g_autofree float *stream = to_stream((const float *)(gpointer)values);
  const double alarms = count((const guint8 *)theirs, 0, FALSE).other;
  guint8 *ours = flag_as_often(stream, alarms, &threshold, &seconds);
  printf("false alarms in noise: AOFlagger %.4f %%, astroflag %.4f %% at threshold=%.2f\n",
         100 * alarms, 100 * count(ours, 0, TRUE).other, threshold);
  printf("seconds for %u planes of %u steps by %u channels: AOFlagger %.3f on one core, astroflag "
         "%.3f on %u\n",
         (guint)PLANES, ROWS, CHANNELS, their_seconds, seconds, astro_threads());
  for (guint kind = 1; kind < G_N_ELEMENTS(kinds); kind++) {
    const Found a = count((const guint8 *)theirs, kind, FALSE), b = count(ours, kind, TRUE);
    printf("%-16s found: AOFlagger %5.1f %%, astroflag %5.1f %%; others flagged: %.2f %%, %.2f "
           "%%\n",
           kinds[kind].name, 100 * a.hit, 100 * b.hit, 100 * a.other, 100 * b.other);
    worse |= b.hit < a.hit - WORSE;
  }
  test_free(ours);
  return worse;
}

int main(int argc, char **argv)
{
  gst_init(&argc, &argv);
  if (argc == 4 && g_str_equal(argv[1], "make"))
    return make(argv[2], (guint32)g_ascii_strtoull(argv[3], NULL, 10));
  if (argc == 5 && g_str_equal(argv[1], "compare"))
    return compare(argv[2], argv[3], g_ascii_strtod(argv[4], NULL));
  return 2;
}
