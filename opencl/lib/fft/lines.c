/* Transforms of lines in device memory. */
#include "config.h"
#include "opencl/lib/fft/lines.h"

#include <math.h>

static const char text[] =
#include "opencl/lib/fft/lines.cl.h"
    ;

#define MOST_RADIX 16     /* as long as factors are small */
#define LONGEST_PRIME 512 /* whose transform is a plain sum */
#define MOST_STEPS 32     /* radices of a length below 2^32 */

/* Lines that fit are transformed in a group's local memory, twice their size, of which groups on a
 * multiprocessor are to have several. A group has several lines if they are short. */
#define NEAR_BYTES 32768
#define NEAR_GROUP 256
#define NEAR_SAMPLES 1024 /* of a group */

/* As in lines.cl. */
typedef struct {
  cl_uint n;
  cl_uint radix[MOST_STEPS];
} Radices;

/* ---- memory ---- */

void astro_opencl_rooms_clear(AstroOpenclRooms *rooms, const AstroPlace *place)
{
  for (guint i = 0; i < G_N_ELEMENTS(rooms->faces); i++)
    astro_opencl_free(place, &rooms->faces[i]);
  rooms->bytes = 0;
}

gboolean astro_opencl_rooms_need(AstroOpenclRooms *rooms, const AstroPlace *place,
                                 const char *stage, gsize bytes, GError **error)
{
  if (bytes <= rooms->bytes)
    return TRUE;
  astro_opencl_rooms_clear(rooms, place);
  for (guint i = 0; i < G_N_ELEMENTS(rooms->faces); i++)
    if (!astro_opencl_alloc(place, stage, &rooms->faces[i], bytes, 1, error))
      return FALSE;
  rooms->bytes = bytes;
  return TRUE;
}

/* ---- tables ---- */

static gsize sample_bytes(const AstroOpenclLines *lines)
{
  return lines->is_double ? 16 : 8;
}

/* exp(i angle) in the lines' precision. */
static void set_phasor(const AstroOpenclLines *lines, gpointer table, guint64 at, double angle,
                       double size)
{
  for (guint part = 0; part < 2; part++) {
    const double value = size * (part ? sin(angle) : cos(angle));
    if (lines->is_double)
      ((double *)table)[2 * at + part] = value;
    else
      ((float *)table)[2 * at + part] = (float)value;
  }
}

static gpointer table_new(const AstroOpenclLines *lines, guint64 n, GError **error)
{
  gpointer table = g_try_malloc0_n(n, sample_bytes(lines));
  if (!table)
    astro_backend_no_memory(error, "no memory for %" G_GUINT64_FORMAT " roots of unity", n);
  return table;
}

/* Sends a table of so many samples, and frees it; NULL: it was not made. */
static gboolean send(AstroOpenclLines *lines, const char *stage, gpointer *face, gpointer table,
                     guint64 n, GError **error)
{
  const gboolean ok =
      table && astro_opencl_alloc(&lines->place, stage, face, n, sample_bytes(lines), error) &&
      astro_opencl_upload(&lines->place, *face, table, n * sample_bytes(lines), error);
  g_free(table);
  return ok;
}

static gboolean send_roots(AstroOpenclLines *lines, const char *stage, double sign, GError **error)
{
  gpointer roots = table_new(lines, lines->length, error);
  for (guint64 k = 0; roots && k < lines->length; k++)
    set_phasor(lines, roots, k, sign * 2 * G_PI * (double)k / (double)lines->length, 1);
  return send(lines, stage, &lines->roots, roots, lines->length, error);
}

/* The angle of the chirp, from k x k modulo 2 n, which is exact. */
static double chirp_angle(const AstroOpenclLines *lines, guint64 k, double sign)
{
  return sign * G_PI * (double)(k * k % (2 * lines->n)) / (double)lines->n;
}

/* ---- steps ---- */

/* Divides n by a radix as often as it goes. */
static void divide(Radices *radices, guint64 *n, guint64 radix)
{
  for (; *n % radix == 0; *n /= radix)
    radices->radix[radices->n++] = (cl_uint)radix;
}

/* The radices of a length, from `most` down, and then prime factors beyond. */
static Radices radices_of(guint64 n, guint most)
{
  Radices radices = { 0 };
  for (guint64 radix = most; radix > 1; radix--)
    divide(&radices, &n, radix);
  for (guint64 radix = most + 1; n > 1; radix++)
    divide(&radices, &n, radix * radix > n ? n : radix);
  return radices;
}

