#include "core/correlator/means.h"

MEANS(integer_avx512, gint64)
MEANS(real_avx512, double)
