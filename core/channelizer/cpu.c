/* The CPU backend. A task makes a group of spectra of one input: it converts samples to single
 * precision, filters them, runs FFTW, and converts to the output format, each step while its input
 * is still in the core's cache. */
#include "config.h"
#include "core/channelizer/check.h"
#include "core/channelizer/fir.h"
#include "core/channelizer/stretch.h"

#include <fftw3.h>
#include <string.h>

#include "core/backend/cpu.h"
#include "core/backend/scratch.h"
#include "core/backend/threads.h"
#include "core/lib/fft/planner.h"

/* Size of a group's filtered samples: it has as many spectra as fit in this, within limits. */
#define GROUP_BYTES (256 * 1024)
#define MOST_SPECTRA 512
#define LEAST_SPECTRA 4
/* Samples are converted to single precision in strips of this many values. */
#define STRIP_FLOATS 4096
/* Rows at a distance of a multiple of this many floats would compete for few lines of the L1 cache.
 */
#define ALIAS_FLOATS 1024
#define LINE_FLOATS 16
/* Small transforms are done in batches of about this many samples. */
#define BATCH_SAMPLES 512
/* Larger output blocks are written past the caches: they would not stay there, and writing a line
 * without reading it first saves memory traffic. */
#define STREAM_BYTES ((gsize)4 << 20)
#define STREAM_ALIGNMENT 64
/* Alignment that FFTW's plans need. */
#define PLAN_ALIGNMENT 16
/* Limit in seconds: measuring transforms of large primes would take longer. */
#define PLANNING_TIME 2.0

static const struct {
  AstroVariant variant;
  AstroFir fir;
  AstroConvertCopy copy; /* NULL if there is no copy past the caches */
} variants[] = {
#ifdef ASTRO_X86_KERNELS
  { { "avx512", ASTRO_CPU_AVX512 }, astro_fir_avx512, astro_convert_copy_avx512 },
  { { "avx2", ASTRO_CPU_AVX2 }, astro_fir_avx2, astro_convert_copy_avx2 },
#endif
  { { "c", ASTRO_CPU_C }, astro_fir_c },
};

typedef struct {
  AstroChannelizerConfig config;
  guint coarse; /* input channels */
  guint threads;
  AstroFir fir;
  AstroConvertCopy copy;
  AstroStretch stretch;
  AstroSamples to;     /* converts from CF32LE */
  float *gains;        /* for each bin's components; NULL: 1 */
  float *weights;      /* [tap][sample], with equal values for both components */
  guint components;    /* per sample */
  guint64 step, split; /* samples of a row before split go to the end of the transform */
  guint batch, group;  /* spectra per plan and per task; both are counted from spectrum 0 */
  guint bins;          /* per transform */
  fftwf_plan plan;

  /* Strides and sizes in floats. */
  gsize filtered_stride, strip_stride, filtered_floats, strip_floats, bins_floats;
  gboolean direct;     /* FFTW writes the output directly */
  AstroScratch *rooms; /* scratch memory of tasks: filtered samples, a strip, bins */
} Cpu;

static gboolean is_real(const Cpu *cpu)
{
  return cpu->components == 1;
}

/* Multiplying every second sample by -1 shifts the band by half its width, so that an even number
 * of channels comes out ascending. */
static void set_weights(Cpu *cpu)
{
  guint64 span = astro_channelizer_span(&cpu->config);
  g_autofree double *weights = g_new(double, span);
  gboolean shifts = !is_real(cpu) && cpu->config.channels % 2 == 0;

  astro_channelizer_weights(&cpu->config, weights);
  cpu->weights = g_aligned_alloc(span * cpu->components, sizeof(float), 64);
  for (guint64 i = 0; i < span; i++) {
    guint64 place = (i % cpu->step + cpu->step - cpu->split) % cpu->step;
    for (guint c = 0; c < cpu->components; c++)
      cpu->weights[i * cpu->components + c] =
          (float)(shifts && place % 2 ? -weights[i] : weights[i]);
  }
}

/* Assigns gains to bins. If samples are not shifted, channels below the centre of the band are in
 * the last bins. */
static void set_gains(Cpu *cpu)
{
  guint channels = cpu->config.channels;
  guint below = !is_real(cpu) && channels % 2 ? channels / 2 : 0;

  if (!cpu->config.gains)
    return;
  cpu->gains = g_new0(float, 2 * (gsize)cpu->bins);
  for (guint k = 0; k < channels; k++) {
    guint bin = k < below ? channels - below + k : k - below;
    cpu->gains[2 * bin] = cpu->gains[2 * bin + 1] = cpu->config.gains[k];
  }
}

static gsize whole_lines(gsize floats)
{
  return (floats + LINE_FLOATS - 1) / LINE_FLOATS * LINE_FLOATS;
}

