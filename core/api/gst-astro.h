/* For stages outside the tree of gst-astro: this header, and the flags of pkg-config gst-astro-1.0.
 *
 * stream.h        streams: media types, formats, layouts, and the caps that describe them
 * observation.h   who looked where; history.h what was done to a stream; earth.h Earth orientation
 * validity.h      counts of the good samples behind each value of a buffer
 * languages.h     all of these for Python and other languages
 * memory.h        blocks that are on the host, on a device, or on both; pool.h reuses them
 * backend.h       tables of functions that do the work; threads.h spreads it over cores
 * stage.h         the base of elements with one input and one output; merge.h the base of those with
 *                 several inputs; fields.h their properties
 *
 * doc/first-stage.md, installed in share/doc/gst-astro, makes a stage with them, step by step. */
#pragma once

#include <astro/enum.h>
#include <astro/stream.h>
#include <astro/history.h>
#include <astro/earth.h>
#include <astro/observation.h>
#include <astro/validity.h>
#include <astro/languages.h>
#include <astro/memory.h>
#include <astro/pool.h>
#include <astro/threads.h>
#include <astro/backend.h>
#include <astro/fields.h>
#include <astro/stage.h>
#include <astro/merge.h>
