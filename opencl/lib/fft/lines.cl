/* Transforms of the lines in a room, of any length, by one radix after the other or as a
 * convolution. Options: REAL, float or double; MOST_STEPS and NEAR, as in lines.c. */

COMPLEX times(COMPLEX a, COMPLEX b)
{
  return (COMPLEX)(a.x * b.x - a.y * b.y, a.x * b.y + a.y * b.x);
}

COMPLEX conjugate(COMPLEX a)
{
  return (COMPLEX)(a.x, -a.y);
}

#define TOGETHER 16 /* terms of a first sum: few, so that errors stay small for long radices */

/* The sample `at` of a line of n, of transforms of done times radix samples, from those of `done`,
 * n / done of them in a line and interleaved. */
#define COMBINED(name, SPACE)                                                                      \
  COMPLEX name(SPACE const COMPLEX *in, __global const COMPLEX *roots, uint n, uint done,          \
               uint radix, uint at)                                                                \
  {                                                                                                \
    const uint longer = done * radix, step = n / longer;                                           \
    const uint transform = at / longer, bin = at % longer, turn = bin * step;                      \
    COMPLEX sum = (COMPLEX)(0, 0), first = (COMPLEX)(0, 0);                                        \
    for (uint q = 0, root = 0; q < radix; q++) {                                                   \
      first += times(in[(transform + q * step) * done + bin % done], roots[root]);                 \
      root = root >= n - turn ? root - (n - turn) : root + turn; /* modulo n, with no overflow */  \
      if (q % TOGETHER == TOGETHER - 1) {                                                          \
        sum += first;                                                                              \
        first = (COMPLEX)(0, 0);                                                                   \
      }                                                                                            \
    }                                                                                              \
    return sum + first;                                                                            \
  }
COMBINED(combined_far, __global)
COMBINED(combined_near, __local)

/* One radix of long lines. A work item a sample. */
__kernel void combine(FACE(in), FACE(out), FACE(roots), const uint items, const uint n,
                      const uint done, const uint radix)
{
  AT(const COMPLEX, in);
  AT(COMPLEX, out);
  AT(const COMPLEX, roots);
  const uint id = (uint)get_global_id(0);
  if (id < items)
    out[id] = combined_far(in + id / n * n, roots, n, done, radix, id % n);
}

/* Radix 4 of `lines` lines. A work item has four samples at a time. */
void combine_fours(__local const COMPLEX *in, __local COMPLEX *out, __global const COMPLEX *roots,
                   uint n, uint done, uint lines)
{
  const uint quarter = n / 4, step = quarter / done;
  const REAL side = roots[quarter].y; /* 1 or -1 */
  for (uint i = (uint)get_local_id(0); i < lines * quarter; i += (uint)get_local_size(0)) {
    const uint line = i / quarter * n, j = i % quarter, bin = j % done, turn = bin * step;
    __local const COMPLEX *from = in + line + j;
    __local COMPLEX *to = out + line + 4 * (j - bin) + bin;
    const COMPLEX a = from[0], b = times(from[quarter], roots[turn]),
                  c = times(from[2 * quarter], roots[2 * turn]),
                  d = times(from[3 * quarter], roots[3 * turn]);
    const COMPLEX turned = side * (COMPLEX)(d.y - b.y, b.x - d.x);
    to[0] = a + c + (b + d);
    to[done] = a - c + turned;
    to[2 * done] = a + c - (b + d);
    to[3 * done] = a - c - turned;
  }
}

/* As Radices in lines.c. */
typedef struct {
  uint n;
  uint radix[MOST_STEPS];
} Radices;

/* All radices of short lines, in the local memory of a group, which has `lines` of them: NEAR
 * samples at most. */
__kernel void combine_all(FACE(in), FACE(out), FACE(roots), const uint count, const uint n,
                          const uint lines, const Radices radices)
{
  __local COMPLEX rooms[2][NEAR];
  AT(const COMPLEX, in);
  AT(COMPLEX, out);
  AT(const COMPLEX, roots);
  const uint id = (uint)get_local_id(0), width = (uint)get_local_size(0);
  const uint first = (uint)get_group_id(0) * lines, mine = min(lines, count - first);
  uint room = 0, done = 1;
  for (uint i = id; i < mine * n; i += width)
    rooms[0][i] = in[(ulong)first * n + i];
  barrier(CLK_LOCAL_MEM_FENCE);
  for (uint k = 0; k < radices.n; k++) {
    const uint radix = radices.radix[k];
    __local const COMPLEX *from = rooms[room];
    __local COMPLEX *to = rooms[room ^ 1];
    if (radix == 4)
      combine_fours(from, to, roots, n, done, mine);
    else
      for (uint i = id; i < mine * n; i += width)
        to[i] = combined_near(from + i / n * n, roots, n, done, radix, i % n);
    barrier(CLK_LOCAL_MEM_FENCE);
    done *= radix;
    room ^= 1;
  }
  for (uint i = id; i < mine * n; i += width)
    out[(ulong)first * n + i] = rooms[room][i];
}

/* Of a convolution: lines of n samples, times the chirp, become lines of `length`, with zeros. */
__kernel void spread(FACE(in), FACE(out), FACE(chirp), const uint items, const uint n,
                     const uint length)
{
  AT(const COMPLEX, in);
  AT(COMPLEX, out);
  AT(const COMPLEX, chirp);
  const uint id = (uint)get_global_id(0), sample = id % length;
  if (id < items)
    out[id] = sample < n ? times(in[id / length * n + sample], chirp[sample]) : (COMPLEX)(0, 0);
}

/* Times the response; conjugates, so that the next transform is the inverse one. */
__kernel void convolve(FACE(in), FACE(out), FACE(response), const uint items, const uint length)
{
  AT(const COMPLEX, in);
  AT(COMPLEX, out);
  AT(const COMPLEX, response);
  const uint id = (uint)get_global_id(0);
  if (id < items)
    out[id] = conjugate(times(in[id], response[id % length]));
}

/* Lines of n samples again, from the first ones of each line of `length`, times the chirp. */
__kernel void gather(FACE(in), FACE(out), FACE(chirp), const uint items, const uint n,
                     const uint length)
{
  AT(const COMPLEX, in);
  AT(COMPLEX, out);
  AT(const COMPLEX, chirp);
  const uint id = (uint)get_global_id(0), sample = id % n;
  if (id < items)
    out[id] = times(conjugate(in[id / n * length + sample]), chirp[sample]);
}
