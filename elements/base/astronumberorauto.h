/* Properties that are a whole number or the word auto, which is 0. An enumeration of all numbers
 * would take a line for each in gst-inspect-1.0, and a plain number could not be set to a word. */
#pragma once

#include <gst/gst.h>
#include "core/kit/exports.h"

ASTRO_BEGIN_DECLS

/* The key of a text in the data of such a property, which tells gst-astro what a user may type. */
#define ASTRO_EXPECTED "astro-expected"

/* Programs set and get it as an int, pipelines as text. automatic: what auto does, for the help. */
GParamSpec *astro_param_spec_number_or_auto(const char *name, const char *nick, const char *blurb,
                                            const char *automatic, guint most, GParamFlags flags);

ASTRO_END_DECLS
