/* The page that shows pictures. */
#pragma once

/* The page parses /stream itself if the browser runs scripts, so that the last picture stays when
 * the stream ends, which an image with the stream as its source may not do. */
extern const char astro_page[];

#define ASTRO_PAGE_BOUNDARY "gst-astro-picture"
