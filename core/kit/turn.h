/* Sine and cosine of an angle to 1e-16, without a call, of numbers and of GCC's vectors of them
 * alike: the series of a quarter of the angle (which is within a quarter of pi), doubled twice. */
#pragma once

#define ASTRO_TURN_BY_QUARTER(Type, quarter, cosine, sine)                                         \
  do {                                                                                             \
    static const double sine_terms[] = {                                                           \
      -1.0 / 6,        1.0 / 120,        -1.0 / 5040,         1.0 / 362880,                        \
      -1.0 / 39916800, 1.0 / 6227020800, -1.0 / 1307674368000                                      \
    };                                                                                             \
    static const double cosine_terms[] = { -1.0 / 2,           1.0 / 24,                           \
                                           -1.0 / 720,         1.0 / 40320,                        \
                                           -1.0 / 3628800,     1.0 / 479001600,                    \
                                           -1.0 / 87178291200, 1.0 / 20922789888000 };             \
    const Type x_ = (quarter), x2_ = x_ * x_;                                                      \
    Type s_ = sine_terms[6] * x2_ + sine_terms[5];                                                 \
    Type c_ = cosine_terms[7] * x2_ + cosine_terms[6];                                             \
    for (guint k_ = 5; k_-- > 0;)                                                                  \
      s_ = s_ * x2_ + sine_terms[k_];                                                              \
    for (guint k_ = 6; k_-- > 0;)                                                                  \
      c_ = c_ * x2_ + cosine_terms[k_];                                                            \
    s_ = x_ + x_ * x2_ * s_;                                                                       \
    c_ = 1 + x2_ * c_;                                                                             \
    for (guint k_ = 0; k_ < 2; k_++) {                                                             \
      const Type twice_ = 2 * s_ * c_;                                                             \
      c_ = 1 - 2 * s_ * s_;                                                                        \
      s_ = twice_;                                                                                 \
    }                                                                                              \
    (cosine) = c_;                                                                                 \
    (sine) = s_;                                                                                   \
  } while (0)