static gboolean launch(const AstroOpenclLines *lines, cl_kernel kernel,
                       const AstroOpenclArgument *arguments, guint n_arguments, guint64 items,
                       GError **error)
{
  return astro_opencl_launch_items(&lines->place, kernel, arguments, n_arguments, items, 64, error);
}

/* Samples that fit in a group's local memory, and as many again. */
static guint near_samples(const AstroOpenclLines *lines)
{
  const AstroOpenclDevice *device = astro_opencl_device(lines->place.device);
  return (guint)(MIN(device->local_bytes, NEAR_BYTES) / 2 / sample_bytes(lines));
}

/* Radix 4 is the one that has a form of its own there. */
static gboolean combine_all(const AstroOpenclLines *lines, const AstroOpenclRooms *rooms,
                            guint64 count, guint at, GError **error)
{
  const gsize width = MIN(astro_opencl_device(lines->place.device)->most_items, NEAR_GROUP);
  const cl_uint n = (cl_uint)lines->length, n_lines = (cl_uint)count;
  const cl_uint together = MAX(MIN(near_samples(lines), NEAR_SAMPLES) / n, 1);
  const Radices radices = radices_of(n, 4);
  const AstroOpenclArgument arguments[] = { OPENCL_FACE(rooms->faces[at]),
                                            OPENCL_FACE(rooms->faces[at ^ 1]),
                                            OPENCL_FACE(lines->roots),
                                            OPENCL_VALUE(n_lines),
                                            OPENCL_VALUE(n),
                                            OPENCL_VALUE(together),
                                            OPENCL_VALUE(radices) };
  return astro_opencl_launch_items(&lines->place, lines->combine_all, arguments,
                                   G_N_ELEMENTS(arguments),
                                   (count + together - 1) / together * width, width, error);
}

/* Transforms lines of `length` in the room *at, by radices. */
static gboolean combine(const AstroOpenclLines *lines, const AstroOpenclRooms *rooms, guint64 count,
                        guint *at, GError **error)
{
  const cl_uint n = (cl_uint)lines->length, items = (cl_uint)(count * n);
  const Radices radices = radices_of(n, MOST_RADIX);
  cl_uint done = 1;
  if (lines->combine_all) {
    *at ^= 1;
    return combine_all(lines, rooms, count, *at ^ 1, error);
  }
  for (guint i = 0; i < radices.n; i++, *at ^= 1) {
    const cl_uint radix = radices.radix[i];
    const AstroOpenclArgument arguments[] = { OPENCL_FACE(rooms->faces[*at]),
                                              OPENCL_FACE(rooms->faces[*at ^ 1]),
                                              OPENCL_FACE(lines->roots),
                                              OPENCL_VALUE(items),
                                              OPENCL_VALUE(n),
                                              OPENCL_VALUE(done),
                                              OPENCL_VALUE(radix) };
    if (!launch(lines, lines->combine, arguments, G_N_ELEMENTS(arguments), items, error))
      return FALSE;
    done *= radix;
  }
  return TRUE;
}

/* A step of a convolution from the room *at to the other one. */
static gboolean step(const AstroOpenclLines *lines, const AstroOpenclRooms *rooms, cl_kernel kernel,
                     gpointer table, guint64 count, guint *at, GError **error)
{
  const cl_uint n = (cl_uint)lines->n, length = (cl_uint)lines->length;
  const gboolean is_convolve = kernel == lines->convolve;
  const cl_uint items = (cl_uint)count * (kernel == lines->gather ? n : length);
  const AstroOpenclArgument arguments[] = { OPENCL_FACE(rooms->faces[*at]),
                                            OPENCL_FACE(rooms->faces[*at ^ 1]),
                                            OPENCL_FACE(table),
                                            OPENCL_VALUE(items),
                                            is_convolve ? OPENCL_VALUE(length) : OPENCL_VALUE(n),
                                            OPENCL_VALUE(length) };
  *at ^= 1;
  return launch(lines, kernel, arguments, G_N_ELEMENTS(arguments) - (guint)is_convolve, items,
                error);
}

gboolean astro_opencl_lines_run(const AstroOpenclLines *lines, const AstroOpenclRooms *rooms,
                                guint64 count, guint *at, GError **error)
{
  *at = 0;
  if (!lines->chirp)
    return combine(lines, rooms, count, at, error);
  return step(lines, rooms, lines->spread, lines->chirp, count, at, error) &&
         combine(lines, rooms, count, at, error) &&
         step(lines, rooms, lines->convolve, lines->response, count, at, error) &&
         combine(lines, rooms, count, at, error) &&
         step(lines, rooms, lines->gather, lines->chirp, count, at, error);
}

