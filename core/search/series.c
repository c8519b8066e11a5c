/* Places samples in series, cuts windows, and makes hits of boxcars above the threshold. */
#include "config.h"
#include "core/search/series.h"

#include "core/backend/count.h"
#include "core/backend/threads.h"
#include "core/search/check.h"

#include <math.h>
#include <string.h>

#define FARTHEST 1e6 /* noise: a value beyond it would spoil the running sums of its neighbours */
#define SERIES_A_TASK 8 /* series that lie side by side in a block of power */
#define TILE 64         /* steps whose values of so many series stay in the caches */

typedef struct {
  double baseline, noise;
} Level;

typedef struct {
  float *x, *w;  /* values and weights that are not searched yet */
  double *z, *v; /* of the last values that were: as many as the widest boxcar has, less 1 */
  Level level;   /* of the last window that counted */
  gboolean has_level;
  AstroSearchHit open; /* it may go on; steps is 0: there is none */
  GArray *hits;
  guint64 not_finite;
} Series;

typedef struct {
  AstroSearchConfig config;
  const AstroSearchMethod *method;
  guint threads, n;
  Series *series; /* [station][dm] */
  guint held_most;

  gboolean is_begun;
  guint64 origin;   /* the first step of all */
  guint64 base;     /* the first step that is held */
  guint64 measured; /* the step after the last window */
  guint held;       /* steps that are held */
} Search;

/* A half of a window waits for the window after it. */
guint astro_search_held(const AstroSearchConfig *config)
{
  return config->window + config->window / 2 + 1;
}

void astro_search_destroy(gpointer instance)
{
  Search *self = instance;
  for (guint i = 0; self->series && i < self->n; i++) {
    Series *series = &self->series[i];
    g_free(series->x);
    g_free(series->w);
    g_free(series->z);
    g_free(series->v);
    g_clear_pointer(&series->hits, g_array_unref);
  }
  g_free(self->series);
  g_free(self);
}

gpointer astro_search_create(const AstroSearchConfig *config, const AstroSearchMethod *method,
                             guint threads, GError **error)
{
  if (!astro_search_shape(config, error))
    return NULL;
  const double bytes = astro_search_bytes(config);
  if (bytes > (double)astro_host_memory()) {
    astro_backend_no_memory(error,
                            "a window of %u steps of %u series takes %.0f bytes, and the machine "
                            "has %" G_GUINT64_FORMAT,
                            config->window, config->stations * config->dms, bytes,
                            astro_host_memory());
    return NULL;
  }
  Search *self = g_new0(Search, 1);
  const gsize tail = astro_search_widest(config);
  gboolean has_room = TRUE;
  self->config = *config;
  self->method = method;
  self->threads = threads;
  self->n = config->stations * config->dms;
  self->held_most = astro_search_held(config);
  self->series = g_new0(Series, self->n);
  for (guint i = 0; i < self->n; i++) {
    Series *series = &self->series[i];
    has_room &= (series->x = g_try_new(float, self->held_most)) != NULL;
    has_room &= (series->w = g_try_new(float, self->held_most)) != NULL;
    has_room &= (series->z = g_try_new0(double, tail)) != NULL;
    has_room &= (series->v = g_try_new0(double, tail)) != NULL;
    series->hits = g_array_new(FALSE, FALSE, sizeof(AstroSearchHit));
  }
  if (has_room)
    return self;
  astro_search_destroy(self);
  astro_backend_no_memory(error, "no memory for %u series of %.0f bytes in all",
                          config->stations * config->dms, bytes);
  return NULL;
}

/* ---- samples come in ---- */

typedef struct {
  Search *self;
  const float *in; /* NULL: lost */
  const AstroSearchArguments *arguments;
  AstroSearchStrides strides;
  guint64 from; /* step of the block */
  guint n;      /* steps */
} Taking;

static void take_value(Series *series, guint at, float x, float w)
{
  const gboolean is_finite = isfinite(x);
  series->not_finite += !is_finite && w > 0;
  series->x[at] = is_finite ? x : 0;
  series->w[at] = is_finite ? w : 0;
}

