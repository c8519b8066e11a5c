/* The reader of UVFITS. */
#pragma once

#include "core/fits/reader.h"

G_BEGIN_DECLS

/* Gives CF32LE. Counts are the weights; if not all weights are integers, they are scaled by one
 * factor for the whole file. Groups may be in any order. */
extern const AstroFitsReaderKind astro_uvfits_reader;

G_END_DECLS