/* ---- convolutions ---- */

/* The chirp's conjugate around sample 0, scaled for the inverse transform; transformed where it is
 * to be used. */
static gboolean make_response(AstroOpenclLines *lines, const char *stage, double sign,
                              GError **error)
{
  const guint64 length = lines->length;
  const gsize bytes = length * sample_bytes(lines);
  AstroOpenclRooms rooms = { 0 };
  guint at = 0;
  gpointer table = table_new(lines, length, error);
  for (guint64 k = 0; table && k < lines->n; k++) {
    const double angle = chirp_angle(lines, k, -sign);
    set_phasor(lines, table, k, angle, 1 / (double)length);
    set_phasor(lines, table, (length - k) % length, angle, 1 / (double)length);
  }
  const gboolean ok =
      table && astro_opencl_rooms_need(&rooms, &lines->place, stage, bytes, error) &&
      astro_opencl_upload(&lines->place, rooms.faces[0], table, bytes, error) &&
      combine(lines, &rooms, 1, &at, error) &&
      astro_opencl_alloc(&lines->place, stage, &lines->response, length, sample_bytes(lines),
                         error) &&
      astro_opencl_copy(&lines->place, lines->response, rooms.faces[at], bytes, error);
  g_free(table);
  astro_opencl_rooms_clear(&rooms, &lines->place);
  return ok;
}

static gboolean make_chirp(AstroOpenclLines *lines, const char *stage, double sign, GError **error)
{
  gpointer chirp = table_new(lines, lines->n, error);
  for (guint64 k = 0; chirp && k < lines->n; k++)
    set_phasor(lines, chirp, k, chirp_angle(lines, k, sign), 1);
  return send(lines, stage, &lines->chirp, chirp, lines->n, error) &&
         make_response(lines, stage, sign, error);
}

static gboolean open_kernels(AstroOpenclLines *lines, gboolean convolves, GError **error)
{
  const AstroOpenclProgram program = { "transforms of lines", text, lines->is_double };
  const guint near = near_samples(lines);
  g_autofree char *options =
      g_strdup_printf("-DREAL=%s -DMOST_STEPS=%d -DNEAR=%u", lines->is_double ? "double" : "float",
                      MOST_STEPS, near);
  const struct {
    cl_kernel *kernel;
    const char *name;
    gboolean is_needed;
  } kernels[] = { { &lines->combine_all, "combine_all", lines->length <= near },
                  { &lines->combine, "combine", lines->length > near },
                  { &lines->spread, "spread", convolves },
                  { &lines->convolve, "convolve", convolves },
                  { &lines->gather, "gather", convolves } };
  for (guint i = 0; i < G_N_ELEMENTS(kernels); i++)
    if (kernels[i].is_needed &&
        !(*kernels[i].kernel =
              astro_opencl_kernel(lines->place.device, &program, options, kernels[i].name, error)))
      return FALSE;
  return TRUE;
}

gboolean astro_opencl_lines_init(AstroOpenclLines *lines, const AstroPlace *place,
                                 const char *stage, guint64 n, gboolean inverse, gboolean is_double,
                                 GError **error)
{
  const Radices radices = radices_of(n, MOST_RADIX);
  const double sign = inverse ? 1 : -1;
  *lines = (AstroOpenclLines){ .place = *place, .n = n, .length = n, .is_double = is_double };
  const gboolean convolves = radices.n > 0 && radices.radix[radices.n - 1] > LONGEST_PRIME;
  if (convolves)
    for (lines->length = 1; lines->length < 2 * n - 1;)
      lines->length *= 2;
  lines->room = lines->length;
  /* The two transforms of a convolution are the forward one. */
  return open_kernels(lines, convolves, error) &&
         send_roots(lines, stage, convolves ? -1 : sign, error) &&
         (!convolves || make_chirp(lines, stage, sign, error));
}

void astro_opencl_lines_clear(AstroOpenclLines *lines)
{
  const cl_kernel kernels[] = { lines->combine_all, lines->combine, lines->spread, lines->convolve,
                                lines->gather };
  for (guint i = 0; i < G_N_ELEMENTS(kernels); i++)
    if (kernels[i])
      clReleaseKernel(kernels[i]);
  gpointer *const faces[] = { &lines->roots, &lines->chirp, &lines->response };
  for (guint i = 0; i < G_N_ELEMENTS(faces); i++)
    astro_opencl_free(&lines->place, faces[i]);
}
