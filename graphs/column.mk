# gst-astro and its graphs.