static void take_series(gpointer data, guint64 task)
{
  const Taking *taking = data;
  Search *self = taking->self;
  const AstroSearchArguments *arguments = taking->arguments;
  const guint first = (guint)task * SERIES_A_TASK, end = MIN(first + SERIES_A_TASK, self->n);
  for (guint tile = 0; tile < taking->n; tile += TILE)
    for (guint i = first; i < end; i++) {
      const gsize at = (i / self->config.dms) * taking->strides.station +
                       (i % self->config.dms) * taking->strides.dm;
      for (guint t = tile; t < MIN(tile + TILE, taking->n); t++) {
        const guint64 step = taking->from + t;
        const float x = taking->in ? taking->in[step * taking->strides.time + at] : 0;
        const float w = !taking->in ? 0
                        : !arguments->counts
                            ? 1
                            : (float)arguments->counts[step * self->n + i] / (float)arguments->full;
        take_value(&self->series[i], self->held + t, x, w);
      }
    }
}

/* ---- a window ends ---- */

typedef struct {
  Search *self;
  guint from, to;        /* the window, in held values */
  guint stop;            /* values before this one are searched now */
  double middle, before; /* the middles of this window and of the one before, in held values */
  gboolean is_last;
  guint64 *begins; /* for each series: the step before which no hit to come begins */
} Window;

static gboolean find_level(Series *series, const Window *window, double *scratch, Level *level)
{
  const Search *self = window->self;
  guint good = 0;
  for (guint i = window->from; i < window->to; i++)
    good += series->w[i] > 0;
  return (!series->has_level || good >= self->config.window / 2) &&
         self->method->measure(series->x + window->from, series->w + window->from,
                               window->to - window->from, scratch, &level->baseline, &level->noise);
}

/* From the middle of one window to that of the next baseline and noise change linearly. Where a
 * window does not count, those before it go on. */
static void normalise(const Series *series, const Window *window, const Level *before,
                      const Level *now, double *z, double *v)
{
  const double length = window->middle - window->before,
               baseline = now->baseline - before->baseline, noise = now->noise - before->noise;
  for (guint i = 0; i < window->stop; i++) {
    const double w = (double)series->w[i], part = CLAMP((i + 0.5 - window->before) / length, 0, 1),
                 x = ((double)series->x[i] - before->baseline - part * baseline) /
                     (before->noise + part * noise);
    ASTRO_COUNT(3); /* less the baseline, by the noise, weighted */
    z[i] = w * CLAMP(x, -FARTHEST, FARTHEST);
    v[i] = w;
  }
}

static void end_hit(Series *series)
{
  if (series->open.steps > 0)
    g_array_append_val(series->hits, series->open);
  series->open.steps = 0;
}

static void take_boxcar(Series *series, const AstroSearchHit *boxcar)
{
  AstroSearchHit *open = &series->open;
  if (open->steps == 0 || boxcar->begin > open->end) {
    end_hit(series);
    *open = *boxcar;
    return;
  }
  const guint64 begin = MIN(open->begin, boxcar->begin), end = boxcar->end;
  if (boxcar->snr > open->snr)
    *open = *boxcar;
  open->begin = begin;
  open->end = end;
}

static void make_hits(Search *self, guint i, guint n, const double *best, const guint32 *which)
{
  for (guint k = 0; k < n; k++) {
    if (!(best[k] >= self->config.threshold))
      continue;
    const guint64 end = self->base + k + 1;
    take_boxcar(&self->series[i],
                &(AstroSearchHit){ i / self->config.dms, i % self->config.dms, end - which[k],
                                   which[k], end - which[k], end, best[k] });
  }
}

static void search_series(gpointer data, guint64 task)
{
  const Window *window = data;
  Search *self = window->self;
  Series *series = &self->series[task];
  const guint widest = astro_search_widest(&self->config), tail = widest - 1, n = window->stop,
              all = tail + n;
  g_autofree double *z = g_new0(double, all), *v = g_new0(double, all),
                    *scratch = g_new(double, 3 * (gsize)(MAX(all, window->to) + 1)),
                    *best = g_new(double, MAX(n, 1));
  g_autofree guint32 *which = g_new(guint32, MAX(n, 1));
  Level now = { 0 };

  const gboolean counts = find_level(series, window, scratch, &now);
  const Level before = series->has_level ? series->level : now;
  if (!counts)
    now = before;
  memcpy(z, series->z, tail * sizeof *z);
  memcpy(v, series->v, tail * sizeof *v);
  if (counts || series->has_level)
    normalise(series, window, &before, &now, z + tail, v + tail);
  const guint64 passed = self->base - self->origin; /* steps before the first held one */
  self->method->scan(z, v, passed >= tail ? 0 : tail - (guint)passed, tail, all, &self->config,
                     scratch, best, which);
  make_hits(self, (guint)task, n, best, which);
  memcpy(series->z, z + n, tail * sizeof *z);
  memcpy(series->v, v + n, tail * sizeof *v);
  memmove(series->x, series->x + n, (self->held - n) * sizeof *series->x);
  memmove(series->w, series->w + n, (self->held - n) * sizeof *series->w);
  series->has_level |= counts;
  series->level = now;
  const guint64 next = self->base + n > tail ? self->base + n - tail : 0;
  if (window->is_last || series->open.end < next)
    end_hit(series);
  window->begins[task] = series->open.steps > 0 ? MIN(next, series->open.begin) : next;
}

