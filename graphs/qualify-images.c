/* Errors of images beside direct transforms, and whether degridding is the adjoint of gridding. */
#include "core/backend/module.h"
#include "graphs/qualify-play.h"
#include "graphs/qualify-streams.h"

#include <math.h>
#include <string.h>

#define WHEN "phase-centre=246.5,38 start-time=2026-11-20T12:00:00 "
#define SKY "sky=0,0,1;0.006,-0.004,2;-0.008,0.009,0.5 "
/* Long baselines and a wide field, so that w matters. */
#define VISIBILITIES                                                                               \
  "astrovissrc array=vla-like stations=12 seed=%u noise=%s channels=3 integration=60 "             \
  "duration=300 " WHEN
#define STATIONS 12
#define SIZE "size=%u cell=20 "

/* Values of any precision, as doubles. */
static double *values_of(const AstroQualifyOutput *output, gsize *n)
{
  const gboolean is_double = astro_format_is_double(output->format);
  *n = output->values->len / (is_double ? sizeof(double) : sizeof(float));
  double *values = g_new(double, *n + 1);
  for (gsize i = 0; i < *n; i++)
    values[i] = is_double ? ((const double *)output->values->data)[i]
                          : (double)((const float *)output->values->data)[i];
  return values;
}

static char *collect(const char *line, double **values, gsize *n)
{
  AstroQualifyOutput output;
  char *trouble = astro_qualify_collect(line, &output);
  *values = values_of(&output, n);
  if (!trouble && *n == 0)
    trouble = g_strdup("nothing came out");
  astro_qualify_output_clear(&output);
  return trouble;
}

static AstroQualifyResult *add_result(GPtrArray *results, const char *requirement,
                                      const char *subject)
{
  AstroQualifyResult *result = astro_qualify_result_new(requirement, subject);
  g_ptr_array_add(results, result);
  return result;
}

static void judge(AstroQualifyResult *result, char *trouble)
{
  result->state =
      !trouble && result->value <= result->limit ? ASTRO_QUALIFY_PASS : ASTRO_QUALIFY_SHORT;
  if (trouble)
    result->remark = trouble;
}

/* ---- errors of images ---- */

/* Double precision all along, so that errors are those of the algorithm. */
static char *image_line(guint size, guint32 seed, const char *gridder, const char *backend)
{
  return g_strdup_printf(
      VISIBILITIES SKY
      "! application/x-astro-visibilities,format=CF64LE ! astrogridder " SIZE
      "%s backend=%s ! application/x-astro-uvgrid,format=CF64LE ! astrofft backend=%s "
      "! astroimage backend=%s ! application/x-astro-image,format=F64LE "
      "! fakesink name=end sync=false async=false",
      seed, "1", size, gridder, backend, backend, backend);
}

/* Root of the mean square of the difference, as a part of that of the image. */
static double relative_l2(const double *expected, const double *found, gsize n)
{
  double difference = 0, whole = 0;
  for (gsize i = 0; i < n; i++) {
    difference += (expected[i] - found[i]) * (expected[i] - found[i]);
    whole += expected[i] * expected[i];
  }
  return sqrt(difference / whole);
}

static void image_errors(const double *direct, gsize n, guint size, guint32 seed,
                         const char *backend, GPtrArray *results)
{
  static const double accuracies[] = { 1e-1, 1e-2, 1e-3, 1e-4, 1e-5, 1e-6, 1e-8, 1e-10 };
  for (guint i = 0; i < G_N_ELEMENTS(accuracies); i++) {
    g_autofree char *subject = g_strdup_printf("%s, accuracy %g", backend, accuracies[i]);
    g_autofree char *gridder = g_strdup_printf("accuracy=%g", accuracies[i]);
    g_autofree char *line = image_line(size, seed, gridder, backend);
    AstroQualifyResult *result = add_result(results, "image", subject);
    gsize found = 0;
    g_autofree double *image = NULL;
    char *trouble = collect(line, &image, &found);
    if (!trouble && found != n)
      trouble = g_strdup("its image has another size than that of direct sums");
    if (!trouble)
      result->value = relative_l2(direct, image, n);
    result->limit = accuracies[i];
    judge(result, trouble);
  }
}

static void look_at_images(guint size, guint32 seed, gboolean has_device, GPtrArray *results)
{
  gsize n = 0;
  g_autofree double *direct = NULL;
  g_autofree char *line = image_line(size, seed, "algorithm=direct accuracy=1e-12", "cpu");
  char *trouble = collect(line, &direct, &n);
  if (trouble) {
    judge(add_result(results, "image", "direct"), trouble);
    return;
  }
  image_errors(direct, n, size, seed, "cpu", results);
  if (has_device)
    image_errors(direct, n, size, seed, "cuda", results);
}

/* ---- adjointness ---- */

