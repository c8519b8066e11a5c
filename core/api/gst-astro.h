/* What a stage outside the tree of gst-astro needs: pkg-config gst-astro-1.0, and this header.
 *
 * stream.h        what flows: media types, formats, layouts, and the caps that say so
 * observation.h   what a stream is of; history.h what was done to it, earth.h how the earth stood
 * validity.h      how many good samples stand behind each value of a buffer
 * languages.h     all of these for Python and other languages
 * memory.h        blocks with a face on the host and one on a device; pool.h where they go round
 * backend.h       who does the work of a stage; threads.h how it is spread over cores
 * stage.h         the base of elements with one input and one output, merge.h of those with several
 *                 inputs; fields.h their properties
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
