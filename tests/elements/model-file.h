/* Writes a model of the sky as a FITS image, as any program might: without our own writer. */
#pragma once

#include <glib.h>
#include <glib/gstdio.h>
#include <string.h>

typedef struct {
  guint size;
  double pixel; /* degrees */
  double ra, dec;
  double frequency, width; /* of the first channel, and between channels; 0: no such axis */
  guint channels, stokes;  /* 0: one, and no such axis */
  int first_stokes;        /* its code: 1 is I, -5 XX */
  const char *unit, *projection;
  const float *pixels; /* [channel][stokes][y][x]; NULL: zeros */
} TestModel;

/* The default: 64 pixels of 60 arcsec, Jy/pixel, one channel of 1 MHz at 150 MHz. */
static inline TestModel test_model(double ra, double dec, const float *pixels)
{
  return (TestModel){ .size = 64,
                      .pixel = 1 / 60.,
                      .ra = ra,
                      .dec = dec,
                      .frequency = 1.5e8,
                      .width = 1e6,
                      .unit = "Jy/pixel",
                      .projection = "SIN",
                      .pixels = pixels };
}

static inline void test_card(GString *text, const char *format, ...) G_GNUC_PRINTF(2, 3);
static inline void test_card(GString *text, const char *format, ...)
{
  va_list arguments;
  va_start(arguments, format);
  g_autofree char *card = g_strdup_vprintf(format, arguments);
  va_end(arguments);
  g_string_append_printf(text, "%-80s", card);
}

static inline void test_axis(GString *text, guint n, const char *type, double pixel, double value,
                             double step)
{
  test_card(text, "CTYPE%u  = '%-8s'", n, type);
  test_card(text, "CRPIX%u  = %20.1f", n, pixel);
  test_card(text, "CRVAL%u  = %22.15E", n, value);
  test_card(text, "CDELT%u  = %22.15E", n, step);
}

static inline void test_model_header(GString *text, const TestModel *m)
{
  g_autofree char *ra = g_strdup_printf("RA---%s", m->projection),
                  *dec = g_strdup_printf("DEC--%s", m->projection);
  const guint middle = m->size / 2 + 1;
  test_card(text, "SIMPLE  =                    T");
  test_card(text, "BITPIX  =                  -32");
  test_card(text, "NAXIS   =                    4");
  test_card(text, "NAXIS1  = %20u", m->size);
  test_card(text, "NAXIS2  = %20u", m->size);
  test_card(text, "NAXIS3  = %20u", MAX(m->channels, 1));
  test_card(text, "NAXIS4  = %20u", MAX(m->stokes, 1));
  test_axis(text, 1, ra, middle, m->ra, -m->pixel);
  test_axis(text, 2, dec, middle, m->dec, m->pixel);
  if (m->frequency > 0)
    test_axis(text, 3, "FREQ", 1, m->frequency, m->width);
  test_axis(text, 4, "STOKES", 1, m->stokes ? m->first_stokes : 1, m->first_stokes < 0 ? -1 : 1);
  if (m->unit)
    test_card(text, "BUNIT   = '%s'", m->unit);
  test_card(text, "END");
  while (text->len % 2880)
    g_string_append_c(text, ' ');
}

/* The path of a temporary file, to be removed and freed. */
static inline char *test_model_write(const TestModel *m)
{
  const guint channels = MAX(m->channels, 1), stokes = MAX(m->stokes, 1);
  const gsize n = (gsize)m->size * m->size;
  GString *text = g_string_new(NULL);
  char *path = g_build_filename(g_get_tmp_dir(), "model-XXXXXX", NULL);
  const int fd = g_mkstemp(path);
  g_assert_cmpint(fd, >=, 0);
  g_assert_true(g_close(fd, NULL));
  test_model_header(text, m);
  for (guint s = 0; s < stokes; s++)
    for (guint c = 0; c < channels; c++)
      for (gsize i = 0; i < n; i++) {
        const float value = m->pixels ? m->pixels[(c * stokes + s) * n + i] : 0;
        guint32 bits;
        memcpy(&bits, &value, sizeof bits);
        bits = GUINT32_TO_BE(bits);
        g_string_append_len(text, (const char *)&bits, sizeof bits);
      }
  while (text->len % 2880)
    g_string_append_c(text, 0);
  g_assert_true(g_file_set_contents(path, text->str, (gssize)text->len, NULL));
  g_string_free(text, TRUE);
  return path;
}
