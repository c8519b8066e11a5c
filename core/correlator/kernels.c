/* The tables of kernels for each format, fastest first, with their block sizes. */
#include "core/correlator/kernels.h"

/* For samples as 16-bit words, packed the same way for vectors of any width. */
#define WORDS_KERNEL(name, the_level)                                                              \
  {                                                                                                \
    .variant = { #name, the_level }, .samples = 2, .pass = 128, .one_strip_pass = 128,             \
    .one_strip_panels = 40, .span = 32768, .step_bytes = 256, .tile_bytes = 3072,                  \
    .pack = { [ASTRO_FORMAT_CI4] = astro_correlator_pack_ci4_avx2,                                 \
              [ASTRO_FORMAT_CI8] = astro_correlator_pack_ci8_avx2 },                               \
    .multiply = astro_correlator_multiply_int8_##name, .add = astro_correlator_add_int8_##name,    \
    .means = astro_correlator_means_integer_##name,                                                \
  }

static const AstroCorrelatorKernel int8_kernels[] = {
#ifdef ASTRO_X86_KERNELS
  {
      .variant = { "amx-int8", ASTRO_CPU_AMX },
      .worth_alone = 96,
      .samples = 64,
      .pass = 512,
      .one_strip_pass = 512,
      .one_strip_panels = 64,
      .wide = 4, /* transposing a row takes as long as its products with a column or two */
      .span = 32768,
      .step_bytes = 2048,
      .panel_gap = 128,
      .packed_panels = G_MAXUINT,
      .tile_bytes = 2048,
      .pack = { [ASTRO_FORMAT_CI4] = astro_correlator_pack_ci4_amx,
                [ASTRO_FORMAT_CI8] = astro_correlator_pack_ci8_amx },
      .multiply = astro_correlator_multiply_int8_amx,
      .add = astro_correlator_add_int8_amx,
      .means = astro_correlator_means_integer_avx512,
  },
  {
      .variant = { "avx512-vnni", ASTRO_CPU_VNNI },
      .samples = 4,
      .pass = 256,
      .one_strip_pass = 512,
      .one_strip_panels = 40,
      .span = 32768,
      .step_bytes = 256,
      .traits_bytes = TRAITS_BYTES,
      .tile_bytes = 3072,
      .pack = { [ASTRO_FORMAT_CI4] = astro_correlator_pack_ci4_vnni,
                [ASTRO_FORMAT_CI8] = astro_correlator_pack_ci8_vnni },
      .multiply = astro_correlator_multiply_int8_vnni,
      .add = astro_correlator_add_int8_vnni,
      .means = astro_correlator_means_integer_avx512,
  },
  WORDS_KERNEL(avx512, ASTRO_CPU_AVX512),
  WORDS_KERNEL(avx2, ASTRO_CPU_AVX2),
#endif
  {
      .variant = { "c", ASTRO_CPU_C },
      .samples = 1,
      .pass = 128,
      .one_strip_pass = 32,
      .one_strip_panels = 64,
      .span = 32768,
      .step_bytes = 256,
      .tile_bytes = 3072,
      .pack = { [ASTRO_FORMAT_CI4] = astro_correlator_pack_ci4_c,
                [ASTRO_FORMAT_CI8] = astro_correlator_pack_ci8_c },
      .multiply = astro_correlator_multiply_int8_c,
      .add = astro_correlator_add_int8_c,
      .means = astro_correlator_means_integer_c,
  },
};

#define INT16_KERNEL(name, the_level)                                                              \
  {                                                                                                \
    .variant = { #name, the_level }, .samples = 1, .pass = 128, .one_strip_pass = 32,              \
    .one_strip_panels = 40, .span = 32768, .step_bytes = 512, .tile_bytes = 6144,                  \
    .pack = { [ASTRO_FORMAT_CI16LE] = astro_correlator_pack_ci16_##name },                         \
    .multiply = astro_correlator_multiply_int16_##name, .add = astro_correlator_add_int16_##name,  \
    .means = astro_correlator_means_integer_##name,                                                \
  }

static const AstroCorrelatorKernel int16_kernels[] = {
#ifdef ASTRO_X86_KERNELS
  {
      .variant = { "amx-int8", ASTRO_CPU_AMX },
      .worth = 16,
      .worth_alone = 16,
      .samples = 64,
      .pass = 256,
      .one_strip_pass = 256,
      .one_strip_panels = 64,
      .span = 32768,
      .step_bytes = 4096,
      .panel_gap = 128,
      .packed_panels = G_MAXUINT,
      .tile_bytes = 4096,
      .pack = { [ASTRO_FORMAT_CI16LE] = astro_correlator_pack_ci16_amx },
      .multiply = astro_correlator_multiply_int16_amx,
      .add = astro_correlator_add_int16_amx,
      .means = astro_correlator_means_integer_avx512,
  },
  INT16_KERNEL(avx512, ASTRO_CPU_AVX512),
  INT16_KERNEL(avx2, ASTRO_CPU_AVX2),
#endif
  INT16_KERNEL(c, ASTRO_CPU_C),
};

/* A chain sums 16 samples; 16 such sums, or 32 with two chains, are added in a tile, up to 32
 * times: even if all round in the same direction, a million samples stay below 2e-6. */
#define FLOAT_KERNEL(name, the_level, the_samples, the_span)                                       \
  {                                                                                                \
    .variant = { #name, the_level }, .samples = the_samples, .pass = 128, .one_strip_pass = 32,    \
    .one_strip_panels = 64, .span = the_span, .step_bytes = 256 * the_samples, .tile_bytes = 3072, \
    .pack = { [ASTRO_FORMAT_CF16LE] = astro_correlator_pack_cf16_##name,                           \
              [ASTRO_FORMAT_CF32LE] = astro_correlator_pack_cf32_##name },                         \
    .multiply = astro_correlator_multiply_float_##name, .add = astro_correlator_add_float_##name,  \
    .means = astro_correlator_means_real_##name,                                                   \
  }

static const AstroCorrelatorKernel float_kernels[] = {
#ifdef ASTRO_X86_KERNELS
  {
      .variant = { "amx-int8", ASTRO_CPU_AMX },
      .worth = 48,
      .worth_alone = 48,
      .samples = 64,
      .pass = 256,
      .one_strip_pass = 256,
      .one_strip_panels = 64,
      .span = 2048,
      .step_bytes = 6144,
      .traits_bytes = TRAITS_BYTES,
      .panel_gap = 128,
      .packed_panels =
          8, /* they are measured before: a pass of them stays in the second-level cache */
      .tile_bytes = 2048,
      .measure = { [ASTRO_FORMAT_CF16LE] = astro_correlator_measure_cf16_amx,
                   [ASTRO_FORMAT_CF32LE] = astro_correlator_measure_cf32_amx },
      .pack = { [ASTRO_FORMAT_CF16LE] = astro_correlator_pack_cf16_amx,
                [ASTRO_FORMAT_CF32LE] = astro_correlator_pack_cf32_amx },
      .multiply = astro_correlator_multiply_float_amx,
      .add = astro_correlator_add_float_amx,
      .means = astro_correlator_means_real_avx512,
  },
  FLOAT_KERNEL(avx512, ASTRO_CPU_AVX512, 2, 1024),
  FLOAT_KERNEL(avx2, ASTRO_CPU_AVX2, 1, 512),
#endif
  FLOAT_KERNEL(c, ASTRO_CPU_C, 1, 512),
};

static const AstroCorrelatorKernel *fastest(AstroFormat format)
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

const AstroCorrelatorKernel *astro_correlator_kernel(const AstroCorrelatorConfig *config)
{
  const AstroCorrelatorKernel *kernel = fastest(config->from);
  const gboolean alone = config->stations * config->pols <= PANEL;
  while (config->integration > 0 &&
         config->integration < (alone ? kernel->worth_alone : kernel->worth))
    kernel++;
  return kernel;
}
