/* The kind of number that samples of a format are multiplied as, by stages that multiply samples as
 * they are: CI4 as integers of 8 bits, CI32LE and U64LE as doubles. */
#pragma once

#include "core/backend/work.h"
#include "core/stream/stream.h"

G_BEGIN_DECLS

AstroArithmetic astro_format_arithmetic(AstroFormat format);

G_END_DECLS
