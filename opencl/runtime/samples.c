/* The table of formats for programs that read or write samples. */
#include "config.h"
#include "opencl/runtime/samples.h"

/* How a format is read and written, and its type in memory. */
static const struct {
  const char *type, *read, *write;
  gboolean needs_double;
} formats[ASTRO_N_FORMATS] = {
  [ASTRO_FORMAT_CI4] = { "char", "read_nibble", "write_nibble", FALSE },
  [ASTRO_FORMAT_CI8] = { "char", "read_i8", "write_i8", FALSE },
  [ASTRO_FORMAT_CI16LE] = { "short", "read_i16", "write_i16", FALSE },
  [ASTRO_FORMAT_CF16LE] = { "ushort", "read_half", "write_half", FALSE },
  [ASTRO_FORMAT_CF32LE] = { "float", "read_float", "write_float", FALSE },
  [ASTRO_FORMAT_CF64LE] = { "double", "read_double", "write_double", TRUE },
  [ASTRO_FORMAT_CI32LE] = { "int", "read_i32", "write_i32", TRUE },
  [ASTRO_FORMAT_F32LE] = { "float", "read_float", "write_float", FALSE },
  [ASTRO_FORMAT_F64LE] = { "double", "read_double", "write_double", TRUE },
  [ASTRO_FORMAT_U64LE] = { "ulong", "read_u64", "write_u64", TRUE },
  [ASTRO_FORMAT_I8] = { "char", "read_i8", "write_i8", FALSE },
  [ASTRO_FORMAT_I16LE] = { "short", "read_i16", "write_i16", FALSE },
};

char *astro_opencl_sample_options(AstroFormat from, AstroFormat to, const char *real)
{
  g_autofree char *reads =
      g_strdup_printf("-DREAL=%s -DIN=%s -DREAD=%s", real, formats[from].type, formats[from].read);
  return to == ASTRO_FORMAT_UNKNOWN ? g_strconcat(reads, " -DONLY_READS", NULL)
                                    : g_strdup_printf("%s -DOUT=%s -DWRITE=%s", reads,
                                                      formats[to].type, formats[to].write);
}

gboolean astro_opencl_needs_double(AstroFormat format)
{
  return formats[format].needs_double;
}
