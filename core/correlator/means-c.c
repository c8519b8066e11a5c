#include "core/correlator/means.h"

MEANS(integer_c, gint64)
MEANS(real_c, double)
