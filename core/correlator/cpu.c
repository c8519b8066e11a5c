/* The cpu backend: packs spectra into panels and multiplies panel with panel.
 *
 * With many channels a task is a channel; with few, packing and the squares of panel pairs of one
 * channel are the tasks. Either way every tile is summed in the same order, so results depend
 * neither on the number of threads nor on who ran what. */
#include "core/backend/threads.h"
#include "core/correlator/gather.h"
#include "core/correlator/kernels.h"
#include <stdlib.h>

static const AstroCorrelatorKernel int8_kernels[] = {
  {
      .variant = { "amx-int8", ASTRO_CPU_AMX },
      .samples = 64,
      .pass = 1024,
      .band_pass = 512,
      .band_panels = 40,
      .span = 32768,
      .left_bytes = 2048,
      .tile_bytes = 3072,
      .pack = { [ASTRO_FORMAT_CI4] = astro_correlator_pack_ci4_amx,
                [ASTRO_FORMAT_CI8] = astro_correlator_pack_ci8_amx },
      .multiply = astro_correlator_multiply_int8_amx,
      .add = astro_correlator_add_int8_amx,
      .means = astro_correlator_means_integer_avx512,
  },
  {
      .variant = { "avx512-vnni", ASTRO_CPU_VNNI },
      .samples = 4,
      .pass = 1024,
      .band_pass = 1024,
      .band_panels = 12,
      .span = 32768,
      .left_bytes = 128,
      .tile_bytes = 2048,
      .pack = { [ASTRO_FORMAT_CI4] = astro_correlator_pack_ci4_vnni,
                [ASTRO_FORMAT_CI8] = astro_correlator_pack_ci8_vnni },
      .multiply = astro_correlator_multiply_int8_vnni,
      .add = astro_correlator_add_int8_vnni,
      .means = astro_correlator_means_integer_avx512,
  },
  {
      .variant = { "avx2", ASTRO_CPU_AVX2 },
      .samples = 1,
      .pass = 256,
      .band_pass = 256,
      .band_panels = 12,
      .span = 32768,
      .left_bytes = 128,
      .tile_bytes = 2048,
      .pack = { [ASTRO_FORMAT_CI4] = astro_correlator_pack_ci4_avx2,
                [ASTRO_FORMAT_CI8] = astro_correlator_pack_ci8_avx2 },
      .multiply = astro_correlator_multiply_int8_avx2,
      .add = astro_correlator_add_int8_avx2,
      .means = astro_correlator_means_integer_avx2,
  },
  {
      .variant = { "c", ASTRO_CPU_C },
      .samples = 1,
      .pass = 256,
      .band_pass = 256,
      .band_panels = 12,
      .span = 32768,
      .left_bytes = 64,
      .tile_bytes = 2048,
      .pack = { [ASTRO_FORMAT_CI4] = astro_correlator_pack_ci4_c,
                [ASTRO_FORMAT_CI8] = astro_correlator_pack_ci8_c },
      .multiply = astro_correlator_multiply_int8_c,
      .add = astro_correlator_add_int8_c,
      .means = astro_correlator_means_integer_c,
  },
};

