/* Vectors whose elements are picked from one or two others by a vector of places: an instruction
 * where GCC has its __builtin_shuffle. Clang, which builds the fuzz targets, has none that takes
 * places made at run time, and gets the same by elements. */
#pragma once

#if defined(__clang__)
#define ASTRO_SHUFFLE_TWO(a, b, places)                                                            \
  ({                                                                                               \
    const typeof((a) + (a)) shuffled_from_[] = { (a), (b) };                                       \
    typeof((a) + (a)) shuffled_;                                                                   \
    const guint lanes_ = sizeof shuffled_ / sizeof shuffled_[0];                                   \
    for (guint lane_ = 0; lane_ < lanes_; lane_++) {                                               \
      const guint place_ = (guint)(places)[lane_] % (2 * lanes_);                                  \
      shuffled_[lane_] = shuffled_from_[place_ / lanes_][place_ % lanes_];                         \
    }                                                                                              \
    shuffled_;                                                                                     \
  })
#define ASTRO_SHUFFLE(a, places) ASTRO_SHUFFLE_TWO(a, a, places)
#else
#define ASTRO_SHUFFLE_TWO(a, b, places) __builtin_shuffle(a, b, places)
#define ASTRO_SHUFFLE(a, places) __builtin_shuffle(a, places)
#endif