/* Hits go out by series, so that their order does not depend on threads. */
static void give_hits(Search *self, AstroSearchFound *found, const guint64 *begins)
{
  found->settled = G_MAXUINT64;
  for (guint i = 0; i < self->n; i++) {
    Series *series = &self->series[i];
    g_array_append_vals(found->hits, series->hits->data, series->hits->len);
    g_array_set_size(series->hits, 0);
    found->settled = MIN(found->settled, begins[i]);
  }
}

/* Searches up to the middle of the window that ends with the values held, or all of them. */
static void end_window(Search *self, gboolean is_last, AstroSearchFound *found)
{
  const guint64 length = self->config.window, end = self->base + self->held,
                start = (end - 1) / length * length,
                from = MAX(start, MAX(self->base, self->measured));
  const double middle = (double)start + length / 2.0;
  g_autofree guint64 *begins = g_new(guint64, self->n);
  const Window window = {
    .self = self,
    .from = (guint)(from - self->base),
    .to = self->held,
    .stop =
        is_last ? self->held : (guint)(start + length / 2 - MIN(self->base, start + length / 2)),
    .middle = middle - (double)self->base,
    .before = middle - (double)self->base - (double)length,
    .is_last = is_last,
    .begins = begins,
  };
  astro_parallel(self->n, self->threads, search_series, (gpointer)&window);
  give_hits(self, found, begins);
  self->measured = end;
  self->base += window.stop;
  self->held -= window.stop;
}

static void begin(Search *self, guint64 first)
{
  const gsize tail = astro_search_widest(&self->config);
  self->is_begun = TRUE;
  self->origin = self->base = self->measured = first;
  self->held = 0;
  for (guint i = 0; i < self->n; i++) {
    Series *series = &self->series[i];
    memset(series->z, 0, tail * sizeof *series->z);
    memset(series->v, 0, tail * sizeof *series->v);
    series->has_level = FALSE;
    series->open.steps = 0;
    g_array_set_size(series->hits, 0);
  }
}

gboolean astro_search_submit(gpointer instance, const AstroBlock *in, guint n_in,
                             const AstroBlock *out, guint n_out, gconstpointer argument,
                             AstroResult *result, GError **error)
{
  Search *self = instance;
  const AstroSearchArguments *arguments = argument;
  Taking taking = { self, n_in ? in[0].data : NULL, arguments };
  (void)out;
  (void)n_out;
  (void)result;

  if (!astro_search_check_blocks(&self->config, in, n_in, arguments, error))
    return FALSE;
  if (arguments->begin || !self->is_begun)
    begin(self, arguments->first);
  astro_search_strides(&taking.strides, &self->config, arguments->steps);
  while (taking.from < arguments->steps) {
    const guint64 left = self->config.window - (self->base + self->held) % self->config.window;
    taking.n = (guint)MIN(left, arguments->steps - taking.from);
    astro_parallel((self->n + SERIES_A_TASK - 1) / SERIES_A_TASK, self->threads, take_series,
                   &taking);
    self->held += taking.n;
    taking.from += taking.n;
    if ((self->base + self->held) % self->config.window == 0)
      end_window(self, FALSE, arguments->found);
  }
  if (arguments->end && self->held > 0)
    end_window(self, TRUE, arguments->found);
  if (arguments->end)
    self->is_begun = FALSE;
  for (guint i = 0; i < self->n; i++) {
    arguments->found->not_finite += self->series[i].not_finite;
    self->series[i].not_finite = 0;
  }
  return astro_backend_goes_on(error);
}
