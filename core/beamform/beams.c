/* Reads the directions of beams from lists and files. */
#include "config.h"
#include "core/beamform/beams.h"

#include <math.h>
#include <string.h>

#include "core/beamform/beamform.h"
#include "core/kit/angle.h"
#include "core/kit/fail.h"
#include "core/kit/units.h"

typedef struct {
  AstroBeamFrame frame;
  double x, y; /* radians, or direction cosines */
} Direction;

#define EXPECTED                                                                                   \
  "expected l,m, direction cosines whose squares add up to less than 1, or "                       \
  "ra,dec " ASTRO_ANGLES_EXPECTED

/* FALSE: the texts are neither. */
static gboolean read_radec(const char *ra_text, const char *dec_text, Direction *direction)
{
  double ra, dec;
  if (!astro_angles_parse(ra_text, dec_text, &ra, &dec) || fabs(ra) > 360 || fabs(dec) > 90)
    return FALSE;
  *direction = (Direction){ ASTRO_BEAM_RADEC, ra * ASTRO_DEGREE, dec * ASTRO_DEGREE };
  return TRUE;
}

static gboolean read_lm(const char *l_text, const char *m_text, Direction *direction)
{
  double l, m;
  if (!astro_number_parse(l_text, &l) || !astro_number_parse(m_text, &m) || !(l * l + m * m < 1))
    return FALSE;
  *direction = (Direction){ ASTRO_BEAM_LM, l, m };
  return TRUE;
}

static gboolean add(AstroObservation *beams, const Direction *direction, const char *name,
                    GError **error)
{
  g_autofree char *number = g_strdup_printf("B%u", beams->n_beams);
  if (beams->n_beams == ASTRO_BEAMFORM_MAX_BEAMS)
    return astro_fail(error, ASTRO_SKY_ERROR, ASTRO_SKY_ERROR_VALUE,
                      "beams: more than %d, the most that there can be", ASTRO_BEAMFORM_MAX_BEAMS);
  return astro_observation_add_beam(beams, name ? name : number, ASTRO_BEAM_TIED, direction->frame,
                                    direction->x, direction->y, error);
}

/* ---- lists ---- */

static gboolean read_pair(const char *item, Direction *direction)
{
  g_auto(GStrv) fields = g_strsplit(item, ",", -1);
  return g_strv_length(fields) == 2 &&
         (read_lm(g_strstrip(fields[0]), g_strstrip(fields[1]), direction) ||
          read_radec(fields[0], fields[1], direction));
}

static gboolean add_pair(AstroObservation *beams, const char *item, GError **error)
{
  Direction direction;
  if (!read_pair(item, &direction))
    return astro_fail(error, ASTRO_SKY_ERROR, ASTRO_SKY_ERROR_SYNTAX,
                      "beams: beam %u is \"%s\", " EXPECTED, beams->n_beams, item);
  if (beams->n_beams && beams->beams[0].frame != direction.frame)
    return astro_fail(error, ASTRO_SKY_ERROR, ASTRO_SKY_ERROR_SYNTAX,
                      "beams: beam %u, \"%s\", is %s, but beam 0 is %s: expected all in one kind; "
                      "ra,dec close to 0,0 needs colons, as 00:01:12,+00:20:00",
                      beams->n_beams, item,
                      direction.frame == ASTRO_BEAM_LM ? "l,m (within the unit circle)" : "ra,dec",
                      direction.frame == ASTRO_BEAM_LM ? "ra,dec" : "l,m");
  return add(beams, &direction, NULL, error);
}

static AstroObservation *read_list(const char *text, GError **error)
{
  g_autoptr(AstroObservation) beams = astro_observation_new(0);
  g_auto(GStrv) items = g_strsplit(text, ";", -1);
  for (guint i = 0; items[i]; i++)
    if (*g_strstrip(items[i]) && !add_pair(beams, items[i], error))
      return NULL;
  return g_steal_pointer(&beams);
}

/* ---- files ---- */

static gboolean add_line(AstroObservation *beams, GHashTable *names, const AstroLines *lines,
                         char **fields, GError **error)
{
  const gboolean is_lm = strcmp(fields[0], "lm") == 0;
  char **pair = fields + is_lm;
  const guint n = g_strv_length(pair);
  Direction direction;
  if (n < 2 || n > 3 ||
      !(is_lm ? read_lm(pair[0], pair[1], &direction) : read_radec(pair[0], pair[1], &direction))) {
    g_autofree char *found = g_strjoinv(" ", fields);
    astro_lines_error(lines, error,
                      "found \"%s\", expected ra dec [name], with ra and dec " ASTRO_ANGLES_EXPECTED
                      ", or lm l m [name], with direction cosines",
                      found);
    return FALSE;
  }
  if (n == 3 && !g_hash_table_add(names, g_strdup(pair[2]))) {
    astro_lines_error(lines, error, "there is another beam named \"%s\" before", pair[2]);
    return FALSE;
  }
  return add(beams, &direction, n == 3 ? pair[2] : NULL, error);
}

AstroObservation *astro_beamform_beams_from_lines(AstroLines *lines, GError **error)
{
  g_autoptr(AstroObservation) beams = astro_observation_new(0);
  g_autoptr(GHashTable) names = g_hash_table_new_full(g_str_hash, g_str_equal, g_free, NULL);
  char **read;
  while ((read = astro_lines_next(lines))) {
    g_auto(GStrv) fields = read;
    if (!add_line(beams, names, lines, fields, error))
      return NULL;
  }
  return g_steal_pointer(&beams);
}

AstroObservation *astro_beamform_beams_read(const char *text, GError **error)
{
  AstroObservation *beams;
  AstroLines lines;
  if (!text || !*text || strchr(text, ',') || strchr(text, ';')) {
    beams = read_list(text ? text : "", error);
  } else {
    if (!astro_lines_open(&lines, text, error)) {
      g_prefix_error(error, "beams: ");
      return NULL;
    }
    beams = astro_beamform_beams_from_lines(&lines, error);
    astro_lines_clear(&lines);
  }
  if (beams && beams->n_beams == 0) {
    astro_fail(error, ASTRO_SKY_ERROR, ASTRO_SKY_ERROR_VALUE,
               "beams=%s has no beams, expected directions: \"l,m;l,m\", \"ra,dec;ra,dec\", or a "
               "file of lines ra dec [name]",
               text ? text : "");
    g_clear_pointer(&beams, astro_observation_unref);
  }
  return beams;
}