#define INT16_KERNEL(name, the_level)                                                              \
  {                                                                                                \
    .variant = { #name, the_level }, .samples = 1, .pass = 128, .band_pass = 128,                  \
    .band_panels = 12, .span = 32768, .left_bytes = 256, .tile_bytes = 4096,                       \
    .pack = { [ASTRO_FORMAT_CI16LE] = astro_correlator_pack_ci16_##name },                         \
    .multiply = astro_correlator_multiply_int16_##name, .add = astro_correlator_add_int16_##name,  \
    .means = astro_correlator_means_integer_##name,                                                \
  }

static const AstroCorrelatorKernel int16_kernels[] = {
  INT16_KERNEL(avx512, ASTRO_CPU_AVX512),
  INT16_KERNEL(avx2, ASTRO_CPU_AVX2),
  INT16_KERNEL(c, ASTRO_CPU_C),
};

/* 32 samples a partial sum, 32 of those a tile: either adds less than 1e-6 even where all round the
 * same way. */
#define FLOAT_KERNEL(name, the_level)                                                              \
  {                                                                                                \
    .variant = { #name, the_level }, .samples = 1, .pass = 256, .band_pass = 256,                  \
    .band_panels = 12, .span = 1024, .left_bytes = 128, .tile_bytes = 2048,                        \
    .pack = { [ASTRO_FORMAT_CF16LE] = astro_correlator_pack_cf16_##name,                           \
              [ASTRO_FORMAT_CF32LE] = astro_correlator_pack_cf32_##name },                         \
    .multiply = astro_correlator_multiply_float_##name, .add = astro_correlator_add_float_##name,  \
    .means = astro_correlator_means_real_##name,                                                   \
  }

static const AstroCorrelatorKernel float_kernels[] = {
  FLOAT_KERNEL(avx512, ASTRO_CPU_AVX512),
  FLOAT_KERNEL(avx2, ASTRO_CPU_AVX2),
  FLOAT_KERNEL(c, ASTRO_CPU_C),
};

enum {
  STRIP = 4,         /* squares, whose tiles fit the second cache too */
  SQUARE = 8,        /* panels on a side: tiles and a pass of panels of it fit the second cache */
  BAND_TILES = 280,  /* that fit the second cache beside a pass of panels */
  MANY_CHANNELS = 8, /* from here on a task is a channel */
  GATHERED_STEPS = 1024, /* wanted, where GATHERED_BYTES allow */
  LINE = 64,
  PACKED_STEPS = 64,    /* packed at a time */
  PACKED_PANELS = 4,    /* packed by a task where channels go one by one */
  LEAST_GATHERED = 64,  /* steps */
  LEAST_IN_PLACE = 256, /* steps */
};
#define PACKED_BYTES ((gsize)16 << 20)   /* of a channel, or a quarter of its sums */
#define GATHERED_BYTES ((gsize)64 << 20) /* of all channels */

typedef struct {
  guint8 *left, *right; /* pass:panel:step, right is left where one serves both */
  gint32 *bias;         /* panel:term */
} Packed;

typedef struct {
  AstroCorrelatorConfig config;
  const AstroCorrelatorKernel *kernel;
  AstroCorrelatorPack pack;
  AstroCorrelatorSums sums;
  AstroCorrelatorCounts counts;
  gsize sample_bytes;
  guint threads, inputs, panels;
  guint square, strip_squares; /* panels on a side, squares along a strip */
  guint64 strips;
  guint bands;
  guint pass, span; /* time steps */
  gboolean by_channel;
  gsize left_stride, right_stride; /* a panel's pass */
  guint packed_passes;             /* that a scratch has room for */

  GMutex lock;
  GPtrArray *scratches; /* idle ones */
  Packed shared;        /* the panels that tasks share where channels go one by one */

  guint8 *gathered; /* channel:time:station:pol; made at the first need */
  guint64 gathered_steps, capacity;
} Cpu;

/* What a task needs of its own. */
typedef struct {
  Packed packed;
  guint8 *tiles;
  AstroCorrelatorSums sums; /* zero between uses; of a channel, where bands are taken */
} Scratch;

/* Spectra that are being added: rows of inputs. */
typedef struct {
  Cpu *cpu;
  const guint8 *first;
  gsize channel, time; /* strides */
  guint64 count;
  guint64 start;            /* of the span in work */
  guint at;                 /* the channel in work */
  Packed packed;            /* of that channel, where channels go one by one */
  AstroCorrelatorSums sums; /* of that channel */
  float *out;               /* an integration that is all here: its visibilities, or NULL */
} Spectra;

static gint64 *sums_of(const Cpu *self, guint channel)
{
  return self->sums.integer + 2 * channel * astro_correlator_channel_sums(&self->config);
}

static guint passes_of(const Cpu *self, guint64 count)
{
  return (guint)((count + self->pass - 1) / self->pass);
}

/* Asks for a part of some rows before they are needed. */
static void fetch(const guint8 *first, gsize stride, gsize bytes, guint64 rows, guint part,
                  guint parts)
{
  for (guint64 r = rows * part / parts; r < rows * (part + 1) / parts; r++)
    for (gsize b = 0; b < bytes; b += LINE)
      __builtin_prefetch(first + r * stride + b, 0, 3);
}

/* Packs some panels of a pass, in blocks of steps whose lines of the source stay in the first cache
 * until every panel had its part of them. */
static void pack_panels(const Spectra *spectra, const Packed *packed, guint panel, guint end_panel,
                        guint pass, guint slot)
{
  const Cpu *self = spectra->cpu;
  const AstroCorrelatorKernel *kernel = self->kernel;
  guint64 first = spectra->start + (guint64)pass * self->pass;
  guint64 end = MIN(MIN(spectra->count, spectra->start + self->span), first + self->pass);
  gsize panel_bytes = PANEL * self->sample_bytes;
  const guint8 *source = spectra->first + spectra->at * spectra->channel + panel * panel_bytes;
  for (guint64 t = first; t < end; t += PACKED_STEPS) {
    guint64 next = MIN(spectra->count, t + PACKED_STEPS);
    guint64 n_next = MIN(spectra->count - next, PACKED_STEPS);
    for (guint p = panel; p < end_panel; p++) {
      gsize at = (gsize)slot * self->panels + p, steps = (t - first) / kernel->samples;
      AstroCorrelatorRows rows = {
        .first = source + t * spectra->time + (p - panel) * panel_bytes,
        .stride = spectra->time,
        .inputs = MIN(self->inputs - p * PANEL, PANEL),
        .count = (guint)MIN(end - t, PACKED_STEPS),
      };
      fetch(source + next * spectra->time, spectra->time, (end_panel - panel) * panel_bytes, n_next,
            p - panel, end_panel - panel);
      self->pack(packed->left + at * self->left_stride + steps * kernel->left_bytes,
                 packed->right + at * self->right_stride + steps * kernel->right_bytes,
                 packed->bias + p * BIAS, &rows);
    }
  }
}

/* A region of panel pairs: square by square along a strip, whose tiles lie row by row. */
typedef struct {
  guint row, rows;   /* panels */
  guint column, end; /* the columns; those beyond a row's own panel are not wanted */
} Strip;

static gsize strip_stride(const Cpu *self, const Strip *strip)
{
  return (strip->end - strip->column) * self->kernel->tile_bytes;
}

/* One pass of a strip. */
static void multiply_strip(const Spectra *spectra, const Packed *packed, guint8 *tiles,
                           const Strip *strip, guint pass, guint slot)
{
  const Cpu *self = spectra->cpu;
  guint64 first = spectra->start + (guint64)pass * self->pass;
  guint64 end = MIN(MIN(spectra->count, spectra->start + self->span), first + self->pass);
  guint64 next = MIN(spectra->count - end, self->pass);
  gboolean one_run = spectra->time == self->inputs * self->sample_bytes;
  for (guint column = strip->column; column < strip->end; column += self->square) {
    AstroCorrelatorProduct product = {
      .tiles = tiles + (column - strip->column) * self->kernel->tile_bytes,
      .tiles_stride = strip_stride(self, strip),
      .left = packed->left + ((gsize)slot * self->panels + strip->row) * self->left_stride,
      .right = packed->right + ((gsize)slot * self->panels + column) * self->right_stride,
      .left_stride = self->left_stride,
      .right_stride = self->right_stride,
      .rows = strip->rows,
      .columns = MIN(strip->end - column, self->square),
      .below = strip->row - column,
      .steps = (guint)((end - first + self->kernel->samples - 1) / self->kernel->samples),
      .first = pass == 0,
    };
    if (self->packed_passes > 1) {
      gboolean more = column + self->square < strip->end;
      guint n = more ? MIN(strip->end - column - self->square, self->square) : product.rows;
      product.next = more ? product.right + product.columns * self->right_stride
                          : product.left + self->panels * self->left_stride;
      product.next_bytes = n * (more ? self->right_stride : self->left_stride);
    } else if (one_run) {
      product.next = spectra->first + spectra->at * spectra->channel + end * spectra->time;
      product.next_bytes = next * spectra->time;
    }
    self->kernel->multiply(&product);
  }
}

static void add_strip(const Spectra *spectra, const Packed *packed, const guint8 *tiles,
                      const Strip *strip)
{
  const Cpu *self = spectra->cpu;
  AstroCorrelatorPlace place = {
    .sums = spectra->sums.any,
    .pols = self->config.pols,
    .inputs = self->inputs,
  };
  for (guint i = 0; i < strip->rows; i++) {
    place.row = strip->row + i;
    place.bias = packed->bias + place.row * BIAS;
    const guint8 *tile = tiles + i * strip_stride(self, strip);
    for (place.column = strip->column; place.column < MIN(strip->end, place.row + 1);
         place.column++, tile += self->kernel->tile_bytes)
      self->kernel->add(&place, tile);
  }
}

static Scratch *take_scratch(Cpu *self)
{
  g_mutex_lock(&self->lock);
  Scratch *scratch = g_ptr_array_steal_index_fast(self->scratches, self->scratches->len - 1);
  g_mutex_unlock(&self->lock);
  return scratch;
}

static void give_scratch(Cpu *self, Scratch *scratch)
{
  g_mutex_lock(&self->lock);
  g_ptr_array_add(self->scratches, scratch);
  g_mutex_unlock(&self->lock);
}

static void clear_bias(const Cpu *self, const Packed *packed)
{
  memset(packed->bias, 0, self->panels * BIAS * sizeof *packed->bias);
}

/* Rows whose tiles fit the second cache with a pass of panels: bands have about the same number of
 * tiles. */
static Strip find_band(const Cpu *self, guint number)
{
  guint tiles = self->panels * (self->panels + 1) / 2;
  guint from = tiles * number / self->bands, to = tiles * (number + 1) / self->bands;
  Strip band = { 0, 0, 0, 0 };
  for (guint row = 0; row < self->panels; row++) {
    guint before = row * (row + 1) / 2;
    if (before < from)
      band.row = row + 1;
    if (before < to)
      band.end = row + 1;
  }
  band.rows = band.end - band.row;
  return band;
}

/* A span of a channel band by band, pass by pass, so that neither tiles nor packed panels ever
 * leave the cache. */
static void correlate_bands(const Spectra *spectra, const Scratch *scratch, guint passes)
{
  const Cpu *self = spectra->cpu;
  for (guint number = 0; number < self->bands; number++) {
    const Strip band = find_band(self, number);
    clear_bias(self, &scratch->packed);
    for (guint pass = 0; pass < passes; pass++) {
      pack_panels(spectra, &scratch->packed, 0, band.end, pass, 0);
      multiply_strip(spectra, &scratch->packed, scratch->tiles, &band, pass, 0);
    }
    add_strip(spectra, &scratch->packed, scratch->tiles, &band);
  }
}

static void correlate_strip(const Spectra *spectra, const Packed *packed, guint8 *tiles,
                            const Strip *strip, guint passes)
{
  for (guint pass = 0; pass < passes; pass++)
    multiply_strip(spectra, packed, tiles, strip, pass, pass);
  add_strip(spectra, packed, tiles, strip);
}

/* The strip of that number; FALSE behind the last one. The longest come first. */
static gboolean find_strip(const Cpu *self, guint64 number, Strip *strip)
{
  guint width = self->square * self->strip_squares;
  for (gint64 row = (self->panels - 1) / self->square * self->square; row >= 0;
       row -= self->square) {
    guint end = MIN((guint)row + self->square, self->panels);
    guint n = (end + width - 1) / width;
    if (number < n) {
      guint column = (guint)number * width;
      *strip = (Strip){ (guint)row, MIN(self->square, self->panels - (guint)row), column,
                        MIN(column + width, end) };
      return TRUE;
    }
    number -= n;
  }
  return FALSE;
}

static void correlate_channel(gpointer data, guint64 channel)
{
  Spectra spectra = *(const Spectra *)data;
  Cpu *self = spectra.cpu;
  Scratch *scratch = take_scratch(self);
  Strip strip;
  spectra.at = (guint)channel;
  spectra.sums.integer = spectra.out ? scratch->sums.integer : sums_of(self, spectra.at);
  for (; spectra.start < spectra.count; spectra.start += self->span) {
    guint passes = passes_of(self, MIN(self->span, spectra.count - spectra.start));
    if (self->bands) {
      correlate_bands(&spectra, scratch, passes);
      continue;
    }
    clear_bias(self, &scratch->packed);
    for (guint pass = 0; pass < passes; pass++)
      pack_panels(&spectra, &scratch->packed, 0, self->panels, pass, pass);
    for (guint n = 0; find_strip(self, n, &strip); n++)
      correlate_strip(&spectra, &scratch->packed, scratch->tiles, &strip, passes);
  }
  if (spectra.out) {
    guint64 n = 2 * astro_correlator_channel_sums(&self->config);
    self->kernel->means(spectra.out + channel * n, scratch->sums.any, n, 1 / (double)spectra.count);
  }
  give_scratch(self, scratch);
}

static void pack_task(gpointer data, guint64 group)
{
  const Spectra *spectra = data;
  const Cpu *self = spectra->cpu;
  guint passes = passes_of(self, MIN(self->span, spectra->count - spectra->start));
  guint panel = (guint)group * PACKED_PANELS;
  for (guint pass = 0; pass < passes; pass++)
    pack_panels(spectra, &spectra->packed, panel, MIN(panel + PACKED_PANELS, self->panels), pass,
                pass);
}

static void strip_task(gpointer data, guint64 task)
{
  const Spectra *spectra = data;
  Cpu *self = spectra->cpu;
  guint passes = passes_of(self, MIN(self->span, spectra->count - spectra->start));
  Scratch *scratch = take_scratch(self);
  Strip strip;
  if (find_strip(self, task, &strip))
    correlate_strip(spectra, &spectra->packed, scratch->tiles, &strip, passes);
  give_scratch(self, scratch);
}

/* out: takes the visibilities of an integration of these steps alone; for bands only. */
static void correlate(Cpu *self, const guint8 *first, gsize channel, gsize time, guint64 count,
                      float *out)
{
  Spectra spectra = {
    .cpu = self, .first = first, .channel = channel, .time = time, .count = count, .out = out
  };
  if (count == 0)
    return;
  if (self->by_channel) {
    astro_parallel(self->config.channels, self->threads, correlate_channel, &spectra);
    return;
  }
  spectra.packed = self->shared;
  for (; spectra.start < count; spectra.start += self->span)
    for (spectra.at = 0; spectra.at < self->config.channels; spectra.at++) {
      spectra.sums.integer = sums_of(self, spectra.at);
      clear_bias(self, &spectra.packed);
      astro_parallel((self->panels + PACKED_PANELS - 1) / PACKED_PANELS, self->threads, pack_task,
                     &spectra);
      astro_parallel(self->strips, self->threads, strip_task, &spectra);
    }
}

static gsize row_bytes(const Cpu *self)
{
  return self->inputs * self->sample_bytes;
}

static void correlate_gathered(Cpu *self)
{
  gsize row = row_bytes(self);
  correlate(self, self->gathered, self->capacity * row, row, self->gathered_steps, NULL);
  self->gathered_steps = 0;
}

static gboolean need_gathered(Cpu *self, GError **error)
{
  if (!self->gathered)
    self->gathered =
        astro_correlator_block(self->capacity * self->config.channels * row_bytes(self));
  if (!self->gathered)
    g_set_error(error, ASTRO_BACKEND_ERROR, ASTRO_BACKEND_ERROR_MEMORY,
                "no memory to gather %" G_GUINT64_FORMAT " spectra of %u channels", self->capacity,
                self->config.channels);
  return self->gathered != NULL;
}

static void add_gathered(Cpu *self, const guint8 *in, const AstroCorrelatorStrides *strides,
                         const AstroCorrelatorArguments *arguments, gboolean loss)
{
  gsize row = row_bytes(self);
  for (guint64 done = 0; done < arguments->count;) {
    AstroCorrelatorGather gather = {
      .to = self->gathered + self->gathered_steps * row,
      .to_channel = self->capacity * row,
      .to_time = row,
      .from = in + (arguments->first + done) * strides->time,
      .strides = *strides,
      .channels = self->config.channels,
      .stations = self->config.stations,
      .pols = self->config.pols,
      .count = MIN(arguments->count - done, self->capacity - self->gathered_steps),
      .sample_bytes = self->sample_bytes,
    };
    astro_correlator_gather(&gather, self->threads);
    if (loss)
      astro_correlator_blank(&gather, arguments, done, self->threads);
    done += gather.count;
    self->gathered_steps += gather.count;
    if (self->gathered_steps == self->capacity)
      correlate_gathered(self);
  }
}

static gboolean submit(gpointer instance, const AstroBlock *in, guint n_in, const AstroBlock *out,
                       guint n_out, gpointer argument, GError **error)
{
  Cpu *self = instance;
  AstroCorrelatorArguments *arguments = argument;
  AstroCorrelatorStrides strides;
  gboolean loss;

  if (!astro_correlator_check_blocks(&self->config, in, n_in, out, n_out, arguments, error))
    return FALSE;
  if (arguments->begin) {
    astro_correlator_clear(&self->config, self->sums, &self->counts);
    self->gathered_steps = 0;
  }
  astro_correlator_strides(&strides, &self->config, arguments->steps);
  gboolean in_place = arguments->count >= MIN(self->capacity, LEAST_IN_PLACE) &&
                      astro_correlator_has_rows(&strides, self->config.pols, self->config.stations,
                                                self->sample_bytes);
  if (((!in_place || arguments->valid) && !need_gathered(self, error)) ||
      !astro_correlator_counts_add(&self->counts, arguments, &loss, error))
    return FALSE;
  gboolean all_here = self->bands && arguments->dump && in_place && !loss &&
                      self->counts.samples == arguments->count &&
                      astro_correlator_plain(&self->config, &self->counts);
  if (in_place && !loss)
    correlate(self, (const guint8 *)in[0].data + arguments->first * strides.time, strides.channel,
              strides.time, arguments->count, all_here ? out[0].data : NULL);
  else if (arguments->count > 0)
    add_gathered(self, in[0].data, &strides, arguments, loss);
  if (!arguments->dump)
    return TRUE;
  if (all_here) {
    astro_correlator_end(&self->config, &self->counts, arguments);
    return TRUE;
  }
  correlate_gathered(self);
  return astro_correlator_dump(&self->config, self->sums, &self->counts, out[0].data, arguments,
                               self->kernel->means, self->threads, error);
}

static void scratch_free(gpointer data)
{
  Scratch *scratch = data;
  if (scratch->packed.right != scratch->packed.left)
    free(scratch->packed.right);
  free(scratch->packed.left);
  free(scratch->packed.bias);
  free(scratch->tiles);
  free(scratch->sums.any);
  g_free(scratch);
}

static gboolean add_scratch(Cpu *self, gboolean with_panels)
{
  const AstroCorrelatorKernel *kernel = self->kernel;
  Scratch *scratch = g_new0(Scratch, 1);
  gsize panels = (gsize)self->packed_passes * self->panels;
  g_ptr_array_add(self->scratches, scratch);
  scratch->tiles = astro_correlator_block((gsize)self->square * self->square * self->strip_squares *
                                          kernel->tile_bytes);
  if (!with_panels)
    return scratch->tiles != NULL;
  gsize sums_bytes = 2 * sizeof(gint64) * astro_correlator_channel_sums(&self->config);
  scratch->sums.any = self->bands ? astro_correlator_block(sums_bytes) : NULL;
  if (self->bands && !scratch->sums.any)
    return FALSE;
  if (self->bands)
    memset(scratch->sums.any, 0, sums_bytes);
  scratch->packed.bias = astro_correlator_block(self->panels * BIAS * sizeof *scratch->packed.bias);
  scratch->packed.left = astro_correlator_block(panels * self->left_stride);
  scratch->packed.right = kernel->right_bytes ? astro_correlator_block(panels * self->right_stride)
                                              : scratch->packed.left;
  return scratch->tiles && scratch->packed.bias && scratch->packed.left && scratch->packed.right;
}

static const AstroCorrelatorKernel *pick_kernel(AstroFormat format)
{
  switch (format) {
  case ASTRO_FORMAT_CI4:
  case ASTRO_FORMAT_CI8:
    return ASTRO_VARIANT_PICK(int8_kernels);
  case ASTRO_FORMAT_CI16LE:
    return ASTRO_VARIANT_PICK(int16_kernels);
  default:
    return ASTRO_VARIANT_PICK(float_kernels);
  }
}

/* How the work is cut: from the configuration and the kernel alone. */
static void plan(Cpu *self)
{
  const AstroCorrelatorConfig *config = &self->config;
  const AstroCorrelatorKernel *kernel = self->kernel;
  gsize channel_sums = astro_correlator_channel_sums(config) * 2 * sizeof(gint64);

  self->inputs = config->stations * config->pols;
  self->panels = (self->inputs + PANEL - 1) / PANEL;
  self->by_channel = config->channels >= MANY_CHANNELS;
  gboolean banded = self->by_channel && self->panels <= kernel->band_panels;
  self->pass = banded ? kernel->band_pass : kernel->pass;
  self->left_stride = self->pass / kernel->samples * kernel->left_bytes;
  self->right_stride =
      kernel->right_bytes ? self->pass / kernel->samples * kernel->right_bytes : self->left_stride;

  gsize pass_bytes =
      self->panels * (self->left_stride + (kernel->right_bytes ? self->right_stride : 0));
  gsize passes = MAX(PACKED_BYTES, channel_sums / 4) / pass_bytes;
  self->span = (guint)CLAMP(passes, 1, kernel->span / self->pass) * self->pass;
  self->by_channel &= banded || self->span / self->pass * pass_bytes <= PACKED_BYTES;
  self->packed_passes = self->span / self->pass;
  self->square = SQUARE;
  if (!self->by_channel) {
    self->square = CLAMP(self->panels / 4, 1, SQUARE);
  } else if (banded) {
    self->bands = (self->panels * (self->panels + 1) / 2 + BAND_TILES - 1) / BAND_TILES;
    self->square = self->panels;
    self->span = kernel->span;
    self->packed_passes = 1;
  }

  self->strip_squares = self->by_channel && !banded ? STRIP : 1;
  Strip strip;
  while (find_strip(self, self->strips, &strip))
    self->strips++;

  gsize step_bytes = config->channels * row_bytes(self);
  self->capacity = CLAMP(GATHERED_BYTES / step_bytes, LEAST_GATHERED, GATHERED_STEPS);
}

static void destroy(gpointer instance)
{
  Cpu *self = instance;
  g_ptr_array_unref(self->scratches);
  g_mutex_clear(&self->lock);
  free(self->sums.any);
  free(self->gathered);
  astro_correlator_counts_free(&self->counts);
  g_free(self);
}

static gpointer create(gconstpointer config, const AstroPlace *place, const char **variant,
                       GError **error)
{
  if (!astro_correlator_shape(config, error))
    return NULL;
  Cpu *self = g_new0(Cpu, 1);
  self->config = *(const AstroCorrelatorConfig *)config;
  self->threads = place ? place->threads : 0;
  self->kernel = pick_kernel(self->config.from);
  self->pack = self->kernel->pack[self->config.from];
  self->sample_bytes = astro_format_info(self->config.from)->bytes;
  self->scratches = g_ptr_array_new_with_free_func(scratch_free);
  g_mutex_init(&self->lock);
  astro_correlator_counts_init(&self->counts, &self->config);
  plan(self);

  guint threads = self->threads ? MIN(self->threads, astro_threads()) : astro_threads();
  gboolean memory = TRUE;
  for (guint i = 0; i < threads && memory; i++)
    memory = add_scratch(self, self->by_channel || i == 0);
  self->shared = ((const Scratch *)g_ptr_array_index(self->scratches, 0))->packed;
  if (!memory)
    g_set_error(error, ASTRO_BACKEND_ERROR, ASTRO_BACKEND_ERROR_MEMORY,
                "no memory to pack %u inputs on %u threads", self->inputs, threads);
  if (!memory || !astro_correlator_sums_new(&self->sums, &self->config, error)) {
    destroy(self);
    return NULL;
  }
  if (variant)
    *variant = self->kernel->variant.name;
  return self;
}

const AstroBackend astro_correlator_cpu = {
  .stage = "correlator",
  .kind = ASTRO_BACKEND_CPU,
  .config_bytes = sizeof(AstroCorrelatorConfig),
  .shape = astro_correlator_shape,
  .create = create,
  .submit = submit,
  .destroy = destroy,
};
