/* For a stage outside the source tree of gst-astro: pkg-config gst-astro-1.0, and this header.
 *
 * stream.h        streams: media types, formats, layouts, and their caps
 * observation.h   telescope, time and direction; history.h what was done to a stream; earth.h the
 *                 Earth's orientation; beams.h the beams
 * validity.h      counts of good samples behind each value of a buffer
 * languages.h     all of these for Python and other languages
 * memory.h        blocks on the host and on a device; pool.h reuses them
 * backend.h       the backends of a stage; threads.h spreads work over cores
 * stage.h         the base class of elements with one input and one output; merge.h that of
 *                 elements with several inputs; fields.h their properties
 *
 * doc/first-stage.md, installed in share/doc/gst-astro, explains step by step how to make a stage
 * with them. */
#pragma once

#include <astro/enum.h>
#include <astro/stream.h>
#include <astro/history.h>
#include <astro/earth.h>
#include <astro/beams.h>
#include <astro/observation.h>
#include <astro/validity.h>
#include <astro/languages.h>
#include <astro/memory.h>
#include <astro/pool.h>
#include <astro/threads.h>
#include <astro/work.h>
#include <astro/backend.h>
#include <astro/fields.h>
#include <astro/stage.h>
#include <astro/merge.h>