static void set_sizes(Cpu *cpu)
{
  cpu->step = astro_channelizer_step(&cpu->config);
  gsize width = cpu->step * cpu->components;
  /* A row's samples begin at index -lead; those at multiples of step come to the front. */
  cpu->split = astro_channelizer_lead(&cpu->config) % cpu->step;
  cpu->batch = 1;
  while (cpu->batch * 2 * cpu->step <= BATCH_SAMPLES)
    cpu->batch *= 2;
  guint64 fits = GROUP_BYTES / (width * sizeof(float));
  cpu->group = (guint)CLAMP(fits, LEAST_SPECTRA, MOST_SPECTRA);
  cpu->group = (cpu->group + cpu->batch - 1) / cpu->batch * cpu->batch;

  cpu->filtered_stride = whole_lines(width);
  if (cpu->filtered_stride % ALIAS_FLOATS == 0)
    cpu->filtered_stride += LINE_FLOATS;
  cpu->filtered_floats = cpu->group * cpu->filtered_stride;
  cpu->strip_stride = width <= STRIP_FLOATS ? width : STRIP_FLOATS;
  if (cpu->strip_stride % ALIAS_FLOATS == 0)
    cpu->strip_stride += LINE_FLOATS;
  cpu->strip_floats = whole_lines((cpu->group + cpu->config.taps) * cpu->strip_stride);
  cpu->bins = is_real(cpu) ? cpu->config.channels + 1 : cpu->config.channels;
  cpu->bins_floats = whole_lines(2 * (gsize)cpu->bins * cpu->batch);
  cpu->rooms = astro_scratch_new((cpu->filtered_floats + cpu->strip_floats + cpu->bins_floats) *
                                 sizeof(float));
  cpu->direct = cpu->to.same && cpu->config.channels % 2 == 0 && !is_real(cpu);
}

static gboolean make_plan(Cpu *cpu, GError **error)
{
  int n = (int)cpu->step, batch = (int)cpu->batch, bins = (int)cpu->bins;
  int distance = (int)(cpu->filtered_stride / cpu->components);
  float *room = astro_scratch_take(cpu->rooms);
  fftwf_complex *spectra = (fftwf_complex *)(room + cpu->filtered_floats + cpu->strip_floats);

  astro_fft_planner_lock();
  fftwf_set_timelimit(PLANNING_TIME);
  if (is_real(cpu))
    ASTRO_FFT_PLAN(cpu->plan, FFTW_MEASURE,
                   fftwf_plan_many_dft_r2c(1, &n, batch, room, NULL, 1, distance, spectra, NULL, 1,
                                           bins, flags));
  else
    ASTRO_FFT_PLAN(cpu->plan, FFTW_MEASURE | FFTW_DESTROY_INPUT,
                   fftwf_plan_many_dft(1, &n, batch, (fftwf_complex *)room, NULL, 1, distance,
                                       spectra, NULL, 1, bins, FFTW_FORWARD, flags));
  fftwf_set_timelimit(FFTW_NO_TIMELIMIT);
  astro_fft_planner_unlock();
  astro_scratch_give(cpu->rooms, room);
  if (!cpu->plan)
    astro_backend_no_memory(error, "channelizer: FFTW cannot plan %d transforms of %d samples",
                            batch, n);
  return cpu->plan != NULL;
}

static void destroy(gpointer instance)
{
  Cpu *cpu = instance;
  astro_stretch_clear(&cpu->stretch);
  if (cpu->plan) {
    astro_fft_planner_lock();
    fftwf_destroy_plan(cpu->plan);
    astro_fft_planner_unlock();
  }
  astro_scratch_free(cpu->rooms);
  g_aligned_free(cpu->weights);
  g_free(cpu->gains);
  g_free(cpu);
}

static gpointer create(gconstpointer config, const AstroPlace *place, const char **variant,
                       GError **error)
{
  if (!astro_channelizer_shape(config, error))
    return NULL;
  const typeof(variants[0]) *pick = ASTRO_VARIANT_PICK(variants);
  Cpu *cpu = g_new0(Cpu, 1);
  cpu->config = *(const AstroChannelizerConfig *)config;
  cpu->threads = place->threads;
  cpu->fir = pick->fir;
  cpu->copy = pick->copy;
  cpu->components = astro_format_info(cpu->config.in.format)->is_complex ? 2 : 1;
  cpu->coarse = astro_channelizer_coarse(&cpu->config);
  *variant = pick->variant.name;
  astro_samples_init(&cpu->to, ASTRO_FORMAT_CF32LE, cpu->config.to);
  set_sizes(cpu);
  set_weights(cpu);
  set_gains(cpu);
  if (astro_stretch_init(&cpu->stretch, &cpu->config, place->threads, error) &&
      make_plan(cpu, error))
    return cpu;
  destroy(cpu);
  return NULL;
}

