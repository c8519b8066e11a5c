/* Pulses in time, and how they are written. */
#include "config.h"
#include "core/lib/sky/pulse.h"

#include "core/kit/lines.h"

#include <math.h>
#include <string.h>

#define AREA sqrt(G_PI / (4 * G_LN2)) /* of a Gaussian of width and height 1 */
#define REACH 4.0                     /* widths from its middle, where it is below 1e-19 */
#define MAX_DM 1e5

enum { PERIOD, DUTY, PHASE, TIME, WIDTH, DM };
#define TOLD(which) (1u << (which))

static const struct {
  AstroSourceKind kind; /* ASTRO_SOURCE_STEADY: of both others */
  const char *name;
  gsize offset;
} words[] = {
  [PERIOD] = { ASTRO_SOURCE_PULSAR, "period", G_STRUCT_OFFSET(AstroPulse, period) },
  [DUTY] = { ASTRO_SOURCE_PULSAR, "duty", G_STRUCT_OFFSET(AstroPulse, duty) },
  [PHASE] = { ASTRO_SOURCE_PULSAR, "phase", G_STRUCT_OFFSET(AstroPulse, phase) },
  [TIME] = { ASTRO_SOURCE_BURST, "time", G_STRUCT_OFFSET(AstroPulse, time) },
  [WIDTH] = { ASTRO_SOURCE_BURST, "width", G_STRUCT_OFFSET(AstroPulse, width) },
  [DM] = { ASTRO_SOURCE_STEADY, "dm", G_STRUCT_OFFSET(AstroPulse, dm) },
};

/* ---- words ---- */

static gboolean is_word(const AstroPulse *pulse, guint i, const char *name, gsize length)
{
  return (words[i].kind == ASTRO_SOURCE_STEADY || words[i].kind == pulse->kind) &&
         strlen(words[i].name) == length && !g_ascii_strncasecmp(words[i].name, name, length);
}

gboolean astro_pulse_read(AstroPulse *pulse, const char *word, guint *told, char **wrong)
{
  const char *equals = strchr(word, '=');
  *wrong = NULL;
  for (guint i = 0; equals && i < G_N_ELEMENTS(words); i++) {
    if (!is_word(pulse, i, word, (gsize)(equals - word)))
      continue;
    if (*told & TOLD(i))
      *wrong = g_strdup_printf("\"%s\" comes a second time, expected it once", word);
    else if (!astro_number_parse(equals + 1, G_STRUCT_MEMBER_P(pulse, words[i].offset)))
      *wrong = g_strdup_printf("\"%s\": expected a number after '='", word);
    *told |= TOLD(i);
    return TRUE;
  }
  return FALSE;
}

const char *astro_pulse_check(const AstroPulse *pulse, guint told)
{
  const guint needed =
      pulse->kind == ASTRO_SOURCE_PULSAR ? TOLD(PERIOD) | TOLD(DUTY) : TOLD(TIME) | TOLD(WIDTH);
  if ((told & needed) != needed)
    return pulse->kind == ASTRO_SOURCE_PULSAR ? "expected period= (s) and duty="
                                              : "expected time= and width= (s)";
  if (pulse->kind == ASTRO_SOURCE_PULSAR && !(pulse->period > 0))
    return "the period must be above 0 s";
  if (pulse->kind == ASTRO_SOURCE_PULSAR && !(pulse->duty > 0 && pulse->duty <= 0.5))
    return "duty, the width of a pulse over the period, must be above 0 and at most 0.5";
  if (pulse->kind == ASTRO_SOURCE_BURST && !(pulse->width > 0))
    return "the width must be above 0 s";
  if (!(pulse->dm >= 0 && pulse->dm <= MAX_DM))
    return "the dispersion measure must be from 0 to 100000 pc/cm^3";
  return NULL;
}

const char *astro_pulse_words(AstroSourceKind kind)
{
  return kind == ASTRO_SOURCE_PULSAR  ? "period= (s), duty=, phase= or dm= (pc/cm^3), "
         : kind == ASTRO_SOURCE_BURST ? "time=, width= (s) or dm= (pc/cm^3), "
                                      : "";
}

/* ---- shapes ---- */

double astro_pulse_width(const AstroPulse *pulse)
{
  return pulse->kind == ASTRO_SOURCE_PULSAR ? pulse->duty * pulse->period : pulse->width;
}

double astro_pulse_peak(const AstroPulse *pulse, double sweep)
{
  const double spread = AREA * hypot(astro_pulse_width(pulse), sweep);
  return pulse->kind == ASTRO_SOURCE_PULSAR ? MAX(pulse->period / spread, 1) : 1 / spread;
}

/* A Gaussian of area 1, x from its middle. */
static double gaussian(double x, double width)
{
  const double y = x / width;
  return fabs(y) < REACH ? exp(-4 * G_LN2 * y * y) / (AREA * width) : 0;
}

/* The mean over a period is 1: of the pulses beside the nearest, only their tails count. */
static double pulsar_at(const AstroPulse *pulse, double seconds)
{
  const double turns = seconds / pulse->period - pulse->phase, x = turns - rint(turns);
  return gaussian(x, pulse->duty) + gaussian(x - 1, pulse->duty) + gaussian(x + 1, pulse->duty);
}

gboolean astro_pulse_shape(const AstroPulse *pulse, double rate, gint64 first, guint n,
                           float *gains)
{
  gboolean any = FALSE;
  for (guint i = 0; i < n; i++) {
    const double seconds = (double)(first + (gint64)i) / rate;
    const double flux = pulse->kind == ASTRO_SOURCE_PULSAR
                            ? pulsar_at(pulse, seconds)
                            : gaussian(seconds - pulse->time, pulse->width);
    gains[i] = (float)sqrt(flux);
    any |= flux > 0;
  }
  return any;
}
