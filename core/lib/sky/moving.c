/* Names of bodies of the solar system. */
#include "config.h"
#include "core/lib/sky/moving.h"

static const struct {
  const char *name, *told;
} bodies[] = {
  { "sun", "the Sun" },   { "moon", "the Moon" },     { "mercury", "Mercury" },
  { "venus", "Venus" },   { "mars", "Mars" },         { "jupiter", "Jupiter" },
  { "saturn", "Saturn" }, { "uranus", "Uranus" },     { "neptune", "Neptune" },
  { "pluto", "Pluto" },   { "ceres", "Ceres" },       { "io", "Io" },
  { "europa", "Europa" }, { "ganymede", "Ganymede" }, { "callisto", "Callisto" },
  { "titan", "Titan" },
};

char *astro_moving_tell(const char *text)
{
  g_autofree char *name = g_strstrip(g_strdup(text));
  for (guint i = 0; i < G_N_ELEMENTS(bodies); i++)
    if (!g_ascii_strcasecmp(name, bodies[i].name))
      return g_strdup_printf("%s moves among the stars, and directions here are fixed ones: "
                             "expected its ra,dec at the time of the observation",
                             bodies[i].told);
  return NULL;
}
