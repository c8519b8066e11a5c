/* Rates and times as users type them. */
#include "config.h"
#include "core/stream/typed.h"

#include "core/stream/observation.h"

#define MJD_1970 40587
#define NS_A_DAY (86400 * (gint64)GST_SECOND)
/* The year 2200, far below the overflow of signed 64-bit ns. */
#define MOST_SECONDS 7258118400u
#define MOST_DAYS 84000
#define MOST_DIGITS 9

/* Reads a decimal number in units of 10^-digits. FALSE: it has other characters, or does not
 * fit. */
static gboolean read_decimal(const char *text, guint64 *value, guint *digits)
{
  gboolean is_fraction = FALSE;
  const char *c = text;
  *value = *digits = 0;
  for (; *c; c++) {
    if (*c == '.' && !is_fraction) {
      is_fraction = TRUE;
      continue;
    }
    if (!g_ascii_isdigit(*c) || *value > G_MAXUINT64 / 10 - 1)
      return FALSE;
    *value = *value * 10 + (guint64)(*c - '0');
    *digits += is_fraction;
  }
  return c > text && g_ascii_isdigit(c[-1]);
}

static guint64 power_of_ten(guint digits)
{
  guint64 power = 1;
  while (digits-- > 0)
    power *= 10;
  return power;
}

/* 1.28e8: a decimal number times a power of ten. */
static gboolean read_exponential(const char *text, guint64 *n, guint64 *d)
{
  guint64 power;
  guint digits;
  g_auto(GStrv) parts = g_strsplit_set(text, "eE", 2);
  if (!parts[1] || !read_decimal(parts[0], n, &digits) || digits > MOST_DIGITS ||
      !g_ascii_string_to_unsigned(parts[1], 10, 0, MOST_DIGITS, &power, NULL))
    return FALSE;
  *d = power_of_ten(digits);
  return g_uint64_checked_mul(n, *n, power_of_ten((guint)power));
}

static gboolean read_fraction(const char *text, guint64 *n, guint64 *d)
{
  guint digits;
  if (read_exponential(text, n, d))
    return TRUE;
  g_auto(GStrv) parts = g_strsplit(text, "/", 2);
  *d = 1;
  if (!read_decimal(parts[0], n, &digits) || digits > MOST_DIGITS)
    return FALSE;
  if (!parts[1]) {
    *d = power_of_ten(digits);
    return TRUE;
  }
  return digits == 0 && g_ascii_string_to_unsigned(parts[1], 10, 1, G_MAXINT, d, NULL);
}

gboolean astro_rate_parse(const char *text, gint *rate_n, gint *rate_d)
{
  guint64 n = 0, d = 1;
  gboolean is_read = read_fraction(text, &n, &d) && n > 0;
  for (guint64 a = n, b = d; is_read;) { /* Euclid */
    if (b == 0) {
      n /= a;
      d /= a;
      break;
    }
    const guint64 rest = a % b;
    a = b;
    b = rest;
  }
  if (!is_read || n > G_MAXINT || d > G_MAXINT)
    return FALSE;
  *rate_n = (gint)n;
  *rate_d = (gint)d;
  return TRUE;
}

gboolean astro_time_parse(const char *text, gint64 *ns)
{
  guint64 value;
  guint digits;
  if (read_decimal(text, &value, &digits) && digits <= MOST_DIGITS &&
      value / power_of_ten(digits) <= MOST_SECONDS) {
    *ns = (gint64)(value * power_of_ten(MOST_DIGITS - digits));
    return TRUE;
  }
  g_autoptr(AstroObservation) o = astro_observation_new(0);
  if (!astro_observation_set_start(o, text, NULL) || ABS(o->start_mjd - MJD_1970) > MOST_DAYS)
    return FALSE;
  *ns = (o->start_mjd - MJD_1970) * NS_A_DAY + (gint64)o->start_ns;
  return TRUE;
}