/* Data shared by the tasks of a call. */
typedef struct {
  Cpu *cpu;
  AstroSpectra spectra;
  guint64 first_group, groups;
  guint8 *out;
  gboolean stream; /* write past the caches */
  guint64 clipped;
} Call;

/* Returns columns begin to end of the rows from a sample on; *stride is that of the result, in
 * floats. */
static const float *read_strip(Cpu *cpu, guint input, guint64 sample, guint64 rows, guint64 begin,
                               guint64 end, float *strip, gsize *stride)
{
  gsize width = cpu->step * cpu->components;
  const float *there = astro_stretch_look(&cpu->stretch, input, sample, rows * cpu->step);
  *stride = width;
  if (there)
    return there + begin * cpu->components;
  *stride = cpu->strip_stride;
  if (end - begin == cpu->step && cpu->strip_stride == width)
    astro_stretch_read(&cpu->stretch, input, sample, rows * cpu->step, strip);
  else
    for (guint64 row = 0; row < rows; row++)
      astro_stretch_read(&cpu->stretch, input, sample + row * cpu->step + begin, end - begin,
                         strip + row * cpu->strip_stride);
  return strip;
}

/* Filters columns begin to end of some spectra; the columns before split go to the end of a row. */
static void filter(Cpu *cpu, float *filtered, const float *rows, gsize stride, guint64 begin,
                   guint64 end, guint spectra)
{
  guint c = cpu->components;
  gsize width = cpu->step * c;
  guint64 middle = CLAMP(cpu->split, begin, end);
  if (begin < middle)
    cpu->fir(filtered + (cpu->step - cpu->split + begin) * c, cpu->filtered_stride, rows, stride,
             cpu->weights + begin * c, width, (middle - begin) * c, cpu->config.taps, spectra);
  if (middle < end)
    cpu->fir(filtered + (middle - cpu->split) * c, cpu->filtered_stride,
             rows + (middle - begin) * c, stride, cpu->weights + middle * c, width,
             (end - middle) * c, cpu->config.taps, spectra);
}

/* Converts a spectrum to the output format, with channels ascending. */
static guint64 give(const Cpu *cpu, guint8 *out, const fftwf_complex *bins)
{
  guint channels = cpu->config.channels;
  guint below = !is_real(cpu) && channels % 2 ? channels / 2 : 0;
  guint64 clipped = 0;
  /* The upper half of the transform is below the centre of the band. */
  if (below)
    clipped += astro_samples_convert(&cpu->to, out, bins + channels - below, below);
  return clipped +
         astro_samples_convert(&cpu->to, out + below * cpu->to.to_bytes, bins, channels - below);
}

static void multiply(float *values, const float *factors, gsize n)
{
  for (gsize i = 0; i < n; i++)
    values[i] *= factors[i];
}

static void transform(const Cpu *cpu, float *filtered, fftwf_complex *bins)
{
  if (is_real(cpu))
    fftwf_execute_dft_r2c(cpu->plan, filtered, bins);
  else
    fftwf_execute_dft(cpu->plan, (fftwf_complex *)filtered, bins);
  if (cpu->gains)
    for (guint i = 0; i < cpu->batch; i++)
      multiply((float *)(bins + (gsize)i * cpu->bins), cpu->gains, 2 * (gsize)cpu->bins);
}

/* Transforms spectra begin to end of a batch that starts at filtered; out is where spectrum begin
 * goes, and the next one goes out_stride bytes further on. Small transforms always run as the whole
 * batch, each at its position, so that a spectrum has the same bits regardless of the others in its
 * call. */
static guint64 transform_batch(const Call *call, float *filtered, fftwf_complex *bins, guint begin,
                               guint end, guint8 *out, gsize out_stride)
{
  const Cpu *cpu = call->cpu;
  gsize row_bytes = cpu->config.channels * cpu->to.to_bytes, stride = cpu->filtered_stride;
  gboolean is_one_piece = out_stride == row_bytes || cpu->batch == 1;
  guint64 clipped = 0;

  if (cpu->direct && is_one_piece && !call->stream && end - begin == cpu->batch &&
      (guintptr)out % PLAN_ALIGNMENT == 0) {
    transform(cpu, filtered, (fftwf_complex *)out);
    return 0;
  }
  memset(filtered, 0, begin * stride * sizeof *filtered);
  memset(filtered + end * stride, 0, (cpu->batch - end) * stride * sizeof *filtered);
  transform(cpu, filtered, bins);
  if (call->stream && is_one_piece) {
    cpu->copy(out, bins + (gsize)begin * cpu->bins, (end - begin) * row_bytes);
    return 0;
  }
  for (guint i = begin; i < end; i++)
    if (call->stream)
      cpu->copy(out + (i - begin) * out_stride, bins + (gsize)i * cpu->bins, row_bytes);
    else
      clipped += give(cpu, out + (i - begin) * out_stride, bins + (gsize)i * cpu->bins);
  return clipped;
}

