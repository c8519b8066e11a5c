/* Finds where an image is in the sky, and when it was taken. */
#include "core/fits/image/reader.h"
#include "core/kit/units.h"

#include <math.h>
#include <string.h>

#define SAME 1e-6 /* tolerance for square pixels and for no rotation */

typedef struct {
  const char *type[2], *unit[2];
  double value[2], pixel[2];
  double matrix[2][2]; /* degrees per pixel */
} Sky;

/* The step is in CDELT, together with PC or CROTA, or else in CD. */
static void read_matrix(const AstroFitsHeader *header, double matrix[2][2])
{
  double delta[2] = { 1, 1 }, rotation = 0;
  gboolean any = FALSE;
  for (guint i = 0; i < 2; i++) {
    any = astro_fits_get_double_n(header, "CDELT", i + 1, &delta[i]) || any;
    astro_fits_get_double_n(header, "CROTA", i + 1, &rotation);
  }
  for (guint i = 0; i < 2; i++)
    for (guint j = 0; j < 2; j++) {
      double pc = i == j, cd = 0;
      g_autofree char *pc_key = g_strdup_printf("PC%u_%u", i + 1, j + 1),
                      *cd_key = g_strdup_printf("CD%u_%u", i + 1, j + 1);
      if (!astro_fits_get_double(header, pc_key, &pc) && i != j)
        pc = sin(rotation * ASTRO_DEGREE);
      matrix[i][j] = any ? pc * delta[i] : 0;
      if (astro_fits_get_double(header, cd_key, &cd))
        matrix[i][j] = cd;
    }
}

static void read_sky(const AstroFitsHeader *header, Sky *sky)
{
  *sky = (Sky){ .type = { "", "" }, .unit = { "", "" } };
  for (guint i = 0; i < 2; i++) {
    astro_fits_get_string_n(header, "CTYPE", i + 1, &sky->type[i]);
    astro_fits_get_string_n(header, "CUNIT", i + 1, &sky->unit[i]);
    astro_fits_get_double_n(header, "CRVAL", i + 1, &sky->value[i]);
    astro_fits_get_double_n(header, "CRPIX", i + 1, &sky->pixel[i]);
  }
  read_matrix(header, sky->matrix);
}

static gboolean is_degrees(const char *unit)
{
  return g_ascii_strncasecmp(unit, "deg", 3) == 0;
}

/* In radians; 0 if pixels are not square and aligned with the axes. */
static double pixel_of(const Sky *sky)
{
  double x = fabs(sky->matrix[0][0]), y = fabs(sky->matrix[1][1]);
  gboolean is_straight = fabs(sky->matrix[0][1]) <= SAME * x && fabs(sky->matrix[1][0]) <= SAME * y;
  return is_straight && fabs(x - y) <= SAME * y ? y * ASTRO_DEGREE : 0;
}

/* The reason why the stream cannot say where the image is; NULL: none. */
static const char *obstacle(const AstroFitsHeader *header, const Sky *sky)
{
  double equinox = 2000, pole = sky->value[1] >= 90 ? 0 : 180, slant[2] = { 0, 0 };
  const char *system = "ICRS";
  if (!astro_fits_get_double(header, "EQUINOX", &equinox))
    astro_fits_get_double(header, "EPOCH", &equinox);
  astro_fits_get_string(header, "RADESYS", &system);
  astro_fits_get_double(header, "LONPOLE", &pole);
  astro_fits_get_double(header, "PV2_1", &slant[0]);
  astro_fits_get_double(header, "PV2_2", &slant[1]);
  if (!g_str_equal(sky->type[0], "RA---SIN") || !g_str_equal(sky->type[1], "DEC--SIN") ||
      slant[0] != 0 || slant[1] != 0)
    return "axes 1 and 2 are not RA---SIN and DEC--SIN";
  if ((sky->unit[0][0] && !is_degrees(sky->unit[0])) ||
      (sky->unit[1][0] && !is_degrees(sky->unit[1])))
    return "axes 1 and 2 are not in degrees";
  if (equinox != 2000 || g_str_has_prefix(system, "FK4"))
    return "the equinox is not 2000";
  if (pixel_of(sky) == 0 || pole != 180)
    return "its pixels are not squares with north up";
  if (!(fabs(sky->value[1]) <= 90) || !(fabs(sky->value[0]) <= 360))
    return "its phase centre is not on the sky";
  return NULL;
}

