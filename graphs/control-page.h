/* The page that shows a run. */
#pragma once

extern const char astro_control_page_text[];
