/* Kernels of the JPL. Their format is that of SPICE: a DAF file of records of 1024 bytes, with a
 * chain of records that list the segments; addresses count doubles from 1. */
#include "config.h"
#include "core/lib/ephemeris/kernel.h"

#include <math.h>
#include <string.h>

#include "core/kit/lines.h"
#include "core/kit/fail.h"

#define RECORD 1024u
#define WORDS (RECORD / 8)
#define J2000 2451545.0
#define DAY 86400.0
#define MOST_RECORDS 1000 /* of lists of segments */
#define MOST_COEFFICIENTS 64

/* A body whose position is given from another. */
typedef struct {
  gint32 target, centre;
  const char *name;
} Body;

enum { EARTH_MOON, EARTH, SUN, N_BODIES };

static const Body bodies[N_BODIES] = {
  [EARTH_MOON] = { 3, 0, "the barycentre of Earth and Moon (3 from 0)" },
  [EARTH] = { 399, 3, "the Earth (399 from 3)" },
  [SUN] = { 10, 0, "the Sun (10 from 0)" },
};

/* Records of that many doubles, from that one on; each holds for `length` seconds. */
typedef struct {
  double from, to; /* s after J2000, TDB */
  double first, length;
  gsize at, size, n;
} Segment;

struct AstroKernel {
  char *name;
  guint8 *bytes;
  gsize n;
  GArray *segments[N_BODIES];
};

static gboolean refuse(const AstroKernel *kernel, GError **error, const char *wrong)
{
  return astro_fail(error, ASTRO_SKY_ERROR, ASTRO_SKY_ERROR_SYNTAX,
                    "%s %s, expected a kernel of the JPL such as de421.bsp or de440s.bsp",
                    kernel->name, wrong);
}

/* ---- bytes ---- */

static gint32 int_at(const AstroKernel *kernel, gsize at)
{
  guint32 value;
  memcpy(&value, kernel->bytes + at, sizeof value);
  return (gint32)GUINT32_FROM_LE(value);
}

static double double_at(const AstroKernel *kernel, gsize word)
{
  guint64 bits;
  double value;
  memcpy(&bits, kernel->bytes + 8 * word, sizeof bits);
  bits = GUINT64_FROM_LE(bits);
  memcpy(&value, &bits, sizeof value);
  return value;
}

/* ---- reading ---- */

/* The last four words of a segment: its first second, the length of a record, its size, how many.
 */
static gboolean read_segment(AstroKernel *kernel, guint body, double from, double to, gint32 begin,
                             gint32 end, GError **error)
{
  const gsize words = kernel->n / 8;
  if (begin < 1 || end < 1 || end - begin < 4 || (gsize)end > words)
    return refuse(kernel, error, "has a segment beyond its end");
  const gsize at = (gsize)begin - 1, last = (gsize)end;
  const double size = double_at(kernel, last - 2), n = double_at(kernel, last - 1);
  Segment segment = { .from = from,
                      .to = to,
                      .first = double_at(kernel, last - 4),
                      .length = double_at(kernel, last - 3),
                      .at = at };
  if (!(size >= 5 && size <= 2 + 3 * MOST_COEFFICIENTS && n >= 1 && n <= 1e8) ||
      size != floor(size) || n != floor(n) || fmod(size - 2, 3) != 0)
    return refuse(kernel, error, "has a segment of records of an impossible size");
  segment.size = (gsize)size;
  segment.n = (gsize)n;
  if (segment.size * segment.n + 4 > last - at)
    return refuse(kernel, error, "has a segment shorter than its records");
  if (!(segment.length > 0 && segment.length < 1e9 && fabs(segment.first) < 1e13 &&
        fabs(from) < 1e13 && fabs(to) < 1e13 && from < to))
    return refuse(kernel, error, "has a segment of impossible times");
  g_array_append_val(kernel->segments[body], segment);
  return TRUE;
}

/* Two doubles and six ints: times, and target, centre, frame, type, first and last word. */
static gboolean read_summary(AstroKernel *kernel, gsize word, GError **error)
{
  const gsize ints = 8 * (word + 2);
  const gint32 target = int_at(kernel, ints), centre = int_at(kernel, ints + 4),
               frame = int_at(kernel, ints + 8), type = int_at(kernel, ints + 12);
  for (guint b = 0; b < N_BODIES; b++) {
    if (target != bodies[b].target || centre != bodies[b].centre)
      continue;
    if (type != 2 || frame != 1) {
      g_autofree char *wrong =
          g_strdup_printf("has %s as a segment of type %d in frame %d, and type 2 in frame 1 can "
                          "be read",
                          bodies[b].name, type, frame);
      return refuse(kernel, error, wrong);
    }
    return read_segment(kernel, b, double_at(kernel, word), double_at(kernel, word + 1),
                        int_at(kernel, ints + 16), int_at(kernel, ints + 20), error);
  }
  return TRUE;
}

static gboolean read_list(AstroKernel *kernel, GError **error)
{
  gint32 record = int_at(kernel, 76);
  for (guint read = 0; record > 0; read++) {
    if (read == MOST_RECORDS || (gsize)record > kernel->n / RECORD)
      return refuse(kernel, error, "has a list of segments that does not end in it");
    const gsize word = ((gsize)record - 1) * WORDS;
    const double next = double_at(kernel, word), n = double_at(kernel, word + 2);
    if (!(n >= 0 && n <= (WORDS - 3) / 5) || !(next >= 0 && next <= G_MAXINT32))
      return refuse(kernel, error, "has a list of segments of an impossible length");
    for (guint i = 0; i < (guint)n; i++)
      if (!read_summary(kernel, word + 3 + 5 * (gsize)i, error))
        return FALSE;
    record = (gint32)next;
  }
  return TRUE;
}

