/* Centred transforms of grids, and the images made from them. The transform along v adds to the
 * image itself or, for comparison, is written first. Beside them is bare cuFFT of the same size in
 * the same run, not centred, with nothing else done. Arguments select cases by a part of their
 * name. */
#include <stdlib.h>

#include "core/backend/module.h"
#include "core/lib/fft/fft.h"
#include "core/image/image.h"
#include "tests/bench/bench.h"
#include "tests/bench/cufft.h"
#include "tests/bench/on-device.h"
#include "tests/tests.h"

#define ROUNDS 7
#define CALLS 10

static gpointer new_face(gsize bytes)
{
  GError *error = NULL;
  gpointer face;
  if (!device->funcs->alloc(device, bytes, &face, &error))
    g_error("%s", error->message);
  return face;
}

/* Random numbers between 0.5 and 1, with either sign. */
static gpointer random_face(gsize bytes, gboolean is_double)
{
  const gsize part = (gsize)32 << 20;
  guint32 *host = g_malloc(part);
  guint8 *face = new_face(bytes);

  test_fill(host, part, 1);
  for (gsize i = 0; i < part / 4; i++)
    if (!is_double)
      host[i] = (host[i] & 0x807fffff) | 0x3f000000;
    else if (i % 2)
      host[i] = (host[i] & 0x800fffff) | 0x3fe00000;
  for (gsize at = 0; at < bytes; at += part)
    device->funcs->queue_copy(device, queue, ASTRO_COPY_UP, face + at, host, MIN(part, bytes - at),
                              NULL);
  wait_for_device();
  g_free(host);
  return face;
}

/* ---- transform and image ---- */

typedef struct {
  const AstroBackend *fft, *image; /* image: NULL if it is not timed */
  gpointer transform, imaging;
  AstroBlock grid, sky, picture;
  AstroImageArguments arguments;
  const Cufft *cufft;
  int plan;
} Work;

static void run_ours(gpointer data)
{
  Work *work = data;
  GError *error = NULL;
  guint64 steps = 1;
  for (guint i = 0; i < CALLS; i++)
    if ((work->fft && !work->fft->submit(work->transform, &work->grid, 1, &work->sky, 1, &steps,
                                         NULL, &error)) ||
        (work->image && !work->image->submit(work->imaging, &work->sky, 1, &work->picture, 1,
                                             &work->arguments, NULL, &error)))
      g_error("%s", error->message);
  wait_for_device();
}

static void run_cufft(gpointer data)
{
  Work *work = data;
  for (guint i = 0; i < CALLS; i++)
    if (work->cufft->exec(work->plan, work->grid.data, work->sky.data, CUFFT_FORWARD))
      g_error("cuFFT fails");
  wait_for_device();
}

static const struct {
  guint size, image_size; /* 0: no image */
  gboolean is_double;
  enum { BOTH, IMAGE_ALONE, IN_ONE } way; /* IN_ONE: the transform along v is part of the image */
  double w;
  double wanted;
} cases[] = {
  { 8192, 8192, FALSE, IN_ONE, 0, 0.8 },
  { 8192, 8192, FALSE, BOTH, 0, 0 },
  { 8192, 5464, FALSE, IN_ONE, 0, 0.8 },
  { 8192, 5464, FALSE, BOTH, 0, 0 },
  { 8192, 8192, FALSE, IN_ONE, 300, 0 },
  { 8192, 8192, FALSE, BOTH, 300, 0 },
  { 8192, 0, FALSE, BOTH, 0, 0 },
  { 8192, 8192, FALSE, IMAGE_ALONE, 0, 0 },
  { 8192, 8192, FALSE, IMAGE_ALONE, 300, 0 },
  { 8192, 8192, TRUE, IN_ONE, 0, 0 },
  { 8192, 8192, TRUE, BOTH, 0, 0 },
  { 8192, 0, TRUE, BOTH, 0, 0 },
  { 4096, 2736, FALSE, IN_ONE, 300, 0 },
  { 4096, 2736, FALSE, BOTH, 300, 0 },
  { 4096, 0, FALSE, BOTH, 0, 0 },
  { 4096, 2736, FALSE, IMAGE_ALONE, 300, 0 },
  { 4096, 2736, TRUE, IN_ONE, 300, 0 },
  { 4096, 2736, TRUE, BOTH, 300, 0 },
  { 4096, 0, TRUE, BOTH, 0, 0 },
  { 6144, 4096, FALSE, IN_ONE, 300, 0 },
  { 6144, 4096, FALSE, BOTH, 300, 0 },
  { 6144, 0, FALSE, BOTH, 0, 0 },
  { 9000, 0, FALSE, BOTH, 0, 0 },
  { 2048, 0, FALSE, BOTH, 0, 0 },
};