/* A model in Jy/pixel with all kinds of places in it, as a file. */
static char *make_model(guint size, guint32 seed, const char *file)
{
  static const AstroQualifyPlay nothing = { 0 };
  g_autofree char *line = g_strdup_printf(
      VISIBILITIES SKY "! astrogridder " SIZE "! astrofft ! astroimage "
                       "! application/x-astro-image,psf=(boolean)true "
                       "! astroclean iterations=300 output=model ! astrofitssink location=%s",
      seed, "1", size, file);
  return astro_qualify_play(line, &nothing);
}

/* The mean over cross-correlations of Re(V conj(W)) of Stokes I, and of |V|^2 and |W|^2. */
static void inner_product(const double *v, const double *w, gsize n, guint stations,
                          double *product, double *v_power, double *w_power)
{
  const guint baselines = stations * (stations + 1) / 2;
  gsize used = 0;
  *product = *v_power = *w_power = 0;
  for (gsize value = 0; 8 * (value + 1) <= n; value++) {
    guint i = 0, j = (guint)(value % baselines);
    while (j > i)
      j -= ++i;
    if (i == j)
      continue;
    const double *a = v + 8 * value, *b = w + 8 * value; /* XX XY YX YY */
    const double re = (a[0] + a[6]) / 2, im = (a[1] + a[7]) / 2;
    const double model_re = (b[0] + b[6]) / 2, model_im = (b[1] + b[7]) / 2;
    *product += re * model_re + im * model_im;
    *v_power += re * re + im * im;
    *w_power += model_re * model_re + model_im * model_im;
    used++;
  }
  *product /= (double)MAX(used, 1);
  *v_power /= (double)MAX(used, 1);
  *w_power /= (double)MAX(used, 1);
}

static double dot(const double *a, const double *b, gsize n)
{
  double sum = 0;
  for (gsize i = 0; i < n; i++)
    sum += a[i] * b[i];
  return sum;
}

/* For noise V and a model M: the sum over pixels of image(V) M is the mean over visibilities of
 * Re(V conj(prediction(M))). */
static char *deviation_of(guint size, guint32 seed, const char *backend, double accuracy,
                          const char *file, double *deviation)
{
  static const char end[] = "! fakesink name=end sync=false async=false";
  gsize n_noise = 0, n_predicted = 0, n_image = 0, n_model = 0;
  g_autofree double *noise = NULL, *predicted = NULL, *image = NULL, *model = NULL;
  g_autofree char *source = g_strdup_printf(VISIBILITIES "sky=0,0,0 ", seed, "5");
  g_autofree char *of_noise = g_strdup_printf("%s%s", source, end);
  g_autofree char *of_prediction =
      g_strdup_printf("%s! astrodegridder model=%s accuracy=%g backend=%s %s", source, file,
                      accuracy, backend, end);
  g_autofree char *of_image =
      g_strdup_printf("%s! astrogridder " SIZE "accuracy=%g backend=%s ! astrofft backend=%s "
                      "! astroimage backend=%s %s",
                      source, size, accuracy, backend, backend, backend, end);
  g_autofree char *of_model = g_strdup_printf("astrofitssrc location=%s %s", file, end);
  char *trouble = collect(of_noise, &noise, &n_noise);
  trouble = trouble ? trouble : collect(of_prediction, &predicted, &n_predicted);
  trouble = trouble ? trouble : collect(of_image, &image, &n_image);
  trouble = trouble ? trouble : collect(of_model, &model, &n_model);
  if (trouble)
    return trouble;
  if (n_noise != n_predicted || n_image != n_model)
    return g_strdup("sizes of images or of visibilities differ");
  double product, v_power, w_power;
  inner_product(noise, predicted, n_noise, STATIONS, &product, &v_power, &w_power);
  *deviation = fabs(dot(image, model, n_image) - product) / sqrt(v_power * w_power);
  return NULL;
}

static void look_at_adjoint(guint size, guint32 seed, const char *backend, const char *file,
                            GPtrArray *results)
{
  static const double accuracies[] = { 1e-2, 1e-4, 1e-8 };
  for (guint i = 0; i < G_N_ELEMENTS(accuracies); i++) {
    g_autofree char *subject = g_strdup_printf("%s, accuracy %g", backend, accuracies[i]);
    AstroQualifyResult *result = add_result(results, "adjoint", subject);
    result->limit = accuracies[i];
    judge(result, deviation_of(size, seed, backend, accuracies[i], file, &result->value));
  }
}

void astro_qualify_images(gboolean is_quick, guint32 seed, const char *folder, GPtrArray *results)
{
  const guint size = is_quick ? 64 : 256;
  const AstroModule *module = astro_module_get(NULL);
  const gboolean has_device = module && module->n_devices(NULL) > 0;
  g_autofree char *file = g_build_filename(folder, "adjoint.fits", NULL);
  look_at_images(size, seed, has_device, results);
  char *trouble = make_model(size, seed, file);
  if (trouble) {
    judge(add_result(results, "adjoint", "model"), trouble);
    return;
  }
  look_at_adjoint(size, seed, "cpu", file, results);
  if (has_device)
    look_at_adjoint(size, seed, "cuda", file, results);
}
