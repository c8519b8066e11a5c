#include "core/power-law.h"

#include <math.h>

/* A straight line through the logarithms: the error of log y is error / y. */
gboolean astro_power_law_fit(const double *x, const double *y, const double *error, guint n,
                             double low, double high, double *amplitude, double *slope)
{
  double s = 0, sx = 0, sy = 0, sxx = 0, sxy = 0;
  guint used = 0;
  for (guint k = 0; k < n; k++) {
    if (!(x[k] >= low && x[k] <= high && x[k] > 0 && y[k] > 0 && error[k] > 0))
      continue;
    double weight = y[k] * y[k] / (error[k] * error[k]), log_x = log(x[k]), log_y = log(y[k]);
    s += weight;
    sx += weight * log_x;
    sy += weight * log_y;
    sxx += weight * log_x * log_x;
    sxy += weight * log_x * log_y;
    used++;
  }
  double determinant = s * sxx - sx * sx;
  if (used < 2 || !(determinant > 0))
    return FALSE;
  *slope = (s * sxy - sx * sy) / determinant;
  *amplitude = exp((sy - *slope * sx) / s);
  return TRUE;
}
