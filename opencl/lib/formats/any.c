/* Tells programs the numbers of formats. */
#include "config.h"
#include "opencl/lib/formats/any.h"

#include "opencl/runtime/samples.h"

char *astro_opencl_any_options(void)
{
  static const AstroFormat formats[] = { ASTRO_FORMAT_CI4,    ASTRO_FORMAT_CI8, ASTRO_FORMAT_CI16LE,
                                         ASTRO_FORMAT_CF16LE, ASTRO_FORMAT_I8,  ASTRO_FORMAT_I16LE,
                                         ASTRO_FORMAT_F32LE };
  /* For the functions of single bytes; those of the others are there too. */
  g_autofree char *bytes = astro_opencl_sample_options(ASTRO_FORMAT_CI8, ASTRO_FORMAT_CI8, "float");
  GString *options = g_string_new(bytes);
  for (guint i = 0; i < G_N_ELEMENTS(formats); i++)
    g_string_append_printf(options, " -DFORMAT_%s=%d", astro_format_name(formats[i]),
                           (int)formats[i]);
  return g_string_free(options, FALSE);
}