static gboolean read_kernel(AstroKernel *kernel, GError **error)
{
  if (kernel->n < 2 * RECORD || memcmp(kernel->bytes, "DAF/SPK ", 8) != 0)
    return refuse(kernel, error, "does not begin as an SPK file");
  if (memcmp(kernel->bytes + 88, "LTL-IEEE", 8) != 0)
    return refuse(kernel, error, "is not of little-endian doubles");
  if (int_at(kernel, 8) != 2 || int_at(kernel, 12) != 6)
    return refuse(kernel, error, "has lists of another form");
  if (!read_list(kernel, error))
    return FALSE;
  for (guint b = 0; b < N_BODIES; b++)
    if (kernel->segments[b]->len == 0) {
      g_autofree char *wrong = g_strdup_printf("has no segment of %s", bodies[b].name);
      return refuse(kernel, error, wrong);
    }
  return TRUE;
}

static AstroKernel *finish(AstroKernel *made, GError **error)
{
  g_autoptr(AstroKernel) kernel = made;
  for (guint b = 0; b < N_BODIES; b++)
    kernel->segments[b] = g_array_new(FALSE, FALSE, sizeof(Segment));
  return read_kernel(kernel, error) ? g_steal_pointer(&kernel) : NULL;
}

AstroKernel *astro_kernel_from_bytes(const char *name, gconstpointer bytes, gsize n, GError **error)
{
  AstroKernel *kernel = g_new0(AstroKernel, 1);
  kernel->name = g_strdup(name);
  kernel->bytes = g_memdup2(bytes, n);
  kernel->n = n;
  return finish(kernel, error);
}

AstroKernel *astro_kernel_open(const char *path, GError **error)
{
  char *bytes;
  gsize n;
  if (!g_file_get_contents(path, &bytes, &n, error))
    return NULL;
  AstroKernel *kernel = g_new0(AstroKernel, 1);
  kernel->name = g_strdup(path);
  kernel->bytes = (guint8 *)bytes;
  kernel->n = n;
  return finish(kernel, error);
}

void astro_kernel_free(AstroKernel *kernel)
{
  if (!kernel)
    return;
  for (guint b = 0; b < N_BODIES; b++)
    g_array_unref(kernel->segments[b]);
  g_free(kernel->bytes);
  g_free(kernel->name);
  g_free(kernel);
}

/* ---- positions ---- */

/* The sum of Chebyshev polynomials at x, and its derivative. */
static void sum_series(const AstroKernel *kernel, gsize word, guint n, double x, double *value,
                       double *slope)
{
  double t = 1, next = x, dt = 0, dnext = 1;
  *value = *slope = 0;
  for (guint k = 0; k < n; k++) {
    const double c = double_at(kernel, word + k), after = 2 * x * next - t,
                 dafter = 2 * next + 2 * x * dnext - dt;
    *value += c * t;
    *slope += c * dt;
    t = next;
    next = after;
    dt = dnext;
    dnext = dafter;
  }
}

/* seconds and rest: since J2000; the second is what the first has no digits for. */
static gboolean body_at(const AstroKernel *kernel, guint body, double seconds, double rest,
                        double place[3], double velocity[3], GError **error)
{
  const GArray *segments = kernel->segments[body];
  const Segment *segment = NULL;
  /* Where segments overlap, the last one counts. */
  for (guint i = 0; i < segments->len; i++) {
    const Segment *one = &g_array_index(segments, Segment, i);
    if (seconds >= one->from && seconds <= one->to)
      segment = one;
  }
  if (!segment) {
    const Segment *one = &g_array_index(segments, Segment, 0);
    return astro_fail(
        error, ASTRO_SKY_ERROR, ASTRO_SKY_ERROR_VALUE,
        "%s covers the Julian dates %.1f to %.1f, and the stream is at %.1f: expected "
        "another kernel",
        kernel->name, J2000 + one->from / DAY, J2000 + one->to / DAY, J2000 + seconds / DAY);
  }
  const double number = floor((seconds - segment->first) / segment->length);
  const gsize at = (gsize)CLAMP(number, 0, (double)(segment->n - 1));
  const gsize word = segment->at + at * segment->size;
  const double middle = double_at(kernel, word), radius = double_at(kernel, word + 1);
  const guint n = (guint)((segment->size - 2) / 3);
  const double x = (seconds - middle + rest) / radius;
  if (!(fabs(x) <= 1.000001))
    return refuse(kernel, error, "has a record that does not hold the time it is listed for");
  for (guint i = 0; i < 3; i++) {
    sum_series(kernel, word + 2 + (gsize)i * n, n, x, &place[i], &velocity[i]);
    place[i] *= 1e3;
    velocity[i] *= 1e3 / radius;
  }
  return TRUE;
}

gboolean astro_kernel_at(const AstroKernel *kernel, double jd1, double jd2, AstroPlanets *planets,
                         GError **error)
{
  double moon[2][3], unused[3];
  const double seconds = (jd1 - J2000) * DAY, rest = jd2 * DAY;
  const double whole = floor(rest);
  if (!body_at(kernel, EARTH_MOON, seconds + whole, rest - whole, planets->earth, planets->velocity,
               error) ||
      !body_at(kernel, EARTH, seconds + whole, rest - whole, moon[0], moon[1], error) ||
      !body_at(kernel, SUN, seconds + whole, rest - whole, planets->sun, unused, error))
    return FALSE;
  for (guint i = 0; i < 3; i++) {
    planets->earth[i] += moon[0][i];
    planets->velocity[i] += moon[1][i];
  }
  return TRUE;
}
