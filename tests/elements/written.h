/* Slow and obvious readers of the recordings that astrorecordsink writes. */
#pragma once

#include "core/lib/vdif/vdif.h"
#include "tests/tests.h"

typedef struct {
  guint stations, pols, channels, components, bits, rate;
} WrittenShape;

/* Levels of all steps, as time:station:pol:channel:component, and whether each sample is good. */
typedef struct {
  WrittenShape shape;
  guint64 first; /* since the start of the observation, which is at a whole second */
  guint64 steps;
  gint16 *levels;
  guint8 *good;
} Written;

static inline void written_clear(Written *w)
{
  g_free(w->levels);
  g_free(w->good);
}

static inline gsize written_sample(const WrittenShape *shape, guint64 t, guint s, guint p, guint c)
{
  return ((t * shape->stations + s) * shape->pols + p) * shape->channels + c;
}

static inline void written_alloc(Written *w, guint64 steps)
{
  const gsize samples = written_sample(&w->shape, steps, 0, 0, 0);
  w->steps = steps;
  w->levels = g_new0(gint16, samples * w->shape.components);
  w->good = g_malloc(samples);
  memset(w->good, 1, samples);
}

/* A component of a payload: two's complement, or offset binary with the first in the lowest bits.
 */
static inline gint written_level(const guint8 *payload, guint64 component, guint bits,
                                 gboolean is_offset)
{
  const guint64 bit = component * bits;
  const guint raw = bits == 16 ? (guint)payload[bit / 8] | (guint)payload[bit / 8 + 1] << 8
                               : payload[bit / 8] >> bit % 8 & ((1u << bits) - 1);
  const gint half = 1 << (bits - 1);
  if (is_offset)
    return (gint)raw - half;
  return (gint)raw >= half ? (gint)raw - 2 * half : (gint)raw;
}

static inline void written_set(Written *w, guint64 t, guint s, guint p, guint c,
                               const guint8 *payload, guint64 sample, gboolean is_offset)
{
  const guint n = w->shape.components;
  gint16 *to = w->levels + written_sample(&w->shape, t, s, p, c) * n;
  for (guint k = 0; k < n; k++)
    to[k] = (gint16)written_level(payload, sample * n + k, w->shape.bits, is_offset);
}

/* The number behind a keyword at the start of a line or a card. */
static inline double written_key(const char *header, gsize bytes, const char *key)
{
  const gsize length = strlen(key);
  for (gsize i = 0; i + length < bytes; i++)
    if ((i == 0 || strchr("\n ", header[i - 1])) && !strncmp(header + i, key, length) &&
        strchr(" =", header[i + length]))
      return g_ascii_strtod(header + i + length + strspn(header + i + length, " ='"), NULL);
  g_error("the header has no %s", key);
}

static inline void written_read_dada(Written *w, const guint8 *bytes, gsize size)
{
  const char *header = (const char *)bytes;
  const WrittenShape *s = &w->shape;
  const gsize payload = (gsize)written_key(header, 4096, "FILE_SIZE");
  const gsize step = s->pols * s->channels * s->components * s->bits / 8;
  g_assert_cmpuint(payload + 4096, ==, size);
  g_assert_cmpuint(s->stations, ==, 1);
  g_assert_cmpfloat(written_key(header, 4096, "NBIT"), ==, s->bits);
  g_assert_cmpfloat(written_key(header, 4096, "NPOL"), ==, s->pols);
  g_assert_cmpfloat(written_key(header, 4096, "NCHAN"), ==, s->channels);
  g_assert_cmpfloat(written_key(header, 4096, "NDIM"), ==, s->components);
  g_assert_cmpfloat(written_key(header, 4096, "TSAMP"), ==, 1e6 / s->rate);
  w->first = (guint64)written_key(header, 4096, "OBS_OFFSET") / step;
  written_alloc(w, payload / step);
  for (guint64 t = 0; t < w->steps; t++)
    for (guint c = 0; c < s->channels; c++)
      for (guint p = 0; p < s->pols; p++)
        written_set(w, t, 0, p, c, bytes + 4096, (t * s->channels + c) * s->pols + p, FALSE);
}