static gboolean read_start(const AstroFitsHeader *header, AstroObservation *o)
{
  const char *text = "";
  if (!astro_fits_get_string(header, "DATE-OBS", &text))
    return FALSE;
  g_autofree char *date = strchr(text, 'T') ? g_strdup(text) : g_strconcat(text, "T00:00:00", NULL);
  return astro_observation_set_start(o, date, NULL);
}

void astro_fits_image_read_times(const AstroFitsHeader *header, const AstroObservation *o,
                                 gint64 *start_ns, guint64 *duration_ns)
{
  g_autoptr(AstroObservation) at = astro_observation_new(0);
  double seconds = 0, ns = 0;
  if (o->has_start && read_start(header, at))
    ns = ((double)at->start_mjd - o->start_mjd) * ASTRO_NS_PER_DAY +
         ((double)at->start_ns - (double)o->start_ns);
  *start_ns = ns > 0 && ns < 1e18 ? (gint64)ns : 0;
  astro_fits_get_double(header, "TELAPSE", &seconds);
  seconds *= ASTRO_NS_PER_SECOND;
  *duration_ns = seconds > 0 && seconds < 1e18 ? (guint64)llround(seconds) : 0;
}

void astro_fits_image_read_sky(AstroFitsImageReader *r, AstroFitsContents *contents)
{
  const AstroFitsHeader *header = g_array_index(r->hdus, AstroFitsImageHdu, 0).header;
  AstroObservation *o = contents->observation = astro_observation_new(0);
  AstroGrid *grid = &contents->grid;
  const char *telescope = ASTRO_TELESCOPE_UNKNOWN, *primary_beam = NULL, *why;
  Sky sky;
  read_sky(header, &sky);
  astro_fits_get_string(header, "TELESCOP", &telescope);
  g_free(o->telescope);
  o->telescope = g_utf8_make_valid(telescope, -1);
  o->has_start = read_start(header, o);
  o->done.scale = g_array_index(r->hdus, AstroFitsImageHdu, 0).is_jansky ? 1 : 0;
  if (astro_fits_get_string(header, ASTRO_FITS_PRIMARY_BEAM, &primary_beam))
    o->done.primary_beam = g_utf8_make_valid(primary_beam, -1);
  why = obstacle(header, &sky);
  if (why && (strchr(sky.type[0], '-') || strchr(sky.type[1], '-'))) {
    g_autofree char *first = g_utf8_make_valid(sky.type[0], -1),
                    *second = g_utf8_make_valid(sky.type[1], -1);
    astro_fits_contents_note(contents, astro_fits_file_name(r->file),
                             "read without its position on the sky (%s, %s): %s", first, second,
                             why);
  } else if (why) { /* there is no position, but the size of a pixel may be known */
    grid->pixel = is_degrees(sky.unit[0]) && is_degrees(sky.unit[1]) ? pixel_of(&sky) : 0;
  } else {
    r->flip_x = sky.matrix[0][0] > 0;
    r->flip_y = sky.matrix[1][1] < 0;
    double x = r->flip_x ? (double)r->width - sky.pixel[0] : sky.pixel[0] - 1,
           y = r->flip_y ? (double)r->height - sky.pixel[1] : sky.pixel[1] - 1;
    grid->pixel = pixel_of(&sky);
    grid->centre_l = (x - (double)(r->width / 2)) * grid->pixel;
    grid->centre_m = ((double)(r->height / 2) - y) * grid->pixel;
    o->has_phase_centre = TRUE;
    o->phase_ra = sky.value[0] * ASTRO_DEGREE;
    o->phase_dec = sky.value[1] * ASTRO_DEGREE;
  }
  if (grid->pixel > 0)
    grid->cell = 1 / (grid->pixel * (double)grid->size);
}
