/* Frees blocks that were released while a device still works on them, so that dropping the last
 * reference never waits. Its thread lives as long as there is something to free. */
#include "core/memory/faces.h"

#include <pthread.h>

/* pthread primitives instead of GLib's, as ThreadSanitizer knows these. */
static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static pthread_cond_t idle = PTHREAD_COND_INITIALIZER;
static AstroFaces *first, *last;
static gboolean running;

static AstroFaces *take(void)
{
  AstroFaces *faces = first;
  if (faces != NULL) {
    first = *astro_faces_link(faces);
    if (first == NULL)
      last = NULL;
  }
  return faces;
}

static gpointer reap(gpointer unused)
{
  pthread_mutex_lock(&lock);
  for (AstroFaces *faces = take(); faces != NULL; faces = take()) {
    pthread_mutex_unlock(&lock);
    astro_faces_destroy(faces);
    pthread_mutex_lock(&lock);
  }
  running = FALSE;
  pthread_cond_broadcast(&idle);
  pthread_mutex_unlock(&lock);
  return NULL;
}

void astro_reaper_give(AstroFaces *faces)
{
  *astro_faces_link(faces) = NULL;
  pthread_mutex_lock(&lock);
  if (last != NULL)
    *astro_faces_link(last) = faces;
  else
    first = faces;
  last = faces;
  const gboolean start = !running;
  running = TRUE;
  pthread_mutex_unlock(&lock);

  if (!start)
    return;
  GThread *thread = g_thread_try_new("astro-reaper", reap, NULL, NULL);
  if (thread != NULL)
    g_thread_unref(thread);
  else
    reap(NULL); /* no thread can be started: free in this one, which waits */
}

void astro_reaper_wait(void)
{
  pthread_mutex_lock(&lock);
  while (running)
    pthread_cond_wait(&idle, &lock);
  pthread_mutex_unlock(&lock);
}
