#include "core/correlator/means.h"

MEANS(integer_avx2, gint64)
MEANS(real_avx2, double)