/* dropped: NULL, or gets the sum of what DROPBLK tells, in samples. */
static inline void written_read_guppi(Written *w, const guint8 *bytes, gsize size, double *dropped)
{
  const WrittenShape *s = &w->shape;
  const gsize step = s->pols * s->channels * s->components * s->bits / 8;
  written_alloc(w, size / step);
  w->steps = 0;
  for (gsize at = 0; at < size;) {
    const char *header = (const char *)bytes + at;
    gsize length = 0;
    while (strncmp(header + length, "END ", 4))
      length += 80;
    length += 80;
    const gsize payload = (gsize)written_key(header, length, "BLOCSIZE");
    const guint64 first = (guint64)written_key(header, length, "PKTIDX"), n = payload / step;
    if (at == 0)
      w->first = first;
    g_assert_cmpuint(first, ==, w->first + w->steps);
    g_assert_cmpfloat(written_key(header, length, "PKTSIZE"), ==, step);
    g_assert_cmpfloat(written_key(header, length, "NBITS"), ==, s->bits);
    g_assert_cmpfloat(written_key(header, length, "OBSNCHAN"), ==, s->channels);
    if (dropped)
      *dropped += written_key(header, length, "DROPBLK") * n * s->pols * s->channels;
    for (guint c = 0; c < s->channels; c++)
      for (guint64 t = 0; t < n; t++)
        for (guint p = 0; p < s->pols; p++)
          written_set(w, w->steps + t, 0, p, c, bytes + at + length, (c * n + t) * s->pols + p,
                      FALSE);
    w->steps += n;
    at += length + payload;
  }
}

/* start: of the observation, seconds since 1970. */
static inline void written_read_vdif(Written *w, const guint8 *bytes, gsize size, gint64 start)
{
  const WrittenShape *s = &w->shape;
  guint64 end = 0;
  w->first = G_MAXUINT64;
  for (guint pass = 0; pass < 2; pass++) { /* first for the range of time */
    if (pass)
      written_alloc(w, end - w->first);
    for (gsize at = 0; at < size;) {
      AstroVdif frame;
      GError *error = NULL;
      astro_vdif_parse(bytes + at, size - at, &frame, &error);
      g_assert_no_error(error);
      const guint64 steps = astro_vdif_steps(&frame);
      const guint64 first = (guint64)(frame.second - start) * s->rate + frame.frame * steps;
      g_assert_cmpuint(frame.bits, ==, s->bits);
      g_assert_cmpuint(1u << frame.log_channels, ==, s->channels);
      g_assert_cmpint(frame.is_complex, ==, s->components == 2);
      g_assert_cmpuint(frame.station, <, s->stations);
      g_assert_cmpuint(frame.thread, <, s->pols);
      if (!pass) {
        w->first = MIN(w->first, first);
        end = MAX(end, first + steps);
      }
      for (guint64 t = 0; pass && t < steps; t++)
        for (guint c = 0; c < s->channels; c++) {
          const guint64 to = first - w->first + t;
          w->good[written_sample(s, to, frame.station, frame.thread, c)] = frame.is_valid;
          written_set(w, to, frame.station, frame.thread, c, bytes + at + frame.header,
                      t * s->channels + c, TRUE);
        }
      at += frame.bytes;
    }
  }
}

static inline Written written_read(const char *format, const char *path, WrittenShape shape,
                                   gint64 start, double *dropped)
{
  Written w = { .shape = shape };
  char *bytes;
  gsize size;
  g_autoptr(GError) error = NULL;
  g_file_get_contents(path, &bytes, &size, &error);
  g_assert_no_error(error);
  if (!strcmp(format, "dada"))
    written_read_dada(&w, (guint8 *)bytes, size);
  else if (!strcmp(format, "guppi"))
    written_read_guppi(&w, (guint8 *)bytes, size, dropped);
  else
    written_read_vdif(&w, (guint8 *)bytes, size, start);
  g_free(bytes);
  return w;
}
