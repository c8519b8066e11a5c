/* Describes the sources in an image, as text. */
#include "graphs/sources.h"
#include "core/kit/units.h"
#include "graphs/places.h"

/* The usual width of the beam in pixels, for images whose beam is not known. */
#define PIXELS_A_BEAM 3

static double number(const GstStructure *source, const char *field)
{
  double value = 0;
  gst_structure_get_double(source, field, &value);
  return value;
}

static gboolean is_true(const GstStructure *source, const char *field)
{
  gboolean value = FALSE;
  return gst_structure_get_boolean(source, field, &value) && value;
}

static gboolean is_limited(const GstStructure *message)
{
  return !g_strcmp0(gst_structure_get_string(message, "limited-by"), "sidelobes");
}

static const char *unit_of(const GstStructure *message)
{
  const char *unit = gst_structure_get_string(message, "unit");
  return unit ? unit : "";
}

/* The beam in radians. */
static double beam_of(const GstStructure *message)
{
  const double minor = number(message, "beam-minor") * ASTRO_DEGREE;
  return minor > 0 ? minor : PIXELS_A_BEAM * number(message, "pixel");
}

/* Describes a source, with its true values first where they are known. */
static char *line_of(guint index, const GstStructure *source, double beam, const char *unit)
{
  GString *line = g_string_new(NULL);
  g_string_append_printf(line, "source %u:", index);
  if (gst_structure_has_field(source, "true-l")) {
    g_autofree char *place =
        astro_places_offset(number(source, "true-l"), number(source, "true-m"), beam);
    g_string_append_printf(line, " true %s, %.4g Jy;", place, number(source, "true-flux"));
  }
  if (!gst_structure_has_field(source, "l")) {
    g_string_append(line, is_true(source, "outside") ? " outside the image" : " not found");
    return g_string_free(line, FALSE);
  }
  g_autofree char *place = astro_places_offset(number(source, "l"), number(source, "m"), beam);
  g_string_append_printf(line, " found %s, %.4g %s", place, number(source, "flux"), unit);
  if (gst_structure_has_field(source, "offset")) {
    g_string_append_printf(line, ", %.3f pixel apart", number(source, "offset"));
  } else if (gst_structure_has_field(source, "ra")) {
    g_autofree char *direction =
        astro_places_direction(number(source, "ra"), number(source, "dec"), beam);
    g_string_append_printf(line, ", at %s", direction);
  }
  return g_string_free(line, FALSE);
}

/* Appends "of the middle 512 x 512 pixels" if peaks were only looked for there. */
static void append_border(GString *line, const GstStructure *message)
{
  guint border = 0, size = 0;
  if (gst_structure_get_uint(message, "border", &border) && border > 0 &&
      gst_structure_get_uint(message, "size", &size))
    g_string_append_printf(line, ", of the middle %u x %u pixels", size - 2 * border,
                           size - 2 * border);
}

static char *beam_text(const GstStructure *message, const char *prefix)
{
  static const char *const names[] = { "major", "minor", "angle" };
  double values[G_N_ELEMENTS(names)];
  for (guint i = 0; i < G_N_ELEMENTS(names); i++) {
    g_autofree char *field = g_strconcat(prefix, names[i], NULL);
    values[i] = number(message, field) * ASTRO_DEGREE;
  }
  return astro_places_beam(values[0], values[1], values[2]);
}

char *astro_beam_text(const GstStructure *message)
{
  return beam_text(message, "");
}

/* Appends the size of the image, which may be automatic: sources outside cannot be found. */
static void append_pixels(GString *line, const GstStructure *message)
{
  guint size = 0;
  if (!gst_structure_get_uint(message, "size", &size))
    return;
  g_autofree char *pixel = astro_places_angle(number(message, "pixel"));
  g_autofree char *width = astro_places_angle(size * number(message, "pixel"));
  g_string_append_printf(line, ", %u x %u pixels of %s, %s wide", size, size, pixel, width);
}

static char *headline(const GstStructure *message, guint n)
{
  const char *product = gst_structure_get_string(message, "product");
  guint channel = 0;
  GString *line = g_string_new(NULL);

  gst_structure_get_uint(message, "channel", &channel);
  g_string_append_printf(line, "image %s, channel %u: %u source%s, noise%s %.3g %s",
                         product ? product : "?", channel, n, n == 1 ? "" : "s",
                         is_limited(message) && !is_true(message, "cleaned") ? " and sidelobes"
                                                                             : "",
                         number(message, "rms"), unit_of(message));
  append_border(line, message);
  if (gst_structure_has_field(message, "beam-major")) {
    g_autofree char *beam = beam_text(message, "beam-");
    g_string_append_printf(line, ", beam %s", beam);
  }
  append_pixels(line, message);
  return g_string_free(line, FALSE);
}

/* Explains why faint peaks are not listed; NULL if noise alone limits them. */
static char *what_is_hidden(const GstStructure *message)
{
  const char *why = NULL;
  if (is_limited(message))
    why = is_true(message, "cleaned")
              ? "they may be sidelobes of these, which more iterations of CLEAN remove"
              : "they may be sidelobes of these, which CLEAN removes (iterations=1000)";
  else if (!g_strcmp0(gst_structure_get_string(message, "limited-by"), "depth"))
    why = "the image reaches as far below zero, where there are no sources";
  return why ? g_strdup_printf("peaks below %.3g %s are not listed: %s", number(message, "limit"),
                               unit_of(message), why)
             : NULL;
}

/* In a dirty image each source stands on the sidelobes of all others. */
static const char *what_fluxes_hold(const GstStructure *message, guint n)
{
  return n > 1 && is_true(message, "dirty")
             ? "fluxes in a dirty image include the sidelobes of its other sources, which CLEAN "
               "removes (iterations=1000)"
             : NULL;
}

/* For images whose sources were searched for, not known, and that were cleaned; else NULL. The
 * brightest source comes first. */
static char *dynamic_range(const GstStructure *message, const GValue *sources, guint n)
{
  const double noise = number(message, "rms");
  if (!n || !is_true(message, "cleaned") || !gst_structure_has_field(message, "limit") ||
      !(noise > 0))
    return NULL;
  const GstStructure *first = gst_value_get_structure(gst_value_array_get_value(sources, 0));
  return g_strdup_printf("dynamic range %.4g: the brightest source over the noise",
                         number(first, "flux") / noise);
}

GPtrArray *astro_sources_lines(const GstStructure *message)
{
  GPtrArray *lines = g_ptr_array_new_with_free_func(g_free);
  const GValue *sources = gst_structure_get_value(message, "sources");
  const guint n = gst_value_array_get_size(sources);
  char *hidden = what_is_hidden(message), *range = dynamic_range(message, sources, n);

  g_ptr_array_add(lines, headline(message, n));
  for (guint i = 0; i < n; i++)
    g_ptr_array_add(lines,
                    line_of(i + 1, gst_value_get_structure(gst_value_array_get_value(sources, i)),
                            beam_of(message), unit_of(message)));
  if (range)
    g_ptr_array_add(lines, range);
  if (hidden)
    g_ptr_array_add(lines, hidden);
  if (what_fluxes_hold(message, n))
    g_ptr_array_add(lines, g_strdup(what_fluxes_hold(message, n)));
  return lines;
}