static void compare(const Cufft *cufft, guint number, const char *name)
{
  const guint size = cases[number].size, image_size = cases[number].image_size;
  const gboolean is_double = cases[number].is_double;
  const AstroFormat complex_format = is_double ? ASTRO_FORMAT_CF64LE : ASTRO_FORMAT_CF32LE;
  const gsize cell = astro_format_info(complex_format)->bytes, bytes = (gsize)size * size * cell;
  /* The part that astroimage asks for. */
  const guint wanted = image_size && image_size < size ? image_size / 2 * 2 + 1 : 0;
  const AstroFftAxis centred = { TRUE, size / 2, size / 2, wanted ? size / 2 - image_size / 2 : 0,
                                 wanted };
  AstroFftConfig fft = { .from = complex_format,
                         .to = complex_format,
                         .n_axes = 2,
                         .extents = { size, size },
                         .axes = { centred, centred } };
  fft.axes[0].transformed = cases[number].way != IN_ONE;
  AstroImageConfig image = { .from = complex_format,
                             .to = is_double ? ASTRO_FORMAT_F64LE : ASTRO_FORMAT_F32LE,
                             .grid = { .size = size, .image_size = image_size, .pixel = 1e-5 },
                             .channels = 1,
                             .n_in = 1,
                             .n_out = 1,
                             .products = { { "I", 1, { { 0, FALSE, 1 } } } },
                             .transforms_v = cases[number].way == IN_ONE };
  AstroPlace place = { .device = device, .queue = queue };
  double weight = 3, ours, bare;
  /* A plane with w other than 0 is one of many, and added. */
  Work work = { .arguments = { .w = cases[number].w,
                               .weights = &weight,
                               .first = cases[number].w == 0,
                               .last = cases[number].w == 0 },
                .cufft = cufft };
  const char *variant = "", *pixels;
  GError *error = NULL;

  if (cases[number].way != IMAGE_ALONE) {
    work.fft = astro_module_backend("fft");
    if (!(work.transform = work.fft->create(&fft, &place, &variant, &error)))
      g_error("%s", error->message);
  }
  if (image_size) {
    work.image = astro_module_backend("image");
    if (!(work.imaging = work.image->create(&image, &place, &pixels, &error)))
      g_error("%s", error->message);
    work.picture.bytes = (gsize)image_size * image_size * cell / 2;
    work.picture.data = random_face(work.picture.bytes, is_double);
  }
  work.grid = (AstroBlock){ random_face(bytes, is_double), bytes };
  work.sky = (AstroBlock){ random_face(bytes, is_double), bytes };
  if (cufft->plan_2d(&work.plan, (int)size, (int)size, is_double ? CUFFT_Z2Z : CUFFT_C2C) ||
      cufft->set_stream(work.plan, queue))
    g_error("cuFFT does not plan");
  bench_pair(run_ours, &work, run_cufft, &work, ROUNDS, &ours, &bare);
  g_autofree char *title = g_strdup_printf("%s %s", name, variant);
  bench_row(title, CALLS / ours, CALLS / bare, "1/s", cases[number].wanted);
  cufft->destroy(work.plan);
  device->funcs->free(device, work.grid.data);
  device->funcs->free(device, work.sky.data);
  if (work.fft)
    work.fft->destroy(work.transform);
  if (work.image) {
    work.image->destroy(work.imaging);
    device->funcs->free(device, work.picture.data);
  }
}

static char *name_of(guint i)
{
  GString *name = g_string_new(NULL);
  g_string_printf(name, "%u x %u, %s", cases[i].size, cases[i].size,
                  cases[i].is_double ? "double" : "single");
  if (cases[i].image_size)
    g_string_append_printf(name, ", image%s %u pixels",
                           cases[i].way == IMAGE_ALONE ? " alone"
                           : cases[i].way == IN_ONE    ? " in one"
                                                       : "",
                           cases[i].image_size);
  if (cases[i].w > 0)
    g_string_append(name, ", a w-plane");
  return g_string_free(name, FALSE);
}

int main(int argc, char **argv)
{
  Cufft cufft;
  g_autoptr(GError) error = NULL;

  gst_init(&argc, &argv);
  setvbuf(stdout, NULL, _IOLBF, 0);
  if (!bench_open_device("fft-gpu"))
    return 0;
  AstroFftConfig any = { ASTRO_FORMAT_CF32LE, ASTRO_FORMAT_CF32LE, 1, { 4 }, { { TRUE } } };
  if (!astro_module_backend("fft")->shape(&any, &error)) {
    printf("fft-gpu: skipped: %s\n", error->message);
    return 0;
  }
  if (!load_cufft(&cufft)) {
    printf("fft-gpu: skipped: the loader does not find cuFFT\n");
    return 0;
  }
  g_autofree char *title = g_strdup_printf(
      "%s: centred transforms, and images of them (limit: bare cuFFT of the size)", device->name);
  bench_head(title);
  for (guint i = 0; i < G_N_ELEMENTS(cases); i++) {
    g_autofree char *name = name_of(i);
    gboolean chosen = argc < 2;
    for (int a = 1; a < argc; a++)
      chosen |= strstr(name, argv[a]) != NULL;
    if (chosen)
      compare(&cufft, i, name);
  }
  device->funcs->queue_free(device, queue);
  astro_device_unref(device);
  return 0;
}
