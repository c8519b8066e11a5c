/* Reads tables of gains as streams (core/lib/gains/caps.h). */
#pragma once

#include "core/fits/reader.h"

G_BEGIN_DECLS

extern const AstroFitsReaderKind astro_gains_reader;

G_END_DECLS
