/* Properties that are a whole number or the word auto, which is 0. An enumeration of all the
 * numbers would be a line each in gst-inspect-1.0; a number alone has no word. */
#pragma once

#include <gst/gst.h>
#include "core/kit/exports.h"

ASTRO_BEGIN_DECLS

/* What tells gst-astro what to type: data of a property of that name, a text. */
#define ASTRO_EXPECTED "astro-expected"

/* Programs set and get it as an int, pipelines as text. automatic: what auto does. */
GParamSpec *astro_param_spec_number_or_auto(const char *name, const char *nick, const char *blurb,
                                            const char *automatic, guint most, GParamFlags flags);

ASTRO_END_DECLS