/* Copies past the caches write whole cache lines, so rows must be whole lines. */
static gboolean can_stream(const Cpu *cpu, const AstroBlock *out)
{
  gsize row_bytes = cpu->config.channels * cpu->to.to_bytes;
  return cpu->direct && cpu->copy && out->bytes > STREAM_BYTES &&
         row_bytes % STREAM_ALIGNMENT == 0 && (guintptr)out->data % STREAM_ALIGNMENT == 0;
}

static void task(gpointer data, guint64 number)
{
  Call *call = data;
  Cpu *cpu = call->cpu;
  guint input = (guint)(number / call->groups);
  guint64 base = (call->first_group + number % call->groups) * cpu->group;
  guint64 first = MAX(base, call->spectra.first);
  guint64 end = MIN(base + cpu->group, call->spectra.first + call->spectra.count);
  guint64 sample = first * cpu->step - astro_channelizer_lead(&cpu->config);
  guint spectra = (guint)(end - first);
  gsize row_bytes = cpu->config.channels * cpu->to.to_bytes, stride;
  gsize out_stride = cpu->coarse * row_bytes;
  guint8 *out = call->out + row_bytes * astro_channelizer_row(&cpu->config, input,
                                                              first - call->spectra.first,
                                                              call->spectra.count);
  float *filtered = astro_scratch_take(cpu->rooms), *strip = filtered + cpu->filtered_floats;
  fftwf_complex *bins = (fftwf_complex *)(strip + cpu->strip_floats);
  guint64 clipped = 0, columns = STRIP_FLOATS / cpu->components;

  for (guint64 begin = 0; begin < cpu->step; begin += columns) {
    guint64 strip_end = MIN(begin + columns, cpu->step);
    const float *rows = read_strip(cpu, input, sample, spectra + cpu->config.taps - 1, begin,
                                   strip_end, strip, &stride);
    filter(cpu, filtered + (first - base) * cpu->filtered_stride, rows, stride, begin, strip_end,
           spectra);
  }
  for (guint64 n = first; n < end;) {
    guint64 batch = n / cpu->batch * cpu->batch, next = MIN(batch + cpu->batch, end);
    clipped += transform_batch(call, filtered + (batch - base) * cpu->filtered_stride, bins,
                               (guint)(n - batch), (guint)(next - batch), out, out_stride);
    out += (next - n) * out_stride;
    n = next;
  }
  if (call->stream)
    astro_convert_copy_end();
  astro_scratch_give(cpu->rooms, filtered);
  if (clipped)
    __atomic_fetch_add(&call->clipped, clipped, __ATOMIC_RELAXED);
}

static gboolean submit(gpointer instance, const AstroBlock *in, guint n_in, const AstroBlock *out,
                       guint n_out, gconstpointer arguments, AstroResult *result, GError **error)
{
  Cpu *cpu = instance;
  const AstroChannelizerArguments *given = arguments;
  Call call = { .cpu = cpu, .out = n_out ? out->data : NULL };

  if (!astro_stretch_spectra(&cpu->stretch, given, &call.spectra, error) ||
      !astro_channelizer_check_call(&cpu->config, in, n_in, out, n_out, given, call.spectra.count,
                                    error) ||
      !astro_stretch_open(&cpu->stretch, n_in ? in : NULL, given, error))
    return FALSE;
  guint64 end = call.spectra.first + call.spectra.count;
  if (call.spectra.count) {
    call.stream = can_stream(cpu, out);
    call.first_group = call.spectra.first / cpu->group;
    call.groups = (end - 1) / cpu->group + 1 - call.first_group;
    astro_parallel(cpu->stretch.inputs * call.groups, cpu->threads, task, &call);
    if (result)
      result->clipped += call.clipped;
  }
  astro_stretch_close(&cpu->stretch, end);
  return TRUE;
}

const AstroBackend astro_channelizer_cpu = {
  .stage = "channelizer",
  .kind = ASTRO_BACKEND_CPU,
  .config_bytes = sizeof(AstroChannelizerConfig),
  .shape = astro_channelizer_shape,
  .create = create,
  .submit = submit,
  .destroy = destroy,
};

const AstroBackend *const astro_channelizer_backends[] = { &astro_channelizer_cpu,
                                                           &astro_channelizer_reference, NULL };
