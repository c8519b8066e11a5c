/* The page that shows pictures. */
#pragma once

/* Takes /stream apart itself, where a browser runs scripts: the last picture stays when the stream
 * ends, which an image of the stream may not do. */
extern const char astro_page[];

#define ASTRO_PAGE_BOUNDARY "gst-astro-picture"
