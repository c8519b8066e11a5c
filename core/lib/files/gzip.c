/* Packs and unpacks gzip. */
#include "core/lib/files/gzip.h"
#include "core/backend/backend.h"
#include "core/lib/files/write-all.h"

#include <gio/gio.h>
#include <string.h>

#define PIECE (1u << 18)
/* As CFITSIO does: samples are mostly noise, so that a higher level would only take more time. */
#define LEVEL 1

typedef struct {
  int from, to;
  GConverter *converter;
  guint8 in[PIECE], out[PIECE];
  gsize held; /* bytes waiting in in */
  gboolean at_end;
  gboolean may_be_given_up; /* not while packing: what was written is to be kept whole */
} Conversion;

static gboolean fail(GError **error, int cause)
{
  g_set_error_literal(error, G_IO_ERROR, g_io_error_from_errno(cause), g_strerror(cause));
  return FALSE;
}

static gboolean refill(Conversion *c, GError **error)
{
  while (!c->at_end && c->held < PIECE) {
    gssize n = read(c->from, c->in + c->held, PIECE - c->held);
    if (n < 0 && errno == EINTR)
      continue;
    if (n < 0)
      return fail(error, errno);
    c->at_end = n == 0;
    c->held += n;
  }
  return TRUE;
}

/* Runs the converter to its end; input that it did not use stays in c->in, which is refilled. */
static gboolean convert(Conversion *c, GError **error)
{
  GConverterResult result;
  do {
    gsize used = 0, made = 0;
    if (!refill(c, error) || (c->may_be_given_up && !astro_backend_goes_on(error)))
      return FALSE;
    result = g_converter_convert(c->converter, c->in, c->held, c->out, sizeof c->out,
                                 c->at_end ? G_CONVERTER_INPUT_AT_END : 0, &used, &made, error);
    if (result == G_CONVERTER_ERROR)
      return FALSE;
    const int cause = astro_write_all(c->to, c->out, made);
    if (cause)
      return fail(error, cause);
    c->held -= used;
    memmove(c->in, c->in + used, c->held);
  } while (result != G_CONVERTER_FINISHED);
  return refill(c, error);
}

static Conversion *new_conversion(int from, int to, GConverter *converter, gboolean may_be_given_up)
{
  Conversion *c = g_new(Conversion, 1);
  c->from = from;
  c->to = to;
  c->converter = converter;
  c->held = 0;
  c->at_end = FALSE;
  c->may_be_given_up = may_be_given_up;
  return c;
}

gboolean astro_gzip_unpack(int from, int to, GError **error)
{
  g_autoptr(GConverter) converter =
      G_CONVERTER(g_zlib_decompressor_new(G_ZLIB_COMPRESSOR_FORMAT_GZIP));
  g_autofree Conversion *c = new_conversion(from, to, converter, TRUE);
  do {
    g_converter_reset(converter);
    if (!convert(c, error))
      return FALSE;
  } while (astro_gzip_is_packed(c->in, c->held));
  return TRUE;
}

gboolean astro_gzip_pack(int from, int to, GError **error)
{
  g_autoptr(GConverter) converter =
      G_CONVERTER(g_zlib_compressor_new(G_ZLIB_COMPRESSOR_FORMAT_GZIP, LEVEL));
  g_autofree Conversion *c = new_conversion(from, to, converter, FALSE);
  return convert(c, error);
}

gboolean astro_gzip_is_packed(const guint8 *bytes, gsize n)
{
  return n >= ASTRO_GZIP_BEGINNING && bytes[0] == 0x1f && bytes[1] == 0x8b;
}

gboolean astro_gzip_is_name(const char *name)
{
  const gsize length = strlen(name);
  return length >= 3 && g_ascii_strcasecmp(name + length - 3, ".gz") == 0;
}
